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
-- such that contradict each other: rows that are tied stay together
CREATE TABLE muddled (id int PRIMARY KEY, body text);
INSERT INTO muddled VALUES (1, 'one text of a kind'), (2, 'another letter wholly'), (3, 'a third thing to read');
SELECT count(*) > 0 FROM simdup_attach('muddled', 'body', action => 'group');
INSERT INTO muddled_simdup_decisions (a, b, same) VALUES (1, 2, true), (2, 3, true), (1, 3, false);
DELETE FROM muddled;
INSERT INTO muddled VALUES (3, 'a third thing to read'), (1, 'one text of a kind'), (2, 'another letter wholly');
SELECT count(DISTINCT simdup_group) FROM muddled;
SELECT count(*) FROM simdup_regroup('muddled');
SELECT count(*) > 0 FROM simdup_alter('muddled', method => 'connected');
DELETE FROM muddled WHERE id = 1;
INSERT INTO muddled VALUES (1, 'one text of a kind');
SELECT count(DISTINCT simdup_group) FROM muddled;
SELECT simdup_undecide('muddled', 1, 2);
SELECT count(DISTINCT simdup_group) FROM muddled;

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


--
-- the tables beside belong to one table
--
RESET client_min_messages;
\set VERBOSITY terse
-- each set, and the table whose triggers write to it
CREATE VIEW sets AS
  SELECT regexp_replace(c.relname, '_simdup_groups$', '') AS tables, array_agg(DISTINCT t.tgrelid::regclass) AS used_by
  FROM pg_class c LEFT JOIN pg_trigger t ON encode(t.tgargs, 'escape') LIKE '%tables => ' || regexp_replace(c.relname, '_simdup_groups$', '') || '\\000%'
  WHERE c.relname ~ '_simdup_groups$' AND c.relname !~ '^(by|letter|muddled)' AND c.relnamespace = 'groups_tables'::regnamespace GROUP BY 1;
-- a new table with the old name of another one
CREATE TABLE case_of (id int PRIMARY KEY, body text);
INSERT INTO case_of TABLE text_of;
SELECT count(*) > 0 FROM simdup_attach('case_of', 'body', action => 'group');
SELECT simdup_decide('case_of', 1, 3, true);
ALTER TABLE case_of RENAME TO old_case_of;
CREATE TABLE case_of (id int PRIMARY KEY, body text);
INSERT INTO case_of TABLE text_of;
SELECT count(*) > 0 FROM simdup_attach('case_of', 'body', action => 'group');
SELECT id, simdup_group FROM case_of ORDER BY id;
DELETE FROM case_of;
SELECT id, simdup_group FROM old_case_of ORDER BY id;
SELECT count(*) FROM simdup_regroup('old_case_of');
TABLE sets ORDER BY 1;
-- detached, each goes on with its own
SELECT count(*) FROM simdup_detach('old_case_of');
SELECT count(*) FROM simdup_detach('case_of');
ALTER TABLE case_of RENAME TO new_case_of;
CREATE TABLE case_of (id int PRIMARY KEY, body text);
SELECT count(*) > 0 FROM simdup_attach('case_of', 'body', action => 'group');
SELECT count(*) > 0 FROM simdup_attach('old_case_of', 'body');
SELECT count(*) > 0 FROM simdup_alter('old_case_of', action => 'group');
SELECT count(*) > 0 FROM simdup_attach('new_case_of', 'body', action => 'group');
SELECT id, simdup_group FROM old_case_of ORDER BY id;
TABLE sets ORDER BY 1;
-- tables whose owner is gone, or was told to let them go
DROP TABLE case_of;
CREATE TABLE case_of (id int PRIMARY KEY, body text);
SELECT count(*) > 0 FROM simdup_detach('old_case_of');
COMMENT ON TABLE case_of_simdup_groups IS NULL;
SELECT count(*) > 0 FROM simdup_attach('case_of', 'body', action => 'group');
TABLE sets ORDER BY 1;
-- a comment that was written in another database counts by its name
COMMENT ON TABLE case_of_3_simdup_groups IS 'simdup_attach: groups of table new_case_of (1/2/3)';
CREATE TABLE case_of_3 (id int PRIMARY KEY, body text);
SELECT count(*) > 0 FROM simdup_attach('case_of_3', 'body', action => 'group');
-- names that are cut to the same
SELECT repeat('n', 62) || 'a' AS long_a, repeat('n', 62) || 'b' AS long_b \gset
CREATE TABLE :long_a (id int PRIMARY KEY, body text);
CREATE TABLE :long_b (id int PRIMARY KEY, body text);
INSERT INTO :long_b TABLE text_of;
SELECT count(*) > 0 FROM simdup_attach(:'long_a', 'body', action => 'group');
SELECT count(*) > 0 FROM simdup_attach(:'long_b', 'body', action => 'group');
INSERT INTO :long_a TABLE text_of;
DELETE FROM :long_a;
SELECT id, simdup_group FROM :long_b ORDER BY id;
SELECT count(*) FROM simdup_regroup(:'long_b');
\set VERBOSITY default

-- tables that do not fit
CREATE TABLE odd (id int PRIMARY KEY, body text);
CREATE TABLE odd_simdup_groups (x int);
SELECT simdup_attach('odd', 'body', action => 'group');
DROP TABLE odd_simdup_groups;
CREATE VIEW odd_simdup_groups AS SELECT 1 AS id;
SELECT simdup_attach('odd', 'body', action => 'group');
DROP VIEW odd_simdup_groups;
SELECT simdup_attach('odd', 'body', action => 'group', log_table => 'nonsense');
-- fingerprints of representatives that went with the extension come back
INSERT INTO odd TABLE text_of;
SELECT count(*) > 0 FROM simdup_attach('odd', 'body', action => 'group');
SELECT simdup_fp AS fp FROM odd_simdup_groups WHERE id = 1 \gset
SELECT count(*) > 0 FROM simdup_detach('odd');
ALTER TABLE odd_simdup_groups DROP COLUMN simdup_fp;
SELECT count(*) > 0 FROM simdup_attach('odd', 'body', action => 'group', backfill => false);
SELECT id, representative, simdup_fp = :'fp' AS same FROM odd_simdup_groups ORDER BY id;
SELECT id, simdup_group FROM odd ORDER BY id;
-- a key of another type
SELECT count(*) > 0 FROM simdup_detach('odd');
ALTER TABLE odd ALTER id TYPE bigint;
SELECT simdup_attach('odd', 'body', action => 'group');
ALTER TABLE odd_simdup_groups ALTER representative TYPE bigint;
SELECT simdup_attach('odd', 'body', action => 'group');
ALTER TABLE odd_simdup_members ALTER key TYPE bigint;
ALTER TABLE odd_simdup_events ALTER key TYPE bigint;
ALTER TABLE odd_simdup_decisions ALTER a TYPE bigint, ALTER b TYPE bigint;
SELECT count(*) > 0 FROM simdup_attach('odd', 'body', action => 'group');
INSERT INTO odd VALUES (5000000000, (SELECT body FROM text_of WHERE n = 1));
SELECT id, simdup_group FROM odd ORDER BY id;
-- a key that is deferrable
CREATE TABLE later (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, body text);
SELECT count(*) > 0 FROM simdup_attach('later', 'body', action => 'group');

SET client_min_messages = warning;
DROP SCHEMA groups_tables CASCADE;
