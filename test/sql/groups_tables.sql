--
-- groups: keys of all kinds, and whose tables stand beside a table
--
SET client_min_messages = warning;
CREATE SCHEMA groups_tables;
SET search_path = groups_tables, public;
CREATE TABLE text_of (n int PRIMARY KEY, body text);
INSERT INTO text_of VALUES
  (1, 'The lights in the park have been out for three weeks, please repair them soon.'),
  (2, 'The lights in the park have been out for three weeks; please repair them soon!'),
  (3, 'A tree has fallen on the road to the station and nobody has come to remove it.');

-- a type whose bare name cuts values: character is one character, bit one bit
CREATE TABLE by_char (id char(10) PRIMARY KEY, body text);
INSERT INTO by_char SELECT 'key ' || n, body FROM text_of;
SELECT count(*) > 0 FROM simdup_attach('by_char', 'body', action => 'group');
SELECT id, simdup_group FROM by_char ORDER BY id;
SELECT simdup_decide('by_char', 'key 1', 'key 3', true), simdup_undecide('by_char', 'key 3'::char(10), 'key 1'::char(10));
CREATE TABLE by_bit (id bit(8) PRIMARY KEY, body text);
INSERT INTO by_bit SELECT n::bit(8), body FROM text_of;
SELECT count(*) > 0 FROM simdup_attach('by_bit', 'body', action => 'group');
SELECT id, simdup_group FROM by_bit ORDER BY id;
-- the same in flags of old rows, in a scope, and in what is removed
CREATE TABLE flagged (id char(10) PRIMARY KEY, place char(5), body text);
INSERT INTO flagged SELECT 'key ' || n, 'one', body FROM text_of;
INSERT INTO flagged SELECT 'key ' || n + 5, 'other', body FROM text_of;
SELECT count(*) > 0 FROM simdup_attach('flagged', 'body', within => ARRAY['place']);
INSERT INTO flagged VALUES ('key 99', 'only', (SELECT body FROM text_of WHERE n = 1));
SELECT id, place, simdup_of FROM flagged ORDER BY id;
SELECT n FROM simdup_remove('flagged', 'SELECT id, simdup_of FROM flagged WHERE simdup_of IS NOT NULL') WHERE n IS NOT NULL;
SELECT id FROM flagged ORDER BY id;

-- keys that groups do not take
CREATE TYPE pair AS (a int, b int);
CREATE TABLE by_array (id int[] PRIMARY KEY, body text);
CREATE TABLE by_row (id pair PRIMARY KEY, body text);
SELECT simdup_attach('by_array', 'body', action => 'group');
SELECT simdup_attach('by_row', 'body', action => 'group');
CREATE TABLE parted (id int NOT NULL, place text, body text, PRIMARY KEY (id, place)) PARTITION BY LIST (place);
SELECT simdup_attach('parted', 'body', action => 'group', key => 'id');

-- integers of any width
CREATE TABLE letter (id bigint PRIMARY KEY, body text);
INSERT INTO letter TABLE text_of;
SELECT count(*) > 0 FROM simdup_attach('letter', 'body', action => 'group');
SELECT simdup_decide('letter', 1, id, true) FROM letter WHERE id = 3;
SELECT simdup_decide('letter', 1::smallint, 2::int, true, 'as a driver sends it');
SELECT a, b, same FROM letter_simdup_decisions ORDER BY a, b;
SELECT simdup_undecide('letter', 1::smallint, id) FROM letter WHERE id = 3;
SELECT simdup_decide('letter', 1, 5000000000, true);
SELECT simdup_decide('letter', '1', 3::smallint, true), simdup_undecide('letter', '1', '3');
SELECT simdup_group_of('letter', 1::smallint);

-- decisions by hand: the smaller key first
INSERT INTO letter_simdup_decisions (a, b, same) VALUES (1, 3, false);
SELECT decided_by = current_user AS mine, decided_at IS NOT NULL AS dated FROM letter_simdup_decisions WHERE b = 3;
INSERT INTO letter_simdup_decisions (a, b, same, decided_at, decided_by) VALUES (2, 2, true, 'infinity', 'me');
INSERT INTO letter_simdup_decisions (a, b, same, decided_at, decided_by) VALUES (3, 2, true, 'infinity', 'me');
DELETE FROM letter_simdup_decisions;

-- row security hides the keys between two rows
INSERT INTO letter VALUES (4, 'one text'), (5, 'and another one'), (6, 'and a last one');
SELECT simdup_decide('letter', 4, 5, true), simdup_decide('letter', 5, 6, true);
CREATE ROLE groups_tables_clerk;
GRANT USAGE ON SCHEMA groups_tables TO groups_tables_clerk;
GRANT SELECT ON letter TO groups_tables_clerk;
GRANT INSERT ON letter_simdup_decisions TO groups_tables_clerk;
SET ROLE groups_tables_clerk;
SELECT simdup_decide('letter', 6, 4, false);
RESET ROLE;
ALTER TABLE letter ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON letter TO groups_tables_clerk USING (id <> 5);
SET ROLE groups_tables_clerk;
SELECT simdup_decide('letter', 6, 4, false);
SELECT simdup_decide('letter', 4, 3, true), simdup_decide('letter', 3, 1, false);
SELECT simdup_decide('letter', 6, 1, true);
RESET ROLE;
ALTER TABLE letter DISABLE ROW LEVEL SECURITY;
DROP OWNED BY groups_tables_clerk;
DROP ROLE groups_tables_clerk;

DROP SCHEMA groups_tables CASCADE;
