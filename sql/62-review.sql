
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
  OUT moves float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 400;
COMMENT ON FUNCTION simdup_review_pairs(regclass, regclass, regclass, integer, text, float8, integer) IS
  'implementation of simdup_review: undecided pairs in the order in which an answer moves most rows';

-- A content is a text or a sketch.
CREATE FUNCTION simdup_review_contents(
  source regclass, key_column text, keys_of text, same_key text, contents_of regtype, keys text[]
) RETURNS TABLE (key text, content text, sketch varbit) LANGUAGE plpgsql ROWS 400
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
BEGIN
  IF contents_of IS NOT NULL THEN
    RETURN QUERY EXECUTE format(
      'SELECT concat(s.%1$s), %2$s FROM %3$s AS s WHERE s.%1$s %4$s ANY ($1::%5$s[])',
      key_column,
      CASE contents_of WHEN 'varbit'::regtype THEN 'NULL::text, s.content::varbit'
        ELSE 's.content::text, NULL::varbit' END,
      source, same_key, keys_of)
    USING keys::text;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_review_contents(regclass, text, text, text, regtype, text[]) IS
  'implementation of simdup_review: the contents of the rows of these keys';

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
  c record;
  limit_of_texts float8;
  n_passed integer := 0;
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

  -- decisions that a refresh passes over
  FOR c IN SELECT x.* FROM @extschema@.simdup_contradictions(g.decisions, 1::bigint, least(n, 1000)) AS x
    LIMIT n
  LOOP
    a := c.a;
    b := c.b;
    EXECUTE format('SELECT (SELECT m.id FROM %1$s AS m WHERE m.key %2$s $1::%3$s),'
      ' (SELECT m.id FROM %1$s AS m WHERE m.key %2$s $2::%3$s)', g.members, g.same_key, g.keys_of)
    INTO STRICT id, other USING a, b;
    why := concat('the decision that these two letters are ', CASE WHEN NOT c.same THEN 'not ' END,
      'the same contradicts earlier ones', ': ' || c.chain);
    n_decided := 0;
    n_passed := n_passed + 1;
    RETURN NEXT;
  END LOOP;

  RETURN QUERY
  WITH chosen AS MATERIALIZED (
    SELECT p.*
    FROM @extschema@.simdup_review_pairs(g.source, g.members, g.decisions, g.max_distance, g.method,
      g.min_resemblance, n) WITH ORDINALITY AS p),
  contents AS MATERIALIZED (
    SELECT q.*
    FROM @extschema@.simdup_review_contents(g.source, key.key, g.keys_of, g.same_key, key.contents_of, (
      SELECT array_cat(array_agg(p.a), array_agg(p.b)) FROM chosen AS p)) AS q),
  compared AS (
    SELECT p.*, l.content AS content_a, r.content AS content_b,
      coalesce(@extschema@.minhash_bits_resemblance(l.sketch, r.sketch),
        @extschema@.shingle_resemblance(l.content, r.content, g.w, g.unit)) AS resemblance
    FROM chosen AS p
      LEFT JOIN contents AS l ON l.key = p.a
      LEFT JOIN contents AS r ON r.key = p.b),
  shown AS (
    SELECT p.*, abs(p.resemblance - limit_of_texts) AS away, abs(p.distance - g.max_distance) AS bits,
      CASE
        WHEN p.resemblance IS NULL THEN p.moves
        WHEN p.id = p.other
          THEN p.n_decided * least(0.5, (1 - p.resemblance) / (2 * greatest(1 - limit_of_texts, 0.01)))
        ELSE p.n_decided * least(0.5, p.resemblance / (2 * limit_of_texts)) END AS tells
    FROM compared AS p
    ORDER BY tells DESC, away, p.ordinality
    LIMIT n - n_passed)
  SELECT w.id, w.other, w.a, w.b,
    CASE
      WHEN g.min_resemblance IS NULL THEN
        concat('these two letters are ',
          CASE w.bits WHEN 0 THEN 'just' WHEN 1 THEN '1 bit' ELSE concat(w.bits, ' bits') END,
          CASE WHEN w.distance > g.max_distance THEN ' beyond' ELSE ' within' END, ' the limit')
      WHEN w.resemblance IS NULL THEN 'one of these two letters has no text to compare'
      ELSE
        concat('these two letters share ', trim_scale(trunc((w.resemblance * 100)::numeric, 1)),
          ' % of their text, where the limit is ',
          trim_scale(round((g.min_resemblance * 100)::numeric, 1)), ' %')
    END || CASE
      WHEN (w.id = w.other) = CASE WHEN g.min_resemblance IS NULL THEN w.distance <= g.max_distance
        ELSE coalesce(w.resemblance >= g.min_resemblance, false) END THEN ''
      WHEN w.id = w.other THEN ', but are in one group'
      ELSE ', but are in two groups'
    END,
    w.n_decided, w.distance, w.resemblance,
    @extschema@.simdup_own_numbers(w.content_a, w.content_b),
    @extschema@.simdup_own_numbers(w.content_b, w.content_a),
    @extschema@.simdup_own_text(w.content_a, w.content_b),
    @extschema@.simdup_own_text(w.content_b, w.content_a),
    w.content_a, w.content_b
  FROM shown AS w
  ORDER BY w.tells DESC, w.away, w.ordinality;
END $$;
COMMENT ON FUNCTION simdup_review(regclass, integer) IS
  'the undecided pairs that a person should look at first, with what makes them doubtful';
