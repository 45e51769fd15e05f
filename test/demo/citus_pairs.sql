-- citus_pairs.sql: all near pairs of a table that Citus distributes, found by
-- the workers. Run it once on the coordinator, then call the procedure:
--
--   psql -X -d city -f citus_pairs.sql
--   CALL simdup_citus_pairs('petition', 'id', 'fp', 3, 'petition_pairs');
--
-- Each worker sends its own rows to the workers of their pieces (simhash_pieces).
-- Then each worker joins its pieces. A pair counts in the smallest piece that its
-- rows share. No server holds all rows, and the coordinator sees none of them.
--
-- The result is a new distributed table of (a, b, distance), a before b, each
-- pair once; home says on which piece's worker it is. The table gets its name
-- when it is complete. After an error, call the procedure again. pieces is
-- the number of workers by default. More pieces let a worker use more cores, and
-- make more copies.

CREATE OR REPLACE PROCEDURE simdup_citus_pairs(
  source regclass, key name, fingerprint name, max_distance integer, result name, pieces integer DEFAULT NULL)
LANGUAGE plpgsql AS $procedure$
DECLARE
  -- the workers have a search_path of their own, so all names are qualified
  schema text := pg_catalog.current_schema();
  piece_table text;
  result_table text;
  simdup text;
  columns text;
  key_type text;
  homes integer[];
  failure text;
  began timestamptz;
BEGIN
  -- nobody else's functions and operators, also after each COMMIT
  SET LOCAL search_path = pg_catalog;
  piece_table := format('%I.%I', schema, result || '_simdup_piece');
  result_table := format('%I.%I', schema, result || '_simdup_found');
  -- a % would be taken for one of the placeholders of a worker's command
  columns := replace(format('%I, %I', key, fingerprint), '%', '%%');
  IF to_regclass(format('%I.%I', schema, result)) IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_table', MESSAGE = format('relation "%s" already exists', result);
  END IF;
  SELECT quote_ident(n.nspname) INTO simdup
  FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'simdup';
  SELECT format_type(atttypid, NULL) INTO key_type FROM pg_attribute
  WHERE attrelid = source AND attname = key AND NOT attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_column', MESSAGE = format('column "%s" of relation %s does not exist', key, source);
  END IF;
  SELECT coalesce(pieces, count(*)) INTO pieces FROM pg_dist_node
  WHERE isactive AND shouldhaveshards AND noderole = 'primary';

  -- one shard a piece; what an earlier call left is dropped
  SET LOCAL client_min_messages = warning;
  SET LOCAL citus.shard_replication_factor = 1;
  EXECUTE format('DROP TABLE IF EXISTS %s, %s', piece_table, result_table);
  EXECUTE format('CREATE UNLOGGED TABLE %s (home integer, piece integer, key %s, fp %s.simhash64)', piece_table, key_type, simdup);
  EXECUTE format('CREATE TABLE %s (home integer, a %s, b %2$s, distance integer)', result_table, key_type);
  PERFORM create_distributed_table(piece_table::regclass, 'home', shard_count => pieces, colocate_with => 'none');
  PERFORM create_distributed_table(result_table::regclass, 'home', colocate_with => piece_table);

  -- for each piece, a number that Citus hashes to its shard
  SELECT array_agg(home ORDER BY home) INTO homes
  FROM (SELECT min(i) AS home FROM generate_series(1, 64 * pieces) AS i
        GROUP BY get_shard_id_for_distribution_column(piece_table::regclass, i)) AS shard;
  COMMIT;
  SET LOCAL search_path = pg_catalog;

  -- each worker sends its rows
  began := clock_timestamp();
  SELECT min(c.result) INTO failure
  FROM run_command_on_shards(source, format(
    'INSERT INTO %s SELECT (%L::integer[])[piece + 1], piece, key, fp '
    'FROM (SELECT %s FROM %%s) AS s(key, fp), unnest(%s.simhash_pieces(fp, %s, %s)) AS piece',
    piece_table, homes, columns, simdup, max_distance, pieces)) AS c
  WHERE NOT c.success;
  IF failure IS NOT NULL THEN
    RAISE EXCEPTION 'could not send all rows to the pieces'' workers' USING DETAIL = failure;
  END IF;
  COMMIT;
  SET LOCAL search_path = pg_catalog;
  RAISE NOTICE 'rows sent in % s', round(extract(epoch FROM clock_timestamp() - began)::numeric, 2);

  -- each worker joins its pieces
  began := clock_timestamp();
  SELECT min(c.result) INTO failure
  FROM run_command_on_colocated_placements(piece_table::regclass, result_table::regclass, format(
    'INSERT INTO %%2$s SELECT a.home, a.key, b.key, %1$s.simhash_distance(a.fp, b.fp) FROM %%1$s AS a JOIN %%1$s AS b USING (piece) '
    'WHERE a.key OPERATOR(pg_catalog.<) b.key AND %1$s.simhash_within(a.fp, b.fp, %2$s) AND piece = (SELECT min(p) '
    'FROM unnest(%1$s.simhash_pieces(a.fp, %2$s, %3$s)) AS p WHERE p = ANY (%1$s.simhash_pieces(b.fp, %2$s, %3$s)))',
    simdup, max_distance, pieces)) AS c
  WHERE NOT c.success;
  IF failure IS NOT NULL THEN
    RAISE EXCEPTION 'could not join all pieces' USING DETAIL = failure;
  END IF;
  COMMIT;
  SET LOCAL search_path = pg_catalog;
  RAISE NOTICE 'pieces joined in % s', round(extract(epoch FROM clock_timestamp() - began)::numeric, 2);

  EXECUTE format('DROP TABLE %s', piece_table);
  EXECUTE format('ALTER TABLE %s RENAME TO %I', result_table, result);
END
$procedure$;
