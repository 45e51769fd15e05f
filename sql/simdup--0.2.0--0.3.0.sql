/* simdup: from 0.2.0 to 0.3.0 */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION simdup UPDATE TO '0.3.0'" to load this file. \quit

-- hamming: the index to use for a Hamming search at any radius

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'simdup_hamming_handler' LANGUAGE C;
COMMENT ON FUNCTION hamming_handler(internal) IS 'hamming index access method handler';
CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS 'exact Hamming search of fingerprints: any radius, nearest neighbours, exclusion constraints';

CREATE OPERATOR CLASS simhash64_ops
DEFAULT FOR TYPE simhash64 USING hamming AS
  OPERATOR 1 <@ (simhash64, simhash_ball),
  OPERATOR 2 =,
  OPERATOR 3 <~> FOR ORDER BY pg_catalog.integer_ops;
COMMENT ON OPERATOR CLASS simhash64_ops USING hamming IS 'Hamming search at any radius, nearest neighbours and equality';
COMMENT ON OPERATOR FAMILY simhash64_ops USING hamming IS 'Hamming search at any radius, nearest neighbours and equality';

-- ~= on balls, for exclusion constraints: each holds the other's center. The
-- index stores the center; a match is rechecked with the stored radius.

CREATE FUNCTION simhash_ball_center(simhash_ball) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_ball_center' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_center(simhash_ball) IS 'the center of a ball';

CREATE FUNCTION simhash_ball_mutual(simhash_ball, simhash_ball) RETURNS boolean
  AS 'MODULE_PATHNAME', 'simdup_ball_mutual' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 0.1;
COMMENT ON FUNCTION simhash_ball_mutual(simhash_ball, simhash_ball) IS 'implementation of ~= operator';

CREATE OPERATOR ~= (
  LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_mutual,
  COMMUTATOR = ~=,
  RESTRICT = contsel, JOIN = contjoinsel
);
COMMENT ON OPERATOR ~= (simhash_ball, simhash_ball) IS 'each ball holds the center of the other';

CREATE OPERATOR CLASS simhash_ball_ops
DEFAULT FOR TYPE simhash_ball USING hamming AS
  OPERATOR 4 ~=,
  FUNCTION 1 simhash_ball_center(simhash_ball),
  STORAGE simhash64;
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hamming IS 'EXCLUDE USING hamming (simhash_ball(fp, k) WITH ~=)';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING hamming IS 'EXCLUDE USING hamming (simhash_ball(fp, k) WITH ~=)';

-- A comparison takes a few nanoseconds. Beside a gin index the support functions
-- say more: see comparison.c.

CREATE FUNCTION simhash_ball_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_ball_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_support(internal) IS 'planner support for <@ and @>';
ALTER FUNCTION simhash_ball(simhash64, integer) COST 0.1;
ALTER FUNCTION simhash_in_ball(simhash64, simhash_ball) COST 0.1 SUPPORT simhash_ball_support;
ALTER FUNCTION simhash_ball_contains(simhash_ball, simhash64) COST 0.1 SUPPORT simhash_ball_support;
ALTER FUNCTION simhash_within(simhash64, simhash64, integer) COST 0.1;
COMMENT ON FUNCTION simhash_within(simhash64, simhash64, integer) IS
  'is the Hamming distance of a and b at most k? Uses a hamming or gin index on either column';

-- simhash with a tokenizer only

CREATE FUNCTION simhash(content text, tokenizer_name text) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_simhash_tokenizer' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, text) IS
  'fingerprint of a text by a tokenizer, such as char:4, with all features';

-- what an index is like inside; for its owner

CREATE FUNCTION simhash_index_check(index regclass, every_row boolean DEFAULT false) RETURNS void
  AS 'MODULE_PATHNAME', 'simdup_index_check' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_index_check(regclass, boolean) IS
  'an error if a hamming index is damaged; every_row: or lacks a row; for the owner';

CREATE FUNCTION simhash_index_stat(index regclass,
  OUT n_rows bigint, OUT n_nulls bigint, OUT levels integer, OUT leaf_pages bigint, OUT inner_pages bigint,
  OUT unused_pages bigint, OUT fill float8, OUT largest_block bigint)
  AS 'MODULE_PATHNAME', 'simdup_index_stat' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_index_stat(regclass) IS
  'entries, levels, pages and fill of a hamming index; for the owner';

-- shingle_pairs: max_documents is no longer used, since no pair is left out

CREATE OR REPLACE FUNCTION shingle_pairs(
  query text, w integer DEFAULT 4, min_resemblance float8 DEFAULT 0.5, unit text DEFAULT 'word', max_documents integer DEFAULT NULL,
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;

--
-- Comments of one line. The contract of each object is in doc/simdup-reference.md.
--

COMMENT ON FUNCTION simhash64_in(cstring) IS 'I/O: exactly 16 hex digits of either case';
COMMENT ON FUNCTION simhash_distance(simhash64, simhash64) IS
  'Hamming distance: in how many bits, 0 to 64, two fingerprints differ; function form of <~>';
COMMENT ON FUNCTION simhash_blocks(simhash64, integer) IS
  'the fingerprint cut into n_blocks blocks; fingerprints within distance n_blocks - 1 share one';
COMMENT ON FUNCTION simhash_ball_in(cstring) IS 'I/O: <hex,k> without blanks, k in decimal';
COMMENT ON FUNCTION simhash(text, integer, text, text, text, boolean) IS
  'fingerprint of a text: near-duplicates differ in few bits; NULL for a text without a token';
COMMENT ON FUNCTION simhash_row(text, text[], integer, integer, text, text, text, boolean) IS
  'fingerprint of a row: the features of its long text, and each short field as one feature';
COMMENT ON FUNCTION simdup_features(text, integer, text, text) IS
  'what a fingerprint saw: the distinct tokens of a text with their weights, most frequent first';
COMMENT ON FUNCTION simdup_hash(text, text) IS
  '64-bit hash of a text''s UTF-8 bytes by city64, murmur3, bkdr or java';
COMMENT ON FUNCTION simhash(tsvector, integer, text, text, boolean) IS
  'fingerprint of a text search vector''s lexemes, each as often as it has positions';
COMMENT ON FUNCTION simhash(text[], float8[], text, boolean) IS
  'fingerprint of features taken as they are, with their weights; equal features are added';
COMMENT ON AGGREGATE simhash_agg(text) IS 'fingerprint of the features in the rows, each of weight 1';
COMMENT ON AGGREGATE simhash_agg(text, float8) IS
  'fingerprint of the weighted features in the rows; over simdup_features(t) it is simhash(t)';
COMMENT ON AGGREGATE simhash_agg(varbit, bigint) IS
  'fingerprint, as wide as the hashes, of features given by their hashes';
COMMENT ON FUNCTION simhash_field(anyelement) IS
  'a value''s text, the same under all settings, for the fields of simhash_row';
COMMENT ON FUNCTION simhash_record(record, name, name[], integer, integer, text, text, text, boolean) IS
  'simhash_row of a row value: one column is the content, all others are fields, by their text';
COMMENT ON FUNCTION simhash_row_expression(regclass, name, name[], integer, integer, text, text, text, boolean) IS
  'the call of simhash_row that gives what simhash_record gives for a table''s row, immutable';
COMMENT ON FUNCTION simdup_icu_version() IS
  'versions of ICU, CLDR and Unicode behind the tokenizer icu; NULL if built without ICU';
COMMENT ON TEXT SEARCH PARSER simdup_icu IS
  'words as ICU finds them (UAX #29; by dictionary where a script has no blanks)';
COMMENT ON FUNCTION simdup_strip_html(text) IS
  'the text of an HTML page; never fails, and the result is text, not safe markup';
COMMENT ON FUNCTION simdup_explain(text, text, integer, text) IS
  'why two texts are near or not: distance, chance, resemblance, shared and own features';
COMMENT ON FUNCTION simdup_shingles(text, integer, text) IS
  'the distinct windows of w consecutive units of a text, in order of first occurrence';
COMMENT ON FUNCTION shingle_resemblance(text, text, integer, text) IS
  'shingles in both texts / shingles in either, exact, 0 to 1; NULL where a text has no shingle';
COMMENT ON FUNCTION shingle_containment(text, text, integer, text) IS
  'share of the shingles of a that b has too, exact: 1 where b contains a';
COMMENT ON FUNCTION rabin_fingerprint(text, integer) IS
  'Rabin fingerprint of degree 32 or 64 of a text''s UTF-8 bytes';
COMMENT ON FUNCTION shingle_sketch(text, integer, integer, text) IS
  'sample of the shingles: the fingerprints divisible by modulus, ascending';
COMMENT ON FUNCTION shingle_sketch_bottom(text, integer, integer, text) IS
  'sample of the shingles: the k smallest fingerprints, ascending';
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[], integer) IS
  'resemblance of two texts, estimated from their sketches';
COMMENT ON FUNCTION super_shingles(bigint[], integer) IS
  'shingles of a sketch; texts that share one share w of its values in a row';
COMMENT ON FUNCTION minhash_signature(text, integer, integer, text) IS
  'MinHash signature of the shingles: n_hashes numbers; NULL where the text has no shingle';
COMMENT ON FUNCTION minhash_similarity(integer[], integer[]) IS
  'share of equal numbers of two MinHash signatures: an estimate of the resemblance';
COMMENT ON FUNCTION minhash_bands(integer[], integer) IS
  'one hash for each band of a MinHash signature, for gin and &&';
COMMENT ON FUNCTION minhash_bands_for(float8, integer, float8) IS
  'number of bands for a resemblance and a recall, and the recall to expect';
COMMENT ON FUNCTION shingle_pairs(text, integer, float8, text, integer) IS
  'pairs of documents of at least min_resemblance, with their connected components';
COMMENT ON FUNCTION simdup_verified_pairs(text, integer, float8, integer, text) IS
  'pairs found by fingerprint and verified by the exact resemblance of their texts';
COMMENT ON FUNCTION imatch_fingerprint(text, text[], text) IS
  'I-Match: one hash of the terms of a text that are in the lexicon, in any order';
COMMENT ON FUNCTION imatch_fingerprints(text, text[], integer, float8, text) IS
  'I-Match with randomised lexicons: equal in any element (&&) is a match';
COMMENT ON FUNCTION imatch_lexicon(text, float8, float8, text) IS
  'the terms of a corpus whose inverse document frequency is in a range, for I-Match';
COMMENT ON FUNCTION term_idf(text, text) IS
  'the terms of a corpus, the number of documents with each, and its inverse document frequency';
COMMENT ON FUNCTION term_cosine(text, text, text) IS
  'cosine of the term frequencies of two texts, 0 to 1; NULL where a text has no term';
COMMENT ON FUNCTION term_cosine(text, text, text[], float8[], text) IS
  'cosine of term frequency times weight; terms[i] weighs weights[i]';
COMMENT ON FUNCTION simdup_bitmap(text, integer, text) IS
  'feature bitmap of a text: one bit for each token; NULL where the text has no token';
COMMENT ON FUNCTION simdup_bitmap_similarity(varbit, varbit) IS
  'bits in both bitmaps / bits in either, 0 to 1; NULL for two empty bitmaps';
COMMENT ON FUNCTION simdup_window(varbit, integer, float8) IS
  'the row''s class: that of the first recent representative above threshold, else the next class';
COMMENT ON FUNCTION simdup_pairs(text, integer) IS
  'all pairs of rows within max_distance, each once, a before b in the order of the query';
COMMENT ON FUNCTION simdup_new_pairs(text, text, integer) IS
  'pairs of new rows with old ones and with each other; a is a new row';
COMMENT ON FUNCTION simdup_evaluate(text, text) IS
  'precision, recall and F1 of found pairs against true ones; each query yields two keys';
COMMENT ON FUNCTION simdup_evaluate_clusters(text, text) IS
  'precision, recall and F1 of found clusters against true ones; each query yields key and cluster';
COMMENT ON FUNCTION simdup_tune(text, integer) IS
  'what each distance would find: scores against labels, or the expected number of false pairs';
COMMENT ON FUNCTION simhash_update_trigger() IS
  'trigger (fp, content [, field ...] [, ''option => value'' ...]): keeps fp in step with content and fields';
COMMENT ON FUNCTION simdup_flag_trigger() IS
  'trigger (fp, flag, key, k [, ''lock''] [, ''option => value'' ...]): sets flag to the key of the nearest row';
COMMENT ON FUNCTION simdup_log_trigger() IS
  'trigger (fp, key, k, log_table [, ''lock''] [, ''option => value'' ...]): logs every row near a new one';
COMMENT ON FUNCTION simdup_reject_trigger() IS
  'trigger (fp, key, k [, ''option => value'' ...]): refuses a row near another, also one being written elsewhere';
COMMENT ON FUNCTION simdup_lock_arrivals(regclass) IS
  'makes other sessions'' locking arrivals in a table wait until the transaction ends';
COMMENT ON FUNCTION simdup_detach(regclass, boolean, boolean) IS
  'removes what simdup_attach made, except for tables beside; returns the statements';

--
-- groups: they live with a table
--

CREATE FUNCTION simdup_group_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_group_trigger() IS
  'trigger (fp, group, key, k [, ''option => value'' ...]): keeps the rows of a table in groups';

CREATE FUNCTION simdup_group_of(target regclass, id bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION simdup_group_of(regclass, bigint) IS
  'the id that an old id of a group leads to now; NULL if it leads nowhere';

CREATE FUNCTION simdup_regroup(target regclass, dry_run boolean DEFAULT false)
  RETURNS TABLE (key text, before bigint, after bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_regroup(regclass, boolean) IS
  'makes all groups of a table anew; the rows whose id changes';

-- people's decisions

CREATE FUNCTION simdup_decide(target regclass, a anycompatible, b anycompatible, same boolean, note text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_decide(regclass, anycompatible, anycompatible, boolean, text) IS
  'two rows of a grouped table, named by their keys, are the same, or are not';
CREATE FUNCTION simdup_decide(target regclass, a text, b text, same boolean, note text DEFAULT NULL) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_decide(regclass, text, text, boolean, text) IS
  'simdup_decide for keys in their text form';

CREATE FUNCTION simdup_undecide(target regclass, a anycompatible, b anycompatible) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_undecide(regclass, anycompatible, anycompatible) IS
  'takes a decision about two rows back';
CREATE FUNCTION simdup_undecide(target regclass, a text, b text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION simdup_undecide(regclass, text, text) IS
  'simdup_undecide for keys in their text form';

--
-- text: minhash64, the fingerprint of shared text
--

CREATE FUNCTION minhash64(
  content text,
  w integer DEFAULT 4,
  unit text DEFAULT 'char',
  min_features integer DEFAULT 0
) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash64(text, integer, text, integer) IS
  'fingerprint of a text''s folded shingles: at distance 32 * (1 - resemblance) on average';

CREATE FUNCTION minhash64(features text[]) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_features' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash64(text[]) IS
  'fingerprint of a set of features, taken as they are';

CREATE FUNCTION minhash64(vector tsvector) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_tsvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash64(tsvector) IS
  'fingerprint of the set of a tsvector''s lexemes';

CREATE FUNCTION minhash64_row(
  content text,
  fields text[],
  field_share float8 DEFAULT 0.25,
  w integer DEFAULT 4,
  unit text DEFAULT 'char',
  min_features integer DEFAULT 0
) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_row' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash64_row(text, text[], float8, integer, text, integer) IS
  'fingerprint of a row: its text''s shingles, and each field as a share of as many elements';

CREATE FUNCTION minhash64_record(
  value record,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_share float8 DEFAULT 0.25,
  w integer DEFAULT 4,
  unit text DEFAULT 'char'
) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_record' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION minhash64_record(record, name, name[], float8, integer, text) IS
  'minhash64_row of a whole row: the column content, and every other column as a field';

CREATE FUNCTION minhash64_row_expression(
  relation regclass,
  content name DEFAULT 'content',
  exclude name[] DEFAULT NULL,
  field_share float8 DEFAULT 0.25,
  w integer DEFAULT 4,
  unit text DEFAULT 'char'
) RETURNS text
  AS 'MODULE_PATHNAME', 'simdup_minhash64_row_expression' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_row_expression(regclass, name, name[], float8, integer, text) IS
  'immutable call of minhash64_row that gives minhash64_record of a table''s rows';

CREATE FUNCTION minhash64_shingles(content text, w integer DEFAULT 4, unit text DEFAULT 'char') RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'simdup_minhash64_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 200;
COMMENT ON FUNCTION minhash64_shingles(text, integer, text) IS
  'what minhash64 saw: the distinct folded shingles of a text, in order of first occurrence';

CREATE FUNCTION minhash64_agg_accum(internal, text) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION minhash64_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION minhash64_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash64_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION minhash64_agg_final(internal) RETURNS simhash64
  AS 'MODULE_PATHNAME', 'simdup_minhash64_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION minhash64_agg_accum(internal, text) IS 'aggregate transition';
COMMENT ON FUNCTION minhash64_agg_combine(internal, internal) IS 'aggregate combination of partial states';
COMMENT ON FUNCTION minhash64_agg_serialize(internal) IS 'aggregate state to bytes';
COMMENT ON FUNCTION minhash64_agg_deserialize(bytea, internal) IS 'aggregate state from bytes';
COMMENT ON FUNCTION minhash64_agg_final(internal) IS 'aggregate result';

CREATE AGGREGATE minhash64_agg(feature text) (
  SFUNC = minhash64_agg_accum, STYPE = internal, SSPACE = 1300,
  FINALFUNC = minhash64_agg_final, COMBINEFUNC = minhash64_agg_combine,
  SERIALFUNC = minhash64_agg_serialize, DESERIALFUNC = minhash64_agg_deserialize,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash64_agg(text) IS
  'fingerprint of the set of features in the rows, NULLs skipped; parallel';

-- what a distance says

CREATE FUNCTION minhash64_resemblance(distance integer) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash64_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_resemblance(integer) IS
  'resemblance that a distance of minhash64 fingerprints stands for, 0 to 1';

CREATE FUNCTION minhash64_distance(resemblance float8, recall float8 DEFAULT 0.95) RETURNS integer
  AS 'MODULE_PATHNAME', 'simdup_minhash64_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash64_distance(float8, float8) IS
  'smallest max_distance that finds a pair of this resemblance with a chance of recall';

-- a second opinion

CREATE FUNCTION minhash_bits(
  content text,
  n_bits integer DEFAULT 512,
  w integer DEFAULT 4,
  unit text DEFAULT 'char'
) RETURNS varbit
  AS 'MODULE_PATHNAME', 'simdup_minhash_bits' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 600;
COMMENT ON FUNCTION minhash_bits(text, integer, integer, text) IS
  'sketch of a text''s folded shingles in 64 to 8192 bits, for minhash_bits_resemblance';

CREATE FUNCTION minhash_bits_resemblance(a varbit, b varbit) RETURNS float8
  AS 'MODULE_PATHNAME', 'simdup_minhash_bits_resemblance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bits_resemblance(varbit, varbit) IS
  'resemblance of two texts, 0 to 1, by their sketches of the same number of bits';

--
-- Batches
--

-- A view that uses it stops the update here: drop the view first.
DROP FUNCTION simdup_progress();

-- The script runs as superuser, and the schema may be anybody's. So statements
-- that run here qualify every name and operator: an operator of the schema whose
-- types fit better would win over one of pg_catalog. Functions are found by their
-- library, since only a superuser makes functions in C: never by a name alone,
-- which could be a user's.

-- A limit of distance is called max_distance in every function.
UPDATE pg_catalog.pg_proc SET proargnames = pg_catalog.array_replace(proargnames, 'up_to', 'max_distance')
  WHERE proname OPERATOR(pg_catalog.=) 'simdup_tune' AND probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME';

-- Functions that take a query have one more argument, params. simdup_clusters has
-- one more column and another default method. CREATE OR REPLACE refuses both, so
-- the new definitions are copied onto the functions. Views of the functions stay.
-- The planner adds the defaults of arguments that a stored call does not have. A
-- view reads the columns that existed when the view was made.
CREATE FUNCTION shingle_pairs_with_params(
  query text, w integer DEFAULT 4, min_resemblance float8 DEFAULT 0.5, unit text DEFAULT 'word', max_documents integer DEFAULT NULL,
  params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT common integer, OUT resemblance float8, OUT cluster bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION shingle_pairs_with_params(
  query text, w integer, min_resemblance float8, unit text, max_documents integer, key_type anyelement,
  params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT common integer, OUT resemblance float8, OUT cluster anyelement
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_shingle_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION simdup_verified_pairs_with_params(
  query text, max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT 0.5, w integer DEFAULT 4, unit text DEFAULT 'word',
  params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_verified_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION simdup_verified_pairs_with_params(
  query text, max_distance integer, min_resemblance float8, w integer, unit text, key_type anyelement,
  params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_verified_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10000;
CREATE FUNCTION imatch_lexicon_with_params(query text, min_idf float8 DEFAULT 1, max_idf float8 DEFAULT 7, tokenizer text DEFAULT 'word', params text[] DEFAULT '{}') RETURNS text[]
  AS 'MODULE_PATHNAME', 'simdup_imatch_lexicon' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
CREATE FUNCTION term_idf_with_params(query text, tokenizer text DEFAULT 'word', params text[] DEFAULT '{}')
  RETURNS TABLE (term text, documents bigint, idf float8)
  AS 'MODULE_PATHNAME', 'simdup_term_idf' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs_with_params(
  query text, max_distance integer DEFAULT 3, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_pairs_with_params(
  query text, max_distance integer, key_type anyelement, params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs_with_params(
  new_query text, old_query text, max_distance integer DEFAULT 3, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_new_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_new_pairs_with_params(
  new_query text, old_query text, max_distance integer, key_type anyelement, params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_new_pairs' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters_with_params(
  query text, max_distance integer DEFAULT 3, method text DEFAULT 'leader', min_size integer DEFAULT 2,
  params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_clusters_with_params(
  query text, max_distance integer, method text, key_type anyelement, min_size integer DEFAULT 2,
  params text[] DEFAULT '{}',
  OUT key anyelement, OUT cluster anyelement, OUT size bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_evaluate_with_params(
  found text, truth text, params text[] DEFAULT '{}',
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1;
CREATE FUNCTION simdup_evaluate_clusters_with_params(
  found text, truth text, params text[] DEFAULT '{}',
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_evaluate_clusters' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1;
CREATE FUNCTION simdup_tune_with_params(
  query text, max_distance integer DEFAULT 16, params text[] DEFAULT '{}',
  OUT max_distance integer,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8,
  OUT expected_false float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_tune' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 17;
UPDATE pg_catalog.pg_proc AS old
  SET pronargs = new.pronargs, pronargdefaults = new.pronargdefaults, proisstrict = new.proisstrict,
    proargtypes = new.proargtypes, proallargtypes = new.proallargtypes, proargmodes = new.proargmodes,
    proargnames = new.proargnames, proargdefaults = new.proargdefaults
  FROM pg_catalog.pg_proc AS new
  WHERE old.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME' AND new.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND new.pronamespace OPERATOR(pg_catalog.=) old.pronamespace
    AND new.proname OPERATOR(pg_catalog.=) (old.proname OPERATOR(pg_catalog.||) '_with_params')
    AND new.proargtypes::pg_catalog.text OPERATOR(pg_catalog.=) (old.proargtypes::pg_catalog.text OPERATOR(pg_catalog.||) ' 1009');
DROP FUNCTION shingle_pairs_with_params(text, integer, float8, text, integer, text[]);
DROP FUNCTION shingle_pairs_with_params(text, integer, float8, text, integer, anyelement, text[]);
DROP FUNCTION simdup_verified_pairs_with_params(text, integer, float8, integer, text, text[]);
DROP FUNCTION simdup_verified_pairs_with_params(text, integer, float8, integer, text, anyelement, text[]);
DROP FUNCTION imatch_lexicon_with_params(text, float8, float8, text, text[]);
DROP FUNCTION term_idf_with_params(text, text, text[]);
DROP FUNCTION simdup_pairs_with_params(text, integer, text[]);
DROP FUNCTION simdup_pairs_with_params(text, integer, anyelement, text[]);
DROP FUNCTION simdup_new_pairs_with_params(text, text, integer, text[]);
DROP FUNCTION simdup_new_pairs_with_params(text, text, integer, anyelement, text[]);
DROP FUNCTION simdup_clusters_with_params(text, integer, text, integer, text[]);
DROP FUNCTION simdup_clusters_with_params(text, integer, text, anyelement, integer, text[]);
DROP FUNCTION simdup_evaluate_with_params(text, text, text[]);
DROP FUNCTION simdup_evaluate_clusters_with_params(text, text, text[]);
DROP FUNCTION simdup_tune_with_params(text, integer, text[]);
COMMENT ON FUNCTION simdup_clusters(text, integer, text, integer, text[]) IS
  'each row''s cluster, leader or connected, named by its first key; distance to that key''s row';

CREATE FUNCTION simdup_verified_clusters(
  query text, max_distance integer DEFAULT 8, min_resemblance float8 DEFAULT 0.5, w integer DEFAULT 4, unit text DEFAULT 'word',
  min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
CREATE FUNCTION simdup_verified_clusters(
  query text, max_distance integer, min_resemblance float8, w integer, unit text, key_type anyelement,
  min_size integer DEFAULT 2, params text[] DEFAULT '{}',
  OUT key anyelement, OUT cluster anyelement, OUT size bigint, OUT distance integer, OUT resemblance float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simdup_verified_clusters(text, integer, float8, integer, text, integer, text[]) IS
  'clusters by fingerprint whose rows also resemble their cluster''s first row, by their texts';
COMMENT ON FUNCTION simdup_verified_clusters(text, integer, float8, integer, text, anyelement, integer, text[]) IS
  'simdup_verified_clusters for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_components(
  query text, params text[] DEFAULT '{}',
  OUT key bigint, OUT cluster bigint, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_components(
  query text, key_type anyelement, params text[] DEFAULT '{}',
  OUT key anyelement, OUT cluster anyelement, OUT size bigint
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_components(text, text[]) IS
  'connected components of the pairs (a, b) that a query yields, each named by its first key';
COMMENT ON FUNCTION simdup_components(text, anyelement, text[]) IS
  'simdup_components for keys of any type: key_type is a null of it, such as NULL::uuid';

--
-- Report
--

-- Both functions have more arguments, all with defaults. As above, the new
-- definitions are copied onto the functions.
CREATE FUNCTION simdup_new_summary(
  query text, max_distance integer DEFAULT 3, params text[] DEFAULT '{}',
  OUT section text, OUT item text, OUT value float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_summary' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 60;
CREATE FUNCTION simdup_new_report_html(
  query text,
  title text,
  max_distance integer DEFAULT 3,
  params text[] DEFAULT '{}',
  row_url text DEFAULT NULL,
  max_groups integer DEFAULT 200,
  before jsonb DEFAULT NULL,
  target regclass DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME', 'simdup_report_html' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
UPDATE pg_catalog.pg_proc AS old
  SET proisstrict = new.proisstrict, prorows = new.prorows, pronargs = new.pronargs, pronargdefaults = new.pronargdefaults,
    proargtypes = new.proargtypes, proallargtypes = new.proallargtypes, proargmodes = new.proargmodes,
    proargnames = new.proargnames, proargdefaults = new.proargdefaults
  FROM pg_catalog.pg_proc AS new
  WHERE old.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME' AND new.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND new.pronamespace OPERATOR(pg_catalog.=) old.pronamespace
    AND (old.proname OPERATOR(pg_catalog.=) 'simdup_summary' AND new.proname OPERATOR(pg_catalog.=) 'simdup_new_summary'
      OR old.proname OPERATOR(pg_catalog.=) 'simdup_report_html' AND new.proname OPERATOR(pg_catalog.=) 'simdup_new_report_html');
DROP FUNCTION simdup_new_summary(text, integer, text[]);
DROP FUNCTION simdup_new_report_html(text, text, integer, text[], text, integer, jsonb, regclass);
COMMENT ON FUNCTION simdup_summary(text, integer, text[]) IS
  'a table''s duplicates: headline, rows, groups by size, the largest, pairs by distance, also by chance';
COMMENT ON FUNCTION simdup_report_html(text, text, integer, text[], text, integer, jsonb, regclass) IS
  'a table''s duplicates as one HTML page: pairs, groups, marked differences of a third column';

--
-- Arrival
--

CREATE FUNCTION minhash64_update_trigger() RETURNS trigger
  AS 'MODULE_PATHNAME', 'simdup_minhash64_update_trigger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION minhash64_update_trigger() IS
  'trigger (fp, content [, field ...] [, ''option => value'' ...]): keeps fp in step with content and fields';

CREATE FUNCTION simdup_explain(
  a text, b text, fingerprint text, w integer DEFAULT 4, unit text DEFAULT 'char',
  OUT distance integer, OUT chance float8, OUT resemblance float8, OUT a_in_b float8, OUT b_in_a float8,
  OUT shared json, OUT only_a json, OUT only_b json
)
  AS 'MODULE_PATHNAME', 'simdup_explain' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simdup_explain(text, text, text, integer, text) IS
  'simdup_explain by the fingerprint "minhash64" or "simhash"';

-- Its parameters are more and one has another name. A function with an SQL body
-- that calls it stops the update below: drop that function first.
CREATE FUNCTION simdup_attach(
  target regclass,
  content text,
  fields text[] DEFAULT '{}',
  max_distance integer DEFAULT NULL,
  action text DEFAULT 'flag',
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false,
  fingerprint text DEFAULT 'minhash64',
  w integer DEFAULT NULL,
  unit text DEFAULT NULL,
  tokenizer text DEFAULT NULL,
  weighting text DEFAULT NULL,
  backfill boolean DEFAULT NULL,
  foreign_key boolean DEFAULT false,
  min_resemblance float8 DEFAULT NULL,
  within text[] DEFAULT NULL,
  min_features integer DEFAULT NULL,
  method text DEFAULT NULL
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean, text, integer, text, text, text, boolean, boolean, float8, text[], integer, text) IS
  'sets a table up to flag, log, reject or group near rows; returns the statements';
-- The new function takes over owner and privileges, with the dependencies on the
-- roles in them. GRANT would make them the extension's own, which pg_dump omits.
DELETE FROM pg_catalog.pg_shdepend AS d
  USING pg_catalog.pg_proc AS new, pg_catalog.pg_database AS db
  WHERE new.proname OPERATOR(pg_catalog.=) 'simdup_attach' AND new.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND new.pronargs OPERATOR(pg_catalog.=) 20 AND db.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND d.dbid OPERATOR(pg_catalog.=) db.oid AND d.classid OPERATOR(pg_catalog.=) new.tableoid
    AND d.objid OPERATOR(pg_catalog.=) new.oid;
UPDATE pg_catalog.pg_shdepend AS d SET objid = new.oid
  FROM pg_catalog.pg_proc AS old, pg_catalog.pg_proc AS new, pg_catalog.pg_database AS db
  WHERE old.proname OPERATOR(pg_catalog.=) 'simdup_attach' AND old.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND new.proname OPERATOR(pg_catalog.=) 'simdup_attach' AND new.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND old.pronargs OPERATOR(pg_catalog.=) 9 AND new.pronargs OPERATOR(pg_catalog.=) 20
    AND new.pronamespace OPERATOR(pg_catalog.=) old.pronamespace
    AND db.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND d.dbid OPERATOR(pg_catalog.=) db.oid AND d.classid OPERATOR(pg_catalog.=) old.tableoid
    AND d.objid OPERATOR(pg_catalog.=) old.oid;
UPDATE pg_catalog.pg_proc AS new SET proowner = old.proowner, proacl = old.proacl
  FROM pg_catalog.pg_proc AS old
  WHERE old.proname OPERATOR(pg_catalog.=) 'simdup_attach' AND old.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND new.proname OPERATOR(pg_catalog.=) 'simdup_attach' AND new.probin OPERATOR(pg_catalog.=) 'MODULE_PATHNAME'
    AND old.pronargs OPERATOR(pg_catalog.=) 9 AND new.pronargs OPERATOR(pg_catalog.=) 20
    AND new.pronamespace OPERATOR(pg_catalog.=) old.pronamespace;
DROP FUNCTION simdup_attach(regclass, text, text[], integer, text, boolean, text, text, boolean);

CREATE FUNCTION simdup_alter(
  target regclass,
  content text DEFAULT NULL,
  fields text[] DEFAULT NULL,
  max_distance integer DEFAULT NULL,
  action text DEFAULT NULL,
  dry_run boolean DEFAULT false,
  key text DEFAULT NULL,
  log_table text DEFAULT NULL,
  live boolean DEFAULT false,
  fingerprint text DEFAULT NULL,
  w integer DEFAULT NULL,
  unit text DEFAULT NULL,
  tokenizer text DEFAULT NULL,
  weighting text DEFAULT NULL,
  backfill boolean DEFAULT NULL,
  foreign_key boolean DEFAULT false,
  min_resemblance float8 DEFAULT NULL,
  within text[] DEFAULT NULL,
  min_features integer DEFAULT NULL,
  method text DEFAULT NULL
) RETURNS TABLE (statement text)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION simdup_alter(regclass, text, text[], integer, text, boolean, text, text, boolean, text, integer, text, text, text, boolean, boolean, float8, text[], integer, text) IS
  'changes what simdup_attach was told; NULL leaves a thing as it is; returns the statements';

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

-- pieces: a table's pairs, found in parts that need not be in one place

CREATE FUNCTION simdup_pieces(
  query text, max_distance integer, pieces integer, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys bigint[], OUT fps simhash64[]
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
CREATE FUNCTION simdup_pieces(
  query text, max_distance integer, pieces integer, key_type anyelement, params text[] DEFAULT '{}',
  OUT piece integer, OUT keys anyarray, OUT fps simhash64[]
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION simdup_pieces(text, integer, integer, text[]) IS
  'rows packed into arrays, by the pieces 0 to pieces - 1 of which simdup_piece_pairs returns the pairs';
COMMENT ON FUNCTION simdup_pieces(text, integer, integer, anyelement, text[]) IS
  'simdup_pieces for keys of any type: key_type is a null of it, such as NULL::uuid';

CREATE FUNCTION simdup_piece_pairs(
  query text, max_distance integer, piece integer, pieces integer, params text[] DEFAULT '{}',
  OUT a bigint, OUT b bigint, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
CREATE FUNCTION simdup_piece_pairs(
  query text, max_distance integer, piece integer, pieces integer, key_type anyelement, params text[] DEFAULT '{}',
  OUT a anyelement, OUT b anyelement, OUT distance integer
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION simdup_piece_pairs(text, integer, integer, integer, text[]) IS
  'pairs of one piece''s arrays of keys and fps; those of all pieces are all pairs, each once';
COMMENT ON FUNCTION simdup_piece_pairs(text, integer, integer, integer, anyelement, text[]) IS
  'simdup_piece_pairs for keys of any type: key_type is a null of it, such as NULL::uuid';

-- texts are assigned to fingerprints: JDBC and others send strings so

CREATE CAST (pg_catalog.text AS simhash64) WITH INOUT AS ASSIGNMENT;
CREATE CAST (pg_catalog.varchar AS simhash64) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (pg_catalog.text AS simhash64) IS '16 hex digits, as the type is written';
COMMENT ON CAST (pg_catalog.varchar AS simhash64) IS '16 hex digits, as the type is written';

--
-- groups: what people should look at, and what they decided
--

CREATE FUNCTION simdup_review(
  target regclass, n integer DEFAULT 20,
  OUT id bigint, OUT other bigint, OUT size bigint, OUT a text, OUT b text, OUT why text,
  OUT distance integer, OUT resemblance float8,
  OUT content_a text, OUT content_b text, OUT only_a json, OUT only_b json
) RETURNS SETOF record
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION simdup_review(regclass, integer) IS
  'undecided pairs of a grouped table that are most worth a look, with both texts and what differs';

CREATE FUNCTION simdup_tune(
  target regclass, max_distance integer DEFAULT 16,
  OUT max_distance integer,
  OUT n_found bigint, OUT n_true bigint, OUT n_both bigint,
  OUT "precision" float8, OUT recall float8, OUT f1 float8,
  OUT expected_false float8
) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'simdup_tune_target' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000 ROWS 17;
COMMENT ON FUNCTION simdup_tune(regclass, integer) IS
  'what each distance would find of a grouped table''s pairs: scores against the decisions taken';
