
--
-- icu: dictionary words
--

CREATE FUNCTION simdup_icu_version() RETURNS text AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_version() IS 'versions of ICU, CLDR and Unicode; NULL if built without ICU';
