--
-- tune: which distance to choose for a source, against all pairs
--
\set SHOW_CONTEXT never
CREATE SCHEMA tune;
SET search_path = tune, public;
CREATE TABLE letter (id int PRIMARY KEY, fp simhash64);
INSERT INTO letter SELECT g, ('x' || substr(md5(g::text), 1, 16))::bit(64)::bigint::simhash64 FROM generate_series(1, 4500) AS g;
CREATE FUNCTION near(source regclass) RETURNS TABLE (max_distance int, n bigint) LANGUAGE plpgsql SET simdup.enable_join = off AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT d::int, (sum(count(*)) OVER (ORDER BY d) - (SELECT count(*) FROM %1$s WHERE fp IS NOT NULL))::bigint / 2
    FROM (SELECT a.fp <~> b.fp AS d FROM %1$s AS a, %1$s AS b WHERE simhash_within(a.fp, b.fp, 18)) AS p GROUP BY d ORDER BY d', source);
END $$;
-- unrelated rows: the estimate of false pairs is about right if there are enough
CREATE TABLE all_pairs AS SELECT * FROM near('letter');
SELECT max_distance, expected_false BETWEEN 0.8 * n AND 1.25 * n AS as_expected, n_found BETWEEN 0.8 * n AND 1.25 * n AS as_found, recommended
FROM simdup_tune('letter', 18) JOIN all_pairs USING (max_distance) WHERE max_distance >= 16 ORDER BY 1;
-- where nothing is found, nothing is recommended
SELECT sum(n_found) AS n_found, count(*) FILTER (WHERE recommended) AS recommended FROM simdup_tune('letter', 8);
-- the pairs found: all of them of few rows, about all of many; unrelated ones may be 2 % of them
CREATE VIEW many AS SELECT a.id * 2 + k AS key, CASE k WHEN 0 THEN fp ELSE (fp::bigint # ((1::bigint << a.id % 14) - 1))::simhash64 END AS fp
  FROM letter AS a, generate_series(0, 1) AS k;
CREATE VIEW few AS SELECT * FROM many WHERE key < 2000;
CREATE VIEW more AS SELECT * FROM many WHERE key < 5000;
CREATE TABLE tuned AS
SELECT 'few' AS source, * FROM simdup_tune('few', 12) JOIN near('few') USING (max_distance)
UNION ALL SELECT 'more', * FROM simdup_tune('more', 12) JOIN near('more') USING (max_distance);
SELECT source, bool_and(CASE source WHEN 'few' THEN n_found = n ELSE n_found BETWEEN 0.8 * n AND 1.25 * n END) AS as_found,
  array_agg(max_distance) FILTER (WHERE recommended) = ARRAY[max(max_distance) FILTER (WHERE expected_false <= 0.02 * n_found)] AS recommended
FROM tuned GROUP BY source ORDER BY source;
-- labels are scored by the server
CREATE TABLE judged AS SELECT * FROM (VALUES
  (simhash64 '0000000000000000', simhash64 '0000000000000000', true), ('0000000000000000', '0000000000000001', true), ('0000000000000000', '0000000000000003', false),
  ('0000000000000000', '000000000000000f', true), ('0000000000000000', '00000000000000ff', false)) AS v (a, b, same);
SELECT k AS max_distance, count(*) FILTER (WHERE d <= k) AS n_found, count(*) FILTER (WHERE d <= k AND same) AS n_both, count(*) FILTER (WHERE same) AS n_true
FROM (SELECT a <~> b AS d, same FROM judged) AS j, generate_series(0, 5) AS k GROUP BY k ORDER BY k;
-- a text without a column of fingerprints; rows without one
CREATE TABLE page (id int PRIMARY KEY, content varchar);
INSERT INTO page SELECT i, repeat('the lamp in the lane is out. ', 1 + i % 2) FROM generate_series(1, 4) AS i;
INSERT INTO page VALUES (5, NULL), (6, '');
SELECT * FROM simdup_tune('page', 0);
-- rows that the caller may not see are not counted
CREATE ROLE regress_simdup_reader;
GRANT USAGE ON SCHEMA tune TO regress_simdup_reader;
SET ROLE regress_simdup_reader;
SELECT * FROM simdup_tune('page', 0);
RESET ROLE;
GRANT SELECT ON page TO regress_simdup_reader;
ALTER TABLE page ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON page USING (id < 4);
SET ROLE regress_simdup_reader;
SELECT * FROM simdup_tune('page', 0);
RESET ROLE;

-- bad input
SELECT count(*) FROM simdup_tune(NULL);
SELECT * FROM simdup_tune('page', 65);
SELECT * FROM simdup_tune('nothing');
SELECT * FROM simdup_tune('judged');
DROP OWNED BY regress_simdup_reader;
DROP ROLE regress_simdup_reader;
SET search_path = public;
SET client_min_messages = error;
DROP SCHEMA tune CASCADE;
RESET client_min_messages;
