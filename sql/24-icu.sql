
--
-- icu: dictionary words
--

CREATE FUNCTION simdup_icu_version() RETURNS text AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_version() IS
  'versions of ICU, CLDR and Unicode behind the tokenizer icu; NULL if built without ICU';

CREATE FUNCTION simdup_icu_start(internal, integer) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_start(internal, integer) IS
  'begins a text of the text search parser simdup_icu; SQLSTATE 0A000 where simdup was built without ICU';

CREATE FUNCTION simdup_icu_gettoken(internal, internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_gettoken(internal, internal, internal) IS
  'next token of the text search parser simdup_icu';

CREATE FUNCTION simdup_icu_end(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_end(internal) IS 'ends a text of the text search parser simdup_icu';

CREATE FUNCTION simdup_icu_lextypes(internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_icu_lextypes(internal) IS 'token types of the text search parser simdup_icu';

CREATE TEXT SEARCH PARSER simdup_icu (
  START = simdup_icu_start,
  GETTOKEN = simdup_icu_gettoken,
  END = simdup_icu_end,
  LEXTYPES = simdup_icu_lextypes,
  HEADLINE = prsd_headline
);
COMMENT ON TEXT SEARCH PARSER simdup_icu IS
  'words as ICU finds them (UAX #29; by dictionary where a script has no blanks)';
