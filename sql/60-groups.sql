
--
-- groups: tables over a query, refreshed like a materialized view
--
-- A grouping is four plain tables of its owner. These functions run with the rights of the caller and
-- under the path of the catalogs. The variable x is the schema of this extension. Functions in it are
-- called with arguments of their exact types, so that no other function there fits better, and keys are
-- passed as text. The argument path is the caller's search_path. The caller's query alone runs under it.

CREATE FUNCTION simdup_key_equality(key_type regtype) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_table_in_path(name text, path text) RETURNS regclass
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_schema_in_path(path text) RETURNS name
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_first_type(query text, path text) RETURNS regtype
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION simdup_group_changes(
  query text, keys_of regtype, path text, decisions text, members text, events text, max_distance integer,
  method text, min_resemblance float8, w integer, unit text, next_id bigint,
  OUT key text, OUT was bigint, OUT id bigint
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_contradictions(
  decisions text, keys_of regtype, OUT a text, OUT b text, OUT same boolean, OUT chain text
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION simdup_key_equality(regtype) IS
  'implementation of simdup_regroup: the equality of a type of keys, to stand in a statement';
COMMENT ON FUNCTION simdup_table_in_path(text, text) IS
  'implementation of simdup_regroup: the table that a name means';
COMMENT ON FUNCTION simdup_schema_in_path(text) IS
  'implementation of simdup_group: the schema where a path creates';
COMMENT ON FUNCTION simdup_first_type(text, text) IS
  'implementation of simdup_group: the type of a query''s keys';
COMMENT ON FUNCTION
  simdup_group_changes(text, regtype, text, text, text, text, integer, text, float8, integer, text, bigint) IS
  'implementation of simdup_regroup: the rows whose group changes';
COMMENT ON FUNCTION simdup_contradictions(text, regtype) IS
  'implementation of simdup_decide: decisions that contradict earlier ones, and what they contradict';

-- Return the tables of a grouping, and what statements about its keys and decisions need. The settings
-- hold a query, and triggers run as the owner. So where the owner is needed, one role must own the four
-- tables, and nobody else may write the settings or have a trigger.
CREATE FUNCTION simdup_grouping(
  name text, path text, needs_owner boolean,
  OUT members regclass, OUT decisions regclass, OUT events regclass, OUT settings regclass,
  OUT key_type text, OUT same_key text, OUT in_order text
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  target regclass;
  tables regclass[];
  place record;
  missing text;
  stranger text;
  n_settings bigint;
  type regtype;
BEGIN
  EXECUTE format('SELECT %s.simdup_table_in_path($1, $2)', x) INTO target USING name, path;
  IF target IS NULL THEN
    RAISE EXCEPTION 'grouping "%" does not exist', name
      USING ERRCODE = 'undefined_table', HINT = 'Create it with simdup_group.';
  END IF;

  SELECT c.relnamespace AS id, n.nspname AS schema, c.relname AS table INTO STRICT place
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.oid = target;
  SELECT array_agg(c.oid ORDER BY e.i), min(place.table || e.ending) FILTER (WHERE c.oid IS NULL)
  INTO STRICT tables, missing
  FROM unnest('{"",_decisions,_events,_settings}'::text[]) WITH ORDINALITY AS e (ending, i)
    LEFT JOIN pg_class AS c
      ON c.relnamespace = place.id AND c.relname = place.table || e.ending AND c.relkind = 'r';
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION '"%" is not a grouping', place.table
      USING ERRCODE = 'wrong_object_type',
        DETAIL = format('There is no table "%s" in schema "%s".', missing, place.schema),
        HINT = 'The four tables of a grouping are renamed and moved together.';
  END IF;
  members := target;
  decisions := tables[2];
  events := tables[3];
  settings := tables[4];
  in_order := format('SELECT d.a, d.b, d.same FROM %s AS d ORDER BY d.at, d.a, d.b', decisions);
  SELECT t.oid, format('%I.%I', n.nspname, t.typname) INTO STRICT type, key_type
  FROM pg_attribute AS a
    JOIN pg_type AS t ON t.oid = a.atttypid
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
  WHERE a.attrelid = target AND a.attname = 'key';
  EXECUTE format('SELECT %s.simdup_key_equality($1)', x) INTO STRICT same_key USING type;
  IF NOT needs_owner THEN
    RETURN;
  END IF;

  SELECT c.oid::regclass INTO stranger
  FROM pg_class AS c JOIN pg_roles AS r ON r.oid = c.relowner
  WHERE c.oid = ANY (tables) AND r.rolname <> current_user
  ORDER BY c.oid LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'must be owner of table %', stranger
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'A grouping runs the query of its settings, so one role must own its four tables.',
        HINT = 'SET ROLE to the owner of the four tables.';
  END IF;
  SELECT format('%s on %s', g.privilege_type, c.oid::regclass) INTO stranger
  FROM pg_class AS c
    CROSS JOIN LATERAL (
      SELECT c.relacl UNION ALL SELECT a.attacl FROM pg_attribute AS a WHERE a.attrelid = c.oid) AS l (acl)
    CROSS JOIN aclexplode(l.acl) AS g
  WHERE c.oid = ANY (tables) AND g.grantee <> c.relowner
    AND (g.privilege_type = 'TRIGGER'
      OR c.oid = settings AND g.privilege_type IN ('INSERT', 'UPDATE'))
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'another role has the privilege %', stranger
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'It could make the owner run statements that are not the owner''s.',
        HINT = 'Revoke the privilege.';
  END IF;
  SELECT format('%I on %s', t.tgname, t.tgrelid::regclass) INTO stranger
  FROM pg_trigger AS t
    JOIN pg_proc AS p ON p.oid = t.tgfoid
    JOIN pg_roles AS r ON r.oid = p.proowner
  WHERE t.tgrelid = ANY (tables) AND NOT t.tgisinternal AND NOT r.rolsuper AND r.rolname <> current_user
  ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'another role owns the function of trigger %', stranger
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'It would run as the owner of the grouping.',
        HINT = 'Drop the trigger, or change the function''s owner.';
  END IF;
  EXECUTE format('SELECT count(*) FROM %s', settings) INTO STRICT n_settings;
  IF n_settings = 0 THEN
    RAISE EXCEPTION 'grouping "%" has no settings', name
      USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = format('Table %s is empty.', settings),
        HINT = 'Restore its row, or create the grouping anew.';
  END IF;
END $$;
COMMENT ON FUNCTION simdup_grouping(text, text, boolean) IS
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
  same_key text;
  tables text[];
  stranger record;
BEGIN
  IF num_nulls(name, query, max_distance, method, w, unit, path) > 0 THEN
    RAISE EXCEPTION 'name, query, max_distance, method, w and unit must not be null'
      USING ERRCODE = 'null_value_not_allowed';
  ELSIF cardinality(parts) > 2 THEN
    RAISE EXCEPTION 'invalid name of a grouping: "%"', name
      USING ERRCODE = 'invalid_name', HINT = 'Write schema.name, or a name alone.';
  ELSIF octet_length(relation) > 53 THEN
    RAISE EXCEPTION 'name of grouping "%" is too long', relation
      USING ERRCODE = 'name_too_long',
        DETAIL = format('It has %s bytes. The longest name has 53.', octet_length(relation));
  ELSIF query ~ '^\s*[^\s()]+\s*$' THEN
    RAISE EXCEPTION 'argument "query" must be a single SELECT that changes and locks nothing'
      USING ERRCODE = 'invalid_parameter_value',
        DETAIL = format('The query is: %s', query),
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
  EXECUTE format('SELECT FROM %s.simdup_group_changes($1, $2, $3, $4, $4, $4, $5, $6, $7, $8, $9, $10)', x)
  USING format(E'SELECT * FROM (%s\n) AS q LIMIT 0', statement), type, path, NULL::text,
    max_distance, method, min_resemblance, w, unit, 1::bigint;

  tables := ARRAY(
    SELECT format('%I.%I', place, relation || e.ending)
    FROM unnest('{"",_decisions,_events,_settings}'::text[]) WITH ORDINALITY AS e (ending, i)
    ORDER BY e.i);
  EXECUTE format($create$
    CREATE TABLE %1$s (key %5$s PRIMARY KEY, id bigint NOT NULL);
    CREATE TABLE %2$s (a %5$s NOT NULL, b %5$s NOT NULL, same boolean NOT NULL, note text,
      by name NOT NULL DEFAULT current_user, at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (a, b), CONSTRAINT "a decision is about two rows" CHECK (NOT a %6$s b));
    CREATE TABLE %3$s (refresh bigint, key %5$s, was bigint, id bigint,
      at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (refresh, key));
    CREATE TABLE %4$s (one boolean PRIMARY KEY DEFAULT true CHECK (one), query text NOT NULL,
      max_distance integer NOT NULL, method text NOT NULL, min_resemblance float8,
      w integer NOT NULL, unit text NOT NULL,
      next_id bigint NOT NULL DEFAULT 1, next_refresh bigint NOT NULL DEFAULT 1);
    COMMENT ON TABLE %1$s IS 'simdup: the group of each row';
    COMMENT ON TABLE %2$s IS %7$L;
    COMMENT ON TABLE %3$s IS %8$L;
    COMMENT ON TABLE %4$s IS %9$L $create$,
    tables[1], tables[2], tables[3], tables[4], format_type(type, -1), same_key,
    format('simdup: what people decided about rows of %s', relation),
    format('simdup: the rows of %s whose group changed, by refresh', relation),
    format('simdup: the query of %s, which its owner runs; nobody else may write it', relation));
  EXECUTE format($insert$
    INSERT INTO %s (query, max_distance, method, min_resemblance, w, unit)
    VALUES ($1, $2, $3, $4, $5, $6) $insert$, tables[4])
  USING statement, max_distance, method, min_resemblance, w, unit;

  -- what default privileges granted
  FOR stranger IN
    SELECT c.oid::regclass AS id, coalesce(quote_ident(r.rolname), 'PUBLIC') AS role
    FROM pg_class AS c
      CROSS JOIN aclexplode(c.relacl) AS g
      LEFT JOIN pg_roles AS r ON r.oid = g.grantee
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
  g record;
  s record;
  changes text;
  members text;
  events text;
  n bigint;
  n_changed bigint;
  n_new bigint;
  n_settings bigint;
  problem text;
  code text;
BEGIN
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
  INTO STRICT g USING name, path, true;
  -- one refresh at a time; a dry run waits for nobody
  EXECUTE concat('SELECT * FROM ', g.settings, CASE WHEN NOT dry_run THEN ' FOR UPDATE' END) INTO STRICT s;
  changes := format('%s.simdup_group_changes($1, $2, $3, $4, $5, $6, s.max_distance, s.method,'
    ' s.min_resemblance, s.w, s.unit, s.next_id)', x);
  members := format('SELECT m.key, m.id FROM %s AS m', g.members);
  events := format('SELECT e.key, e.id, e.refresh FROM %s AS e WHERE e.id IS NOT NULL', g.events);
  BEGIN
    IF dry_run THEN
      RETURN QUERY EXECUTE format('SELECT c.key, c.was, c.id FROM %s AS s, %s AS c', g.settings, changes)
      USING s.query, g.key_type::regtype, path, g.in_order, members, events;
      RETURN;
    END IF;
    EXECUTE format($insert$
      INSERT INTO %s (refresh, key, was, id)
      SELECT s.next_refresh, c.key::%s, c.was, c.id FROM %s AS s, %s AS c $insert$,
      g.events, g.key_type, g.settings, changes)
    USING s.query, g.key_type::regtype, path, g.in_order, members, events;
    GET DIAGNOSTICS n = ROW_COUNT;
  EXCEPTION
    WHEN insufficient_privilege THEN
      RAISE;
    WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
      GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
      RAISE EXCEPTION 'query of grouping "%" failed: %', name, problem
        USING ERRCODE = code,
          DETAIL = format('The query is: %s', s.query),
          HINT = format('To change it: UPDATE %s SET query = ...;', g.settings);
  END;
  IF n = 0 THEN
    RETURN;
  END IF;

  EXECUTE format($merge$
    MERGE INTO %s AS m
    USING (SELECT e.key, e.id FROM %s AS e WHERE e.refresh = $1 AND e.was IS NOT NULL) AS e ON e.key %s m.key
    WHEN MATCHED AND e.id IS NULL THEN DELETE
    WHEN MATCHED THEN UPDATE SET id = e.id $merge$, g.members, g.events, g.same_key)
  USING s.next_refresh;
  GET DIAGNOSTICS n_changed = ROW_COUNT;
  -- new rows in the order of the query, which a join would not keep
  EXECUTE format('INSERT INTO %s (key, id) SELECT e.key, e.id FROM %s AS e'
    ' WHERE e.refresh = $1 AND e.was IS NULL', g.members, g.events)
  USING s.next_refresh;
  GET DIAGNOSTICS n_new = ROW_COUNT;
  EXECUTE format($update$
    UPDATE %s SET next_refresh = next_refresh + 1,
      next_id = greatest(next_id, (SELECT max(e.id) + 1 FROM %s AS e WHERE e.refresh = $1)) $update$,
    g.settings, g.events)
  USING s.next_refresh;
  GET DIAGNOSTICS n_settings = ROW_COUNT;
  IF n_changed + n_new <> n OR n_settings <> 1 THEN
    RAISE EXCEPTION 'rows of grouping "%" were not written', name
      USING ERRCODE = 'triggered_data_change_violation',
        DETAIL = format('%s changes of groups and %s rows of settings differ from what was to be written.',
          n - n_changed - n_new, n_settings - 1),
        HINT = 'A trigger or a rule may have kept them.';
  END IF;
  RETURN QUERY EXECUTE format('SELECT concat(e.key), e.was, e.id FROM %s AS e WHERE e.refresh = $1', g.events)
  USING s.next_refresh;
END $$;
COMMENT ON FUNCTION simdup_regroup(text, boolean, text) IS
  'refreshes a grouping; the rows whose group changes, keys as text, NULL for no group';

CREATE FUNCTION simdup_group_of(name text, id bigint, path text DEFAULT current_setting('search_path'))
RETURNS bigint LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  g record;
  now_in bigint;
BEGIN
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
  INTO STRICT g USING name, path, false;
  EXECUTE format('SELECT m.id FROM %s AS m WHERE m.id = $1 LIMIT 1', g.members) INTO now_in USING id;
  IF now_in IS NULL THEN
    -- its last rows left it in one refresh
    EXECUTE format($query$
      SELECT m.id
      FROM %1$s AS e JOIN %2$s AS m ON m.key %3$s e.key
      WHERE e.was = $1 AND e.refresh = (SELECT max(l.refresh) FROM %1$s AS l WHERE l.was = $1)
      GROUP BY m.id
      ORDER BY count(*) DESC, m.id LIMIT 1 $query$, g.events, g.members, g.same_key)
    INTO now_in USING id;
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
  g record;
  n bigint;
BEGIN
  EXECUTE format('SELECT g.* FROM %s.simdup_grouping($1, $2, $3) AS g', x)
  INTO STRICT g USING name, path, false;
  EXECUTE format('LOCK TABLE %s, %s IN ACCESS EXCLUSIVE MODE', g.settings, g.decisions);
  EXECUTE format('SELECT count(*) FROM %s', g.decisions) INTO STRICT n;
  IF n > 0 AND with_decisions IS NOT TRUE THEN
    RAISE EXCEPTION 'grouping "%" has decisions', name
      USING ERRCODE = 'dependent_objects_still_exist',
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

-- What simdup_decide and simdup_undecide share. Return the grouping, the keys as arrays, the different
-- pairs with the smaller key first, and these pairs both ways round. A decision may be stored with the
-- larger key first. The last two are parts of a statement, in which $1 and $2 are the keys. Wait for
-- other refreshes if there is to be one.
CREATE FUNCTION simdup_decision(
  name text, path text, refresh boolean, type_of_keys regtype, INOUT a text, INOUT b text,
  OUT members regclass, OUT decisions regclass, OUT key_type text, OUT same_key text, OUT in_order text,
  OUT pairs text, OUT both_ways text, OUT n_pairs bigint
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  settings text;
  given text;
  l record;
BEGIN
  IF refresh IS NULL THEN
    RAISE EXCEPTION 'refresh must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  EXECUTE format('SELECT g.members, g.decisions, g.settings, g.key_type, g.same_key, g.in_order'
    ' FROM %s.simdup_grouping($1, $2, $3) AS g', x)
  INTO STRICT members, decisions, settings, key_type, same_key, in_order USING name, path, refresh;
  IF num_nulls(a, b) > 0 THEN
    RAISE EXCEPTION 'a and b must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  IF (SELECT t.typcategory <> 'A' FROM pg_type AS t WHERE t.oid = type_of_keys) THEN
    a := ARRAY[a];
    b := ARRAY[b];
  END IF;

  -- in FROM, unnest would part composite keys into columns
  given := format('(SELECT unnest($1::%1$s[]) AS a, unnest($2::%1$s[]) AS b) AS u', key_type);
  pairs := format('(SELECT DISTINCT least(u.a, u.b) AS a, greatest(u.a, u.b) AS b FROM %s) AS p', given);
  both_ways := format('%s CROSS JOIN LATERAL (VALUES (p.a, p.b), (p.b, p.a)) AS t (a, b)', pairs);
  EXECUTE format($query$
    SELECT coalesce(array_ndims($1::%1$s[]), 1) AS a_dims, cardinality($1::%1$s[]) AS a,
      coalesce(array_ndims($2::%1$s[]), 1) AS b_dims, cardinality($2::%1$s[]) AS b,
      count(*) FILTER (WHERE num_nulls(u.a, u.b) > 0) AS nulls,
      min(concat(u.a)) FILTER (WHERE u.a %2$s u.b) AS itself,
      count(DISTINCT ROW(least(u.a, u.b), greatest(u.a, u.b))) AS pairs
    FROM %3$s $query$, key_type, same_key, given)
  INTO STRICT l USING a, b;
  IF l.a_dims > 1 OR l.b_dims > 1 OR l.a <> l.b THEN
    RAISE EXCEPTION 'a and b must be one-dimensional arrays of one length'
      USING ERRCODE = 'array_subscript_error',
        DETAIL = format('They have %s and %s elements in %s and %s dimensions.',
          l.a, l.b, l.a_dims, l.b_dims);
  ELSIF l.nulls > 0 THEN
    RAISE EXCEPTION 'keys of a decision must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF l.itself IS NOT NULL THEN
    RAISE EXCEPTION 'a decision is about two rows'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Both are (%s).', l.itself);
  END IF;
  n_pairs := l.pairs;
  IF refresh THEN
    EXECUTE format('UPDATE %s SET next_refresh = next_refresh', settings);
  END IF;
END $$;
COMMENT ON FUNCTION simdup_decision(text, text, boolean, regtype, text, text) IS
  'implementation of simdup_decide: the grouping and the pairs, which are checked';

-- A decision takes the place of another about its pair, which is deleted. So the columns by and at are
-- always their defaults, and nobody needs a right to update. The latest of two sessions waits for the
-- other, and counts.
CREATE FUNCTION simdup_decide(
  name text, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL,
  refresh boolean DEFAULT true, path text DEFAULT current_setting('search_path')
) RETURNS TABLE (key text, was bigint, id bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 SET DateStyle = ISO AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  g record;
  n_stored bigint;
  n_against bigint;
  against record;
  absent record;
BEGIN
  IF same IS NULL THEN
    RAISE EXCEPTION 'same must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  EXECUTE format('SELECT g.* FROM %s.simdup_decision($1, $2, $3, $4, $5, $6) AS g', x)
  INTO STRICT g
  USING name, path, refresh, pg_typeof(a),
    CASE WHEN num_nulls(a) = 0 THEN concat(a) END, CASE WHEN num_nulls(b) = 0 THEN concat(b) END;

  -- Most are about pairs without another, so insert first. In the order of keys, two sessions that insert
  -- the same pairs do not lock each other out.
  FOR attempt IN 1 .. 10 LOOP
    EXECUTE format($insert$
      INSERT INTO %s (a, b, same, note)
      SELECT p.a, p.b, $3, $4 FROM %s
      WHERE NOT EXISTS (SELECT FROM %1$s AS d WHERE d.a %3$s p.b AND d.b %3$s p.a)
      ORDER BY p.a, p.b
      ON CONFLICT DO NOTHING $insert$, g.decisions, g.pairs, g.same_key)
    USING g.a, g.b, same, note;
    GET DIAGNOSTICS n_stored = ROW_COUNT;
    EXIT WHEN n_stored = g.n_pairs;
    EXECUTE format('DELETE FROM %s AS d USING %s WHERE d.a %s t.a AND d.b %3$s t.b AND d.same <> $3',
      g.decisions, g.both_ways, g.same_key)
    USING g.a, g.b, same;
    EXECUTE format($query$
      SELECT count(DISTINCT ROW(p.a, p.b))
      FROM %s JOIN %s AS d ON d.a %s t.a AND d.b %3$s t.b
      WHERE d.same = $3 $query$, g.both_ways, g.decisions, g.same_key)
    INTO STRICT n_stored USING g.a, g.b, same;
    EXIT WHEN n_stored = g.n_pairs;
  END LOOP;
  IF n_stored <> g.n_pairs THEN
    RAISE EXCEPTION 'decisions of grouping "%" were not stored', name
      USING ERRCODE = 'serialization_failure',
        DETAIL = format('%s of %s pairs have another decision.', g.n_pairs - n_stored, g.n_pairs),
        HINT = 'Another session may have decided at the same time,'
          ' or a trigger may have kept them. Try again.';
  END IF;

  IF NOT row_security_active(g.decisions) THEN
    -- mostly there is none, which needs no order
    EXECUTE format('SELECT FROM %s.simdup_contradictions($1, $2) LIMIT 1', x)
    USING format('SELECT d.a, d.b, d.same FROM %s AS d', g.decisions), g.key_type::regtype;
    GET DIAGNOSTICS n_against = ROW_COUNT;
    IF n_against > 0 THEN
      EXECUTE format($query$
        SELECT c.a, c.b, c.chain
        FROM %s.simdup_contradictions($3, $4) AS c JOIN %s ON t.a %s c.a::%s AND t.b %3$s c.b::%4$s
        WHERE c.same = $5
        LIMIT 1 $query$, x, g.both_ways, g.same_key, g.key_type)
      INTO against USING g.a, g.b, g.in_order, g.key_type::regtype, same;
      IF against.a IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
          MESSAGE = format(
            CASE WHEN same THEN 'decision that rows %s and %s are the same contradicts others'
              ELSE 'decision that rows %s and %s are not the same contradicts others' END,
            against.a, against.b),
          DETAIL = format('It was decided that %s.', against.chain),
          HINT = 'Take a decision back with simdup_undecide.';
      END IF;
    END IF;
  END IF;
  IF has_table_privilege(g.members, 'SELECT') THEN
    EXECUTE format($query$
      SELECT count(DISTINCT k.key) AS n, min(concat(k.key)) AS key
      FROM (SELECT unnest($1::%1$s[] || $2::%1$s[]) AS key) AS k
      WHERE NOT EXISTS (SELECT FROM %s AS m WHERE m.key %s k.key) $query$, g.key_type, g.members, g.same_key)
    INTO STRICT absent USING g.a, g.b;
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
) RETURNS TABLE (key text, was bigint, id bigint) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET row_security = off SET extra_float_digits = 1 SET DateStyle = ISO AS $$
#variable_conflict error
DECLARE
  x text := (SELECT e.extnamespace::regnamespace FROM pg_extension AS e WHERE e.extname = 'simdup');
  g record;
  n bigint;
  missing text;
BEGIN
  EXECUTE format('SELECT g.* FROM %s.simdup_decision($1, $2, $3, $4, $5, $6) AS g', x)
  INTO STRICT g
  USING name, path, refresh, pg_typeof(a),
    CASE WHEN num_nulls(a) = 0 THEN concat(a) END, CASE WHEN num_nulls(b) = 0 THEN concat(b) END;
  EXECUTE format($query$
    SELECT min(concat(p.a, ' and ', p.b))
    FROM %s
    WHERE NOT EXISTS (SELECT FROM %s AS d WHERE d.a %s p.a AND d.b %3$s p.b)
      AND NOT EXISTS (SELECT FROM %2$s AS d WHERE d.a %3$s p.b AND d.b %3$s p.a) $query$,
    g.pairs, g.decisions, g.same_key)
  INTO STRICT missing USING g.a, g.b;
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION 'there is no decision about rows %', missing USING ERRCODE = 'no_data_found';
  END IF;
  EXECUTE format('DELETE FROM %s AS d USING %s WHERE d.a %s t.a AND d.b %3$s t.b',
    g.decisions, g.both_ways, g.same_key)
  USING g.a, g.b;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n < g.n_pairs THEN
    RAISE EXCEPTION 'decisions of grouping "%" were not deleted', name
      USING ERRCODE = 'triggered_data_change_violation', HINT = 'A trigger or a rule may have kept them.';
  END IF;
  IF refresh THEN
    RETURN QUERY EXECUTE format('SELECT r.* FROM %s.simdup_regroup($1, $2, $3) AS r', x)
    USING name, false, path;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_undecide(text, anycompatible, anycompatible, boolean, text) IS
  'takes a decision about two rows back, or about arrays of pairs; the rows whose group changes';
