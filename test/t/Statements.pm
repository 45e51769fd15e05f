# Statements: each function of the extension at work, on tables of their own,
# for tests of the traces of a statement. Each statement answers
# with one text, always the same.

package Statements;

use strict;
use warnings;

use PostgreSQL::Test::Cluster;

# A server, not started yet, without background work, in little memory. The join node
# joins small tables, too.
sub new_node
{
	my $node = PostgreSQL::Test::Cluster->new($_[0]);

	$ENV{PGCLIENTENCODING} = 'UTF8';
	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', <<'CONF');
work_mem = 64kB
maintenance_work_mem = 1MB
enable_nestloop = off
max_parallel_workers_per_gather = 0
CONF
	return $node;
}

our $setup = <<'SQL';
CREATE TABLE doc (id int PRIMARY KEY, name text, body text, fp simhash64);
INSERT INTO doc SELECT i, 'doc ' || i, b, simhash(b)
  FROM (SELECT i, (SELECT string_agg('word' || j * (i / 3 + 1), ' ') || ' and ' || i FROM generate_series(1, 40) AS j) AS b
        FROM generate_series(1, 12) AS i) AS x;
CREATE TRIGGER reject BEFORE INSERT ON doc FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger();
CREATE VIEW page AS SELECT id AS key, body || (SELECT string_agg(' end' || i, '') FROM generate_series(1, 20) AS i) AS content FROM doc;
CREATE VIEW doc_map (removed, kept) AS VALUES (2, 1), (3, 1);
-- beyond memory: as rows; with their keys
CREATE TABLE many (id int, fp simhash64);
INSERT INTO many
  SELECT i, (('x' || substr(md5((CASE WHEN i % 10 = 0 THEN i - 1 ELSE i END)::text), 1, 16))::bit(64)::bigint # (i % 10 = 0)::int)::simhash64
  FROM generate_series(1, 30000) AS i;
CREATE TABLE wide (key text, fp simhash64);
INSERT INTO wide SELECT repeat('key ', 50) || id, fp FROM many WHERE id <= 5000;
CREATE TABLE name AS SELECT id, 'n' || id / 2 || ' m' || id AS name FROM many WHERE id < 8000;
CREATE TABLE indexed (id int PRIMARY KEY, fp simhash64);
INSERT INTO indexed SELECT id, fp FROM many WHERE id <= 2000;
CREATE INDEX ON indexed USING hamming (fp);
CREATE TABLE hamming AS SELECT * FROM indexed;
CREATE INDEX hamming_fp ON hamming USING hamming (fp);
ANALYZE;

-- The rows of a join by the join node.
CREATE FUNCTION joined(query text) RETURNS text LANGUAGE plpgsql
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  line text;
  planned boolean := false;
  found text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    planned := planned OR line ~ 'Custom Scan';
  END LOOP;
  IF NOT planned THEN
    RAISE 'not joined by the node: %', query;
  END IF;
  EXECUTE format('SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) FROM (%s) AS r', query) INTO found;
  RETURN found;
END $$;

-- A grouping from its tables to their end.
CREATE FUNCTION make_grouping() RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
  PERFORM simdup_group('cases', 'doc', 12);
  PERFORM simdup_regroup('cases');
  PERFORM simdup_decide('cases', 1, 5, true), simdup_decide('cases', 2, 6, false), simdup_undecide('cases', 2, 6);
  SELECT string_agg(concat(key, ' ', simdup_group_of('cases', id)), ', ' ORDER BY key) INTO found FROM cases;
  found := concat(found, ' ', (SELECT count(*) FROM simdup_review('cases')), ' ', (SELECT count(*) FROM cases_decisions));
  PERFORM simdup_ungroup('cases', true);
  RETURN found;
END $$;

-- A hamming index, built in memory and beyond it, alone and by workers; inserts
-- that split its pages.
CREATE TABLE near (id int, fp simhash64);
CREATE FUNCTION make_hamming(rows text, workers int = 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
  EXECUTE 'ALTER TABLE near SET (parallel_workers = ' || workers || ')';
  EXECUTE 'INSERT INTO near ' || rows;
  CREATE INDEX near_fp ON near USING hamming (fp);
  INSERT INTO near SELECT id, fp FROM many WHERE id <= 700;
  SET LOCAL enable_seqscan = off;
  SELECT string_agg((fp <~> '8f14e45fceea167a')::text, ' ') INTO found
    FROM (SELECT fp FROM near ORDER BY fp <~> '8f14e45fceea167a' LIMIT 20) AS n;
  PERFORM simdup_index_check('near_fp', true);
  RETURN (SELECT count(*) || ': ' || found FROM near WHERE simhash_within(fp, '8f14e45fceea167a', 9));
END $$;

-- All rows in the order of their distance, the last of them more than work_mem holds.
CREATE TABLE ordered AS SELECT * FROM many WHERE id <= 14000;
CREATE INDEX ON ordered USING hamming (fp);
CREATE FUNCTION nearest_of_many() RETURNS text LANGUAGE sql
SET enable_seqscan = off SET enable_sort = off AS $$
  SELECT md5(string_agg(id || ' ' || d, ','))
  FROM (SELECT id, fp <~> '8f14e45fceea167a' AS d FROM ordered ORDER BY fp <~> '8f14e45fceea167a') AS n
$$;

-- A table that a hamming index keeps without near-duplicates.
-- The server keeps what it looked up in vain when it asks, since 17, how many workers
-- may build a new index of hamming or btree: here none.
CREATE FUNCTION exclude_by_hamming() RETURNS text LANGUAGE plpgsql SET max_parallel_maintenance_workers = 0 AS $$
DECLARE n_refused int := 0;
BEGIN
  CREATE TABLE apart (id int, fp simhash64, EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=));
  INSERT INTO apart VALUES (0, NULL), (0, NULL);
  FOR i IN 1 .. 20 LOOP
    BEGIN
      INSERT INTO apart SELECT id, fp FROM hamming WHERE id = i;
    EXCEPTION WHEN exclusion_violation THEN
      n_refused := n_refused + 1;
    END;
  END LOOP;
  RETURN n_refused || ' of 20';
END $$;

-- A table that gets a trigger and three rows.
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TABLE arrived (id int PRIMARY KEY, body text, place text, dup int,
  fp simhash64 GENERATED ALWAYS AS (simhash_row(body, ARRAY[place])) STORED);
CREATE INDEX ON arrived USING hamming (fp);
CREATE FUNCTION alike(a arrived, b arrived) RETURNS boolean LANGUAGE sql
  AS 'SELECT a.place IS NOT DISTINCT FROM b.place AND shingle_resemblance(a.body, b.body) >= 0.5';
CREATE FUNCTION arrive(made text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE TRIGGER b ' || made;
  INSERT INTO arrived VALUES (1, 'the lights in the park are out', 'North');
  BEGIN
    INSERT INTO arrived SELECT 2, body, place FROM arrived;
  EXCEPTION WHEN exclusion_violation THEN NULL;
  END;
  BEGIN
    UPDATE arrived SET body = 'a tree has fallen on the road' WHERE id = 2;
    INSERT INTO arrived VALUES (3, 'a tree has fallen on the road', 'North');
  EXCEPTION WHEN exclusion_violation THEN NULL;
  END;
  RETURN (SELECT string_agg(a::text, ';' ORDER BY id) FROM arrived AS a)
    || (SELECT coalesce(string_agg(l::text, ';' ORDER BY new_key), '') FROM (SELECT new_key, old_key, distance FROM log) AS l);
END $$;
SQL

# Of a join by the join node.
sub joined { return "SELECT joined(\$join\$$_[0]\$join\$)"; }
sub rows_of { return "SELECT md5(string_agg(r::text, ',' ORDER BY r::text)) FROM $_[0] AS r"; }
sub arrival { return "SELECT arrive('$_[0]')"; }

# on a few rows
our @small = (
	rows_of(q{(SELECT simhash_pieces(fp, 8, 3) FROM doc)}),
	rows_of(q{(SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id), simdup_cluster(name, fp, 12, 'connected') OVER (PARTITION BY id % 2 ORDER BY id) FROM doc)}),
	rows_of(q{(SELECT simdup_component(name, body) OVER () FROM doc)}),
	rows_of(q{simdup_tune('doc')}),
	rows_of(q{simdup_boilerplate('page')}),
	joined(q{SELECT a.id, b.id FROM doc a JOIN doc b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8) WHERE a.id > 3}),
	joined(q{SELECT a.id, b.name FROM doc a LEFT JOIN doc b ON a.id / 3 = b.id / 3 AND a.fp <~> b.fp <= 8}),
	joined(q{SELECT a.id FROM doc a WHERE NOT EXISTS (SELECT FROM doc b WHERE b.id < a.id AND simdup_resembles(a.body, b.body, 0.7))}),
	joined(q{SELECT a.id FROM doc a WHERE EXISTS (SELECT FROM doc b WHERE b.id < a.id AND a.fp <@ simhash_ball(b.fp, 8))}),
	joined(q{SELECT a.id, b.id FROM doc a JOIN doc b ON a.id < b.id AND shingle_resemblance(a.body, b.body, 1, 'word') >= 0.1}),
	rows_of(q{regexp_replace(simdup_report_html('doc', 'title', row_url => '/%s', before => '{}'), '"made": \{.*?\}', '')}),
	rows_of(q{(SELECT id, simdup_cluster(id, fp, body, 12, 0.3, 'leader', 2) OVER (ORDER BY id), simdup_cluster(name, body) OVER (ORDER BY id), simdup_campaign(name, body) OVER (ORDER BY id), simdup_template(name, body) OVER (ORDER BY id) FROM doc)}),
	rows_of(q{simdup_explain((SELECT body FROM doc WHERE id = 1), (SELECT body FROM doc WHERE id = 2), 'simhash')}),
	rows_of(q{simdup_explain((SELECT body FROM doc WHERE id = 1), (SELECT body FROM doc WHERE id = 2), 'minhash64')}),
	rows_of(q{(SELECT imatch_lexicon(body) FROM doc)}),
	rows_of(q{(SELECT unnest(term_idf(body, 'char:2')) FROM doc)}),
	rows_of(q{simdup_features((SELECT string_agg(body, ' ') FROM doc))}),
	rows_of(q{(SELECT simhash(body), simhash(body, tokenizer => 'alpha'), simhash(body, tokenizer => 'space'),
		simhash(body, 3, 'char:3'), simhash(body, tokenizer => 'word:2', hash => 'java'),
		simhash(to_tsvector('english', body)), simhash(string_to_array(body, ' ')),
		simhash_row(body, ARRAY[name, 'b']) FROM doc WHERE id < 3)}),
	rows_of(q{(SELECT simdup_shingles(body), shingle_resemblance(body, name || body), shingle_sketch_bottom(body),
		super_shingles(shingle_sketch(body, 1, 2)), minhash_bands(minhash_signature(body), 16), simdup_bitmap(body),
		simdup_strip_html('<p>' || body), imatch_fingerprints(body, '{word1,word2}'), term_cosine(body, name),
		term_cosine(body, name, '{word1,doc}', '{1,2}') FROM doc WHERE id < 3)}),
	rows_of(q{(SELECT minhash64(body), minhash64(body, 2, 'word', 3), minhash64(tsvector_to_array(to_tsvector('english', body))),
		minhash64(string_to_array(body, ' ')), minhash64_row(body, ARRAY[name, 'b']), minhash_bits(body),
		minhash64_shingles(body, 3, 'word'), minhash_bits_resemblance(minhash_bits(body), minhash_bits(name)) FROM doc WHERE id < 3)}),
	rows_of(q{(SELECT minhash64_agg(id::text), minhash64_row(string_agg(id::text, ' '), ARRAY[repeat('field ', 9000)]),
		minhash64(repeat('word', 20000) || string_agg(id::text, ' '), 3, 'word'), minhash_bits(string_agg(id::text, ' '), 8192) FROM many)}),
	rows_of(q{(SELECT minhash64_agg(w) FROM doc, unnest(string_to_array(body, ' ')) AS w GROUP BY id % 3)}),
	rows_of(q{(SELECT simhash_agg(w), simhash_agg(w, 2), simhash_agg(('x' || md5(w))::bit(128)::varbit, 1)
		FROM doc, unnest(string_to_array(body, ' ')) AS w GROUP BY id % 3)}),
	rows_of(q{(SELECT simdup_window(simdup_bitmap(body), 3) OVER (ORDER BY id),
		simhash_agg(name) OVER (ORDER BY id ROWS 2 PRECEDING) FROM doc)}),
	rows_of(q{(SELECT id FROM indexed WHERE simhash_within(fp, (SELECT fp FROM indexed WHERE id = 7), 3))}),
	rows_of(q{(SELECT id FROM indexed WHERE fp <@ simhash_ball('8f14e45fceea167a', 5) OR simhash_within('0123456789abcdef', fp, 6))}),
	rows_of(q{(SELECT simhash_blocks(fp, 4), fp <~> '0123456789abcdef', fp::bytea FROM doc)}),
	q{SELECT make_hamming('SELECT id, fp FROM indexed WHERE id <= 400')},
	q{SELECT make_hamming('SELECT id, fp FROM many WHERE id <= 3000', 1)},
	'SELECT exclude_by_hamming()',
	arrival(q{BEFORE INSERT OR UPDATE ON arrived FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger(''dup'', ''max_distance => 3'', ''lock => true'')}),
	arrival(q{AFTER INSERT OR UPDATE ON arrived FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger(''log'', ''max_distance => 3'', ''lock => true'')}),
	arrival(q{BEFORE INSERT OR UPDATE ON arrived FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger(''max_distance => 3'')}),
	arrival(q{BEFORE INSERT OR UPDATE ON arrived FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger(''dup'', ''max_distance => 3'', ''condition => alike'')}),
	arrival(q{AFTER INSERT OR UPDATE ON arrived FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger(''log'', ''max_distance => 3'', ''condition => alike'')}),
);
# on more than fits into memory
our @large = (
	joined(q{SELECT a.id, b.id FROM many a JOIN many b ON a.id < b.id AND simhash_within(a.fp, b.fp, 1)}),
	joined(q{SELECT a.id FROM many a WHERE NOT EXISTS (SELECT FROM wide b WHERE simhash_within(a.fp, b.fp, 1))}),
	rows_of(q{(SELECT key, simdup_cluster(key, fp, 1, 'connected') OVER (ORDER BY key) FROM wide)}),
	rows_of(q{(SELECT key, simdup_cluster(key, fp, 1) OVER (ORDER BY key) FROM wide)}),
	rows_of(q{jsonb_each(simdup_report('wide', 1) - 'made')}),
	rows_of(q{(SELECT key, simdup_cluster(key, fp, left(key, 250) || fp, 1, 0.3, 'leader', 2) OVER (ORDER BY key) FROM wide)}),
	q{SELECT make_hamming('SELECT id, fp FROM many UNION ALL SELECT id + 100000, fp FROM many')},
	'SELECT nearest_of_many()',
	rows_of(q{(SELECT simdup_component(id, id + 1) OVER (PARTITION BY id % 3) FROM many)}),
	joined(q{SELECT a.id, b.id FROM name a LEFT JOIN name b ON a.id < b.id AND shingle_resemblance(a.name, b.name, 1, 'word') >= 0.3}),
	rows_of(q{(SELECT unnest(term_idf('some longer word number ' || id || ' of many', 'word:2')) FROM many WHERE id < 6000)}),
);
# where simdup was built with ICU
our $icu = rows_of(
	q{(SELECT simhash(repeat('我们在北京的天安门广场看见了很多人', 700), tokenizer => 'icu:zh'),
		simhash(repeat('ประเทศไทยเป็นประเทศที่สวยงาม', 400), tokenizer => 'icu:th'))});

# functions that the statements above do not call
our @other = (
	rows_of(q{(SELECT simdup_index_check('hamming_fp', true), levels FROM simdup_index_stat('hamming_fp'))}),
	rows_of(q{(SELECT id, simhash_distance(fp, (~fp::bigint)::simhash64),
		fp::text::simhash64, fp::bit(64)::simhash64, fp::bytea::simhash64, simhash_ball(fp, 3)::text::simhash_ball,
		simhash_ball(fp, 3) @> fp
		FROM doc)}),
	rows_of(q{(SELECT a.id, b.id FROM doc AS a JOIN doc AS b ON a.fp = b.fp AND a.fp <= b.fp AND a.fp >= b.fp
		WHERE NOT (a.fp < b.fp OR a.fp > b.fp OR a.fp <> b.fp) ORDER BY a.fp)}),
	rows_of(q{(SELECT simdup_hash(body), simdup_hash(body, 'murmur3'), simdup_field(id), simdup_field(now() - now()),
		simdup_numbers(body), simdup_resembles(body, name), shingle_winnow(body), simdup_own_text(body, name),
		simdup_common_text(ARRAY[body, name || body]), simdup_without(body, ARRAY[name, body]),
		rabin_fingerprint(body), rabin_fingerprint(body::bytea, 32), shingle_containment(body, name),
		shingle_sketch(body, 2, 3), sketch_resemblance(shingle_sketch(body, 2, 3), shingle_sketch(name, 2, 3)),
		minhash_similarity(minhash_signature(body), minhash_signature(name)), minhash_bands_for(0.8),
		simdup_bitmap_similarity(simdup_bitmap(body), simdup_bitmap(name)), imatch_fingerprint(body, '{word1}') FROM doc)}),
	rows_of(q{(SELECT minhash64_resemblance(d), minhash64_distance(d / 64.0) FROM generate_series(0, 64) AS d)}),
	rows_of(q{simdup_lock_arrivals('doc')}),
	rows_of(q{simdup_icu_version()}),
);

# which make tables: the server's caches grow by them
our @making = (
	rows_of(q{make_grouping()}),
	rows_of(q{simdup_removal('doc', 'doc_map')}),
);

1;
