
--
-- groups: the pairs that people should look at
--
-- Pairs are of one scope. The rows of a group that have one scope are compared by the first of them.
--
-- An answer decides pairs of rows. For two groups, these are all rows of one with all of the other.
-- Within a group, they are the rows of one fingerprint with the rest. Pairs come in the order of this
-- number times the chance that the answer contradicts the grouping. The chance is half at the limit and
-- beyond it. For two groups it falls with their resemblance. For two rows of a group it falls as their
-- resemblance grows. Without contents, it halves with each bit from the limit.

CREATE FUNCTION simdup_review_rows(
  query text, keys_of regtype, path text, members text, least_distance integer,
  OUT key text, OUT fp simhash64, OUT scope bigint, OUT id bigint, OUT place bigint, OUT first bigint,
  OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_review_rows(text, regtype, text, text, integer) IS
  'implementation of simdup_review: the first row of each group and scope, and those not near it';

CREATE FUNCTION simdup_review_contents(
  query text, keys_of regtype, path text, keys text[], OUT key text, OUT content text, OUT is_sketch boolean
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION simdup_review_contents(text, regtype, text, text[]) IS
  'implementation of simdup_review: the contents of the rows of these keys, as text';

CREATE FUNCTION simdup_own_numbers(content text, other text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg(u.number, ' ' ORDER BY u.place)
  FROM unnest(string_to_array(simdup_numbers(content), ' ')) WITH ORDINALITY AS u (number, place)
  WHERE u.number NOT IN (SELECT unnest(string_to_array(simdup_numbers(other), ' ')));
END;
COMMENT ON FUNCTION simdup_own_numbers(text, text) IS
  'implementation of simdup_review: the numbers of a text that another one lacks';

CREATE FUNCTION simdup_review(
  name text, n integer DEFAULT 20, path text DEFAULT current_setting('search_path')
) RETURNS TABLE (
  id bigint, other bigint, a text, b text, why text, decides bigint, distance integer, resemblance float8,
  numbers_a text, numbers_b text, own_a text, own_b text, content_a text, content_b text
) LANGUAGE plpgsql COST 100000 ROWS 20
SET search_path = pg_catalog, pg_temp SET row_security = off SET jit = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  g record;
  n_passed integer;
BEGIN
  IF n IS NULL OR n < 1 THEN
    RAISE EXCEPTION 'n must be at least 1'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The value given is %s.', coalesce(n::text, 'null'));
  END IF;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
  INTO STRICT g USING name, path, true;
  -- decisions that a refresh passes over
  RETURN QUERY EXECUTE format($query$
    SELECT l.id, r.id, c.a, c.b,
      concat('the decision that these two letters are ', CASE WHEN NOT c.same THEN 'not ' END,
        'the same contradicts earlier ones: ', c.chain),
      0::bigint, NULL::integer, NULL::float8,
      NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text
    FROM %s.simdup_contradictions($1, $2) AS c
      LEFT JOIN %s AS l ON l.key %s c.a::%s
      LEFT JOIN %2$s AS r ON r.key %3$s c.b::%4$s
    LIMIT $3 $query$, x, g.members, g.same_key, g.key_type)
  USING g.in_order, g.key_type::regtype, n;
  GET DIAGNOSTICS n_passed = ROW_COUNT;

  RETURN QUERY EXECUTE format($query$
    WITH settings AS (
      -- with min_resemblance, texts decide at any distance
      SELECT s.*, coalesce(s.min_resemblance, %1$s.minhash64_resemblance(s.max_distance)) AS limit_of_texts,
        CASE WHEN s.min_resemblance IS NULL THEN greatest(s.max_distance - 1, 1) ELSE 0 END AS least_distance,
        least(s.max_distance + CASE WHEN s.min_resemblance IS NULL THEN 2 ELSE 0 END, 16) AS most_distance,
        CASE WHEN s.min_resemblance IS NULL THEN 2 * s.max_distance + 1
          ELSE (64 * (1 - s.min_resemblance))::integer END AS twice_limit
      FROM %2$s AS s),

    -- what people decided, by components of rows that are the same
    keys AS (
      SELECT k.key, row_number() OVER (ORDER BY k.key) AS n
      FROM (SELECT d.a AS key FROM %3$s AS d UNION SELECT d.b FROM %3$s AS d) AS k),
    same AS (
      SELECT l.n AS a, r.n AS b, %1$s.simdup_component(l.n, r.n) OVER () AS component
      FROM %3$s AS d
        JOIN keys AS l ON l.key %4$s d.a
        JOIN keys AS r ON r.key %4$s d.b
      WHERE d.same),
    decided AS (
      SELECT k.key, dense_rank() OVER (ORDER BY coalesce(c.component, k.n)) AS component
      FROM keys AS k
        LEFT JOIN (SELECT s.a AS n, s.component FROM same AS s UNION SELECT s.b, s.component FROM same AS s) AS c USING (n)),
    cannot_links AS (
      SELECT t.a, t.b
      FROM %3$s AS d
        JOIN decided AS l ON l.key %4$s d.a
        JOIN decided AS r ON r.key %4$s d.b
        CROSS JOIN LATERAL (VALUES (l.component, r.component), (r.component, l.component)) AS t (a, b)
      WHERE NOT d.same),
    groups_cannot_link AS (
      SELECT least(l.id, r.id) AS id, greatest(l.id, r.id) AS other
      FROM %3$s AS d
        JOIN %5$s AS l ON l.key %4$s d.a
        JOIN %5$s AS r ON r.key %4$s d.b
      WHERE NOT d.same AND l.id <> r.id),

    -- the doubtful pairs by their fingerprints: within groups, and of two groups
    letters AS MATERIALIZED (
      SELECT l.*, d.component
      FROM settings AS s
        CROSS JOIN LATERAL %1$s.simdup_review_rows(s.query, $3, $4, $5, s.least_distance) AS l
        LEFT JOIN decided AS d ON d.key %4$s l.key::%6$s),
    firsts AS (
      SELECT l.* FROM letters AS l WHERE l.place = l.first),
    others AS (
      -- one row of each other fingerprint of a group, and the number of these rows
      SELECT DISTINCT ON (l.first, l.fp) l.*, count(*) OVER (PARTITION BY l.first, l.fp) AS n
      FROM letters AS l
      WHERE l.place <> l.first
      ORDER BY l.first, l.fp, l.place),
    pairs AS (
      SELECT f.id, f.id AS other, f.key AS a, o.key AS b, f.place AS place_a, o.place AS place_b,
        f.component AS component_a, o.component AS component_b,
        %1$s.simhash_distance(f.fp, o.fp) AS distance, o.n * (o.size - o.n) AS decides
      FROM others AS o JOIN firsts AS f ON f.place = o.first
      UNION ALL
      SELECT l.id, r.id, l.key, r.key, l.place, r.place, l.component, r.component, p.distance, l.size * r.size
      FROM settings AS s
        CROSS JOIN LATERAL %1$s.simdup_pairs($6, s.most_distance, NULL::float8, 4, 'char'::text, (
          SELECT ARRAY[array_agg(f.place ORDER BY f.id)::text, array_agg(f.fp ORDER BY f.id)::text,
            array_agg(f.scope ORDER BY f.id)::text]
          FROM firsts AS f)) AS p
        JOIN firsts AS l ON l.place = p.a
        JOIN firsts AS r ON r.place = p.b),
    open AS (
      -- where rows make chains, a pair that only others hold together is most doubtful
      SELECT p.*, p.decides / 2::float8 ^ CASE
        WHEN s.method = 'connected' AND p.id = p.other AND p.distance > s.max_distance THEN 1
        ELSE (abs(2 * p.distance - s.twice_limit) + 1) / 2 END AS moves
      FROM pairs AS p CROSS JOIN settings AS s
      WHERE (p.component_a = p.component_b) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM cannot_links AS d WHERE d.a = p.component_a AND d.b = p.component_b)
        AND NOT EXISTS (
          SELECT FROM groups_cannot_link AS d
          WHERE d.id = least(p.id, p.other) AND d.other = greatest(p.id, p.other))),
    ranked AS (
      SELECT o.*, row_number() OVER (PARTITION BY o.id ORDER BY o.moves DESC, o.place_b, o.place_a) AS place
      FROM open AS o),
    best AS (
      SELECT r.*,
        row_number() OVER (PARTITION BY r.id = r.other ORDER BY r.moves DESC, r.id, r.place_b) AS rank
      FROM ranked AS r
      WHERE r.place <= 3),
    chosen AS MATERIALIZED (
      SELECT b.* FROM best AS b WHERE b.rank <= least($1, 1000000) * 10),

    -- and of these the most doubtful by their contents
    contents AS MATERIALIZED (
      SELECT q.key, CASE WHEN NOT q.is_sketch THEN q.content END AS content,
        CASE WHEN q.is_sketch THEN q.content::varbit END AS sketch
      FROM settings AS s
        CROSS JOIN LATERAL %1$s.simdup_review_contents(s.query, $3, $4, (
          SELECT array_cat(array_agg(c.a), array_agg(c.b)) FROM chosen AS c)) AS q),
    compared AS (
      SELECT c.*, s.max_distance, s.min_resemblance, s.limit_of_texts,
        l.content AS content_a, r.content AS content_b,
        coalesce(%1$s.minhash_bits_resemblance(l.sketch, r.sketch),
          %1$s.shingle_resemblance(l.content, r.content, s.w, s.unit)) AS resemblance
      FROM settings AS s
        CROSS JOIN chosen AS c
        LEFT JOIN contents AS l ON l.key = c.a
        LEFT JOIN contents AS r ON r.key = c.b),
    shown AS (
      SELECT c.*, abs(c.resemblance - c.limit_of_texts) AS away, abs(c.distance - c.max_distance) AS bits,
        coalesce(c.decides * least(0.5, CASE WHEN c.id = c.other
          THEN (1 - c.resemblance) / (2 * greatest(1 - c.limit_of_texts, 0.01))
          ELSE c.resemblance / (2 * c.limit_of_texts) END), c.moves) AS tells
      FROM compared AS c
      ORDER BY tells DESC, away, c.id, c.place_b
      LIMIT $1 - $2)
    SELECT w.id, w.other, w.a, w.b,
      CASE
        WHEN w.min_resemblance IS NULL THEN
          concat('these two letters are ',
            CASE w.bits WHEN 0 THEN 'just' WHEN 1 THEN '1 bit' ELSE concat(w.bits, ' bits') END,
            CASE WHEN w.distance > w.max_distance THEN ' beyond' ELSE ' within' END, ' the limit')
        WHEN w.resemblance IS NULL THEN 'one of these two letters has no text to compare'
        ELSE
          concat('these two letters share ', trim_scale(trunc((w.resemblance * 100)::numeric, 1)),
            ' %% of their text, where the limit is ',
            trim_scale(round((w.min_resemblance * 100)::numeric, 1)), ' %%')
      END || CASE
        WHEN (w.id = w.other) = CASE WHEN w.min_resemblance IS NULL THEN w.distance <= w.max_distance
          ELSE coalesce(w.resemblance >= w.min_resemblance, false) END THEN ''
        WHEN w.id = w.other THEN ', but are in one group'
        ELSE ', but are in two groups'
      END,
      w.decides, w.distance, w.resemblance,
      %1$s.simdup_own_numbers(w.content_a, w.content_b), %1$s.simdup_own_numbers(w.content_b, w.content_a),
      %1$s.simdup_own_text(w.content_a, w.content_b), %1$s.simdup_own_text(w.content_b, w.content_a),
      w.content_a, w.content_b
    FROM shown AS w
    ORDER BY w.tells DESC, w.away, w.id, w.place_b $query$,
    x, g.settings, g.decisions, g.same_key, g.members, g.key_type)
  USING n, n_passed, g.key_type::regtype, path, format('SELECT m.key, m.id FROM %s AS m', g.members),
    format('SELECT unnest($1::bigint[]), unnest($2::%s.simhash64[]), unnest($3::bigint[]) AS scope', x);
EXCEPTION WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
  -- where the grouping's query is at fault, a refresh says so of it alone
  EXECUTE format('SELECT FROM %s.simdup_regroup($1, $2, $3)', x) USING name, true, path;
  RAISE;
END $$;
COMMENT ON FUNCTION simdup_review(text, integer, text) IS
  'undecided pairs of a grouping in the order in which an answer tells most, with what makes them doubtful';
