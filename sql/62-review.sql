
--
-- groups: the pairs that people should look at
--
-- The query of the settings is run twice: for keys and fingerprints, and for the
-- contents of the pairs shown. Each group is compared by its first row.

CREATE FUNCTION simdup_review(name text, n integer DEFAULT 20)
  RETURNS TABLE (id bigint, other bigint, size bigint, a text, b text, why text, distance integer, resemblance float8,
    content_a text, content_b text, only_a json, only_b json)
  LANGUAGE plpgsql COST 100000 ROWS 20 SET row_security = off SET jit = off AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  s record;
  firsts pg_catalog.text;
BEGIN
  IF n IS NULL OR n OPERATOR(pg_catalog.<) 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'n must be at least 1',
      DETAIL = pg_catalog.format('The value given is %s.', COALESCE(n::pg_catalog.text, 'null'));
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.concat('SELECT * FROM ', g.settings) INTO STRICT s;
  -- the first row of each group, in the order of the query
  firsts := pg_catalog.format(E'SELECT DISTINCT ON (m.id) m.id, q.key, q.fp, pg_catalog.count(*) OVER (PARTITION BY m.id) AS size'
    ' FROM (SELECT q.key, q.fp, pg_catalog.row_number() OVER () AS place FROM (%s\n) AS q (key, fp)) AS q'
    ' JOIN %s AS m ON m.key %s q.key ORDER BY m.id, q.place', s.query, g.members, g.same_key);
  RETURN QUERY EXECUTE pg_catalog.format($query$
    WITH firsts AS (%1$s),
    inside AS (
      SELECT DISTINCT ON (f.id, q.fp) f.id, f.id AS other, f.size, f.key AS a, q.key AS b, %2$s.simhash_distance(f.fp, q.fp) AS distance
      FROM (%3$s
      ) AS q (key, fp) JOIN %4$s AS m ON m.key %5$s q.key JOIN firsts AS f ON f.id OPERATOR(pg_catalog.=) m.id
      WHERE NOT q.key %5$s f.key AND %2$s.simhash_distance(f.fp, q.fp) OPERATOR(pg_catalog.>=) $2
      ORDER BY f.id, q.fp, q.key),
    outside AS (
      SELECT LEAST(f.id, o.id) AS id, GREATEST(f.id, o.id) AS other, f.size, p.a, p.b, p.distance
      FROM %2$s.simdup_pairs(%6$L, NULL::%7$s, $3) AS p JOIN firsts AS f ON f.key %5$s p.a JOIN firsts AS o ON o.key %5$s p.b),
    pairs AS (
      SELECT i.*, CASE WHEN i.distance OPERATOR(pg_catalog.>) $4 THEN 'bridge' ELSE 'borderline' END AS why FROM inside AS i
      UNION ALL SELECT o.*, 'near groups' FROM outside AS o),
    blocks AS (SELECT c.* FROM %2$s.simdup_components(%8$L, NULL::%7$s) AS c),
    decided AS (
      SELECT d.a, d.b FROM %9$s AS d UNION ALL SELECT d.b, d.a FROM %9$s AS d),
    apart AS (
      SELECT DISTINCT LEAST(l.id, r.id) AS id, GREATEST(l.id, r.id) AS other FROM %9$s AS d
      JOIN %4$s AS l ON l.key %5$s d.a JOIN %4$s AS r ON r.key %5$s d.b WHERE NOT d.same),
    open AS (
      -- where rows make chains, a pair that only others hold together is most doubtful
      SELECT p.*, CASE WHEN $8 AND p.why OPERATOR(pg_catalog.=) 'bridge' THEN 1
        ELSE pg_catalog.abs(2 OPERATOR(pg_catalog.*) p.distance OPERATOR(pg_catalog.-) $5) END AS margin FROM pairs AS p
      LEFT JOIN blocks AS l ON l.key %5$s p.a LEFT JOIN blocks AS r ON r.key %5$s p.b
      WHERE (l.cluster %5$s r.cluster) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM decided AS d WHERE d.a %5$s p.a AND d.b %5$s p.b)
        AND NOT EXISTS (SELECT FROM apart AS n WHERE n.id OPERATOR(pg_catalog.=) p.id AND n.other OPERATOR(pg_catalog.=) p.other)),
    ranked AS (
      SELECT o.*, pg_catalog.row_number() OVER (PARTITION BY o.id ORDER BY o.margin, o.b, o.a) AS place FROM open AS o),
    chosen AS (
      SELECT r.* FROM ranked AS r WHERE r.place OPERATOR(pg_catalog.<=) 3 ORDER BY r.margin, r.size DESC, r.id, r.b LIMIT $6),
    shown AS (
      SELECT c.*, pg_catalog.to_jsonb(q) OPERATOR(pg_catalog.->>) 'content'::pg_catalog.text AS content_a,
        pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'content'::pg_catalog.text AS content_b
      FROM chosen AS c JOIN (%3$s
      ) AS q (key, fp) ON q.key %5$s c.a JOIN (%3$s
      ) AS r (key, fp) ON r.key %5$s c.b)
    SELECT w.id, w.other, w.size, pg_catalog.format('%%s', w.a), pg_catalog.format('%%s', w.b), w.why, w.distance,
      e.resemblance, w.content_a, w.content_b, e.only_a, e.only_b
    FROM shown AS w LEFT JOIN LATERAL %2$s.simdup_explain(w.content_a, w.content_b, 'minhash64'::pg_catalog.text) AS e ON true
    ORDER BY COALESCE(pg_catalog.abs(e.resemblance OPERATOR(pg_catalog.-) $7) OPERATOR(pg_catalog.*) 64, w.margin),
      w.size DESC, w.id, w.b LIMIT $1 $query$,
    firsts, x, s.query, g.members, g.same_key, pg_catalog.format('SELECT f.key, f.fp FROM (%s) AS f', firsts), g.key_type,
    pg_catalog.format('SELECT d.a, d.b FROM %s AS d WHERE d.same', g.decisions), g.decisions)
    USING n,
      -- with min_resemblance, texts decide at any distance
      CASE WHEN s.min_resemblance IS NULL THEN GREATEST(s.max_distance OPERATOR(pg_catalog.-) 1, 1) ELSE 0 END,
      LEAST(s.max_distance OPERATOR(pg_catalog.+) CASE WHEN s.min_resemblance IS NULL THEN 2 ELSE 0 END, 16),
      s.max_distance,
      CASE WHEN s.min_resemblance IS NULL THEN 2 OPERATOR(pg_catalog.*) s.max_distance OPERATOR(pg_catalog.+) 1
        ELSE (64 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.-) s.min_resemblance))::pg_catalog.int4 END,
      CASE WHEN s.min_resemblance IS NULL THEN n ELSE LEAST(n, 1000000) OPERATOR(pg_catalog.*) 10 END,
      s.min_resemblance, s.method OPERATOR(pg_catalog.=) 'connected';
END $$;
COMMENT ON FUNCTION simdup_review(text, integer) IS
  'undecided pairs of a grouping that are most worth a look, with their contents and what differs';
