# Dependents: a database that uses everything simdup has, and its answers. Tests
# build it, replace the server, the library or the version, and ask again.

package Dependents;

use strict;
use warnings;

use Exporter 'import';
our @EXPORT = qw(build_dependents answers stored scans);

use Cwd ();

# Tables, columns, indexes, constraints, partitions, triggers, types, views,
# functions, statistics and a text search configuration, all on simdup.
sub build_dependents
{
	my ($node, $db, %params) = @_;
	my $csv = Cwd::abs_path('test/data/petitions.csv');

	$node->safe_psql($db, <<"SQL", %params);
CREATE TABLE petition (
  id integer PRIMARY KEY, title text, district text, category text, received_at timestamp, content text,
  fp simhash64 GENERATED ALWAYS AS (simhash(content)) STORED,
  letters simhash64 GENERATED ALWAYS AS (simhash(content, 64, 'char:3', 'tf', 'murmur3', true)) STORED,
  with_fields simhash64 GENERATED ALWAYS AS (simhash_row(content, ARRAY[title, district], 3)) STORED,
  blocks bigint[] GENERATED ALWAYS AS (simhash_blocks(simhash(content))) STORED,
  bands bigint[] GENERATED ALWAYS AS (minhash_bands(minhash_signature(content, 32, 3, 'char'), 16)) STORED,
  sketch bigint[] GENERATED ALWAYS AS (shingle_sketch(content, 4, 5, 'char')) STORED,
  bitmap varbit GENERATED ALWAYS AS (simdup_bitmap(content)) STORED,
  whole simhash64 GENERATED ALWAYS AS (simhash_row(content, ARRAY[title, simdup_field(received_at), district, category])) STORED);
\\copy petition (id, title, district, category, received_at, content) from '$csv' (format csv, header)
SQL
	$node->safe_psql($db, <<'SQL', %params);
CREATE INDEX petition_near ON petition USING hamming (fp);
CREATE INDEX petition_near_fields ON petition USING hamming (with_fields) WITH (fillfactor = 70);
CREATE INDEX petition_near_expression ON petition USING hamming (simhash(title, tokenizer => 'char:2'));
CREATE INDEX petition_blocks ON petition USING gin (blocks);
CREATE INDEX petition_bands ON petition USING gin (bands);
CREATE INDEX petition_super ON petition USING gin (super_shingles(sketch, 2));
CREATE INDEX petition_order ON petition (letters);
CREATE INDEX petition_equal ON petition USING hash (whole);
CREATE INDEX petition_rabin ON petition (rabin_fingerprint(content)) WHERE fp <~> '0000000000000000' <= 40;

-- an index of some size, on partitions by hash
CREATE TABLE sample (id integer, fp simhash64, PRIMARY KEY (id, fp)) PARTITION BY HASH (fp);
CREATE TABLE sample_0 PARTITION OF sample FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE sample_1 PARTITION OF sample FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE sample_2 PARTITION OF sample FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO sample
  SELECT i, ((('x' || substr(md5((i / 4)::text), 1, 16))::bit(64)::bigint) # (1::bigint << (i % 4 * 9)))::simhash64
  FROM generate_series(1, 12000) AS i;
CREATE INDEX sample_near ON sample USING hamming (fp);
CREATE TABLE by_range (fp simhash64) PARTITION BY RANGE (fp);
CREATE TABLE by_range_low PARTITION OF by_range FOR VALUES FROM (MINVALUE) TO ('8000000000000000');
CREATE TABLE by_range_high PARTITION OF by_range FOR VALUES FROM ('8000000000000000') TO (MAXVALUE);
INSERT INTO by_range SELECT fp FROM petition;

-- constraints and types
CREATE DOMAIN near_zero AS simhash64 CHECK (simhash_within(VALUE, '0000000000000000', 48));
CREATE TYPE dated_fp AS (fp simhash64, seen date);
CREATE TABLE code (
  fp simhash64 PRIMARY KEY DEFAULT '0123456789abcdef', ball simhash_ball DEFAULT '<0123456789abcdef,3>',
  near near_zero, dated dated_fp, many simhash64[], EXCLUDE USING btree (fp WITH =));
INSERT INTO code SELECT DISTINCT ON (fp) fp, simhash_ball(fp, 5), fp, ROW(fp, '2020-01-01'::date)::dated_fp, ARRAY[fp, letters]
  FROM petition ORDER BY fp, id;
CREATE TABLE use_of_code (id integer, fp simhash64 REFERENCES code);
INSERT INTO use_of_code SELECT id, fp FROM petition;

-- arrival
CREATE TABLE flagged (id integer PRIMARY KEY, title text, content text, repeats integer,
  fp simhash64 GENERATED ALWAYS AS (simhash_row(content, ARRAY[title])) STORED);
CREATE TABLE logged (id integer PRIMARY KEY, title text, content text,
  fp simhash64 GENERATED ALWAYS AS (simhash(content)) STORED);
CREATE TABLE logged_log (new_key integer, old_key integer, distance integer, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TABLE refused (id integer PRIMARY KEY, title text, content text,
  fp simhash64 GENERATED ALWAYS AS (simhash(content)) STORED);
CREATE INDEX ON flagged USING hamming (fp);
CREATE INDEX ON logged USING hamming (fp);
CREATE INDEX ON refused USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON flagged FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('repeats', 'max_distance => 6');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON logged FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('logged_log', 'max_distance => 6');
CREATE TRIGGER reject AFTER INSERT OR UPDATE ON refused FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 6');
INSERT INTO flagged SELECT id, title, content FROM petition WHERE id % 2 = 0 ORDER BY id;
INSERT INTO logged SELECT id, title, content FROM petition ORDER BY id;
CREATE INDEX ON use_of_code USING hamming (fp);
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON use_of_code DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0', 'key => id');

-- text search
CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);

-- views, a function with a body, statistics
CREATE VIEW near AS
  SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
  FROM petition AS a JOIN petition AS b ON simhash_within(a.fp, b.fp, 6) AND a.id < b.id;
CREATE VIEW by_features AS
  SELECT id, simhash_agg(feature, weight) AS fp, simhash_agg(feature) AS plain,
    simhash_agg(simdup_hash(feature)::bit(64)::varbit, weight) AS wide
  FROM petition, simdup_features(content) GROUP BY id;
CREATE VIEW batch AS
  SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance, c.cluster, c.verified, simdup_component(a.id, b.id) OVER () AS component
  FROM petition AS a JOIN petition AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 8)
    JOIN (SELECT id, simdup_cluster(id::text, fp) OVER w AS cluster, simdup_cluster(id, content, 0.8) OVER w AS verified
      FROM petition WINDOW w AS (ORDER BY id)) AS c ON c.id = a.id;
CREATE VIEW stream AS
  SELECT id, simdup_window(bitmap, 20, 0.7) OVER (ORDER BY id) AS class FROM petition;
CREATE MATERIALIZED VIEW clusters AS
  SELECT cluster, count(*) AS n, simhash_agg(id::text) AS fp
  FROM (SELECT id, simdup_cluster(id, fp, 8, 'connected') OVER (ORDER BY id) AS cluster FROM petition) AS c GROUP BY cluster HAVING count(*) > 1;
CREATE UNIQUE INDEX clusters_key ON clusters (cluster);
CREATE INDEX clusters_fp ON clusters USING hamming (fp);
CREATE FUNCTION nearest(wanted simhash64) RETURNS SETOF integer STABLE
  BEGIN ATOMIC
    SELECT id FROM petition WHERE fp <@ simhash_ball(wanted, 8) ORDER BY fp <~> wanted, id;
  END;

-- groups with a decision, and an archive of removed rows
SELECT FROM simdup_group('cases', 'petition', 6);
SELECT FROM simdup_regroup('cases');
SELECT FROM simdup_decide('cases', 1001, 1003, true);
CREATE TABLE kept (id integer PRIMARY KEY, fp simhash64);
INSERT INTO kept SELECT id, fp FROM petition;
CREATE TABLE refers (id integer PRIMARY KEY, kept integer REFERENCES kept);
INSERT INTO refers SELECT id, id FROM kept;
CREATE INDEX ON refers (kept);
CREATE VIEW kept_map AS SELECT DISTINCT ON (a.id) a.id AS removed, b.id AS kept
  FROM kept AS a JOIN kept AS b ON b.id < a.id AND b.fp = a.fp AND NOT EXISTS (SELECT FROM kept AS c WHERE c.id < b.id AND c.fp = b.fp);
SELECT statement FROM simdup_removal('kept', 'kept_map') \gexec
CREATE STATISTICS petition_stats (mcv, ndistinct) ON fp, with_fields, simhash(title) FROM petition;
ANALYZE;
SQL
	return;
}

# Statements that must find the rows of a scan, by the index of that name.
my @scans = (
	[ 'petition_near', 'SELECT a.id, b.id FROM petition a, petition b WHERE simhash_within(b.fp, a.fp, 8)' ],
	[ 'petition_near_fields', 'SELECT a.id, b.id FROM petition a, petition b WHERE b.with_fields <@ simhash_ball(a.with_fields, 3)' ],
	[ 'petition_near_expression', q{SELECT id FROM petition WHERE simhash(title, tokenizer => 'char:2') <@ simhash_ball(simhash((SELECT title FROM petition WHERE id = 1001), tokenizer => 'char:2'), 20)} ],
	[ 'petition_blocks', 'SELECT a.id, b.id FROM petition a, petition b WHERE a.blocks && b.blocks AND a.fp <~> b.fp <= 3' ],
	[ 'petition_bands', 'SELECT a.id, b.id FROM petition a, petition b WHERE a.bands && b.bands' ],
	[ 'petition_super', 'SELECT a.id, b.id FROM petition a, petition b WHERE super_shingles(a.sketch, 2) && super_shingles(b.sketch, 2)' ],
	[ 'petition_order', q{SELECT id FROM petition WHERE letters >= '8000000000000000' ORDER BY letters, id} ],
	[ 'petition_equal', 'SELECT id FROM petition WHERE whole = (SELECT whole FROM petition WHERE id = 1010)' ],
	[ 'petition_rabin', q{SELECT id FROM petition WHERE fp <~> '0000000000000000' <= 40 AND rabin_fingerprint(content) < 0} ],
	[ 'sample_\d_fp_idx', 'SELECT a.id, b.id FROM sample a, sample b WHERE a.id % 40 = 0 AND simhash_within(b.fp, a.fp, 3)' ],
	[ 'clusters_fp', q{SELECT cluster FROM clusters WHERE fp <@ simhash_ball((SELECT fp FROM clusters ORDER BY cluster LIMIT 1), 30)} ]);

# [index, rows by the index, rows by a scan, plan] for each query above. Indexes
# that no query uses are left out.
sub scans
{
	my ($node, $db, %params) = @_;
	my $by_index = 'SET simdup.enable_join = off; SET enable_seqscan = off; SET enable_indexscan = on;';
	my $by_scan = 'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;';
	my @found;

	for (@scans)
	{
		my ($index, $query) = @$_;
		my $rows = "SELECT count(*), md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM ($query) AS r;";

		push @found,
		  [
			$index,
			$node->safe_psql($db, "$by_index $rows", %params),
			$node->safe_psql($db, "$by_scan $rows", %params),
			$node->safe_psql($db, "$by_index EXPLAIN (COSTS OFF) $query", %params)
		  ];
	}
	return @found;
}

# All stored values that were computed from a text.
sub stored
{
	my ($node, $db, %params) = @_;

	return $node->safe_psql($db, <<'SQL', %params);
SELECT id, fp, letters, with_fields, whole, blocks, bands, sketch, bitmap FROM petition ORDER BY id;
SELECT tableoid::regclass, count(*), md5(string_agg(s::text, ' ' ORDER BY id)) FROM sample AS s GROUP BY 1 ORDER BY 1::text;
SELECT tableoid::regclass, fp FROM by_range ORDER BY fp;
SELECT * FROM code ORDER BY fp;
SELECT id, fp, repeats FROM flagged ORDER BY id;
SELECT id, fp FROM logged ORDER BY id;
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;
SELECT * FROM clusters ORDER BY cluster;
SELECT * FROM cases ORDER BY key::int;
SELECT * FROM cases_decisions;
SELECT count(*), md5(string_agg(e::text, ' ' ORDER BY e::text)) FROM cases_events AS e;
SELECT * FROM kept_removed ORDER BY id;
SELECT * FROM refers_moved ORDER BY id;
SELECT * FROM refers ORDER BY id;
SQL
}

# The answers of functions, views and triggers. Changes are rolled back.
sub answers
{
	my ($node, $db, %params) = @_;

	return $node->safe_psql($db, <<'SQL', %params);
SELECT count(*) FROM petition WHERE fp IS DISTINCT FROM simhash(content)
  OR letters IS DISTINCT FROM simhash(content, 64, 'char:3', 'tf', 'murmur3', true)
  OR with_fields IS DISTINCT FROM simhash_row(content, ARRAY[title, district], 3)
  OR bitmap IS DISTINCT FROM simdup_bitmap(content);
SELECT * FROM near ORDER BY a, b;
SELECT md5(string_agg(f::text, ' ' ORDER BY id)) FROM by_features AS f;
SELECT count(DISTINCT class), md5(string_agg(class::text, ' ' ORDER BY id)) FROM stream;
SELECT string_agg(n::text, ' ') FROM nearest((SELECT fp FROM petition WHERE id = 1005)) AS n;
-- by the join node
SET enable_nestloop = off;
SELECT count(*), md5(string_agg(b::text, ' ' ORDER BY a, b)) FROM batch AS b;
SELECT count(*) FROM petition AS a JOIN petition AS b ON a.id < b.id AND shingle_resemblance(a.content, b.content, 3) >= 0.5;
SELECT count(*), sum(shingle_resemblance(a.content, b.content, 3)::numeric)
  FROM petition AS a JOIN petition AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, 10) AND shingle_resemblance(a.content, b.content, 3) >= 0.3;
SELECT count(*) FROM petition AS a JOIN petition AS b ON a.id < b.id AND simdup_resembles(a.content, b.content);
RESET enable_nestloop;
SELECT jsonb_each(simdup_report('public.petition') - 'made');
SELECT simdup_explain(a.content, b.content, 'simhash', 3) FROM petition a, petition b WHERE a.id = 1001 AND b.id = 1002;
SELECT md5(string_agg(term_cosine(a.content, b.content)::text, ' ' ORDER BY a.id))
  FROM petition a JOIN petition b ON b.id = a.id + 1;
SELECT md5(simdup_strip_html('<p>' || content || '</p>')) FROM petition WHERE id = 1001;
SELECT to_tsvector('words', 'The streetlights of the street') @@ to_tsquery('words', 'streetlights');
SELECT simhash(to_tsvector('words', 'The streetlights of the street'));

BEGIN;
INSERT INTO flagged (id, title, content) SELECT 90001, title, content || '.' FROM flagged WHERE id = 1010;
SELECT fp, repeats FROM flagged WHERE id = 90001;
UPDATE flagged SET content = 'something else altogether' WHERE id = 90001;
SELECT fp, repeats FROM flagged WHERE id = 90001;
INSERT INTO logged (id, title, content) SELECT 90002, title, content FROM petition WHERE id = 1005;
SELECT new_key, old_key, distance FROM logged_log WHERE new_key = 90002 ORDER BY old_key;
INSERT INTO refused (id, title, content) SELECT id, title, content FROM petition WHERE id = 1001;
DO $$ BEGIN
  INSERT INTO refused (id, title, content) SELECT 90003, title, content FROM petition WHERE id = 1001;
  RAISE 'a duplicate came in';
EXCEPTION WHEN exclusion_violation THEN NULL;
END $$;
DO $$ BEGIN
  INSERT INTO use_of_code SELECT 90004, fp FROM code ORDER BY fp LIMIT 1;
  SET CONSTRAINTS ALL IMMEDIATE;
  RAISE 'a duplicate came in';
EXCEPTION WHEN exclusion_violation THEN NULL;
END $$;
DO $$ BEGIN
  INSERT INTO use_of_code VALUES (90005, 'fedcba9876543210');
  RAISE 'a fingerprint that is not there was referred to';
EXCEPTION WHEN foreign_key_violation THEN NULL;
END $$;
DO $$ BEGIN
  INSERT INTO code (fp, near) VALUES ('ffffffffffffffff', 'ffffffffffffffff');
  RAISE 'the domain took anything';
EXCEPTION WHEN check_violation THEN NULL;
END $$;
INSERT INTO sample VALUES (90006, '0123456789abcdef');
SELECT tableoid::regclass FROM sample WHERE fp = '0123456789abcdef';
INSERT INTO petition (id, content) SELECT 90007, content FROM petition WHERE id = 1001;
SELECT * FROM simdup_regroup('cases') ORDER BY key::int;
SELECT * FROM simdup_undecide('cases', 1001, 1003) ORDER BY key::int;
SELECT md5(string_agg(statement, ' ')) FROM simdup_removal('kept', 'kept_map');
REFRESH MATERIALIZED VIEW clusters;
SELECT count(*), md5(string_agg(c::text, ' ' ORDER BY cluster)) FROM clusters AS c;
ROLLBACK;
SQL
}

1;
