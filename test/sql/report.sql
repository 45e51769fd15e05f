-- the report: its data, and its page in ASCII
SELECT getdatabaseencoding() <> 'UTF8' AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks what is tested here
\quit
\endif
\encoding UTF8
\set SHOW_CONTEXT never
CREATE TABLE letter (id text, fp simhash64, body text, at date, district text);
INSERT INTO letter VALUES
  ('1', '0000000000000000', E' \n The lamp in Mill Lane is out. It has been out for 2 weeks. ', '2024-05-01', 'Mill'),
  ('2', '0000000000000001', 'The lamps in Mill Lane are out. It has been out for 2 weeks!', '2024-05-09', 'Mill'),
  ('3', '0000000000000007', 'The lamp in Mill Lane is out. It has been out for 2 weeks.', '2024-06-01', 'Mill'),
  ('4', '000000000000003f', E'The lamp in Mill Lane\tis out.\nIt has been out for 3 weeks.', NULL, 'Mill'),
  ('5', '0ff0ff000ff0ff00', 'More benches, please.', '2024-06-30', NULL),
  ('6', 'ffffffff00000000', U&'\8DEF\9762\6709\5927\5751\FF0C\8BF7\4FEE\3002', '2024-05-01', 'Fish'),
  ('7', 'ffffffff00000000', U&'\8DEF\9762\6709\5751\FF0C\8BF7\5FEB\4FEE\3002', 'infinity', 'Fish'),
  ('8', NULL, 'Nothing.', '2024-05-01', 'Fish'),
  ('9', '0000000000000000', 'The lamp in Fish Street is out.', '2024-05-01', 'Fish');
CREATE VIEW letters AS SELECT id AS key, fp, at, body AS content, length(body) AS n, district AS scope FROM letter;
CREATE VIEW texts AS SELECT id AS key, fp, body AS content FROM letter;
CREATE VIEW fingerprints AS SELECT id AS key, fp FROM letter;
CREATE VIEW few AS SELECT id AS key, fp FROM letter WHERE id < '5';
CREATE VIEW none AS SELECT id AS key, fp FROM letter WHERE false;

-- every field, a line each
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION lines(report jsonb) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT concat_ws('.', e.key, l.key) || ': ' || coalesce(l.value, e.value)
  FROM jsonb_each(report) WITH ORDINALITY AS e LEFT JOIN LATERAL (
    SELECT * FROM jsonb_each(CASE jsonb_typeof(e.value) WHEN 'object' THEN e.value END) WITH ORDINALITY
    UNION ALL SELECT (n - 1)::text, value, n FROM jsonb_array_elements(CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value END) WITH ORDINALITY AS a (value, n)) AS l ON true
  WHERE e.key <> 'made' ORDER BY e.ordinality, l.ordinality
$$;
SELECT lines(simdup_report('letters', 3));
SELECT jsonb_object_agg(key, jsonb_typeof(value)) FROM jsonb_each(simdup_report('fingerprints', 3) -> 'made');
-- without content, scope and dates; by another method; of no rows
SELECT lines(simdup_report('few', 3, 'connected'));
SELECT lines(simdup_report('none', 0));
\pset format aligned
\pset tuples_only off
-- under any quoting of names
SET quote_all_identifiers = on;
SELECT simdup_report('letters', 3) #> '{settings,columns}' AS columns;
RESET quote_all_identifiers;
SELECT r -> 'counts' -> 'clusters', r -> 'cases' -> 'kept' FROM simdup_report('texts', max_groups => 0) AS r;
-- the same clusters as simdup_cluster, and the same pairs as a join
CREATE TABLE family AS SELECT i AS id, ((i % 60 * 7919)::bigint << 20 | (i * 37 % 8))::simhash64 AS fp, 'Letter ' || i % 60 || ' about ' || i % 11 AS body, i % 3 AS district,
  timestamp '2020-01-01' + i * interval '3 days' AS at FROM generate_series(1, 600) AS i;
CREATE VIEW families AS SELECT id AS key, fp, body AS content, district AS scope, at FROM family;
SELECT method, min_resemblance, c.clusters = (r -> 'counts' ->> 'clusters')::bigint AS clusters,
  c.rows = (r -> 'counts' ->> 'cluster_rows')::bigint AS rows,
  (SELECT jsonb_agg(jsonb_build_array(distance, n) ORDER BY distance) FROM (SELECT a.fp <~> b.fp AS distance, count(*) AS n FROM family a JOIN family b ON a.id < b.id AND a.district = b.district AND simhash_within(a.fp, b.fp, 3)
       WHERE min_resemblance IS NULL OR shingle_resemblance(a.body, b.body) >= min_resemblance GROUP BY 1) AS p)
    = (SELECT jsonb_agg(jsonb_build_array(d -> 'distance', d -> 'pairs') ORDER BY d -> 'distance') FROM jsonb_array_elements(r -> 'distances') AS d WHERE d ->> 'pairs' <> '0') AS pairs,
  (SELECT sum((p ->> 'rows')::bigint) FROM jsonb_array_elements(r -> 'periods' -> 'counts') AS p) AS in_periods, r -> 'periods' -> 'unit' AS unit,
  (SELECT sum((p ->> 'repeats')::bigint) FROM jsonb_array_elements(r -> 'periods' -> 'counts') AS p) = (r -> 'counts' ->> 'repeats')::bigint AS repeats,
  (SELECT sum((s ->> 'repeats')::bigint) FROM jsonb_array_elements(r -> 'scopes' -> 'kept') AS s) = (r -> 'counts' ->> 'repeats')::bigint AS by_scope,
  (SELECT sum((z ->> 'clusters')::bigint) FROM jsonb_array_elements(r -> 'sizes') AS z) = (r -> 'counts' ->> 'clusters')::bigint AS by_size
FROM (VALUES ('leader', NULL::float8), ('leader', 0.6), ('connected', NULL)) AS v (method, min_resemblance),
  LATERAL (SELECT simdup_report('families', 3, method, min_resemblance) AS r) AS r,
  LATERAL (SELECT count(*) AS clusters, sum(n) AS rows FROM (
    SELECT count(*) AS n FROM (SELECT simdup_cluster(id, fp, body, 3, min_resemblance, method) OVER (PARTITION BY district ORDER BY id) AS cluster FROM family) AS x
    GROUP BY cluster HAVING count(*) > 1) AS s) AS c;
-- figures of random rows beside SQL: equal rows, pairs of all with all, scopes, months; texts do not count among pairs
CREATE TABLE chance AS SELECT i AS key, nullif((random() * 7)::bigint << (random() * 40)::int # ((random() * 3)::bigint << 50), 2)::simhash64 AS fp, 'Letter ' || (random() * 9)::int || ' of lamps' AS content,
  nullif((random() * 4)::int, 2) AS scope, nullif(date '2024-01-01' + (random() * 300)::int, '2024-03-01') AS day FROM generate_series(1, 400) AS i;
CREATE VIEW counted AS SELECT * FROM chance WHERE fp IS NOT NULL;
CREATE VIEW near AS SELECT a.key AS a, b.key AS b, a.fp <~> b.fp AS distance FROM counted AS a JOIN counted AS b ON a.key < b.key AND a.scope IS NOT DISTINCT FROM b.scope AND a.fp <~> b.fp <= 3;
SELECT method, min_resemblance, r #> '{counts,with_fingerprint}' = to_jsonb((SELECT count(*) FROM counted)) AND r #> '{counts,rows}' = '400' AS rows,
  (r #> '{counts,distinct_fingerprints}', r #> '{counts,equal_sets}', r #> '{counts,equal_rows}')
    = (SELECT to_jsonb(count(DISTINCT fp)), to_jsonb(count(*) FILTER (WHERE n > 1)), to_jsonb(sum(n) FILTER (WHERE n > 1)) FROM (SELECT concat(scope, ':', fp) AS fp, count(*) AS n FROM counted GROUP BY 1) AS f) AS equal,
  (SELECT jsonb_agg(d -> 'pairs' ORDER BY d -> 'distance') FROM jsonb_array_elements(r -> 'distances') AS d) = (SELECT jsonb_agg((SELECT count(*) FROM near WHERE distance = k) ORDER BY k) FROM generate_series(0, 3) AS k) AS pairs,
  (SELECT array_agg(p ORDER BY p) FROM (SELECT ROW(least((p ->> 0)::int, (p ->> 1)::int), greatest((p ->> 0)::int, (p ->> 1)::int), (p ->> 2)::int) AS p FROM jsonb_array_elements(r #> '{pairs,kept}') AS p) AS p)
    = (SELECT array_agg(ROW(a, b, distance) ORDER BY ROW(a, b, distance)) FROM near) AS listed,
  (SELECT jsonb_object_agg(coalesce(s ->> 'scope', '-'), s -> 'rows') FROM jsonb_array_elements(r #> '{scopes,kept}') AS s) = (SELECT jsonb_object_agg(coalesce(scope::text, '-'), n) FROM (SELECT scope, count(*) AS n FROM counted GROUP BY 1) AS s) AS scopes,
  (SELECT jsonb_object_agg(p ->> 'from', p -> 'rows') FROM jsonb_array_elements(r #> '{periods,counts}') AS p) = (SELECT jsonb_object_agg(month, n) FROM (SELECT to_char(day, 'YYYY-MM-01') AS month, count(*) AS n FROM counted WHERE day IS NOT NULL GROUP BY 1) AS m) AS months
FROM (VALUES ('leader', NULL::float8), ('leader', 0.6), ('connected', 0.6)) AS v (method, min_resemblance), LATERAL (SELECT simdup_report('chance', 3, method, min_resemblance) AS r) AS r;
-- the first and the last days there are, by month and by week
CREATE TABLE day AS SELECT i AS key, simhash64 '00000000000000ff' AS fp, at
FROM unnest(ARRAY['4714-11-24 BC', '4713-01-01 BC', '2024-02-29', NULL, '294276-12-31', '5874897-12-31', '-infinity']::date[]) WITH ORDINALITY AS u (at, i);
CREATE VIEW first_days AS SELECT * FROM day WHERE at < '4713-01-02 BC';
SELECT r -> 'periods' AS periods, r #> '{cases,kept,0,from}' AS from, r #> '{cases,kept,0,to}' AS to
FROM unnest('{day,first_days}'::regclass[]) AS source, LATERAL (SELECT simdup_report(source) AS r) AS r;
-- scopes differ by the rules of their type: equal numbers are one, and no scope is one
CREATE TABLE scoped AS SELECT i AS key, simhash64 '00000000000000ff' AS fp, (ARRAY[1.0, 1.00, 2, NULL, NULL, 2.5])[i] AS scope FROM generate_series(1, 6) AS i;
SELECT r #> '{counts,clusters}' AS clusters, r #> '{distances,0,pairs}' AS pairs, r #> '{scopes,kept}' AS scopes FROM simdup_report('scoped') AS r;
-- ten thousand equal rows are counted; the nearest pairs are listed
CREATE TABLE equal AS SELECT i AS key, CASE WHEN i > 10000 THEN i ELSE 0 END::bigint::simhash64 AS fp FROM generate_series(1, 10002) AS i;
SELECT r #> '{pairs,all}' AS pairs, jsonb_array_length(r #> '{pairs,kept}') AS listed, r #> '{pairs,kept,0}' AS first, r #> '{pairs,kept,-1}' AS last, r #> '{examples,0}' AS example
FROM simdup_report('equal', 0) AS r;
-- of more near pairs than are listed, the nearest
CREATE TABLE close AS SELECT i AS key, (hashint8extended(i, 39) & ((1::bigint << 20) - 1))::simhash64 AS fp FROM generate_series(1, 2500) AS i;
SELECT d -> 'distance' AS distance, d -> 'pairs' AS pairs, (SELECT count(*) FROM jsonb_array_elements(r #> '{pairs,kept}') AS p WHERE p -> 2 = d -> 'distance') AS listed
FROM simdup_report('close', 4) AS r, jsonb_array_elements(r -> 'distances') AS d;
-- a text is cut between words
SELECT simdup_report_start(t, 9) FROM unnest(ARRAY['one two three', 'one two t', E'one\n  twothree', '0123456789', NULL]) AS t;
-- a key whose = is not in the catalogs' schema, and more columns than a function takes arguments
CREATE TABLE wide (key simhash64 PRIMARY KEY, fp simhash64);
DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE wide %s', string_agg(format('ADD c%s int DEFAULT %1$s', i), ', ' ORDER BY i)) FROM generate_series(1, 120) AS i); END $$;
INSERT INTO wide VALUES ('000000000000000a', '00000000000000ff'), ('000000000000000b', '00000000000000ff');
SELECT jsonb_array_length(r #> '{settings,columns}') AS names, jsonb_array_length(c) AS columns, c -> 0 AS first, c -> -1 AS last FROM simdup_report('wide') AS r, LATERAL (SELECT r #> '{cases,kept,0,members,1,columns}' AS c) AS c;
SELECT simdup_report('letter');
-- a row without a key is an error, as it is for groups
CREATE VIEW keyless AS SELECT nullif(key, '3') AS key, fp FROM fingerprints;
SELECT simdup_report('keyless');
SELECT simdup_group('keyless_case', 'keyless');
SELECT * FROM simdup_regroup('keyless_case');
SELECT simdup_ungroup('keyless_case');
SELECT simdup_report('texts', max_groups => -1);
SELECT simdup_report('texts', max_groups => NULL);
SELECT simdup_report('texts', 33);
SELECT simdup_report('fingerprints', min_resemblance => 0.5);
SELECT simdup_report(NULL) IS NULL AS none;
-- a page of nothing, or of two things, or without a title
SELECT simdup_report_html();
SELECT simdup_report_html('letters');
SELECT simdup_report_html(to_regclass('gone'), 't');
SELECT simdup_report_html('letters', 't', report => '{"counts": {"rows": 1}}');

-- memory and disk give the same report
SET maintenance_work_mem = '1MB';
SET work_mem = '64kB';
CREATE TABLE many AS
  SELECT i AS id, (('x' || substr(md5((i / 3)::text), 1, 16))::bit(64))::simhash64 AS fp, repeat(i || ' word ', 60) AS body, date '2024-01-01' + i % 100 AS at
  FROM generate_series(3, 30002) AS i;
CREATE VIEW manys AS SELECT id AS key, fp, body AS content, at FROM many;
SELECT md5((simdup_report('manys') - 'made')::text) AS on_disk \gset
RESET maintenance_work_mem;
RESET work_mem;
SELECT md5((simdup_report('manys') - 'made')::text) = :'on_disk' AS same;

-- many groups: bounded, and names the rest; of a large group the first rows
SELECT n, r -> 'cases' -> 'all' AS cases, jsonb_array_length(r -> 'cases' -> 'kept') AS kept, octet_length((r -> 'cases')::text) < 9000000 AS bounded, jsonb_array_length(r -> 'rows' -> 'kept') > 10000 AS rows
FROM unnest(ARRAY[0, 7]) AS n, LATERAL (SELECT simdup_report('manys', 0, max_groups => n) AS r) AS r;
SELECT octet_length(p) BETWEEN 1000000 AND 20000000 AS bounded, p ~ '^[\x01-\x7f]*$' AS ascii FROM simdup_report_html('manys', 'Many', 0, max_groups => 3000) AS p;
CREATE VIEW long_keys AS SELECT repeat('k', 100) || id AS key, fp, repeat(U&'\8DEF\706F\574F\4E86' || id, 100) || repeat(U&'\8BF7\4FEE\7406' || -id, id % 3 * 50) AS content FROM many;
SELECT octet_length(p) < 3000000 AS bounded FROM simdup_report_html('long_keys', 'Many') AS p;
CREATE VIEW one AS SELECT id AS key, simhash64 '00000000000000ff' AS fp, at FROM many;
SELECT c -> 'size' AS size, c -> 'compared' AS compared, jsonb_array_length(c -> 'members') AS shown, c -> 'from' AS from, c -> 'to' AS to
FROM simdup_report('one') AS r, jsonb_array_elements(r -> 'cases' -> 'kept') AS c;

-- the page: ASCII, nothing loaded, checks
SELECT simdup_report('texts', 3) AS report \gset
SELECT simdup_report_html(title => U&'L\00e9tters <b>', report => :'report', row_url => '/x/%s', lang => 'zh') AS page \gset
SELECT :'page' ~ '^[\x01-\x7f]*$' AS ascii, regexp_replace(:'page', '<(script|style)\M.*?</\1>', '', 'g') ~ '(src=|href="[^#]|url\(|@import|\son\w+=|style=)' AS loads_or_runs,
  :'page' ~ '@' AND regexp_replace(:'page', '<style>.*?</style>|<script.*?</script>', '', 'g') ~ '@' AS left_open;
SELECT substring(:'page' FROM '<title>.*?</title>') AS title, substring(:'page' FROM '<dl>.*?</dl>') AS no_script;
SELECT (substring(:'page' FROM 'id="data">(.*?)</script>')::jsonb -> 'report') = :'report'::jsonb AS same_data;
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE jsonb_array_length(value) <> 2) AS not_two, count(*) FILTER (WHERE value ->> 1 ~ '[a-z]{4}' AND value ->> 1 !~ '(SQL|psql|max_|min_|JavaScript)') AS english,
  count(*) FILTER (WHERE (SELECT array_agg(DISTINCT m ORDER BY m) FROM regexp_matches(value ->> 0, '\{\d\}', 'g') AS m)
    IS DISTINCT FROM (SELECT array_agg(DISTINCT m ORDER BY m) FROM regexp_matches(value ->> 1, '\{\d\}', 'g') AS m)) AS other_values
FROM jsonb_each(substring(:'page' FROM 'id="texts">(.*?)</script>')::jsonb);
SELECT substring(simdup_report_html(title => 't', report => :'report', lang => lang) FROM '<html.*?>') FROM unnest('{en,zh-Hans,ZH-cn}'::text[]) AS lang;
SELECT substring(simdup_report_html(title => 't', report => :'report', lang => 'ar', translations => '{"direction": "rtl\"><b>"}') FROM '<html.*?>') AS html;
SELECT count(p) FROM unnest(ARRAY['HTTPS://city.example/%s', 'http:%s', '?id=%s', '#%s', '%s', 'a/b:c/%s']) AS url, LATERAL (SELECT simdup_report_html(title => 't', report => :'report', row_url => url)) AS p (p);
SELECT simdup_report_html(title => 't', report => :'report', row_url => 'javascript:alert(%s)');
SELECT simdup_report_html(title => 't', report => '{"counts": {"rows": 1}, "decide": []}');
SELECT simdup_report_html(title => 't', report => '{"counts": {"rows": 1, "clusters": "x"}}');
SELECT simdup_report_html(title => 't', report => :'report', row_url => E'java\nscript:%s');
SELECT simdup_report_html(title => 't', report => :'report', row_url => 'data:text/html,%s');
SELECT simdup_report_html(title => 't', report => :'report', row_url => 'https://city.example/');
SELECT simdup_report_html(title => 't', report => :'report', lang => 'en"><b>');
SELECT simdup_report_html(title => 't', report => :'report', lang => 'zha');
SELECT simdup_report_html(title => 't', report => :'report', lang => 'de', translations => '{}');
SELECT simdup_report_html(title => 't', report => :'report', translations => '{"case": "Fall {1}", "kases": "x"}');
SELECT simdup_report_html(title => 't', report => :'report', translations => '{"case": ["Fall"]}');
SELECT simdup_report_html(title => 't', report => :'report', translations => '["Fall"]');
SELECT (regexp_match(simdup_report_html(title => 't', report => '{"counts": {"rows": 1}}', noun => noun), '"letters_many": (\[.*?\])'))[1] AS noun
FROM unnest(ARRAY[U&'\5C01', U&'\6765\4FE1', 'letter to us', 'a\1&"b']) AS noun;
-- also under a setting that version 19 lacks
DO $$ BEGIN SET standard_conforming_strings = off; EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT (regexp_match(simdup_report_html(title => 't', report => '{"counts": {"rows": 1}}', noun => 'note'), '"letters_many": (.{20})'))[1] AS noun;
RESET standard_conforming_strings;
SELECT (regexp_match(simdup_report_html(title => 't', report => '{"counts": {"rows": 1}}', noun => ' '), '"letters_many": (\["[^"]*")'))[1] AS no_noun;
SELECT simdup_report_html(title => 't', report => '{}');
-- a source by its name as a constant, as a text and as a regclass
SELECT count(DISTINCT regexp_replace(p, '"made": \{.*?\}', '')) AS pages
FROM (VALUES (simdup_report_html('few', 'Few', 3)), (simdup_report_html('few'::regclass, 'Few', 3)), (simdup_report_html('few'::text, 'Few', 3)),
  (simdup_report_html(title => 'Few', report => simdup_report('few', 3)))) AS v (p);
-- a column that may not be read is said at once
CREATE ROLE regress_simdup_report;
CREATE TABLE keyed AS SELECT id AS key, fp, body FROM letter;
GRANT SELECT (key, fp) ON keyed TO regress_simdup_report;
SET ROLE regress_simdup_report;
SELECT simdup_report('keyed');
RESET ROLE;
DROP TABLE keyed;
DROP OWNED BY regress_simdup_report;
DROP ROLE regress_simdup_report;

-- 1 MB and more, compressed, out of line and computed
CREATE TABLE large (id int PRIMARY KEY, fp simhash64, content text);
ALTER TABLE large ALTER content SET STORAGE EXTERNAL;
INSERT INTO large SELECT i, '00000000000000ff', repeat('one two three four five ', 60000) || CASE i WHEN 1 THEN 'end' ELSE 'END' END FROM generate_series(1, 2) AS i;
INSERT INTO large SELECT i, '00000000000000ff', 'different ' || repeat('one two three four five ', 40000) || i FROM generate_series(3, 4) AS i;
SELECT octet_length(r::text) < 200000 AS small, m -> 'key' AS key, m -> 'cut' AS cut, m -> 'adds' AS adds
FROM simdup_report('large') AS r, jsonb_array_elements(r #> '{cases,kept,0,members}') AS m;

SET client_min_messages = warning;
DROP TABLE letter, family, chance, many, large, day, scoped, equal CASCADE;
DROP FUNCTION lines;
