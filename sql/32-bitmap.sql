--
-- bitmap: feature bitmaps and their window
--

-- bitmaps (document 000)

CREATE FUNCTION simdup_bitmap(content text, n_bits integer DEFAULT 128, tokenizer text DEFAULT 'word') RETURNS varbit
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simdup_bitmap(text, integer, text) IS
  'feature bitmap of n_bits (1 to 32768) bits, bit CityHash64 mod n_bits set for each token; NULL where the text has no token; tokenizers as in simhash (document 000)';

CREATE FUNCTION simdup_bitmap_similarity(a varbit, b varbit) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_bitmap_similarity(varbit, varbit) IS
  'bits in both / bits in either, 0 to 1; NULL for two empty bitmaps; SQLSTATE 22026 for different sizes (document 000)';

CREATE FUNCTION simdup_window(bitmap varbit, window_size integer, threshold float8 DEFAULT 0.5) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE WINDOW COST 100;
COMMENT ON FUNCTION simdup_window(varbit, integer, float8) IS
  'window function: the class of the row, numbered from 0 in each partition. The first bitmaps of the last window_size (1 or more) classes are kept in a ring; a row takes the class of the first of them, in ring order, whose similarity is strictly greater than threshold (0 to 1), else opens the next class. A NULL bitmap has class NULL, an empty one is like nothing. Options are those of the partition''s first row (document 000)';
