--
-- groups: the pairs that people should look at
--
-- The engine returns more undecided pairs than are wanted, in the order of the rows that an answer moves.
-- Here their contents weigh in. For two groups, the chance that an answer contradicts the grouping falls with
-- their resemblance. For two rows of a group it falls as their resemblance grows.

CREATE FUNCTION simdup_review_pairs(
  source regclass, members regclass, decisions regclass, max_distance integer, method text,
  min_resemblance float8, n integer, columns name[],
  OUT id bigint, OUT other bigint, OUT a text, OUT b text, OUT distance integer, OUT n_decided bigint,
  OUT moves float8, OUT same boolean, OUT chain text
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 400;
COMMENT ON FUNCTION simdup_review_pairs(regclass, regclass, regclass, integer, text, float8, integer,
  name[]) IS
  'implementation of simdup_review: contradictions, and undecided pairs of a source';

-- Rows of a source by their keys: the content, a text or a sketch, and the columns of these names.
CREATE FUNCTION simdup_source_rows(source regclass, given name[], keys text[], names name[])
RETURNS TABLE (key text, content text, sketch varbit, columns jsonb)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 1000 SET search_path = pg_catalog, pg_temp
SET enable_nestloop = on SET enable_mergejoin = on AS $$
#variable_conflict error
DECLARE
  x record;
  further text;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  SELECT k.* INTO STRICT x
  FROM @extschema@.simdup_grouping_source(source, NULL::integer, NULL::text, NULL::float8, NULL::integer,
    NULL::text, given) AS k;
  -- an array of any length, where a function takes a hundred arguments
  SELECT string_agg(format(
    CASE WHEN a.atttypid IN ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)
      THEN 'to_jsonb(s.%I)' ELSE 'to_jsonb(left(s.%I::text, 2000))' END, a.attname), ', ' ORDER BY a.attnum)
  INTO further
  FROM pg_attribute AS a
  WHERE a.attrelid = source AND a.attname = ANY (names);
  FOR key, content, sketch, columns IN EXECUTE format($query$
    SELECT k.key, %s, %s, to_jsonb(ARRAY[%s]::jsonb[])
    FROM (SELECT DISTINCT unnest($1)) AS k (key) JOIN %s AS s ON s.%I %s k.key::%s $query$,
    CASE WHEN x.contents_of <> 'varbit'::regtype THEN format('s.%I::text', x.columns[3]) ELSE 'NULL' END,
    CASE x.contents_of WHEN 'varbit'::regtype THEN format('s.%I::varbit', x.columns[3]) ELSE 'NULL' END,
    further, source, x.columns[1], x.same_key, x.keys_of)
  USING keys
  LOOP
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION simdup_source_rows(regclass, name[], text[], name[]) IS
  'implementation of simdup_review: the contents and further columns of rows to show, also in a report';

CREATE FUNCTION simdup_review(groups regclass, n integer DEFAULT 20) RETURNS TABLE (
  id bigint, other bigint, a text, b text, why text, n_decided bigint, distance integer, resemblance float8,
  numbers_a text, numbers_b text, only_a text, only_b text, content_a text, content_b text
) LANGUAGE plpgsql COST 100000 ROWS 20
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off
SET extra_float_digits = 1 SET DateStyle = ISO SET IntervalStyle = postgres AS $$
#variable_conflict error
DECLARE
  g record;
  contents_of regtype;
  limit_of_texts float8;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  IF n IS NULL OR n < 1 THEN
    RAISE EXCEPTION 'n must be at least 1'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The value given is %s.', coalesce(n::text, 'null'));
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, true, false) AS x;
  SELECT x.contents_of INTO STRICT contents_of
  FROM @extschema@.simdup_grouping_source(g.source, g.max_distance, g.method, g.min_resemblance, g.w,
    g.unit, g.columns) AS x;
  -- with min_resemblance, texts decide at any distance
  limit_of_texts := coalesce(g.min_resemblance, @extschema@.minhash64_resemblance(g.max_distance));

  -- Decisions that a refresh passes over come first. A content is a text or a sketch.
  RETURN QUERY
  WITH chosen AS MATERIALIZED (
    SELECT p.*
    FROM @extschema@.simdup_review_pairs(g.source, g.members, g.decisions, g.max_distance, g.method,
      g.min_resemblance, n, g.columns) WITH ORDINALITY AS p),
  contents AS MATERIALIZED (
    SELECT s.*
    FROM @extschema@.simdup_source_rows(g.source, g.columns, ARRAY(
      SELECT v.key FROM chosen AS p, LATERAL (VALUES (p.a), (p.b)) AS v (key) WHERE p.same IS NULL),
      '{}'::name[]) AS s
    WHERE contents_of IS NOT NULL),
  compared AS (
    SELECT p.*, l.content AS content_a, r.content AS content_b,
      coalesce(@extschema@.minhash_bits_resemblance(l.sketch, r.sketch),
        @extschema@.shingle_resemblance(l.content, r.content, g.w, g.unit)) AS resemblance
    FROM chosen AS p
      LEFT JOIN contents AS l ON l.key = p.a AND p.same IS NULL
      LEFT JOIN contents AS r ON r.key = p.b AND p.same IS NULL),
  first AS (
    SELECT p.*,
      CASE
        WHEN p.resemblance IS NULL THEN p.moves
        WHEN p.id = p.other
          THEN p.n_decided * least(0.5, (1 - p.resemblance) / (2 * greatest(1 - limit_of_texts, 0.01)))
        ELSE p.n_decided * least(0.5, p.resemblance / (2 * limit_of_texts)) END AS tells
    FROM compared AS p
    ORDER BY p.same IS NULL, tells DESC, abs(p.resemblance - limit_of_texts), p.ordinality
    LIMIT n)
  SELECT p.id, p.other, p.a, p.b,
    CASE
      WHEN p.same IS NOT NULL THEN
        concat('the decision that these two rows are ', CASE WHEN NOT p.same THEN 'not ' END,
          'the same contradicts earlier ones', ': ' || p.chain)
      WHEN g.min_resemblance IS NULL THEN
        concat('these two rows are ',
          CASE abs(p.distance - g.max_distance) WHEN 0 THEN 'just' WHEN 1 THEN '1 bit'
            ELSE concat(abs(p.distance - g.max_distance), ' bits') END,
          CASE WHEN p.distance > g.max_distance THEN ' beyond' ELSE ' within' END, ' the limit')
      WHEN p.resemblance IS NULL THEN 'one of these two rows has no text to compare'
      ELSE
        concat('these two rows share ', trim_scale(trunc((p.resemblance * 100)::numeric, 1)),
          ' % of their text, where the limit is ',
          trim_scale(round((g.min_resemblance * 100)::numeric, 1)), ' %')
    END || CASE
      WHEN p.same IS NOT NULL OR (p.id = p.other) = CASE WHEN g.min_resemblance IS NULL
        THEN p.distance <= g.max_distance ELSE coalesce(p.resemblance >= g.min_resemblance, false) END THEN ''
      WHEN p.id = p.other THEN ', but are in one group'
      ELSE ', but are in two groups'
    END,
    p.n_decided, p.distance, p.resemblance,
    nullif(@extschema@.simdup_numbers(p.content_a, p.content_b), ''),
    nullif(@extschema@.simdup_numbers(p.content_b, p.content_a), ''),
    @extschema@.simdup_own_text(p.content_a, p.content_b),
    @extschema@.simdup_own_text(p.content_b, p.content_a), p.content_a, p.content_b
  FROM first AS p;
END $$;
COMMENT ON FUNCTION simdup_review(regclass, integer) IS 'undecided pairs that a person should look at first';
