
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

-- people's decisions

CREATE FUNCTION simdup_decide(target regclass, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_decide(regclass, anycompatible, anycompatible, boolean, text) IS
  'two rows of a grouped table, named by their keys, are the same, or are not';
CREATE FUNCTION simdup_decide(target regclass, a text, b text, same boolean, note text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_decide(regclass, text, text, boolean, text) IS
  'simdup_decide for keys in their text form';

CREATE FUNCTION simdup_undecide(target regclass, a anycompatible, b anycompatible) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_undecide(regclass, anycompatible, anycompatible) IS
  'takes a decision about two rows back';
CREATE FUNCTION simdup_undecide(target regclass, a text, b text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_undecide(regclass, text, text) IS
  'simdup_undecide for keys in their text form';
