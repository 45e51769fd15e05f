-- What people write by mistake: each error says in HINT what to write instead.
\set SHOW_CONTEXT never

CREATE TABLE letter (id bigint PRIMARY KEY, u uuid NOT NULL, body text, fp simhash64);
INSERT INTO letter (id, u, body)
SELECT g, md5(g::text)::uuid, 'The bridge over the river has been closed since May. ' || g FROM generate_series(1, 3) AS g;

-- a table's name where a query is wanted
SELECT * FROM simdup_pairs('letter', 8);
SELECT * FROM simdup_pairs(' public.letter ');
SELECT * FROM simdup_new_pairs('SELECT id, fp FROM letter', '"letter"');
SELECT * FROM simdup_clusters('letter');
SELECT * FROM simdup_components('letter');
SELECT * FROM simdup_evaluate('letter', 'letter');
SELECT * FROM simdup_evaluate_clusters('letter', 'letter');
SELECT simdup_report('letter');
SELECT simdup_report_html('letter', 'Letters');
SELECT * FROM simdup_pieces('letter', 8, 2);
SELECT * FROM simdup_piece_pairs('letter', 8, 0, 2);
SELECT * FROM shingle_pairs('letter');
SELECT * FROM term_idf('letter');
SELECT imatch_lexicon('letter');
-- a keyword is none, and a name may have blanks
SELECT * FROM simdup_pairs('select');
SELECT * FROM simdup_pairs('"two words"."a ""name"');

-- a query where the name of a table or a view is wanted
SELECT simdup_group('letter_case', 'SELECT id, fp FROM letter');
SELECT * FROM simdup_tune('SELECT id, fp FROM letter');
SELECT * FROM simdup_boilerplate('letter WHERE id < 3');
SELECT * FROM simdup_removal('letter', 'VALUES (2, 1)');
-- a source without the columns: the view of the hint has them
SELECT * FROM simdup_boilerplate('letter');
CREATE VIEW letter_source AS SELECT id AS key, fp, body AS content FROM public.letter;
SELECT count(*) FROM simdup_boilerplate('letter_source');
SELECT simdup_group('letter_case', 'letter', min_resemblance => 0.8);
SELECT simdup_group('letter_case', 'letter_source', min_resemblance => 0.8);
SELECT count(*) FROM simdup_regroup('letter_case');
SELECT simdup_ungroup('letter_case');
DROP VIEW letter_source;

-- other columns than wanted
SELECT * FROM simdup_pairs('SELECT id, body FROM letter', 8);
SELECT * FROM simdup_pairs('SELECT body FROM letter');
SELECT * FROM simdup_pairs('SELECT id, minhash64(body) FROM letter', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, minhash64(body) FROM letter', min_resemblance => 0.8);
SELECT * FROM shingle_pairs('SELECT id, minhash64(body) FROM letter');
SELECT simdup_report('SELECT id, body FROM letter');
SELECT * FROM simdup_components('SELECT id FROM letter');
SELECT * FROM term_idf('SELECT id, body FROM letter');
SELECT * FROM simdup_pairs('SELECT id, minhash64(bodi) FROM letter');

-- keys of another type than said, or not said
SELECT * FROM simdup_pairs('SELECT u, minhash64(body) FROM letter', 8);
SELECT * FROM simdup_pairs('SELECT u, minhash64(body) FROM letter', NULL::text, 8);
SELECT * FROM simdup_new_pairs('SELECT u, fp FROM letter', 'SELECT u, fp FROM letter');
SELECT * FROM simdup_clusters('SELECT u, minhash64(body) FROM letter');
SELECT * FROM simdup_pairs('SELECT u, minhash64(body), body AS content FROM letter', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT u, minhash64(body), body AS content FROM letter', min_resemblance => 0.8);
SELECT * FROM simdup_components('SELECT u, u FROM letter');
SELECT * FROM simdup_pieces('SELECT u, minhash64(body) FROM letter', 8, 2);
SELECT * FROM simdup_piece_pairs('SELECT ARRAY[u], ARRAY[minhash64(body)] FROM letter', 8, 0, 2);
SELECT * FROM shingle_pairs('SELECT u, body FROM letter');
SELECT * FROM simdup_new_pairs('SELECT id, fp FROM letter', 'SELECT u, fp FROM letter');

-- a type of keys that is not needed, or not in its place
SELECT * FROM simdup_pairs('SELECT id::integer, minhash64(body) FROM letter', NULL::integer);
SELECT * FROM simdup_pairs('SELECT id, minhash64(body) FROM letter', NULL::bigint) ORDER BY a, b;
SELECT count(*) FROM simdup_pairs('SELECT u, minhash64(body) FROM letter', key_type => NULL::uuid, max_distance => 8);
DO $$ BEGIN
  PERFORM FROM simdup_pairs('SELECT u, minhash64(body) FROM letter', 8, NULL::uuid);
EXCEPTION WHEN undefined_function THEN
  RAISE NOTICE 'the parser finds no such function';
END $$;

-- a column that nobody has filled
SELECT * FROM simdup_pairs('SELECT id, fp FROM letter');
SELECT * FROM simdup_pairs('SELECT id, fp, body AS content FROM letter', min_resemblance => 0.8);
SELECT * FROM simdup_clusters('SELECT id, fp, body AS content FROM letter', min_resemblance => 0.8);
SELECT * FROM simdup_pieces('SELECT id, fp FROM letter', 8, 2);
SELECT count(*) FROM simdup_tune('letter');
SELECT * FROM shingle_pairs('SELECT id, NULL::text FROM letter');
UPDATE letter SET fp = minhash64(body), body = CASE WHEN id < 3 THEN body END;
SELECT a, b FROM simdup_pairs('SELECT id, fp, body AS content FROM letter ORDER BY id', min_resemblance => 0.8);
SELECT a, b FROM simdup_pairs('SELECT id, CASE WHEN id > 1 THEN fp END FROM letter ORDER BY id');
DROP TABLE letter;
