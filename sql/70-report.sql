
--
-- report: the duplicates of a table, as data and as a page for a browser
--

-- Items of lists, by the name of the list, and the rows that are shown or listed. A cluster has a rank, an
-- example a negative one. A row that is listed alone has no member. The first one has the case as data.
CREATE FUNCTION simdup_report_rows(
  source regclass, groups regclass, max_distance integer, method text, min_resemblance float8, w integer,
  unit text, max_groups integer, columns name[],
  OUT list text, OUT data jsonb, OUT rank bigint, OUT member bigint, OUT serial bigint, OUT key text,
  OUT distance integer, OUT case_id bigint
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 100000 ROWS 10000;
CREATE FUNCTION simdup_report_differences(a text, b text) RETURNS jsonb
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
CREATE FUNCTION simdup_report_ascii(value text, form text) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION
  simdup_report_rows(regclass, regclass, integer, text, float8, integer, text, integer, name[]) IS
  'implementation of simdup_report: the figures of a source, and the rows that are shown';
COMMENT ON FUNCTION simdup_report_differences(text, text) IS
  'implementation of simdup_report: two texts as one, with what differs marked';
COMMENT ON FUNCTION simdup_report_ascii(text, text) IS
  'implementation of simdup_report_html: a text in ASCII for html or json, or a file of the page';

-- Check the options, and complete them. A grouping has options of its own, and decisions.
CREATE FUNCTION simdup_report_options(
  source regclass, groups regclass, INOUT max_distance integer, INOUT method text,
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
COMMENT ON FUNCTION simdup_report_options(regclass, regclass, integer, text, float8, integer, text) IS
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
    FROM simdup_report_options(source, groups, max_distance, method, min_resemblance, w, unit) AS a
    WHERE source IS NOT NULL),
  rows AS MATERIALIZED (
    SELECT r.*
    FROM asked AS q CROSS JOIN LATERAL simdup_report_rows(source, groups, q.max_distance, q.method,
      CASE WHEN groups IS NULL THEN q.min_resemblance END, q.w, q.unit, max_groups, q.columns)
      WITH ORDINALITY AS r),
  lists AS (
    SELECT '{"sizes": [], "pairs": []}' || jsonb_object_agg(l.list, l.kept) AS of
    FROM (
      SELECT r.list, jsonb_agg(r.data ORDER BY r.ordinality) AS kept
      FROM rows AS r WHERE r.list IS NOT NULL GROUP BY r.list) AS l),

  letters AS MATERIALIZED (
    -- of more than 4 MB for one rank, two texts at least
    SELECT r.*, t.rank IS NOT NULL AS is_read, nullif(btrim(t.start, E' \t\r\n'), '') AS content,
      coalesce(octet_length(t.start) < octet_length(t.content), false) AS cut, t.columns
    FROM rows AS r
    LEFT JOIN (
      SELECT t.*, row_number() OVER before AS n,
        CASE WHEN octet_length(t.content) > 1048576 THEN left(t.content, 1048576) ELSE t.content END AS start,
        sum(octet_length(t.content)) OVER before - octet_length(t.content) AS bytes
      FROM (
        SELECT DISTINCT ON (r.rank, r.member) r.rank, r.member, s.content, s.columns
        FROM rows AS r
        JOIN simdup_source_rows(source, (SELECT q.columns FROM asked AS q),
          ARRAY(SELECT r.key FROM rows AS r WHERE r.member > 0), (SELECT q.names FROM asked AS q)) AS s
          ON s.key = r.key
        WHERE r.member IS NOT NULL
        ORDER BY r.rank, r.member, s.content, s.columns) AS t
      WINDOW before AS (PARTITION BY t.rank ORDER BY t.member)) AS t
      ON t.rank = r.rank AND t.member = r.member AND (t.n <= 2 OR t.bytes < 4194304 OR t.content IS NULL)
    WHERE r.list IS NULL),
  decided AS MATERIALIZED (
    SELECT DISTINCT v.a, v.b, d.same
    FROM asked AS q
    CROSS JOIN LATERAL jsonb_to_recordset(q.grouped #> '{decisions,kept}') AS d (a text, b text, same boolean)
    CROSS JOIN LATERAL (VALUES (d.a, d.b), (d.b, d.a)) AS v (a, b)),

  -- the passages that the letters of a case share, and each letter's own
  cases AS MATERIALIZED (
    -- a passage in common is one that half of the letters have, two at least
    SELECT l.rank, jsonb_agg(l.data) FILTER (WHERE l.member = 1) -> 0 AS data,
      min(l.key) FILTER (WHERE l.member = 1) AS first, count(*) FILTER (WHERE l.is_read) AS compared,
      min(l.content) FILTER (WHERE l.member = 1) AS content,
      CASE WHEN count(l.content) >= 2 THEN simdup_common_text(
        array_agg(l.content ORDER BY l.member) FILTER (WHERE l.content IS NOT NULL)) END AS common
    FROM letters AS l
    WHERE l.rank > 0 AND l.member IS NOT NULL
    GROUP BY l.rank),
  starts AS (
    SELECT c.*, s.start, coalesce(lag(c.content) OVER alike, lead(c.content) OVER alike) AS other
    FROM cases AS c
    CROSS JOIN LATERAL simdup_report_start(
      regexp_replace(left(c.content, 200), E'\\s+', ' ', 'g'), 90) AS s (start)
    WINDOW alike AS (PARTITION BY left(s.start, 40) ORDER BY c.rank)),
  ranked AS (
    SELECT o.*, row_number() OVER (of_case ORDER BY coalesce(length(o.adds), 0) DESC, o.member) AS turn,
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
        'numbers', simdup_report_start(nullif(simdup_numbers(r.content, r.first_text), ''), 240))
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
        SELECT s.rank, s.data || jsonb_build_object('first', simdup_report_start(s.first, 200),
            'start', coalesce(s.start, ''),
            'differs', simdup_report_start(simdup_own_text(s.content, s.other), 90),
            'common', simdup_report_start(s.common, 2000), 'compared', s.compared,
            'add_nothing', d.add_nothing, 'members', d.members) AS data
        FROM starts AS s
        JOIN described AS d ON d.rank = s.rank
        OFFSET 0) AS c) AS c
    WHERE c.bytes <= greatest(least(max_groups::bigint * 5000, 8000000), 1000000)),
  kept_rows AS (
    SELECT coalesce(jsonb_agg(jsonb_build_array(l.case_id, l.key, l.distance)
      || CASE WHEN l.content IS NOT NULL AND l.content_bytes <= 1000000
        THEN jsonb_build_array(l.content) ELSE '[]' END ORDER BY l.serial), '[]') AS kept
    FROM (
      SELECT l.*, sum(octet_length(l.key) + 15) OVER before AS bytes,
        sum(5 * octet_length(l.content) - 3 * length(l.content)) OVER before AS content_bytes
      FROM (
        SELECT l.serial, l.case_id, l.distance, simdup_report_start(l.key, 200) AS key,
          CASE WHEN q.has_content AND l.is_read
            THEN coalesce(simdup_report_start(l.content, 5000), '') END AS content
        FROM asked AS q CROSS JOIN letters AS l
        WHERE l.serial IS NOT NULL) AS l
      WINDOW before AS (ORDER BY l.serial)) AS l
    WHERE l.bytes <= 500000),
  examples AS (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'a', simdup_report_start(a.key, 200), 'b', simdup_report_start(b.key, 200), 'distance', a.distance,
        'decided', d.same, 'same_text', a.content = b.content AND NOT (a.cut OR b.cut),
        'resemblance', round(shingle_resemblance(a.content, b.content, q.w, q.unit)::numeric, 4),
        'numbers_a', simdup_report_start(nullif(simdup_numbers(a.content, b.content), ''), 240),
        'numbers_b', simdup_report_start(nullif(simdup_numbers(b.content, a.content), ''), 240),
        'differences', simdup_report_differences(coalesce(a.content, ''), coalesce(b.content, ''))
          || CASE WHEN a.cut OR b.cut THEN '[["cut"]]'::jsonb ELSE '[]' END)
      ORDER BY a.rank DESC), '[]') AS examples
    FROM asked AS q
    CROSS JOIN letters AS a
    JOIN letters AS b ON b.rank = a.rank AND b.member = 2
    LEFT JOIN decided AS d ON d.a = a.key AND d.b = b.key
    WHERE a.rank < 0 AND a.member = 1)

  SELECT jsonb_build_object('version', 1, 'examples', e.examples,
      'settings', jsonb_build_object('query', q.statement, 'max_distance', q.max_distance, 'method', q.method,
        'min_resemblance', q.min_resemblance, 'w', q.w, 'unit', q.unit, 'max_groups', max_groups,
        'groups', groups::text, 'has_content', q.has_content, 'columns', q.names),
      'counts', l.of #> '{counts,0}', 'sizes', l.of -> 'sizes', 'distances', l.of -> 'distances',
      'cases', jsonb_build_object('all', l.of #> '{counts,0,clusters}', 'kept', k.kept),
      'rows', jsonb_build_object('all', l.of #> '{counts,0,cluster_rows}', 'kept', r.kept),
      'pairs', jsonb_build_object('all', l.of #> '{all,0,pairs}', 'kept', l.of -> 'pairs'))
    || CASE WHEN l.of ? 'periods' THEN jsonb_build_object('periods', jsonb_build_object(
      'column', q.day_column, 'unit', l.of #> '{all,0,unit}', 'counts', l.of -> 'periods')) ELSE '{}' END
    || CASE WHEN q.has_scope AND l.of ? 'scopes' THEN jsonb_build_object('scopes', jsonb_build_object(
      'all', l.of #> '{all,0,scopes}', 'kept', l.of -> 'scopes')) ELSE '{}' END
    || coalesce(q.grouped, '{}') || jsonb_build_object('made', jsonb_build_object(
      'at', to_char(q.started AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'seconds', round(extract(epoch FROM clock_timestamp() - q.started), 3),
      'postgresql', current_setting('server_version'), 'simdup', x.extversion))
  FROM asked AS q, lists AS l, kept_cases AS k, kept_rows AS r, examples AS e, pg_extension AS x
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
  style := @extschema@.simdup_report_ascii('style', 'file');
  script := @extschema@.simdup_report_ascii('script', 'file');
  texts := @extschema@.simdup_report_ascii('texts', 'file');
  one := @extschema@.simdup_report_ascii(substr(quoted, 2, length(quoted) - 2), 'json');
  many := CASE WHEN one ~ '[^aeiou]y$' THEN left(one, -1) || 'ies'
    WHEN one ~ '(s|x|z|ch|sh)$' THEN one || 'es' ELSE one || 's' END;
  IF title IS NULL OR num_nonnulls(source, report) <> 1 THEN
    RAISE EXCEPTION 'a page needs a title, and a source or a report'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format(CASE WHEN report IS NULL
          THEN 'The title is %L, the source is %L, and no report is given.'
          ELSE 'The title is %L, the source is %L, and a report is given.' END, heading, source),
        HINT = 'Write simdup_report_html(''letter'', ''Letters'').';
  END IF;
  SELECT v.* INTO c
  FROM (VALUES
    (report IS NOT NULL AND jsonb_typeof(report #> '{counts,rows}') IS DISTINCT FROM 'number'
        OR report @? 'strict $.counts.* ? (@.type() != "number")'
        OR jsonb_typeof(report -> 'decide') <> 'object'
        OR EXISTS (SELECT FROM jsonb_path_query(report, 'strict $.decide.keyvalue()', silent => true) AS d
          WHERE d ->> 'value' !~ '^((^|\.)([a-z_][a-z0-9_]*|"([^"]|"")+"))+$'
            OR d ->> 'key' = 'decide' AND d ->> 'value' <> '@extschema@.simdup_decide'),
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
      E'\x02', upper(left(many, 1) COLLATE "C") || substr(many, 2)), E'\x03', one);
  END IF;
  shown := coalesce(report, @extschema@.simdup_report(source, max_distance, method, min_resemblance, w, unit,
    max_groups, groups));
  RETURN (
    SELECT string_agg(CASE
        WHEN p.place % 2 = 1 THEN p.name
        WHEN p.name = 'lang' THEN language
        WHEN p.name = 'title' THEN @extschema@.simdup_report_ascii(heading, 'html')
        WHEN p.name = 'style' THEN style
        WHEN p.name = 'script' THEN script
        WHEN p.name = 'style_hash' THEN 'sha256-' || encode(sha256(convert_to(style, 'UTF8')), 'base64')
        WHEN p.name = 'script_hash' THEN 'sha256-' || encode(sha256(convert_to(script, 'UTF8')), 'base64')
        WHEN p.name = 'texts' THEN texts
        WHEN p.name = 'data' THEN @extschema@.simdup_report_ascii(jsonb_build_object('report', shown,
          'title', heading, 'row_url', row_url, 'before', coalesce(before -> 'counts', before),
          'lang', language, 'translations', translations)::text, 'json')
        WHEN p.name ~ '^n_'
          THEN to_char((shown -> 'counts' ->> substr(p.name, 3))::numeric, 'FM999,999,999,990')
        ELSE coalesce(@extschema@.simdup_report_ascii(given ->> p.name, 'html'),
          -- beyond ASCII, the file has "\u1234"
          regexp_replace(@extschema@.simdup_report_ascii(
            (regexp_match(texts, format('"%s": \["(.*?)", "(.*?)"\]', p.name)))[
              CASE WHEN language ~* '^zh(-|$)' THEN 2 ELSE 1 END], 'html'),
            '\\u([0-9a-f]{4})', '&#x\1;', 'g'))
        END, '' ORDER BY p.place)
    FROM regexp_split_to_table(@extschema@.simdup_report_ascii('page', 'file'), '@')
      WITH ORDINALITY AS p (name, place));
END $$;
COMMENT ON FUNCTION simdup_report_html(regclass, text, integer, text, float8, integer, text, integer,
  regclass, text, jsonb, text, jsonb, text, jsonb) IS
  'a source''s duplicates, or a report of simdup_report, as one HTML page';
