--
-- batch: whole tables at once
--

-- windows
--
-- A partition is a scope, and its order that of the rows. The frame does not count.

CREATE FUNCTION simdup_cluster(key anyelement, fp simhash64, max_distance integer DEFAULT 8,
  method text DEFAULT 'leader') RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION simdup_cluster(key anyelement, fp simhash64, content text, max_distance integer DEFAULT 8,
  min_resemblance float8 DEFAULT 0.8, method text DEFAULT 'leader', w integer DEFAULT 4,
  unit text DEFAULT 'char') RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION simdup_cluster(key anyelement, content text, min_resemblance float8 DEFAULT 0.8,
  method text DEFAULT 'leader') RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simdup_cluster(anyelement, simhash64, integer, text) IS
  'key of the first row of the row''s cluster by fingerprint; its own where the row is alone';
COMMENT ON FUNCTION
  simdup_cluster(anyelement, simhash64, text, integer, float8, text, integer, text) IS
  'key of the first row of the row''s cluster by fingerprint and content; its own where the row is alone';
COMMENT ON FUNCTION simdup_cluster(anyelement, text, float8, text) IS
  'key of the first row of the row''s cluster by content; its own where the row is alone';

CREATE FUNCTION simdup_campaign(key anyelement, content text, min_containment float8 DEFAULT 0.35)
  RETURNS anyelement
  AS 'MODULE_PATHNAME', 'simdup_cluster' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simdup_campaign(anyelement, text, float8) IS 'key of the center of the row''s campaign';

CREATE FUNCTION simdup_template(key anyelement, content text, min_containment float8 DEFAULT 0.35)
  RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simdup_template(anyelement, text, float8) IS 'key of a row of the same phrases';

CREATE FUNCTION simdup_component(a anyelement, b anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simdup_component(anyelement, anyelement) IS 'smallest key connected with the row''s';

-- which distance

CREATE FUNCTION simdup_tune(source regclass, max_distance integer DEFAULT 16,
  OUT max_distance integer, OUT n_found bigint, OUT expected_false float8, OUT recommended boolean)
  RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(regclass, integer) IS 'pairs found and false pairs at each distance';

-- passages that different texts share

CREATE FUNCTION simdup_boilerplate(
  source regclass, min_share float8 DEFAULT 0.02, min_words integer DEFAULT 15,
  OUT passage text, OUT n_rows bigint, OUT share float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 5;
COMMENT ON FUNCTION simdup_boilerplate(regclass, float8, integer) IS 'passages that different texts share';
