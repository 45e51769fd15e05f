-- Stored values never change. A difference here means
-- that stored fingerprints no longer compare. Texts are in ASCII, so that every
-- encoding has the same output; text.sql has other scripts.
\pset format unaligned
\pset fieldsep ' '
\pset tuples_only on
CREATE TEMPORARY TABLE pinned AS SELECT
  'The lamp at the corner of Fish Street has been dark since May. Please mend it, mend the lamp at 12 Fish Street!'::text AS t,
  '{lamp,fish,street,mend,bus}'::text[] AS lexicon;

-- fingerprints, by each tokenizer, weighting and hash
SELECT tokenizer, weighting, simhash(t, tokenizer => tokenizer, weighting => weighting)
FROM pinned, unnest('{word,alpha,space,char:1,char:4,char:16,word:2,word:16}'::text[]) AS a (tokenizer),
  unnest('{log,tf,set}'::text[]) AS b (weighting)
ORDER BY tokenizer COLLATE "C", weighting COLLATE "C";
SELECT algorithm, simhash(t, hash => algorithm), simhash(t, hash => algorithm, ties => true), simdup_hash(t, algorithm),
  simdup_hash('', algorithm), simdup_hash('a', algorithm), simdup_hash('petition', algorithm), simdup_hash('petition number 12345', algorithm)
FROM pinned, unnest('{city64,murmur3,bkdr,java}'::text[]) AS a (algorithm) ORDER BY algorithm COLLATE "C";
SELECT n, simhash(t, n_features => n) FROM pinned, generate_series(1, 5) AS n ORDER BY n;

-- of rows, with the text of each type
SELECT simhash_row(t, '{Castle, lighting ,NULL,""}'), simhash_row(t, '{Castle}', field_weight => 5) FROM pinned;
SELECT simdup_field(true), simdup_field(1.50::numeric), simdup_field(0.1::float8), simdup_field(1e30::float4),
  simdup_field(date '2024-05-20'), simdup_field(timestamptz '2024-05-20 09:30+02'), simdup_field(interval '1 day 2 hours'),
  simdup_field('\x00ff'::bytea), simdup_field('{a,NULL,"b c"}'::text[]), simdup_field(int4range(1, 5)), simdup_field('{"a": 1}'::jsonb);

-- of features
SELECT simhash('{a,b,c}'::text[], '{1,0.5,3.25}'), simhash('a:1,2,3 b:4 c'::tsvector), simhash('a:1,2,3 b:4 c'::tsvector, weighting => 'log');
SELECT simhash_agg(f, w), simhash_agg(f) FROM (VALUES ('a', 1::float8), ('b', 0.5), ('c', 3.25)) AS v (f, w);

-- forms
SELECT simhash64_send(fp), fp::bigint, fp::bit(64), fp::bytea, simhash_ball_send(simhash_ball(fp, 3)), simhash_ball(fp, 64)
FROM pinned, simhash(t) AS fp;
SELECT n, simhash_blocks(simhash(t), n) FROM pinned, unnest('{2,4,9,16}'::int[]) AS n ORDER BY n;

-- hash indexes and hash partitions stand on these
SELECT simhash64_hash(simhash(t)), simhash64_hash_extended(simhash(t), 42) FROM pinned;

-- shingles, MinHash, I-Match, bitmaps
SELECT degree, rabin_fingerprint(t, degree), rabin_fingerprint('abc'::bytea, degree) FROM pinned, unnest('{32,64}'::int[]) AS degree ORDER BY degree;
SELECT unit, shingle_sketch(t, 3, 5, unit), super_shingles(shingle_sketch(t, 3, 5, unit), 2)
FROM pinned, unnest('{char,raw,word}'::text[]) AS unit ORDER BY unit COLLATE "C";
SELECT shingle_sketch_bottom(t, 4, 5) FROM pinned;
SELECT minhash_signature(t, 16, 2, 'word'), minhash_bands(minhash_signature(t, 16, 2, 'word'), 4) FROM pinned;
SELECT imatch_fingerprint(t, lexicon), imatch_fingerprints(t, lexicon, 3) FROM pinned;
SELECT simdup_bitmap(t, 64), simdup_bitmap(t, 50, 'char:4') FROM pinned;
