
--
-- groups: tables over a source, refreshed like a materialized view
--
-- A grouping is four plain tables of its owner. These functions run with the rights of the caller and
-- under the path of the catalogs. The caller's path only finds the tables that arguments name. Functions
-- of this extension are called with arguments of their exact types, so that no other function in its
-- schema fits better. First it is asserted that the schema has not been renamed, because another role can
-- take its old name. Keys are passed as text.

CREATE FUNCTION simdup_grouping_source(
  source regclass, max_distance integer, method text, min_resemblance float8, w integer, unit text,
  INOUT columns name[], OUT keys_of text, OUT same_key text, OUT less_key text, OUT collation text,
  OUT ordering text, OUT contents_of regtype, OUT statement text
) AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_grouping_source(regclass, integer, text, float8, integer, text, name[]) IS
  'implementation of simdup_group: the columns of a source, checked, and how statements compare its keys';
CREATE FUNCTION simdup_group_changes(
  source regclass, members regclass, decisions regclass, events regclass, max_distance integer, method text,
  min_resemblance float8, w integer, unit text, next_id bigint, columns name[],
  OUT key text, OUT was bigint, OUT id bigint
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_group_changes(regclass, regclass, regclass, regclass, integer, text, float8,
  integer, text, bigint, name[]) IS
  'implementation of simdup_regroup: the rows whose group changes';

-- Return the tables of a grouping, and what statements about its keys need. For the owner, return the
-- settings, too, locked if there is to be a refresh. They name a source, and triggers run as the owner, those
-- of a table with a foreign key perhaps, too. So one role must own the four tables. Nobody else may write the
-- settings, have a trigger, or refer to the tables.
--
-- pairs is a part of a statement in which $1 and $2 are arrays of keys: the different pairs, with the lesser
-- key first. In FROM, unnest would part composite keys into columns.
CREATE FUNCTION simdup_grouping(
  groups regclass, for_owner boolean, locked boolean,
  OUT members regclass, OUT decisions regclass, OUT events regclass, OUT settings regclass,
  OUT keys_of text, OUT same_key text, OUT less_key text, OUT ordering text, OUT pairs text,
  OUT source regclass, OUT max_distance integer, OUT method text, OUT min_resemblance float8, OUT w integer,
  OUT unit text, OUT next_id bigint, OUT next_refresh bigint, OUT columns name[]
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  four record;
  wrong record;
  name text;
  owner text;  -- of the source: in the settings, and now
  new_owner text;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  SELECT g.relname AS name, n.nspname AS schema, array_agg(c.oid ORDER BY e.i) AS tables,
    min(g.relname || e.ending) FILTER (WHERE c.oid IS NULL) AS missing
  INTO four
  FROM pg_class AS g
    JOIN pg_namespace AS n ON n.oid = g.relnamespace
    CROSS JOIN unnest('{"",_decisions,_events,_settings}'::text[]) WITH ORDINALITY AS e (ending, i)
    LEFT JOIN pg_class AS c
      ON c.relnamespace = n.oid AND c.relname = g.relname || e.ending AND c.relkind = 'r'
  WHERE g.oid = groups
  GROUP BY g.relname, n.nspname;
  IF groups IS NULL THEN
    RAISE EXCEPTION 'groups must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF NOT FOUND THEN
    RAISE EXCEPTION 'relation with OID % does not exist', groups
      USING ERRCODE = 'undefined_table';
  ELSIF four.missing IS NOT NULL THEN
    RAISE EXCEPTION '"%" is not a grouping', four.name
      USING ERRCODE = 'wrong_object_type',
        DETAIL = format('There is no table "%s" in schema "%s".', four.missing, four.schema);
  END IF;
  members := groups;
  decisions := four.tables[2];
  events := four.tables[3];
  settings := four.tables[4];
  SELECT k.columns[1], k.keys_of, k.same_key, k.less_key, k.ordering, format($pairs$(
      SELECT DISTINCT CASE WHEN u.a %2$s u.b%3$s THEN u.a ELSE u.b END AS a,
        CASE WHEN u.a %2$s u.b%3$s THEN u.b ELSE u.a END AS b
      FROM (SELECT unnest($1::%1$s[])%4$s AS a, unnest($2::%1$s[])%4$s AS b) AS u) AS p$pairs$,
    k.keys_of, k.less_key, k.ordering, k.collation)
  INTO STRICT name, keys_of, same_key, less_key, ordering, pairs
  FROM @extschema@.simdup_grouping_source(groups, NULL::integer, NULL::text, NULL::float8, NULL::integer,
    NULL::text, NULL::name[]) AS k;
  IF name <> 'key' THEN
    RAISE EXCEPTION 'column "key" of relation "%" does not exist', four.name
      USING ERRCODE = 'undefined_column';
  ELSIF NOT for_owner THEN
    RETURN;
  END IF;

  -- a log of one of our triggers is written, too
  WITH RECURSIVE written (id) AS (
    SELECT unnest(four.tables)
    UNION
    SELECT n.log FROM written CROSS JOIN LATERAL @extschema@.simdup_trigger_names(written.id::regclass) AS n
    WHERE n.log IS NOT NULL)
  SELECT w.* INTO wrong
  FROM (
    SELECT 1, format('must be owner of table %s', c.oid::regclass),
      'A grouping reads the source of its settings, so one role must own its four tables.',
      'A decision needs no owner with refresh => false.'
        ' For the rest, SET ROLE to the owner of the four tables.'
    FROM pg_class AS c
    WHERE c.oid = ANY (four.tables) AND c.relowner <> quote_ident(current_user)::regrole
    UNION ALL
    SELECT 2, format('another role has the privilege %s on %s', g.privilege_type, c.oid::regclass),
      'It could make the owner run statements that are not the owner''s.', 'Revoke the privilege.'
    FROM pg_class AS c
      CROSS JOIN LATERAL (
        SELECT c.relacl UNION ALL SELECT a.attacl FROM pg_attribute AS a WHERE a.attrelid = c.oid) AS l (acl)
      CROSS JOIN aclexplode(l.acl) AS g
    WHERE c.oid IN (TABLE written) AND g.grantee <> c.relowner
      AND (g.privilege_type = 'TRIGGER'
        OR c.oid = ANY (four.tables) AND g.privilege_type = 'REFERENCES'
        OR c.oid = settings AND g.privilege_type IN ('INSERT', 'UPDATE'))
    UNION ALL
    SELECT 3, format('another role owns code that trigger %I on %s runs', t.name, t.id::regclass),
      'It would run as the owner of the grouping.', 'Drop the trigger, or change the code''s owner.'
    FROM (
      SELECT t.tgrelid, t.tgname, p.proowner
      FROM pg_trigger AS t
        JOIN pg_depend AS d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid
        LEFT JOIN pg_operator AS o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        JOIN pg_proc AS p
          ON p.oid = CASE d.refclassid WHEN 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode::oid END
      WHERE t.tgrelid IN (TABLE written) AND NOT t.tgisinternal
      UNION ALL
      SELECT c.id, n.name, o.owner
      FROM written AS c
        CROSS JOIN LATERAL @extschema@.simdup_trigger_names(c.id::regclass) AS n
        CROSS JOIN LATERAL (
          SELECT p.proowner FROM pg_proc AS p WHERE p.oid = n.condition
          UNION ALL SELECT l.relowner FROM pg_class AS l WHERE l.oid = n.log) AS o (owner)
      ) AS t (id, name, owner)
      JOIN pg_roles AS r ON r.oid = t.owner
    WHERE NOT r.rolsuper AND r.rolname <> current_user
    UNION ALL
    SELECT 4, format('table %s of another role refers to %s', c.oid::regclass, f.confrelid::regclass),
      'Its triggers could run as the owner of the grouping.',
      format('ALTER TABLE %s DROP CONSTRAINT %I;', c.oid::regclass, f.conname)
    FROM pg_constraint AS f JOIN pg_class AS c ON c.oid = f.conrelid JOIN pg_roles AS r ON r.oid = c.relowner
    WHERE f.confrelid = ANY (four.tables) AND NOT r.rolsuper AND r.rolname <> current_user
  ) AS w (n, message, detail, hint)
  ORDER BY w.n, w.message LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
      MESSAGE = wrong.message, DETAIL = wrong.detail, HINT = wrong.hint;
  END IF;

  EXECUTE format('SELECT s.source, s.max_distance, s.method, s.min_resemblance, s.w, s.unit, s.next_id,'
    ' s.next_refresh, s.source_owner, ARRAY[s.key, s.fp, s.content, s.scope]'
    ' FROM %s AS s', settings) || CASE WHEN locked THEN ' FOR UPDATE' ELSE '' END
  INTO name, max_distance, method, min_resemblance, w, unit, next_id, next_refresh, owner, columns;
  IF name IS NULL THEN
    RAISE EXCEPTION 'table % has no settings', settings
      USING ERRCODE = 'object_not_in_prerequisite_state',
        DETAIL = 'It should have one row.', HINT = 'Restore its row, or create the grouping anew.';
  END IF;
  BEGIN
    source := to_regclass(name);
  EXCEPTION WHEN invalid_name OR syntax_error OR feature_not_supported THEN
    -- no name at all, or one of another database
    NULL;
  END;
  IF source IS NULL THEN
    RAISE EXCEPTION 'source "%" does not exist', name
      USING ERRCODE = 'undefined_table',
        DETAIL = format('It is named in table %s.', settings),
        HINT = format('If it has another name now: UPDATE %s SET source = ''schema.name'';', settings);
  END IF;
  SELECT pg_get_userbyid(c.relowner) INTO STRICT new_owner FROM pg_class AS c WHERE c.oid = source;
  IF new_owner NOT IN (owner, current_user) THEN
    RAISE EXCEPTION 'source % belongs to another role', source
      USING ERRCODE = 'insufficient_privilege',
        DETAIL = format('Code of "%s" would run with your rights, where that of "%s" did.', new_owner, owner),
        HINT = format('If it may: UPDATE %s SET source_owner = %L;', settings, new_owner);
  END IF;
END $$;
COMMENT ON FUNCTION simdup_grouping(regclass, boolean, boolean) IS
  'implementation of simdup_regroup: the tables of one, its type of keys, and its settings';

-- Make the four tables. The default of the schema is evaluated under the caller's path.
CREATE FUNCTION simdup_group(
  name text, source regclass, max_distance integer DEFAULT 8, method text DEFAULT 'leader',
  min_resemblance float8 DEFAULT NULL, w integer DEFAULT 4, unit text DEFAULT 'char',
  schema name DEFAULT current_schema()
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  parts text[] := parse_ident(name);
  relation text := parts[cardinality(parts)];
  place text := coalesce(parts[cardinality(parts) - 1], schema);
  key record;
  tables text[];
  revoked text;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  IF num_nulls(name, source, max_distance, method, w, unit) > 0 THEN
    RAISE EXCEPTION 'name, source, max_distance, method, w and unit must not be null'
      USING ERRCODE = 'null_value_not_allowed';
  ELSIF cardinality(parts) > 2 THEN
    RAISE EXCEPTION 'invalid name of a grouping: "%"', name
      USING ERRCODE = 'invalid_name', HINT = 'Write schema.name, or a name alone.';
  ELSIF octet_length(relation) > 53 THEN
    RAISE EXCEPTION 'name of grouping "%" is too long', relation
      USING ERRCODE = 'name_too_long',
        DETAIL = format('It has %s bytes. The longest name has 53.', octet_length(relation));
  ELSIF method = 'given' THEN
    RAISE EXCEPTION 'a grouping cannot have given clusters'
      USING ERRCODE = 'invalid_parameter_value', HINT = 'A report can. Methods are "leader" and "connected".';
  ELSIF place IS NULL THEN
    RAISE EXCEPTION 'no schema has been selected to create in' USING ERRCODE = 'invalid_schema_name';
  END IF;
  SELECT k.* INTO STRICT key
  FROM @extschema@.simdup_grouping_source(source, max_distance, method, min_resemblance, w, unit,
    NULL::name[]) AS k;
  tables := ARRAY(
    SELECT format('%I.%I', place, relation || e.ending)
    FROM unnest('{"",_decisions,_events,_settings}'::text[]) WITH ORDINALITY AS e (ending, i)
    ORDER BY e.i);
  EXECUTE format($create$
    CREATE TABLE %1$s (key %5$s PRIMARY KEY, id bigint NOT NULL);
    CREATE TABLE %2$s (a %5$s NOT NULL, b %5$s NOT NULL, same boolean NOT NULL, note text,
      by name NOT NULL DEFAULT current_user, at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (a, b), CONSTRAINT a_before_b CHECK (a %6$s b%7$s));
    CREATE TABLE %3$s (refresh bigint, key %5$s, was bigint, id bigint,
      at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (refresh, key));
    CREATE TABLE %4$s (one boolean PRIMARY KEY DEFAULT true CHECK (one), source text NOT NULL,
      source_owner name NOT NULL,
      max_distance integer NOT NULL, method text NOT NULL, min_resemblance float8,
      w integer NOT NULL, unit text NOT NULL, key name NOT NULL, fp name, content name, scope name,
      next_id bigint NOT NULL DEFAULT 1, next_refresh bigint NOT NULL DEFAULT 1);
    COMMENT ON TABLE %1$s IS 'simdup: the group of each row';
    COMMENT ON TABLE %2$s IS %8$L;
    COMMENT ON TABLE %3$s IS %9$L;
    COMMENT ON TABLE %4$s IS %10$L $create$,
    tables[1], tables[2], tables[3], tables[4], key.keys_of || key.collation, key.less_key, key.ordering,
    format('simdup: what people decided about rows of %s', relation),
    format('simdup: the rows of %s whose group changed, by refresh', relation),
    format('simdup: the source of %s, which its owner reads; nobody else may write it', relation));
  -- also the schema of a temporary table, as another session can have one of its name
  EXECUTE format('INSERT INTO %s (source, max_distance, method, min_resemblance, w, unit, key, fp, content,'
    ' scope, source_owner) SELECT concat_ws(''.'', c.relnamespace::regnamespace, quote_ident(c.relname)), $2,'
    ' $3, $4, $5, $6, $7[1], $7[2], $7[3], $7[4], pg_get_userbyid(c.relowner)'
    ' FROM pg_class AS c WHERE c.oid = $1', tables[4])
  USING source, max_distance, method, min_resemblance, w, unit, key.columns;

  -- what default privileges granted
  SELECT string_agg(format('REVOKE ALL ON %s FROM %s', c.oid::regclass,
    coalesce(quote_ident(r.rolname), 'PUBLIC')), '; ') INTO revoked
  FROM pg_class AS c CROSS JOIN aclexplode(c.relacl) AS g LEFT JOIN pg_roles AS r ON r.oid = g.grantee
  WHERE c.oid = ANY (tables::regclass[]) AND g.grantee <> c.relowner;
  IF revoked IS NOT NULL THEN
    EXECUTE revoked;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_group(text, regclass, integer, text, float8, integer, text, name) IS
  'creates a grouping of a table''s or a view''s rows: four empty tables, for simdup_regroup to fill';

CREATE FUNCTION simdup_regroup(groups regclass, dry_run boolean DEFAULT false)
RETURNS TABLE (key text, was bigint, id bigint)
LANGUAGE plpgsql ROWS 1000 SET search_path = pg_catalog, pg_temp SET row_security = off
SET extra_float_digits = 1 SET DateStyle = ISO SET IntervalStyle = postgres AS $$
#variable_conflict error
DECLARE
  g record;
  n bigint;
  n_changed bigint;
  n_new bigint;
  n_settings bigint;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  -- one refresh at a time; a dry run waits for nobody
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, true, dry_run IS NOT TRUE) AS x;
  IF dry_run THEN
    RETURN QUERY
    SELECT c.key, c.was, c.id
    FROM @extschema@.simdup_group_changes(g.source, g.members, g.decisions, g.events, g.max_distance,
      g.method, g.min_resemblance, g.w, g.unit, g.next_id, g.columns) AS c;
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($insert$
    WITH change AS MATERIALIZED (
      SELECT c.* FROM %s.simdup_group_changes($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS c),
    stored AS (
      INSERT INTO %s (refresh, key, was, id)
      SELECT $1, c.key::%s, c.was, c.id FROM change AS c)
    TABLE change $insert$, '@extschema@', g.events, g.keys_of)
  USING g.next_refresh, g.source, g.members, g.decisions, g.events, g.max_distance, g.method,
    g.min_resemblance, g.w, g.unit, g.next_id, g.columns;
  GET DIAGNOSTICS n = ROW_COUNT;
  IF n = 0 THEN
    RETURN;
  END IF;

  EXECUTE format($merge$
    MERGE INTO %s AS m
    USING (SELECT e.key, e.id FROM %s AS e WHERE e.refresh = $1 AND e.was IS NOT NULL) AS e ON e.key %s m.key
    WHEN MATCHED AND e.id IS NULL THEN DELETE
    WHEN MATCHED THEN UPDATE SET id = e.id $merge$, g.members, g.events, g.same_key)
  USING g.next_refresh;
  GET DIAGNOSTICS n_changed = ROW_COUNT;
  -- new rows in the order of their keys, which a join would not keep
  EXECUTE format('INSERT INTO %s (key, id) SELECT e.key, e.id FROM %s AS e'
    ' WHERE e.refresh = $1 AND e.was IS NULL', g.members, g.events)
  USING g.next_refresh;
  GET DIAGNOSTICS n_new = ROW_COUNT;
  EXECUTE format($update$
    UPDATE %s SET next_refresh = next_refresh + 1,
      next_id = greatest(next_id, (SELECT max(e.id) + 1 FROM %s AS e WHERE e.refresh = $1)) $update$,
    g.settings, g.events)
  USING g.next_refresh;
  GET DIAGNOSTICS n_settings = ROW_COUNT;
  IF n_changed + n_new <> n OR n_settings <> 1 THEN
    RAISE EXCEPTION 'rows of grouping % were not written', groups
      USING ERRCODE = 'triggered_data_change_violation',
        DETAIL = format('A trigger or a rule kept %s rows of groups and %s of settings.',
          n - n_changed - n_new, 1 - n_settings);
  END IF;
END $$;
COMMENT ON FUNCTION simdup_regroup(regclass, boolean) IS 'refreshes a grouping, and returns the changes';

CREATE FUNCTION simdup_group_of(groups regclass, id bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  g record;
  now_in bigint;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, false, false) AS x;
  -- the last rows of an id left it in one refresh
  EXECUTE format($query$
    SELECT coalesce((SELECT m.id FROM %1$s AS m WHERE m.id = $1 LIMIT 1), (
      SELECT m.id
      FROM %2$s AS e JOIN %1$s AS m ON m.key %3$s e.key
      WHERE e.was = $1 AND e.refresh = (SELECT max(l.refresh) FROM %2$s AS l WHERE l.was = $1)
      GROUP BY m.id
      ORDER BY count(*) DESC, m.id LIMIT 1)) $query$, g.members, g.events, g.same_key)
  INTO STRICT now_in USING id;
  RETURN now_in;
END $$;
COMMENT ON FUNCTION simdup_group_of(regclass, bigint) IS 'the group where the last rows of an id are now';

CREATE FUNCTION simdup_ungroup(groups regclass, with_decisions boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
#variable_conflict error
DECLARE
  g record;
  n bigint;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  -- members first, as all others lock them
  IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = groups AND c.relkind = 'r') THEN
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', groups);
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, false, false) AS x;
  EXECUTE format('LOCK TABLE %s, %s IN ACCESS EXCLUSIVE MODE', g.settings, g.decisions);
  EXECUTE format('SELECT count(*) FROM %s', g.decisions) INTO STRICT n;
  IF n > 0 AND with_decisions IS NOT TRUE THEN
    RAISE EXCEPTION 'grouping % has decisions', groups
      USING ERRCODE = 'dependent_objects_still_exist',
        DETAIL = format('Table %s has %s rows.', g.decisions, n),
        HINT = 'To drop them too, pass with_decisions => true.';
  END IF;
  EXECUTE format('DROP TABLE %s, %s, %s, %s', g.members, g.decisions, g.events, g.settings);
END $$;
COMMENT ON FUNCTION simdup_ungroup(regclass, boolean) IS 'drops the four tables of a grouping';

--
-- groups: people's decisions
--

-- Keys come as one pair or as arrays of pairs. A decision takes the place of another about its pair, which is
-- deleted. So the columns by and at are always their defaults, and nobody needs a right to update. The latest
-- of two sessions waits for the other, and counts.
CREATE FUNCTION simdup_decide(
  groups regclass, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL,
  refresh boolean DEFAULT true
) RETURNS TABLE (key text, was bigint, id bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET array_nulls = on
SET extra_float_digits = 1 SET DateStyle = ISO SET IntervalStyle = postgres AS $$
#variable_conflict error
DECLARE
  are_arrays boolean := (SELECT t.typcategory = 'A' FROM pg_type AS t WHERE t.oid = pg_typeof(a));
  keys_a text := CASE WHEN are_arrays THEN a::text ELSE ARRAY[a]::text END;
  keys_b text := CASE WHEN are_arrays THEN b::text ELSE ARRAY[b]::text END;
  g record;
  sizes integer[]; -- of a, of b, and their dimensions
  n_pairs bigint;
  n_nulls bigint;
  itself text;
  n_stored bigint;
  against text[]; -- a, b, and the chain
  n_absent bigint;
  absent text;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  IF num_nulls(a, b, same, refresh) > 0 THEN
    RAISE EXCEPTION 'a, b, same and refresh must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, refresh, false) AS x;
  EXECUTE format($query$
    SELECT ARRAY[cardinality($1::%1$s[]), cardinality($2::%1$s[]),
        greatest(array_ndims($1::%1$s[]), array_ndims($2::%1$s[]))],
      count(*), count(*) FILTER (WHERE num_nulls(p.a, p.b) > 0),
      min(concat(p.a)) FILTER (WHERE p.a %2$s p.b)
    FROM %3$s $query$, g.keys_of, g.same_key, g.pairs)
  INTO STRICT sizes, n_pairs, n_nulls, itself USING keys_a, keys_b;
  IF sizes[1] <> sizes[2] OR sizes[3] > 1 THEN
    RAISE EXCEPTION 'a and b must be one-dimensional arrays of one length'
      USING ERRCODE = 'array_subscript_error',
        DETAIL = format('They have %s and %s elements in at most %s dimensions.', sizes[1], sizes[2],
          sizes[3]);
  ELSIF n_nulls > 0 THEN
    RAISE EXCEPTION 'keys of a decision must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF itself IS NOT NULL THEN
    RAISE EXCEPTION 'cannot decide about a row and itself'
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The key is (%s).', itself);
  END IF;
  IF refresh THEN
    -- wait for other refreshes
    EXECUTE format('UPDATE %s SET next_refresh = next_refresh', g.settings);
  END IF;

  -- Most are about pairs without another, so insert first. In the order of keys, two sessions that insert
  -- the same pairs do not lock each other out.
  FOR attempt IN 1 .. 10 LOOP
    EXECUTE format('INSERT INTO %s (a, b, same, note) SELECT p.a, p.b, $3, $4 FROM %s ORDER BY p.a, p.b'
      ' ON CONFLICT DO NOTHING', g.decisions, g.pairs)
    USING keys_a, keys_b, same, note;
    GET DIAGNOSTICS n_stored = ROW_COUNT;
    EXIT WHEN n_stored = n_pairs;
    EXECUTE format('DELETE FROM %s AS d USING %s WHERE d.a %s p.a AND d.b %3$s p.b AND d.same <> $3',
      g.decisions, g.pairs, g.same_key)
    USING keys_a, keys_b, same;
    EXECUTE format('SELECT count(*) FROM %s JOIN %s AS d ON d.a %s p.a AND d.b %3$s p.b WHERE d.same = $3',
      g.pairs, g.decisions, g.same_key)
    INTO STRICT n_stored USING keys_a, keys_b, same;
    EXIT WHEN n_stored = n_pairs;
  END LOOP;
  IF n_stored <> n_pairs THEN
    RAISE EXCEPTION 'decisions of grouping % were not stored', groups
      USING ERRCODE = 'serialization_failure',
        DETAIL = format('%s of %s pairs have another decision.', n_pairs - n_stored, n_pairs),
        HINT = 'The transaction might succeed if retried.';
  END IF;

  IF NOT row_security_active(g.decisions) THEN
    EXECUTE format($query$
      SELECT ARRAY[c.a, c.b, c.chain]
      FROM %s.simdup_review_pairs(NULL::regclass, NULL::regclass, $3, NULL::integer, NULL::text,
          NULL::float8, NULL::integer, NULL::name[]) AS c
        JOIN %s ON p.a %s c.a::%s AND p.b %3$s c.b::%4$s
      WHERE c.same = $4
      ORDER BY c.chain IS NULL LIMIT 1 $query$, '@extschema@', g.pairs, g.same_key, g.keys_of)
    INTO against USING keys_a, keys_b, g.decisions, same;
    IF against IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
        MESSAGE = format(
          CASE WHEN same THEN 'decision that rows %s and %s are the same contradicts others'
            ELSE 'decision that rows %s and %s are not the same contradicts others' END,
          against[1], against[2]),
        DETAIL = format('It was decided that %s.', coalesce(against[3], '...')),
        HINT = 'Take a decision back with simdup_undecide.';
    END IF;
  END IF;
  IF has_table_privilege(g.members, 'SELECT') THEN
    EXECUTE format($query$
      SELECT count(*) AS n, min(concat(k.key)) AS key
      FROM (SELECT p.a FROM %1$s UNION SELECT p.b FROM %1$s) AS k (key)
      WHERE NOT EXISTS (SELECT FROM %2$s AS m WHERE m.key %3$s k.key) $query$, g.pairs, g.members, g.same_key)
    INTO STRICT n_absent, absent USING keys_a, keys_b;
    IF n_absent > 0 THEN
      RAISE NOTICE 'grouping % has no row %', groups, absent
        USING DETAIL = format('It lacks %s of the keys. The decision is stored.', n_absent);
    END IF;
  END IF;
  IF refresh THEN
    RETURN QUERY SELECT r.* FROM @extschema@.simdup_regroup(groups, false) AS r;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_decide(regclass, anycompatible, anycompatible, boolean, text, boolean) IS
  'decides whether two rows are the same, or arrays of pairs; the rows whose group changes';

CREATE FUNCTION simdup_undecide(
  groups regclass, a anycompatible, b anycompatible, refresh boolean DEFAULT true
) RETURNS TABLE (key text, was bigint, id bigint) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET row_security = off SET array_nulls = on
SET extra_float_digits = 1 SET DateStyle = ISO SET IntervalStyle = postgres AS $$
#variable_conflict error
DECLARE
  are_arrays boolean := (SELECT t.typcategory = 'A' FROM pg_type AS t WHERE t.oid = pg_typeof(a));
  keys_a text := CASE WHEN are_arrays THEN a::text ELSE ARRAY[a]::text END;
  keys_b text := CASE WHEN are_arrays THEN b::text ELSE ARRAY[b]::text END;
  g record;
  n_pairs bigint;
  n_undecided bigint;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  IF num_nulls(a, b, refresh) > 0 THEN
    RAISE EXCEPTION 'a, b and refresh must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  SELECT x.* INTO STRICT g FROM @extschema@.simdup_grouping(groups, refresh, false) AS x;
  IF refresh THEN
    EXECUTE format('UPDATE %s SET next_refresh = next_refresh', g.settings);
  END IF;
  EXECUTE format($query$
    WITH gone AS (
      DELETE FROM %s AS d USING %s WHERE d.a %s p.a AND d.b %3$s p.b RETURNING true)
    SELECT count(*) AS pairs, count(*) - (SELECT count(*) FROM gone) AS undecided
    FROM %2$s $query$, g.decisions, g.pairs, g.same_key)
  INTO STRICT n_pairs, n_undecided USING keys_a, keys_b;
  IF n_undecided > 0 THEN
    RAISE EXCEPTION 'there is no decision about % of % pairs', n_undecided, n_pairs
      USING ERRCODE = 'no_data_found', DETAIL = format('The rows given are %s and %s.', a, b);
  END IF;
  IF refresh THEN
    RETURN QUERY SELECT r.* FROM @extschema@.simdup_regroup(groups, false) AS r;
  END IF;
END $$;
COMMENT ON FUNCTION simdup_undecide(regclass, anycompatible, anycompatible, boolean) IS
  'takes a decision about two rows back, or about arrays of pairs; the rows whose group changes';
