
--
-- groups: tables over a query, refreshed like a materialized view
--
-- A grouping is four plain tables of its owner. These functions run with the rights
-- and the search_path of the caller, so they call nothing unqualified. The variable
-- x is the schema of this extension.

CREATE FUNCTION simdup_key_equality(key_type regtype) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_key_equality(regtype) IS
  'implementation of simdup_regroup: the equality of a type of keys, to stand in a statement';

CREATE FUNCTION simdup_place(
  key_type anyelement, decisions text, query text DEFAULT NULL, members text DEFAULT NULL, events text DEFAULT NULL,
  max_distance integer DEFAULT 8, method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', next_id bigint DEFAULT 1,
  OUT key anyelement, OUT was bigint, OUT id bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_place(anyelement, text, text, text, text, integer, text, float8, integer, text, bigint) IS
  'implementation of simdup_regroup: the rows whose group changes; without a query, decisions are checked';

-- The tables of a grouping, quoted, and what statements about its keys need. An
-- owner must own all four, and nobody else may write the settings or add triggers:
-- the settings hold a query, and triggers run as the owner.
CREATE FUNCTION simdup_grouping(
  target regclass, name text, needs_owner boolean,
  OUT members text, OUT decisions text, OUT events text, OUT settings text, OUT key_type text, OUT same_key text
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place record;
  part text;
  tables text[];
  writer text;
  n_settings bigint;
  type oid;
BEGIN
  IF target IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_table', MESSAGE = format('grouping "%s" does not exist', name),
      HINT = 'Create it with simdup_group.';
  END IF;
  SELECT n.nspname, c.relname INTO STRICT place FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.oid = target;
  FOREACH part IN ARRAY ARRAY['', '_decisions', '_events', '_settings'] LOOP
    PERFORM FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = place.nspname AND c.relname = place.relname || part AND c.relkind = 'r';
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('"%s" is not a grouping', place.relname),
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
    FOREACH part IN ARRAY tables LOOP
      PERFORM FROM pg_class WHERE oid = part::regclass AND relowner <> current_user::regrole;
      IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('must be owner of table %s', part),
          DETAIL = 'A grouping runs the query of its settings, so one role must own its four tables.',
          HINT = 'SET ROLE to the owner of the four tables.';
      END IF;
    END LOOP;
    SELECT format('%s on %s', privilege_type, c.oid::regclass) INTO writer FROM (
      SELECT c.oid, c.relowner, c.relacl FROM pg_class AS c
      UNION ALL SELECT c.oid, c.relowner, a.attacl FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    ) AS c, aclexplode(c.relacl) WHERE c.oid = ANY (tables::regclass[]) AND grantee <> c.relowner
      AND (privilege_type = 'TRIGGER' OR c.oid = settings::regclass AND privilege_type IN ('INSERT', 'UPDATE')) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
        MESSAGE = format('another role has the privilege %s', writer),
        DETAIL = 'It could make the owner run statements that are not the owner''s.', HINT = 'Revoke the privilege.';
    END IF;
    EXECUTE 'SELECT FROM ' || settings;
    GET DIAGNOSTICS n_settings = ROW_COUNT;
    IF n_settings = 0 THEN
      RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE = format('grouping "%s" has no settings', name),
        DETAIL = format('Table %s is empty.', settings), HINT = 'Restore its row, or create the grouping anew.';
    END IF;
  END IF;
  SELECT t.oid, format('%I.%I', n.nspname, t.typname) INTO STRICT type, key_type
  FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = t.typnamespace
  WHERE a.attrelid = target AND a.attname = 'key';
  EXECUTE format('SELECT %s.simdup_key_equality($1)', (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'simdup'))
    INTO STRICT same_key USING type::regtype;
END $$;
COMMENT ON FUNCTION simdup_grouping(regclass, text, boolean) IS
  'implementation of simdup_regroup: the tables of one, and its type of keys';

CREATE FUNCTION simdup_group(
  name text, query text, max_distance integer DEFAULT 8, method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  parts pg_catalog.text[] := pg_catalog.parse_ident(name);
  n pg_catalog.int4 := pg_catalog.cardinality(parts);
  relation pg_catalog.text := parts[n];
  place pg_catalog.text := COALESCE(parts[n OPERATOR(pg_catalog.-) 1], pg_catalog.current_schema());
  type pg_catalog.regtype;
  key_type pg_catalog.text;
  tables pg_catalog.text[];
  stranger pg_catalog.text;
BEGIN
  IF pg_catalog.num_nulls(name, query, max_distance, method, w, unit) OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
      MESSAGE = 'name, query, max_distance, method, w and unit must not be null';
  ELSIF n OPERATOR(pg_catalog.>) 2 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_name', MESSAGE = pg_catalog.format('invalid name of a grouping: "%s"', name),
      HINT = 'Write schema.name, or a name alone.';
  ELSIF pg_catalog.octet_length(relation) OPERATOR(pg_catalog.>) 53 THEN
    RAISE EXCEPTION USING ERRCODE = 'name_too_long', MESSAGE = pg_catalog.format('name of grouping "%s" is too long', relation),
      DETAIL = pg_catalog.format('It has %s bytes. The longest name has 53.', pg_catalog.octet_length(relation));
  ELSIF place IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_schema_name', MESSAGE = 'no schema has been selected to create in';
  ELSIF query OPERATOR(pg_catalog.~) '^\s*[^\s()]+\s*$' THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
      MESSAGE = 'argument "query" must be a single SELECT that changes and locks nothing',
      DETAIL = pg_catalog.format('The query is: %s', query),
      HINT = pg_catalog.format('For the rows of a table, write: SELECT id, minhash64(content) FROM %s', query);
  END IF;
  query := pg_catalog.rtrim(query, E' \t\r\n;');
  -- without a row, the query tells its type of keys and is checked
  EXECUTE pg_catalog.format(E'SELECT pg_catalog.pg_typeof((SELECT q.key FROM (%s\n) AS q (key) LIMIT 0))', query) INTO STRICT type;
  SELECT pg_catalog.format('%I.%I', s.nspname, t.typname) INTO STRICT key_type
  FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS s ON s.oid OPERATOR(pg_catalog.=) t.typnamespace
  WHERE t.oid OPERATOR(pg_catalog.=) type;
  EXECUTE pg_catalog.format('SELECT %s.simdup_key_equality($1)', x) USING type;
  EXECUTE pg_catalog.format('SELECT FROM %s.simdup_place(NULL::%s, NULL::pg_catalog.text, $1, NULL::pg_catalog.text,'
    ' NULL::pg_catalog.text, $2, $3, $4, $5, $6)', x, key_type)
    USING pg_catalog.format(E'SELECT * FROM (%s\n) AS q LIMIT 0', query), max_distance, method, min_resemblance, w, unit;
  tables := ARRAY[pg_catalog.format('%I.%I', place, relation), pg_catalog.format('%I.%I', place, pg_catalog.concat(relation, '_decisions')),
    pg_catalog.format('%I.%I', place, pg_catalog.concat(relation, '_events')), pg_catalog.format('%I.%I', place, pg_catalog.concat(relation, '_settings'))];
  EXECUTE pg_catalog.format($create$
    CREATE TABLE %1$s (key %5$s PRIMARY KEY, id pg_catalog.int8 NOT NULL);
    CREATE TABLE %2$s (a %5$s NOT NULL, b %5$s NOT NULL, same pg_catalog.bool NOT NULL, note pg_catalog.text,
      by pg_catalog.name NOT NULL DEFAULT CURRENT_USER, at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(), PRIMARY KEY (a, b));
    CREATE TABLE %3$s (refresh pg_catalog.int8, key %5$s, was pg_catalog.int8, id pg_catalog.int8,
      at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now(), PRIMARY KEY (refresh, key));
    CREATE TABLE %4$s (one pg_catalog.bool PRIMARY KEY DEFAULT true CHECK (one), query pg_catalog.text NOT NULL,
      max_distance pg_catalog.int4 NOT NULL, method pg_catalog.text NOT NULL, min_resemblance pg_catalog.float8,
      w pg_catalog.int4 NOT NULL, unit pg_catalog.text NOT NULL,
      next_id pg_catalog.int8 NOT NULL DEFAULT 1, next_refresh pg_catalog.int8 NOT NULL DEFAULT 1);
    COMMENT ON TABLE %1$s IS 'simdup: the group of each row';
    COMMENT ON TABLE %2$s IS %6$L;
    COMMENT ON TABLE %3$s IS %7$L;
    COMMENT ON TABLE %4$s IS %8$L;$create$,
    tables[1], tables[2], tables[3], tables[4], key_type, pg_catalog.format('simdup: what people decided about rows of %s', relation),
    pg_catalog.format('simdup: the rows of %s whose group changed, by refresh', relation),
    pg_catalog.format('simdup: the query of %s, which its owner runs; nobody else may write it', relation));
  EXECUTE pg_catalog.format('INSERT INTO %s (query, max_distance, method, min_resemblance, w, unit) VALUES ($1, $2, $3, $4, $5, $6)', tables[4])
    USING query, max_distance, method, min_resemblance, w, unit;
  -- default privileges may have granted more
  FOR relation, stranger IN
    SELECT c.oid::pg_catalog.regclass, pg_catalog.quote_ident(r.rolname) FROM pg_catalog.pg_class AS c,
      pg_catalog.aclexplode(c.relacl) AS a LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) a.grantee
    WHERE c.oid OPERATOR(pg_catalog.=) ANY (tables::pg_catalog.regclass[]) AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
  LOOP
    EXECUTE pg_catalog.format('REVOKE INSERT, UPDATE, TRIGGER ON %s FROM %s', relation, COALESCE(stranger, 'PUBLIC'));
  END LOOP;
END $$;
COMMENT ON FUNCTION simdup_group(text, text, integer, text, float8, integer, text) IS
  'creates a grouping of a query''s rows (key, fingerprint): four empty tables, for simdup_regroup to fill';

CREATE FUNCTION simdup_regroup(name text, dry_run boolean DEFAULT false) RETURNS TABLE (key text, was bigint, id bigint)
  LANGUAGE plpgsql ROWS 1000 SET row_security = off AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  s record;
  place pg_catalog.text;
  statement pg_catalog.text;
  newest pg_catalog.int8;
  n pg_catalog.int8;
  n_left pg_catalog.int8;
  problem pg_catalog.text;
  code pg_catalog.text;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  -- one refresh at a time; a dry run waits for nobody
  EXECUTE pg_catalog.concat('SELECT * FROM ', g.settings, CASE WHEN dry_run THEN '' ELSE ' FOR UPDATE' END) INTO STRICT s;
  place := pg_catalog.format('%s.simdup_place(NULL::%s, %L, $1, %L, %L, $2, $3, $4, $5, $6, $7) AS p', x, g.key_type,
    pg_catalog.concat('SELECT a, b, same FROM ', g.decisions), pg_catalog.concat('SELECT key, id FROM ', g.members),
    pg_catalog.format('SELECT key, id, refresh FROM %s WHERE id IS NOT NULL', g.events));
  BEGIN
    IF dry_run THEN
      RETURN QUERY EXECUTE pg_catalog.format('SELECT pg_catalog.format(''%%s'', p.key), p.was, p.id FROM %s', place)
        USING s.query, s.max_distance, s.method, s.min_resemblance, s.w, s.unit, s.next_id;
      RETURN;
    END IF;
    EXECUTE pg_catalog.format('INSERT INTO %s (refresh, key, was, id) SELECT $8, p.key, p.was, p.id FROM %s', g.events, place)
      USING s.query, s.max_distance, s.method, s.min_resemblance, s.w, s.unit, s.next_id, s.next_refresh;
    GET DIAGNOSTICS n_left = ROW_COUNT;
  EXCEPTION WHEN insufficient_privilege THEN
    RAISE;
  WHEN syntax_error_or_access_rule_violation OR invalid_schema_name THEN
    GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
    RAISE EXCEPTION USING ERRCODE = code, MESSAGE = pg_catalog.format('query of grouping "%s" failed: %s', name, problem),
      DETAIL = pg_catalog.format('The query is: %s', s.query), HINT = pg_catalog.format('To change it: UPDATE %s SET query = ...;', g.settings);
  END;
  IF n_left OPERATOR(pg_catalog.=) 0 THEN
    RETURN;
  END IF;
  FOREACH statement IN ARRAY ARRAY[
    'DELETE FROM %1$s AS m WHERE EXISTS (SELECT FROM %2$s AS e WHERE e.refresh OPERATOR(pg_catalog.=) $1 AND e.id IS NULL AND e.key %3$s m.key)',
    'UPDATE %1$s AS m SET id = e.id FROM %2$s AS e WHERE e.refresh OPERATOR(pg_catalog.=) $1 AND e.was IS NOT NULL AND e.id IS NOT NULL AND e.key %3$s m.key',
    'INSERT INTO %1$s (key, id) SELECT e.key, e.id FROM %2$s AS e WHERE e.refresh OPERATOR(pg_catalog.=) $1 AND e.was IS NULL'] LOOP
    EXECUTE pg_catalog.format(statement, g.members, g.events, g.same_key) USING s.next_refresh;
    GET DIAGNOSTICS n = ROW_COUNT;
    n_left := n_left OPERATOR(pg_catalog.-) n;
  END LOOP;
  EXECUTE pg_catalog.format('SELECT pg_catalog.max(e.id) FROM %s AS e WHERE e.refresh OPERATOR(pg_catalog.=) $1', g.events)
    INTO STRICT newest USING s.next_refresh;
  EXECUTE pg_catalog.format('UPDATE %s SET next_id = $1, next_refresh = $2', g.settings)
    USING GREATEST(s.next_id, newest OPERATOR(pg_catalog.+) 1), s.next_refresh OPERATOR(pg_catalog.+) 1;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n_left OPERATOR(pg_catalog.<>) 0 OR n OPERATOR(pg_catalog.<>) 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'triggered_data_change_violation',
      MESSAGE = pg_catalog.format('rows of grouping "%s" were not written', name),
      DETAIL = pg_catalog.format('%s changes of groups and %s rows of settings differ from what was to be written.',
        n_left, n OPERATOR(pg_catalog.-) 1), HINT = 'A trigger or a rule may have kept them.';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format('SELECT pg_catalog.format(''%%s'', e.key), e.was, e.id FROM %s AS e'
    ' WHERE e.refresh OPERATOR(pg_catalog.=) $1', g.events) USING s.next_refresh;
END $$;
COMMENT ON FUNCTION simdup_regroup(text, boolean) IS
  'refreshes a grouping; the rows whose group changes, keys as text, NULL for no group';

CREATE FUNCTION simdup_group_of(name text, id bigint) RETURNS bigint LANGUAGE plpgsql STABLE SET row_security = off AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  now_in pg_catalog.int8;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, false)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.format('SELECT m.id FROM %s AS m WHERE m.id OPERATOR(pg_catalog.=) $1 LIMIT 1', g.members) INTO now_in USING id;
  IF now_in IS NULL THEN
    -- its last rows left it in one refresh
    EXECUTE pg_catalog.format('SELECT m.id FROM %1$s AS e JOIN %2$s AS m ON m.key %3$s e.key WHERE e.was OPERATOR(pg_catalog.=) $1'
      ' AND e.refresh OPERATOR(pg_catalog.=) (SELECT pg_catalog.max(l.refresh) FROM %1$s AS l WHERE l.was OPERATOR(pg_catalog.=) $1)'
      ' GROUP BY m.id ORDER BY pg_catalog.count(*) DESC, m.id LIMIT 1', g.events, g.members, g.same_key) INTO now_in USING id;
  END IF;
  RETURN now_in;
END $$;
COMMENT ON FUNCTION simdup_group_of(text, bigint) IS
  'the id of the group where most of the last rows of an id are now; NULL if there are none';

CREATE FUNCTION simdup_ungroup(name text, with_decisions boolean DEFAULT false) RETURNS void LANGUAGE plpgsql SET row_security = off AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  n pg_catalog.int8;
BEGIN
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, false)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.format('LOCK TABLE %s, %s IN ACCESS EXCLUSIVE MODE', g.settings, g.decisions);
  EXECUTE pg_catalog.concat('SELECT pg_catalog.count(*) FROM ', g.decisions) INTO STRICT n;
  IF n OPERATOR(pg_catalog.>) 0 AND with_decisions IS NOT TRUE THEN
    RAISE EXCEPTION USING ERRCODE = 'dependent_objects_still_exist', MESSAGE = pg_catalog.format('grouping "%s" has decisions', name),
      DETAIL = pg_catalog.format('Table %s has %s rows.', g.decisions, n), HINT = 'To drop them too, pass with_decisions => true.';
  END IF;
  EXECUTE pg_catalog.format('DROP TABLE %s, %s, %s, %s', g.members, g.decisions, g.events, g.settings);
END $$;
COMMENT ON FUNCTION simdup_ungroup(text, boolean) IS
  'drops the four tables of a grouping; decisions only if told to';

--
-- groups: people's decisions
--

-- Return the keys of pairs as two arrays in text form, and the number of different
-- pairs. a and b are two keys or two arrays of keys. A key may be given as text.
CREATE FUNCTION simdup_decision_pairs(
  key_type text, same_key text, a anycompatible, b anycompatible, OUT a_keys text, OUT b_keys text, OUT n bigint
) LANGUAGE plpgsql STABLE SET extra_float_digits = 1 SET DateStyle = ISO AS $$
DECLARE
  is_array pg_catalog.bool := (SELECT t.typcategory OPERATOR(pg_catalog.=) 'A' FROM pg_catalog.pg_type AS t
                               WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(a)::pg_catalog.oid);
  l record;
BEGIN
  a_keys := CASE WHEN pg_catalog.num_nulls(a) OPERATOR(pg_catalog.=) 1 THEN NULL WHEN is_array THEN pg_catalog.format('%s', a)
    ELSE pg_catalog.format('%s', ARRAY[pg_catalog.format('%s', a)]) END;
  b_keys := CASE WHEN pg_catalog.num_nulls(b) OPERATOR(pg_catalog.=) 1 THEN NULL WHEN is_array THEN pg_catalog.format('%s', b)
    ELSE pg_catalog.format('%s', ARRAY[pg_catalog.format('%s', b)]) END;
  EXECUTE pg_catalog.format('SELECT COALESCE(pg_catalog.array_ndims(l.a), 1) AS a_dims, COALESCE(pg_catalog.array_ndims(l.b), 1) AS b_dims,'
    ' pg_catalog.cardinality(l.a) AS a, pg_catalog.cardinality(l.b) AS b FROM (SELECT $1::%1$s[] AS a, $2::%1$s[] AS b) AS l', key_type)
    INTO STRICT l USING a_keys, b_keys;
  IF l.a IS NULL OR l.b IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'a and b must not be null';
  ELSIF l.a_dims OPERATOR(pg_catalog.>) 1 OR l.b_dims OPERATOR(pg_catalog.>) 1 OR l.a OPERATOR(pg_catalog.<>) l.b THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = 'a and b must be one-dimensional arrays of one length',
      DETAIL = pg_catalog.format('They have %s and %s elements in %s and %s dimensions.', l.a, l.b, l.a_dims, l.b_dims);
  END IF;
  EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FILTER (WHERE pg_catalog.num_nulls(u.a, u.b) OPERATOR(pg_catalog.>) 0) AS nulls,'
    ' pg_catalog.min(pg_catalog.format(''%%s'', u.a)) FILTER (WHERE u.a %2$s u.b) AS itself,'
    ' pg_catalog.count(DISTINCT ROW(LEAST(u.a, u.b), GREATEST(u.a, u.b))) AS pairs'
    ' FROM (SELECT pg_catalog.unnest($1::%1$s[]) AS a, pg_catalog.unnest($2::%1$s[]) AS b) AS u', key_type, same_key)
    INTO STRICT l USING a_keys, b_keys;
  IF l.nulls OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'keys of a decision must not be null';
  ELSIF l.itself IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'a decision is about two rows',
      DETAIL = pg_catalog.format('Both are (%s).', l.itself);
  END IF;
  n := l.pairs;
END $$;
COMMENT ON FUNCTION simdup_decision_pairs(text, text, anycompatible, anycompatible) IS
  'implementation of simdup_decide: the pairs as arrays of texts, checked';

-- A decision about a pair takes the place of an earlier one. A role that may not
-- read the decisions can only add to them.
CREATE FUNCTION simdup_decide(
  name text, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL, refresh boolean DEFAULT true
) RETURNS TABLE (key text, was bigint, id bigint) LANGUAGE plpgsql AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  given record;
  pairs pg_catalog.text;
  n_stored pg_catalog.int8;
BEGIN
  IF same IS NULL OR refresh IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'same and refresh must not be null';
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, $3)', x) INTO STRICT g
    USING pg_catalog.to_regclass(name), name, refresh;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_decision_pairs($1, $2, $3, $4)', x) INTO STRICT given USING g.key_type, g.same_key, a, b;
  pairs := pg_catalog.format('(SELECT DISTINCT LEAST(u.a, u.b) AS a, GREATEST(u.a, u.b) AS b'
    ' FROM (SELECT pg_catalog.unnest($1::%1$s[]) AS a, pg_catalog.unnest($2::%1$s[]) AS b) AS u ORDER BY 1, 2) AS p', g.key_type);
  IF refresh THEN
    EXECUTE pg_catalog.concat('UPDATE ', g.settings, ' SET next_refresh = next_refresh');
  END IF;
  IF pg_catalog.has_table_privilege(g.decisions, 'SELECT') AND NOT pg_catalog.row_security_active(g.decisions) THEN
    EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FROM %s JOIN %s AS d ON d.a %3$s p.a AND d.b %3$s p.b'
      ' WHERE d.same OPERATOR(pg_catalog.<>) $3', pairs, g.decisions, g.same_key) INTO STRICT n_stored USING given.a_keys, given.b_keys, same;
    IF n_stored OPERATOR(pg_catalog.>) 0 THEN
      EXECUTE pg_catalog.format('UPDATE %2$s AS d SET same = $3, note = $4, by = DEFAULT, at = DEFAULT FROM %1$s'
        ' WHERE d.a %3$s p.a AND d.b %3$s p.b AND d.same OPERATOR(pg_catalog.<>) $3', pairs, g.decisions, g.same_key) USING given.a_keys, given.b_keys, same, note;
    END IF;
    EXECUTE pg_catalog.format('INSERT INTO %2$s (a, b, same, note) SELECT p.a, p.b, $3, $4 FROM %1$s ON CONFLICT DO NOTHING',
      pairs, g.decisions) USING given.a_keys, given.b_keys, same, note;
    EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FROM %s JOIN %s AS d ON d.a %3$s p.a AND d.b %3$s p.b'
      ' WHERE d.same OPERATOR(pg_catalog.=) $3', pairs, g.decisions, g.same_key) INTO STRICT n_stored USING given.a_keys, given.b_keys, same;
    IF n_stored OPERATOR(pg_catalog.<>) given.n THEN
      RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = pg_catalog.format('decisions of grouping "%s" were not stored', name),
        DETAIL = pg_catalog.format('%s of %s pairs have another decision.', given.n OPERATOR(pg_catalog.-) n_stored, given.n),
        HINT = 'Another session may have decided at the same time, or a trigger may have kept them. Try again.';
    END IF;
    EXECUTE pg_catalog.format('SELECT FROM %s.simdup_place(NULL::%s, $1)', x, g.key_type)
      USING pg_catalog.concat('SELECT a, b, same FROM ', g.decisions);
  ELSE
    EXECUTE pg_catalog.format('INSERT INTO %2$s (a, b, same, note) SELECT p.a, p.b, $3, $4 FROM %1$s ON CONFLICT DO NOTHING',
      pairs, g.decisions) USING given.a_keys, given.b_keys, same, note;
    GET DIAGNOSTICS n_stored = ROW_COUNT;
    IF n_stored OPERATOR(pg_catalog.<>) given.n THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = pg_catalog.format('permission denied for table %s', g.decisions),
        DETAIL = pg_catalog.format('%s of %s pairs have a decision, which the role may not read.', given.n OPERATOR(pg_catalog.-) n_stored, given.n),
        HINT = 'With SELECT on the table, the same decision again is no error.';
    END IF;
  END IF;
  IF refresh THEN
    RETURN QUERY EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_regroup($1)', x) USING name;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_decide(text, anycompatible, anycompatible, boolean, text, boolean) IS
  'decides whether two rows are the same, or arrays of pairs; the rows whose group changes';

CREATE FUNCTION simdup_undecide(name text, a anycompatible, b anycompatible, refresh boolean DEFAULT true)
  RETURNS TABLE (key text, was bigint, id bigint) LANGUAGE plpgsql SET row_security = off AS $$
#variable_conflict error
DECLARE
  x pg_catalog.text := (SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text FROM pg_catalog.pg_extension AS e
                        WHERE e.extname OPERATOR(pg_catalog.=) 'simdup');
  g record;
  given record;
  pairs pg_catalog.text;
  n pg_catalog.int8;
  missing pg_catalog.text;
BEGIN
  IF refresh IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'refresh must not be null';
  END IF;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_grouping($1, $2, true)', x) INTO STRICT g USING pg_catalog.to_regclass(name), name;
  EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_decision_pairs($1, $2, $3, $4)', x) INTO STRICT given USING g.key_type, g.same_key, a, b;
  EXECUTE pg_catalog.concat('UPDATE ', g.settings, ' SET next_refresh = next_refresh');
  -- somebody may have written the larger key first
  pairs := pg_catalog.format('(SELECT t.* FROM (SELECT pg_catalog.unnest($1::%1$s[]) AS a, pg_catalog.unnest($2::%1$s[]) AS b) AS u'
    ' CROSS JOIN LATERAL (VALUES (u.a, u.b), (u.b, u.a)) AS t (a, b)) AS p', g.key_type);
  EXECUTE pg_catalog.format('SELECT pg_catalog.min(pg_catalog.format(''%%s and %%s'', l.a, l.b)) FROM (SELECT LEAST(p.a, p.b) AS a, GREATEST(p.a, p.b) AS b'
    ' FROM %1$s LEFT JOIN %2$s AS d ON d.a %3$s p.a AND d.b %3$s p.b GROUP BY 1, 2 HAVING pg_catalog.count(d.a) OPERATOR(pg_catalog.=) 0) AS l',
    pairs, g.decisions, g.same_key) INTO STRICT missing USING given.a_keys, given.b_keys;
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'no_data_found', MESSAGE = pg_catalog.format('there is no decision about rows %s', missing);
  END IF;
  EXECUTE pg_catalog.format('DELETE FROM %2$s AS d WHERE EXISTS (SELECT FROM %1$s WHERE d.a %3$s p.a AND d.b %3$s p.b)',
    pairs, g.decisions, g.same_key) USING given.a_keys, given.b_keys;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n OPERATOR(pg_catalog.=) 0 AND given.n OPERATOR(pg_catalog.>) 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'triggered_data_change_violation',
      MESSAGE = pg_catalog.format('decisions of grouping "%s" were not deleted', name), HINT = 'A trigger or a rule may have kept them.';
  END IF;
  IF refresh THEN
    RETURN QUERY EXECUTE pg_catalog.format('SELECT * FROM %s.simdup_regroup($1)', x) USING name;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_undecide(text, anycompatible, anycompatible, boolean) IS
  'takes a decision about two rows back, or about arrays of pairs; the rows whose group changes';
