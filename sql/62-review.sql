
--
-- groups: what people should look at, and what they decided
--

CREATE FUNCTION simdup_review(
  target regclass, n integer DEFAULT 20,
  OUT id bigint, OUT other bigint, OUT size bigint, OUT a text, OUT b text, OUT why text,
  OUT distance integer, OUT resemblance float8,
  OUT content_a text, OUT content_b text, OUT only_a json, OUT only_b json
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION simdup_review(regclass, integer) IS
  'undecided pairs of a grouped table that are most worth a look, with both texts and what differs';

CREATE FUNCTION simdup_tune(
  target regclass, max_distance integer DEFAULT 16,
  OUT max_distance integer,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8,
  OUT expected_false float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_tune_target' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(regclass, integer) IS
  'what each distance would find of a grouped table''s pairs: scores against the decisions taken';
