
--
-- report: what a table holds, as data and as a page for a browser
--

CREATE FUNCTION simdup_near_rows(
  source regclass, groups regclass, max_distance integer, method text, min_resemblance float8, w integer,
  unit text, columns name[],
  OUT place bigint, OUT key text, OUT part bigint, OUT scope text, OUT day date, OUT id bigint,
  OUT rank bigint, OUT member bigint, OUT serial bigint, OUT size bigint, OUT outside bigint,
  OUT is_repeat boolean, OUT distance integer, OUT same bigint, OUT nth bigint, OUT n_same bigint,
  OUT n bigint, OUT chances float8[], OUT found bigint[], OUT a bigint, OUT b bigint, OUT chance bigint
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_report_differences(a text, b text) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
CREATE FUNCTION simdup_report_file(n integer) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_report_ascii(value text, html boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_near_rows(regclass, regclass, integer, text, float8, integer, text, name[]) IS
  'implementation of simdup_report: rows near others and rows of groups; of the others, how many';
COMMENT ON FUNCTION simdup_report_differences(text, text) IS
  'implementation of simdup_report: two texts as one, with what differs marked';
COMMENT ON FUNCTION simdup_report_file(integer) IS 'implementation of simdup_report_html: a file of the page';
COMMENT ON FUNCTION simdup_report_ascii(text, boolean) IS
  'implementation of simdup_report_html: a text in ASCII, escaped for HTML or for JSON in a script element';

-- Check what is asked, and complete it. A grouping has options of its own, and decisions.
CREATE FUNCTION simdup_report_asked(
  source regclass, groups regclass, max_groups integer, INOUT max_distance integer, INOUT method text,
  INOUT min_resemblance float8, INOUT w integer, INOUT unit text, OUT started timestamptz,
  OUT has_content boolean, OUT has_scope boolean, OUT day_column text, OUT columns name[], OUT names name[],
  OUT statement text, OUT grouped jsonb
) LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  g record;
  contents_of regtype;
  hidden name;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  started := clock_timestamp();
  IF max_groups IS NULL OR max_groups < 0 THEN
    RAISE EXCEPTION 'max_groups must be a number, and not negative'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The value given is %s.', coalesce(max_groups::text, 'null'));
  END IF;
  IF groups IS NOT NULL THEN
    SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, true, false) AS x;
    max_distance := g.max_distance;
    method := g.method;
    min_resemblance := g.min_resemblance;
    w := g.w;
    unit := g.unit;
    columns := g.columns;
  ELSIF method = 'given' THEN
    min_resemblance := NULL;
  END IF;
  SELECT s.columns, s.contents_of, s.columns[4] IS NOT NULL, s.columns[6], s.statement
  INTO STRICT columns, contents_of, has_scope, day_column, statement
  FROM @extschema@.simdup_grouping_source(source, max_distance, method,
    CASE WHEN groups IS NULL THEN min_resemblance END, w, unit, columns) AS s;
  has_content := coalesce(contents_of <> 'varbit'::regtype, false);
  SELECT min(a.attname) FILTER (WHERE NOT has_column_privilege(source, a.attnum, 'SELECT')),
    coalesce(array_agg(a.attname ORDER BY a.attnum) FILTER (
      WHERE a.attname <> ALL (array_remove(columns[:5], NULL))), '{}')
  INTO STRICT hidden, names
  FROM pg_attribute AS a
  WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped;
  IF hidden IS NOT NULL THEN
    RAISE EXCEPTION 'permission denied for column "%"', hidden
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = format('A report shows all columns of its source, %s.', source),
        HINT = 'Name a view that has only the columns that you may read.';
  ELSIF groups IS NULL AND min_resemblance IS NOT NULL AND NOT has_content THEN
    RAISE EXCEPTION 'min_resemblance needs a column "content" of type text'
      USING ERRCODE = 'datatype_mismatch',
        DETAIL = format('The source is %s, whose contents are sketches.', source),
        HINT = 'Leave min_resemblance out, or name a view with the texts.';
  END IF;
  IF groups IS NOT NULL THEN
    EXECUTE format($query$
      SELECT jsonb_build_object('all', count(*), 'kept', coalesce(
        jsonb_agg(jsonb_build_object('a', concat(coalesce(x.key, d.a)), 'b', concat(coalesce(y.key, d.b)),
            'same', d.same, 'note', d.note, 'by', d.by::text, 'at', to_char(d.at, 'YYYY-MM-DD HH24:MI'))
          ORDER BY d.place) FILTER (WHERE d.place <= 5000), '[]'))
      FROM (SELECT *, row_number() OVER (ORDER BY at DESC, a, b) AS place FROM %s) AS d
        -- a decision may have another form of the row's key: 1 for 1.0
        LEFT JOIN %s AS x ON x.key %s d.a
        LEFT JOIN %2$s AS y ON y.key %3$s d.b
      $query$, g.decisions, g.members, g.same_key)
    INTO STRICT grouped;
    EXECUTE format($query$
      SELECT jsonb_build_object('decisions', $1, 'decide', $2, 'questions', coalesce(jsonb_agg(
        to_jsonb(r) - '{content_a,content_b,only_a,only_b}'::text[] || jsonb_build_object(
          'is_less', r.a::%1$s %2$s r.b::%1$s%3$s,
          'differences', %4$s.simdup_report_differences(r.content_a, r.content_b))
        ORDER BY r.ordinality), '[]'))
      FROM %4$s.simdup_review($3, 50) WITH ORDINALITY AS r
      WHERE r.n_decided > 0 $query$, g.keys_of, g.less_key, g.ordering, '@extschema@')
    INTO STRICT grouped USING grouped, jsonb_build_object('decide', '@extschema@.simdup_decide',
      'table', g.decisions::text), groups;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_report_asked(regclass, regclass, integer, integer, text, float8, integer, text) IS
  'implementation of simdup_report: the options, checked; those of a grouping where there is one';

-- The first n characters of a text, without a part of a word at their end. Not strict, to be inlined.
CREATE FUNCTION simdup_report_start(content text, n integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN length(content) > n
    THEN regexp_replace(left(content, n), E'\\s+\\S{0,20}$', '') || ' ...' ELSE content END;
COMMENT ON FUNCTION simdup_report_start(text, integer) IS 'implementation of simdup_report: a text, cut';

-- The planner cannot know how many rows there are, and a hash join is never far from best. Without jit: to
-- compile this statement takes longer than to run it.
CREATE FUNCTION simdup_report(
  source regclass, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  max_groups integer DEFAULT 200, groups regclass DEFAULT NULL
) RETURNS jsonb LANGUAGE sql STABLE PARALLEL UNSAFE COST 1000000
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET DateStyle = ISO
  SET IntervalStyle = postgres SET jit = off SET enable_nestloop = off SET enable_mergejoin = off
BEGIN ATOMIC
  WITH asked AS MATERIALIZED (
    SELECT a.*
    FROM simdup_report_asked(source, groups, max_groups, max_distance, method, min_resemblance, w, unit) AS a
    WHERE source IS NOT NULL),
  rows AS MATERIALIZED (
    SELECT r.*
    FROM asked AS q CROSS JOIN LATERAL simdup_near_rows(source, groups, q.max_distance, q.method,
      CASE WHEN groups IS NULL THEN q.min_resemblance END, q.w, q.unit, q.columns) AS r),

  shown_pairs AS MATERIALIZED (
    -- 142 rows of one fingerprint make 10,000 pairs
    SELECT p.distance, p.chance IS NOT NULL AS is_example, a.place AS place_a, b.place AS place_b,
      a.key AS a, b.key AS b, row_number() OVER (PARTITION BY p.chance IS NULL
        ORDER BY p.distance, p.chance, least(a.place, b.place), greatest(a.place, b.place)) AS place
    FROM rows AS p
    JOIN rows AS a ON a.same = p.a AND a.nth <= CASE WHEN p.chance IS NULL THEN 142 ELSE 1 END
    JOIN rows AS b ON b.same = p.b AND (p.a < p.b OR a.place < b.place)
      AND b.nth <= CASE WHEN p.chance IS NULL THEN 142 WHEN p.a < p.b THEN 1 ELSE 2 END),

  -- the texts of the cases that are shown, the largest ones, and of examples
  to_read AS MATERIALIZED (
    SELECT r.rank, r.place, r.key FROM rows AS r WHERE r.rank <= least(max_groups, 20000) AND r.member <= 1000
    UNION ALL
    SELECT -p.place, v.* FROM shown_pairs AS p, LATERAL (VALUES (p.place_a, p.a), (p.place_b, p.b)) AS v
    WHERE p.is_example),
  texts AS MATERIALIZED (
    -- of more than 4 MB for one rank, two at least
    SELECT t.rank, t.place, nullif(btrim(t.start, E' \t\r\n'), '') AS content,
      coalesce(octet_length(t.start) < octet_length(t.content), false) AS cut, t.columns
    FROM (
      SELECT t.*, row_number() OVER before AS n,
        CASE WHEN octet_length(t.content) > 1048576 THEN left(t.content, 1048576) ELSE t.content END AS start,
        sum(octet_length(t.content)) OVER before - octet_length(t.content) AS bytes
      FROM (
        SELECT DISTINCT ON (t.rank, t.place) t.rank, t.place, s.content, s.columns
        FROM to_read AS t
        JOIN simdup_source_rows(source, (SELECT q.columns FROM asked AS q),
          ARRAY(SELECT t.key FROM to_read AS t), (SELECT q.names FROM asked AS q)) AS s ON s.key = t.key
        ORDER BY t.rank, t.place) AS t
      WINDOW before AS (PARTITION BY t.rank ORDER BY t.place)) AS t
    WHERE t.n <= 2 OR t.bytes < 4194304 OR t.content IS NULL),
  letters AS MATERIALIZED (
    SELECT r.*, coalesce(r.id, r.rank) AS case_id, t.place IS NOT NULL AS is_read, t.content, t.cut, t.columns
    FROM rows AS r LEFT JOIN texts AS t ON t.rank = r.rank AND t.place = r.place
    WHERE r.rank <= least(max_groups, 20000)),
  decided AS MATERIALIZED (
    SELECT DISTINCT v.a, v.b, d.same
    FROM asked AS q
    CROSS JOIN LATERAL jsonb_to_recordset(q.grouped #> '{decisions,kept}') AS d (a text, b text, same boolean)
    CROSS JOIN LATERAL (VALUES (d.a, d.b), (d.b, d.a)) AS v (a, b)),

  -- what the letters of a case share, and what each adds
  cases AS MATERIALIZED (
    -- a passage in common is one that half of the letters have, two at least
    SELECT l.rank, l.case_id, l.size, l.outside, bool_and(l.is_repeat) AS is_later,
      min(l.key) FILTER (WHERE l.member = 1) AS first, min(l.scope) FILTER (WHERE l.member = 1) AS scope,
      max(l.distance) AS reach, min(l.day) AS since, max(l.day) AS until,
      count(*) FILTER (WHERE l.is_read) AS compared,
      min(l.content) FILTER (WHERE l.member = 1) AS content,
      CASE WHEN count(l.content) >= 2 THEN simdup_common_text(
        array_agg(l.content ORDER BY l.place) FILTER (WHERE l.content IS NOT NULL)) END AS common
    FROM letters AS l
    GROUP BY l.rank, l.case_id, l.size, l.outside),
  starts AS (
    SELECT c.*, s.start, coalesce(lag(c.content) OVER alike, lead(c.content) OVER alike) AS other
    FROM cases AS c
    CROSS JOIN LATERAL simdup_report_start(
      regexp_replace(left(c.content, 200), E'\\s+', ' ', 'g'), 90) AS s (start)
    WINDOW alike AS (PARTITION BY left(s.start, 40) ORDER BY c.rank)),
  ranked AS (
    SELECT o.*, row_number() OVER (of_case ORDER BY coalesce(length(o.adds), 0) DESC, o.place) AS turn,
      count(*) FILTER (WHERE o.content IS NOT NULL AND o.adds IS NULL) OVER of_case AS add_nothing
    FROM (
      -- OFFSET, here and below: each is made once
      SELECT l.*, c.first, c.content AS first_text, c.common,
        simdup_own_text(l.content, coalesce(c.common, '')) AS adds
      FROM letters AS l JOIN cases AS c ON c.rank = l.rank
      WHERE l.is_read
      OFFSET 0) AS o
    WINDOW of_case AS (PARTITION BY o.rank)),
  described AS (
    SELECT r.rank, r.add_nothing, jsonb_agg(jsonb_build_object(
        'key', simdup_report_start(r.key, 200), 'distance', r.distance, 'decided', d.same,
        'columns', r.columns, 'no_text', r.content IS NULL, 'cut', r.cut,
        'resemblance', round(shingle_resemblance(r.content, r.first_text, q.w, q.unit)::numeric, 4),
        'adds', simdup_report_start(r.adds, 500),
        'lacks', CASE WHEN NOT r.cut THEN simdup_report_start(simdup_own_text(r.common, r.content), 240) END,
        'numbers', simdup_report_start(simdup_own_numbers(r.content, r.first_text), 240))
      ORDER BY r.turn) AS members
    FROM asked AS q
    CROSS JOIN ranked AS r
    LEFT JOIN decided AS d ON d.a = r.first AND d.b = r.key
    WHERE r.turn <= 20
    GROUP BY r.rank, r.add_nothing),

  -- the parts of lists that fit: a page has a character beyond ASCII in six bytes
  kept_cases AS (
    SELECT coalesce(jsonb_agg(c.data ORDER BY c.rank), '[]') AS kept
    FROM (
      SELECT c.*, sum(2.5 * octet_length(c.data::text) - 1.5 * length(c.data::text))
        OVER (ORDER BY c.rank) AS bytes
      FROM (
        SELECT s.rank, jsonb_build_object('id', s.case_id, 'size', s.size, 'outside', s.outside,
            'reach', s.reach, 'first', simdup_report_start(s.first, 200), 'start', coalesce(s.start, ''),
            'differs', simdup_report_start(simdup_own_text(s.content, s.other), 90),
            'common', simdup_report_start(s.common, 2000), 'compared', s.compared,
            'add_nothing', d.add_nothing, 'members', d.members)
          || CASE WHEN q.has_scope THEN jsonb_build_object('scope', s.scope) ELSE '{}' END
          || CASE WHEN s.is_later THEN '{"is_later": true}'::jsonb ELSE '{}' END
          || CASE WHEN s.since IS NULL THEN '{}' ELSE jsonb_build_object('from', s.since, 'to', s.until) END
          AS data
        FROM asked AS q
        CROSS JOIN starts AS s
        JOIN described AS d ON d.rank = s.rank
        OFFSET 0) AS c) AS c
    WHERE c.bytes <= greatest(least(max_groups::bigint * 5000, 8000000), 1000000)),
  listed AS MATERIALIZED (
    SELECT r.serial, coalesce(r.id, r.rank) AS case_id, r.distance, simdup_report_start(r.key, 200) AS key,
      CASE WHEN q.has_content AND l.is_read
        THEN coalesce(simdup_report_start(l.content, 5000), '') END AS content
    FROM asked AS q
    CROSS JOIN rows AS r
    LEFT JOIN letters AS l ON l.place = r.place
    WHERE r.serial <= 50000),
  kept_rows AS (
    SELECT coalesce(jsonb_agg(jsonb_build_array(l.case_id, l.key, l.distance)
      || CASE WHEN l.content IS NOT NULL AND l.content_bytes <= 1000000
        THEN jsonb_build_array(l.content) ELSE '[]' END ORDER BY l.serial), '[]') AS kept
    FROM (
      SELECT l.*, sum(octet_length(l.key) + 15) OVER before AS bytes,
        sum(5 * octet_length(l.content) - 3 * length(l.content)) OVER before AS content_bytes
      FROM listed AS l
      WINDOW before AS (ORDER BY l.serial)) AS l
    WHERE l.bytes <= 500000),
  kept_pairs AS (
    SELECT coalesce(jsonb_agg(jsonb_build_array(p.a, p.b, p.distance) ORDER BY p.place), '[]') AS kept
    FROM (
      SELECT p.*, sum(octet_length(p.a) + octet_length(p.b) + 10) OVER (ORDER BY p.place) AS bytes
      FROM shown_pairs AS p
      WHERE NOT p.is_example AND p.place <= 10000) AS p
    WHERE p.bytes <= 200000),
  examples AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'a', simdup_report_start(p.a, 200), 'b', simdup_report_start(p.b, 200), 'distance', p.distance,
        'decided', d.same, 'same_text', a.content = b.content AND NOT (a.cut OR b.cut),
        'resemblance', round(shingle_resemblance(a.content, b.content, q.w, q.unit)::numeric, 4),
        'numbers_a', simdup_report_start(simdup_own_numbers(a.content, b.content), 240),
        'numbers_b', simdup_report_start(simdup_own_numbers(b.content, a.content), 240),
        'differences', simdup_report_differences(coalesce(a.content, ''), coalesce(b.content, ''))
          || CASE WHEN a.cut OR b.cut THEN '[["cut"]]'::jsonb ELSE '[]' END)
      ORDER BY p.place), '[]') AS examples
    FROM asked AS q
    CROSS JOIN shown_pairs AS p
    LEFT JOIN texts AS a ON a.rank = -p.place AND a.place = p.place_a
    LEFT JOIN texts AS b ON b.rank = -p.place AND b.place = p.place_b
    LEFT JOIN decided AS d ON d.a = p.a AND d.b = p.b
    WHERE p.is_example),

  -- figures, by scope and in all
  scopes AS MATERIALIZED (
    SELECT grouping(r.part) = 1 AS is_all, min(r.scope) AS scope, coalesce(sum(r.n), 0) AS counted,
      coalesce(sum(r.n) FILTER (WHERE r.nth = 1), 0) AS n_distinct,
      count(*) FILTER (WHERE r.nth = 1 AND r.n_same > 1) AS equal_sets,
      count(*) FILTER (WHERE r.n_same > 1) AS equal_rows, count(*) FILTER (WHERE r.member = 1) AS clusters,
      count(r.member) AS in_clusters, count(*) FILTER (WHERE r.is_repeat) AS repeats,
      coalesce(max(r.size), least(count(*), 1)) AS largest,
      coalesce(sum(r.n) FILTER (WHERE r.id IS NULL), 0) AS n_alone,
      row_number() OVER (PARTITION BY grouping(r.part) ORDER BY sum(r.n) DESC, min(r.place)) AS rank
    FROM rows AS r
    WHERE r.part IS NOT NULL
    GROUP BY GROUPING SETS ((), (r.part))),
  figures AS MATERIALIZED (
    SELECT f.*, s.*, (SELECT sum(r.n) FROM rows AS r) AS n
    FROM scopes AS f CROSS JOIN (
      SELECT count(*) AS n_scopes, coalesce(sum(s.counted * (s.counted - 1) / 2), 0) AS n_pairs,
        jsonb_agg(jsonb_build_object('scope', s.scope, 'rows', s.counted, 'repeats', s.repeats,
          'clusters', s.clusters, 'largest', s.largest) ORDER BY s.rank) FILTER (WHERE s.rank <= 100) AS kept
      FROM scopes AS s
      WHERE NOT s.is_all) AS s
    WHERE f.is_all),
  sizes_to AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object('from', s.most / 2 + 1, 'to', s.most, 'clusters', s.n)
      ORDER BY s.most), '[]') AS sizes
    FROM (
      -- the next power of two
      SELECT 1::bigint << length(ltrim((r.size - 1)::bit(40)::text, '0')) AS most, count(*) AS n
      FROM rows AS r
      WHERE r.member = 1
      GROUP BY 1) AS s),
  distances AS (
    SELECT sum(c.found[k.distance + 1]) AS n, jsonb_agg(jsonb_build_object(
      'distance', k.distance, 'pairs', c.found[k.distance + 1], 'by_chance', round((f.n_pairs
        * (c.chances[k.distance + 1] - coalesce(c.chances[k.distance], 0)))::numeric, 6))
      ORDER BY k.distance) AS distances
    FROM asked AS q
    CROSS JOIN figures AS f
    JOIN rows AS c ON c.chances IS NOT NULL
    CROSS JOIN LATERAL generate_series(0, q.max_distance) AS k (distance)),
  periods AS (
    SELECT p.unit, jsonb_agg(jsonb_build_object('from', p.first_day, 'rows', p.n, 'repeats', p.repeats)
      ORDER BY p.first_day) AS counts
    FROM (
      -- no timestamp is as early as the first days of the first month
      SELECT u.unit, CASE WHEN r.day < '4714-12-01 BC' THEN '4714-11-24 BC'
          ELSE date_trunc(u.unit, r.day::timestamp)::date END AS first_day,
        sum(r.n) AS n, count(*) FILTER (WHERE r.is_repeat) AS repeats
      FROM rows AS r
      CROSS JOIN (SELECT CASE WHEN max(r.day) - min(r.day) < 182 THEN 'week' ELSE 'month' END FROM rows AS r)
        AS u (unit)
      WHERE r.day IS NOT NULL
      GROUP BY 1, 2) AS p
    GROUP BY p.unit)

  SELECT jsonb_build_object('version', 1,
      'settings', jsonb_build_object('query', q.statement, 'max_distance', q.max_distance, 'method', q.method,
        'min_resemblance', q.min_resemblance, 'w', q.w, 'unit', q.unit, 'max_groups', max_groups,
        'groups', groups::text, 'has_content', q.has_content, 'columns', q.names),
      'counts', jsonb_build_object('rows', f.n, 'with_fingerprint', f.counted,
        'without_fingerprint', f.n - f.counted, 'distinct_fingerprints', f.n_distinct,
        'equal_sets', f.equal_sets, 'equal_rows', f.equal_rows, 'repeats', f.repeats, 'clusters', f.clusters,
        'cluster_rows', f.in_clusters, 'largest', f.largest)
        || CASE WHEN groups IS NULL THEN '{}' ELSE jsonb_build_object('without_case', f.n_alone) END,
      'sizes', z.sizes, 'distances', d.distances,
      'cases', jsonb_build_object('all', f.clusters, 'kept', k.kept),
      'rows', jsonb_build_object('all', f.in_clusters, 'kept', r.kept),
      'pairs', jsonb_build_object('all', d.n, 'kept', p.kept),
      'examples', e.examples)
    || coalesce((SELECT jsonb_build_object('periods', jsonb_build_object(
      'column', q.day_column, 'unit', t.unit, 'counts', t.counts)) FROM periods AS t), '{}')
    || CASE WHEN q.has_scope AND f.n_scopes > 0
      THEN jsonb_build_object('scopes', jsonb_build_object('all', f.n_scopes, 'kept', f.kept)) ELSE '{}' END
    || coalesce(q.grouped, '{}') || jsonb_build_object('made', jsonb_build_object(
      'at', to_char(q.started AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'seconds', round(extract(epoch FROM clock_timestamp() - q.started), 3),
      'postgresql', current_setting('server_version'), 'simdup', x.extversion))
  FROM asked AS q, figures AS f, sizes_to AS z, distances AS d, kept_cases AS k, kept_rows AS r,
    kept_pairs AS p, examples AS e, pg_extension AS x
  WHERE x.extname = 'simdup';
END;
COMMENT ON FUNCTION simdup_report(regclass, integer, text, float8, integer, text, integer, regclass) IS
  'a table''s duplicates as data: counts, cases with what each letter adds, pairs, decisions, settings';

-- Put a page together, of a source or of a ready report. Its texts call a row a letter, or by the noun. The
-- keys of texts stay. In the template, a name between two signs @ is the place of a value.
CREATE FUNCTION simdup_report_html(
  source regclass DEFAULT NULL, title text DEFAULT NULL, max_distance integer DEFAULT 8,
  method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4,
  unit text DEFAULT 'char', max_groups integer DEFAULT 200, groups regclass DEFAULT NULL,
  row_url text DEFAULT NULL, before jsonb DEFAULT NULL, lang text DEFAULT 'en',
  translations jsonb DEFAULT NULL, noun text DEFAULT NULL, report jsonb DEFAULT NULL
) RETURNS text LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000000
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
#variable_conflict error
DECLARE
  shown jsonb;
  heading text := left(title, 1000);
  language text := coalesce(lang, 'en');
  style text;
  script text;
  texts text;
  quoted text := to_json(left(nullif(btrim(noun), ''), 100));
  one text;
  many text;
  given jsonb := CASE WHEN jsonb_typeof(translations) = 'object' THEN translations ELSE '{}' END;
  c record;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  style := @extschema@.simdup_report_file(1);
  script := @extschema@.simdup_report_file(2);
  texts := @extschema@.simdup_report_file(3);
  one := @extschema@.simdup_report_ascii(substr(quoted, 2, length(quoted) - 2), false);
  many := CASE WHEN one ~ '[^aeiou]y$' THEN left(one, -1) || 'ies'
    WHEN one ~ '(s|x|z|ch|sh)$' THEN one || 'es' ELSE one || 's' END;
  IF title IS NULL OR num_nonnulls(source, report) <> 1 THEN
    RAISE EXCEPTION 'a page needs a title, and a source or a report'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The title is %L, the source is %L, and %s report is given.', heading, source,
          CASE WHEN report IS NULL THEN 'no' ELSE 'a' END),
        HINT = 'Write simdup_report_html(''letter'', ''Letters'').';
  END IF;
  SELECT v.* INTO c
  FROM (VALUES
    (report IS NOT NULL AND jsonb_typeof(report #> '{counts,rows}') IS DISTINCT FROM 'number'
        OR EXISTS (SELECT FROM jsonb_each_text(report -> 'decide') AS d
          WHERE d.value !~ '^((^|\.)([a-z_][a-z0-9_]*|"([^"]|"")+"))+$'
            OR d.key = 'decide' AND d.value <> '@extschema@.simdup_decide'),
      'argument "report" is not a report', left(report::text, 99), 'A report is what simdup_report returns.'),
    (position('%s' IN row_url) = 0, 'row_url has no place for the key', row_url,
      'Write %s where the key belongs: https://city.example/letters/%s'),
    (row_url ~ '[\x01-\x20\x7f]', 'row_url must not contain blanks or control characters', row_url,
      'Write %20 for a blank.'),
    (lower((regexp_match(row_url, '^([^:/?#]*):'))[1]) NOT IN ('http', 'https'),
      'row_url must begin with http:, https: or a path', row_url,
      'Write https://city.example/letters/%s or /letters/%s.'),
    (language !~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', 'invalid language', language,
      'Write a language tag, such as "en" or "zh-CN".'),
    (language !~* '^(en|zh)(-|$)' AND given = '{}', 'there are no texts in this language', language,
      'There are texts in "en" and "zh". The argument translations can give others.'),
    (jsonb_typeof(translations) <> 'object', 'translations is not a JSON object', translations::text,
      'Write {"case": "Fall {1}"}.')) AS v (is_wrong, message, value, hint)
  WHERE v.is_wrong
  UNION ALL
  SELECT true,
    CASE WHEN jsonb_typeof(t.value) = 'string' THEN 'a page has no such text'
      ELSE 'translation is not a string' END,
    t.key, 'A page has its texts by key in its script element "texts".'
  FROM jsonb_each(given) AS t
  WHERE jsonb_typeof(t.value) <> 'string' OR t.key !~ '^[a-z_]+$'
    OR position(format('"%s": [', t.key) IN texts) = 0
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = c.message,
      DETAIL = format('The value given is "%s".', c.value), HINT = c.hint;
  END IF;
  IF one IS NOT NULL THEN
    -- mark all places first: a noun may have these words itself
    texts := regexp_replace(replace(texts, '\u5c01', '\u4efd'), '\mletters\M(?!":)', E'\x01', 'g');
    texts := regexp_replace(texts, '\mLetters\M', E'\x02', 'g');
    texts := regexp_replace(texts, '\mletter\M|\\u4fe1(\\u4ef6)?', E'\x03', 'g');
    texts := replace(replace(replace(texts, E'\x01', many),
      E'\x02', upper(left(many, 1)) || substr(many, 2)), E'\x03', one);
  END IF;
  shown := coalesce(report, @extschema@.simdup_report(source, max_distance, method, min_resemblance, w, unit,
    max_groups, groups));
  RETURN (
    SELECT string_agg(CASE
        WHEN p.place % 2 = 1 THEN p.name
        WHEN p.name = 'lang' THEN language
        WHEN p.name = 'title' THEN @extschema@.simdup_report_ascii(heading, true)
        WHEN p.name = 'style' THEN style
        WHEN p.name = 'script' THEN script
        WHEN p.name = 'style_hash' THEN 'sha256-' || encode(sha256(convert_to(style, 'UTF8')), 'base64')
        WHEN p.name = 'script_hash' THEN 'sha256-' || encode(sha256(convert_to(script, 'UTF8')), 'base64')
        WHEN p.name = 'texts' THEN texts
        WHEN p.name = 'data' THEN @extschema@.simdup_report_ascii(jsonb_build_object('report', shown,
          'title', heading, 'row_url', row_url, 'before', coalesce(before -> 'counts', before),
          'lang', language, 'translations', translations)::text, false)
        WHEN p.name ~ '^n_'
          THEN to_char((shown -> 'counts' ->> substr(p.name, 3))::numeric, 'FM999,999,999,990')
        ELSE coalesce(@extschema@.simdup_report_ascii(given ->> p.name, true),
          -- what is not ASCII is "\u1234" in the file
          regexp_replace(@extschema@.simdup_report_ascii(
            (regexp_match(texts, format('"%s": \["(.*?)", "(.*?)"\]', p.name)))[
              CASE WHEN language ~* '^zh(-|$)' THEN 2 ELSE 1 END], true), '\\u([0-9a-f]{4})', '&#x\1;', 'g'))
        END, '' ORDER BY p.place)
    FROM regexp_split_to_table(@extschema@.simdup_report_file(0), '@') WITH ORDINALITY AS p (name, place));
END $$;
COMMENT ON FUNCTION simdup_report_html(regclass, text, integer, text, float8, integer, text, integer,
  regclass, text, jsonb, text, jsonb, text, jsonb) IS
  'a source''s duplicates, or a report of simdup_report, as one HTML page';
