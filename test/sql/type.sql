-- type: simhash64, its input and output, casts, order, operator classes,
-- distance and blocks; and rules for every object of the extension
\encoding UTF8

--
-- text form: exactly 16 hex digits of either case
--
SELECT '0123456789abcdef'::simhash64, 'FEDCBA9876543210'::simhash64,
       'DeadBeefDeadBeef'::simhash64;
SELECT '0000000000000000'::simhash64, 'ffffffffffffffff'::simhash64;

-- the result of a statement, or its SQLSTATE, message, detail and hint; the last
-- two differ between server versions where a function does not exist
CREATE FUNCTION outcome(stmt text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  d text;
  h text;
BEGIN
  EXECUTE stmt INTO result;
  RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
  IF SQLSTATE <> '42883' THEN
    GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
  END IF;
  RETURN concat(SQLSTATE, ' ', SQLERRM, ' | ' || nullif(d, ''), ' | ' || nullif(h, ''));
END $$;

CREATE TABLE input (id integer, str text);
INSERT INTO input VALUES
  (1, ''), (2, '0'), (3, '123456789abcdef'), (4, '0123456789abcdef0'),
  (5, '0123456789abcdeg'), (6, '0123456789abcde/'), (7, '0123456789abcde:'),
  (8, '0123456789abcde@'), (9, '0123456789abcdeG'), (10, '0123456789abcde`'),
  (11, ' 0123456789abcdef'), (12, '0123456789abcdef '), (13, '01234567 89abcdef'),
  (14, E'0123456789abcdef\n'), (15, E'\t0123456789abcdef'), (16, '0x0123456789abcdef'),
  (17, '0x0123456789abcd'), (18, '+123456789abcdef'), (19, '-123456789abcdef'),
  (20, '0123_4567_89abcd'), (21, '01234567-89abcdef'), (22, 'null'),
  (23, '0123456789abcdé'), (24, repeat('f', 1000)), (25, '0123456789ABCDEF');
SELECT id, left(split_part(outcome(format('SELECT %L::simhash64', str)), ' | A fingerprint is 16', 1), 100) AS outcome
FROM input ORDER BY id;
-- forms in which other programs write 64 bits have a hint of their own
SELECT str, substring(outcome(format('SELECT %L::simhash64', str)) FROM '[^|]*$') AS hint
FROM unnest('{0x0123456789abcdef,0x1f,123456789abcdef,18446744073709551615,-9223372036854775808,lamp,184467440737095516150,42,\\x0123456789abcdef}'::text[] || repeat('01', 32) || repeat('01', 33)) AS str;
SELECT lpad(substr('0x1f', 3), 16, '0')::simhash64 AS prefixed, lpad('123456789abcdef', 16, '0')::simhash64 AS short,
       '18446744073709551615'::numeric::simhash64 AS unsigned, '-9223372036854775808'::bigint::simhash64 AS signed,
       '42'::numeric::simhash64 AS decimal, '\x0123456789abcdef'::bytea::simhash64 AS bytes, repeat('01', 32)::bit(64)::simhash64 AS bits;

-- from 16 on the same answers come softly
SELECT current_setting('server_version_num')::int >= 160000 AS soft \gset
\set differs false
\if :soft
\set differs 'pg_input_is_valid(str, ''simhash64'') <> (outcome(format(''SELECT %L::simhash64'', str)) !~ ''^22P02 '') OR (pg_input_error_info(str, ''simhash64'')).sql_error_code <> ''22P02'''
\endif
SELECT count(*) AS differ FROM input WHERE :differs;

-- every byte in every place: a digit is a digit, anything else is an error
SELECT count(*) AS accepted
FROM generate_series(1, 16) AS place,
     generate_series(1, 127) AS code,
     outcome(format('SELECT %L::simhash64', overlay('0123456789abcdef' PLACING chr(code) FROM place FOR 1))) AS result
WHERE result = overlay('0123456789abcdef' PLACING lower(chr(code)) FROM place FOR 1);
SELECT 16 * length('0123456789abcdefABCDEF') AS expected;

--
-- binary form: 8 bytes, big-endian
--
SELECT simhash64_send('0123456789abcdef'), simhash64_send('ffffffffffffff00');

CREATE TABLE fingerprints (id integer PRIMARY KEY, fp simhash64);
-- random bits from md5, so that they are the same everywhere; dense and sparse
-- ones, equal ones, and the ends of the range
INSERT INTO fingerprints
SELECT i, ('x' || substr(md5(i::text), 1, 16))::bit(64)::simhash64 FROM generate_series(1, 1000) i
UNION ALL
SELECT 1001 + i, (1::bigint << i)::simhash64 FROM generate_series(0, 63) i
UNION ALL
SELECT 2000 + i, (~(1::bigint << i))::simhash64 FROM generate_series(0, 63) i
UNION ALL
SELECT 3000 + i, (i % 7)::bigint::simhash64 FROM generate_series(1, 100) i;
INSERT INTO fingerprints VALUES (4000, NULL), (4001, '0000000000000000'), (4002, 'ffffffffffffffff');

SELECT count(*) AS rows, count(DISTINCT fp) AS different,
       bool_and(fp::text::simhash64 = fp) AS text_round_trip,
       bool_and(fp::text ~ '^[0-9a-f]{16}$') AS canonical
FROM fingerprints;


\copy fingerprints TO 'results/type.bin' WITH (FORMAT binary)
CREATE TABLE copied (LIKE fingerprints);
\copy copied FROM 'results/type.bin' WITH (FORMAT binary)
SELECT count(*) AS different
FROM fingerprints AS f FULL JOIN copied AS c USING (id)
WHERE f.fp IS DISTINCT FROM c.fp;
DROP TABLE copied;

--
-- casts: the same 64 bits; a wrong length is an error; none is implicit
--
SELECT count(*) AS wrong FROM fingerprints
WHERE fp::bigint::simhash64 <> fp
   OR (CASE WHEN fp::bigint < 0 THEN 18446744073709551616 ELSE 0 END + fp::bigint)::simhash64 <> fp
   OR fp::bit(64)::simhash64 <> fp
   OR fp::bytea::simhash64 <> fp
   OR fp::bigint <> ('x' || fp::text)::bit(64)::bigint
   OR fp::bit(64) <> ('x' || fp::text)::bit(64)
   OR encode(fp::bytea, 'hex') <> fp::text;
SELECT (-1)::bigint::simhash64, (-9223372036854775808)::bigint::simhash64,
       '8000000000000001'::simhash64::bigint, 1::bigint::simhash64::bit(64);
SELECT stmt, outcome(stmt)
FROM (VALUES
  (1, $$SELECT B'1'::simhash64$$),
  (2, $$SELECT repeat('1', 63)::bit(63)::simhash64$$),
  (3, $$SELECT repeat('1', 65)::bit(65)::simhash64$$),
  (4, $$SELECT ''::bit varying::bit(64)::simhash64$$),
  (5, $$SELECT ''::bytea::simhash64$$),
  (6, $$SELECT '\x00112233445566'::bytea::simhash64$$),
  (7, $$SELECT '\x001122334455667788'::bytea::simhash64$$),
  (8, $$SELECT NULL::bigint::simhash64$$),
  (9, $$SELECT 1::integer::simhash64$$),
  (10, $$SELECT 1.5::numeric::simhash64$$),
  (14, $$SELECT (-1)::numeric::simhash64$$),
  (15, $$SELECT 18446744073709551616::simhash64$$),
  (16, $$SELECT 'NaN'::numeric::simhash64$$),
  (17, $$SELECT 'Infinity'::numeric::simhash64$$),
  (18, $$SELECT 1e30::numeric::simhash64$$),
  (19, $$SELECT 0.0::simhash64$$),
  (20, $$SELECT 18446744073709551615.00::simhash64$$),
  (11, $$SELECT '0000000000000001'::simhash64 = 1::bigint$$),
  (12, $$SELECT '0000000000000001'::simhash64 = B'1'$$),
  (13, $$SELECT pg_catalog.hashint8('0000000000000001'::simhash64)$$)
) AS cases (id, stmt)
ORDER BY id;
SELECT castsource::regtype, casttarget::regtype, castcontext
FROM pg_cast WHERE 'simhash64'::regtype IN (castsource, casttarget)
ORDER BY castsource::regtype::text COLLATE "C", casttarget::regtype::text COLLATE "C";

-- texts are assigned, as drivers send them, and no operator takes them
CREATE TEMPORARY TABLE assigned (fp simhash64, fps simhash64[]);
INSERT INTO assigned VALUES (text '0123456789ABCDEF', ARRAY[varchar '0123456789abcdef']);
UPDATE assigned SET fp = varchar 'fedcba9876543210';
SELECT * FROM assigned;
SELECT stmt, outcome(stmt)
FROM (VALUES
  (1, $$INSERT INTO assigned VALUES (text 'hello')$$),
  (2, $$SELECT '0000000000000001'::simhash64 = '0000000000000001'::text$$),
  (3, $$SELECT '0000000000000001'::simhash64 <~> '0000000000000001'::varchar$$),
  (4, $$SELECT '0000000000000001'::simhash64 <~> '0000000000000001'$$),
  (5, $$SELECT coalesce(NULL::simhash64, '0000000000000001'::text)$$)
) AS cases (id, stmt)
ORDER BY id;
DROP TABLE assigned;

--
-- order: unsigned, so that of the text form
--
SELECT a, b, a < b AS lt, a <= b AS le, a = b AS eq, a >= b AS ge, a > b AS gt,
       a <> b AS ne, simhash64_cmp(a, b) AS cmp
FROM (VALUES
  ('0000000000000000'::simhash64, '0000000000000001'::simhash64),
  ('7fffffffffffffff', '8000000000000000'),
  ('ffffffffffffffff', '0000000000000000'),
  ('8000000000000000', '8000000000000000'),
  ('00000000ffffffff', '0000000100000000')
) AS pairs (a, b)
ORDER BY a, b;
SELECT count(*) AS wrong
FROM fingerprints AS x, fingerprints AS y
WHERE x.id % 10 = 0 AND y.id % 7 = 0
  AND ((x.fp < y.fp) <> (x.fp::text < y.fp::text COLLATE "C")
    OR (x.fp <= y.fp) <> (x.fp::text <= y.fp::text COLLATE "C")
    OR (x.fp = y.fp) <> (x.fp::text = y.fp::text COLLATE "C")
    OR (x.fp >= y.fp) <> (x.fp::text >= y.fp::text COLLATE "C")
    OR (x.fp > y.fp) <> (x.fp::text > y.fp::text COLLATE "C")
    OR (x.fp <> y.fp) <> (x.fp::text <> y.fp::text COLLATE "C")
    OR simhash64_cmp(x.fp, y.fp) <> (x.fp > y.fp)::int - (x.fp < y.fp)::int);
SELECT '0000000000000000'::simhash64 = NULL AS null_eq, NULL < '0000000000000000'::simhash64 AS null_lt;

-- sorting, with sort support: in memory, and merged from runs on disk
CREATE FUNCTION sorted_right(OUT wrong bigint) LANGUAGE sql AS $$
  SELECT count(*) FROM (
    SELECT fp::text COLLATE "C" AS str, lag(fp::text COLLATE "C") OVER (ORDER BY fp) AS before
    FROM fingerprints, generate_series(1, 5)
    WHERE fp IS NOT NULL) AS s
  WHERE before > str
$$;
SELECT sorted_right();
SET work_mem = '64kB';
SELECT sorted_right();
RESET work_mem;
SELECT min(fp::text), max(fp::text) FROM fingerprints;
SELECT fp FROM fingerprints WHERE id > 900 ORDER BY fp DESC NULLS LAST LIMIT 3;

--
-- operator classes
--
SELECT opcname, amname, opcdefault, amvalidate(opclass.oid) AS valid
FROM pg_opclass AS opclass
  JOIN pg_am ON pg_am.oid = opcmethod
  JOIN pg_depend ON classid = 'pg_opclass'::regclass AND objid = opclass.oid AND deptype = 'e'
  JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
WHERE extname = 'simdup' AND amname IN ('btree', 'hash')
ORDER BY opcname COLLATE "C";
SELECT count(*) AS invalid
FROM pg_opclass AS opclass
  JOIN pg_depend ON classid = 'pg_opclass'::regclass AND objid = opclass.oid AND deptype = 'e'
  JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
WHERE extname = 'simdup' AND NOT amvalidate(opclass.oid);

-- a unique index, ranges and equality through it
ANALYZE fingerprints;
CREATE INDEX fingerprints_btree ON fingerprints (fp);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM fingerprints WHERE fp = '0000000000000001';
EXPLAIN (COSTS OFF) SELECT fp FROM fingerprints WHERE fp >= 'f000000000000000' ORDER BY fp;
SELECT count(*) FROM fingerprints WHERE fp = '0000000000000001';
SELECT count(*) FROM fingerprints WHERE fp >= 'f000000000000000';
SELECT count(*) FROM fingerprints WHERE fp IN ('0000000000000000', 'ffffffffffffffff', '0000000000000005');
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM fingerprints WHERE fp = '0000000000000001';
SELECT count(*) FROM fingerprints WHERE fp >= 'f000000000000000';
SELECT count(*) FROM fingerprints WHERE fp IN ('0000000000000000', 'ffffffffffffffff', '0000000000000005');
RESET enable_bitmapscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- equal fingerprints share one key of a btree
CREATE TABLE same (fp simhash64);
INSERT INTO same SELECT '0123456789abcdef' FROM generate_series(1, 20000);
CREATE INDEX same_plain ON same (fp) WITH (deduplicate_items = off);
CREATE INDEX same_dedup ON same (fp);
SELECT pg_relation_size('same_dedup') * 2 < pg_relation_size('same_plain') AS deduplicated;
DROP TABLE same;

CREATE TABLE once (fp simhash64 PRIMARY KEY);
INSERT INTO once SELECT DISTINCT fp FROM fingerprints WHERE fp IS NOT NULL;
SELECT outcome('INSERT INTO once VALUES (''ffffffffffffffff'')');
DROP TABLE once;

-- hash index
DROP INDEX fingerprints_btree;
CREATE INDEX fingerprints_hash ON fingerprints USING hash (fp);
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT id FROM fingerprints WHERE fp = '0000000000000001';
SELECT count(*) FROM fingerprints WHERE fp = '0000000000000001';
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;
DROP INDEX fingerprints_hash;

-- joins: hash, merge and nested loop agree
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
RESET max_parallel_workers_per_gather;
SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
SET enable_nestloop = on;
SET enable_mergejoin = off;
SELECT count(*) FROM fingerprints AS a JOIN fingerprints AS b USING (fp);
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_hashjoin;

-- grouping by hash and by sorting agree
SET enable_sort = off;
SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT fp, count(*) AS n FROM fingerprints GROUP BY fp) AS g;
RESET enable_sort;
SET enable_hashagg = off;
SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT fp, count(*) AS n FROM fingerprints GROUP BY fp) AS g;
RESET enable_hashagg;

-- hash partitions: every row where its hash says, found there alone
CREATE TABLE parted (id integer, fp simhash64) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parted SELECT id, fp FROM fingerprints;
SELECT tableoid::regclass, count(*) FROM parted GROUP BY 1 ORDER BY 1;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT id FROM parted WHERE fp = '0123456789abcdef';
RESET max_parallel_workers_per_gather;
SELECT count(*) AS wrong FROM fingerprints AS f
WHERE fp IS NOT NULL AND NOT EXISTS (SELECT FROM parted AS p WHERE p.fp = f.fp AND p.id = f.id);
DROP TABLE parted;

-- range partitions follow the unsigned order
CREATE TABLE ranged (fp simhash64) PARTITION BY RANGE (fp);
CREATE TABLE ranged_low PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO ('8000000000000000');
CREATE TABLE ranged_high PARTITION OF ranged FOR VALUES FROM ('8000000000000000') TO (MAXVALUE);
INSERT INTO ranged SELECT fp FROM fingerprints WHERE fp IS NOT NULL;
SELECT tableoid::regclass, min(fp::text) >= '8' COLLATE "C" AS high FROM ranged GROUP BY 1 ORDER BY 1;
DROP TABLE ranged;

-- stored in hash indexes and partitions, so cast in stone; the hash without a
-- seed is the low half of the one with seed 0
SELECT fp, simhash64_hash(fp), simhash64_hash_extended(fp, 0), simhash64_hash_extended(fp, 1)
FROM (VALUES ('0000000000000000'::simhash64), ('0123456789abcdef'), ('ffffffffffffffff')) AS v (fp);
SELECT count(*) AS wrong FROM fingerprints
WHERE simhash64_hash(fp)::bit(32) <> (simhash64_hash_extended(fp, 0) & 4294967295)::bit(32);

--
-- distance
--
SELECT 'ffffffffffffffff'::simhash64 <~> '0000000000000000' AS all_bits,
       '00000000deadbeef'::simhash64 <~> '00000000deadbead' AS two,
       '0123456789abcdef'::simhash64 <~> '0123456789abcdef' AS none,
       simhash_distance('8000000000000000', '0000000000000001') AS ends,
       '0000000000000000'::simhash64 <~> NULL AS nothing;
SELECT count(*) AS wrong
FROM fingerprints AS x, fingerprints AS y
WHERE x.id % 10 = 0 AND y.id % 7 = 0
  AND (x.fp <~> y.fp <> length(replace((x.fp::bit(64) # y.fp::bit(64))::text, '0', ''))
    OR x.fp <~> y.fp <> y.fp <~> x.fp
    OR simhash_distance(x.fp, y.fp) <> x.fp <~> y.fp);

--
-- blocks: low bits first, the first 64 mod n of them one bit wider
--
SELECT simhash_blocks('0123456789abcdef') AS four;
SELECT simhash_blocks('0123456789abcdef', 2) AS two;
SELECT n, (SELECT array_agg(to_hex(b) ORDER BY i) FROM unnest(simhash_blocks('0123456789abcdef', n)) WITH ORDINALITY AS u (b, i)) AS blocks
FROM generate_series(3, 16) AS n ORDER BY n;
SELECT simhash_blocks(NULL) IS NULL AS no_fingerprint, simhash_blocks('0123456789abcdef', NULL) IS NULL AS no_number;
SELECT stmt, outcome(stmt)
FROM (VALUES
  (1, $$SELECT simhash_blocks('0123456789abcdef', 1)$$),
  (2, $$SELECT simhash_blocks('0123456789abcdef', 17)$$),
  (3, $$SELECT simhash_blocks('0123456789abcdef', 0)$$),
  (4, $$SELECT simhash_blocks('0123456789abcdef', -4)$$),
  (5, $$SELECT simhash_blocks('0123456789abcdef', 2147483647)$$)
) AS cases (id, stmt)
ORDER BY id;

-- put together again, the blocks are the fingerprint
SELECT n, count(*) AS wrong
FROM generate_series(2, 16) AS n, fingerprints AS f
WHERE fp IS NOT NULL AND fp::bit(64) IS DISTINCT FROM (
  SELECT bit_or((b & 4294967295)::bit(64) << ((i - 1) * (64 / n) + least(i - 1, 64 % n))::int)
  FROM unnest(simhash_blocks(fp, n)) WITH ORDINALITY AS u (b, i))
GROUP BY n;

-- the pigeonhole: within distance n - 1, a block is shared; flipped bits are
-- taken from all over, so that every block is hit
SELECT n, count(*) AS pairs
FROM generate_series(2, 16) AS n, generate_series(1, 200) AS i,
  LATERAL (SELECT ('x' || substr(md5(i::text), 1, 16))::bit(64) AS bits) AS x,
  LATERAL (
    SELECT bit_or(1::bit(64) << ('x' || substr(md5(concat(n, ':', i, ':', j)), 1, 2))::bit(8)::int % 64) AS flips
    FROM generate_series(1, n - 1) AS j) AS y
WHERE NOT simhash_blocks(bits::simhash64, n) && simhash_blocks((bits # flips)::simhash64, n)
   OR bits::simhash64 <~> (bits # flips)::simhash64 > n - 1
GROUP BY n;

-- one bit in each block: nothing is shared, so n blocks serve n - 1, not n
SELECT bool_and(NOT simhash_blocks(fp, n) && simhash_blocks((fp::bit(64) # flips)::simhash64, n)) AS sharp
FROM generate_series(2, 16) AS n,
  LATERAL (
    SELECT bit_or(1::bit(64) << (i * (64 / n) + least(i, 64 % n))::int) AS flips
    FROM generate_series(0, n - 1) AS i) AS b,
  fingerprints
WHERE fp IS NOT NULL;

-- the compact index: gin (simhash_blocks(fp)), by the documents' query
CREATE INDEX fingerprints_blocks ON fingerprints USING gin (simhash_blocks(fp));
CREATE FUNCTION within(center simhash64, k integer) RETURNS SETOF integer
STABLE LANGUAGE sql AS $$
  SELECT id FROM fingerprints
  WHERE simhash_blocks(fp) && simhash_blocks(center) AND fp <~> center <= k
  ORDER BY id
$$;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF)
SELECT id FROM fingerprints
WHERE simhash_blocks(fp) && simhash_blocks('0000000000000001') AND fp <~> '0000000000000001' <= 3
ORDER BY id;
RESET max_parallel_workers_per_gather;
SELECT count(*) AS centers,
       count(*) FILTER (WHERE by_index IS DISTINCT FROM by_scan) AS wrong,
       sum(cardinality(by_scan)) > count(*) AS with_neighbours
FROM (
  SELECT center.id,
    (SELECT array_agg(w ORDER BY w) FROM within(center.fp, 3) AS w) AS by_index,
    (SELECT array_agg(id ORDER BY id) FROM fingerprints AS f WHERE f.fp <~> center.fp <= 3) AS by_scan
  FROM fingerprints AS center
  WHERE fp IS NOT NULL AND (id % 20 = 0 OR id BETWEEN 1000 AND 1010 OR id BETWEEN 2000 AND 2010 OR id >= 3090)) AS s;
RESET enable_seqscan;

--
-- the extension as a whole
--
CREATE VIEW members AS
SELECT classid, objid, pg_describe_object(classid, objid, 0) AS object
FROM pg_depend JOIN pg_extension AS e ON refobjid = e.oid
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = 'simdup';

-- every object has a comment; array and multirange types come by themselves
SELECT object AS without_comment
FROM members
WHERE obj_description(objid, classid::regclass::name) IS NULL
  AND NOT (classid = 'pg_type'::regclass AND (SELECT typcategory = 'A' OR typtype = 'm' FROM pg_type WHERE oid = objid))
  -- members of operator families are described with the family
  AND classid NOT IN ('pg_amop'::regclass, 'pg_amproc'::regclass)
ORDER BY object COLLATE "C";

-- Only volatile functions in C are parallel unsafe. No function runs with its
-- owner's rights. Settings other than the catalogs' search_path are few.
SELECT object,
       CASE WHEN proparallel = 'u' AND provolatile <> 'v' AND lanname = 'c' THEN 'parallel unsafe' END AS parallel,
       CASE WHEN prosecdef THEN 'security definer' END AS owner,
       array_to_string(proconfig, ' ') AS settings
FROM members JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND objid = p.oid
  JOIN pg_language AS l ON prolang = l.oid
WHERE (proparallel = 'u' AND provolatile <> 'v' AND lanname = 'c') OR prosecdef
   OR proconfig <> '{"search_path=pg_catalog, pg_temp"}' OR lanname NOT IN ('c', 'internal', 'sql', 'plpgsql')
ORDER BY object COLLATE "C";
