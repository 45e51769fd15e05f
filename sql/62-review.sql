
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
        CASE abs(distance - max_distance) WHEN 0 THEN 'just' WHEN 1 THEN '1 bit' ELSE abs(distance - max_distance) || ' bits' END,
        CASE WHEN distance > max_distance THEN 'beyond' ELSE 'within' END)
    WHEN resemblance IS NULL THEN 'one of these two letters has no text to compare'
    ELSE
      format('these two letters share %s %% of their text, where the limit is %s %%',
        trim_scale(trunc((resemblance * 100)::numeric, 1)), trim_scale(round((min_resemblance * 100)::numeric, 1)))
  END
  || CASE
    WHEN one_group <> CASE WHEN min_resemblance IS NULL THEN distance <= max_distance ELSE COALESCE(resemblance >= min_resemblance, false) END
    THEN CASE WHEN one_group THEN ', but are in one group' ELSE ', but are in two groups' END
    ELSE ''
  END;
COMMENT ON FUNCTION simdup_review_reason(boolean, integer, integer, float8, float8) IS
  'implementation of simdup_review: what makes a pair doubtful, in words';

CREATE FUNCTION simdup_review_rows(
  key_type anyelement, query text, members text, least_distance integer,
  OUT key anyelement, OUT fp simhash64, OUT scope bigint, OUT id bigint, OUT place bigint, OUT first bigint, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_review_rows(anyelement, text, text, integer) IS
  'implementation of simdup_review: the first row of each group and scope, and those that are not near it';

CREATE FUNCTION simdup_review(name text, n integer DEFAULT 20)
  RETURNS TABLE (id bigint, other bigint, a text, b text, why text, decides bigint, distance integer, resemblance float8,
    numbers_a text, numbers_b text, own_a text, own_b text, content_a text, content_b text)
  LANGUAGE plpgsql COST 100000 ROWS 20 SET row_security = off SET jit = off SET extra_float_digits = 1 SET DateStyle = ISO AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  s record;
  c record;
  n_passed integer;
BEGIN
  IF n IS NULL OR n OPERATOR(pg_catalog.<) 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'n must be at least 1',
      DETAIL = pg_catalog.format('The value given is %s.', COALESCE(n::pg_catalog.text, 'null'));
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x)
    INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.format('SELECT s.*, COALESCE(s.min_resemblance, %s.minhash64_resemblance(s.max_distance)) AS resemblance'
    ' FROM %s AS s', x, g.settings) INTO STRICT s;
  s.query := pg_catalog.rtrim(s.query, E' \t\r\n;');
  -- decisions that a refresh passes over
  RETURN QUERY EXECUTE pg_catalog.format('SELECT l.id, r.id, c.a, c.b, pg_catalog.format(CASE WHEN c.same'
    ' THEN %L ELSE %L END, c.chain), 0::pg_catalog.int8, NULL::pg_catalog.int4, NULL::pg_catalog.float8,'
    ' NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.text, NULL::pg_catalog.text,'
    ' NULL::pg_catalog.text FROM %4$s.simdup_contradictions($1, $2) AS c'
    ' LEFT JOIN %5$s AS l ON l.key %6$s c.a::%7$s LEFT JOIN %5$s AS r ON r.key %6$s c.b::%7$s LIMIT $3',
    'the decision that these two letters are the same contradicts earlier ones: %s',
    'the decision that these two letters are not the same contradicts earlier ones: %s', '', x, g.members, g.same_key, g.key_type)
    USING pg_catalog.format('SELECT d.a, d.b, d.same FROM %s AS d ORDER BY d.at, d.a, d.b', g.decisions),
      g.key_type::pg_catalog.regtype, n;
  GET DIAGNOSTICS n_passed = ROW_COUNT;
  -- the doubtful pairs by their fingerprints: within groups, and of two groups
  EXECUTE pg_catalog.format($query$
    WITH decided AS (
      SELECT k.key, pg_catalog.dense_rank() OVER (ORDER BY COALESCE(c.cluster, k.key)) AS block
      FROM (SELECT d.a AS key FROM %7$s AS d UNION SELECT d.b FROM %7$s AS d) AS k
      LEFT JOIN %2$s.simdup_components(%6$L::pg_catalog.text, NULL::%1$s) AS c ON c.key %5$s k.key),
    apart AS (
      SELECT l.block AS a, r.block AS b
      FROM (SELECT d.a, d.b FROM %7$s AS d WHERE NOT d.same UNION ALL SELECT d.b, d.a FROM %7$s AS d WHERE NOT d.same) AS d
      JOIN decided AS l ON l.key %5$s d.a JOIN decided AS r ON r.key %5$s d.b),
    groups_apart AS (
      SELECT LEAST(l.id, r.id) AS id, GREATEST(l.id, r.id) AS other FROM %7$s AS d
      JOIN %4$s AS l ON l.key %5$s d.a JOIN %4$s AS r ON r.key %5$s d.b WHERE NOT d.same AND l.id OPERATOR(pg_catalog.<>) r.id),
    letters AS MATERIALIZED (
      SELECT l.*, d.block FROM %2$s.simdup_review_rows(NULL::%1$s, $7, %3$L, $2) AS l LEFT JOIN decided AS d ON d.key %5$s l.key),
    firsts AS (SELECT l.* FROM letters AS l WHERE l.place OPERATOR(pg_catalog.=) l.first),
    pairs AS (
      -- the first row of a group with one row of each other fingerprint
      SELECT i.id, i.other, i.a, i.b, i.distance, i.one OPERATOR(pg_catalog.*) (i.size OPERATOR(pg_catalog.-) i.one) AS decides,
        i.a_block, i.b_block
      FROM (
        SELECT DISTINCT ON (l.first, l.fp) l.id, l.id AS other, l.first AS a, l.place AS b, f.block AS a_block, l.block AS b_block,
          %2$s.simhash_distance(f.fp, l.fp) AS distance, pg_catalog.count(*) OVER (PARTITION BY l.first, l.fp) AS one, l.size
        FROM letters AS l JOIN firsts AS f ON f.place OPERATOR(pg_catalog.=) l.first WHERE l.place OPERATOR(pg_catalog.<>) l.first
        ORDER BY l.first, l.fp, l.place) AS i
      UNION ALL
      SELECT l.id, r.id, l.place, r.place, p.distance, l.size OPERATOR(pg_catalog.*) r.size, l.block, r.block
      FROM %2$s.simdup_pairs('SELECT pg_catalog.unnest($1::pg_catalog.int8[]), pg_catalog.unnest($2::%2$s.simhash64[]),'
          ' pg_catalog.unnest($3::pg_catalog.int8[]) AS scope',
        max_distance => $3, params => (
          SELECT ARRAY[pg_catalog.array_agg(f.place ORDER BY f.id)::pg_catalog.text, pg_catalog.array_agg(f.fp ORDER BY f.id)::pg_catalog.text,
            pg_catalog.array_agg(f.scope ORDER BY f.id)::pg_catalog.text] FROM firsts AS f)) AS p
      JOIN firsts AS l ON l.place OPERATOR(pg_catalog.=) p.a JOIN firsts AS r ON r.place OPERATOR(pg_catalog.=) p.b),
    open AS (
      -- where rows make chains, a pair that only others hold together is most doubtful
      SELECT p.*, p.decides OPERATOR(pg_catalog./) CASE WHEN $6 AND p.id OPERATOR(pg_catalog.=) p.other AND p.distance OPERATOR(pg_catalog.>) $4 THEN 2::pg_catalog.float8
        ELSE 2::pg_catalog.float8 OPERATOR(pg_catalog.^) ((pg_catalog.abs(2 OPERATOR(pg_catalog.*) p.distance OPERATOR(pg_catalog.-) $5) OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog./) 2) END AS moves
      FROM pairs AS p
      WHERE (p.a_block OPERATOR(pg_catalog.=) p.b_block) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM apart AS d WHERE d.a OPERATOR(pg_catalog.=) p.a_block AND d.b OPERATOR(pg_catalog.=) p.b_block)
        AND NOT EXISTS (SELECT FROM groups_apart AS d WHERE d.id OPERATOR(pg_catalog.=) LEAST(p.id, p.other) AND d.other OPERATOR(pg_catalog.=) GREATEST(p.id, p.other))),
    ranked AS (
      SELECT o.*, pg_catalog.row_number() OVER (PARTITION BY o.id ORDER BY o.moves DESC, o.b, o.a) AS place FROM open AS o),
    chosen AS (
      SELECT r.*, pg_catalog.row_number() OVER (PARTITION BY r.id OPERATOR(pg_catalog.=) r.other ORDER BY r.moves DESC, r.id, r.b) AS rank
      FROM ranked AS r WHERE r.place OPERATOR(pg_catalog.<=) 3)
    SELECT pg_catalog.array_agg(c.id) AS id, pg_catalog.array_agg(c.other) AS other, pg_catalog.array_agg(c.distance) AS distance,
      pg_catalog.array_agg(c.decides) AS decides, pg_catalog.array_agg(c.moves) AS moves,
      pg_catalog.array_agg(l.key)::pg_catalog.text AS a, pg_catalog.array_agg(r.key)::pg_catalog.text AS b,
      pg_catalog.array_cat(pg_catalog.array_agg(l.key), pg_catalog.array_agg(r.key))::pg_catalog.text AS keys
    FROM chosen AS c JOIN letters AS l ON l.place OPERATOR(pg_catalog.=) c.a JOIN letters AS r ON r.place OPERATOR(pg_catalog.=) c.b WHERE c.rank OPERATOR(pg_catalog.<=) $1 $query$,
    g.key_type, x, pg_catalog.concat('SELECT key, id FROM ', g.members), g.members, g.same_key,
    pg_catalog.format('SELECT d.a, d.b FROM %s AS d WHERE d.same', g.decisions), g.decisions)
    INTO STRICT c
    USING LEAST(n, 1000000) OPERATOR(pg_catalog.*) 10,
      -- with min_resemblance, texts decide at any distance
      CASE WHEN s.min_resemblance IS NULL THEN GREATEST(s.max_distance OPERATOR(pg_catalog.-) 1, 1) ELSE 0 END,
      LEAST(s.max_distance OPERATOR(pg_catalog.+) CASE WHEN s.min_resemblance IS NULL THEN 2 ELSE 0 END, 16),
      s.max_distance,
      CASE WHEN s.min_resemblance IS NULL THEN 2 OPERATOR(pg_catalog.*) s.max_distance OPERATOR(pg_catalog.+) 1 ELSE (64 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.-) s.min_resemblance))::pg_catalog.int4 END,
      s.method OPERATOR(pg_catalog.=) 'connected', s.query;
  -- and of these the most doubtful by their contents
  RETURN QUERY EXECUTE pg_catalog.format($query$
    WITH chosen AS (
      SELECT pg_catalog.unnest($2) AS id, pg_catalog.unnest($3) AS other, pg_catalog.unnest($4) AS distance, pg_catalog.unnest($5) AS decides,
        pg_catalog.unnest($6) AS moves, pg_catalog.unnest(%5$L::%1$s[]) AS a, pg_catalog.unnest(%6$L::%1$s[]) AS b),
    contents AS MATERIALIZED (
      SELECT q.key, CASE WHEN NOT q.is_sketch THEN q.content END AS content,
        CASE WHEN q.is_sketch THEN q.content::pg_catalog.varbit END AS sketch
      FROM (SELECT NULL::pg_catalog.text AS content) AS none CROSS JOIN LATERAL (
        SELECT q.key, content::pg_catalog.text AS content, pg_catalog.pg_typeof(content) OPERATOR(pg_catalog.=) 'pg_catalog.varbit'::pg_catalog.regtype AS is_sketch
        FROM (%3$s
        ) AS q (key, fp) WHERE q.key %4$s ANY (%7$L::%1$s[])) AS q),
    compared AS (
      SELECT c.*, l.content AS content_a, r.content AS content_b, COALESCE(%2$s.minhash_bits_resemblance(l.sketch, r.sketch),
        %2$s.shingle_resemblance(l.content, r.content, $10, $11)) AS resemblance
      FROM chosen AS c LEFT JOIN contents AS l ON l.key %4$s c.a LEFT JOIN contents AS r ON r.key %4$s c.b),
    shown AS (
      SELECT c.*, COALESCE(c.decides OPERATOR(pg_catalog.*) LEAST(0.5, CASE WHEN c.id OPERATOR(pg_catalog.=) c.other THEN (1 OPERATOR(pg_catalog.-) c.resemblance) OPERATOR(pg_catalog./) (2 OPERATOR(pg_catalog.*) GREATEST(1 OPERATOR(pg_catalog.-) $7, 0.01))
          ELSE c.resemblance OPERATOR(pg_catalog./) (2 OPERATOR(pg_catalog.*) $7) END), c.moves) AS tells, pg_catalog.abs(c.resemblance OPERATOR(pg_catalog.-) $7) AS away
      FROM compared AS c ORDER BY tells DESC, away, c.id, c.b LIMIT $1)
    SELECT w.id, w.other, pg_catalog.format('%%s', w.a), pg_catalog.format('%%s', w.b),
      %2$s.simdup_review_reason(w.id OPERATOR(pg_catalog.=) w.other, w.distance, $8, w.resemblance, $9), w.decides, w.distance, w.resemblance,
      (SELECT pg_catalog.string_agg(u.number, ' ' ORDER BY u.place) FROM pg_catalog.unnest(t.a) WITH ORDINALITY AS u (number, place)
       WHERE t.b IS NOT NULL AND NOT u.number OPERATOR(pg_catalog.=) ANY (SELECT o.number FROM pg_catalog.unnest(t.b) AS o (number))),
      (SELECT pg_catalog.string_agg(u.number, ' ' ORDER BY u.place) FROM pg_catalog.unnest(t.b) WITH ORDINALITY AS u (number, place)
       WHERE t.a IS NOT NULL AND NOT u.number OPERATOR(pg_catalog.=) ANY (SELECT o.number FROM pg_catalog.unnest(t.a) AS o (number))),
      %2$s.simdup_own_text(w.content_a, w.content_b), %2$s.simdup_own_text(w.content_b, w.content_a), w.content_a, w.content_b
    FROM shown AS w CROSS JOIN LATERAL (
      SELECT pg_catalog.string_to_array(%2$s.simdup_numbers(w.content_a), ' ') AS a,
        pg_catalog.string_to_array(%2$s.simdup_numbers(w.content_b), ' ') AS b OFFSET 0) AS t
    ORDER BY w.tells DESC, w.away, w.id, w.b $query$,
    g.key_type, x, s.query, g.same_key, c.a, c.b, c.keys)
    USING n OPERATOR(pg_catalog.-) n_passed, c.id, c.other, c.distance, c.decides, c.moves, s.resemblance, s.max_distance, s.min_resemblance,
      s.w, s.unit;
EXCEPTION WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
  -- where the grouping's query is at fault, a refresh says so of it alone
  EXECUTE pg_catalog.format('SELECT FROM %s.simdup_regroup($1, true)', x) USING name;
  RAISE;
END $$;
COMMENT ON FUNCTION simdup_review(text, integer) IS
  'undecided pairs of a grouping in the order in which an answer tells most, with what makes them doubtful';
