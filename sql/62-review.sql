--
-- groups: the pairs that people should look at
--
-- The engine returns undecided pairs in the order of what an answer decides, more than are wanted. Here
-- their contents weigh in. For two groups, the chance that an answer contradicts the grouping falls with
-- their resemblance. For two rows of a group it falls as their resemblance grows.

CREATE FUNCTION simdup_review_pairs(
  source regclass, members regclass, decisions regclass, max_distance integer, method text,
  min_resemblance float8, n integer,
  OUT id bigint, OUT other bigint, OUT a text, OUT b text, OUT distance integer, OUT n_decided bigint,
  OUT moves float8, OUT same boolean, OUT chain text
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 400;
COMMENT ON FUNCTION simdup_review_pairs(regclass, regclass, regclass, integer, text, float8, integer) IS
  'implementation of simdup_review: contradictions, and undecided pairs of a source';

CREATE FUNCTION simdup_own_numbers(content text, other text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(u.number, ' ' ORDER BY u.place)
  FROM unnest(string_to_array(simdup_numbers(content), ' ')) WITH ORDINALITY AS u (number, place)
  WHERE u.number NOT IN (SELECT unnest(string_to_array(simdup_numbers(other), ' ')));
END;
COMMENT ON FUNCTION simdup_own_numbers(text, text) IS
  'implementation of simdup_review: the numbers of a text that another one lacks';

CREATE FUNCTION simdup_review(groups regclass, n integer DEFAULT 20) RETURNS TABLE (
  id bigint, other bigint, a text, b text, why text, n_decided bigint, distance integer, resemblance float8,
  numbers_a text, numbers_b text, only_a text, only_b text, content_a text, content_b text
) LANGUAGE plpgsql COST 100000 ROWS 20
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off
SET extra_float_digits = 1 SET DateStyle = ISO SET IntervalStyle = postgres AS $$
#variable_conflict error
DECLARE
  g record;
  key record;
  limit_of_texts float8;
  w record;
BEGIN
  IF n IS NULL OR n < 1 THEN
    RAISE EXCEPTION 'n must be at least 1'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The value given is %s.', coalesce(n::text, 'null'));
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, true, false) AS x;
  SELECT x.* INTO STRICT key
  FROM @extschema@.simdup_grouping_source(g.source, g.max_distance, g.method, g.min_resemblance, g.w,
    g.unit) AS x;
  -- with min_resemblance, texts decide at any distance
  limit_of_texts := coalesce(g.min_resemblance, @extschema@.minhash64_resemblance(g.max_distance));

  -- Decisions that a refresh passes over come first. A content is a text or a sketch.
  FOR w IN EXECUTE format($query$
    WITH chosen AS MATERIALIZED (
      SELECT p.*
      FROM %1$s.simdup_review_pairs($1, $2, $3, $4, $5, $6, $7) WITH ORDINALITY AS p),
    contents AS MATERIALIZED (
      SELECT concat(s.%2$s) AS key, %3$s AS content, %4$s AS sketch
      FROM (
          SELECT p.a FROM chosen AS p WHERE p.same IS NULL
          UNION SELECT p.b FROM chosen AS p WHERE p.same IS NULL) AS k (key)
        JOIN %5$s AS s ON s.%2$s %6$s k.key::%7$s AND %8$L),
    compared AS (
      SELECT p.*, l.content AS content_a, r.content AS content_b,
        coalesce(%1$s.minhash_bits_resemblance(l.sketch, r.sketch),
          %1$s.shingle_resemblance(l.content, r.content, $8, $9)) AS resemblance
      FROM chosen AS p
        LEFT JOIN contents AS l ON l.key = p.a AND p.same IS NULL
        LEFT JOIN contents AS r ON r.key = p.b AND p.same IS NULL)
    SELECT p.*,
      CASE WHEN $6 IS NULL THEN p.distance <= $4 ELSE coalesce(p.resemblance >= $6, false) END AS is_near,
      CASE
        WHEN p.resemblance IS NULL THEN p.moves
        WHEN p.id = p.other THEN p.n_decided * least(0.5, (1 - p.resemblance) / (2 * greatest(1 - $10, 0.01)))
        ELSE p.n_decided * least(0.5, p.resemblance / (2 * $10)) END AS tells
    FROM compared AS p
    ORDER BY p.same IS NULL, tells DESC, abs(p.resemblance - $10), p.ordinality
    LIMIT $7 $query$, '@extschema@', key.key,
    CASE WHEN key.contents_of <> 'varbit'::regtype THEN 's.content::text' ELSE 'NULL::text' END,
    CASE key.contents_of WHEN 'varbit'::regtype THEN 's.content::varbit' ELSE 'NULL::varbit' END,
    g.source, g.same_key, g.keys_of, key.contents_of IS NOT NULL)
  USING g.source, g.members, g.decisions, g.max_distance, g.method, g.min_resemblance, n, g.w, g.unit,
    limit_of_texts
  LOOP
    RETURN QUERY
    SELECT w.id, w.other, w.a, w.b,
      CASE
        WHEN w.same IS NOT NULL THEN
          concat('the decision that these two rows are ', CASE WHEN NOT w.same THEN 'not ' END,
            'the same contradicts earlier ones', ': ' || w.chain)
        WHEN g.min_resemblance IS NULL THEN
          concat('these two rows are ',
            CASE abs(w.distance - g.max_distance) WHEN 0 THEN 'just' WHEN 1 THEN '1 bit'
              ELSE concat(abs(w.distance - g.max_distance), ' bits') END,
            CASE WHEN w.distance > g.max_distance THEN ' beyond' ELSE ' within' END, ' the limit')
        WHEN w.resemblance IS NULL THEN 'one of these two rows has no text to compare'
        ELSE
          concat('these two rows share ', trim_scale(trunc((w.resemblance * 100)::numeric, 1)),
            ' % of their text, where the limit is ',
            trim_scale(round((g.min_resemblance * 100)::numeric, 1)), ' %')
      END || CASE
        WHEN w.same IS NOT NULL OR (w.id = w.other) = w.is_near THEN ''
        WHEN w.id = w.other THEN ', but are in one group'
        ELSE ', but are in two groups'
      END,
      w.n_decided, w.distance, w.resemblance,
      @extschema@.simdup_own_numbers(w.content_a, w.content_b),
      @extschema@.simdup_own_numbers(w.content_b, w.content_a),
      @extschema@.simdup_own_text(w.content_a, w.content_b),
      @extschema@.simdup_own_text(w.content_b, w.content_a),
      w.content_a, w.content_b;
  END LOOP;
END $$;
COMMENT ON FUNCTION simdup_review(regclass, integer) IS
  'the undecided pairs that a person should look at first, with what makes them doubtful';
