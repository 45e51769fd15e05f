--
-- shingles: shingling, MinHash, pairs by resemblance
--

-- shingling (Broder 1997; document 002)

CREATE FUNCTION simdup_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'word')
  RETURNS TABLE (shingle text)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS
  'the distinct windows of w (1 or more) consecutive units, in order of first occurrence; unit ''word'' is a token of the word tokenizer, ''char'' a word character, folded, ''raw'' any character but white space, as it is. Fewer units than w are one shingle, no unit gives no row. SQLSTATE 22023 for another w or unit (Broder 1997; document 002)';

CREATE FUNCTION shingle_resemblance(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_resemblance(text, text, integer, text) IS
  'shingles in both / shingles in either, exact, 0 to 1; NULL where a text has no shingle; w and unit as in simdup_shingles (Broder 1997; document 002)';

CREATE FUNCTION shingle_containment(a text, b text, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_shingle_containment' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_containment(text, text, integer, text) IS
  'share of the shingles of a that b has too, exact, 0 to 1: 1 where b contains a; NULL where a text has no shingle; w and unit as in simdup_shingles (Broder 1997)';

CREATE FUNCTION rabin_fingerprint(content text, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION rabin_fingerprint(content bytea, degree integer DEFAULT 64) RETURNS bigint
  AS 'MODULE_PATHNAME', 'simdup_rabin_fingerprint_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS
  'Rabin fingerprint of the UTF-8 bytes: the bytes as a polynomial over GF(2) modulo x^32 + x^7 + x^3 + x^2 + 1 (degree 32: 0 to 2^32 - 1) or x^64 + x^4 + x^3 + x + 1 (degree 64: two''s complement); texts of up to degree / 8 bytes are their own fingerprint; SQLSTATE 22023 for another degree (Rabin 1981; document 002)';
COMMENT ON FUNCTION rabin_fingerprint(bytea, integer) IS
  'Rabin fingerprint of bytes, as of text; leading zero bytes make no difference';

CREATE FUNCTION shingle_sketch(content text, w integer DEFAULT 10, modulus integer DEFAULT 25, unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch(text, integer, integer, text) IS
  'the mixed 63-bit fingerprints of the shingles that are divisible by modulus (1 or more), ascending: one shingle in modulus, and of a short text perhaps none; NULL where the text has no shingle (Broder 1997; document 002)';

CREATE FUNCTION shingle_sketch_bottom(content text, w integer DEFAULT 10, k integer DEFAULT 100, unit text DEFAULT 'word') RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_shingle_sketch_bottom' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION shingle_sketch_bottom(text, integer, integer, text) IS
  'the k (1 or more) smallest of the mixed 63-bit fingerprints of the shingles, ascending, all of them where the text has fewer: the sketch that does not starve on short texts; NULL where the text has no shingle (Broder 1997)';

CREATE FUNCTION sketch_resemblance(a bigint[], b bigint[], k integer DEFAULT NULL) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_sketch_resemblance' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS
  'estimate of the resemblance from two sketches: values in both / values in either; for sketches of shingle_sketch_bottom give their k, then only the k smallest of either count; NULL where a sketch is NULL or empty, since it says nothing then; SQLSTATE 22023 where one is not ascending or k is below 1, 22004 where one holds NULLs';

CREATE FUNCTION super_shingles(sketch bigint[], w integer DEFAULT 4) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_super_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION super_shingles(bigint[], integer) IS
  'shingles of a sketch: 63-bit fingerprints of its windows of w (1 or more) consecutive values, ascending; texts that share one share w values in a row: index with gin, search with && (Broder 1997; document 002)';

-- MinHash (Broder 1997; Dahlgaard, Knudsen and Thorup 2017)

CREATE FUNCTION minhash_signature(content text, n_hashes integer DEFAULT 128, w integer DEFAULT 4, unit text DEFAULT 'word') RETURNS integer[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_signature' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles, n_hashes (1 to 4096, else SQLSTATE 22023) numbers; NULL where the text has no shingle; w and unit as in simdup_shingles (fast similarity sketching, Dahlgaard, Knudsen and Thorup 2017: one hash a shingle, no worse than independent permutations)';

CREATE FUNCTION minhash_similarity(a integer[], b integer[]) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_similarity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
  'share of equal hashes of two signatures: an estimate of the resemblance J, off by at most sqrt(J (1 - J) / n_hashes) in the mean square; SQLSTATE 2202E for signatures of different lengths or empty ones';

CREATE FUNCTION minhash_bands(signature integer[], bands integer) RETURNS bigint[]
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
  'one hash for each of so many bands (1 to n_hashes, else SQLSTATE 22023) of n_hashes / bands consecutive hashes (a remainder takes no part): index with gin, candidates share an element (&&); see minhash_bands_for';

CREATE FUNCTION minhash_bands_for(threshold float8, n_hashes integer DEFAULT 128, min_recall float8 DEFAULT 0.99, OUT bands integer, OUT rows integer, OUT recall float8)
  AS 'MODULE_PATHNAME', 'simdup_minhash_bands_for' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands_for(float8, integer, float8) IS
  'bands and rows (hashes a band) that find a pair of resemblance threshold with at least min_recall, with as few candidates as can be, and the recall to expect, 1 - (1 - threshold^rows)^bands; where min_recall is out of reach, what finds most';

-- whole tables: the query runs with the caller's rights. Keys are bigint (or a
-- smaller integer) in the first form of each, and of the type of the last
-- argument, a null of it, in the second.

CREATE FUNCTION shingle_pairs(
  query text, w integer DEFAULT 4, min_resemblance float8 DEFAULT 0.5, unit text DEFAULT 'word', max_documents integer DEFAULT 1000,
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION shingle_pairs(
  query text, w integer, min_resemblance float8, unit text, max_documents integer, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT common integer, OUT resemblance float8, OUT cluster anyelement
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION shingle_pairs(text, integer, float8, text, integer) IS
  'all pairs of documents of at least min_resemblance (above 0, at most 1), a before b in query order, with their common shingles, exact resemblance and connected component, named by its first key; the query yields (key, text). Only the rarest shingles of each document lead to pairs, which loses none; but one that is among the rarest of more than max_documents (2 to 1000000) is left out: a NOTICE tells how many are, and pairs that share none but such are not found. Sorts on disk beyond maintenance_work_mem (document 002)';
COMMENT ON FUNCTION shingle_pairs(text, integer, float8, text, integer, anyelement) IS
  'shingle_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_verified_pairs(
  query text, max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT 0.5, w integer DEFAULT 4, unit text DEFAULT 'word',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION simdup_verified_pairs(
  query text, max_distance integer, min_resemblance float8, w integer, unit text, key_type anyelement,
  OUT a anyelement, OUT b anyelement, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
COMMENT ON FUNCTION simdup_verified_pairs(text, integer, float8, integer, text) IS
  'pairs whose fingerprints differ in at most max_distance (0 to 16) bits and whose texts have at least min_resemblance (above 0, at most 1), a before b in query order: candidates by simhash, verified by shingles; the query yields (key, simhash64, text), rows with a NULL among the last two or without a shingle are left out';
COMMENT ON FUNCTION simdup_verified_pairs(text, integer, float8, integer, text, anyelement) IS
  'simdup_verified_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';
