--
-- groups: decisions about rows that go, decisions taken back, and old ids
--
SET client_min_messages = warning;
CREATE SCHEMA groups_decisions;
SET search_path = groups_decisions, public;
\pset footer off

-- a fingerprint with the lowest n bits set: distances are differences
CREATE FUNCTION bits(n int) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN ((1::bigint << n) - 1)::simhash64;
CREATE TABLE letter (id int PRIMARY KEY, body text);
SELECT count(*) > 0 AS attached FROM simdup_attach('letter', 'body', action => 'group', max_distance => 3);
DROP TRIGGER simdup_1_fingerprint ON letter;
CREATE VIEW now AS
  SELECT l.id, simdup_group AS "group", l.simdup_fp <~> g.simdup_fp AS distance
  FROM letter AS l LEFT JOIN letter_simdup_groups AS g ON g.id = l.simdup_group ORDER BY l.id;

-- one of two rows goes while the decision stands: the other stays where people
-- put it, until the decision is taken back
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(1)), (3, bits(40));
SELECT simdup_decide('letter', 2, 3, true);
DELETE FROM letter WHERE id = 2;
TABLE now;
SELECT simdup_undecide('letter', 2, 3);
TABLE now;
SELECT count(*) AS changed FROM simdup_regroup('letter');
TRUNCATE letter;

-- both go, one of them by its fingerprint alone: rows that came with them
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(1)), (3, bits(40)), (4, bits(41));
SELECT simdup_decide('letter', 2, 3, true);
DELETE FROM letter WHERE id = 2;
UPDATE letter SET simdup_fp = NULL WHERE id = 3;
SELECT id, "group" IS NOT NULL AS grouped, distance FROM now;
SELECT simdup_undecide('letter', 2, 3);
SELECT id, "group" IS NOT NULL AS grouped, distance FROM now;
TRUNCATE letter;

-- the group that the rows left has become a part of another
INSERT INTO letter (id, simdup_fp) VALUES (5, bits(20)), (1, bits(0)), (2, bits(1)), (3, bits(40)), (4, bits(41));
SELECT simdup_decide('letter', 2, 3, true);
DELETE FROM letter WHERE id IN (2, 3);
SELECT simdup_decide('letter', 1, 5, true);
SELECT id, distance FROM now;
SELECT simdup_undecide('letter', 2, 3);
SELECT id, distance FROM now;
TRUNCATE letter;

-- a row told apart goes, and the decision too: nothing keeps the other away
INSERT INTO letter (id, simdup_fp) VALUES (1, bits(0)), (2, bits(1)), (3, bits(2));
SELECT simdup_decide('letter', 2, 3, false);
SELECT id, dense_rank() OVER (ORDER BY "group") AS "group" FROM now ORDER BY id;
DELETE FROM letter WHERE id = 2;
SELECT simdup_undecide('letter', 2, 3);
SELECT id, dense_rank() OVER (ORDER BY "group") AS "group" FROM now ORDER BY id;
TRUNCATE letter;

-- an old id leads to where its rows are, when a part of the group goes
CREATE TABLE "order" (id int PRIMARY KEY, body text);
SELECT count(*) > 0 AS attached FROM simdup_attach('"order"', 'body', action => 'group', max_distance => 3);
DROP TRIGGER simdup_1_fingerprint ON "order";
INSERT INTO "order" (id, simdup_fp) VALUES (1, bits(0)), (2, bits(20)), (3, bits(40));
SELECT simdup_decide('"order"', 1, 2, true);
SELECT simdup_decide('"order"', 2, 3, true);
SELECT id, into_id FROM order_simdup_redirects ORDER BY id;
SELECT simdup_undecide('"order"', 1, 2);
SELECT id, simdup_group, simdup_group_of('"order"', id) AS of_first FROM "order" ORDER BY id;
SELECT simdup_undecide('"order"', 2, 3);
SELECT id, simdup_group, simdup_group_of('"order"', id) AS of_first FROM "order" ORDER BY id;
-- by way of a group that comes back itself
SELECT simdup_decide('"order"', 2, 3, true);
SELECT simdup_decide('"order"', 1, 3, true);
SELECT simdup_undecide('"order"', 2, 3);
SELECT id, simdup_group, simdup_group_of('"order"', id) AS of_first FROM "order" ORDER BY id;
SELECT simdup_undecide('"order"', 1, 3);
-- by a decision that rows are not the same
INSERT INTO "order" (id, simdup_fp) VALUES (4, bits(1));
SELECT simdup_decide('"order"', 2, 4, true);
SELECT simdup_decide('"order"', 2, 3, true);
SELECT simdup_decide('"order"', 1, 3, false);
SELECT id, simdup_group, simdup_group_of('"order"', id) AS of_first FROM "order" WHERE id < 4 ORDER BY id;
-- by a representative that goes
SELECT simdup_undecide('"order"', 1, 3);
SELECT simdup_undecide('"order"', 2, 4);
SELECT simdup_decide('"order"', 1, 2, true);
INSERT INTO "order" (id, simdup_fp) VALUES (5, bits(2));
DELETE FROM "order" WHERE id = 1;
SELECT id, simdup_group, simdup_group_of('"order"', id) AS of_first FROM "order" ORDER BY id;

DROP SCHEMA groups_decisions CASCADE;
