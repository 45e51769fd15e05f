
--
-- bound to the catalogs and to this extension alone
--
-- The bodies above were bound under the path of the schema that the extension is in. A function or an
-- operator that somebody made there before can fit a call better than the catalogs' own. It would run as
-- each caller, so the installation ends.

DO $$
DECLARE
  stranger text := (
    SELECT min(pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid))
    FROM pg_extension AS x
      JOIN pg_depend AS m ON m.refclassid = 'pg_extension'::regclass::oid AND m.refobjid = x.oid
      JOIN pg_depend AS d ON d.classid = m.classid AND d.objid = m.objid
    WHERE x.extname = 'simdup' AND m.deptype = 'e'
      AND (d.refclassid = 'pg_proc'::regclass::oid OR d.refclassid = 'pg_operator'::regclass::oid)
      AND NOT EXISTS (
        SELECT FROM pg_depend AS o
        WHERE o.classid = d.refclassid AND o.objid = d.refobjid AND o.deptype = 'e' AND o.refobjid = x.oid));
BEGIN
  IF stranger IS NOT NULL THEN
    RAISE EXCEPTION 'schema contains an object that would shadow a catalog function: %', stranger
      USING ERRCODE = 'duplicate_object', HINT = 'Install it in a schema where nobody else may create.';
  END IF;
END $$;
