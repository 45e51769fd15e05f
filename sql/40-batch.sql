
--
-- batch: whole tables at once
--
-- Every function here runs a query that its caller gives: with the caller's
-- rights, and as volatile and as unsafe in parallel workers as that query may
-- be. Keys are bigint (or a smaller integer) in the first form of each, and
-- of the type of the last argument, a null of it, in the second.

CREATE FUNCTION simdup_pairs(
  query text, max_distance integer DEFAULT 3,
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs(
  query text, max_distance integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_pairs(text, integer) IS
  'all pairs of rows whose fingerprints differ in at most max_distance (0 to 16) bits, each pair once, a before b in query order; the query yields (key, simhash64), NULL fingerprints are skipped with a NOTICE. SQLSTATE 22023 for another distance or what is no query, 42804 for other columns, 22004 for a NULL key; no row where an argument is NULL. Beyond maintenance_work_mem it works on disk (documents 001 and 003)';
COMMENT ON FUNCTION simdup_pairs(text, integer, anyelement) IS
  'simdup_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance integer DEFAULT 3,
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer) IS
  'incremental batch: the pairs of new rows with old ones and with each other, none of two old rows; a is a new row, b an old one or a later new one; queries and distance as for simdup_pairs (document 003)';
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer, anyelement) IS
  'simdup_new_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_clusters(
  query text, max_distance integer DEFAULT 3, method text DEFAULT 'connected', min_size integer DEFAULT 2,
  OUT key bigint, OUT cluster bigint, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters(
  query text, max_distance integer, method text, key_type anyelement, min_size integer DEFAULT 2,
  OUT key anyelement, OUT cluster anyelement, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_clusters(text, integer, text, integer) IS
  'the clusters of at least min_size rows (1: every row that has a fingerprint): each row''s key, the cluster''s name, which is its first key in query order, and its size; method connected: connected components of simdup_pairs; leader: each row in query order joins the first earlier leader within max_distance or becomes one (the single pass of document 003)';
COMMENT ON FUNCTION simdup_clusters(text, integer, text, anyelement, integer) IS
  'simdup_clusters for keys of any type: key_type is a null of it, such as NULL::uuid';

-- how good, and which distance

CREATE FUNCTION simdup_evaluate(
  found text, truth text,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate(text, text) IS
  'found pairs against true ones: each query yields two keys of any one type in its first columns; order within a pair, repetition, pairs of a key with itself and pairs with a NULL do not matter; NULL where there is nothing to divide by (document 003)';

CREATE FUNCTION simdup_evaluate_clusters(
  found text, truth text,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate_clusters(text, text) IS
  'found clusters against labelled ones by the pairs that they imply: each query yields (key, cluster), a key once at most, else SQLSTATE 21000; a key that is missing, or whose cluster is NULL, is alone';

CREATE FUNCTION simdup_tune(
  query text, up_to integer DEFAULT 16,
  OUT max_distance integer,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8,
  OUT expected_false float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(text, integer) IS
  'what each distance from 0 to up_to (0 to 64) would find: for labelled pairs (simhash64, simhash64, boolean: is it a duplicate) precision, recall and F1; for a table''s (key, simhash64) the expected number of pairs of unrelated rows, from a beta-binomial fit to the distances in a sample of 4096';

-- what other sessions see

CREATE FUNCTION simdup_progress(
  OUT pid integer, OUT batch text, OUT phase text, OUT done bigint, OUT total bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION simdup_progress() IS
  'batches that run now, in sessions whose statements the caller may see: phase (starting, reading, grouping, comparing, counting, writing) and units done of a total, which is 0 where it is not known; as shown before the statement in pg_stat_activity';

-- for the DBA

CREATE FUNCTION simdup_summary(
  query text, max_distance integer DEFAULT 3,
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 40;
COMMENT ON FUNCTION simdup_summary(text, integer) IS
  'duplicates of a query''s (key of any type, simhash64): rows, groups of equal fingerprints, connected groups by size, the ten largest by their first key, pairs by distance up to max_distance (0 to 16), and for blocks of the fingerprint how many rows share a value (expected candidates per search)';

CREATE FUNCTION simdup_report_html(query text, title text, max_distance integer DEFAULT 3)
  RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION simdup_report_html(text, text, integer) IS
  'simdup_summary as one self-contained HTML page in ASCII, with charts and, if the query yields a text as third column, samples of it; every value escaped';
