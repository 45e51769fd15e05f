
--
-- arrival: triggers that catch duplicates as they come in
--

CREATE FUNCTION simhash_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_update_trigger() IS
  'trigger (fp, content [, field ...]), BEFORE INSERT OR UPDATE FOR EACH ROW: sets column fp to simhash(content), or simhash_row(content, ARRAY[field ...]) where fields are given, on insert and when a source is in the UPDATE''s list or was changed by an earlier trigger. content is of a character type; fields of any type whose text form depends on no setting. SQLSTATE 42703, 42804, 39P01 for wrong columns, types, firing';

CREATE FUNCTION simdup_flag_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_flag_trigger() IS
  'trigger (fp, flag, key, k [, ''lock'']), BEFORE INSERT OR UPDATE FOR EACH ROW: sets column flag to the key of the nearest other row within Hamming distance k (0 to 64), ties to the smallest key, NULL if there is none; on insert and when the fingerprint changes. Searches with the rights of the user who writes. lock: misses no row that another session is writing (see simdup_reject_trigger)';

CREATE FUNCTION simdup_log_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_log_trigger() IS
  'trigger (fp, key, k, log_table [, ''lock'']), AFTER INSERT OR UPDATE FOR EACH ROW, or FOR EACH STATEMENT with transition tables: writes new_key, old_key, distance and logged_at to log_table for every row within Hamming distance k (0 to 64) of a new one, each pair once. log_table without a schema is one beside the table. Searches and writes with the rights of the user who writes. lock: see simdup_reject_trigger';

CREATE FUNCTION simdup_reject_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger (fp, key, k), BEFORE or AFTER INSERT OR UPDATE FOR EACH ROW, also as a constraint trigger: refuses a row within Hamming distance k (0 to 64) of another with SQLSTATE 23P01, also one that another session is writing: until the transaction ends it locks what any near-duplicate would lock too, the values of blocks of the fingerprint (pg_locks: advisory, classid the table, objsubid from 16384). 40001 where the transaction''s snapshot cannot see the other row. Searches with the rights of the table''s owner';

CREATE FUNCTION simdup_lock_arrivals(target regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS
  'makes other sessions'' locking arrivals in the table (the one that has the trigger) wait until this transaction ends, and waits for theirs: for bulk loads, which take this lock by themselves but in the middle, where two of them can deadlock. Needs INSERT or UPDATE on the table, else SQLSTATE 42501';

-- setting it up on an existing table

CREATE FUNCTION simdup_attach(
  target regclass,
  content text,
  fields text[] DEFAULT '{}',
  k integer DEFAULT 3,
  action text DEFAULT 'flag',
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean) IS
  'gives a table a fingerprint column simdup_fp of content and fields, kept by a trigger, an index on it, and a trigger that flags (in column simdup_of), logs (in log_table, by default TABLE_simdup_log) or rejects rows within distance k (0 to 64). Returns the statements in order; with dry_run it does not run them. key: the column that tells rows apart, by default the primary key. live: the statements for a table in use (backfill in batches, index concurrently, a check at the end), which only dry_run gives. SQLSTATE 42710 where that was done before, 42704 without a primary key of one column, 42703 for a column that is not there';

CREATE FUNCTION simdup_detach(
  target regclass,
  dry_run boolean DEFAULT false,
  keep_columns boolean DEFAULT false
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 4;
COMMENT ON FUNCTION simdup_detach(regclass, boolean, boolean) IS
  'takes off what simdup_attach made: its triggers and, unless keep_columns, its columns with their index; a log table stays. Returns the statements in order; with dry_run it does not run them';
