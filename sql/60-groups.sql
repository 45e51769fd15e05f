
--
-- groups: tables over a query, refreshed like a materialized view
--
-- A grouping is four plain tables of its owner. These functions run with the rights of
-- the caller and under the path of the catalogs. The variable x is the schema of this
-- extension. Functions in it are called with arguments of their exact types, so that no
-- other function there fits better, and keys are passed as text. The argument path is
-- the caller's search_path. The caller's query alone runs under it.

CREATE FUNCTION simdup_key_equality(key_type regtype) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_key_equality(regtype) IS
  'implementation of simdup_regroup: the equality of a type of keys, to stand in a statement';

CREATE FUNCTION simdup_table_in_path(name text, path text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_table_in_path(text, text)
  IS 'implementation of simdup_regroup: the table that a name means';

CREATE FUNCTION simdup_schema_in_path(path text) RETURNS name
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_schema_in_path(text)
  IS 'implementation of simdup_group: the schema where a path creates';

CREATE FUNCTION simdup_first_type(query text, path text) RETURNS regtype
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_first_type(text, text)
  IS 'implementation of simdup_group: the type of a query''s keys';

CREATE FUNCTION simdup_place(
  query text, keys_of regtype, path text, decisions text, members text, events text,
  max_distance integer, method text, min_resemblance float8, w integer, unit text, next_id bigint,
  OUT key text, OUT was bigint, OUT id bigint
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_place(text, regtype, text, text, text, text, integer, text, float8, integer, text,
  bigint) IS
  'implementation of simdup_regroup: the rows whose group changes';

CREATE FUNCTION simdup_contradictions(
  decisions text, keys_of regtype, OUT a text, OUT b text, OUT same boolean, OUT chain text
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION simdup_contradictions(text, regtype) IS
  'implementation of simdup_decide: decisions that contradict earlier ones, and what they contradict';

-- The tables of a grouping, quoted, and what statements about its keys need. An
-- owner must own all four, and nobody else may write the settings or have a trigger:
-- the settings hold a query, and triggers run as the owner.
CREATE FUNCTION simdup_grouping(
  target regclass, name text, needs_owner boolean,
  OUT members text, OUT decisions text, OUT events text, OUT settings text, OUT key_type text,
    OUT same_key text
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  place record;
  part text;
  tables text[];
  stranger text;
  n_settings bigint;
  type regtype;
BEGIN
  IF target IS NULL THEN
    RAISE EXCEPTION 'grouping "%" does not exist', name USING ERRCODE = 'undefined_table',
      HINT = 'Create it with simdup_group.';
  END IF;
  SELECT n.nspname, c.relname INTO STRICT place
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = target;
  FOREACH part IN ARRAY ARRAY['', '_decisions', '_events', '_settings'] LOOP
    PERFORM FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = place.nspname AND c.relname = place.relname || part AND c.relkind = 'r';
    IF NOT FOUND THEN
      RAISE EXCEPTION '"%" is not a grouping', place.relname USING ERRCODE = 'wrong_object_type',
        DETAIL = format('There is no table "%s" in schema "%s".', place.relname || part, place.nspname),
        HINT = 'The four tables of a grouping are renamed and moved together.';
    END IF;
    tables := tables || format('%I.%I', place.nspname, place.relname || part);
  END LOOP;
  members := tables[1];
  decisions := tables[2];
  events := tables[3];
  settings := tables[4];
  IF needs_owner THEN
    SELECT c.oid::regclass INTO stranger FROM pg_class AS c
    WHERE c.oid = ANY (tables::regclass[]) AND c.relowner <> current_user::regrole ORDER BY c.oid LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'must be owner of table %', stranger USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'A grouping runs the query of its settings, so one role must own its four tables.',
        HINT = 'SET ROLE to the owner of the four tables.';
    END IF;
    SELECT format('%s on %s', g.privilege_type, c.id) INTO stranger FROM (
      SELECT c.oid::regclass AS id, c.relowner, c.relacl AS acl FROM pg_class AS c
      UNION ALL
      SELECT c.oid, c.relowner, a.attacl FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    ) AS c CROSS JOIN LATERAL aclexplode(c.acl) AS g
    WHERE c.id = ANY (tables::regclass[]) AND g.grantee <> c.relowner
      AND (g.privilege_type = 'TRIGGER' OR c.id = settings::regclass AND g.privilege_type IN ('INSERT',
        'UPDATE')) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'another role has the privilege %', stranger USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'It could make the owner run statements that are not the owner''s.',
          HINT = 'Revoke the privilege.';
    END IF;
    SELECT format('%I on %s', t.tgname, t.tgrelid::regclass) INTO stranger
    FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid JOIN pg_roles AS r ON r.oid = p.proowner
    WHERE t.tgrelid = ANY (tables::regclass[]) AND NOT t.tgisinternal AND NOT r.rolsuper
      AND r.rolname <> current_user ORDER BY 1 LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'another role owns the function of trigger %', stranger
        USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'It would run as the owner of the grouping.',
          HINT = 'Drop the trigger, or change the function''s owner.';
    END IF;
    EXECUTE 'SELECT FROM ' || settings;
    GET DIAGNOSTICS n_settings = ROW_COUNT;
    IF n_settings = 0 THEN
      RAISE EXCEPTION 'grouping "%" has no settings', name USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = format('Table %s is empty.', settings),
          HINT = 'Restore its row, or create the grouping anew.';
    END IF;
  END IF;
  SELECT t.oid, format('%I.%I', n.nspname, t.typname) INTO STRICT type, key_type
  FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n
    ON n.oid = t.typnamespace
  WHERE a.attrelid = target AND a.attname = 'key';
  EXECUTE format('SELECT %s.simdup_key_equality($1)', x) INTO STRICT same_key USING type;
END $$;
COMMENT ON FUNCTION simdup_grouping(regclass, text, boolean) IS
  'implementation of simdup_regroup: the tables of one, and its type of keys';

CREATE FUNCTION simdup_group(
  name text, query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  path text DEFAULT current_setting('search_path')
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  parts text[] := parse_ident(name);
  relation text := parts[cardinality(parts)];
  place text := parts[cardinality(parts) - 1];
  statement text := rtrim(query, E' \t\r\n;');
  type regtype;
  key_type text;
  same_key text;
  tables text[];
  stranger record;
BEGIN
  IF num_nulls(name, query, max_distance, method, w, unit, path) > 0 THEN
    RAISE EXCEPTION 'name, query, max_distance, method, w and unit must not be null'
      USING ERRCODE = 'null_value_not_allowed';
  ELSIF cardinality(parts) > 2 THEN
    RAISE EXCEPTION 'invalid name of a grouping: "%"', name USING ERRCODE = 'invalid_name',
      HINT = 'Write schema.name, or a name alone.';
  ELSIF octet_length(relation) > 53 THEN
    RAISE EXCEPTION 'name of grouping "%" is too long', relation USING ERRCODE = 'name_too_long',
      DETAIL = format('It has %s bytes. The longest name has 53.', octet_length(relation));
  ELSIF query ~ '^\s*[^\s()]+\s*$' THEN
    RAISE EXCEPTION 'argument "query" must be a single SELECT that changes and locks nothing'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The query is: %s', query),
      HINT = format('For the rows of a table, write: SELECT id, minhash64(content) FROM %s', query);
  ELSIF place IS NULL THEN
    EXECUTE format('SELECT %s.simdup_schema_in_path($1)', x) INTO place USING path;
  END IF;
  IF place IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  -- without a row, the query tells its type of keys and is checked
  EXECUTE format('SELECT %s.simdup_first_type($1, $2)', x) INTO STRICT type USING statement, path;
  EXECUTE format('SELECT %s.simdup_key_equality($1)', x) INTO STRICT same_key USING type;
  EXECUTE format('SELECT FROM %s.simdup_place($1, $2, $3, $4, $4, $4, $5, $6, $7, $8, $9, $10)', x)
    USING format(E'SELECT * FROM (%s\n) AS q LIMIT 0', statement), type, path, NULL::text,
      max_distance, method, min_resemblance, w, unit, 1::bigint;
  SELECT format('%I.%I', n.nspname, t.typname) INTO STRICT key_type
  FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace WHERE t.oid = type;
  tables := ARRAY(SELECT format('%I.%I', place, relation || u.ending)
                  FROM unnest(ARRAY['', '_decisions', '_events', '_settings']) WITH ORDINALITY AS u (ending,
                    i) ORDER BY u.i);
  EXECUTE format($create$
    CREATE TABLE %1$s (key %5$s PRIMARY KEY, id bigint NOT NULL);
    CREATE TABLE %2$s (a %5$s NOT NULL, b %5$s NOT NULL, same boolean NOT NULL, note text,
      by name NOT NULL DEFAULT current_user, at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (a, b), CONSTRAINT "a decision is about two rows" CHECK (NOT a %9$s b));
    CREATE TABLE %3$s (refresh bigint, key %5$s, was bigint, id bigint,
      at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (refresh, key));
    CREATE TABLE %4$s (one boolean PRIMARY KEY DEFAULT true CHECK (one), query text NOT NULL,
      max_distance integer NOT NULL, method text NOT NULL, min_resemblance float8,
      w integer NOT NULL, unit text NOT NULL,
      next_id bigint NOT NULL DEFAULT 1, next_refresh bigint NOT NULL DEFAULT 1);
    COMMENT ON TABLE %1$s IS 'simdup: the group of each row';
    COMMENT ON TABLE %2$s IS %6$L;
    COMMENT ON TABLE %3$s IS %7$L;
    COMMENT ON TABLE %4$s IS %8$L;$create$,
    tables[1], tables[2], tables[3], tables[4], key_type,
      format('simdup: what people decided about rows of %s', relation),
    format('simdup: the rows of %s whose group changed, by refresh', relation),
    format('simdup: the query of %s, which its owner runs; nobody else may write it', relation), same_key);
  EXECUTE format('INSERT INTO %s (query, max_distance, method, min_resemblance, w, unit)'
    ' VALUES ($1, $2, $3, $4, $5, $6)',
    tables[4]) USING statement, max_distance, method, min_resemblance, w, unit;
  -- what default privileges granted
  FOR stranger IN
    SELECT c.oid::regclass AS id, coalesce(quote_ident(r.rolname), 'PUBLIC') AS role
    FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS g LEFT JOIN pg_roles AS r
      ON r.oid = g.grantee
    WHERE c.oid = ANY (tables::regclass[]) AND g.grantee <> c.relowner
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', stranger.id, stranger.role);
  END LOOP;
END $$;
COMMENT ON FUNCTION simdup_group(text, text, integer, text, float8, integer, text, text) IS
  'creates a grouping of a query''s rows (key, fingerprint): four empty tables, for simdup_regroup to fill';

CREATE FUNCTION simdup_regroup(
  name text, dry_run boolean DEFAULT false, path text DEFAULT current_setting('search_path')
) RETURNS TABLE (key text, was bigint, id bigint)
LANGUAGE plpgsql ROWS 1000 SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  target regclass;
  g record;
  s record;
  type regtype;
  placed text;
  decided text;
  member text;
  event text;
  statement text;
  newest bigint;
  n bigint;
  n_left bigint;
  problem text;
  code text;
BEGIN
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, true;
  -- one refresh at a time; a dry run waits for nobody
  EXECUTE concat('SELECT * FROM ', g.settings, CASE WHEN dry_run THEN '' ELSE ' FOR UPDATE' END)
    INTO STRICT s;
  placed := format('FROM %s.simdup_place($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS p', x);
  type := g.key_type;
  decided := format('SELECT d.a, d.b, d.same FROM %s AS d ORDER BY d.at, d.a, d.b', g.decisions);
  member := format('SELECT m.key, m.id FROM %s AS m', g.members);
  event := format('SELECT e.key, e.id, e.refresh FROM %s AS e WHERE e.id IS NOT NULL', g.events);
  BEGIN
    IF dry_run THEN
      RETURN QUERY EXECUTE 'SELECT p.key, p.was, p.id ' || placed USING s.query, type, path, decided, member,
        event,
        s.max_distance, s.method, s.min_resemblance, s.w, s.unit, s.next_id;
      RETURN;
    END IF;
    EXECUTE format('INSERT INTO %s (refresh, key, was, id) SELECT $13, p.key::%s, p.was, p.id %s', g.events,
      g.key_type, placed)
      USING s.query, type, path, decided, member, event,
        s.max_distance, s.method, s.min_resemblance, s.w, s.unit, s.next_id, s.next_refresh;
    GET DIAGNOSTICS n_left = ROW_COUNT;
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE;
  WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = format('query of grouping "%s" failed: %s', name,
      problem),
      DETAIL = format('The query is: %s', s.query), HINT = format('To change it: UPDATE %s SET query = ...;',
        g.settings);
  END;
  IF n_left = 0 THEN
    RETURN;
  END IF;
  FOREACH statement IN ARRAY ARRAY[
    'DELETE FROM %1$s AS m USING %2$s AS e WHERE e.refresh = $1 AND e.id IS NULL AND e.key %3$s m.key',
    'UPDATE %1$s AS m SET id = e.id FROM %2$s AS e'
      ' WHERE e.refresh = $1 AND e.was IS NOT NULL AND e.id IS NOT NULL AND e.key %3$s m.key',
    'INSERT INTO %1$s (key, id) SELECT e.key, e.id FROM %2$s AS e'
      ' WHERE e.refresh = $1 AND e.was IS NULL'] LOOP
    EXECUTE format(statement, g.members, g.events, g.same_key) USING s.next_refresh;
    GET DIAGNOSTICS n = ROW_COUNT;
    n_left := n_left - n;
  END LOOP;
  EXECUTE format('SELECT max(e.id) FROM %s AS e WHERE e.refresh = $1', g.events) INTO STRICT newest
    USING s.next_refresh;
  EXECUTE format('UPDATE %s SET next_id = $1, next_refresh = $2', g.settings)
    USING greatest(s.next_id, newest + 1), s.next_refresh + 1;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n_left <> 0 OR n <> 1 THEN
    RAISE EXCEPTION 'rows of grouping "%" were not written', name
      USING ERRCODE = 'triggered_data_change_violation',
      DETAIL = format('%s changes of groups and %s rows of settings differ from what was to be written.',
        n_left, n - 1),
      HINT = 'A trigger or a rule may have kept them.';
  END IF;
  RETURN QUERY EXECUTE format('SELECT format(%L, e.key), e.was, e.id FROM %s AS e WHERE e.refresh = $1',
    '%s', g.events)
    USING s.next_refresh;
END $$;
COMMENT ON FUNCTION simdup_regroup(text, boolean, text) IS
  'refreshes a grouping; the rows whose group changes, keys as text, NULL for no group';

CREATE FUNCTION simdup_group_of(name text, id bigint, path text DEFAULT current_setting('search_path'))
  RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  target regclass;
  g record;
  now_in bigint;
BEGIN
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, false;
  EXECUTE format('SELECT m.id FROM %s AS m WHERE m.id = $1 LIMIT 1', g.members) INTO now_in USING id;
  IF now_in IS NULL THEN
    -- its last rows left it in one refresh
    EXECUTE format('SELECT m.id FROM %1$s AS e JOIN %2$s AS m ON m.key %3$s e.key'
      ' WHERE e.was = $1 AND e.refresh = (SELECT max(l.refresh) FROM %1$s AS l WHERE l.was = $1)'
      ' GROUP BY m.id ORDER BY count(*) DESC, m.id LIMIT 1', g.events, g.members, g.same_key) INTO now_in
        USING id;
  END IF;
  RETURN now_in;
END $$;
COMMENT ON FUNCTION simdup_group_of(text, bigint, text) IS
  'the id of the group where most of the last rows of an id are now; NULL if there are none';

CREATE FUNCTION simdup_ungroup(
  name text, with_decisions boolean DEFAULT false, path text DEFAULT current_setting('search_path')
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  target regclass;
  g record;
  n bigint;
BEGIN
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, false;
  EXECUTE format('LOCK TABLE %s, %s IN ACCESS EXCLUSIVE MODE', g.settings, g.decisions);
  EXECUTE concat('SELECT count(*) FROM ', g.decisions) INTO STRICT n;
  IF n > 0 AND with_decisions IS NOT TRUE THEN
    RAISE EXCEPTION 'grouping "%" has decisions', name USING ERRCODE = 'dependent_objects_still_exist',
      DETAIL = format('Table %s has %s rows.', g.decisions, n),
        HINT = 'To drop them too, pass with_decisions => true.';
  END IF;
  EXECUTE format('DROP TABLE %s, %s, %s, %s', g.members, g.decisions, g.events, g.settings);
END $$;
COMMENT ON FUNCTION simdup_ungroup(text, boolean, text) IS
  'drops the four tables of a grouping; decisions only if told to';

--
-- groups: people's decisions
--

-- Return the number of different pairs of two lists of keys, which are arrays as text.
-- ERROR if they are not of one length, or hold NULL or the same key twice in a pair.
CREATE FUNCTION simdup_decision_pairs(key_type text, same_key text, a text, b text) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  l record;
BEGIN
  EXECUTE format('SELECT coalesce(array_ndims(l.a), 1) AS a_dims, coalesce(array_ndims(l.b), 1) AS b_dims,'
    ' cardinality(l.a) AS a, cardinality(l.b) AS b FROM (SELECT $1::%1$s[] AS a, $2::%1$s[] AS b) AS l',
      key_type)
    INTO STRICT l USING a, b;
  IF l.a IS NULL OR l.b IS NULL THEN
    RAISE EXCEPTION 'a and b must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF l.a_dims > 1 OR l.b_dims > 1 OR l.a <> l.b THEN
    RAISE EXCEPTION 'a and b must be one-dimensional arrays of one length'
      USING ERRCODE = 'array_subscript_error',
      DETAIL = format('They have %s and %s elements in %s and %s dimensions.', l.a, l.b, l.a_dims, l.b_dims);
  END IF;
  EXECUTE format('SELECT count(*) FILTER (WHERE num_nulls(u.a, u.b) > 0) AS nulls,'
    ' min(format(%L, u.a)) FILTER (WHERE u.a %s u.b) AS itself,'
    ' count(DISTINCT ROW(least(u.a, u.b), greatest(u.a, u.b))) AS pairs'
    ' FROM (SELECT unnest($1::%4$s[]) AS a, unnest($2::%4$s[]) AS b) AS u', '%s', same_key, '', key_type)
    INTO STRICT l USING a, b;
  IF l.nulls > 0 THEN
    RAISE EXCEPTION 'keys of a decision must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF l.itself IS NOT NULL THEN
    RAISE EXCEPTION 'a decision is about two rows' USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('Both are (%s).', l.itself);
  END IF;
  RETURN l.pairs;
END $$;
COMMENT ON FUNCTION simdup_decision_pairs(text, text, text, text) IS
  'implementation of simdup_decide: the number of pairs, which are checked';

-- A decision takes the place of another about its pair, which is deleted. So the columns
-- by and at are always their defaults, and nobody needs a right to update. The latest of
-- two sessions waits for the other, and counts.
CREATE FUNCTION simdup_decide(
  name text, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL,
    refresh boolean DEFAULT true,
  path text DEFAULT current_setting('search_path')
) RETURNS TABLE (key text, was bigint, id bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET DateStyle = ISO AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  is_array boolean := (SELECT t.typcategory = 'A' FROM pg_type AS t WHERE t.oid = pg_typeof(a));
  a_keys text := CASE WHEN num_nulls(a) = 1 THEN NULL WHEN is_array THEN format('%s', a)
    ELSE format('%s', ARRAY[format('%s', a)]) END;
  b_keys text := CASE WHEN num_nulls(b) = 1 THEN NULL WHEN is_array THEN format('%s', b)
    ELSE format('%s', ARRAY[format('%s', b)]) END;
  target regclass;
  g record;
  pairs text;
  stored text;  -- the decisions about the pairs
  n_pairs bigint;
  n_stored bigint;
  against record;
  absent record;
BEGIN
  IF same IS NULL OR refresh IS NULL THEN
    RAISE EXCEPTION 'same and refresh must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, refresh;
  EXECUTE format('SELECT %s.simdup_decision_pairs($1, $2, $3, $4)', x) INTO STRICT n_pairs
    USING g.key_type, g.same_key, a_keys, b_keys;
  pairs := format('(SELECT DISTINCT least(u.a, u.b) AS a, greatest(u.a, u.b) AS b'
    ' FROM (SELECT unnest($1::%1$s[]) AS a, unnest($2::%1$s[]) AS b) AS u ORDER BY 1, 2) AS p', g.key_type);
  -- somebody may have written the larger key first
  stored := format('%s JOIN LATERAL (VALUES (p.a, p.b), (p.b, p.a)) AS t (a, b) ON true'
    ' JOIN %s AS d ON d.a %s t.a AND d.b %3$s t.b', pairs, g.decisions, g.same_key);
  IF refresh THEN
    -- one refresh at a time
    EXECUTE format('UPDATE %s SET next_refresh = next_refresh', g.settings);
  END IF;
  FOR attempt IN 1 .. 10 LOOP
    EXECUTE format('DELETE FROM %s AS d USING (SELECT d.a, d.b FROM %s WHERE d.same <> $3) AS o'
      ' WHERE d.a %s o.a AND d.b %3$s o.b', g.decisions, stored, g.same_key) USING a_keys, b_keys, same;
    EXECUTE format('INSERT INTO %s (a, b, same, note) SELECT p.a, p.b, $3, $4 FROM %s'
      ' WHERE NOT EXISTS (SELECT FROM %1$s AS d WHERE d.a %3$s p.b AND d.b %3$s p.a) ON CONFLICT DO NOTHING',
      g.decisions, pairs, g.same_key) USING a_keys, b_keys, same, note;
    EXECUTE format('SELECT count(DISTINCT ROW(p.a, p.b)) FROM %s WHERE d.same = $3', stored)
      INTO STRICT n_stored USING a_keys, b_keys, same;
    EXIT WHEN n_stored = n_pairs;
  END LOOP;
  IF n_stored <> n_pairs THEN
    RAISE EXCEPTION 'decisions of grouping "%" were not stored', name USING ERRCODE = 'serialization_failure',
      DETAIL = format('%s of %s pairs have another decision.', n_pairs - n_stored, n_pairs),
      HINT = 'Another session may have decided at the same time, or a trigger may have kept them. Try again.';
  END IF;
  IF NOT row_security_active(g.decisions) THEN
    EXECUTE format('SELECT c.a, c.b, c.chain FROM %s.simdup_contradictions($4, $5) AS c,'
      ' %s WHERE d.same = $3 AND d.a %s c.a::%s AND d.b %3$s c.b::%4$s LIMIT 1', x, stored, g.same_key,
        g.key_type)
      INTO against USING a_keys, b_keys, same,
        format('SELECT d.a, d.b, d.same FROM %s AS d ORDER BY d.at, d.a, d.b', g.decisions),
        g.key_type::regtype;
    IF against.a IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = format(CASE WHEN same
          THEN 'decision that rows %s and %s are the same contradicts others'
          ELSE 'decision that rows %s and %s are not the same contradicts others' END, against.a, against.b),
        DETAIL = format('It was decided that %s.', against.chain),
          HINT = 'Take a decision back with simdup_undecide.';
    END IF;
  END IF;
  IF has_table_privilege(g.members, 'SELECT') THEN
    EXECUTE format('SELECT count(*) AS n, min(format(%L, k.key)) AS key FROM ('
      'SELECT unnest($1::%s[]) AS key UNION SELECT unnest($2::%2$s[])) AS k'
      ' WHERE NOT EXISTS (SELECT FROM %3$s AS m WHERE m.key %4$s k.key)', '%s', g.key_type, g.members,
        g.same_key)
      INTO STRICT absent USING a_keys, b_keys;
    IF absent.n > 0 THEN
      RAISE NOTICE 'grouping "%" has no row %', name, absent.key
        USING DETAIL = format('It lacks %s of the keys. The decision is stored.', absent.n);
    END IF;
  END IF;
  IF refresh THEN
    RETURN QUERY EXECUTE format('SELECT r.* FROM %s.simdup_regroup($1, $2, $3) AS r', x)
      USING name, false, path;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_decide(text, anycompatible, anycompatible, boolean, text, boolean, text) IS
  'decides whether two rows are the same, or arrays of pairs; the rows whose group changes';

CREATE FUNCTION simdup_undecide(
  name text, a anycompatible, b anycompatible, refresh boolean DEFAULT true,
    path text DEFAULT current_setting('search_path')
) RETURNS TABLE (key text, was bigint, id bigint) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET row_security = off SET extra_float_digits = 1 SET DateStyle = ISO
  AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  is_array boolean := (SELECT t.typcategory = 'A' FROM pg_type AS t WHERE t.oid = pg_typeof(a));
  a_keys text := CASE WHEN num_nulls(a) = 1 THEN NULL WHEN is_array THEN format('%s', a)
    ELSE format('%s', ARRAY[format('%s', a)]) END;
  b_keys text := CASE WHEN num_nulls(b) = 1 THEN NULL WHEN is_array THEN format('%s', b)
    ELSE format('%s', ARRAY[format('%s', b)]) END;
  target regclass;
  g record;
  pairs text;
  n_pairs bigint;
  n bigint;
  missing text;
BEGIN
  IF refresh IS NULL THEN
    RAISE EXCEPTION 'refresh must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
    INTO STRICT g USING target, name, refresh;
  EXECUTE format('SELECT %s.simdup_decision_pairs($1, $2, $3, $4)', x) INTO STRICT n_pairs
    USING g.key_type, g.same_key, a_keys, b_keys;
  IF refresh THEN
    EXECUTE format('UPDATE %s SET next_refresh = next_refresh', g.settings);
  END IF;
  -- somebody may have written the larger key first
  pairs := format('(SELECT t.* FROM (SELECT unnest($1::%1$s[]) AS a, unnest($2::%1$s[]) AS b) AS u'
    ' CROSS JOIN LATERAL (VALUES (u.a, u.b), (u.b, u.a)) AS t (a, b)) AS p', g.key_type);
  EXECUTE format('SELECT min(format(%L, l.a, l.b)) FROM (SELECT least(p.a, p.b) AS a, greatest(p.a, p.b) AS b'
    ' FROM %s LEFT JOIN %s AS d ON d.a %4$s p.a AND d.b %4$s p.b GROUP BY 1, 2 HAVING count(d.a) = 0) AS l',
    '%s and %s', pairs, g.decisions, g.same_key) INTO STRICT missing USING a_keys, b_keys;
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION 'there is no decision about rows %', missing USING ERRCODE = 'no_data_found';
  END IF;
  EXECUTE format('DELETE FROM %2$s AS d WHERE EXISTS (SELECT FROM %1$s WHERE d.a %3$s p.a AND d.b %3$s p.b)',
    pairs, g.decisions, g.same_key) USING a_keys, b_keys;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n = 0 AND n_pairs > 0 THEN
    RAISE EXCEPTION 'decisions of grouping "%" were not deleted', name
      USING ERRCODE = 'triggered_data_change_violation',
      HINT = 'A trigger or a rule may have kept them.';
  END IF;
  IF refresh THEN
    RETURN QUERY EXECUTE format('SELECT r.* FROM %s.simdup_regroup($1, $2, $3) AS r', x)
      USING name, false, path;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_undecide(text, anycompatible, anycompatible, boolean, text) IS
  'takes a decision about two rows back, or about arrays of pairs; the rows whose group changes';
