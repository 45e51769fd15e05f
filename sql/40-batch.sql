
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
  'all pairs of rows whose fingerprints differ in at most max_distance (0 to 16) bits, each pair once, a before b in query order; the query yields (key, simhash64), NULL fingerprints are skipped with a NOTICE; beyond maintenance_work_mem it works on disk (documents 001 and 003)';
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
