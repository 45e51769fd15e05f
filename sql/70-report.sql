
--
-- report: what a table holds, as data and as a page for a browser
--

-- What C finds in one reading of the query, as rows of these parts:
--   count      key, n
--   column     its name (key), whether it has the dates (n)
--   content    the query has such a column
--   size       cases (n) of sizes up to a power of two (place), above the power before
--   scope      cases (place), rows (n), repeats (m), the largest case (x), name (key)
--   day        days from 2000-01-01 (place), rows (n), repeats (m); a day may come twice
--   distance   the distance (place), pairs (n), pairs by chance (x)
--   pair       distance (n), the two keys
--   example    as pair, with texts
--   case       id (n), size (m), reach (x), first key (key), scope (other)
--   more       as case, for a case that is only listed
--   dates      of a case: first day (n), last day (m)
--   member     distance (n), whether the text goes on (m), order (x), key, further columns (other), text (a)
--   row        as member, for a row that is only listed
CREATE FUNCTION simdup_report_rows(
  query text, max_distance integer, method text, min_resemblance float8, w integer, unit text, params text[],
  max_groups integer,
  OUT part text, OUT place bigint, OUT n bigint, OUT m bigint, OUT x float8, OUT key text, OUT other text,
  OUT a text, OUT b text
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000000;
COMMENT ON FUNCTION simdup_report_rows(text, integer, text, float8, integer, text, text[], integer) IS
  'implementation of simdup_report: the figures, cases and pairs of a query, read once';

CREATE FUNCTION simdup_report_differences(
  a text, b text, OUT same boolean, OUT in_a text, OUT in_b text, OUT n_more bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 100;
COMMENT ON FUNCTION simdup_report_differences(text, text) IS
  'implementation of simdup_report: what two texts share and where they differ, in order';

-- The first n characters of a text, without a part of a word at their end.
CREATE FUNCTION simdup_report_start(content text, n integer) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN length(content) > n
    THEN regexp_replace(left(content, n), '\s+\S{0,20}$', '') || ' ...' ELSE content END;
COMMENT ON FUNCTION simdup_report_start(text, integer) IS
  'implementation of simdup_report: the first characters of a text';

-- Two texts as one: ["=", text] in both, ["-", text] in the first, ["+", text] in the second.
-- A number after a text counts the characters left out. ["~", n]: n characters in both.
-- ["more", n]: n differences that follow. Texts are cut, as samples of rows are, before they are
-- trimmed: nothing can interrupt btrim.
CREATE FUNCTION simdup_report_spans(a text, b text) RETURNS jsonb
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH passages AS (
    SELECT row_number() OVER () AS place, d.*, length(d.in_a) AS n_a, length(d.in_b) AS n_b,
      CASE WHEN d.same THEN least(length(d.in_b), 149)
        ELSE least(length(d.in_a), 240) + least(length(d.in_b), 240) END AS n_shown
    FROM simdup_report_differences(
      btrim(left(a, 1048576), E' \t\r\n'), btrim(left(b, 1048576), E' \t\r\n')) AS d),
  measured AS (
    SELECT p.*, sum(p.n_shown) OVER (ORDER BY p.place) - p.n_shown AS n_before
    FROM passages AS p),
  shown AS (
    SELECT m.*, m.place = max(m.place) OVER () AS is_last
    FROM measured AS m
    WHERE m.n_before < 800)
  SELECT jsonb_agg(v.span ORDER BY s.place, v.k)
  FROM shown AS s CROSS JOIN LATERAL (VALUES
    (1, s.same AND s.n_b < 150, jsonb_build_array('=', s.in_b)),
    (2, s.same AND s.n_b >= 150, jsonb_build_array('=', left(s.in_b, 60))),
    (3, s.same AND s.n_b >= 150, jsonb_build_array('~', s.n_b - 120)),
    (4, s.same AND s.n_b >= 150, jsonb_build_array('=', right(s.in_b, 60))),
    (5, NOT s.same AND s.n_a > 0, jsonb_build_array('-', left(s.in_a, 240))
      || CASE WHEN s.n_a > 240 THEN jsonb_build_array(s.n_a - 240) ELSE '[]' END),
    (6, NOT s.same AND s.n_b > 0, jsonb_build_array('+', left(s.in_b, 240))
      || CASE WHEN s.n_b > 240 THEN jsonb_build_array(s.n_b - 240) ELSE '[]' END),
    (7, s.is_last AND s.n_more > 0, jsonb_build_array('more', s.n_more))) AS v (k, is_there, span)
  WHERE v.is_there;
END;
COMMENT ON FUNCTION simdup_report_spans(text, text) IS
  'implementation of simdup_report: two texts as one, with what differs marked';

-- The query and the options of a report. Of a grouping, the options are its settings, and the
-- query gets a column with the ids, 0 for none.
CREATE FUNCTION simdup_report_source(
  groups regclass, INOUT query text, INOUT max_distance integer, INOUT method text,
  INOUT min_resemblance float8, INOUT w integer, INOUT unit text,
  OUT started timestamptz, OUT asked text, OUT members text, OUT key_type text, OUT decisions jsonb
) LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict use_column
DECLARE
  g record;
BEGIN
  started := clock_timestamp();
  asked := query;
  IF groups IS NULL THEN
    RETURN;
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, true) AS x;
  members := g.members;
  key_type := g.keys_of;
  EXECUTE format('SELECT s.max_distance, s.method, s.min_resemblance, s.w, s.unit FROM %s AS s', g.settings)
    INTO STRICT max_distance, method, min_resemblance, w, unit;
  query := format($query$
    SELECT q.*, coalesce((SELECT m.id FROM %s AS m WHERE m.key %s (q.simdup_key)::%s), 0) AS simdup_group
    FROM (%s
    ) AS q (simdup_key, simdup_fp)
    $query$, g.members, g.same_key, g.keys_of, rtrim(query, E' \t\r\n;'));
  EXECUTE format($query$
    SELECT jsonb_build_object('all', count(*), 'kept', coalesce(
      jsonb_agg(jsonb_build_object('a', format('%%s', d.a), 'b', format('%%s', d.b), 'same', d.same,
          'note', d.note, 'by', d.by::text, 'at', to_char(d.at, 'YYYY-MM-DD HH24:MI'))
        ORDER BY d.place) FILTER (WHERE d.place <= 5000), '[]'))
    FROM (SELECT *, row_number() OVER (ORDER BY at DESC, a, b) AS place FROM %s) AS d
    $query$, g.decisions)
    INTO STRICT decisions;
END $$;
COMMENT ON FUNCTION simdup_report_source(regclass, text, integer, text, float8, integer, text) IS
  'implementation of simdup_report: the query and the options, those of a grouping where there is one';

-- The sizes of groups, whether or not their rows are in the query.
CREATE FUNCTION simdup_report_sizes(members regclass, ids bigint[], OUT id bigint, OUT size bigint)
  RETURNS SETOF record LANGUAGE plpgsql STABLE STRICT PARALLEL UNSAFE ROWS 200
  SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT m.id, count(*) FROM %s AS m WHERE m.id = ANY ($1) GROUP BY m.id',
    members) USING ids;
END $$;
COMMENT ON FUNCTION simdup_report_sizes(regclass, bigint[]) IS
  'implementation of simdup_report: the sizes of groups of a grouping';

-- Without jit: to compile this statement takes longer than to run it.
CREATE FUNCTION simdup_report(
  query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  params text[] DEFAULT '{}', max_groups integer DEFAULT 200, groups regclass DEFAULT NULL
) RETURNS jsonb LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000000 SET jit = off
BEGIN ATOMIC
  WITH source AS MATERIALIZED (
    SELECT s.*
    FROM simdup_report_source(groups, query, max_distance, method,
      min_resemblance, w, unit) AS s
    WHERE query IS NOT NULL),
  found AS MATERIALIZED (
    SELECT r.*
    FROM source AS s CROSS JOIN LATERAL simdup_report_rows(s.query, s.max_distance, s.method,
      s.min_resemblance, s.w, s.unit, params, max_groups) AS r),

  -- figures
  counts AS (
    SELECT jsonb_object_agg(f.key, f.n) FILTER (WHERE f.part = 'count') AS counts,
      bool_or(f.part = 'content') AS has_content, bool_or(f.part = 'scope') AS has_scope,
      coalesce(jsonb_agg(f.key ORDER BY f.place) FILTER (WHERE f.part = 'column'), '[]') AS columns,
      min(f.key) FILTER (WHERE f.part = 'column' AND f.n = 1) AS day_column,
      sum(f.n) FILTER (WHERE f.part = 'distance') AS n_pairs,
      jsonb_agg(jsonb_build_object('distance', f.place, 'pairs', f.n, 'by_chance', round(f.x::numeric, 6))
        ORDER BY f.place) FILTER (WHERE f.part = 'distance') AS distances,
      coalesce(jsonb_agg(jsonb_build_object('from', f.place / 2 + 1, 'to', f.place, 'clusters', f.n)
        ORDER BY f.place) FILTER (WHERE f.part = 'size'), '[]') AS sizes
    FROM found AS f
    WHERE f.part IN ('count', 'content', 'scope', 'column', 'distance', 'size')
    HAVING count(*) > 0),
  days AS (
    SELECT date '2000-01-01' + f.place::integer AS day, f.n, f.m,
      CASE WHEN max(f.place) OVER () - min(f.place) OVER () < 182 THEN 'week' ELSE 'month' END AS unit
    FROM found AS f
    WHERE f.part = 'day'),
  periods AS (
    SELECT min(p.unit) AS unit, jsonb_agg(
      jsonb_build_object('from', p.first_day, 'rows', p.n, 'repeats', p.m) ORDER BY p.first_day) AS counts
    FROM (
      SELECT d.unit, date_trunc(d.unit, d.day::timestamp)::date AS first_day, sum(d.n) AS n, sum(d.m) AS m
      FROM days AS d
      GROUP BY 1, 2) AS p),
  scopes AS (
    SELECT count(*) AS n, jsonb_agg(
      jsonb_build_object('scope', s.key, 'rows', s.n, 'repeats', s.m, 'clusters', s.place, 'largest', s.x)
      ORDER BY s.rank) FILTER (WHERE s.rank <= 100) AS kept
    FROM (
      SELECT f.*, row_number() OVER (ORDER BY f.n DESC, f.key) AS rank
      FROM found AS f
      WHERE f.part = 'scope') AS s),

  -- the cases: what their letters share, and what each adds
  decided AS MATERIALIZED (
    SELECT DISTINCT v.a, v.b, d.same
    FROM source AS s
    CROSS JOIN LATERAL jsonb_to_recordset(s.decisions -> 'kept') AS d (a text, b text, same boolean)
    CROSS JOIN LATERAL (VALUES (d.a, d.b), (d.b, d.a)) AS v (a, b)),
  letters AS MATERIALIZED (
    SELECT f.place, f.x, f.key, f.n AS distance, f.m > 0 AS cut, f.other AS columns,
      nullif(btrim(f.a, E' \t\r\n'), '') AS content
    FROM found AS f
    WHERE f.part = 'member'),
  commons AS MATERIALIZED (
    -- a passage in common is one that half of the letters have, two at least
    SELECT l.place, count(*) AS compared, CASE WHEN count(l.content) >= 2 THEN simdup_common_text(
      array_agg(l.content ORDER BY l.x) FILTER (WHERE l.content IS NOT NULL),
      greatest(0.5, 2.0 / count(l.content))) END AS common
    FROM letters AS l
    GROUP BY l.place),
  firsts AS (
    SELECT f.*, lag(f.content) OVER alike AS earlier, lead(f.content) OVER alike AS later
    FROM (
      SELECT l.place, l.key, l.content,
        simdup_report_start(regexp_replace(left(l.content, 200), '\s+', ' ', 'g'), 90) AS start
      FROM letters AS l
      WHERE l.x = 0) AS f
    WINDOW alike AS (PARTITION BY left(f.start, 40) ORDER BY f.place)),
  compared AS MATERIALIZED (
    SELECT l.*, c.common, f.key AS first, f.content AS first_content,
      simdup_own_text(l.content, coalesce(c.common, '')) AS adds
    FROM letters AS l
    JOIN commons AS c ON c.place = l.place
    JOIN firsts AS f ON f.place = l.place),
  ranked AS (
    SELECT c.*,
      row_number() OVER (PARTITION BY c.place ORDER BY coalesce(length(c.adds), 0) DESC, c.x) AS rank
    FROM compared AS c),
  members AS MATERIALIZED (
    SELECT r.place, count(*) FILTER (WHERE r.adds IS NULL AND r.content IS NOT NULL) AS add_nothing,
      jsonb_agg(jsonb_build_object(
          'key', r.key, 'distance', r.distance, 'decided', d.same, 'columns', r.columns::jsonb,
          'resemblance', round(shingle_resemblance(r.content, r.first_content, s.w, s.unit)::numeric, 4),
          'no_text', r.content IS NULL, 'cut', r.cut, 'adds', simdup_report_start(r.adds, 500),
          'lacks', CASE WHEN NOT r.cut
            THEN simdup_report_start(simdup_own_text(r.common, r.content), 240) END,
          'numbers', simdup_report_start(simdup_own_numbers(r.content, r.first_content), 240))
        ORDER BY r.rank) FILTER (WHERE r.rank <= 20) AS members
    FROM source AS s
    CROSS JOIN ranked AS r
    LEFT JOIN decided AS d ON r.rank <= 20 AND d.a = r.first AND d.b = r.key
    GROUP BY r.place),
  outside AS MATERIALIZED (
    SELECT o.*
    FROM source AS s CROSS JOIN LATERAL simdup_report_sizes(groups,
      (SELECT array_agg(f.n) FROM found AS f WHERE f.part = 'case')) AS o),
  cases AS MATERIALIZED (
    SELECT f.place, jsonb_build_object(
        'id', f.n, 'size', f.m, 'outside', coalesce(o.size - f.m, 0), 'reach', f.x, 'first', f.key,
        'start', coalesce(t.start, ''),
        'differs', simdup_report_start(simdup_own_text(t.content, coalesce(t.earlier, t.later)), 90),
        'common', simdup_report_start(c.common, 2000), 'compared', c.compared,
        'add_nothing', m.add_nothing, 'members', m.members)
      || CASE WHEN n.has_scope THEN jsonb_build_object('scope', f.other) ELSE '{}' END
      || CASE WHEN d.place IS NULL THEN '{}' ELSE jsonb_build_object(
        'from', date '2000-01-01' + d.n::integer, 'to', date '2000-01-01' + d.m::integer) END AS data
    FROM counts AS n
    CROSS JOIN found AS f
    JOIN commons AS c ON c.place = f.place
    JOIN firsts AS t ON t.place = f.place
    JOIN members AS m ON m.place = f.place
    LEFT JOIN outside AS o ON o.id = f.n
    LEFT JOIN found AS d ON d.part = 'dates' AND d.place = f.place
    WHERE f.part = 'case'),
  kept_cases AS (
    SELECT coalesce(jsonb_agg(c.data ORDER BY c.place), '[]') AS kept
    FROM (
      -- a page has a character beyond ASCII in six bytes
      SELECT c.*, sum(2.5 * octet_length(c.data::text) - 1.5 * length(c.data::text))
        OVER (ORDER BY c.place) AS bytes
      FROM cases AS c) AS c
    WHERE c.bytes <= greatest(least(max_groups::bigint * 5000, 8000000), 1000000)),

  -- lists of rows and pairs
  listed AS (
    SELECT f.place, f.x, jsonb_build_array(c.n, f.key, f.n) AS data,
      CASE WHEN f.part = 'member' THEN coalesce(simdup_report_start(f.a, 5000), '') END AS content
    FROM found AS f
    JOIN found AS c ON c.part IN ('case', 'more') AND c.place = f.place
    WHERE f.part IN ('member', 'row')),
  measured AS (
    SELECT l.*, row_number() OVER before AS n, sum(octet_length(l.data::text)) OVER before AS bytes,
      sum(2.5 * octet_length(l.content) - 1.5 * length(l.content)) OVER before AS content_bytes
    FROM listed AS l
    WINDOW before AS (ORDER BY l.place, l.x)),
  kept_rows AS (
    SELECT coalesce(jsonb_agg(
      CASE WHEN c.has_content AND m.content_bytes <= 500000 AND m.content IS NOT NULL
        THEN m.data || jsonb_build_array(m.content) ELSE m.data END ORDER BY m.n), '[]') AS kept
    FROM measured AS m CROSS JOIN counts AS c
    WHERE m.n <= 50000 AND m.bytes <= 500000),
  kept_pairs AS (
    SELECT coalesce(jsonb_agg(jsonb_build_array(p.key, p.other, p.n) ORDER BY p.place), '[]') AS kept
    FROM (
      SELECT f.*, sum(octet_length(f.key) + octet_length(f.other) + 10) OVER (ORDER BY f.place) AS bytes
      FROM found AS f
      WHERE f.part = 'pair') AS p
    WHERE p.bytes <= 200000),
  examples AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'a', e.key, 'b', e.other, 'distance', e.n, 'decided', d.same, 'same_text', e.a = e.b AND e.m = 0,
        'resemblance', round(shingle_resemblance(e.a, e.b, s.w, s.unit)::numeric, 4),
        'numbers_a', simdup_report_start(simdup_own_numbers(e.a, e.b), 240),
        'numbers_b', simdup_report_start(simdup_own_numbers(e.b, e.a), 240),
        'differences', simdup_report_spans(coalesce(e.a, ''), coalesce(e.b, ''))
          || CASE WHEN e.m > 0 THEN '[["cut"]]'::jsonb ELSE '[]' END)
      ORDER BY e.n, e.place), '[]') AS examples
    FROM source AS s
    CROSS JOIN found AS e
    LEFT JOIN decided AS d ON d.a = e.key AND d.b = e.other
    WHERE e.part = 'example'),
  questions AS (
    SELECT coalesce(jsonb_agg(to_jsonb(q) - '{content_a,content_b,own_a,own_b}'::text[]
        || jsonb_build_object('differences', simdup_report_spans(q.content_a, q.content_b))
      ORDER BY q.ordinality), '[]') AS questions
    FROM source AS s CROSS JOIN LATERAL simdup_review(groups, 50) WITH ORDINALITY AS q
    WHERE s.members IS NOT NULL AND q.decides > 0)

  SELECT jsonb_build_object('version', 1,
      'settings', jsonb_build_object('query', s.asked, 'max_distance', s.max_distance, 'method', s.method,
        'min_resemblance', s.min_resemblance, 'w', s.w, 'unit', s.unit, 'max_groups', max_groups,
        'groups', s.members, 'has_content', c.has_content, 'columns', c.columns),
      'counts', c.counts, 'sizes', c.sizes, 'distances', c.distances,
      'cases', jsonb_build_object('all', c.counts -> 'clusters', 'kept', k.kept),
      'rows', jsonb_build_object('all', c.counts -> 'cluster_rows', 'kept', r.kept),
      'pairs', jsonb_build_object('all', c.n_pairs, 'kept', p.kept),
      'examples', e.examples)
    || CASE WHEN t.unit IS NULL THEN '{}' ELSE jsonb_build_object('periods',
      jsonb_build_object('column', c.day_column, 'unit', t.unit, 'counts', t.counts)) END
    || CASE WHEN o.n = 0 THEN '{}' ELSE jsonb_build_object('scopes',
      jsonb_build_object('all', o.n, 'kept', o.kept)) END
    || CASE WHEN s.members IS NULL THEN '{}' ELSE jsonb_build_object(
      'decisions', s.decisions, 'questions', q.questions, 'decide', jsonb_build_object(
        'key_type', s.key_type, 'decide', format('%s.simdup_decide', x.extnamespace::regnamespace))) END
    || jsonb_build_object('made', jsonb_build_object(
      'at', to_char(s.started AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'seconds', round(extract(epoch FROM clock_timestamp() - s.started), 3),
      'postgresql', current_setting('server_version'), 'simdup', x.extversion))
  FROM source AS s, counts AS c, periods AS t, scopes AS o, kept_cases AS k, kept_rows AS r, kept_pairs AS p,
    examples AS e, questions AS q, pg_extension AS x
  WHERE x.extname = 'simdup';
END;
COMMENT ON FUNCTION simdup_report(text, integer, text, float8, integer, text, text[], integer, regclass) IS
  'a table''s duplicates as data: counts, cases with what each letter adds, pairs, decisions, settings';

-- The page's files, from 0: template, style sheet, script, texts.
CREATE FUNCTION simdup_report_file(n integer) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_report_file(integer) IS
  'implementation of simdup_report_html: the template, the style sheet, the script and the texts of the page';

CREATE FUNCTION simdup_report_ascii(value text, html boolean) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_report_ascii(text, boolean) IS
  'implementation of simdup_report_html: a text in ASCII, escaped for HTML or for JSON in a script element';

-- A text of the page as HTML.
CREATE FUNCTION simdup_report_text(texts text, key text, lang text, translations jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce(simdup_report_ascii(translations ->> key, true),
    -- what is not ASCII is "\u1234" in the file
    regexp_replace(simdup_report_ascii((regexp_match(texts, format('"%s": \["(.*?)", "(.*?)"\]', key)))[
      CASE WHEN lang ~* '^zh(-|$)' THEN 2 ELSE 1 END], true), '\\u([0-9a-f]{4})', '&#x\1;', 'g'));
COMMENT ON FUNCTION simdup_report_text(text, text, text, jsonb) IS
  'implementation of simdup_report_html: a text of the page as HTML';

-- Check what a page is made with, and return the same.
CREATE FUNCTION simdup_report_page(report jsonb, title text, row_url text, before jsonb, lang text,
  translations jsonb, texts text)
  RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given jsonb := CASE WHEN jsonb_typeof(translations) = 'object' THEN translations ELSE '{}' END;
  unknown text := (SELECT min(k) FROM jsonb_object_keys(given) AS k
    WHERE k !~ '^[a-z_]+$' OR position(format('"%s": [', k) IN texts) = 0);
  no_text text := (SELECT min(t.key) FROM jsonb_each(given) AS t WHERE jsonb_typeof(t.value) <> 'string');
  c record;
BEGIN
  SELECT v.* INTO c
  FROM (VALUES
    (jsonb_typeof(report #> '{counts,rows}') IS DISTINCT FROM 'number', 'argument "report" is not a report',
      'It has no number of rows.', 'A report is what simdup_report returns.'),
    (position('%s' IN row_url) = 0, 'row_url has no place for the key',
      format('The template given is "%s".', row_url),
      'Write %s where the key belongs: https://city.example/letters/%s'),
    (row_url ~ '[\x01-\x20\x7f]', 'row_url must not contain blanks or control characters',
      format('The template given is "%s".', row_url), 'Write %20 for a blank.'),
    (lower((regexp_match(row_url, '^([^:/?#]*):'))[1]) NOT IN ('http', 'https'),
      'row_url must begin with http:, https: or a path', format('The template given is "%s".', row_url),
      'Write https://city.example/letters/%s or /letters/%s.'),
    (lang !~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', 'invalid language',
      format('The language given is "%s".', lang), 'Write a language tag, such as "en" or "zh-CN".'),
    (jsonb_typeof(translations) <> 'object', 'translations is not a JSON object',
      format('It is of type %s.', jsonb_typeof(translations)), 'Write {"case": "Fall {1}"}.'),
    (unknown IS NOT NULL, 'a page has no such text', format('The key given is "%s".', unknown),
      'Each page has its texts by key in the script element "texts".'),
    (no_text IS NOT NULL, 'translation is not a string', format('The key given is "%s".', no_text),
      'Write {"case": "Fall {1}"}.')) AS v (is_wrong, message, detail, hint)
  WHERE v.is_wrong
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
      MESSAGE = c.message, DETAIL = c.detail, HINT = c.hint;
  END IF;
  RETURN jsonb_build_object('report', report, 'title', title, 'row_url', row_url,
    'before', coalesce(before -> 'counts', before), 'lang', lang, 'translations', translations);
END $$;
COMMENT ON FUNCTION simdup_report_page(jsonb, text, text, jsonb, text, jsonb, text) IS
  'implementation of simdup_report_html: the data of a page, checked';

CREATE FUNCTION simdup_report_html(
  report jsonb, title text, row_url text DEFAULT NULL, before jsonb DEFAULT NULL, lang text DEFAULT 'en',
  translations jsonb DEFAULT NULL
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 100000 SET jit = off
BEGIN ATOMIC
  WITH files AS MATERIALIZED (
    SELECT simdup_report_file(0) AS template, simdup_report_file(1) AS style, simdup_report_file(2) AS script,
      simdup_report_file(3) AS texts, coalesce(lang, 'en') AS lang, left(title, 1000) AS title),
  places AS MATERIALIZED (
    -- the names between two signs @ of the template, each with its value
    SELECT p.place, CASE
        WHEN p.place % 2 = 1 THEN p.name
        WHEN p.name = 'lang' THEN f.lang
        WHEN p.name = 'title' THEN simdup_report_ascii(f.title, true)
        WHEN p.name = 'style' THEN f.style
        WHEN p.name = 'script' THEN f.script
        WHEN p.name = 'style_hash' THEN 'sha256-' || encode(sha256(convert_to(f.style, 'UTF8')), 'base64')
        WHEN p.name = 'script_hash' THEN 'sha256-' || encode(sha256(convert_to(f.script, 'UTF8')), 'base64')
        WHEN p.name = 'texts' THEN f.texts
        WHEN p.name = 'data' THEN simdup_report_ascii(simdup_report_page(report, f.title, row_url, before,
          f.lang, translations, f.texts)::text, false)
        WHEN p.name ~ '^n_'
          THEN to_char((report -> 'counts' ->> substr(p.name, 3))::numeric, 'FM999,999,999,990')
        ELSE simdup_report_text(f.texts, p.name, f.lang, translations) END AS value
    FROM files AS f
    CROSS JOIN LATERAL regexp_split_to_table(f.template, '@') WITH ORDINALITY AS p (name, place))
  SELECT string_agg(p.value, '' ORDER BY p.place)
  FROM places AS p
  WHERE report IS NOT NULL AND title IS NOT NULL;
END;
COMMENT ON FUNCTION simdup_report_html(jsonb, text, text, jsonb, text, jsonb) IS
  'a report of simdup_report as one HTML page: cases, what each letter adds, pairs, decisions';

CREATE FUNCTION simdup_report_html(
  query text, title text, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  params text[] DEFAULT '{}', max_groups integer DEFAULT 200, groups regclass DEFAULT NULL,
  row_url text DEFAULT NULL, before jsonb DEFAULT NULL, lang text DEFAULT 'en',
  translations jsonb DEFAULT NULL
) RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000000
  RETURN simdup_report_html(
    simdup_report(query, max_distance, method, min_resemblance, w, unit, params, max_groups, groups),
    title, row_url, before, lang, translations);
COMMENT ON FUNCTION simdup_report_html(text, text, integer, text, float8, integer, text, text[], integer,
  regclass, text, jsonb, text, jsonb) IS 'simdup_report of a query as one HTML page';
