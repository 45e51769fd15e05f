/* simdup: from 0.1.0 to 0.2.0. The SQL objects are the same in both; some comments say more. */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION simdup UPDATE TO '0.2.0'" to load this file. \quit

-- what comments say of ranges, errors and NULL

COMMENT ON FUNCTION simhash_blocks(simhash64, integer) IS
  'the fingerprint cut into n_blocks (2 to 16) blocks, low bits first, the first 64 mod n_blocks of them one bit wider; element i is i << 32 | block value. Fingerprints within distance k share an element of n_blocks = k + 1: index with gin, search with && and recheck <~>. SQLSTATE 22023 for another n_blocks (documents 001 and 003)';
COMMENT ON FUNCTION simhash(text, integer, text, text, text, boolean) IS
  'fingerprint of a text: near-duplicate texts get fingerprints a few bits apart. n_features: keep only the most frequent tokens, NULL for all. tokenizer: word, alpha, space, char:N, word:N (N 1 to 16), icu, icu:LOCALE (dictionary words). weighting of a token that occurs tf times: log = 1 + floor(log2 tf), tf, set = 1. hash: see simdup_hash. ties: a sum of zero gives a 1. NULL for a text without a token. Frozen: the same text gives the same fingerprint on every platform, encoding and collation, for ever; except with icu, whose words depend on simdup_icu_version(). SQLSTATE 22023 for values that are not allowed, 22004 for NULL where there is a default other than NULL (Charikar 2002; documents 001 and 003)';
COMMENT ON FUNCTION simhash_row(text, text[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a row: the features of its long text (limited by n_features, see simhash) and each short field, folded and without the white space around it, as one feature of field_weight (0 or more). NULL and blank fields are skipped; NULL where nothing is left. Errors as in simhash (document 003)';
COMMENT ON FUNCTION simdup_hash(text, text) IS
  '64-bit hash of a text''s UTF-8 bytes, as a bigint of the same bits: city64 (CityHash64 1.1.1), murmur3 (first half of MurmurHash3_x64_128, seed 0), bkdr (seed 131, 64-bit), java (document 001''s string hash, over UTF-16 units). SQLSTATE 22023 for another name';
COMMENT ON FUNCTION simhash(text[], float8[], text, boolean) IS
  'fingerprint of features taken as they are, with their weights (NULL: 1 each), equal features added. Weights are finite, 0 to less than 2^47, rounded to 2^-16. NULL where nothing weighs anything. SQLSTATE 2202E for arrays of different length or more than one dimension, 22004 for NULLs in them, 22023 or 22003 for weights, with the position';
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS
  'the distinct windows of w (1 or more) consecutive units, in order of first occurrence; unit ''word'' is a token of the word tokenizer, ''char'' a word character, folded, ''raw'' any character but white space, as it is. Fewer units than w are one shingle, no unit gives no row. SQLSTATE 22023 for another w or unit (Broder 1997; document 002)';
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS
  'Rabin fingerprint of the UTF-8 bytes: the bytes as a polynomial over GF(2) modulo x^32 + x^7 + x^3 + x^2 + 1 (degree 32: 0 to 2^32 - 1) or x^64 + x^4 + x^3 + x + 1 (degree 64: two''s complement); texts of up to degree / 8 bytes are their own fingerprint; SQLSTATE 22023 for another degree (Rabin 1981; document 002)';
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS
  'estimate of the resemblance from two sketches: values in both / values in either; for sketches of shingle_sketch_bottom give their k, then only the k smallest of either count; NULL where a sketch is NULL or empty, since it says nothing then; SQLSTATE 22023 where one is not ascending or k is below 1, 22004 where one holds NULLs';
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles, n_hashes (1 to 4096, else SQLSTATE 22023) numbers; NULL where the text has no shingle; w and unit as in simdup_shingles (fast similarity sketching, Dahlgaard, Knudsen and Thorup 2017: one hash a shingle, no worse than independent permutations)';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
  'share of equal hashes of two signatures: an estimate of the resemblance J, off by at most sqrt(J (1 - J) / n_hashes) in the mean square; SQLSTATE 2202E for signatures of different lengths or empty ones';
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
  'one hash for each of so many bands (1 to n_hashes, else SQLSTATE 22023) of n_hashes / bands consecutive hashes (a remainder takes no part): index with gin, candidates share an element (&&); see minhash_bands_for';
COMMENT ON FUNCTION imatch_fingerprints(text, text[], integer, float8, text) IS
  'I-Match with randomised lexicons: imatch_fingerprint, then one signature for each of n_lexicons (0 to 100) random parts that keep the share keep (above 0, below 1) of the lexicon; equal in any (&&, index with gin) is a match, so a differing term is overlooked where a part has dropped it; NULL where none has a term (Kolcz, Chowdhury and Alspector 2004)';
COMMENT ON FUNCTION simdup_explain(text, text, integer, text) IS
  'why two texts are near or not: the distance of their default fingerprints; the chance that those of unrelated texts, 64 fair coins, differ in so few bits or fewer; resemblance and containments of their shingles; the features they share {"feature": [weight in a, weight in b]} and those of one only {"feature": weight}, heaviest first. Numbers are NULL where a text has no feature or shingle';
COMMENT ON FUNCTION simdup_pairs(text, integer) IS
  'all pairs of rows whose fingerprints differ in at most max_distance (0 to 16) bits, each pair once, a before b in query order; the query yields (key, simhash64), NULL fingerprints are skipped with a NOTICE. SQLSTATE 22023 for another distance or what is no query, 42804 for other columns, 22004 for a NULL key; no row where an argument is NULL. Beyond maintenance_work_mem it works on disk (documents 001 and 003)';
COMMENT ON FUNCTION simdup_evaluate(text, text) IS
  'found pairs against true ones: each query yields two keys of any one type in its first columns; order within a pair, repetition, pairs of a key with itself and pairs with a NULL do not matter; NULL where there is nothing to divide by (document 003)';
COMMENT ON FUNCTION simdup_progress() IS
  'batches that run now, in sessions whose statements the caller may see: phase (starting, reading, grouping, comparing, counting, writing) and units done of a total, which is 0 where it is not known; as shown before the statement in pg_stat_activity';
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger (fp, key, k), BEFORE or AFTER INSERT OR UPDATE FOR EACH ROW, also as a constraint trigger: refuses a row within Hamming distance k (0 to 64) of another with SQLSTATE 23P01, also one that another session is writing: until the transaction ends it locks what any near-duplicate would lock too, the values of blocks of the fingerprint (pg_locks: advisory, classid the table, objsubid from 16384). 40001 where the transaction''s snapshot cannot see the other row. Searches with the rights of the table''s owner';
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS
  'makes other sessions'' locking arrivals in the table (the one that has the trigger) wait until this transaction ends, and waits for theirs: for bulk loads, which take this lock by themselves but in the middle, where two of them can deadlock. Needs INSERT or UPDATE on the table, else SQLSTATE 42501';
COMMENT ON FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean) IS
  'gives a table a fingerprint column simdup_fp of content and fields, kept by a trigger, an index on it, and a trigger that flags (in column simdup_of), logs (in log_table, by default TABLE_simdup_log) or rejects rows within distance k (0 to 64). Returns the statements in order; with dry_run it does not run them. key: the column that tells rows apart, by default the primary key. live: the statements for a table in use (backfill in batches, index concurrently, a check at the end), which only dry_run gives. SQLSTATE 42710 where that was done before, 42704 without a primary key of one column, 42703 for a column that is not there';
