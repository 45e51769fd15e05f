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
CREATE VIEW letters AS SELECT id AS key, fp, body AS content FROM letter;
SELECT simdup_group('letter_case', 'letters', 3);
SELECT count(*) FROM simdup_regroup('letter_case');
SELECT count(*) FROM simdup_decide('letter_case', 1, 2, same => false, note => 'two lamps; <b>=1+2</b>');
SELECT count(*) FROM simdup_decide('letter_case', 3, 4, same => true);
UPDATE letter_case_decisions SET at = CASE WHEN same THEN '2024-03-06 09:00' ELSE '2024-03-05 17:30' END::timestamptz, by = 'clerk';
INSERT INTO letter VALUES (9, '0000000000000001', 'The lamps of the next day.');
SELECT * FROM letter_case ORDER BY id, key;
SELECT simdup_report('letters', groups => 'letter_case') AS report \gset
SELECT key, value FROM jsonb_each(:'report'::jsonb) WHERE key IN ('counts', 'decisions', 'decide', 'settings');
SELECT c - 'members' FROM jsonb_array_elements(:'report'::jsonb #> '{cases,kept}') AS c;
SELECT c -> 'id' AS id, m -> 'key' AS key, m -> 'distance' AS distance, m -> 'decided' AS decided, m -> 'adds' AS adds
FROM jsonb_array_elements(:'report'::jsonb #> '{cases,kept}') AS c, jsonb_array_elements(c -> 'members') AS m;
-- the questions are those of the review
SELECT (SELECT count(*) FROM simdup_review('letter_case', 50)) = jsonb_array_length(:'report'::jsonb -> 'questions') AS all_of_them,
  (SELECT count(*) FROM jsonb_array_elements(:'report'::jsonb -> 'questions') AS q JOIN simdup_review('letter_case', 50) AS r
   ON r.a = q ->> 'a' AND r.b = q ->> 'b' AND r.distance = (q ->> 'distance')::int) = jsonb_array_length(:'report'::jsonb -> 'questions') AS the_same;
SELECT q - 'a' - 'b' FROM jsonb_array_elements(:'report'::jsonb -> 'questions') AS q LIMIT 1;
-- exactly the grouping's cases of two rows and more
SELECT c.id, c.key::text FROM letter_case AS c WHERE EXISTS (SELECT FROM letter_case AS o WHERE o.id = c.id AND o.key <> c.key)
EXCEPT SELECT (r ->> 0)::bigint, r ->> 1 FROM jsonb_array_elements(:'report'::jsonb #> '{rows,kept}') AS r;
SELECT (r ->> 0)::bigint, r ->> 1 FROM jsonb_array_elements(:'report'::jsonb #> '{rows,kept}') AS r EXCEPT SELECT c.id, c.key::text FROM letter_case AS c;
-- rows that the source lacks, a limit of cases; keys of another type are an error, as they are for a refresh
CREATE VIEW some_letters AS SELECT id AS key, fp FROM letter WHERE id IN (1, 3, 4, 6, 8);
CREATE VIEW text_letters AS SELECT id::text AS key, fp FROM letter;
SELECT simdup_report('text_letters', groups => 'letter_case');
CREATE VIEW no_letters AS SELECT id AS key, fp FROM letter WHERE false;
SELECT r -> 'cases' -> 'all' AS cases, c -> 'id' AS id, c -> 'size' AS size, c -> 'outside' AS outside, c -> 'first' AS first
FROM simdup_report('some_letters', max_groups => 1, groups => 'letter_case') AS r,
  jsonb_array_elements(r #> '{cases,kept}') AS c;
SELECT r -> 'counts' -> 'rows' AS rows, r #> '{cases,kept}' AS cases FROM simdup_report('no_letters', groups => 'letter_case') AS r;
-- a part of a grouping, beside SQL: what repeats, the cases, and their letters here and in all, by month, week and scope
CREATE TABLE mail AS SELECT i AS key, (CASE WHEN i % 7 = 0 THEN hashint4(i) / 2 ELSE i % 23 END::bigint << 32)::simhash64 AS fp, 'Letter ' || i % 23 AS content,
  '2024-01-01'::date + i AS day, i % 3 AS scope FROM generate_series(1, 300) AS i;
CREATE VIEW without_scope AS SELECT key, fp, content, day FROM mail;
SELECT simdup_group('mail_case', 'without_scope', 0);
SELECT count(*) FROM simdup_regroup('mail_case');
DELETE FROM mail_case WHERE key = 17;
INSERT INTO mail_case VALUES (1000, (SELECT id FROM mail_case WHERE key = 20));
CREATE VIEW october AS SELECT * FROM mail WHERE key BETWEEN 60 AND 69;
CREATE VIEW autumn AS SELECT * FROM mail WHERE key % 10 > 6;
CREATE VIEW nothing_before AS SELECT * FROM mail WHERE key <= 250;
CREATE FUNCTION truth(source regclass) RETURNS TABLE (key int, scope int, day date, id bigint, here bigint, outside bigint, repeats boolean) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT s.key, s.scope, s.day, c.id, count(*) FILTER (WHERE c.in_all > 1) OVER (PARTITION BY c.id), c.in_all - count(*) OVER (PARTITION BY c.id), c.key <> c.first
    FROM %s AS s LEFT JOIN (SELECT m.key, m.id, count(*) OVER (PARTITION BY m.id) AS in_all, min(m.key) OVER (PARTITION BY m.id) AS first FROM mail_case AS m) AS c ON c.key = s.key', source);
END $$;
SELECT source, r #> '{counts,repeats}' AS repeats, (r #> '{counts,repeats}')::int = t.repeats AND (r #> '{counts,clusters}')::int = t.cases
    AND (r #> '{counts,cluster_rows}')::int = t.in_cases AND (r #> '{rows,all}')::int = t.in_cases AND (r #> '{counts,without_case}')::int = t.no_case
    AND (SELECT sum((p -> 'repeats')::int) FROM jsonb_array_elements(r #> '{periods,counts}') AS p) = t.repeats AS as_counted,
  r #>> '{periods,unit}' AS unit
FROM unnest('{october,autumn,nothing_before}'::regclass[]) AS source, LATERAL simdup_report(source, groups => 'mail_case', max_groups => 1000) AS r,
  LATERAL (SELECT count(*) FILTER (WHERE repeats) AS repeats, count(DISTINCT id) FILTER (WHERE here > 0) AS cases, count(*) FILTER (WHERE here > 0) AS in_cases,
    count(*) FILTER (WHERE id IS NULL) AS no_case FROM truth(source)) AS t;
CREATE TABLE parts AS SELECT source, simdup_report(source, groups => 'mail_case', max_groups => 1000) AS r FROM unnest('{october,autumn,nothing_before}'::regclass[]) AS source;
SELECT p.source, count(*), count(*) FILTER (WHERE c ? 'is_later') AS later FROM parts AS p, jsonb_array_elements(r #> '{cases,kept}') AS c GROUP BY 1 ORDER BY 1;
(SELECT source, (c -> 'id')::bigint, (c -> 'size')::bigint, (c -> 'outside')::bigint, c ? 'is_later' FROM parts, jsonb_array_elements(r #> '{cases,kept}') AS c
 EXCEPT SELECT p.source, t.id, t.here, t.outside, bool_and(t.repeats) FROM parts AS p, truth(p.source) AS t WHERE here > 0 GROUP BY 1, 2, 3, 4)
UNION ALL
(SELECT p.source, (s ->> 'scope')::bigint, (s -> 'repeats')::bigint, NULL::bigint, NULL::boolean FROM parts AS p, jsonb_array_elements(r #> '{scopes,kept}') AS s
 EXCEPT SELECT p.source, t.scope, count(*) FILTER (WHERE t.repeats), NULL::bigint, NULL::boolean FROM parts AS p, truth(p.source) AS t GROUP BY 1, 2);
-- new rows, none of them near another
CREATE VIEW new_letters AS SELECT * FROM (VALUES (10, '00000000ffffffff'::simhash64), (11, '00ffff0000ffff00'), (12, '5555555555555555')) AS v (key, fp);
SELECT r -> 'counts' -> 'rows' AS rows, r -> 'counts' -> 'without_case' AS without_case FROM simdup_report('new_letters', groups => 'letter_case') AS r;
-- decisions have the keys of the rows, as exact texts: here a day, and a text equal to a padded one
CREATE VIEW dated AS SELECT DATE '2026-01-01' + id AS key, fp FROM letter;
CREATE VIEW padded AS SELECT id::char(3) AS key, fp FROM letter;
SELECT simdup_group('dated_case', 'dated', 3), simdup_group('padded_case', 'padded', 3);
SELECT count(*) FROM (SELECT simdup_regroup('dated_case') UNION ALL SELECT simdup_regroup('padded_case')) AS r;
SELECT count(*) FROM (SELECT simdup_decide('dated_case', '2026-01-02', '2026-01-04', true) UNION ALL SELECT simdup_decide('padded_case', '1', '3', true)) AS r;
SET DateStyle = 'German';
SELECT d ->> 'a' AS a, d ->> 'b' AS b, jsonb_path_query_array(r, '$.cases.kept[0].members[*] ? (@.decided == true).key') AS decided
FROM unnest('{dated,padded}'::text[]) AS source, LATERAL (SELECT simdup_report(source, groups => source || '_case') AS r) AS r, jsonb_array_elements(r #> '{decisions,kept}') AS d;
RESET DateStyle;
-- the page has the rows of the report
SELECT substring(simdup_report_html(title => 'Letters', report => :'report') FROM 'id="data">(.*?)</script>')::jsonb -> 'report' = :'report'::jsonb AS same_data;
-- a name with a schema, and a path without the extension
SET search_path = report_groups;
SELECT public.simdup_report('report_groups.letter', groups => 'report_groups.letter_case') -> 'counts' -> 'clusters' AS cases;
SET search_path = report_groups, public;
-- clusters that the source gives, by a key that it has or not: far apart, one alone, one without; leader finds others
CREATE TABLE given AS SELECT id AS key, fp, body AS content, CASE WHEN id < 9 THEN nullif(id % 3 + 100 * (id / 8), 2) END AS cluster, id % 2 AS odd FROM letter;
SELECT r #> '{counts,repeats}' AS repeats, r #> '{counts,clusters}' AS clusters, r #> '{counts,largest}' AS largest, r #> '{settings,columns}' AS columns,
  r #> '{settings,min_resemblance}' AS min_resemblance, r ? 'decisions' AS decisions, c -> 'id' AS id, c -> 'reach' AS reach, jsonb_path_query_array(c, '$.members[*].key') AS keys
FROM unnest('{given,leader}'::text[]) AS m, LATERAL (SELECT simdup_report('given', 3, m, 0.5)) AS s (r), LATERAL jsonb_array_elements(r #> '{cases,kept}') AS c;
SELECT simdup_report_html('given', 'Campaigns', method => 'given') ~ '"cases_of_given"';
-- a campaign's window is the view
CREATE VIEW campaign AS SELECT key, content, simdup_campaign(key, content) OVER (ORDER BY key) AS cluster FROM given;
SELECT (r #> '{counts,repeats}')::int = (SELECT count(content) FROM campaign WHERE key <> cluster) AS as_the_window FROM simdup_report('campaign', method => 'given') AS r;
\set VERBOSITY sqlstate
CREATE VIEW other_type AS SELECT key, content, cluster::text FROM given;
SELECT simdup_report('other_type', method => 'given');
SELECT simdup_report('letters', method => 'given');
SELECT simdup_group('given_case', 'given', method => 'given');
SELECT simdup_cluster(key, content, method => 'given') OVER () FROM given;
UPDATE letter_case_settings SET method = 'given';
SELECT simdup_regroup('letter_case');
UPDATE letter_case_settings SET method = 'leader';
\set VERBOSITY default
-- who may
SELECT length(simdup_report_html('letter', 'Letters', groups => 'nothing'));
SELECT length(simdup_report_html('letter', 'Letters', groups => 'letter'));
CREATE ROLE regress_simdup_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA report_groups TO regress_simdup_reader;
GRANT USAGE ON SCHEMA report_groups TO regress_simdup_reader;
-- a domain over a type whose equality is not the catalogs' may have an equality of its own
CREATE DOMAIN print AS simhash64;
\set VERBOSITY sqlstate
CREATE VIEW one_print AS SELECT '00000000000000ff'::print AS key, simhash64 '0000000000000000' AS fp;
SELECT simdup_group('prints', 'one_print');
\set VERBOSITY default
DROP VIEW one_print;
DROP DOMAIN print;
-- a further column may have any name
CREATE VIEW odd_names AS SELECT id AS key, fp, 'x'::text AS id, 'y'::text AS "a""b", 1 AS simdup_group FROM letter;
SELECT r #> '{settings,columns}' AS columns, r #> '{cases,kept,0,members,0,columns}' AS values FROM simdup_report('odd_names', groups => 'letter_case') AS r;
SET ROLE regress_simdup_reader;
\set VERBOSITY sqlstate
SELECT length(simdup_report_html('letter', 'Letters', groups => 'letter_case'));
RESET ROLE;
ALTER TABLE letter_case_decisions OWNER TO regress_simdup_reader;
SELECT length(simdup_report_html('letter', 'Letters', groups => 'letter_case'));
\set VERBOSITY default
DROP OWNED BY regress_simdup_reader;
DROP ROLE regress_simdup_reader;
DROP SCHEMA report_groups CASCADE;
