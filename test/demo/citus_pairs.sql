-- citus_pairs.sql: all near pairs of a table that Citus distributes, found by
-- the workers. Run it once on the coordinator, then call the procedure:
--
--   psql -X -d city -f citus_pairs.sql
--   CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'petition_pairs');
--
-- A call makes three relations, and drops those of that name that an earlier one made:
--
--   petition_pairs       (a, b, distance): the pairs of distinct fingerprints, each
--                        by its smallest key. a is before b, and each pair is there once.
--   petition_pairs_keys  (fp, key): the rows that have a fingerprint, distributed by it.
--   petition_pairs_all   (a, b, distance): a view of all pairs of rows. n equal rows
--                        have n (n - 1) / 2 of them.
--
-- The key must be unique in the whole table, and the call checks that: by an index or on
-- the workers if the table is distributed by the key, else on the coordinator. For a key
-- of two columns, such as (district, id), take a generated column that has both.
--
-- Workers send each other the rows by fingerprint, and then the distinct fingerprints by
-- piece (simhash_pieces). Then each worker joins its pieces. A pair counts in the
-- smallest piece that its fingerprints share. No server holds all rows. pieces is the
-- number of workers by default. More pieces let a worker use more cores, and make more
-- copies.
--
-- The relations get their names when they are complete. After an error, call the
-- procedure again. For a result of more than 49 bytes, the two others are named by its md5.

CREATE OR REPLACE PROCEDURE simdup_citus_pairs(
  source regclass, key name, fingerprint name, max_distance integer, result name, pieces integer DEFAULT NULL)
LANGUAGE plpgsql AS $procedure$
DECLARE
  -- the workers have a search_path of their own, so all names are qualified
  schema text := pg_catalog.current_schema();
  -- in the caller's path, another's function may fit a call below better
  path text := pg_catalog.set_config('search_path', 'pg_catalog', true);
  stem text := CASE WHEN octet_length(result::text) < 50 THEN result::text ELSE 'simdup_' || md5(result) END;
  made text[] := ARRAY[format('%I.%I', schema, result), format('%I.%I', schema, stem || '_keys'),
                       format('%I.%I', schema, stem || '_all')];
  key_table text := format('%I.%I', schema, stem || '_simdup_key');
  piece_table text := format('%I.%I', schema, stem || '_simdup_piece');
  pair_table text := format('%I.%I', schema, stem || '_simdup_pair');
  -- is replaced by the shard's name in a command
  shard text := chr(1);
  simdup text;
  part pg_dist_partition;
  key_column pg_attribute;
  key_type text;
  homes integer[];
  steps text[];
  step text[];
  failure text;
  began timestamptz;
BEGIN
  SELECT quote_ident(n.nspname) INTO simdup
  FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'simdup';
  SELECT * INTO part FROM pg_dist_partition WHERE logicalrelid = source AND repmodel <> 't';
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
      MESSAGE = format('%s is not a distributed table', source), HINT = 'A server that has all rows can join them.';
  END IF;
  IF (SELECT count(to_regclass(name)) FROM unnest(made) AS name) NOT IN (0, 3) THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_table', MESSAGE = format('relation "%s" already exists', result),
      DETAIL = format('A call makes %s, %s and %s.', VARIADIC made);
  END IF;
  SELECT * INTO key_column FROM pg_attribute WHERE attrelid = source AND attname = key AND NOT attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_column',
      MESSAGE = format('column "%s" of relation %s does not exist', key, source);
  END IF;
  -- an index knows the keys of one shard; rows of one distribution value are in one shard
  IF NOT EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = source AND indisunique AND indisvalid AND indpred IS NULL AND indnkeyatts = 1
      AND indkey[0] = key_column.attnum AND coalesce(column_to_column_name(source, part.partkey), key) = key)
  THEN
    EXECUTE format('SELECT concat(%I) FROM %s GROUP BY %1$I HAVING count(*) > 1 LIMIT 1', key, source) INTO failure;
    IF failure IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE = 'unique_violation',
        MESSAGE = format('column "%s" of %s is not unique', key, source),
        DETAIL = format('Key (%s)=(%s) is duplicated.', key, failure);
    END IF;
  END IF;
  SELECT coalesce(pieces, count(*)) INTO pieces FROM pg_dist_node
  WHERE isactive AND shouldhaveshards AND noderole = 'primary';

  -- one shard a piece; the rest of a failed call is dropped
  SET LOCAL client_min_messages = warning;
  SET LOCAL citus.shard_replication_factor = 1;
  key_type := format_type(key_column.atttypid, NULL);
  EXECUTE format('DROP TABLE IF EXISTS %s, %s, %s', key_table, piece_table, pair_table);
  EXECUTE format('CREATE TABLE %s (fp %s.simhash64, key %s NOT NULL)', key_table, simdup, key_type);
  EXECUTE format('CREATE UNLOGGED TABLE %s (home integer, piece integer, LIKE %s)', piece_table, key_table);
  EXECUTE format('CREATE TABLE %s (a %s, b %2$s, distance integer)', pair_table, key_type);
  PERFORM create_distributed_table(name::regclass, by, shard_count => pieces, colocate_with => 'none')
  FROM (VALUES (key_table, 'fp'), (piece_table, 'home'), (pair_table, 'a')) AS new (name, by);

  -- for each piece, a number that Citus hashes to its shard
  SELECT array_agg(home ORDER BY home) INTO homes
  FROM (SELECT min(i) AS home FROM generate_series(1, 64 * pieces) AS i
        GROUP BY get_shard_id_for_distribution_column(piece_table::regclass, i)) AS shard;
  COMMIT;
  SET LOCAL search_path = pg_catalog;

  -- the workers run each command for each shard of a table
  steps := ARRAY[
    ['send all rows', source::text, format(
       'INSERT INTO %s SELECT %I, %I FROM %s WHERE %2$I IS NOT NULL', key_table, fingerprint, key, shard)],
    ['send all pieces', key_table, format(
       'INSERT INTO %s SELECT (%L::integer[])[piece + 1], piece, fp, key '
       'FROM (SELECT DISTINCT ON (fp) fp, key FROM %s ORDER BY fp, key) AS row, '
       'unnest(%s.simhash_pieces(fp, %s, %s)) AS piece', piece_table, homes, shard, simdup, max_distance, pieces)],
    ['join all pieces', piece_table, format(
       'INSERT INTO %s SELECT a.key, b.key, %s.simhash_distance(a.fp, b.fp) FROM %s AS a JOIN %3$s AS b '
       'ON a.key OPERATOR(pg_catalog.<) b.key AND %2$s.simhash_within(a.fp, b.fp, %4$s) AND a.piece = ('
       'SELECT min(piece) FROM unnest(%2$s.simhash_pieces(a.fp, %4$s, %5$s)) AS piece '
       'WHERE piece = ANY (%2$s.simhash_pieces(b.fp, %4$s, %5$s)))',
       pair_table, simdup, shard, max_distance, pieces)]];
  FOREACH step SLICE 1 IN ARRAY steps LOOP
    began := clock_timestamp();
    SELECT string_agg(DISTINCT format('%s:%s: %s', p.nodename, p.nodeport, c.result), E'\n') INTO failure
    FROM run_command_on_shards(step[2]::regclass, replace(replace(step[3], '%', '%%'), shard, '%1$s')) AS c
      LEFT JOIN pg_dist_shard_placement AS p USING (shardid)
    WHERE NOT c.success;
    IF failure IS NOT NULL THEN
      RAISE EXCEPTION 'could not %', step[1] USING DETAIL = failure;
    END IF;
    COMMIT;
    SET LOCAL search_path = pg_catalog;
    RAISE NOTICE '%: % s', step[1], round(extract(epoch FROM clock_timestamp() - began)::numeric, 2);
  END LOOP;

  SET LOCAL client_min_messages = warning;
  EXECUTE format('DROP VIEW IF EXISTS %s', made[3]);
  EXECUTE format('DROP TABLE IF EXISTS %s, %s, %s', made[1], made[2], piece_table);
  EXECUTE format('ALTER TABLE %s RENAME TO %I', pair_table, result);
  EXECUTE format('ALTER TABLE %s RENAME TO %I', key_table, stem || '_keys');
  -- repeated fingerprints alone are sent to where the pairs are
  EXECUTE format(
    'CREATE VIEW %s AS WITH repeated AS MATERIALIZED ( '
    'SELECT first, key FROM (SELECT key, first_value(key) OVER (PARTITION BY fp ORDER BY key) AS first, '
    'count(*) OVER (PARTITION BY fp) AS n FROM %s) AS row WHERE n > 1) '
    'SELECT least(x, y) AS a, greatest(x, y) AS b, distance '
    'FROM (SELECT coalesce(x.key, a) AS x, coalesce(y.key, b) AS y, distance FROM %s AS pair '
    'LEFT JOIN repeated AS x ON x.first = a LEFT JOIN repeated AS y ON y.first = b) AS pair '
    'UNION ALL SELECT x.key, y.key, 0 FROM %2$s AS x JOIN %2$s AS y USING (fp) WHERE x.key OPERATOR(pg_catalog.<) y.key',
    made[3], made[2], made[1]);
END
$procedure$;
