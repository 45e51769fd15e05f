
--
-- groups: the pairs that people should look at
--
-- Pairs are of one scope. The rows of a group that have one scope are compared by the
-- first of them.
--
-- An answer decides pairs of rows. For two groups, these are all rows of one with all
-- of the other. Within a group, they are the rows of one fingerprint with the rest. Pairs
-- come in the order of this number times the chance that the answer contradicts the
-- grouping. The chance is half at the limit and beyond it. For two groups it falls with
-- their resemblance. For two rows of a group it falls as their resemblance grows.
-- Without contents, it halves with each bit from the limit.

CREATE FUNCTION simdup_review_reason(
  one_group boolean, distance integer, max_distance integer, resemblance float8, min_resemblance float8
) RETURNS text LANGUAGE sql STABLE RETURN
  CASE
    WHEN min_resemblance IS NULL THEN
      format('these two letters are %s %s the limit',
        CASE abs(distance - max_distance) WHEN 0 THEN 'just' WHEN 1 THEN '1 bit'
          ELSE abs(distance - max_distance) || ' bits' END,
        CASE WHEN distance > max_distance THEN 'beyond' ELSE 'within' END)
    WHEN resemblance IS NULL THEN 'one of these two letters has no text to compare'
    ELSE
      format('these two letters share %s %% of their text, where the limit is %s %%',
        trim_scale(trunc((resemblance * 100)::numeric, 1)),
          trim_scale(round((min_resemblance * 100)::numeric, 1)))
  END
  || CASE
    WHEN one_group <> CASE WHEN min_resemblance IS NULL THEN distance <= max_distance
      ELSE COALESCE(resemblance >= min_resemblance, false) END
    THEN CASE WHEN one_group THEN ', but are in one group' ELSE ', but are in two groups' END
    ELSE ''
  END;
COMMENT ON FUNCTION simdup_review_reason(boolean, integer, integer, float8, float8) IS
  'implementation of simdup_review: what makes a pair doubtful, in words';

CREATE FUNCTION simdup_review_rows(
  query text, keys_of regtype, path text, members text, least_distance integer,
  OUT key text, OUT fp simhash64, OUT scope bigint, OUT id bigint, OUT place bigint, OUT first bigint,
    OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_review_rows(text, regtype, text, text, integer) IS
  'implementation of simdup_review: the first row of each group and scope, and those not near it';

CREATE FUNCTION simdup_review_contents(
  query text, keys_of regtype, path text, keys text, OUT key text, OUT content text, OUT is_sketch boolean
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION simdup_review_contents(text, regtype, text, text) IS
  'implementation of simdup_review: the contents of rows, whose keys are an array as text';

CREATE FUNCTION simdup_review(
  name text, n integer DEFAULT 20, path text DEFAULT current_setting('search_path'))
  RETURNS TABLE (id bigint, other bigint, a text, b text, why text, decides bigint, distance integer,
    resemblance float8,
    numbers_a text, numbers_b text, own_a text, own_b text, content_a text, content_b text)
  LANGUAGE plpgsql COST 100000 ROWS 20 SET search_path = pg_catalog,
    pg_temp SET row_security = off SET jit = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  target regclass;
  g record;
  s record;
  c record;
  n_passed integer;
BEGIN
  IF n IS NULL OR n < 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'n must be at least 1',
      DETAIL = format('The value given is %s.', COALESCE(n::text, 'null'));
  END IF;
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, true;
  EXECUTE format('SELECT s.*, coalesce(s.min_resemblance, %s.minhash64_resemblance(s.max_distance))'
    ' AS resemblance'
    ' FROM %s AS s', x, g.settings) INTO STRICT s;
  s.query := rtrim(s.query, E' \t\r\n;');
  -- decisions that a refresh passes over
  RETURN QUERY EXECUTE format('SELECT l.id, r.id, c.a, c.b, format(CASE WHEN c.same'
    ' THEN %L ELSE %L END, c.chain), 0::bigint, NULL::integer, NULL::float8,'
    ' NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,'
    ' NULL::text FROM %4$s.simdup_contradictions($1, $2) AS c'
    ' LEFT JOIN %5$s AS l ON l.key %6$s c.a::%7$s LEFT JOIN %5$s AS r ON r.key %6$s c.b::%7$s LIMIT $3',
    'the decision that these two letters are the same contradicts earlier ones: %s',
    'the decision that these two letters are not the same contradicts earlier ones: %s', '', x, g.members,
      g.same_key, g.key_type)
    USING format('SELECT d.a, d.b, d.same FROM %s AS d ORDER BY d.at, d.a, d.b', g.decisions),
      g.key_type::regtype, n;
  GET DIAGNOSTICS n_passed = ROW_COUNT;
  -- the doubtful pairs by their fingerprints: within groups, and of two groups
  EXECUTE format($query$
    WITH keys AS (
      SELECT k.key, row_number() OVER (ORDER BY k.key) AS n
      FROM (SELECT d.a AS key FROM %7$s AS d UNION SELECT d.b FROM %7$s AS d) AS k),
    decided AS (
      SELECT k.key, dense_rank() OVER (ORDER BY coalesce(c.cluster, k.n)) AS block
      FROM keys AS k LEFT JOIN %2$s.simdup_components($11, (
          SELECT ARRAY[array_agg(l.n)::text, array_agg(r.n)::text] FROM %7$s AS d
          JOIN keys AS l ON l.key %5$s d.a JOIN keys AS r ON r.key %5$s d.b WHERE d.same)) AS c
            ON c.key = k.n),
    apart AS (
      SELECT l.block AS a, r.block AS b
      FROM (SELECT d.a, d.b FROM %7$s AS d WHERE NOT d.same UNION ALL SELECT d.b, d.a FROM %7$s AS d
        WHERE NOT d.same) AS d
      JOIN decided AS l ON l.key %5$s d.a JOIN decided AS r ON r.key %5$s d.b),
    groups_apart AS (
      SELECT LEAST(l.id, r.id) AS id, GREATEST(l.id, r.id) AS other FROM %7$s AS d
      JOIN %4$s AS l ON l.key %5$s d.a JOIN %4$s AS r ON r.key %5$s d.b WHERE NOT d.same AND l.id <> r.id),
    letters AS MATERIALIZED (
      SELECT l.*, d.block FROM %2$s.simdup_review_rows($7, $8, $9, $10, $2) AS l
      LEFT JOIN decided AS d ON d.key %5$s l.key::%1$s),
    firsts AS (SELECT l.* FROM letters AS l WHERE l.place = l.first),
    pairs AS (
      -- the first row of a group with one row of each other fingerprint
      SELECT i.id, i.other, i.a, i.b, i.distance, i.one * (i.size - i.one) AS decides,
        i.a_block, i.b_block
      FROM (
        SELECT DISTINCT ON (l.first, l.fp) l.id, l.id AS other, l.first AS a, l.place AS b, f.block
          AS a_block, l.block AS b_block,
          %2$s.simhash_distance(f.fp, l.fp) AS distance, count(*) OVER (PARTITION BY l.first, l.fp) AS one,
            l.size
        FROM letters AS l JOIN firsts AS f ON f.place = l.first WHERE l.place <> l.first
        ORDER BY l.first, l.fp, l.place) AS i
      UNION ALL
      SELECT l.id, r.id, l.place, r.place, p.distance, l.size * r.size, l.block, r.block
      FROM %2$s.simdup_pairs($12, $3, NULL::float8, 4, 'char'::text, (
          SELECT ARRAY[array_agg(f.place ORDER BY f.id)::text, array_agg(f.fp ORDER BY f.id)::text,
            array_agg(f.scope ORDER BY f.id)::text] FROM firsts AS f)) AS p
      JOIN firsts AS l ON l.place = p.a JOIN firsts AS r ON r.place = p.b),
    open AS (
      -- where rows make chains, a pair that only others hold together is most doubtful
      SELECT p.*, p.decides / CASE WHEN $6 AND p.id = p.other AND p.distance > $4 THEN 2::float8
        ELSE 2::float8 ^ ((abs(2 * p.distance - $5) + 1) / 2) END AS moves
      FROM pairs AS p
      WHERE (p.a_block = p.b_block) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM apart AS d WHERE d.a = p.a_block AND d.b = p.b_block)
        AND NOT EXISTS (SELECT FROM groups_apart AS d WHERE d.id = LEAST(p.id, p.other)
          AND d.other = GREATEST(p.id, p.other))),
    ranked AS (
      SELECT o.*, row_number() OVER (PARTITION BY o.id ORDER BY o.moves DESC, o.b, o.a) AS place FROM open
        AS o),
    chosen AS (
      SELECT r.*, row_number() OVER (PARTITION BY r.id = r.other ORDER BY r.moves DESC, r.id, r.b) AS rank
      FROM ranked AS r WHERE r.place <= 3)
    SELECT array_agg(c.id) AS id, array_agg(c.other) AS other, array_agg(c.distance) AS distance,
      array_agg(c.decides) AS decides, array_agg(c.moves) AS moves,
      array_agg(l.key)::text AS a, array_agg(r.key)::text AS b,
      array_cat(array_agg(l.key), array_agg(r.key))::text AS keys
    FROM chosen AS c JOIN letters AS l ON l.place = c.a JOIN letters AS r ON r.place = c.b
      WHERE c.rank <= $1 $query$,
    g.key_type, x, '', g.members, g.same_key, '', g.decisions)
    INTO STRICT c
    USING LEAST(n, 1000000) * 10,
      -- with min_resemblance, texts decide at any distance
      CASE WHEN s.min_resemblance IS NULL THEN GREATEST(s.max_distance - 1, 1) ELSE 0 END,
      LEAST(s.max_distance + CASE WHEN s.min_resemblance IS NULL THEN 2 ELSE 0 END, 16),
      s.max_distance,
      CASE WHEN s.min_resemblance IS NULL THEN 2 * s.max_distance + 1
        ELSE (64 * (1 - s.min_resemblance))::integer END,
      s.method = 'connected', s.query, g.key_type::regtype, path, format('SELECT m.key, m.id FROM %s AS m',
        g.members),
      'SELECT unnest($1::bigint[]), unnest($2::bigint[])',
      format('SELECT unnest($1::bigint[]), unnest($2::%s.simhash64[]), unnest($3::bigint[]) AS scope', x);
  -- and of these the most doubtful by their contents
  RETURN QUERY EXECUTE format($query$
    WITH chosen AS (
      SELECT unnest($2) AS id, unnest($3) AS other, unnest($4) AS distance, unnest($5) AS decides,
        unnest($6) AS moves, unnest(%5$L::%1$s[]) AS a, unnest(%6$L::%1$s[]) AS b),
    contents AS MATERIALIZED (
      SELECT q.key::%1$s AS key, CASE WHEN NOT q.is_sketch THEN q.content END AS content,
        CASE WHEN q.is_sketch THEN q.content::varbit END AS sketch
      FROM %2$s.simdup_review_contents($12, $13, $14, %7$L::text) AS q),
    compared AS (
      SELECT c.*, l.content AS content_a, r.content AS content_b,
        COALESCE(%2$s.minhash_bits_resemblance(l.sketch, r.sketch),
        %2$s.shingle_resemblance(l.content, r.content, $10, $11)) AS resemblance
      FROM chosen AS c LEFT JOIN contents AS l ON l.key %4$s c.a LEFT JOIN contents AS r ON r.key %4$s c.b),
    shown AS (
      SELECT c.*, COALESCE(c.decides * LEAST(0.5, CASE WHEN c.id = c.other
        THEN (1 - c.resemblance) / (2 * GREATEST(1 - $7, 0.01))
          ELSE c.resemblance / (2 * $7) END), c.moves) AS tells, abs(c.resemblance - $7) AS away
      FROM compared AS c ORDER BY tells DESC, away, c.id, c.b LIMIT $1)
    SELECT w.id, w.other, format('%%s', w.a), format('%%s', w.b),
      %2$s.simdup_review_reason(w.id = w.other, w.distance, $8, w.resemblance, $9), w.decides, w.distance,
        w.resemblance,
      (SELECT string_agg(u.number, ' ' ORDER BY u.place) FROM unnest(t.a) WITH ORDINALITY AS u (number, place)
       WHERE t.b IS NOT NULL AND NOT u.number = ANY (SELECT o.number FROM unnest(t.b) AS o (number))),
      (SELECT string_agg(u.number, ' ' ORDER BY u.place) FROM unnest(t.b) WITH ORDINALITY AS u (number, place)
       WHERE t.a IS NOT NULL AND NOT u.number = ANY (SELECT o.number FROM unnest(t.a) AS o (number))),
      %2$s.simdup_own_text(w.content_a, w.content_b), %2$s.simdup_own_text(w.content_b, w.content_a),
        w.content_a, w.content_b
    FROM shown AS w CROSS JOIN LATERAL (
      SELECT string_to_array(%2$s.simdup_numbers(w.content_a), ' ') AS a,
        string_to_array(%2$s.simdup_numbers(w.content_b), ' ') AS b OFFSET 0) AS t
    ORDER BY w.tells DESC, w.away, w.id, w.b $query$,
    g.key_type, x, '', g.same_key, c.a, c.b, coalesce(c.keys, '{}'))
    USING n - n_passed, c.id, c.other, c.distance, c.decides, c.moves, s.resemblance, s.max_distance,
      s.min_resemblance,
      s.w, s.unit, s.query, g.key_type::regtype, path;
EXCEPTION WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
  -- where the grouping's query is at fault, a refresh says so of it alone
  EXECUTE format('SELECT FROM %s.simdup_regroup($1, $2, $3)', x) USING name, true, path;
  RAISE;
END $$;
COMMENT ON FUNCTION simdup_review(text, integer, text) IS
  'undecided pairs of a grouping in the order in which an answer tells most, with what makes them doubtful';
