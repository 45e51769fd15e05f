
--
-- removal: statements that delete duplicates and keep what refers to them
--
-- The function reads the catalogs and runs nothing. The statements name the schema of each object, as the
-- caller's path may have one that fits better. In them, m is a row of the map, gone the removed row, kept the
-- kept row, r a referencing row. References are foreign keys, and flags of simdup_flag_trigger.

CREATE FUNCTION simdup_trigger_names(
  target regclass, OUT name name, OUT flag text, OUT key text, OUT condition oid, OUT log oid
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION simdup_trigger_names(regclass) IS
  'implementation of simdup_removal: names in the arguments of a table''s own triggers';

CREATE FUNCTION simdup_removal(target regclass, map regclass) RETURNS TABLE (step integer, statement text)
LANGUAGE plpgsql STABLE ROWS 20 SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on AS $function$
#variable_conflict error
DECLARE
  key record;
  missing text;  -- a column of the map
  is_distributed boolean;
  rows_of_map text;
  script record;
BEGIN
  ASSERT '@extschema@'::regnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'simdup');
  -- the primary key, or else the only column that is unique and not null; of a domain, the type below
  SELECT quote_ident(a.attname) AS name, a.attnum, i.indisprimary OR count(*) OVER () = 1 AS is_key,
    ARRAY[c.relowner, quote_ident(current_user)::regrole] AS trusted,
    format('%s%s.%I', CASE WHEN c.relkind = 'r' AND c.relhassubclass THEN 'ONLY ' END,
      c.relnamespace::regnamespace, c.relname) AS table,
    concat((SELECT format('%s.%I', y.typnamespace::regnamespace, y.typname) FROM pg_type AS y
      WHERE y.oid = CASE t.typtype WHEN 'p' THEN a.atttypid ELSE t.oid END),
      CASE WHEN a.attcollation NOT IN (0, 100) THEN ' COLLATE ' || a.attcollation::regcollation END) AS type,
    o.oid AS operator, format('OPERATOR(%s.%s)', o.oprnamespace::regnamespace, o.oprname) AS equals
  INTO key
  FROM (SELECT DISTINCT ON (i.indkey[0]) i.* FROM pg_index AS i
        WHERE i.indrelid = target AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1
          AND i.indpred IS NULL ORDER BY i.indkey[0], i.indisprimary DESC) AS i
    JOIN pg_class AS c ON c.oid = target AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    JOIN pg_attribute AS a ON a.attrelid = target AND a.attnum = i.indkey[0] AND a.attnotnull
    JOIN pg_opclass AS x ON x.oid = i.indclass[0]
    JOIN pg_type AS t ON t.oid = x.opcintype
    JOIN pg_amop AS m ON m.amopfamily = x.opcfamily AND m.amopstrategy = 3
      AND m.amoplefttype = t.oid AND m.amoprighttype = t.oid
    JOIN pg_operator AS o ON o.oid = m.amopopr
  ORDER BY i.indisprimary DESC LIMIT 1;
  SELECT max(n.name) INTO missing FROM unnest('{removed,kept}'::text[]) AS n (name) WHERE NOT EXISTS (
    SELECT FROM pg_attribute AS a WHERE a.attrelid = map AND a.attname = n.name AND NOT a.attisdropped);
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE logicalrelid = $1)', to_regclass('pg_dist_partition'))
      INTO is_distributed USING target;
  END IF;
  IF num_nulls(target, map) > 0 THEN
    RAISE EXCEPTION 'target and map must not be null' USING ERRCODE = 'null_value_not_allowed';
  ELSIF is_distributed THEN
    RAISE EXCEPTION '% is a distributed table', target
      USING ERRCODE = 'wrong_object_type', DETAIL = 'The rows of a distributed table are in its shards.',
        HINT = 'Make the map a reference table, and write: DELETE FROM ... USING it.';
  ELSIF missing IS NOT NULL THEN
    RAISE EXCEPTION 'column "%" of relation "%" does not exist', missing,
      coalesce((SELECT c.relname FROM pg_class AS c WHERE c.oid = map), map::text)
      USING ERRCODE = 'undefined_column';
  ELSIF key.is_key IS NOT TRUE THEN
    RAISE EXCEPTION '% is not a table with a primary key of one column', target
      USING ERRCODE = 'wrong_object_type',
        HINT = 'One column that is unique and not null will do. For a partition, name the partitioned table.';
  ELSIF EXISTS (
    SELECT FROM pg_constraint AS c
    WHERE (c.confrelid = target OR c.confrelid IN (SELECT p.relid FROM pg_partition_tree(target) AS p))
      AND to_jsonb(c) ->> 'conperiod' = 'true') THEN
    RAISE EXCEPTION 'a foreign key with PERIOD refers to %', target USING ERRCODE = 'feature_not_supported';
  END IF;
  rows_of_map := format($sql$
  JOIN %1$s AS gone ON gone.%2$s %3$s m.removed
  JOIN %1$s AS kept ON kept.%2$s %3$s m.kept$sql$, key.table, key.name, key.equals);

  FOR script IN
    WITH RECURSIVE tree AS (
      SELECT target::oid AS id UNION SELECT p.relid FROM pg_partition_tree(target) AS p),
    flag AS (
      SELECT DISTINCT ON (a.attnum) f.name AS tgname, a.attnum, coalesce(k.attnum, key.attnum) AS key
      FROM tree CROSS JOIN LATERAL @extschema@.simdup_trigger_names(tree.id::regclass) AS f
        JOIN pg_attribute AS a ON a.attrelid = target AND a.attname = f.flag
        LEFT JOIN pg_attribute AS k ON k.attrelid = target AND k.attname = f.key
      ORDER BY a.attnum, f.name),
    part AS (
      SELECT c.conname, c.conrelid, true AS is_foreign, u.attnum, a.attname AS other, u.operator, u.i
      FROM tree JOIN pg_constraint AS c ON c.confrelid = tree.id
        CROSS JOIN unnest(c.conkey, c.confkey, c.conpfeqop) WITH ORDINALITY AS u (attnum, other, operator, i)
        JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = u.other
      WHERE c.contype = 'f' AND c.conparentid = 0
      UNION ALL
      SELECT f.tgname, target, false, f.attnum, a.attname, coalesce(e.operator, key.operator), 1
      FROM flag AS f JOIN pg_attribute AS a ON a.attrelid = target AND a.attnum = f.key
        -- by the equality of the flag's own key
        LEFT JOIN LATERAL (
          SELECT m.amopopr
          FROM pg_index AS i
            CROSS JOIN unnest(i.indkey::smallint[], i.indclass::oid[]) AS u (attnum, class)
            JOIN pg_opclass AS x ON x.oid = u.class AND x.opcdefault
            JOIN pg_amop AS m ON m.amopfamily = x.opcfamily AND m.amopstrategy = 3
              AND m.amoplefttype = x.opcintype AND m.amoprighttype = x.opcintype
          -- strategy 3 is equality for btree alone: keys WITHOUT OVERLAPS are by gist
          WHERE i.indrelid = target AND i.indisunique AND NOT i.indisexclusion AND u.attnum = f.key
          LIMIT 1) AS e (operator) ON true
      WHERE NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.contype = 'f' AND c.conrelid = target
          AND c.confrelid = target AND c.conkey = ARRAY[f.attnum])),
    -- columns whose NOT NULL is not validated: from 18 on, earlier rows may hold NULL
    not_validated AS (
      SELECT c.conrelid, c.conkey[1] FROM pg_constraint AS c WHERE c.contype = 'n' AND NOT c.convalidated),
    reference AS (
      SELECT p.conname AS name, p.conrelid AS id, p.is_foreign, r.is_self,
        row_number() OVER (PARTITION BY p.conrelid ORDER BY count(*) DESC, p.conname) AS n,
        array_agg(a.attnum) AS columns, array_agg(format('kept.%I', t.attname)) AS kept,
        string_agg(quote_ident(a.attname), ', ' ORDER BY p.i) AS names,
        -- a foreign key compares by the collation of the column that it refers to
        string_agg(format('gone.%I OPERATOR(%s.%s) r.%I%s%s', t.attname, o.oprnamespace::regnamespace,
          o.oprname, a.attname,
          CASE WHEN p.is_foreign AND o.oprright = 'bpchar'::regtype THEN '::pg_catalog.bpchar' END,
          CASE WHEN a.attcollation <> t.attcollation THEN ' COLLATE ' || t.attcollation::regcollation END),
          ' AND ' ORDER BY p.i) AS matches,
        -- a kept row does not refer to itself afterwards where it may refer to nothing
        string_agg(format(CASE WHEN NOT r.clears THEN '%I = kept.%4$I'
            ELSE '%I = CASE WHEN r.%s %s m.kept THEN NULL ELSE kept.%I END' END, a.attname, key.name,
            key.equals, t.attname), ', ' ORDER BY p.i) FILTER (WHERE a.attgenerated = '') AS sets,
        string_agg(format('%I = NULL', a.attname), ', ') FILTER (WHERE r.clears) AS clears,
        string_agg(format(CASE WHEN r.clears THEN E'\n  AND (kept.%I IS NOT NULL OR r.%s %s m.kept)'
            ELSE E'\n  AND kept.%I IS NOT NULL' END, t.attname, key.name, key.equals), '')
          FILTER (WHERE NOT t.attnotnull OR (t.attrelid, t.attnum) IN (TABLE not_validated)) AS has_value,
        CASE WHEN r.is_self THEN format(E'\n  AND NOT EXISTS (SELECT FROM pg_temp.simdup_map AS g'
          ' WHERE r.%s %s g.removed)', key.name, key.equals) END AS stays
      FROM part AS p
        JOIN pg_attribute AS a ON a.attrelid = p.conrelid AND a.attnum = p.attnum
        JOIN pg_attribute AS t ON t.attrelid = target AND t.attname = p.other
        JOIN pg_operator AS o ON o.oid = p.operator
        -- a column that is on both sides is a part of the row's own name
        CROSS JOIN LATERAL (SELECT p.conrelid IN (SELECT tree.id FROM tree),
          p.conrelid = target AND NOT a.attnotnull AND a.attname <> t.attname) AS r (is_self, clears)
      GROUP BY p.conrelid, p.conname, p.is_foreign, r.is_self),
    -- the target, and the tables that refer to it, with the stores that keep their rows
    place AS (
      SELECT c.oid AS id, k.n, c.relnamespace,
        format('%s%s.%I', CASE WHEN c.relkind = 'r' AND c.relhassubclass THEN 'ONLY ' END,
          c.relnamespace::regnamespace, c.relname) AS name,
        -- tables whose names begin alike differ by the hash; a character has four bytes at most
        format('%s.%I', c.relnamespace::regnamespace, CASE WHEN octet_length(c.relname) <= 55
          THEN c.relname || k.ending
          ELSE left(c.relname, 11) || k.ending || '_' || hashtext(c.relname)::bit(32)::bigint END) AS store,
        string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS names,
        string_agg(format('r.%I', a.attname), ', ' ORDER BY a.attnum) AS values,
        -- a prefix with which the store's own columns have names that the table lacks
        coalesce(max(substring(a.attname FROM '^((simdup_)*)(removed|kept|removed_at|foreign_key|deleted|'
          'moved_at)$')) || 'simdup_', '') AS own
      FROM (SELECT target::oid, 0, '_removed' UNION SELECT r.id, 1, '_moved' FROM reference AS r)
          AS k (id, n, ending)
        JOIN pg_class AS c ON c.oid = k.id
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      GROUP BY c.oid, c.relkind, c.relhassubclass, c.relnamespace, c.relname, k.n, k.ending),
    move AS (
      SELECT r.*, p.name AS table, p.values,
        format('INSERT INTO %s (%s, %sremoved, %3$skept, %3$sforeign_key, %3$sdeleted, %3$smoved_at)',
          p.store, p.names, p.own) AS into_store,
        format(E'FROM %s AS r, pg_temp.simdup_map AS m%s\nWHERE %s%s',
          p.name, rows_of_map, r.matches, r.stays) AS referring
      FROM reference AS r JOIN place AS p ON p.id = r.id AND p.n = 1),
    -- Unique keys that hold a column of a reference, in tables to which no other refers. A row that moves
    -- may have the values of one that refers to the kept row.
    shared AS (
      SELECT r.id, r.n, i.indexrelid,
        string_agg(coalesce(k.kept, format('r.%I%s', a.attname, CASE WHEN i.indcollation[u.i - 1]
          <> a.attcollation THEN ' COLLATE ' || i.indcollation[u.i - 1]::regcollation END)), ', '
          ORDER BY u.i) AS values,
        string_agg(format(' AND r.%I IS NOT NULL', a.attname), '')
          FILTER (WHERE k.kept IS NULL AND NOT i.indnullsnotdistinct
            AND (NOT a.attnotnull OR (a.attrelid, a.attnum) IN (TABLE not_validated))) AS present
      FROM reference AS r
        JOIN pg_index AS i ON i.indrelid = r.id AND i.indisunique AND i.indisvalid AND i.indexprs IS NULL
          AND i.indpred IS NULL
        CROSS JOIN unnest((i.indkey::smallint[])[0:i.indnkeyatts - 1]) WITH ORDINALITY AS u (attnum, i)
        JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
        LEFT JOIN unnest(r.columns, r.kept) AS k (attnum, kept) ON k.attnum = u.attnum
      WHERE NOT r.is_self AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.confrelid = r.id)
      GROUP BY r.id, r.n, i.indexrelid
      HAVING bool_or(k.kept IS NOT NULL)),
    checked (id, n, text) AS (
      SELECT p.id, p.n, format($sql$SELECT 'rows that are not in the archive', pg_catalog.count(*)
FROM pg_temp.simdup_map AS m
WHERE NOT EXISTS (SELECT FROM %s AS r
  WHERE r.%s %s m.removed AND r.%sremoved_at OPERATOR(pg_catalog.=) pg_catalog.now())$sql$,
        p.store, key.name, key.equals, p.own)
      FROM place AS p WHERE p.n = 0
      UNION ALL
      SELECT m.id, m.n, format(E'SELECT %L, pg_catalog.count(*)\n%s',
        format('rows of %s that refer to removed rows by %s', m.id::regclass, m.name), m.referring)
      FROM move AS m),

    -- the tables and the map, with their views, triggers, partitions, referring tables, and functions
    used (class, id) AS (
      SELECT 'pg_class'::regclass::oid, r.id
      FROM (SELECT target UNION SELECT map UNION SELECT to_regclass(p.store) FROM place AS p) AS r (id)
      UNION
      SELECT e.class, e.id
      FROM used AS u CROSS JOIN LATERAL (
        SELECT d.refclassid, d.refobjid FROM pg_depend AS d
        WHERE d.classid = u.class AND d.objid = u.id AND d.deptype <> 'e' AND (d.deptype <> 'n'
          OR d.refclassid <> 'pg_class'::regclass OR d.classid = 'pg_rewrite'::regclass)
        UNION ALL
        SELECT d.classid, d.objid FROM pg_depend AS d
        WHERE d.refclassid = u.class AND d.refobjid = u.id AND d.classid <> 'pg_policy'::regclass
          AND (d.deptype <> 'n' OR d.classid = 'pg_constraint'::regclass)
        UNION ALL
        SELECT n.class, n.id
        FROM @extschema@.simdup_trigger_names(u.id::regclass) AS f
          CROSS JOIN LATERAL (VALUES ('pg_proc'::regclass::oid, f.condition), ('pg_class'::regclass, f.log))
            AS n (class, id)
        WHERE u.class = 'pg_class'::regclass AND n.id IS NOT NULL) AS e (class, id)),

    -- the statements, in the order of these columns; in phase 0, why there are none
    statements (phase, id, n, i, text) AS (
      SELECT 0, NULL, NULL, 0, format('%s belongs to another role', pg_describe_object(u.class, u.id, 0))
      FROM used AS u
        JOIN (SELECT tableoid, oid, relowner FROM pg_class WHERE relkind NOT IN ('i', 'I')
          UNION ALL SELECT tableoid, oid, typowner FROM pg_type WHERE typrelid = 0 AND typelem = 0
          UNION ALL SELECT tableoid, oid, proowner FROM pg_proc) AS o (class, id, owner) USING (class, id)
        JOIN pg_roles AS r ON r.oid = o.owner AND NOT r.rolsuper AND r.oid <> ALL (key.trusted)
      UNION ALL
      SELECT 1, m.id, m.n, 0,
        translate(format('-- CREATE INDEX ON %s (%s)', m.id::regclass, m.names), E'\n\r', '  ')
      FROM move AS m
      WHERE m.is_foreign AND NOT EXISTS (
        SELECT FROM pg_index AS i
        WHERE i.indrelid = m.id AND i.indisvalid AND i.indpred IS NULL
          AND (i.indkey::smallint[])[0:cardinality(m.columns) - 1] @> m.columns
          AND pg_index_has_property(i.indexrelid, 'index_scan'))
      UNION ALL
      SELECT 2, NULL, NULL, u.i, u.text
      FROM unnest(ARRAY['BEGIN', 'SET LOCAL row_security = off',
        format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE',
          (SELECT string_agg(DISTINCT p.name, ', ') FROM place AS p)),
        format($sql$CREATE TEMP TABLE pg_temp.simdup_map (
  removed %s PRIMARY KEY,
  kept %1$s NOT NULL,
  is_there boolean CONSTRAINT "the removed row exists" CHECK (is_there),
  kept_is_there boolean CONSTRAINT "the kept row exists" CHECK (kept_is_there),
  stays boolean CONSTRAINT "the kept row is not removed itself" CHECK (stays)) ON COMMIT DROP$sql$, key.type),
        format($sql$INSERT INTO pg_temp.simdup_map
WITH map AS (
  SELECT q.removed::%1$s AS removed, q.kept::%1$s AS kept, true AS goes
  FROM %2$s AS q
  WHERE (q.removed::%1$s %3$s q.kept::%1$s) IS NOT TRUE
)
SELECT m.removed, m.kept, gone.ctid IS NOT NULL, kept.ctid IS NOT NULL, chain.goes IS NULL
FROM map AS m
  LEFT JOIN %4$s AS gone ON gone.%5$s %3$s m.removed
  LEFT JOIN %4$s AS kept ON kept.%5$s %3$s m.kept
  LEFT JOIN map AS chain ON chain.removed %3$s m.kept$sql$, key.type,
          (SELECT format('%s.%I', relnamespace::regnamespace, relname) FROM pg_class WHERE oid = map),
          key.equals, key.table, key.name),
        'ANALYZE pg_temp.simdup_map',
        $sql$CREATE TEMP TABLE pg_temp.simdup_check (
  what pg_catalog.text,
  n bigint CONSTRAINT "there are none" CHECK (n OPERATOR(pg_catalog.=) 0))
  ON COMMIT DROP$sql$]) WITH ORDINALITY AS u (text, i)
      UNION ALL
      SELECT 3, p.id, p.n, -3, format($sql$CREATE TABLE %s AS
SELECT r.*, %s
FROM %s AS r, pg_temp.simdup_map AS m
WITH NO DATA$sql$, p.store,
        replace(CASE p.n WHEN 0 THEN 'm.kept AS *kept, pg_catalog.now() AS *removed_at' ELSE
          E'm.removed AS *removed, m.kept AS *kept,\n'
          '  pg_catalog.name '''' AS *foreign_key, false AS *deleted, pg_catalog.now() AS *moved_at' END,
          '*', p.own), p.name)
      FROM place AS p
      WHERE to_regclass(p.store) IS NULL
      UNION ALL
      -- what default privileges grant to others
      SELECT 3, p.id, p.n, -2, format('REVOKE ALL ON %s FROM %s', p.store,
        string_agg(DISTINCT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, ', '))
      FROM place AS p
        JOIN pg_default_acl AS d ON d.defaclrole = quote_ident(current_user)::regrole
          AND d.defaclobjtype = 'r' AND d.defaclnamespace IN (0, p.relnamespace)
        CROSS JOIN aclexplode(d.defaclacl) AS g
      WHERE to_regclass(p.store) IS NULL AND g.grantee <> d.defaclrole
      GROUP BY p.id, p.n, p.store
      UNION ALL
      SELECT 3, p.id, p.n, -1, format($sql$INSERT INTO %s (%s, %skept, %3$sremoved_at)
SELECT %s, m.kept, pg_catalog.now()
FROM pg_temp.simdup_map AS m
  JOIN %s AS r ON r.%s %s m.removed$sql$, p.store, p.names, p.own, p.values, p.name, key.name, key.equals)
      FROM place AS p WHERE p.n = 0
      UNION ALL
      SELECT 3, m.id, m.n, 0, format($sql$WITH same AS (
  SELECT r.tableoid, r.ctid, m.removed, m.kept, m.moves,
    pg_catalog.row_number() OVER (PARTITION BY %s ORDER BY m.moves, r.tableoid, r.ctid) AS n
  FROM %s AS r, (
    SELECT removed, kept, true FROM pg_temp.simdup_map
    UNION SELECT kept, kept, false FROM pg_temp.simdup_map) AS m (removed, kept, moves)%s
  WHERE %s%s
), deleted AS (
  DELETE FROM %2$s AS r USING same AS s
  WHERE r.tableoid OPERATOR(pg_catalog.=) s.tableoid AND r.ctid OPERATOR(pg_catalog.=) s.ctid
    AND s.moves AND s.n OPERATOR(pg_catalog.>) 1
  RETURNING %6$s, s.removed, s.kept
)
%s
SELECT d.*, %L, true, pg_catalog.now() FROM deleted AS d$sql$,
        s.values, m.table, rows_of_map, m.matches, s.present, m.values, m.into_store, m.name)
      FROM move AS m JOIN shared AS s ON s.id = m.id AND s.n = m.n
      UNION ALL
      -- a row that is removed too keeps its reference, unless this is in the way
      SELECT 3, m.id, m.n, 1, format($sql$UPDATE %s AS r SET %s
FROM pg_temp.simdup_map AS m
WHERE r.%s %s m.removed$sql$, m.table, m.clears, key.name, key.equals)
      FROM move AS m
      WHERE m.clears IS NOT NULL AND EXISTS (
        SELECT FROM pg_index AS i
        WHERE i.indrelid = m.id AND i.indisunique AND i.indkey::smallint[] && m.columns)
      UNION ALL
      SELECT 3, m.id, m.n, 2, format(E'%s\nSELECT %s, m.removed, m.kept, %L, false, pg_catalog.now()\n%s',
        m.into_store, m.values, m.name, m.referring)
      FROM move AS m
      UNION ALL
      -- generated columns alone are not set; the check below finds their rows
      SELECT 3, m.id, m.n, 3, format(E'UPDATE %s AS r SET %s\nFROM pg_temp.simdup_map AS m%s\nWHERE %s%s%s',
        m.table, m.sets, rows_of_map, m.matches, m.has_value, m.stays)
      FROM move AS m WHERE m.sets IS NOT NULL
      UNION ALL
      SELECT 4, NULL, NULL, u.i, u.text
      FROM unnest(ARRAY[
        E'INSERT INTO pg_temp.simdup_check\n'
          || (SELECT string_agg(c.text, E'\nUNION ALL\n' ORDER BY c.id, c.n) FROM checked AS c),
        format(E'DELETE FROM %s AS r\nUSING pg_temp.simdup_map AS m\nWHERE r.%s %s m.removed',
          key.table, key.name, key.equals),
        format($sql$INSERT INTO pg_temp.simdup_check
SELECT 'removed rows that are still there', pg_catalog.count(*)
FROM pg_temp.simdup_map AS m
  JOIN %s AS r ON r.%s %s m.removed$sql$, key.table, key.name, key.equals),
        'COMMIT']) WITH ORDINALITY AS u (text, i))
    SELECT row_number() OVER (ORDER BY s.phase, s.id, s.n, s.i, s.text)::integer AS step, s.phase, s.text
    FROM statements AS s ORDER BY 1
  LOOP
    IF script.phase = 0 THEN
      RAISE EXCEPTION '%', script.text
        USING ERRCODE = 'insufficient_privilege', DETAIL = 'Its code would run with your rights.';
    END IF;
    step := script.step;
    statement := script.text || ';';
    RETURN NEXT;
  END LOOP;
END $function$;
COMMENT ON FUNCTION simdup_removal(regclass, regclass) IS 'statements that remove the rows of a map';
