
--
-- groups: duplicates removed
--

CREATE FUNCTION simdup_remove(
  target regclass,
  map text,
  archive text DEFAULT NULL,
  key text DEFAULT NULL,
  dry_run boolean DEFAULT false,
  params text[] DEFAULT '{}'
) RETURNS TABLE (statement text, n bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_remove(regclass, text, text, text, boolean, text[]) IS
  'removes the keys of a map (key, kept), archived, with references moved to the kept rows; returns statements';
