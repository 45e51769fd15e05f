
--
-- numbers as drivers send them
--
-- In the place of the first number a function may also take key_type, of any type.
-- So the parser finds no single function for a smallint there, nor for a literal or
-- a parameter without a type, such as '3'. For a smallint an exact match is taken
-- before others. For a literal without a type, the parser takes the function whose
-- type there is a string's. simdup_number is an integer that counts as one. No type
-- is converted to it, so a null of a text is still a key_type.

CREATE TYPE simdup_number;
CREATE FUNCTION simdup_number_in(cstring) RETURNS simdup_number AS 'MODULE_PATHNAME'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_number_out(simdup_number) RETURNS cstring AS 'int4out'
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_number_recv(internal) RETURNS simdup_number AS 'int4recv'
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION simdup_number_send(simdup_number) RETURNS bytea AS 'int4send'
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE simdup_number (
  INPUT = simdup_number_in, OUTPUT = simdup_number_out,
  RECEIVE = simdup_number_recv, SEND = simdup_number_send,
  LIKE = int4, CATEGORY = 'S'
);
COMMENT ON FUNCTION simdup_number_in(cstring) IS 'I/O';
COMMENT ON FUNCTION simdup_number_out(simdup_number) IS 'I/O';
COMMENT ON FUNCTION simdup_number_recv(internal) IS 'I/O';
COMMENT ON FUNCTION simdup_number_send(simdup_number) IS 'I/O';
COMMENT ON TYPE simdup_number IS
  'integer of a literal or a parameter without a type: simdup_pairs(query, ''3''); nothing becomes it';

CREATE FUNCTION simdup_pairs(query text, max_distance smallint, min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs(query text, max_distance simdup_number, min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_pairs(text, smallint, float8, integer, text, text[]) IS
  'implementation of simdup_pairs: max_distance as drivers send it';
COMMENT ON FUNCTION simdup_pairs(text, simdup_number, float8, integer, text, text[]) IS
  'implementation of simdup_pairs: max_distance as drivers send it';

CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance smallint, min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs(
  new_query text, old_query text, max_distance simdup_number, min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_new_pairs(text, text, smallint, float8, integer, text, text[]) IS
  'implementation of simdup_new_pairs: max_distance as drivers send it';
COMMENT ON FUNCTION simdup_new_pairs(text, text, simdup_number, float8, integer, text, text[]) IS
  'implementation of simdup_new_pairs: max_distance as drivers send it';

CREATE FUNCTION simdup_clusters(
  query text, max_distance smallint, method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters(
  query text, max_distance simdup_number, method text DEFAULT 'leader', min_resemblance float8 DEFAULT NULL,
  w integer DEFAULT 4, unit text DEFAULT 'char', min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_clusters(text, smallint, text, float8, integer, text, integer, text[]) IS
  'implementation of simdup_clusters: max_distance as drivers send it';
COMMENT ON FUNCTION simdup_clusters(text, simdup_number, text, float8, integer, text, integer, text[]) IS
  'implementation of simdup_clusters: max_distance as drivers send it';

CREATE FUNCTION shingle_pairs(query text, w smallint, min_resemblance float8 DEFAULT 0.8,
  unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION shingle_pairs(query text, w simdup_number, min_resemblance float8 DEFAULT 0.8,
  unit text DEFAULT 'char', params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION shingle_pairs(text, smallint, float8, text, text[]) IS
  'implementation of shingle_pairs: w as drivers send it';
COMMENT ON FUNCTION shingle_pairs(text, simdup_number, float8, text, text[]) IS
  'implementation of shingle_pairs: w as drivers send it';

CREATE FUNCTION simdup_pieces(query text, max_distance smallint, pieces integer, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys bigint[], OUT fps simhash64[]) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
CREATE FUNCTION simdup_pieces(
  query text, max_distance simdup_number, pieces integer, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys bigint[], OUT fps simhash64[]
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION simdup_pieces(text, smallint, integer, text[]) IS
  'implementation of simdup_pieces: max_distance as drivers send it';
COMMENT ON FUNCTION simdup_pieces(text, simdup_number, integer, text[]) IS
  'implementation of simdup_pieces: max_distance as drivers send it';

CREATE FUNCTION simdup_piece_pairs(
  query text, max_distance smallint, piece integer, pieces integer, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_piece_pairs(
  query text, max_distance simdup_number, piece integer, pieces integer, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_piece_pairs(text, smallint, integer, integer, text[]) IS
  'implementation of simdup_piece_pairs: max_distance as drivers send it';
COMMENT ON FUNCTION simdup_piece_pairs(text, simdup_number, integer, integer, text[]) IS
  'implementation of simdup_piece_pairs: max_distance as drivers send it';
