
--
-- batch: whole tables at once
--
-- Each function runs the caller's query with the caller's rights. It is volatile
-- and parallel unsafe, because the query may be. Keys are bigint, or a smaller
-- integer, in the first form of each function. In the second form they have the
-- type of the argument key_type, which is a null of that type. The query's
-- parameters $1, $2 and so on get their values from params. Columns called content
-- and scope may follow the key and the fingerprint: contents count with
-- min_resemblance, and rows of two scopes never meet.

CREATE FUNCTION simdup_pairs(query text, max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs(query text, key_type anyelement, max_distance integer DEFAULT 8,
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_pairs(text, integer, float8, integer, text, text[]) IS
  'all near pairs of rows, each once, a before b in the order of the query; contents may decide';
COMMENT ON FUNCTION simdup_pairs(text, anyelement, integer, float8, integer, text, text[]) IS
  'simdup_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_new_pairs(new_query text, old_query text, max_distance integer DEFAULT 8,
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs(new_query text, old_query text, key_type anyelement,
  max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4,
  unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer, float8, integer, text, text[]) IS
  'near pairs of new rows with old ones and with each other; a is a new row';
COMMENT ON FUNCTION simdup_new_pairs(text, text, anyelement, integer, float8, integer, text, text[]) IS
  'simdup_new_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_clusters(query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint, OUT distance integer, OUT resemblance float8)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters(query text, key_type anyelement, max_distance integer DEFAULT 8,
  method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4,
  unit text DEFAULT 'char', min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key anyelement, OUT cluster anyelement, OUT size bigint, OUT distance integer, OUT resemblance float8)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_clusters(text, integer, text, float8, integer, text, integer, text[]) IS
  'each row''s cluster, named by its first key; distance and resemblance to that key''s row';
COMMENT ON FUNCTION
  simdup_clusters(text, anyelement, integer, text, float8, integer, text, integer, text[]) IS
  'simdup_clusters for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_components(query text, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_components(query text, key_type anyelement, params text[] DEFAULT '{}',
  OUT key anyelement, OUT cluster anyelement, OUT size bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_components(text, text[]) IS
  'connected components of the pairs (a, b) that a query yields, each named by its first key';
COMMENT ON FUNCTION simdup_components(text, anyelement, text[]) IS
  'simdup_components for keys of any type: key_type is a null of it, such as NULL::uuid';

-- how good, and which distance

CREATE FUNCTION simdup_evaluate(found text, truth text, params text[] DEFAULT '{}',
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate(text, text, text[]) IS
  'precision, recall and F1 of found pairs against true ones; each query yields two keys';

CREATE FUNCTION simdup_evaluate_clusters(found text, truth text, params text[] DEFAULT '{}',
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1;
COMMENT ON FUNCTION simdup_evaluate_clusters(text, text, text[]) IS
  'precision, recall and F1 of found clusters against true ones; each query yields key and cluster';

CREATE FUNCTION simdup_tune(source regclass, max_distance integer DEFAULT 16,
  OUT max_distance integer, OUT n_found bigint, OUT expected_false float8, OUT recommended boolean)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(regclass, integer) IS
  'the pairs that each distance finds, and how many of them are false; one is recommended';
