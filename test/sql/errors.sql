-- What people write by mistake: each error says in HINT what to write instead.
\set SHOW_CONTEXT never

CREATE TABLE letter (id bigint PRIMARY KEY, u uuid NOT NULL, body text, fp simhash64);
INSERT INTO letter (id, u, body)
SELECT g, md5(g::text)::uuid, 'The bridge over the river has been closed since May. ' || g FROM generate_series(1, 3) AS g;

-- a query where the name of a table or a view is wanted
SELECT simdup_group('letter_case', 'SELECT id, fp FROM letter');
SELECT * FROM simdup_tune('SELECT id, fp FROM letter');
SELECT * FROM simdup_boilerplate('letter WHERE id < 3');
SELECT * FROM simdup_removal('letter', 'VALUES (2, 1)');
-- a source without the columns: an index says which one is the text, unless it is partial or of an expression
CREATE INDEX ON letter USING hamming (lower(body));
CREATE INDEX ON letter USING hamming (body) WHERE id < 3;
SELECT * FROM simdup_boilerplate('letter');
SELECT simdup_group('letter_case', 'letter', min_resemblance => 0.8);
CREATE INDEX ON letter USING hamming (body);
SELECT count(*) FROM simdup_boilerplate('letter');
SELECT simdup_group('letter_case', 'letter', min_resemblance => 0.8);
SELECT key, fp, content, scope FROM letter_case_settings;
SELECT count(*) FROM simdup_regroup('letter_case');
-- several texts with an index
ALTER TABLE letter ADD subject text, ADD "a""b" text;
CREATE INDEX ON letter USING hamming (subject);
CREATE INDEX ON letter USING hamming ("a""b");
SELECT * FROM simdup_boilerplate('letter');
SELECT simdup_group('other_case', 'letter');
SELECT count(*) FROM simdup_regroup('letter_case', dry_run => true);
SELECT simdup_ungroup('letter_case');
ALTER TABLE letter DROP subject, DROP "a""b";

-- a column that nobody has filled
SELECT count(*) FROM simdup_tune('letter');
SELECT a.id, b.id FROM letter a JOIN letter b ON a.id < b.id AND simhash_within(a.fp, b.fp);
SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id) FROM letter ORDER BY id;
UPDATE letter SET fp = minhash64(body), body = CASE WHEN id < 3 THEN body END;
SELECT a.id, b.id FROM letter a JOIN letter b ON a.id < b.id AND simdup_resembles(a.body, b.body);
SELECT id, simdup_cluster(id, fp) OVER (ORDER BY id), simdup_cluster(id, fp, body) OVER (ORDER BY id) FROM letter ORDER BY id;
-- a window function needs its OVER
SELECT id, simdup_cluster(id, fp) FROM letter;
-- a table that Citus distributes: its rows are in shards, and this one is empty
\set ON_ERROR_ROLLBACK on
BEGIN;
CREATE INDEX letter_fp ON letter USING hamming (fp);
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition AS SELECT 'letter'::regclass AS logicalrelid;
SELECT simdup_index_check('letter_fp');
SELECT * FROM simdup_index_stat('letter_fp');
SELECT simdup_lock_arrivals('letter');
SELECT * FROM simdup_removal('letter', 'letter');
TRUNCATE pg_catalog.pg_dist_partition;
SELECT simdup_index_check('letter_fp');
ROLLBACK;
\unset ON_ERROR_ROLLBACK
DROP TABLE letter;
