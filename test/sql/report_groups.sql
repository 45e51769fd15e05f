-- the report of a grouping: its cases under their ids, its decisions, and its owner
\set SHOW_CONTEXT never
SET client_min_messages = error;
CREATE SCHEMA report_groups;
SET search_path = report_groups, public;
CREATE TABLE letter (id int PRIMARY KEY, fp simhash64, body text);
INSERT INTO letter VALUES
  (1, '0000000000000000', 'The lamp in Mill Lane is out.'), (2, '0000000000000001', 'The lamps in Mill Lane are out.'),
  (3, '0000000000000007', 'The lamp in Mill Lane is out!'), (4, 'ffffffff00000000', 'Water stands on the bridge.'),
  (5, 'ffffffff00000000', 'Water stands on the bridge.'), (6, '0ff0ff000ff0ff00', 'More benches, please.'), (7, NULL, 'No text at all.'),
  (8, '0ff0ff000ff0ff01', 'More benches, please!');
SELECT simdup_group('letter_case', 'SELECT id, fp, body AS content FROM letter ORDER BY id', 3);
SELECT count(*) FROM simdup_regroup('letter_case');
SELECT count(*) FROM simdup_decide('letter_case', 1, 2, same => false, note => 'two lamps; <b>=1+2</b>');
SELECT count(*) FROM simdup_decide('letter_case', 3, 4, same => true);
UPDATE letter_case_decisions SET at = CASE WHEN same THEN '2024-03-06 09:00' ELSE '2024-03-05 17:30' END::timestamptz, by = 'clerk';
INSERT INTO letter VALUES (9, '0000000000000001', 'The lamps of the next day.');
SELECT * FROM letter_case ORDER BY id, key;
CREATE FUNCTION seen(page text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT line FROM regexp_split_to_table(regexp_replace(regexp_replace(regexp_replace(regexp_replace(page, '^.*<h2 id="groups">|<h2 id="pairs">.*$', '', 'g'),
    '<svg.*?</svg>', '', 'g'), '<script.*?</script>', '', 'g'), '<[^>]*>', '', 'g'), '\n') AS line WHERE line <> ''
$$;
CREATE FUNCTION data(page text, name text) RETURNS jsonb LANGUAGE sql AS $$ SELECT substring(page FROM format('id="%s">(.*?)</script>', name))::jsonb $$;
SELECT simdup_report_html('SELECT id, fp, body AS content FROM letter ORDER BY id', 'Letters', 3, groups => 'letter_case') AS page \gset
SELECT seen(:'page');
-- the files
SELECT data(:'page', 'data') - 'rows' - 'decisions' - 'texts';
SELECT jsonb_array_elements(data(:'page', 'data') -> 'texts');
SELECT jsonb_array_elements(data(:'page', 'data') -> 'rows');
SELECT jsonb_array_elements(data(:'page', 'data') -> 'decisions');
-- exactly the grouping's cases
SELECT c.id, c.key::text FROM letter_case AS c
EXCEPT SELECT (r ->> 0)::bigint, r ->> 1 FROM jsonb_array_elements(data(:'page', 'data') -> 'rows') AS r;
SELECT (r ->> 0)::bigint, r ->> 1 FROM jsonb_array_elements(data(:'page', 'data') -> 'rows') AS r
EXCEPT SELECT c.id, c.key::text FROM letter_case AS c;
SELECT data(:'page', 'review-data') - 'pairs';
-- rows that the query lacks, keys of another type, a limit of cases
SELECT line FROM seen(simdup_report_html('SELECT id::text, fp FROM letter WHERE id IN (3, 5, 6) ORDER BY id DESC', 'Letters', 3, max_groups => 1, groups => 'letter_case')) AS line
WHERE line ~ 'Case|case|left out';
SELECT substring(simdup_report_html('SELECT id, fp FROM letter', 'Letters', 3, groups => 'letter_case') FROM '<p class="headline">(.*?)</p>');
SELECT seen(simdup_report_html('SELECT id, fp FROM letter WHERE false', 'Letters', 3, groups => 'letter_case')) LIMIT 3;
-- keys longer than the page shows are different keys
CREATE TABLE long (id text PRIMARY KEY, fp simhash64);
INSERT INTO long SELECT repeat('x', 300) || i, (i % 2 * 4294967295)::simhash64 FROM generate_series(1, 4) AS i;
SELECT simdup_group('long_case', 'SELECT id, fp FROM long ORDER BY id', 3);
SELECT count(*) FROM simdup_regroup('long_case');
SELECT line FROM seen(simdup_report_html('SELECT id, fp FROM long ORDER BY id', 'Long', 3, groups => 'long_case')) AS line WHERE line ~ '^Case';
-- who may
SELECT length(simdup_report_html('SELECT id, fp FROM letter', 'Letters', 3, groups => 'nothing'));
SELECT length(simdup_report_html('SELECT id, fp FROM letter', 'Letters', 3, groups => 'letter'));
CREATE ROLE regress_simdup_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA report_groups TO regress_simdup_reader;
GRANT USAGE ON SCHEMA report_groups TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
\set VERBOSITY sqlstate
SELECT length(simdup_report_html('SELECT id, fp FROM letter', 'Letters', 3, groups => 'letter_case'));
RESET ROLE;
ALTER TABLE letter_case_decisions OWNER TO regress_simdup_reader;
SELECT length(simdup_report_html('SELECT id, fp FROM letter', 'Letters', 3, groups => 'letter_case'));
\set VERBOSITY default
DROP OWNED BY regress_simdup_reader;
DROP ROLE regress_simdup_reader;
DROP SCHEMA report_groups CASCADE;
