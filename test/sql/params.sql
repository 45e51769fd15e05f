-- parameters of the query that a batch function runs
SET simdup.progress_interval = 0;
CREATE TABLE letter (id int PRIMARY KEY, district text, arrived date, fp simhash64, body text);
INSERT INTO letter
SELECT i, CASE i % 2 WHEN 0 THEN 'north' ELSE 'O''Brien''s \row' END, date '2026-01-01' + i, ('x' || left(md5(((i + 1) / 4)::text), 16))::bit(64)::simhash64, 'text number ' || i / 4
FROM generate_series(1, 20) AS i;

-- every function that takes a query, against the value pasted in
\set north '$$SELECT id, fp FROM letter WHERE district = \'north\' ORDER BY id$$'
\set asked '$$SELECT id, fp FROM letter WHERE district = $1 ORDER BY id$$'
CREATE FUNCTION same(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE x text; y text;
BEGIN
  EXECUTE 'SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) FROM ' || a || ' AS r' INTO x;
  EXECUTE 'SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) FROM ' || b || ' AS r' INTO y;
  RETURN x = y;
END $$;
SELECT f, same(format(f, $$WHERE district = 'north'$$, ''), format(f, 'WHERE district = $1', ', params => ARRAY[''north'']'))
FROM unnest(ARRAY[
  'simdup_pairs($q$SELECT id, fp FROM letter %s$q$, 3%s)',
  'simdup_pairs($q$SELECT body, fp FROM letter %s$q$, NULL::text, 3%s)',
  'simdup_new_pairs($q$SELECT id, fp FROM letter %s$q$, $q$SELECT id + 100, fp FROM letter$q$, 3%s)',
  'simdup_new_pairs($q$SELECT id, fp FROM letter$q$, $q$SELECT id + 100, fp FROM letter %s$q$, 3%s)',
  'simdup_new_pairs($q$SELECT body, fp FROM letter$q$, $q$SELECT body, fp FROM letter %s$q$, NULL::text, 3%s)',
  'simdup_clusters($q$SELECT id, fp FROM letter %s$q$%s)',
  'simdup_clusters($q$SELECT body, fp FROM letter %s$q$, NULL::text, 2, ''connected''%s)',
  'simdup_components($q$SELECT id, id + 2 FROM letter %s$q$%s)',
  'simdup_components($q$SELECT body, district FROM letter %s$q$, NULL::text%s)',
  'simdup_evaluate($q$SELECT id, id + 2 FROM letter %s$q$, $q$SELECT id, id + 2 FROM letter$q$%s)',
  'simdup_evaluate_clusters($q$SELECT id, id / 3 FROM letter$q$, $q$SELECT id, id / 4 FROM letter %s$q$%s)',
  'shingle_pairs($q$SELECT id, body FROM letter %s$q$%s)',
  'shingle_pairs($q$SELECT body, body FROM letter %s$q$, NULL::text, 4, 0.5, ''word''%s)',
  'simdup_pairs($q$SELECT id, fp, body AS content FROM letter %s$q$, min_resemblance => 0.8%s)',
  'simdup_pairs($q$SELECT body, fp, body AS content FROM letter %s$q$, NULL::text, 8, 0.5, 4, ''word''%s)',
  'imatch_lexicon($q$SELECT body FROM letter %s$q$, 0%s)',
  'term_idf($q$SELECT body FROM letter %s$q$%s)']) AS f;

-- types come from the query; nothing in a value is taken for SQL
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE district = $1 AND id > $2 AND arrived < $3 ORDER BY id', 0,
  params => ARRAY['O''Brien''s \row', '10', '2026-01-18']);
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM letter WHERE district = $1', 0, params => ARRAY[$$north' OR true --$$]);
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = ANY ($1)', 0, params => ARRAY['{1,2,3,4}']);
-- in any order, more than once, in one of two queries only
SELECT * FROM simdup_new_pairs('SELECT id, fp FROM letter WHERE id > $2 AND id < $2 + 3', 'SELECT id, fp FROM letter WHERE id <= $1', 0, params => '{10,8}') ORDER BY a, b;
SELECT * FROM simdup_evaluate('SELECT id, id + 1 FROM letter WHERE id > $1', 'SELECT id, id + 1 FROM letter WHERE id < $2', '{5,9}');
-- NULL is a value
SELECT count(*) FROM simdup_pairs('SELECT id, fp FROM letter WHERE $1::text IS NULL AND id < $2', 0, params => '{NULL,5}');
-- as an application binds them
PREPARE by_district (text, integer, text[]) AS SELECT count(*) FROM simdup_pairs($1, $2, params => $3);
EXECUTE by_district (:asked, 3, '{north}');
PREPARE untyped AS SELECT count(*) FROM simdup_clusters('SELECT id, fp FROM letter WHERE district = $1', params => ARRAY[$1]);
EXECUTE untyped ('north');
EXECUTE untyped ('nowhere');
PREPARE positional AS SELECT count(*) FROM simdup_pairs($1, $2, NULL, 4, 'char', ARRAY[$3]);
EXECUTE positional (:asked, 3, 'north');
-- in a view, whose query the function sees anew each time
CREATE VIEW today AS SELECT * FROM simdup_pairs('SELECT id, fp FROM public.letter WHERE arrived >= $1', 0, params => ARRAY[current_setting('test.day')]);
SET test.day = '2026-01-15';
SELECT count(*) FROM today;
SET test.day = '2026-01-19';
SELECT count(*) FROM today;
-- beyond five executions
DO $$ BEGIN
  FOR i IN 1 .. 8 LOOP
    ASSERT (SELECT count(*) FROM simdup_components('SELECT id, id FROM letter WHERE id <= $1', params => ARRAY[i::text])) = i;
  END LOOP;
END $$;

-- errors
SELECT * FROM simdup_pairs(:asked, 3);
SELECT * FROM simdup_pairs(:asked, 3, params => '{a,b}');
SELECT * FROM simdup_pairs(:north, 3, params => '{a}');
SELECT * FROM simdup_new_pairs(:asked, :asked, 3, params => '{a,b}');
SELECT * FROM simdup_new_pairs(:north, :asked, 3);
SELECT * FROM simdup_evaluate('SELECT id, id FROM letter WHERE id < $2', 'SELECT 1, 2', '{1}');
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE district = $1 AND id > $2', 3, params => '{north,south}');
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE arrived > $1', 3, params => '{2026-02-30}');
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE $1 IS NULL', 3, params => '{1}');
-- the server words the hint of this one by version
\set VERBOSITY sqlstate
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = $1 AND district = $1', 3, params => '{1}');
\set VERBOSITY default
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = $0', 3, params => '{1}');
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = $1', 3, params => '{{1}}');
SELECT * FROM simdup_pairs(:north, 3, params => NULL);
SELECT * FROM simdup_pairs('DELETE FROM letter WHERE id = $1 RETURNING id, fp', 3, params => '{1}');
CREATE DOMAIN small AS integer NOT NULL CHECK (VALUE < 100);
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = $1::small', 3, params => '{100}');
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter WHERE id = $1::small', 3, params => '{NULL}');
-- keys of type text[]; where no argument follows, key_type needs its name
SELECT count(*) FROM simdup_components('SELECT ARRAY[district], ARRAY[body] FROM letter', NULL::text[]);
SELECT count(*) FROM simdup_components('SELECT ARRAY[district], ARRAY[body] FROM letter', key_type => NULL::text[]);
SELECT count(*) FROM simdup_pairs('SELECT ARRAY[district], fp FROM letter', NULL::text[], 3);
SELECT count(*) FROM simdup_pairs('SELECT ARRAY[district], fp FROM letter WHERE id <= $1', NULL::text[], 0, params => '{4}');
-- numbers as drivers send them, by position and by name: a smallint, or without a type
SELECT f, bool_and(same(format(f, '0'), format(f, n))) AS same
FROM unnest(ARRAY['simdup_pairs($q$SELECT id, fp FROM letter$q$, %s)', 'simdup_clusters($q$SELECT id, fp FROM letter$q$, %s)',
    'simdup_new_pairs($q$SELECT id, fp FROM letter WHERE id < 9$q$, $q$SELECT id, fp FROM letter WHERE id > 8$q$, %s)']) AS f,
  unnest(ARRAY['0::smallint', '''0''', 'max_distance => 0::smallint', 'max_distance => ''0''']) AS n GROUP BY f ORDER BY f;
SELECT same($$shingle_pairs('SELECT id, body FROM letter', '1', '0.5')$$, $$shingle_pairs('SELECT id, body FROM letter', 1::smallint, 0.5)$$),
  same($$simdup_pieces('SELECT id, fp FROM letter', '3', '2')$$, $$simdup_pieces('SELECT id, fp FROM letter', 3::smallint, 2::smallint)$$);
PREPARE untyped_distance AS SELECT count(*) FROM simdup_clusters($1, $2, $3);
EXECUTE untyped_distance ('SELECT id, fp FROM letter', '0', 'connected');
-- types of keys by position are still types of keys
SELECT DISTINCT pg_typeof(a) FROM simdup_pairs('SELECT id::text, fp FROM letter', NULL::text);
SELECT DISTINCT pg_typeof(a) FROM simdup_pairs('SELECT id::numeric, fp FROM letter', NULL::numeric, '0');
SELECT DISTINCT pg_typeof(a) FROM simdup_pairs('SELECT id::text::varchar, fp FROM letter', NULL::varchar, 0::smallint);
-- and a value is none
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter', 3::bigint);
SELECT * FROM simdup_clusters('SELECT id, fp FROM letter', 0.8);
SELECT * FROM simdup_clusters('SELECT id, fp FROM letter', '0.8');
SELECT * FROM shingle_pairs('SELECT id, body FROM letter', 3::bigint);
SELECT * FROM simdup_components('SELECT id, id FROM letter', 3);
SELECT * FROM simdup_pieces('SELECT id, fp FROM letter', 3::bigint, 2, 2);
SELECT * FROM shingle_pairs('SELECT id, body FROM letter', NULL::integer);
DROP VIEW today;
DROP DOMAIN small;
DROP TABLE letter;
DROP FUNCTION same;
