
--
-- arrival: triggers that catch duplicates as they come in
--

CREATE FUNCTION minhash64_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME', 'simdup_minhash64_update_trigger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION minhash64_update_trigger() IS
  'trigger (fp, content [, field ...] [, ''option => value'' ...]): keeps fp in step with content and fields';

CREATE FUNCTION simhash_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_update_trigger() IS
  'trigger (fp, content [, field ...] [, ''option => value'' ...]): keeps fp in step with content and fields';

CREATE FUNCTION simdup_flag_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_flag_trigger() IS
  'trigger (fp, flag, key, k [, ''lock''] [, ''option => value'' ...]): sets flag to the key of the nearest row';

CREATE FUNCTION simdup_log_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_log_trigger() IS
  'trigger (fp, key, k, log_table [, ''lock''] [, ''option => value'' ...]): logs every row near a new one';

CREATE FUNCTION simdup_reject_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger (fp, key, k [, ''option => value'' ...]): refuses a row near another, also one being written elsewhere';

CREATE FUNCTION simdup_lock_arrivals(target regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS
  'makes other sessions'' locking arrivals in a table wait until the transaction ends';

-- setting it up on an existing table

CREATE FUNCTION simdup_attach(
  target regclass,
  content text,
  fields text[] DEFAULT '{}',
  max_distance integer DEFAULT NULL,
  action text DEFAULT 'flag',
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false,
  fingerprint text DEFAULT 'minhash64',
  w integer DEFAULT NULL,
  unit text DEFAULT NULL,
  tokenizer text DEFAULT NULL,
  weighting text DEFAULT NULL,
  backfill boolean DEFAULT NULL,
  foreign_key boolean DEFAULT false,
  min_resemblance float8 DEFAULT NULL,
  within text[] DEFAULT NULL,
  min_features integer DEFAULT NULL,
  method text DEFAULT NULL
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean, text, integer, text, text, text, boolean, boolean, float8, text[], integer, text) IS
  'sets a table up to flag, log, reject or group near rows; returns the statements';

CREATE FUNCTION simdup_alter(
  target regclass,
  content text DEFAULT NULL,
  fields text[] DEFAULT NULL,
  max_distance integer DEFAULT NULL,
  action text DEFAULT NULL,
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false,
  fingerprint text DEFAULT NULL,
  w integer DEFAULT NULL,
  unit text DEFAULT NULL,
  tokenizer text DEFAULT NULL,
  weighting text DEFAULT NULL,
  backfill boolean DEFAULT NULL,
  foreign_key boolean DEFAULT false,
  min_resemblance float8 DEFAULT NULL,
  within text[] DEFAULT NULL,
  min_features integer DEFAULT NULL,
  method text DEFAULT NULL
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_alter(regclass, text, text[], integer, text, boolean, text, text, boolean, text, integer, text, text, text, boolean, boolean, float8, text[], integer, text) IS
  'changes what simdup_attach was told; NULL leaves a thing as it is; returns the statements';

CREATE FUNCTION simdup_detach(
  target regclass,
  dry_run boolean DEFAULT false,
  keep_columns boolean DEFAULT false
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 4;
COMMENT ON FUNCTION simdup_detach(regclass, boolean, boolean) IS
  'removes what simdup_attach made, except for tables beside; returns the statements';
