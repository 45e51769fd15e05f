
--
-- groups: they live with a table
--

CREATE FUNCTION simdup_group_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_group_trigger() IS
  'trigger (fp, group, key, k [, ''option => value'' ...]): keeps the rows of a table in groups';

CREATE FUNCTION simdup_group_of(target regclass, id bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simdup_group_of(regclass, bigint) IS
  'the id that an old id of a group leads to now; NULL if it leads nowhere';

CREATE FUNCTION simdup_regroup(target regclass, dry_run boolean DEFAULT false)
  RETURNS TABLE (key text, before bigint, after bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_regroup(regclass, boolean) IS
  'makes all groups of a table anew; the rows whose id changes';
