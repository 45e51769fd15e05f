-- I-Match and the vector space model
\encoding UTF8
SELECT imatch_fingerprint('a rose is a rose', '{rose,is}') = imatch_fingerprint('Is rose? rose rose!', '{is,rose,tulip}') AS same,
       imatch_fingerprint('a rose is a rose', '{rose,is}') = imatch_fingerprint('a rose', '{rose,is}') AS same_without_one,
       imatch_fingerprint('a rose', '{tulip}'), imatch_fingerprint('', '{rose}'), imatch_fingerprint('a rose', '{}');
-- stored signatures stay valid
SELECT imatch_fingerprint('a rose is a rose', '{rose,is}'), imatch_fingerprints('a rose is a rose', '{rose,is}', 2, 0.5);
SELECT cardinality(f), f[1] = imatch_fingerprint(t, l) AS first_is_whole
FROM (SELECT string_agg('w' || n, ' ') AS t, array_agg('w' || n) AS l FROM generate_series(1, 100) AS n) AS a, imatch_fingerprints(t, l) AS f;
-- one term more: the plain signature misses, the randomised ones find it
SELECT imatch_fingerprint(t, l) = imatch_fingerprint(t || ' w101', l) AS plain, imatch_fingerprints(t, l) && imatch_fingerprints(t || ' w101', l) AS randomised
FROM (SELECT string_agg('w' || n, ' ') FILTER (WHERE n <= 100) AS t, array_agg('w' || n) AS l FROM generate_series(1, 101) AS n) AS a;
-- another lexicon in the next row
SELECT imatch_fingerprint('a b c', l) = imatch_fingerprint('b c', '{b,c}') FROM (VALUES ('{b,c}'::text[]), ('{a,b,c}'), ('{b,c}'), ('{b}')) AS t(l);

CREATE TABLE corpus (id int, body text);
INSERT INTO corpus VALUES (1, 'the rose'), (2, 'the Rose the rose'), (3, 'the tulip'), (4, 'the FORÊT'), (5, NULL), (6, '***');
SELECT term, documents, round(idf::numeric, 4) AS idf FROM (SELECT term_idf(body) AS terms FROM corpus) AS a, unnest(terms);
SELECT imatch_lexicon(body, 0.5, 1, 'word'), imatch_lexicon(body, 5, 'Infinity', 'word'), imatch_lexicon(body),
       imatch_lexicon(body, 0, 'Infinity', 'char:1') @> '{t,h,e,ê}' FROM corpus;
-- no rows, and rows without a term
SELECT term_idf(body), imatch_lexicon(body) FROM corpus WHERE false;
SELECT term_idf(body), imatch_lexicon(body) FROM corpus WHERE id > 4;
-- by groups, of some rows, without repeats, over a frame, another tokenizer
SELECT id % 2 AS odd, term_idf(body, 'char:1') IS NULL AS none, imatch_lexicon(body, 0, 9, 'word') AS lexicon,
       imatch_lexicon(body, 0, 9, 'word') FILTER (WHERE id > 1) AS later, imatch_lexicon(DISTINCT lower(body), 0, 9, 'word') AS once FROM corpus GROUP BY 1 ORDER BY 1;
SELECT id, imatch_lexicon(body, 0, 9, 'word') OVER (ORDER BY id) FROM corpus ORDER BY id;
-- in any order, and with workers below, the same as by plain SQL
CREATE TABLE many AS SELECT i AS id, 'word' || i % 7 || ' word' || i % 11 || ' all ' || CASE WHEN i % 500 = 0 THEN 'rare' || i ELSE '' END AS body FROM generate_series(1, 20000) AS i;
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
WITH plain AS (SELECT term, count(*) AS documents, ln(20000 / count(*)::float8) AS idf FROM many, LATERAL (SELECT DISTINCT unnest(string_to_array(trim(body), ' ')) AS term) AS t GROUP BY term)
SELECT count(*), count(*) FILTER (WHERE (p.documents, p.idf) IS DISTINCT FROM (t.documents, t.idf)) AS wrong, array_agg(t.term) = array_agg(t.term ORDER BY t.term COLLATE "C") AS in_order,
       array_agg(t.term) FILTER (WHERE t.idf BETWEEN 1 AND 7) = (SELECT imatch_lexicon(body) FROM (SELECT body FROM many ORDER BY md5(body) OFFSET 0) AS m) AS lexicon
FROM (SELECT term_idf(body) AS terms FROM many) AS a, unnest(terms) AS t FULL JOIN plain AS p USING (term);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE many;

SELECT term_cosine('a b', 'a b'), term_cosine('a a b', 'a b b'), term_cosine('a', 'b'), term_cosine('', 'b'), term_cosine('a', NULL);
SELECT term_cosine('a b', 'a c', '{a,b,c}', '{0,1,1}'), term_cosine('a b', 'a c', '{a,b,c}', '{1,0,0}'),
       round(term_cosine('a b', 'a c', '{a}', '{2}')::numeric, 6) AS unknown_weighs_2, term_cosine('a', 'a', '{a}', '{0}');
-- with the corpus' weights the word that all have counts for nothing
CREATE TABLE corpus_idf AS SELECT t.* FROM (SELECT term_idf(body) AS terms FROM corpus) AS a, unnest(terms) AS t;
SELECT a.id, b.id, round(term_cosine(a.body, b.body)::numeric, 4) AS tf,
       round(term_cosine(a.body, b.body, (SELECT array_agg(term) FROM corpus_idf), (SELECT array_agg(idf) FROM corpus_idf))::numeric, 4) AS tf_idf
FROM corpus a JOIN corpus b ON a.id < b.id WHERE b.id <= 4 ORDER BY 1, 2;

-- bad input
SELECT term_cosine('a a a', 'a a a', '{a}', '{1e308}'), term_cosine('a b', 'a c', '{a,b,c}', '{1e308,1e308,1e308}');
SELECT imatch_fingerprint('a', '{a,NULL}');
SELECT imatch_fingerprint('a', '{{a}}');
\set VERBOSITY terse
SELECT imatch_fingerprint('a', '{a}', 'none');
\set VERBOSITY default
SELECT imatch_fingerprints('a', '{a}', 101);
SELECT imatch_fingerprints('a', '{a}', 10, 1);
SELECT imatch_fingerprints('a', '{a}', 10, 'NaN');
SELECT imatch_lexicon(body, 2, 1, 'word') FROM corpus;
SELECT imatch_lexicon(body, 'NaN', 1, 'word') FROM corpus;
SELECT imatch_lexicon(body, NULL, 1, 'word') FROM corpus;
SELECT imatch_lexicon(body, 1, NULL, 'word') FROM corpus;
SELECT imatch_lexicon(body, 1, 2, NULL) FROM corpus;
SELECT term_idf(body, NULL) FROM corpus;
SELECT term_cosine('a', 'b', '{a}', '{1,2}');
SELECT term_cosine('a', 'b', '{a}', '{-1}');
SELECT term_cosine('a', 'b', '{a}', '{NaN}');
\set VERBOSITY terse
SELECT term_cosine('a', 'b', 'none');
\set VERBOSITY default
DROP TABLE corpus, corpus_idf;
