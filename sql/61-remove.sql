
--
-- removal: duplicates go to an archive, and what refers to them refers to the
-- kept rows
--
-- simdup_remove executes the map and the statements under the caller's
-- search_path, which triggers of the tables may need. It calls nothing by a bare
-- name. The other functions read catalogs and rows, and build the statements. In
-- those, $1 is the array of removed keys and $2 that of their kept keys, as text.
-- Each call has arguments of the exact types, so that no other function in the
-- extension's schema fits better.
--

-- Return the references to the target: foreign keys, and the columns that
-- simdup_flag_trigger sets, unless a foreign key has the same column.
CREATE FUNCTION simdup_remove_references(
  target regclass,
  OUT name text, OUT referrer regclass, OUT is_foreign_key boolean, OUT is_indexed boolean,
  OUT attnums smallint[], OUT columns text[],
  OUT referenced text[], OUT nullable boolean[], OUT equals text[], OUT clears boolean[]
) RETURNS SETOF record LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
WITH tree (relid) AS (
  SELECT target UNION SELECT p.relid FROM pg_partition_tree(target) AS p
), flag AS (
  SELECT t.tgname, f.attnum AS flag, k.attnum AS key, (
      SELECT a.amopopr FROM pg_index AS i JOIN pg_opclass AS c ON c.oid = i.indclass[0]
        JOIN pg_amop AS a ON a.amopfamily = c.opcfamily AND a.amoplefttype = c.opcintype AND a.amopstrategy = 3
      WHERE i.indrelid = target AND i.indisunique AND i.indnkeyatts = 1 AND i.indkey[0] = k.attnum
        AND a.amoprighttype IN (f.atttypid, c.opcintype)
      ORDER BY a.amoprighttype = f.atttypid DESC LIMIT 1) AS equals
  FROM pg_trigger AS t JOIN tree ON t.tgrelid = tree.relid
    JOIN pg_proc AS p ON p.oid = t.tgfoid AND p.proname = 'simdup_flag_trigger'
    JOIN pg_extension AS e ON e.extname = 'simdup' AND e.extnamespace = p.pronamespace,
    -- the arguments, which are separated by zero bytes
    LATERAL (SELECT array_agg(convert_from(decode(s.hex, 'hex'), getdatabaseencoding()) ORDER BY s.i)
             FROM string_to_table(regexp_replace(encode(t.tgargs, 'hex'), '(..)', '\1 ', 'g'), '00 ') WITH ORDINALITY AS s (hex, i)) AS g (args)
    JOIN pg_attribute AS f ON f.attrelid = target AND f.attname = g.args[1]
    JOIN pg_attribute AS k ON k.attrelid = target AND k.attname = coalesce(
      (SELECT substring(o.option FROM '^\s*key\s*=>\s*(.*?)\s*$') FROM unnest(g.args[2:]) AS o (option)
       WHERE o.option ~ '^\s*key\s*=>' LIMIT 1),
      (SELECT a.attname FROM pg_constraint AS c JOIN pg_attribute AS a ON a.attrelid = target AND ARRAY[a.attnum] = c.conkey
       WHERE c.conrelid = target AND c.contype = 'p'))
  WHERE t.tgparentid = 0
), reference AS (
  SELECT c.conname::text AS name, c.conrelid, c.conkey, c.confkey, c.conpfeqop, true AS is_foreign_key
  FROM pg_constraint AS c
  WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = target
  UNION ALL
  (SELECT DISTINCT ON (f.flag) f.tgname, target, ARRAY[f.flag], ARRAY[f.key], ARRAY[f.equals], false
   FROM flag AS f
   WHERE f.equals IS NOT NULL AND f.flag <> f.key AND NOT EXISTS (
     SELECT FROM pg_constraint AS c
     WHERE c.contype = 'f' AND c.conrelid = target AND c.confrelid = target AND c.conkey = ARRAY[f.flag])
   ORDER BY f.flag, f.tgname)
)
SELECT r.name, r.conrelid::regclass, r.is_foreign_key,
  -- each table that holds rows has an index that begins with these columns
  NOT EXISTS (
    SELECT FROM (SELECT r.conrelid WHERE NOT EXISTS (SELECT FROM pg_partition_tree(r.conrelid))
                 UNION ALL SELECT p.relid FROM pg_partition_tree(r.conrelid) AS p WHERE p.isleaf) AS leaf (relid)
    WHERE NOT EXISTS (
      SELECT FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam AND m.amname IN ('btree', 'hash'),
        LATERAL (SELECT array_agg(a.attname::text) FROM unnest((i.indkey::smallint[])[0:cardinality(c.names) - 1]) AS u (attnum)
                 JOIN pg_attribute AS a ON a.attrelid = leaf.relid AND a.attnum = u.attnum) AS k (names)
      WHERE i.indrelid = leaf.relid AND i.indisvalid AND k.names @> c.names AND k.names <@ c.names
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', c.names[1])))),
  r.conkey, c.columns, c.referenced, c.nullable, c.equals, c.clears
FROM reference AS r, LATERAL (
  SELECT array_agg(a.attname::text ORDER BY u.i), array_agg(quote_ident(a.attname) ORDER BY u.i),
    array_agg(quote_ident(b.attname) ORDER BY u.i), array_agg(NOT b.attnotnull ORDER BY u.i),
    array_agg(format('OPERATOR(%I.%s)', n.nspname, o.oprname) ORDER BY u.i),
    -- a column that is on both sides is a part of the row's own name
    array_agg(r.conrelid = target AND NOT a.attnotnull AND a.attnum <> b.attnum ORDER BY u.i)
  FROM unnest(r.conkey, r.confkey, r.conpfeqop) WITH ORDINALITY AS u (attnum, referenced, operator, i)
    JOIN pg_attribute AS a ON a.attrelid = r.conrelid AND a.attnum = u.attnum
    JOIN pg_attribute AS b ON b.attrelid = target AND b.attnum = u.referenced
    JOIN pg_operator AS o ON o.oid = u.operator JOIN pg_namespace AS n ON n.oid = o.oprnamespace
) AS c (names, columns, referenced, nullable, equals, clears)
ORDER BY r.conrelid::regclass::text COLLATE "C", r.name COLLATE "C"
$$;

-- Check the target, warn of foreign keys without an index, and lock the target
-- and the tables that refer to it. The key's type is that below its domains.
CREATE FUNCTION simdup_remove_open(
  home text, target regclass, key text, dry_run boolean,
  OUT key_column text, OUT key_type text, OUT key_equals text, OUT lock text
) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  relation pg_class;
  attribute pg_attribute;
  reference record;
  referrers text;
  list_references text := format('SELECT r.* FROM %s.simdup_remove_references($1) AS r', home);
BEGIN
  SELECT c.* INTO relation FROM pg_class AS c WHERE c.oid = target;
  IF relation.relkind NOT IN ('r', 'p') THEN
    RAISE EXCEPTION '"%" is not a table', relation.relname USING ERRCODE = 'wrong_object_type';
  ELSIF relation.relispartition THEN
    RAISE EXCEPTION '"%" is a partition', relation.relname USING ERRCODE = 'wrong_object_type', HINT = 'Name the partitioned table.';
  ELSIF relation.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = target) THEN
    RAISE EXCEPTION 'relation "%" has child tables', relation.relname USING ERRCODE = 'feature_not_supported',
      DETAIL = 'A key may occur in several of them.';
  END IF;

  IF key IS NULL THEN
    SELECT a.attname INTO key FROM pg_constraint AS c JOIN pg_attribute AS a ON a.attrelid = target AND ARRAY[a.attnum] = c.conkey
    WHERE c.conrelid = target AND c.contype = 'p';
    IF key IS NULL THEN
      RAISE EXCEPTION 'table "%" has no primary key of one column', relation.relname USING ERRCODE = 'invalid_table_definition',
        HINT = 'Name the column that tells its rows apart: key => ''column''.';
    END IF;
  END IF;
  SELECT a.* INTO attribute FROM pg_attribute AS a WHERE a.attrelid = target AND a.attname = key AND a.attnum > 0 AND NOT a.attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'column "%" of relation "%" does not exist', key, relation.relname USING ERRCODE = 'undefined_column';
  END IF;
  key_column := quote_ident(key);
  SELECT format('OPERATOR(%I.%s)', n.nspname, o.oprname) INTO key_equals
  FROM pg_index AS i JOIN pg_opclass AS c ON c.oid = i.indclass[0]
    JOIN pg_amop AS a ON a.amopfamily = c.opcfamily AND a.amoplefttype = c.opcintype AND a.amoprighttype = c.opcintype AND a.amopstrategy = 3
    JOIN pg_operator AS o ON o.oid = a.amopopr JOIN pg_namespace AS n ON n.oid = o.oprnamespace
  WHERE i.indrelid = target AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1 AND i.indkey[0] = attribute.attnum AND i.indpred IS NULL
  LIMIT 1;
  IF key_equals IS NULL OR NOT attribute.attnotnull THEN
    RAISE EXCEPTION 'column "%" of relation "%" is not unique and not null', key, relation.relname USING ERRCODE = 'invalid_table_definition',
      HINT = 'Name a column with a unique index on it alone and NOT NULL.';
  END IF;
  WITH RECURSIVE base (type) AS (
    SELECT attribute.atttypid UNION ALL SELECT t.typbasetype FROM base JOIN pg_type AS t ON t.oid = base.type AND t.typtype = 'd')
  SELECT format('%I.%I', n.nspname, t.typname) INTO key_type
  FROM base JOIN pg_type AS t ON t.oid = base.type JOIN pg_namespace AS n ON n.oid = t.typnamespace
  WHERE t.typtype NOT IN ('d', 'c') AND t.typarray <> 0;
  IF key_type IS NULL THEN
    RAISE EXCEPTION 'column "%" of relation "%" cannot be a key', key, relation.relname USING ERRCODE = 'datatype_mismatch',
      DETAIL = format('Its type is %s.', format_type(attribute.atttypid, NULL));
  END IF;

  FOR reference IN
    SELECT c.conname, c.confrelid, p.relname FROM pg_constraint AS c JOIN pg_class AS p ON p.oid = c.confrelid
    WHERE c.contype = 'f' AND c.conparentid = 0 AND (c.confrelid = target AND to_jsonb(c) ->> 'conperiod' = 'true'
      OR c.confrelid IN (SELECT t.relid FROM pg_partition_tree(target) AS t WHERE t.level > 0))
  LOOP
    IF reference.confrelid = target THEN
      RAISE EXCEPTION 'simdup_remove does not support foreign key "%" with PERIOD', reference.conname USING ERRCODE = 'feature_not_supported';
    END IF;
    RAISE EXCEPTION 'foreign key "%" refers to partition "%"', reference.conname, reference.relname USING ERRCODE = 'feature_not_supported',
      DETAIL = 'The kept row may be in another partition.', HINT = 'Let it refer to the partitioned table, or drop it.';
  END LOOP;
  EXECUTE format($q$
    SELECT string_agg(format('"%%s" of table %%s', r.name, r.referrer), E'\n') AS names,
      string_agg(format('CREATE INDEX ON %%s (%%s);', r.referrer, array_to_string(r.columns, ', ')), E'\n') AS statements
    FROM (%s) AS r WHERE r.is_foreign_key AND NOT r.is_indexed$q$, list_references) INTO reference USING target;
  IF reference.names IS NOT NULL THEN
    RAISE WARNING 'foreign keys without an index make the removal slow' USING DETAIL = reference.names, HINT = reference.statements;
  END IF;
  -- once the target is locked, no reference is added
  lock := format('LOCK TABLE %s', target);
  IF NOT dry_run THEN
    EXECUTE lock || ' IN SHARE ROW EXCLUSIVE MODE';
  END IF;
  EXECUTE format($q$
    SELECT string_agg(DISTINCT concat(', ', CASE WHEN c.relkind = 'r' THEN 'ONLY ' END, c.oid::regclass) COLLATE "C", '')
    FROM (%s) AS r JOIN pg_class AS c ON c.oid = r.referrer WHERE c.oid <> $1$q$, list_references) INTO referrers USING target;
  lock := concat(lock, referrers, ' IN SHARE ROW EXCLUSIVE MODE');
  IF NOT dry_run THEN
    EXECUTE lock;
  END IF;
END $$;

-- Check whether a column of type into_type holds every value of source_type.
CREATE FUNCTION simdup_remove_holds(into_type oid, into_typmod integer, source_type oid, source_typmod integer)
RETURNS boolean LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
WITH RECURSIVE chain (is_into, depth, type, typmod) AS (
  VALUES (true, 0, into_type, into_typmod), (false, 0, source_type, source_typmod)
  UNION ALL
  SELECT c.is_into, c.depth + 1, t.typbasetype, t.typtypmod FROM chain AS c JOIN pg_type AS t ON t.oid = c.type AND t.typtype = 'd'
), base AS (
  SELECT DISTINCT ON (c.is_into) c.is_into, c.type, c.typmod, t.typcategory AS category, t.typtype AS kind,
    -- the digits before and after the point, the latter a signed number of 11 bits
    CASE c.type WHEN 'int2'::regtype THEN 5 WHEN 'int4'::regtype THEN 10 WHEN 'int8'::regtype THEN 19
      WHEN 'numeric'::regtype THEN (c.typmod - 4 >> 16 & 65535) - ((c.typmod - 4 & 2047 # 1024) - 1024) END AS whole,
    CASE c.type WHEN 'numeric'::regtype THEN (c.typmod - 4 & 2047 # 1024) - 1024 ELSE 0 END AS scale
  FROM chain AS c JOIN pg_type AS t ON t.oid = c.type ORDER BY c.is_into, c.depth DESC
)
SELECT CASE
    -- a domain that may refuse a value
    WHEN EXISTS (
      SELECT FROM chain AS c JOIN pg_type AS t ON t.oid = c.type AND t.typtype = 'd'
      WHERE c.is_into AND (t.typnotnull OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.contypid = t.oid))
        AND NOT EXISTS (SELECT FROM chain AS d WHERE NOT d.is_into AND d.type = c.type)) THEN false
    WHEN i.type = s.type AND i.typmod IN (-1, s.typmod) THEN true
    WHEN i.type = s.type AND i.type IN ('timestamp'::regtype, 'timestamptz'::regtype, 'time'::regtype, 'timetz'::regtype)
      THEN i.typmod >= CASE s.typmod WHEN -1 THEN 6 ELSE s.typmod END
    WHEN i.type = 'numeric'::regtype AND s.whole IS NOT NULL
      THEN i.typmod = -1 OR (s.type <> i.type OR s.typmod <> -1) AND i.whole >= s.whole AND i.scale >= s.scale
    WHEN i.type IN ('int4'::regtype, 'int8'::regtype) THEN s.type IN ('int2'::regtype, 'int4'::regtype) AND s.type <> i.type
    WHEN i.type = 'float8'::regtype THEN s.type IN ('int2'::regtype, 'int4'::regtype, 'float4'::regtype)
    WHEN i.type = 'float4'::regtype THEN s.type = 'int2'::regtype
    -- of strings of any length, and of those that are at most as long
    WHEN i.type IN ('text'::regtype, 'varchar'::regtype) AND i.typmod = -1
      THEN s.category = 'S' OR s.kind = 'e' OR s.type = ANY ('{int2,int4,int8,numeric,oid,bool,uuid,json,jsonb,xml,bytea,date,time,timetz,
        timestamp,timestamptz,interval,inet,cidr,macaddr,macaddr8,bit,varbit}'::regtype[])
    WHEN i.type = 'varchar'::regtype THEN s.type IN ('varchar'::regtype, 'bpchar'::regtype) AND s.typmod <> -1 AND i.typmod >= s.typmod
    WHEN i.type = 'bpchar'::regtype THEN s.type = i.type AND s.typmod <> -1 AND i.typmod >= s.typmod
    WHEN i.type = 'varbit'::regtype THEN s.type IN ('varbit'::regtype, 'bit'::regtype) AND (i.typmod = -1 OR s.typmod <> -1 AND i.typmod >= s.typmod)
    ELSE false END
FROM base AS i, base AS s WHERE i.is_into AND NOT s.is_into
$$;

-- Return the names of the archive and of the table that notes moved references,
-- and which of them exist. Check that these hold every value that is written.
CREATE FUNCTION simdup_remove_tables(
  home text, target regclass, archive text, key_type regtype, has_references boolean, OUT names text[], OUT tables regclass[]
) LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  relation pg_class;
  problem record;
BEGIN
  SELECT c.* INTO STRICT relation FROM pg_class AS c WHERE c.oid = target;
  -- a table that the caller does not name stands beside the target
  SELECT array_agg(t.name ORDER BY w.i), array_agg(to_regclass(t.name) ORDER BY w.i) INTO names, tables
  FROM (VALUES (1, '_simdup_removed', parse_ident(archive)), (2, '_simdup_moved', NULL)) AS w (i, suffix, given),
    LATERAL (SELECT left(relation.relname, s.n) || w.suffix FROM generate_series(63, 0, -1) AS s (n)
             WHERE octet_length(left(relation.relname, s.n) || w.suffix) <= 63 ORDER BY s.n DESC LIMIT 1) AS fit (name),
    LATERAL (SELECT format('%I.%I', CASE cardinality(w.given) WHEN 2 THEN w.given[1] ELSE o.nspname END, coalesce(w.given[cardinality(w.given)], fit.name))
             FROM pg_namespace AS o WHERE o.oid = relation.relnamespace) AS t (name);
  IF cardinality(parse_ident(archive)) > 2 THEN
    RAISE EXCEPTION 'improper relation name (too many dotted names): %', archive USING ERRCODE = 'syntax_error';
  ELSIF tables[1] = target THEN
    RAISE EXCEPTION 'table "%" cannot be its own archive', relation.relname USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR problem IN SELECT c.* FROM pg_class AS c WHERE c.oid = ANY (tables) LOOP
    IF problem.relkind NOT IN ('r', 'p') THEN
      RAISE EXCEPTION '"%" is not a table', problem.relname USING ERRCODE = 'wrong_object_type';
    -- its triggers would run with the caller's rights
    ELSIF (problem.oid <> tables[1] OR archive IS NULL) AND problem.relowner NOT IN (relation.relowner, (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)) THEN
      RAISE EXCEPTION 'relation % exists and belongs to another role', problem.oid::regclass USING ERRCODE = 'insufficient_privilege';
    END IF;
  END LOOP;
  SELECT a.* INTO problem FROM pg_attribute AS a
  WHERE a.attrelid = target AND a.attname IN ('simdup_kept', 'simdup_removed_at') AND NOT a.attisdropped;
  IF FOUND THEN
    RAISE EXCEPTION 'simdup_remove does not support table "%" with column "%"', relation.relname, problem.attname USING ERRCODE = 'duplicate_column',
      DETAIL = 'The archive has a column of its own of that name.', HINT = 'Rename the column.';
  END IF;
  FOR problem IN EXECUTE format($q$
    SELECT w.relid::regclass AS name, bool_or(b.attnum IS NULL) AS lacks, string_agg(CASE
        WHEN b.attnum IS NULL THEN format('It has no column %%I for values of type %%s.', w.name, format_type(w.type, w.typmod))
        WHEN b.attgenerated <> '' THEN format('Column %%I is generated.', w.name)
        ELSE format('Column %%I of type %%s cannot hold every value of type %%s.', w.name, format_type(b.atttypid, b.atttypmod),
          format_type(w.type, w.typmod)) END, E'\n' ORDER BY w.i) AS detail
    FROM (SELECT $1 AS relid, a.attname::text AS name, a.atttypid AS type, a.atttypmod AS typmod, a.attnum AS i
          FROM pg_attribute AS a WHERE a.attrelid = $3 AND a.attnum > 0 AND NOT a.attisdropped
          UNION ALL VALUES ($1, 'simdup_kept', $4, -1, 10001), ($1, 'simdup_removed_at', 'timestamptz'::regtype::oid, -1, 10002),
            ($2, 'removed', $4, -1, 1), ($2, 'kept', $4, -1, 2), ($2, 'referrer', 'text'::regtype, -1, 3),
            ($2, 'constraint_name', 'name'::regtype, -1, 4), ($2, 'row_key', 'jsonb'::regtype, -1, 5),
            ($2, 'moved_at', 'timestamptz'::regtype, -1, 6)) AS w
      LEFT JOIN pg_attribute AS b ON b.attrelid = w.relid AND b.attname = w.name AND b.attnum > 0 AND NOT b.attisdropped
    WHERE w.relid IS NOT NULL AND (b.attnum IS NULL OR b.attgenerated <> ''
      OR NOT %s.simdup_remove_holds(b.atttypid, b.atttypmod, w.type, w.typmod))
    GROUP BY w.relid$q$, home)
    USING tables[1]::oid, CASE WHEN has_references THEN tables[2]::oid END, target, key_type::oid
  LOOP
    RAISE EXCEPTION 'table % does not fit what simdup_remove writes to it', problem.name USING
      ERRCODE = CASE WHEN problem.lacks THEN 'undefined_column' ELSE 'datatype_mismatch' END, DETAIL = problem.detail,
      HINT = CASE WHEN problem.name = tables[1] THEN 'Name another archive, or change its columns by ALTER TABLE.'
        ELSE format('Rename table %s; a new one is made then.', problem.name) END;
  END LOOP;
END $$;

-- Return which rows of a referring table would repeat a value of a unique index
-- once all references have moved, and a statement that deletes them. The image has the value of each column afterwards, for row r
-- and m1, m2, ..., which the joins add: the map of each reference.
CREATE FUNCTION simdup_remove_collisions(
  referrer regclass, name text, key_columns text[], moved_columns smallint[], image jsonb, joins text, n_joins integer, condition text,
  keys text[], kept text[]
) RETURNS TABLE (lines text, statement text) LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  afterwards record;
  unique_index record;
  literals text;
BEGIN
  SELECT string_agg(image ->> quote_ident(a.attname), ', ' ORDER BY a.attnum) AS moved,
    string_agg(coalesce(pg_get_expr(g.adbin, g.adrelid) || ' AS ', '') || quote_ident(a.attname), ', ' ORDER BY a.attnum) AS generated
  INTO STRICT afterwards
  FROM pg_attribute AS a LEFT JOIN pg_attrdef AS g ON g.adrelid = a.attrelid AND g.adnum = a.attnum AND a.attgenerated <> ''
  WHERE a.attrelid = referrer AND a.attnum > 0 AND NOT a.attisdropped;
  FOR unique_index IN
    SELECT c.relname, coalesce(pg_get_expr(x.indpred, x.indrelid), 'true') AS predicate, x.indnullsnotdistinct AS takes_nulls, k.*, d.*
    FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indexrelid,
      -- the index's columns or expressions, as c1, c2, ... of row z
      LATERAL (SELECT string_agg(e.definition, ', ' ORDER BY s.n) AS definitions, string_agg(format('%s AS c%s', e.definition, s.n), ', ' ORDER BY s.n) AS selected,
                 string_agg(format('z.c%s', s.n), ', ') AS compared, string_agg(format('z.c%s IS NOT NULL', s.n), ' AND ') AS not_null
               FROM generate_series(1, x.indnkeyatts) AS s (n) LEFT JOIN pg_attribute AS a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[s.n - 1],
                 LATERAL (SELECT concat(pg_get_indexdef(x.indexrelid, s.n, false),
                   CASE WHEN x.indcollation[s.n - 1] NOT IN (0, coalesce(a.attcollation, 0)) THEN ' COLLATE ' || x.indcollation[s.n - 1]::regcollation END)) AS e (definition)) AS k,
      -- the columns that name a row: the primary key, those of the index itself, or its place
      LATERAL (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS id, string_agg(format(o.old, a.attname), ', ' ORDER BY a.attnum) AS old_id,
                 string_agg(format('quote_nullable(' || o.old || '::text)', a.attname), ', ' ORDER BY a.attnum) AS old_literals,
                 string_agg(format('r.%1$I %2$s v.%1$I::%3$s', a.attname, CASE WHEN x.indnullsnotdistinct THEN 'IS NOT DISTINCT FROM' ELSE '=' END,
                   format_type(a.atttypid, a.atttypmod)), ' AND ' ORDER BY a.attnum) AS found_by
               FROM pg_attribute AS a, LATERAL (SELECT CASE WHEN a.attnum < 0 THEN 'x.%I' ELSE '(x.was).%I' END) AS o (old)
               WHERE a.attrelid = x.indrelid AND CASE WHEN key_columns IS NOT NULL THEN a.attname = ANY (key_columns)
                 WHEN x.indexprs IS NULL AND x.indpred IS NULL THEN a.attnum = ANY ((x.indkey::smallint[])[0:x.indnkeyatts - 1])
                 ELSE a.attname IN ('tableoid', 'ctid') END) AS d
    WHERE x.indrelid = referrer AND x.indisunique AND x.indislive AND EXISTS (
      SELECT FROM pg_attribute AS a WHERE a.attrelid = x.indrelid AND (a.attnum = ANY (moved_columns) OR a.attgenerated <> '')
        AND (a.attnum = ANY (x.indkey::smallint[]) OR EXISTS (SELECT FROM pg_depend AS p WHERE p.classid = 'pg_class'::regclass AND p.objid = x.indexrelid
          AND p.refclassid = 'pg_class'::regclass AND p.refobjid = x.indrelid AND p.refobjsubid = a.attnum)))
    ORDER BY c.relname
  LOOP
    EXECUTE format($q$
      SELECT string_agg(format('Row (%%s)=%%s of table %%s would repeat (%%s)=%%s in unique index "%%s".', $3, w.id, $4, $5, w.repeated, $6), E'\n' ORDER BY w.id),
        string_agg(format('(%%s)', w.literals), ', ' ORDER BY w.id)
      FROM (SELECT ROW(%1$s)::text AS id, concat_ws(', ', %2$s) AS literals, ROW(%3$s)::text AS repeated, x.moves,
              row_number() OVER (PARTITION BY %3$s ORDER BY x.moves, x.tableoid, x.ctid) AS position
            FROM (SELECT r AS was, r.tableoid, r.ctid, num_nonnulls(%4$s) > 0 AS moves, ROW(%5$s)::%6$s AS becomes FROM %7$s AS r%8$s WHERE %9$s) AS x,
              LATERAL (SELECT %10$s FROM (SELECT %11$s FROM (SELECT (x.becomes).*) AS y) AS y WHERE %12$s) AS z
            WHERE %13$s) AS w
      WHERE w.moves AND w.position > 1$q$,
      unique_index.old_id, unique_index.old_literals, unique_index.compared, (SELECT string_agg(format('m%s.key', s.n), ', ') FROM generate_series(1, n_joins) AS s (n)),
      afterwards.moved, referrer, name, joins, condition, unique_index.selected, afterwards.generated, unique_index.predicate,
      CASE WHEN unique_index.takes_nulls THEN 'true' ELSE unique_index.not_null END)
    INTO lines, literals USING keys, kept, unique_index.id, referrer, unique_index.definitions, unique_index.relname;
    IF lines IS NOT NULL THEN
      statement := format('DELETE FROM %s AS r USING (VALUES %s) AS v (%s) WHERE %s;', name, literals, unique_index.id, unique_index.found_by);
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;

-- Check the map and the references, and return the statements in their order. A
-- statement of kind all must reach each row of the map. One of kind move yields
-- the numbers of rows moved and noted. The query counted yields the number of rows
-- beforehand, which must be 0 for kind left.
CREATE FUNCTION simdup_remove_plan(
  home text, target regclass, archive text, key_column text, key_type text, key_equals text,
  given_types oid[], keys text[], kept text[]
) RETURNS TABLE (kind text, statement text, counted text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict error
DECLARE
  relation pg_class;
  me oid;
  list_references text := format('SELECT r.* FROM %s.simdup_remove_references($1) AS r', home);
  has_references boolean;
  written record;
  removed text := format('pg_catalog.unnest($1::%s[])', key_type);
  map_keys text := format('ROWS FROM (pg_catalog.unnest($1::%1$s[]), pg_catalog.unnest($2::%1$s[])) AS m (key, kept)', key_type);
  map_rows text;  -- with the removed and the kept row
  referring record;
  reference record;
  is_going text;  -- row r is removed itself
  matches text;  -- row r refers to a removed row
  matches_moving text;  -- the same for a row that stays
  is_kept text;  -- row r is kept for the removed row
  matches_kept text;  -- a row that stays will refer to the kept row
  set_kept text;
  set_null text;  -- of a kept row that refers to its own duplicate
  joins text;
  image jsonb;  -- by column, its value after the references have moved
  moved_columns smallint[];
  row_key text;
  n_references integer;
  problem record;
  key_found text;
  left_names text[] := '{}';
  left_counts text[] := '{}';
  details text[] := '{}';
  hints text[] := '{}';
BEGIN
  SELECT c.* INTO relation FROM pg_class AS c WHERE c.oid = target;
  SELECT r.oid INTO me FROM pg_roles AS r WHERE r.rolname = current_user;
  EXECUTE format('SELECT count(*) > 0 FROM (%s) AS r', list_references) INTO has_references USING target;

  -- the types of the map: integers of any width go together
  FOR problem IN
    WITH RECURSIVE base (given, type) AS (
      SELECT g.type, g.type FROM unnest(given_types) AS g (type)
      UNION SELECT b.given, t.typbasetype FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype = 'd')
    SELECT FROM base AS b JOIN pg_type AS t ON t.oid = b.type AND t.typtype <> 'd' WHERE b.type <> key_type::regtype
      AND NOT ARRAY[b.type, key_type::regtype] <@ '{int2,int4,int8}'::regtype[]::oid[]
  LOOP
    RAISE EXCEPTION 'columns of the query in argument "map" do not fit' USING ERRCODE = 'datatype_mismatch',
      DETAIL = format('It has columns of type (%s, %s).', format_type(given_types[1], NULL), format_type(given_types[2], NULL)),
      HINT = format('It should yield a key and the kept key, of type %s, and anything after them.', key_type::regtype);
  END LOOP;
  IF array_position(keys, NULL) IS NOT NULL OR array_position(kept, NULL) IS NOT NULL THEN
    RAISE EXCEPTION 'keys of the map must not be null' USING ERRCODE = 'null_value_not_allowed';
  END IF;

  EXECUTE format('SELECT t.* FROM %s.simdup_remove_tables($1, $2, $3, $4, $5) AS t', home) INTO written
  USING home, target, archive, key_type::regtype, has_references;

  -- the keys of the map, compared as the table compares them
  EXECUTE format($q$SELECT (
      SELECT min(d.key) FROM (SELECT t.%2$s::text FROM %4$s AS m (key) JOIN %1$s AS t ON t.%2$s %3$s m.key GROUP BY t.%2$s HAVING count(*) > 1) AS d (key)) AS twice, (
      SELECT min(t.%2$s::text) FROM %5$s JOIN %1$s AS t ON t.%2$s %3$s m.kept WHERE EXISTS (SELECT FROM %4$s AS g (key) WHERE t.%2$s %3$s g.key)) AS both, (
      SELECT min(m.key::text) FROM (SELECT m.key FROM %5$s UNION ALL SELECT m.kept FROM %5$s) AS m (key) WHERE NOT EXISTS (SELECT FROM %1$s AS t WHERE t.%2$s %3$s m.key)) AS absent$q$,
    target, key_column, key_equals, removed, map_keys) INTO problem USING keys, kept;
  IF problem.twice IS NOT NULL THEN
    RAISE EXCEPTION 'a key occurs more than once in the map' USING ERRCODE = 'cardinality_violation', DETAIL = format('The key is (%s).', problem.twice);
  ELSIF problem.both IS NOT NULL THEN
    RAISE EXCEPTION 'the map removes a row that it keeps for another' USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('The key is (%s).', problem.both), HINT = 'Map each row to a row that stays, as simdup_clusters does.';
  ELSIF problem.absent IS NOT NULL THEN
    RAISE EXCEPTION 'table "%" has no row with a key of the map', relation.relname USING ERRCODE = 'invalid_parameter_value',
      DETAIL = format('The key is (%s).', problem.absent);
  END IF;

  IF written.tables[1] IS NULL THEN
    RETURN QUERY SELECT 'make', format('CREATE TABLE %s AS SELECT gone.*, gone.%s AS simdup_kept, pg_catalog.now() AS simdup_removed_at FROM %s AS gone WITH NO DATA',
      written.names[1], key_column, target), NULL;
  END IF;
  IF has_references AND written.tables[2] IS NULL THEN
    RETURN QUERY SELECT 'make', format('CREATE TABLE %1$s (removed %2$s, kept %2$s, referrer pg_catalog.text, constraint_name pg_catalog.name, row_key pg_catalog.jsonb, moved_at pg_catalog.timestamptz)',
      written.names[2], key_type), NULL;
  END IF;
  RETURN QUERY SELECT 'all', format('INSERT INTO %s (%s, simdup_kept, simdup_removed_at) OVERRIDING SYSTEM VALUE SELECT %s, m.kept, pg_catalog.now() FROM %s JOIN %s AS gone ON gone.%s %s m.key',
      written.names[1], string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), string_agg(format('gone.%I', a.attname), ', ' ORDER BY a.attnum),
      map_keys, target, key_column, key_equals),
    'SELECT pg_catalog.count(*) FROM ' || removed
  FROM pg_attribute AS a WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped;

  is_kept := format('r.%s %s m.kept', key_column, key_equals);
  is_going := format('EXISTS (SELECT FROM %s AS g (key) WHERE r.%s %s g.key)', removed, key_column, key_equals);
  map_rows := format('%4$s JOIN %1$s AS gone ON gone.%2$s %3$s m.key JOIN %1$s AS kept ON kept.%2$s %3$s m.kept',
    target, key_column, key_equals, map_keys);
  FOR referring IN EXECUTE format($q$
    SELECT c.oid::regclass AS id, c.relname, c.relowner, c.oid = $1 AS is_target, concat(CASE WHEN c.relkind = 'r' THEN 'ONLY ' END, c.oid::regclass) AS name,
      (SELECT array_agg(a.attname::text ORDER BY k.i) FROM pg_constraint AS p, unnest(p.conkey) WITH ORDINALITY AS k (attnum, i)
         JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum WHERE p.conrelid = c.oid AND p.contype = 'p') AS key_columns
    FROM pg_class AS c WHERE c.oid = $1 OR c.oid IN (SELECT r.referrer FROM (%s) AS r) ORDER BY c.oid::regclass::text COLLATE "C"$q$, list_references) USING target
  LOOP
    -- the triggers of a role that was only given REFERENCES must not run with the caller's rights
    IF referring.relowner NOT IN (relation.relowner, me) THEN
      RAISE EXCEPTION 'table % refers to "%" and belongs to another role', referring.id, relation.relname USING ERRCODE = 'insufficient_privilege',
        DETAIL = 'Its triggers would run with your rights.', HINT = 'Run simdup_remove as its owner, or move its references by hand.';
    ELSIF row_security_active(referring.id::oid) THEN
      RAISE EXCEPTION 'row-level security would hide rows of table "%" from simdup_remove', referring.relname USING ERRCODE = 'insufficient_privilege',
        HINT = 'Run simdup_remove as a role that sees all rows, such as the table''s owner.';
    END IF;
    SELECT CASE count(*) WHEN 0 THEN 'pg_catalog.to_jsonb(r.*)'
        ELSE format('pg_catalog.jsonb_build_object(%s)', string_agg(format('%L, r.%I', k.name, k.name), ', ' ORDER BY k.i)) END
    INTO row_key FROM unnest(referring.key_columns) WITH ORDINALITY AS k (name, i);
    SELECT jsonb_object_agg(quote_ident(a.attname), format('r.%I', a.attname)) INTO image
    FROM pg_attribute AS a WHERE a.attrelid = referring.id AND a.attnum > 0 AND NOT a.attisdropped;
    n_references := 0;
    joins := '';
    moved_columns := '{}';

    FOR reference IN EXECUTE list_references || ' WHERE r.referrer = $2' USING target, referring.id LOOP
      n_references := n_references + 1;
      moved_columns := moved_columns || reference.attnums;
      SELECT string_agg(format('gone.%s %s r.%s', c.referenced, c.equals, c.name), ' AND ' ORDER BY c.i),
        string_agg(format('%s = kept.%s', c.name, c.referenced), ', ' ORDER BY c.i), string_agg(CASE WHEN c.clears THEN c.name || ' = NULL' END, ', ' ORDER BY c.i),
        joins || format(' LEFT JOIN (SELECT m.key, m.kept, %s FROM %s) AS m%s ON %s', string_agg(format('gone.%1$s AS old%2$s, kept.%1$s AS new%2$s', c.referenced, c.i), ', '),
          map_rows, n_references, string_agg(format('m%s.old%s %s r.%s', n_references, c.i, c.equals, c.name), ' AND '))
      INTO matches, set_kept, set_null, joins
      FROM unnest(reference.columns, reference.referenced, reference.equals, reference.clears) WITH ORDINALITY AS c (name, referenced, equals, clears, i);
      matches_moving := concat(matches, CASE WHEN referring.is_target THEN ' AND NOT ' || is_going END);
      matches_kept := concat(matches_moving, CASE WHEN set_null IS NOT NULL THEN ' AND NOT ' || is_kept END);
      -- a kept row does not refer to itself afterwards where it can refer to nothing
      SELECT image || jsonb_object_agg(c.name, CASE WHEN set_null IS NULL
          THEN format('CASE WHEN m%1$s.key IS NULL THEN %2$s ELSE m%1$s.new%3$s END', n_references, image ->> c.name, c.i)
          ELSE format('CASE WHEN m%s.key IS NULL THEN %s WHEN r.%s %s m%1$s.kept THEN %s ELSE m%1$s.new%s END', n_references, image ->> c.name, key_column, key_equals,
            CASE WHEN c.clears THEN 'NULL' ELSE image ->> c.name END, c.i) END)
      INTO image FROM unnest(reference.columns, reference.clears) WITH ORDINALITY AS c (name, clears, i);
      FOR problem IN SELECT c.name FROM unnest(reference.referenced, reference.nullable) AS c (name, nullable) WHERE c.nullable LOOP
        EXECUTE format('SELECT min(m.kept::text) FROM %s JOIN %s AS r ON %s WHERE kept.%s IS NULL', map_rows, referring.name, matches_kept, problem.name)
        INTO key_found USING keys, kept;
        IF key_found IS NOT NULL THEN
          RAISE EXCEPTION 'kept row has no value in column %, to which foreign key "%" refers', problem.name, reference.name
            USING ERRCODE = 'not_null_violation', DETAIL = format('The kept row''s key is (%s).', key_found);
        END IF;
      END LOOP;
      RETURN QUERY SELECT 'move', format('WITH moved AS (UPDATE %s AS r SET %s FROM %s WHERE %s RETURNING m.key, m.kept, %s AS row_key), noted AS (INSERT INTO %s (removed, kept, referrer, constraint_name, row_key, moved_at) SELECT moved.key, %s, %L, %L, moved.row_key, pg_catalog.now() FROM moved RETURNING 1) SELECT (SELECT pg_catalog.count(*) FROM moved), (SELECT pg_catalog.count(*) FROM noted)',
          referring.name, v.sets, map_rows, v.matches, row_key, written.names[2], v.kept, referring.id, reference.name),
        format('SELECT pg_catalog.count(*) FROM %s JOIN %s AS r ON %s', map_rows, referring.name, v.matches)
      FROM (VALUES (1, set_null, concat(matches, ' AND ', is_kept), 'NULL'), (2, set_kept, matches_kept, 'moved.kept')) AS v (i, sets, matches, kept)
      WHERE v.sets IS NOT NULL ORDER BY v.i;
      left_names := left_names || format('"%s" of table %s', reference.name, referring.id);
      left_counts := left_counts || format('SELECT pg_catalog.count(*) FROM %s JOIN %s AS r ON %s', map_rows, referring.name, matches_moving);
    END LOOP;

    IF n_references > 0 THEN
      EXECUTE format('SELECT $1 || array_agg(c.lines), $2 || array_agg(c.statement) FROM %s.simdup_remove_collisions($3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS c', home)
      INTO details, hints USING details, hints, referring.id, referring.name, referring.key_columns, moved_columns, image, joins, n_references,
        CASE WHEN referring.is_target THEN 'NOT ' || is_going ELSE 'true' END, keys, kept;
    END IF;
  END LOOP;
  IF details <> '{}' THEN
    RAISE EXCEPTION 'rows would repeat values of unique indexes once they refer to the kept rows' USING ERRCODE = 'unique_violation',
      DETAIL = array_to_string(details, E'\n'), HINT = E'Change these rows, or delete them:\n' || array_to_string(hints, E'\n');
  END IF;
  RETURN QUERY SELECT 'left', l.name, l.count FROM unnest(left_names, left_counts) AS l (name, count);
  RETURN QUERY SELECT 'all', format('DELETE FROM %s AS gone USING %s AS m (key) WHERE gone.%s %s m.key', target, removed, key_column, key_equals),
    'SELECT pg_catalog.count(*) FROM ' || removed;
END $$;

CREATE FUNCTION simdup_remove(
  target regclass,
  map text,
  archive text DEFAULT NULL,
  key text DEFAULT NULL,
  dry_run boolean DEFAULT false,
  params text[] DEFAULT '{}'
) RETURNS TABLE (statement text, n bigint) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
SET extra_float_digits = 1 SET DateStyle = ISO -- keys become texts and keys again
AS $$
#variable_conflict error
DECLARE
  home pg_catalog.text;
  opened record;
  n_needed integer;
  parameters pg_catalog.text;
  given_types pg_catalog.oid[];
  keys pg_catalog.text[];
  kept pg_catalog.text[];
  step record;
  n_noted bigint;
BEGIN
  IF target IS NULL OR map IS NULL OR dry_run IS NULL OR params IS NULL THEN
    RAISE EXCEPTION '% must not be null', CASE WHEN target IS NULL THEN 'target' WHEN map IS NULL THEN 'map' WHEN dry_run IS NULL THEN 'dry_run' ELSE 'params' END
      USING ERRCODE = 'null_value_not_allowed';
  ELSIF map OPERATOR(pg_catalog.~) '^\s*[^\s()]+\s*$' THEN
    RAISE EXCEPTION 'argument "map" must be a query' USING ERRCODE = 'invalid_parameter_value',
      DETAIL = pg_catalog.format('The query is: %s', map),
      HINT = pg_catalog.format('For the rows of a table, write: SELECT key, kept FROM %s', map);
  ELSIF NOT dry_run AND pg_catalog.current_setting('transaction_read_only')::pg_catalog.bool THEN
    RAISE EXCEPTION 'cannot execute simdup_remove() in a read-only transaction' USING ERRCODE = 'read_only_sql_transaction';
  ELSIF NOT dry_run AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed' THEN
    RAISE EXCEPTION 'simdup_remove() cannot run in a transaction with isolation level %', pg_catalog.upper(pg_catalog.current_setting('transaction_isolation'))
      USING ERRCODE = 'feature_not_supported', DETAIL = 'Its snapshot may not see all rows of the table.', HINT = 'Use READ COMMITTED.';
  END IF;
  SELECT e.extnamespace::pg_catalog.regnamespace::pg_catalog.text INTO STRICT home
  FROM pg_catalog.pg_extension AS e WHERE e.extname OPERATOR(pg_catalog.=) 'simdup';
  EXECUTE pg_catalog.format('SELECT o.* FROM %s.simdup_remove_open($1, $2, $3, $4) AS o', home) INTO STRICT opened USING home, target, key, dry_run;

  -- a prepared statement finds the types of the map's parameters; a failed call leaves its own behind
  PERFORM FROM pg_catalog.pg_prepared_statements AS s WHERE s.name OPERATOR(pg_catalog.=) 'simdup_remove';
  IF FOUND THEN
    DEALLOCATE simdup_remove;
  END IF;
  EXECUTE pg_catalog.format($q$PREPARE simdup_remove AS
    SELECT COALESCE(pg_catalog.array_agg(q.key::pg_catalog.text), '{}'), COALESCE(pg_catalog.array_agg(q.kept::pg_catalog.text), '{}'),
      ARRAY[pg_catalog.min(pg_catalog.pg_typeof(q.key)::pg_catalog.oid), pg_catalog.min(pg_catalog.pg_typeof(q.kept)::pg_catalog.oid)]
    FROM (%s
    ) AS q (key, kept)
    WHERE q.key IS NULL OR q.kept IS NULL OR q.key::pg_catalog.text OPERATOR(pg_catalog.<>) q.kept::pg_catalog.text$q$,
    pg_catalog.rtrim(map, E' \t\r\n;'));
  SELECT pg_catalog.cardinality(s.parameter_types) INTO STRICT n_needed FROM pg_catalog.pg_prepared_statements AS s WHERE s.name OPERATOR(pg_catalog.=) 'simdup_remove';
  IF n_needed OPERATOR(pg_catalog.<>) pg_catalog.cardinality(params) THEN
    RAISE EXCEPTION 'wrong number of parameters for the query in argument "map"' USING ERRCODE = 'syntax_error',
      DETAIL = pg_catalog.format('Expected %s parameters but got %s.', n_needed, pg_catalog.cardinality(params)),
      HINT = 'Give a text for each of the parameters $1, $2 and so on: params => ARRAY[''first'', ''second''].';
  END IF;
  SELECT pg_catalog.string_agg(pg_catalog.quote_nullable(p.value), ', ' ORDER BY p.i) INTO parameters
  FROM pg_catalog.unnest(params) WITH ORDINALITY AS p (value, i);
  EXECUTE pg_catalog.concat('EXECUTE simdup_remove', '(' OPERATOR(pg_catalog.||) parameters OPERATOR(pg_catalog.||) ')') INTO STRICT keys, kept, given_types;
  DEALLOCATE simdup_remove;

  statement := opened.lock;
  RETURN NEXT;
  FOR step IN EXECUTE pg_catalog.format('SELECT s.* FROM %s.simdup_remove_plan($1, $2, $3, $4, $5, $6, $7, $8, $9) AS s', home)
    USING home, target, archive, opened.key_column, opened.key_type, opened.key_equals, given_types, keys, kept
  LOOP
    n := NULL;
    IF step.kind OPERATOR(pg_catalog.=) 'move' AND NOT dry_run THEN
      EXECUTE step.statement INTO STRICT n, n_noted USING keys, kept;
      IF n OPERATOR(pg_catalog.<>) n_noted THEN
        RAISE EXCEPTION '% of % moved references were noted', n_noted, n USING ERRCODE = 'triggered_data_change_violation',
          DETAIL = pg_catalog.format('The statement is: %s', step.statement), HINT = 'A trigger or a rule may have kept the others.';
      END IF;
    ELSIF NOT dry_run AND step.kind OPERATOR(pg_catalog.<>) 'left' THEN
      EXECUTE step.statement USING keys, kept;
      GET DIAGNOSTICS n = ROW_COUNT;
    ELSIF step.counted IS NOT NULL THEN
      EXECUTE step.counted INTO STRICT n USING keys, kept;
    END IF;
    IF step.kind OPERATOR(pg_catalog.=) 'all' AND n OPERATOR(pg_catalog.<>) pg_catalog.cardinality(keys)::pg_catalog.int8 THEN
      RAISE EXCEPTION 'a statement reached % of % rows to remove', n, pg_catalog.cardinality(keys) USING ERRCODE = 'triggered_data_change_violation',
        DETAIL = pg_catalog.format('The statement is: %s', step.statement), HINT = 'A trigger or a rule may have kept the others.';
    ELSIF step.kind OPERATOR(pg_catalog.=) 'left' AND n OPERATOR(pg_catalog.>) 0 AND NOT dry_run THEN
      RAISE EXCEPTION 'rows refer to removed rows still' USING ERRCODE = 'triggered_data_change_violation',
        DETAIL = pg_catalog.format('There are %s of them under %s.', n, step.statement), HINT = 'A trigger or a rule may have kept them.';
    ELSIF step.kind OPERATOR(pg_catalog.<>) 'left' THEN
      statement := step.statement;
      n := CASE WHEN step.counted IS NOT NULL THEN n END;
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION simdup_remove(regclass, text, text, text, boolean, text[]) IS
  'removes the keys of a map (key, kept), archived, with references moved to the kept rows; returns statements';
COMMENT ON FUNCTION simdup_remove_references(regclass) IS 'implementation of simdup_remove: the references to a table';
COMMENT ON FUNCTION simdup_remove_open(text, regclass, text, boolean) IS 'implementation of simdup_remove: the key and the lock';
COMMENT ON FUNCTION simdup_remove_holds(oid, integer, oid, integer) IS 'implementation of simdup_remove: whether a type holds every value of another';
COMMENT ON FUNCTION simdup_remove_tables(text, regclass, text, regtype, boolean) IS 'implementation of simdup_remove: the archive and the table of moved references';
COMMENT ON FUNCTION simdup_remove_collisions(regclass, text, text[], smallint[], jsonb, text, integer, text, text[], text[]) IS
  'implementation of simdup_remove: references that would collide';
COMMENT ON FUNCTION simdup_remove_plan(text, regclass, text, text, text, text, oid[], text[], text[]) IS
  'implementation of simdup_remove: the statements, after all checks';
