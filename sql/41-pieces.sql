
--
-- pieces: a table's pairs, found in parts that need not be in one place
--

CREATE FUNCTION simdup_pieces(query text, max_distance integer, pieces integer, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys bigint[], OUT fps simhash64[]) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
CREATE FUNCTION simdup_pieces(
  query text, key_type anyelement, max_distance integer, pieces integer, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys anyarray, OUT fps simhash64[]
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION simdup_pieces(text, integer, integer, text[]) IS
  'rows packed into arrays, by the pieces 0 to pieces - 1 of which simdup_piece_pairs returns the pairs';
COMMENT ON FUNCTION simdup_pieces(text, anyelement, integer, integer, text[]) IS
  'simdup_pieces for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_piece_pairs(
  query text, max_distance integer, piece integer, pieces integer, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_piece_pairs(query text, key_type anyelement, max_distance integer, piece integer,
  pieces integer, params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_piece_pairs(text, integer, integer, integer, text[]) IS
  'pairs of one piece''s arrays of keys and fps; those of all pieces are all pairs, each once';
COMMENT ON FUNCTION simdup_piece_pairs(text, anyelement, integer, integer, integer, text[]) IS
  'simdup_piece_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';
