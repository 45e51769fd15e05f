
--
-- groups: the pairs that people should look at
--
-- The query of the settings is run once for keys and fingerprints, and once for the
-- contents of the pairs that may be shown. Each group is compared by its first row.
--
-- An answer decides pairs of rows. For two groups, these are all rows of one with all
-- of the other. Within a group, they are the rows of one fingerprint with the rest. Pairs
-- come in the order of this number times the chance that the answer contradicts the
-- grouping. The chance is half at the limit and beyond it. For two groups it falls with their resemblance, and for two
-- rows of a group with what they lack to be the same. Without contents, it halves with
-- each bit from the limit.

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
BEGIN
  IF n IS NULL OR n OPERATOR(pg_catalog.<) 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'n must be at least 1',
      DETAIL = pg_catalog.format('The value given is %s.', COALESCE(n::pg_catalog.text, 'null'));
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.format('SELECT s.*, COALESCE(s.min_resemblance, %s.minhash64_resemblance(s.max_distance)) AS resemblance FROM %s AS s', x, g.settings)
    INTO STRICT s;
  s.query := pg_catalog.rtrim(s.query, E' \t\r\n;');
  RETURN QUERY EXECUTE pg_catalog.format($query$
    WITH letters AS (
      SELECT m.id, q.key, q.fp, q.place
      FROM (SELECT q.key, q.fp, pg_catalog.row_number() OVER () AS place FROM (%3$s
      ) AS q (key, fp)) AS q JOIN %4$s AS m ON m.key %5$s q.key),
    firsts AS (
      SELECT DISTINCT ON (l.id) l.id, l.key, l.fp, pg_catalog.count(*) OVER (PARTITION BY l.id) AS size FROM letters AS l ORDER BY l.id, l.place),
    inside AS (
      -- the first row of a group with one row of each other fingerprint
      SELECT DISTINCT ON (f.id, l.fp) f.id, f.id AS other, f.key AS a, l.key AS b, %2$s.simhash_distance(f.fp, l.fp) AS distance,
        pg_catalog.count(*) OVER (PARTITION BY f.id, l.fp) AS one, f.size
      FROM letters AS l JOIN firsts AS f ON f.id OPERATOR(pg_catalog.=) l.id
      WHERE NOT l.key %5$s f.key AND %2$s.simhash_distance(f.fp, l.fp) OPERATOR(pg_catalog.>=) $2
      ORDER BY f.id, l.fp, l.key),
    pairs AS (
      SELECT i.id, i.other, i.a, i.b, i.distance, CASE WHEN i.distance OPERATOR(pg_catalog.>) $4 THEN 'bridge' ELSE 'borderline' END AS why,
        i.one OPERATOR(pg_catalog.*) (i.size OPERATOR(pg_catalog.-) i.one) AS decides
      FROM inside AS i
      UNION ALL
      SELECT LEAST(f.id, o.id), GREATEST(f.id, o.id), p.a, p.b, p.distance, 'near groups', f.size OPERATOR(pg_catalog.*) o.size
      FROM %2$s.simdup_pairs(%6$L::pg_catalog.text, key_type => NULL::%1$s, max_distance => $3, params => (
        SELECT ARRAY[pg_catalog.format('%%s', pg_catalog.array_agg(f.key ORDER BY f.id)),
          pg_catalog.format('%%s', pg_catalog.array_agg(f.fp ORDER BY f.id))] FROM firsts AS f)) AS p
      JOIN firsts AS f ON f.key %5$s p.a JOIN firsts AS o ON o.key %5$s p.b),
    blocks AS (SELECT c.key, c.cluster FROM %2$s.simdup_components(%7$L::pg_catalog.text, NULL::%1$s) AS c),
    apart AS (
      SELECT DISTINCT COALESCE(l.cluster, d.a) AS a, COALESCE(r.cluster, d.b) AS b
      FROM (SELECT d.a, d.b FROM %8$s AS d WHERE NOT d.same UNION ALL SELECT d.b, d.a FROM %8$s AS d WHERE NOT d.same) AS d
      LEFT JOIN blocks AS l ON l.key %5$s d.a LEFT JOIN blocks AS r ON r.key %5$s d.b),
    groups_apart AS (
      SELECT DISTINCT LEAST(l.id, r.id) AS id, GREATEST(l.id, r.id) AS other FROM %8$s AS d
      JOIN %4$s AS l ON l.key %5$s d.a JOIN %4$s AS r ON r.key %5$s d.b WHERE NOT d.same AND l.id OPERATOR(pg_catalog.<>) r.id),
    open AS (
      -- where rows make chains, a pair that only others hold together is most doubtful
      SELECT p.*, p.decides OPERATOR(pg_catalog./) CASE WHEN $8 AND p.why OPERATOR(pg_catalog.=) 'bridge' THEN 2::pg_catalog.float8
        ELSE 2::pg_catalog.float8 OPERATOR(pg_catalog.^) ((pg_catalog.abs(2 OPERATOR(pg_catalog.*) p.distance OPERATOR(pg_catalog.-) $5)
          OPERATOR(pg_catalog.+) 1) OPERATOR(pg_catalog./) 2) END AS moves
      FROM pairs AS p LEFT JOIN blocks AS l ON l.key %5$s p.a LEFT JOIN blocks AS r ON r.key %5$s p.b
      WHERE (l.cluster %5$s r.cluster) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM apart AS d WHERE d.a %5$s COALESCE(l.cluster, p.a) AND d.b %5$s COALESCE(r.cluster, p.b))
        AND NOT EXISTS (SELECT FROM groups_apart AS d WHERE d.id OPERATOR(pg_catalog.=) p.id AND d.other OPERATOR(pg_catalog.=) p.other)),
    ranked AS (
      SELECT o.*, pg_catalog.row_number() OVER (PARTITION BY o.id ORDER BY o.moves DESC, o.b, o.a) AS place FROM open AS o),
    chosen AS (
      SELECT c.* FROM (
        SELECT r.*, pg_catalog.row_number() OVER (PARTITION BY r.id OPERATOR(pg_catalog.=) r.other ORDER BY r.moves DESC, r.id, r.b) AS rank
        FROM ranked AS r WHERE r.place OPERATOR(pg_catalog.<=) 3) AS c WHERE c.rank OPERATOR(pg_catalog.<=) $6),
    contents AS (
      SELECT q.key, CASE WHEN NOT q.is_sketch THEN q.content END AS content, CASE WHEN q.is_sketch THEN q.content::pg_catalog.varbit END AS sketch
      FROM (SELECT NULL::pg_catalog.text AS content) AS none CROSS JOIN LATERAL (
        -- where the query has no column of this name, that of none is meant
        SELECT q.key, content::pg_catalog.text AS content,
          pg_catalog.pg_typeof(content) OPERATOR(pg_catalog.=) 'pg_catalog.varbit'::pg_catalog.regtype AS is_sketch FROM (%3$s
        ) AS q (key, fp) WHERE q.key %5$s ANY (ARRAY(SELECT c.a FROM chosen AS c UNION ALL SELECT c.b FROM chosen AS c))) AS q),
    compared AS (
      SELECT c.*, l.content AS content_a, r.content AS content_b, COALESCE(%2$s.minhash_bits_resemblance(l.sketch, r.sketch),
        %2$s.shingle_resemblance(l.content, r.content, $9, $10)) AS resemblance
      FROM chosen AS c LEFT JOIN contents AS l ON l.key %5$s c.a LEFT JOIN contents AS r ON r.key %5$s c.b),
    shown AS (
      SELECT c.*, COALESCE(c.decides OPERATOR(pg_catalog.*) LEAST(0.5, CASE WHEN c.id OPERATOR(pg_catalog.=) c.other
          THEN (1 OPERATOR(pg_catalog.-) c.resemblance) OPERATOR(pg_catalog./) (2 OPERATOR(pg_catalog.*) GREATEST(1 OPERATOR(pg_catalog.-) $7, 0.01))
          ELSE c.resemblance OPERATOR(pg_catalog./) (2 OPERATOR(pg_catalog.*) $7) END), c.moves) AS tells, pg_catalog.abs(c.resemblance OPERATOR(pg_catalog.-) $7) AS away
      FROM compared AS c ORDER BY tells DESC, away, c.id, c.b LIMIT $1)
    SELECT w.id, w.other, pg_catalog.format('%%s', w.a), pg_catalog.format('%%s', w.b), w.why, w.decides, w.distance, w.resemblance,
      (SELECT pg_catalog.string_agg(u.number, ' ' ORDER BY u.place) FROM pg_catalog.unnest(t.a) WITH ORDINALITY AS u (number, place)
       WHERE t.b IS NOT NULL AND NOT u.number OPERATOR(pg_catalog.=) ANY (SELECT o.number FROM pg_catalog.unnest(t.b) AS o (number))),
      (SELECT pg_catalog.string_agg(u.number, ' ' ORDER BY u.place) FROM pg_catalog.unnest(t.b) WITH ORDINALITY AS u (number, place)
       WHERE t.a IS NOT NULL AND NOT u.number OPERATOR(pg_catalog.=) ANY (SELECT o.number FROM pg_catalog.unnest(t.a) AS o (number))),
      %2$s.simdup_own_text(w.content_a, w.content_b), %2$s.simdup_own_text(w.content_b, w.content_a), w.content_a, w.content_b
    FROM shown AS w CROSS JOIN LATERAL (
      SELECT pg_catalog.string_to_array(%2$s.simdup_numbers(w.content_a), ' ') AS a,
        pg_catalog.string_to_array(%2$s.simdup_numbers(w.content_b), ' ') AS b OFFSET 0) AS t
    ORDER BY w.tells DESC, w.away, w.id, w.b $query$,
    g.key_type, x, s.query, g.members, g.same_key,
    pg_catalog.format('SELECT pg_catalog.unnest($1::%s[]), pg_catalog.unnest($2::%s.simhash64[])', g.key_type, x),
    pg_catalog.format('SELECT d.a, d.b FROM %s AS d WHERE d.same', g.decisions), g.decisions)
    USING n,
      -- with min_resemblance, texts decide at any distance
      CASE WHEN s.min_resemblance IS NULL THEN GREATEST(s.max_distance OPERATOR(pg_catalog.-) 1, 1) ELSE 0 END,
      LEAST(s.max_distance OPERATOR(pg_catalog.+) CASE WHEN s.min_resemblance IS NULL THEN 2 ELSE 0 END, 16),
      s.max_distance,
      CASE WHEN s.min_resemblance IS NULL THEN 2 OPERATOR(pg_catalog.*) s.max_distance OPERATOR(pg_catalog.+) 1
        ELSE (64 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.-) s.min_resemblance))::pg_catalog.int4 END,
      LEAST(n, 1000000) OPERATOR(pg_catalog.*) 10, s.resemblance, s.method OPERATOR(pg_catalog.=) 'connected', s.w, s.unit;
EXCEPTION WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
  -- where the grouping's query is at fault, a refresh says so of it alone
  EXECUTE pg_catalog.format('SELECT FROM %s.simdup_regroup($1, true)', x) USING name;
  RAISE;
END $$;
COMMENT ON FUNCTION simdup_review(text, integer) IS
  'undecided pairs of a grouping in the order in which an answer tells most, with what makes them doubtful';
