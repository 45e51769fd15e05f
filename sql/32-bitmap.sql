--
-- bitmap: feature bitmaps and their window
--

-- bitmaps

CREATE FUNCTION simdup_bitmap(content text, n_bits integer DEFAULT 128, tokenizer text DEFAULT 'word')
  RETURNS varbit AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simdup_bitmap(text, integer, text) IS 'feature bitmap of a text: a bit for each token';

CREATE FUNCTION simdup_bitmap_similarity(a varbit, b varbit) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simdup_bitmap_similarity(varbit, varbit) IS 'bits in both bitmaps / bits in either';

CREATE FUNCTION simdup_window(bitmap varbit, window_size integer, threshold float8 DEFAULT 0.5) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE WINDOW COST 100;
COMMENT ON FUNCTION simdup_window(varbit, integer, float8) IS 'class of the row among the recent ones';
