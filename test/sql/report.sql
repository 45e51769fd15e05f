-- the report: one page in ASCII, and the summary's headline
SELECT getdatabaseencoding() <> 'UTF8' AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks what is tested here
\quit
\endif
\encoding UTF8
SET simdup.progress_interval = 0;
CREATE TABLE letter (id text, fp simhash64, body text);
INSERT INTO letter VALUES
  ('1', '0000000000000000', 'The lamp in Mill Lane is out. It has been out for two weeks.'),
  ('2', '0000000000000001', 'The lamps in Mill Lane are out. It has been out for two weeks!'),
  ('3', '0000000000000007', 'The lamp in Mill Lane is out. It has been out for two weeks.'),
  ('4', '000000000000003f', E'The lamp in Mill Lane\tis out.\nIt has been out for three weeks.'),
  ('5', '0ff0ff000ff0ff00', 'More benches, please.'),
  ('6', 'ffffffff00000000', U&'\8DEF\9762\6709\5927\5751\FF0C\8BF7\4FEE\3002'),
  ('7', 'ffffffff00000000', U&'\8DEF\9762\6709\5751\FF0C\8BF7\5FEB\4FEE\3002'),
  ('8', NULL, 'Nothing.');

SELECT item, value FROM simdup_summary('SELECT id, fp FROM letter ORDER BY id', 3, 'connected') WHERE section = 'headline';
SELECT item, value FROM simdup_summary('SELECT id, fp FROM letter ORDER BY id', 3) WHERE section = 'headline';
SELECT item FROM simdup_summary('SELECT id, fp FROM letter WHERE id = ''5''', 3) WHERE section = 'headline';
SELECT item FROM simdup_summary('SELECT id, fp FROM letter WHERE id < $1', 3, params => ARRAY['3']) WHERE section = 'headline';
SELECT section, count(*), count(*) FILTER (WHERE value >= 0) FROM simdup_summary('SELECT id, fp FROM letter', 3) GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM simdup_summary(NULL, 3);

-- what a person sees, without the markup
CREATE FUNCTION seen(page text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT line FROM regexp_split_to_table(regexp_replace(regexp_replace(
      regexp_replace(regexp_replace(regexp_replace(page, '^.*</nav>|</main>.*$', '', 'g'),
        '<svg.*?</svg>', '', 'g'), '<(/?)(del|ins)>', '[\1\2]', 'g'), '<[^>]*>', '', 'g'),
    '\d{4}-\d\d-\d\d \d\d:\d\d UTC|PostgreSQL .*?\)?$', 'X', 'gn'), '\n') AS line
  WHERE line <> ''
$$;
SELECT simdup_report_html('SELECT id, fp, body AS content FROM letter ORDER BY id', 'Letters', 3, 'connected') AS page \gset
SELECT seen(:'page');
SELECT :'page' ~ '^[\x01-\x7f]*$' AS ascii, regexp_replace(:'page', '<(script|style)\M.*?</\1>', '', 'g') ~ '(src=|href="[^#]|url\(|@import|\son\w+=|style=)' AS loads_or_runs;

-- links: the key in them is encoded, and a template leads to the web only
SELECT DISTINCT regexp_matches(simdup_report_html($$SELECT E'a/../"<b>\u00e9%s &?#' || g, '00000000000000ff'::simhash64 FROM generate_series(1, 1) g
    UNION ALL SELECT 'b', '00000000000000ff'::simhash64$$, 't', row_url => '/x/%s?y="''<%25>&z=%s'), 'href="(/x[^>]*)"', 'g') AS link ORDER BY 1;
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => url) FROM (VALUES ('javascript:alert(%s)')) AS v (url);
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => E'java\nscript:%s');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => ' javascript:%s');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => 'data:text/html,%s');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => 'https://city.example/');
SELECT count(*) FROM unnest(ARRAY['HTTPS://city.example/%s', 'http:%s', '?id=%s', '#%s', '%s', 'a/b:c/%s']) AS url,
  LATERAL (SELECT simdup_report_html('SELECT id, fp FROM letter', 't', row_url => url)) AS p;

-- parameters, and NULLs
SELECT simdup_report_html('SELECT id, fp FROM letter WHERE id = ANY ($1::text[])', 't', 3, params => ARRAY['{1,2}']) ~ '1 of 2 rows \(50.0 %\) repeats another' AS parameters;
SELECT simdup_report_html(NULL, 't') IS NULL, simdup_report_html('SELECT id, fp FROM letter', 't', 3, row_url => NULL, max_groups => NULL) IS NOT NULL;
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', max_groups => -1);

-- earlier numbers beside today's
SELECT line FROM seen(simdup_report_html('SELECT id, fp FROM letter', 't', before => (
    SELECT jsonb_object_agg(section || ': ' || item, value) FROM simdup_summary('SELECT id, fp FROM letter WHERE id < ''5'''))
    || '{"clusters: all": "x", "clusters: rows in them": 1e400}')) AS line
WHERE line ~ '^(letters|cases): ';

-- many groups: a page of bounded size, that says what it leaves out
CREATE TABLE many AS
  SELECT i AS id, (('x' || substr(md5((i / 3)::text), 1, 16))::bit(64))::simhash64 AS fp, repeat(i || ' word ', 60) AS body
  FROM generate_series(3, 30002) AS i;
CREATE TABLE pages AS SELECT n, simdup_report_html('SELECT id, fp, body AS content FROM many ORDER BY id', 'Many', 0, max_groups => n) AS page
FROM unnest(ARRAY[0, 7, 100000]) AS n;
SELECT n, regexp_count, length(page) < 20000000 AS bounded, substring(page FROM '[\d,]+ smaller cases are left out') ~ '\d' AS says_so
FROM pages, LATERAL (SELECT count(*) AS regexp_count FROM regexp_matches(page, '<details class="group">', 'g')) AS c (regexp_count)
WHERE n < 100000
UNION ALL
SELECT n, 10000, length(page) < 20000000, substring(page FROM '[\d,]+ smaller cases? (is|are) left out') IS NOT NULL FROM pages WHERE n = 100000
ORDER BY n;
SELECT regexp_matches(page, '"n_rows": \d+|"n_pairs": \d+', 'g') FROM pages WHERE n = 0;
-- the same in Chinese, which takes eight bytes a character, and with long keys
SELECT length(page) > 2000000 AS full_page, length(page) < 3000000 AS bounded FROM simdup_report_html($$
  SELECT repeat('k', 100) || id, fp, repeat(U&'\8DEF\706F\574F\4E86' || id, 100) || repeat(U&'\8BF7\4FEE\7406' || -id, id % 3 * 50) AS content FROM many ORDER BY id$$, 'Many') AS page;
-- of a large group the first rows
SELECT count(*) FROM regexp_matches(simdup_report_html('SELECT id, simhash64 ''00000000000000ff'' FROM many ORDER BY id', 'One'), '<li class="entry">', 'g');
SELECT substring(simdup_report_html('SELECT id, simhash64 ''00000000000000ff'' FROM many ORDER BY id', 'One') FROM '[\d,]+ more letters of this case are not shown');

-- the page's language, and its texts; every key is a text of every page
SELECT lang, page ~ format('<html lang="%s" dir="ltr">', lang) AS attribute, substring(page FROM '<h2 id="groups">(.*?)</h2>') AS cases
FROM unnest('{en,zh,zh-Hans,ZH-cn,de,zha}'::text[]) AS lang, LATERAL (SELECT simdup_report_html('SELECT id, fp FROM letter', 't', 3, lang => lang) AS page) AS p;
CREATE TABLE said AS SELECT lang, substring(simdup_report_html('SELECT id, fp FROM letter', 't', 3, lang => lang) FROM 'id="texts">(.*?)</script>')::jsonb AS texts FROM unnest('{en,zh}'::text[]) AS lang;
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE NOT z.texts ? key) AS missing, count(*) FILTER (WHERE z.texts ->> key ~ '[a-z]{4}' AND z.texts ->> key !~ '(SQL|psql|max_distance)') AS english,
  count(*) FILTER (WHERE (SELECT array_agg(DISTINCT m ORDER BY m) FROM regexp_matches(value, '\{\d\}', 'g') AS m)
    IS DISTINCT FROM (SELECT array_agg(DISTINCT m ORDER BY m) FROM regexp_matches(z.texts ->> key, '\{\d\}', 'g') AS m)) AS other_values
FROM said AS e, jsonb_each_text(e.texts), said AS z WHERE e.lang = 'en' AND z.lang = 'zh' AND key NOT IN ('direction');
-- each text comes from the translations, and cannot act as markup
SELECT count(*) AS others FROM (
  SELECT line FROM seen(simdup_report_html('SELECT id, fp, body AS content FROM letter ORDER BY id', '', 3, 'connected', lang => 'ar',
    translations => (SELECT jsonb_object_agg(key, '&<"' || regexp_replace(value, '[^{}0-9]+', '*', 'g')) FROM said, jsonb_each_text(texts) WHERE lang = 'en'))) AS line
) AS l WHERE line ~ '[<"]' OR regexp_replace(line, 'mend|lamps?|Mill|Lane|weeks|three|been|SELECT|FROM|ORDER|simdup|PostgreSQL|letter|body|code|CLUSTERS', '', 'g') ~ '[a-z]{5}';
SELECT substring(simdup_report_html('SELECT id, fp FROM letter', 't', 3, lang => 'ar', translations => '{"direction": "rtl\"><b>", "cases": "<script>{1}{2}{"}') FROM '<html.*?>') AS html;
SELECT substring(simdup_report_html('SELECT id, fp FROM letter', 't', 3, translations => '{"cases": "<script>{1}{2}{"}') FROM '<h2 id="groups">.*?</h2>') AS escaped;
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', translations => '{"case": "Fall {1}", "kases": "x"}');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', translations => '{"case": ["Fall"]}');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', translations => '["Fall"]');
SELECT simdup_report_html('SELECT id, fp FROM letter', 't', lang => 'en"><b>');

-- hostile texts and keys
SELECT k.n, substring(simdup_report_html(format('SELECT * FROM (VALUES (%L, simhash64 ''00000000000000ff'', %L), (''x'', ''00000000000000ff'', %L)) AS v (a, b, content)',
    k.text, k.text, k.text || 'z'), k.text) FROM '<h1 dir="auto">(.*?)</h1>') AS title
FROM (VALUES (1, '<script>alert(1)</script>'), (2, '"><img src=x onerror=alert(1)>'), (3, '</style></title>'), (4, '</script><script>alert(1)//'),
  (5, U&'\202Eabc\2066'), (6, E'\x01\x02\x1b[31m\x7f'), (7, U&'\FEFF\200B\2028')) AS k (n, text)
ORDER BY 1;
-- 1 MB and more, compressed, out of line and computed
CREATE TABLE large (id int, fp simhash64, body text);
ALTER TABLE large ALTER body SET STORAGE EXTERNAL;
INSERT INTO large SELECT i, '00000000000000ff', repeat('one two three four five ', 60000) || CASE i WHEN 1 THEN 'end' ELSE 'END' END FROM generate_series(1, 2) AS i;
INSERT INTO large SELECT i, '00000000000000ff', 'different ' || repeat('one two three four five ', 40000) || i FROM generate_series(3, 4) AS i;
SELECT length(page) < 200000 AS small, (SELECT count(*) FROM regexp_matches(page, 'the rest is not compared', 'g')) > 0 AS cut,
  page LIKE '%<span class="text" dir="auto">different &#8230; 3</span>%' AS own
FROM simdup_report_html('SELECT id, fp, body AS content FROM large ORDER BY id', 'Large') AS page;
SELECT length(simdup_report_html('SELECT id, fp, body || body AS content FROM large ORDER BY id', 'Large')) < 200000 AS small;

DROP TABLE letter, many, pages, large, said;
DROP FUNCTION seen;
