
--
-- triggers: triggers that catch duplicates as they come in
--

CREATE FUNCTION simdup_flag_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_flag_trigger() IS
  'trigger (column [, ''option => value'' ...]): sets the column to the key of the nearest other row';

CREATE FUNCTION simdup_log_trigger() RETURNS trigger AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_log_trigger() IS
  'trigger (log_table [, ''option => value'' ...]): logs every row near a new one';

CREATE FUNCTION simdup_reject_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger ([''option => value'' ...]): refuses a row near another, also one being written elsewhere';

CREATE FUNCTION simdup_lock_arrivals(target regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS 'holds off other sessions'' locking arrivals';
