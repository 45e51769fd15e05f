
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

-- windows
--
-- A partition is a scope, and its order that of the rows. The frame does not count.

CREATE FUNCTION simdup_cluster(key anyelement, fp simhash64, max_distance integer DEFAULT 8,
  method text DEFAULT 'leader') RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION simdup_cluster(key anyelement, fp simhash64, content text, max_distance integer DEFAULT 8,
  min_resemblance float8 DEFAULT 0.8, method text DEFAULT 'leader', w integer DEFAULT 4,
  unit text DEFAULT 'char') RETURNS anyelement
  AS 'MODULE_PATHNAME', 'simdup_cluster_verified' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION simdup_cluster(key anyelement, content text, min_resemblance float8 DEFAULT 0.8,
  method text DEFAULT 'leader') RETURNS anyelement
  AS 'MODULE_PATHNAME', 'simdup_cluster_texts' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simdup_cluster(anyelement, simhash64, integer, text) IS
  'key of the first row of the row''s cluster by fingerprint; its own where the row is alone';
COMMENT ON FUNCTION
  simdup_cluster(anyelement, simhash64, text, integer, float8, text, integer, text) IS
  'key of the first row of the row''s cluster by fingerprint and content; its own where the row is alone';
COMMENT ON FUNCTION simdup_cluster(anyelement, text, float8, text) IS
  'key of the first row of the row''s cluster by content; its own where the row is alone';

CREATE FUNCTION simdup_component(a anyelement, b anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simdup_component(anyelement, anyelement) IS
  'smallest of the keys that the pairs (a, b) of the partition connect with those of this row';

-- which distance

CREATE FUNCTION simdup_tune(query text, max_distance integer DEFAULT 16, params text[] DEFAULT '{}',
  OUT max_distance integer, OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8, OUT weighted_precision float8,
  OUT weighted_recall float8, OUT expected_false float8, OUT recommended boolean) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(text, integer, text[]) IS
  'what each distance finds: scores by labels, or the false pairs to expect; one is recommended';
