-- what a letter adds, what letters have in common, what a letter quotes

CREATE TABLE letter (id int PRIMARY KEY, content text);
INSERT INTO letter VALUES
  (1, E'Dear council,\nthe lamp at the corner of Fish Street has been dark since 5 May. Please mend it before the winter. Thank you.'),
  (2, E'Dear council,\nthe lamp at the corner of Fish Street has been dark since 5 May. My mother (she is 80) fell there. Please mend it before the winter. Thank you.'),
  (3, E'Dear Mrs Lee,\nthe lamp at the corner of FISH STREET has been dark since 3 June. Please mend it before the winter! Thank you.'),
  (4, 'The bus to Fish Street is late every morning, and nobody knows why. Thank you.');
-- an encoding without an ellipsis has full stops in its place
CREATE FUNCTION shown(passages text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(passages, ' [^ -~]+ ', ' ... ', 'g') $$;
SELECT a.id, shown(simdup_own_text(a.content, b.content)) AS own FROM letter AS a, letter AS b WHERE b.id = 1 ORDER BY 1;
SELECT shown(simdup_common_text(array_agg(content ORDER BY id))) AS half, shown(simdup_common_text(array_agg(content ORDER BY id) FILTER (WHERE id < 4), 1)) AS all_three,
       simdup_common_text(array_agg(content ORDER BY id), 1) AS all_four FROM letter;
-- the case of a letter in one query: its common text once, and each letter by its own
SELECT id, shown(simdup_own_text(content, common)) AS own
FROM (SELECT id, content, (SELECT simdup_common_text(array_agg(content ORDER BY id)) FROM letter WHERE id < 4) AS common FROM letter WHERE id < 4) AS grouped
ORDER BY length(simdup_own_text(content, common)) DESC NULLS LAST, id;
SELECT simdup_own_text('', 'a') IS NULL AS empty, simdup_own_text('***', 'a') IS NULL AS no_word, simdup_own_text('a b', '') AS all_own,
       simdup_own_text(NULL, 'a') IS NULL AS null, simdup_common_text('{NULL,a b c}') AS one, simdup_common_text('{}') IS NULL AS none, simdup_common_text('{NULL}') IS NULL AS nulls;
-- 1 MB against 1 MB, and nothing that is not in the content
SELECT length(regexp_replace(simdup_own_text(a, b), '[^[:alnum:] -]+', '.', 'g')) AS own FROM (SELECT string_agg('word' || i, ' ') AS a, string_agg('word' || CASE WHEN i % 100 = 0 THEN -i ELSE i END, ' ') AS b FROM generate_series(1, 120000) AS i) AS t;
SELECT simdup_common_text('{a}', 0);
SELECT simdup_common_text('{a}', 1.1);
SELECT simdup_common_text('{a}', 'NaN');

-- lines that a mail program broke and quoted: nothing of them is the letter's own
CREATE FUNCTION mailed(t text, width int) RETURNS text LANGUAGE sql AS $$
  SELECT replace('> ' || regexp_replace(regexp_replace(t, format('(.{%s}[^ ]*) ', width), E'\\1\n> ', 'g'), '([a-z]{4})([a-z]{3})', E'\\1-\n> \\2'), E'\n', E'\r\n')
$$;
SELECT count(*) AS letters, count(simdup_own_text(mailed(content, width), content)) AS own, count(simdup_own_text(content, mailed(content, width))) AS own_back,
       bool_and(simdup_common_text(ARRAY[content, mailed(content, width)], 1) = content) AS all_common
FROM letter, generate_series(10, 72, 2) AS width;
SELECT mailed(content, 30) AS mailed FROM letter WHERE id = 4;
DROP FUNCTION mailed;

-- a footer: what is taken out, and what stays as it is
CREATE TEMP TABLE footer AS SELECT 'This message is meant for the person named above only, and may be confidential. If you are not that person, please delete it.'::text AS footer;
SELECT simdup_without('Mend the lamp!' || gap || said, ARRAY[footer]) AS "without"
FROM footer, unnest(ARRAY[' ', E'\n\n--\n> ']) AS gap, unnest(ARRAY[footer, upper(footer), replace(footer, ' ', E'\n> '), replace(footer, 'confidential', E'confi-\r\n> dential') || E'\nP.S. Soon!', left(footer, 60)]) AS said;
SELECT simdup_without('  as it is ', NULL) AS no_passages, simdup_without('  as it is ', '{}') AS empty, simdup_without('  as it is ', '{NULL,"",***}') AS no_word,
       simdup_without(NULL, '{a}') IS NULL AS null, simdup_without('is AS it', '{"as it is"}') AS other_order, simdup_without('As it is!', '{"as it is"}') AS all_of_it;
SELECT every, bool_and(simdup_without(content || ' ' || footer, ARRAY(SELECT footer WHERE id % every = 0)) = content || CASE WHEN id % every = 0 THEN '' ELSE ' ' || footer END) AS as_told
FROM letter, footer, generate_series(1, 2) AS every GROUP BY every ORDER BY every;

-- boilerplate: what otherwise different letters share, not what copies of one letter do
CREATE TEMP TABLE mail AS
SELECT id, kind, (SELECT string_agg(md5(format('%s %s', CASE WHEN kind = 'campaign' AND n BETWEEN 5 AND 40 THEN id % 2 ELSE id END, n)), ' ' ORDER BY n) FROM generate_series(1, 20 + id % 30) AS n) AS content
FROM (SELECT id, CASE WHEN id % 3 = 0 THEN 'campaign' ELSE 'own' END AS kind FROM generate_series(1, 600) AS id) AS i;
SELECT count(*) AS without_footer FROM simdup_boilerplate('SELECT id, content FROM mail');
SELECT count(*) AS copies FROM simdup_boilerplate('SELECT id, repeat(md5(1::text) || '' '' || md5(2::text) || '' '', 20) FROM mail');
SELECT passage = footer AS is_footer, n_rows, share FROM footer,
  simdup_boilerplate('SELECT id, content || CASE WHEN id % 10 = 0 THEN E''\n\n'' || $1 ELSE '''' END FROM mail UNION ALL SELECT 1000 + id, content || E''\n'' || $1 FROM mail WHERE id = 10', params => ARRAY[footer]);
SELECT count(*) AS too_few FROM footer, simdup_boilerplate('SELECT id, content || CASE WHEN id % 10 = 0 THEN E''\n\n'' || $1 ELSE '''' END FROM mail', 0.11, ARRAY[footer]);
-- a head in most letters, and two feet with a number between
SELECT passage, n_rows FROM simdup_boilerplate($$SELECT id, CASE WHEN id % 5 < 4 THEN 'This letter was sent through the form of the city, which passes on what citizens write there. ' ELSE '' END || content
  || ' Please do not answer this message, because nobody reads what arrives here; use the form. Number ' || id || '. Whoever wants no more of these messages may say so by letter, or at the desk in the hall.' FROM mail$$) ORDER BY passage;
-- the same with little memory, where the sorts go to disk
SET maintenance_work_mem = '1MB';
SELECT count(*), min(n_rows) AS n_rows FROM simdup_boilerplate($$SELECT id, (SELECT string_agg(md5(format('%s %s', id, n)), ' ') FROM generate_series(1, 60) AS n)
  || ' Please do not answer this message, because nobody reads what arrives here; use the form.' FROM generate_series(1, 5000) AS id$$);
RESET maintenance_work_mem;
SELECT count(*) AS no_rows FROM simdup_boilerplate('SELECT 1, NULL::text WHERE false');
SELECT count(*) AS no_texts FROM simdup_boilerplate('SELECT 1, NULL::text');
SELECT count(*) AS no_query FROM simdup_boilerplate(NULL);
SELECT * FROM simdup_boilerplate('SELECT 1, 2');
SELECT * FROM simdup_boilerplate('SELECT 1, ''a''', 0);

-- winnowing: the smallest element of each window of shingles
CREATE FUNCTION folded(t text, w int, u text) RETURNS SETOF text LANGUAGE sql AS $$
  WITH unit AS (SELECT m AS unit, n FROM regexp_split_to_table(regexp_replace(lower(t), '[^a-z ]', '', 'g'), CASE u WHEN 'word' THEN ' ' ELSE ' *' END) WITH ORDINALITY AS r (m, n) WHERE m <> '')
  SELECT (SELECT string_agg(unit, CASE u WHEN 'word' THEN ' ' ELSE '' END ORDER BY x.n) FROM unit AS x WHERE x.n >= unit.n AND x.n < unit.n + w)
  FROM unit WHERE n + w - 1 <= (SELECT max(n) FROM unit) OR n = 1 ORDER BY n
$$;
SELECT count(*) AS texts, bool_and(shingle_winnow(t, w, size, u) @> expected AND expected @> shingle_winnow(t, w, size, u)) AS as_defined
FROM unnest(ARRAY['a rose is a rose is a rose', 'The lamp at the corner of Fish Street has been dark since May, please mend it.', 'x']) AS t,
  unnest('{1,3}'::int[]) AS w, unnest('{1,4,50}'::int[]) AS size, unnest('{word,char}'::text[]) AS u,
  LATERAL (WITH h AS (SELECT n, simdup_hash(s) AS hash, simdup_hash(s)::bit(64) AS unsigned FROM folded(t, w, u) WITH ORDINALITY AS f (s, n))
           SELECT array_agg(DISTINCT (SELECT hash FROM h AS x WHERE x.n >= h.n AND x.n < h.n + size ORDER BY x.unsigned LIMIT 1)) AS expected
           FROM h WHERE h.n + size - 1 <= (SELECT max(n) FROM h) OR h.n = 1) AS e;
DROP FUNCTION folded;
SELECT shingle_winnow('Mend the lamp in Fish Street!') = shingle_winnow('MEND the lamp, in fish street') AS folded, cardinality(shingle_winnow('a b')) AS short,
       shingle_winnow('***') IS NULL AS no_unit, shingle_winnow(NULL) IS NULL AS null, shingle_winnow('***', 1, 1, 'raw') IS NOT NULL AS raw;
-- who quotes whom: letters that share fifteen words in a row share an element
INSERT INTO letter
SELECT 10 + i, (SELECT string_agg('word' || (i * 1000 + j), ' ' ORDER BY j) FROM generate_series(1, 100) AS j) ||
  CASE WHEN i > 100 THEN ' "' || (SELECT string_agg('word' || ((i - 100) * 1000 + j), ' ' ORDER BY j) FROM generate_series(40, 54) AS j) || '"' ELSE '' END
FROM generate_series(1, 200) AS i;
CREATE INDEX letter_passages ON letter USING gin (shingle_winnow(content));
SET enable_seqscan = off;
SELECT count(*) AS quoting, count(*) FILTER (WHERE b.id = a.id - 100) AS right, min(shingle_containment(b.content, a.content, 8, 'word')) > 0.05 AS ranked
FROM letter AS a, letter AS b WHERE a.id > 110 AND b.id <> a.id AND shingle_winnow(b.content) && shingle_winnow(a.content);
RESET enable_seqscan;
SELECT shingle_winnow('a', 0);
SELECT shingle_winnow('a', 65);
SELECT shingle_winnow('a', 8, 0);
SELECT shingle_winnow('a', 8, 1025);
SELECT shingle_winnow('a', 8, 8, 'line');
DROP FUNCTION shown;
DROP TABLE letter;
