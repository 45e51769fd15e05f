--
-- trigger_conditions: which near rows count for the triggers that flag, log and refuse: by
-- the condition, the scope of a partial index, and the user's rights.
--
SELECT getdatabaseencoding() = 'SQL_ASCII' AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks what is tested here
\quit
\endif
SET client_min_messages = warning;
CREATE SCHEMA conditions;
SET search_path = conditions, public;

-- a fingerprint with the given bits changed
CREATE FUNCTION near(fp simhash64, VARIADIC bits int[]) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN (fp::bigint # (SELECT sum(1::bigint << b) FROM unnest(bits) b)::bigint)::simhash64;
\set a '''00ff00ff00ff00ff''::simhash64'

--
-- exact resemblance: the nearest that passes, not the nearest
--
CREATE TABLE letter (id int PRIMARY KEY, body varchar(200), fp simhash64, dup int);
CREATE INDEX ON letter USING hamming (fp);
CREATE FUNCTION resembles(new_row letter, near_row letter) RETURNS boolean LANGUAGE sql
  AS $$ SELECT shingle_resemblance(new_row.body, near_row.body, 2, 'word') >= 0.6 $$;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION
  simdup_flag_trigger('dup', 'condition => resembles', 'columns => body');
INSERT INTO letter VALUES
  (1, 'one two three four five six', near(:a, 1, 2)),
  (2, 'nothing of that kind is in here', near(:a, 1)),
  (3, 'one two three four five seven', :a),
  (4, 'one two three four five seven', near(:a, 1)),
  (5, 'ONE two three, four five seven!', near(:a, 9, 10, 11, 12, 13, 14, 15, 16, 17)),
  (6, NULL, :a),
  (7, '...', :a),
  (8, '...', :a);
SELECT id, dup FROM letter ORDER BY id;
-- the text changes, the fingerprint does not; and the other way round
UPDATE letter SET body = 'one two three four five seven' WHERE id = 6;
UPDATE letter SET body = 'something else' WHERE id = 4;
UPDATE letter SET id = 70 WHERE id = 7;
UPDATE letter SET fp = near(:a, 16, 17) WHERE id = 5;
SELECT id, dup FROM letter ORDER BY id;
-- a flag that a person sets or clears stays
UPDATE letter SET dup = 2 WHERE id = 1;
UPDATE letter SET dup = NULL WHERE id = 6;
SELECT id, dup FROM letter WHERE id IN (1, 6) ORDER BY id;
DROP TABLE letter CASCADE;

-- A flag is no change to another trigger that flags, with a condition or without, or
-- that logs or refuses. Neither is a column generated of a flag.
CREATE TABLE two_flags (id int PRIMARY KEY, fp simhash64, place text, near int, same int, is_first boolean GENERATED ALWAYS AS (near IS NULL) STORED);
CREATE INDEX ON two_flags USING hamming (fp);
CREATE TABLE two_flags_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION same_place(a two_flags, b two_flags) RETURNS boolean LANGUAGE sql AS 'SELECT a.place = b.place';
CREATE TRIGGER a BEFORE INSERT OR UPDATE ON two_flags FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('near');
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON two_flags FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('same', 'condition => same_place', 'columns => place');
CREATE TRIGGER c AFTER INSERT OR UPDATE ON two_flags FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('two_flags_log', 'condition => same_place', 'columns => place');
INSERT INTO two_flags VALUES (1, :a, 'n'), (2, near(:a, 1), 's'), (3, near(:a, 1, 2), 'n'), (4, near(:a, 1, 2), 'n');
SELECT * FROM two_flags ORDER BY id;
SELECT new_key, old_key FROM two_flags_log ORDER BY 1, 2;
TRUNCATE two_flags_log;
CREATE TRIGGER d BEFORE INSERT OR UPDATE ON two_flags FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0', 'condition => same_place', 'columns => place');
UPDATE two_flags SET near = NULL WHERE id = 3;
UPDATE two_flags SET same = 2 WHERE id = 4;
UPDATE two_flags SET near = 4, same = NULL WHERE id = 1;
SELECT * FROM two_flags ORDER BY id;
SELECT count(*) FROM two_flags_log;
UPDATE two_flags SET place = 'w' WHERE id = 3;
UPDATE two_flags SET place = 'n' WHERE id = 3;
DROP TABLE two_flags, two_flags_log CASCADE;

-- Another column that is saved changes no flag. A trigger of the user's sets a time, as
-- in many tables. A person has cleared the flag of 2. 1 has a copy.
CREATE TABLE saved (id int PRIMARY KEY, place text, fp simhash64, dup int, note text, updated_at timestamptz);
CREATE INDEX ON saved USING hamming (fp);
CREATE TABLE saved_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;
CREATE FUNCTION same_place(a saved, b saved) RETURNS boolean LANGUAGE sql AS 'SELECT a.place = b.place';
CREATE TRIGGER a BEFORE UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'condition => same_place');
CREATE TRIGGER c AFTER INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('saved_log', 'condition => same_place');
INSERT INTO saved VALUES (1, 'n', :a), (2, 'n', :a), (3, 's', :a), (4, 'n', :a);
TRUNCATE saved_log;
UPDATE saved SET dup = NULL WHERE id = 2;
CREATE TRIGGER d BEFORE INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => same_place');
UPDATE saved SET note = 'read' WHERE id = 2;
UPDATE saved SET note = 'read' WHERE id = 1;
-- a column that the condition reads decides where it is named
UPDATE saved SET place = 'n' WHERE id = 3;
SELECT id, place, dup, note FROM saved ORDER BY id;
SELECT count(*) FROM saved_log;
CREATE OR REPLACE TRIGGER d BEFORE INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => same_place', 'columns => place, note');
UPDATE saved SET place = 'w' WHERE id = 3;
UPDATE saved SET place = 'n' WHERE id = 3;
UPDATE saved SET note = 'read again' WHERE id = 4;
UPDATE saved SET updated_at = NULL WHERE id = 4;
DROP TRIGGER d ON saved;
CREATE OR REPLACE TRIGGER b BEFORE INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'condition => same_place', 'columns => place');
CREATE OR REPLACE TRIGGER c AFTER INSERT OR UPDATE ON saved FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('saved_log', 'condition => same_place', 'columns => place');
UPDATE saved SET place = 'n' WHERE id = 3;
SELECT id, place, dup, note FROM saved ORDER BY id;
SELECT new_key, old_key FROM saved_log ORDER BY 1, 2;
DROP TABLE saved, saved_log CASCADE;
-- a predicate of the flag: its truth is the flag's, which is nobody's change
CREATE TABLE original (id int PRIMARY KEY, fp simhash64, dup int);
CREATE INDEX ON original USING hamming (fp) WHERE dup IS NULL;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON original FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup');
INSERT INTO original VALUES (1, :a), (2, :a), (3, :a);
UPDATE original SET dup = NULL WHERE id = 2;
SELECT id, dup FROM original ORDER BY id;
DROP TABLE original;

-- the search stops at the first row that passes: it does not compare all copies
CREATE TABLE copies (id int PRIMARY KEY, body text, fp simhash64, dup int);
CREATE INDEX ON copies USING hamming (fp);
INSERT INTO copies SELECT i, 'a letter that was sent very often', :a FROM generate_series(1, 3000) i;
CREATE SEQUENCE calls;
CREATE FUNCTION of_one_text(a copies, b copies) RETURNS boolean LANGUAGE sql
  AS $$ SELECT simdup_resembles(a.body, b.body, 0.6) AND nextval('calls') > 0 $$;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON copies FOR EACH ROW EXECUTE FUNCTION
  simdup_flag_trigger('dup', 'condition => conditions.of_one_text');
INSERT INTO copies VALUES (0, 'a letter that was sent very often', near(:a, 1)) RETURNING dup;
SELECT last_value FROM calls;
DROP TABLE copies CASCADE;

--
-- a sketch, which is a generated column: it is computed before
--
CREATE TABLE sketched (id int PRIMARY KEY, body text, dup int,
  fp simhash64 GENERATED ALWAYS AS (minhash64(body)) STORED,
  sketch varbit GENERATED ALWAYS AS (minhash_bits(body, 1024)) STORED);
CREATE INDEX ON sketched USING hamming (fp);
CREATE FUNCTION alike(a sketched, b sketched) RETURNS boolean RETURN minhash_bits_resemblance(a.sketch, b.sketch) >= 0.7;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON sketched FOR EACH ROW EXECUTE FUNCTION
  simdup_flag_trigger('dup', 'max_distance => 32', 'condition => alike');
INSERT INTO sketched VALUES
  (1, 'The lights in the park are out since last week and nobody repairs them.'),
  (2, 'The lights in the park are out since last week, and nobody repairs them!'),
  (3, 'The lights in the station are broken since May; will somebody mend them?'),
  (4, NULL);
SELECT id, dup FROM sketched ORDER BY id;
UPDATE sketched SET body = 'Quite another matter altogether' WHERE id = 2;
UPDATE sketched SET body = (SELECT body FROM sketched WHERE id = 1) WHERE id = 4;
SELECT id, dup FROM sketched ORDER BY id;
DROP TABLE sketched CASCADE;

--
-- the same district: NULL is equal to NULL where the condition says so
--
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN district AS text COLLATE ci;
CREATE TABLE scoped (gone int, id int PRIMARY KEY, "Distr, ict" district, open bool, tags int[], fp simhash64, dup int);
ALTER TABLE scoped DROP COLUMN gone;
CREATE INDEX ON scoped USING hamming (fp);
CREATE FUNCTION "Same, scope"(a scoped, b scoped) RETURNS boolean LANGUAGE sql AS $$
  SELECT a."Distr, ict" IS NOT DISTINCT FROM b."Distr, ict" AND a.open IS NOT DISTINCT FROM b.open AND a.tags IS NOT DISTINCT FROM b.tags $$;
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON scoped FOR EACH ROW EXECUTE FUNCTION
  simdup_flag_trigger('dup', 'max_distance => 3', 'condition => "Same, scope"', 'columns => "Distr, ict", open, tags');
INSERT INTO scoped VALUES
  (1, 'North', true, '{1,2}', :a),
  (2, 'South', true, '{1,2}', :a),
  (3, 'NORTH', true, '{1,2}', near(:a, 5)),
  (4, 'North', false, '{1,2}', :a),
  (5, 'North', true, '{2,1}', :a),
  (6, NULL, NULL, NULL, :a),
  (7, NULL, NULL, NULL, near(:a, 5)),
  (8, NULL, true, NULL, :a);
SELECT id, dup FROM scoped ORDER BY id;
-- into another scope
UPDATE scoped SET "Distr, ict" = 'south' WHERE id = 3;
UPDATE scoped SET open = true WHERE id = 4;
UPDATE scoped SET "Distr, ict" = NULL, open = NULL, tags = NULL WHERE id = 5;
UPDATE scoped SET dup = NULL WHERE id = 7;
SELECT id, dup FROM scoped ORDER BY id;
DROP TABLE scoped CASCADE;

-- reject, also a row that an UPDATE brings into a scope; log
CREATE TABLE tenant (id int PRIMARY KEY, tenant int, body text, fp simhash64);
CREATE INDEX ON tenant USING hamming (fp);
CREATE FUNCTION same_tenant(a tenant, b tenant) RETURNS boolean
  RETURN a.tenant = b.tenant AND shingle_resemblance(a.body, b.body, 3) >= .5;
CREATE TRIGGER no_repeats BEFORE INSERT OR UPDATE ON tenant FOR EACH ROW EXECUTE FUNCTION
  simdup_reject_trigger('max_distance => 3', 'condition => same_tenant', 'columns => tenant,body');
INSERT INTO tenant VALUES (1, 1, 'a short letter', :a), (2, 2, 'a short letter', :a), (3, 1, 'all different', :a);
INSERT INTO tenant VALUES (4, 1, 'A short letter', near(:a, 1));
INSERT INTO tenant VALUES (4, 3, 'A short letter', near(:a, 1));
UPDATE tenant SET tenant = 2 WHERE id = 4;
UPDATE tenant SET body = 'a short letter' WHERE id = 3;
UPDATE tenant SET body = 'all is different', tenant = 3 WHERE id = 3;
SELECT id, tenant, body FROM tenant ORDER BY id;
DROP TABLE tenant CASCADE;
CREATE TABLE logged (key int PRIMARY KEY, fp int, place text, body char(40), simdup_fp simhash64);
CREATE INDEX ON logged USING hamming (simdup_fp);
CREATE TABLE found (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE FUNCTION same_place(a logged, b logged) RETURNS boolean LANGUAGE sql
  AS $$ SELECT a.place IS NOT DISTINCT FROM b.place AND shingle_resemblance(a.body, b.body, 1, 'word') >= 0.5 $$;
CREATE TRIGGER by_row AFTER INSERT OR UPDATE ON logged FOR EACH ROW EXECUTE FUNCTION
  simdup_log_trigger('found', 'lock => true', 'condition => same_place', 'columns => place, body');
INSERT INTO logged (key, place, body, simdup_fp) VALUES
  (1, 'n', 'one two three', :a),
  (2, 'n', 'one two four', near(:a, 1)),
  (3, 's', 'one two four', near(:a, 1)),
  (4, 'n', 'quite another text', :a),
  (5, NULL, 'one two three', :a),
  (6, NULL, 'one two three', :a);
INSERT INTO logged (key, place, body, simdup_fp) VALUES (7, 's', 'one two three four', near(:a, 2, 3));
SELECT new_key, old_key, distance FROM found ORDER BY 1, 2;
UPDATE logged SET place = 's' WHERE key = 2;
UPDATE logged SET body = 'one two' WHERE key = 4;
SELECT new_key, old_key, distance FROM found ORDER BY 1, 2;
DROP TABLE logged, found CASCADE;

--
-- within 30 days, equal numbers, a distance in metres, a cosine of two arrays;
-- the index is on the text itself
--
CREATE TABLE report (id int PRIMARY KEY, at date, metres point, embedding float8[], content text, repeats int);
CREATE INDEX report_near ON report USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON report FOR EACH ROW EXECUTE FUNCTION
  simdup_flag_trigger('repeats', 'condition => counts');
CREATE TABLE arriving AS SELECT * FROM (VALUES
  (1, date '2026-01-01', point(0, 0), '{1,0,0}'::float8[], 'The lamp 14 at the corner of Fish Street has been dark for weeks.'),
  (2, date '2026-01-20', point(30, 40), '{0,1,0}'::float8[], 'The lamp 14 at the corner of Fish Street has been dark for weeks!'),
  (3, date '2026-02-10', point(0, 0), '{0.9,0.1,0}'::float8[], 'The lamp 15 at the corner of Fish Street has been dark for weeks.'),
  (4, date '2026-03-30', point(300, 400), NULL, 'The lamp 15 at the corner of Fish Street has been dark for weeks!')) v (id, at, metres, embedding, content);
CREATE PROCEDURE arrive(condition text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION counts(new_row report, near_row report) RETURNS boolean LANGUAGE sql STABLE AS %L', 'SELECT ' || condition);
  DELETE FROM report;
  INSERT INTO report (id, at, metres, embedding, content) SELECT * FROM arriving ORDER BY id;
  RAISE WARNING '%: %', condition, (SELECT string_agg(concat(id, '>', repeats), ' ' ORDER BY id) FROM report);
END $$;
CALL arrive('true');
CALL arrive('new_row.at - near_row.at < 30');
CALL arrive('simdup_numbers(new_row.content) = simdup_numbers(near_row.content)');
CALL arrive('new_row.metres <-> near_row.metres < 100');
CREATE FUNCTION cosine(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT
  RETURN (SELECT sum(x * y) / sqrt(sum(x * x) * sum(y * y)) FROM unnest(a, b) AS v (x, y));
CALL arrive('cosine(new_row.embedding, near_row.embedding) > 0.95');
CALL arrive('simdup_resembles(new_row.content, near_row.content, 0.9)');
CALL arrive('NULL::boolean');
DROP TABLE report, arriving CASCADE;

--
-- open cases only, by a partial index: rows outside neither act nor are found
--
CREATE TABLE matter (id int PRIMARY KEY, state text, content text, repeats int);
CREATE INDEX matter_open ON matter USING hamming (content) WHERE state <> 'closed';
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON matter FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO matter (id, state, content) VALUES
  (1, 'closed', 'The fountain on the market square has been dry since the works.'),
  (2, 'open', 'The fountain on the market square has been dry since the works!'),
  (3, 'open', 'the fountain on the market square has been dry since the works'),
  (4, 'closed', 'the fountain on the market square has been dry since the works'),
  (5, NULL, 'the fountain on the market square has been dry since the works');
UPDATE matter SET repeats = 7 WHERE id = 4;
SELECT id, state, repeats FROM matter ORDER BY id;
-- into the scope and out of it; within it
UPDATE matter SET state = 'open' WHERE id = 1;
UPDATE matter SET state = 'closed' WHERE id = 3;
UPDATE matter SET repeats = NULL WHERE id = 1;
UPDATE matter SET state = 'urgent' WHERE id = 2;
SELECT id, state, repeats FROM matter ORDER BY id;
DROP TABLE matter;

--
-- which index: the only one, equal ones alike, else the one that is named
--
CREATE TABLE several (id int PRIMARY KEY, title text, content text, fp simhash64, repeats int);
CREATE TRIGGER flag BEFORE INSERT ON several FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO several VALUES (1, 'The lamp at the corner', 'The fountain on the market square is dry');
CREATE INDEX several_btree ON several (fp);
INSERT INTO several VALUES (1, 'The lamp at the corner', 'The fountain on the market square is dry');
CREATE INDEX one ON several USING hamming (content);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'one'::regclass;
INSERT INTO several VALUES (1, 'The lamp at the corner', 'The fountain on the market square is dry');
CREATE INDEX two ON several USING hamming (content);
INSERT INTO several VALUES (1, 'The lamp at the corner', 'The fountain on the market square is dry');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'one'::regclass;
REINDEX INDEX one;
INSERT INTO several VALUES (2, 'A tree has fallen', 'the fountain on the market square is dry') RETURNING repeats;
REINDEX TABLE CONCURRENTLY several;
DROP INDEX one;
INSERT INTO several VALUES (3, 'A tree has fallen', 'the fountain on the market square is dry') RETURNING repeats;
-- two that differ before the trigger names none: an error at the first row
DROP TRIGGER flag ON several;
CREATE INDEX "by Title" ON several USING hamming (minhash64(title));
CREATE TRIGGER flag BEFORE INSERT ON several FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO several VALUES (4, 'A tree has fallen', 'nothing at all');
CREATE OR REPLACE TRIGGER flag BEFORE INSERT ON several FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'index => Two');
INSERT INTO several VALUES (4, 'A tree has fallen', 'nothing at all') RETURNING repeats;
CREATE OR REPLACE TRIGGER flag BEFORE INSERT ON several FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'index => "by Title"');
INSERT INTO several VALUES (5, 'A tree has fallen', 'nothing at all') RETURNING repeats;
DROP INDEX "by Title";
INSERT INTO several VALUES (6, 'A tree has fallen', 'nothing at all');
-- an index of balls, which an exclusion constraint has made
DROP INDEX two;
CREATE OR REPLACE TRIGGER flag BEFORE INSERT ON several FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
ALTER TABLE several ADD EXCLUDE USING hamming (simhash_ball(fp, 0) WITH ~=);
INSERT INTO several (id, fp) VALUES (6, :a), (7, near(:a, 1)) RETURNING repeats;
DROP TABLE several;

--
-- a condition that is written wrong; a table without an only key
--
CREATE TABLE wrong (id int PRIMARY KEY, fp simhash64, dup int);
CREATE INDEX ON wrong USING hamming (fp);
INSERT INTO wrong VALUES (1, :a);
CREATE FUNCTION of_numbers(int, int) RETURNS boolean RETURN true;
CREATE FUNCTION to_text(wrong, wrong) RETURNS text RETURN 'true';
CREATE FUNCTION many(wrong, wrong) RETURNS SETOF boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION fails(wrong, wrong) RETURNS boolean RETURN 1 / ($1.id - $1.id) = 1;
CREATE PROCEDURE try(VARIADIC options text[]) LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER t BEFORE INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger(''dup'', %s)',
    (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) o));
  INSERT INTO wrong VALUES (2, '00ff00ff00ff00ff');
  RAISE EXCEPTION 'not refused';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE WARNING '% % | % | %', state, message, detail, hint;
END $$;
CALL try('condition => none');
CALL try('condition => nowhere.none');
CALL try('condition => of_numbers');
CALL try('condition => to_text');
CALL try('condition => many');
CALL try('condition => fails');
CALL try('condition => a.b.c.d');
CALL try('condition => ');
CALL try('condition => "');
-- also where no row is near
DELETE FROM wrong;
CALL try('condition => none');
DROP TABLE wrong CASCADE;
CREATE TABLE two_keys (a int, b int, content text, repeats int, PRIMARY KEY (a, b));
CREATE INDEX ON two_keys USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT ON two_keys FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO two_keys VALUES (1, 1, 'one text');
DROP TABLE two_keys;
-- a primary key that is not of all partitions
CREATE TABLE half_keyed (id int NOT NULL, content text, repeats int) PARTITION BY LIST (id);
CREATE TABLE half_keyed_1 PARTITION OF half_keyed FOR VALUES IN (1);
CREATE INDEX ON half_keyed USING hamming (content);
ALTER TABLE ONLY half_keyed ADD PRIMARY KEY (id);
CREATE TRIGGER flag BEFORE INSERT ON half_keyed FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO half_keyed VALUES (1, 'one text');
ALTER TABLE half_keyed_1 ADD PRIMARY KEY (id);
ALTER INDEX half_keyed_pkey ATTACH PARTITION half_keyed_1_pkey;
INSERT INTO half_keyed VALUES (1, 'one text');
DROP TABLE half_keyed;

--
-- partitions: a condition gets rows of the type of the table that has the trigger
--
CREATE TABLE parted (gone int, id int, region text, content text, repeats int, length int GENERATED ALWAYS AS (length(content)) STORED, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
CREATE TABLE parted_n (repeats int, content text, length int GENERATED ALWAYS AS (length(content)) STORED, id int NOT NULL, region text NOT NULL);
ALTER TABLE parted DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_n FOR VALUES IN ('n');
CREATE TABLE parted_s PARTITION OF parted FOR VALUES IN ('s') PARTITION BY RANGE (id);
CREATE TABLE parted_s_1 PARTITION OF parted_s FOR VALUES FROM (0) TO (100);
CREATE INDEX ON parted USING hamming (content);
CREATE FUNCTION of_one_length(a parted, b parted) RETURNS boolean LANGUAGE sql AS 'SELECT a.length = b.length';
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => id', 'condition => of_one_length');
INSERT INTO parted (id, region, content) VALUES (1, 'n', 'One long text of a letter.'), (2, 's', 'One long text of a letter'), (3, 's', 'One long text of a letter!'), (4, 'n', 'one long text of a letter');
INSERT INTO parted_n (id, region, content) VALUES (5, 'n', 'one long text of a letter');
UPDATE parted SET content = content || '.', region = 'n' WHERE id = 2;
SELECT id, repeats FROM parted ORDER BY id;
-- an index that is not on all partitions
CREATE TABLE parted_w PARTITION OF parted FOR VALUES IN ('w');
DROP INDEX parted_content_idx;
CREATE INDEX parted_near ON ONLY parted USING hamming (content);
INSERT INTO parted (id, region, content) VALUES (6, 'w', 'one long text of a letter');
CREATE INDEX parted_n_near ON parted_n USING hamming (content);
CREATE INDEX parted_s_near ON parted_s USING hamming (content);
CREATE INDEX parted_w_near ON parted_w USING hamming (content);
ALTER INDEX parted_near ATTACH PARTITION parted_n_near;
ALTER INDEX parted_near ATTACH PARTITION parted_s_near;
ALTER INDEX parted_near ATTACH PARTITION parted_w_near;
INSERT INTO parted (id, region, content) VALUES (6, 'w', 'one long text of a letter') RETURNING repeats;
DROP TABLE parted CASCADE;

--
-- rows that the user may not see: neither the key nor the condition gets it
--
CREATE ROLE regress_conditions_writer;
CREATE TABLE seen (id int PRIMARY KEY, who text DEFAULT current_user, content text, repeats int);
CREATE INDEX ON seen USING hamming (content);
CREATE TABLE seen_log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TABLE asked (new_key int, near_key int);
CREATE FUNCTION asks(a seen, b seen) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN INSERT INTO conditions.asked VALUES (a.id, b.id); RETURN true; END $$;
CREATE TRIGGER flag BEFORE INSERT ON seen FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats', 'condition => asks');
CREATE TRIGGER log AFTER INSERT ON seen FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('seen_log');
GRANT USAGE ON SCHEMA conditions TO regress_conditions_writer;
GRANT INSERT ON seen, seen_log, asked TO regress_conditions_writer;
INSERT INTO seen VALUES (1, 'owner', 'the lights in the park are out');
SET ROLE regress_conditions_writer;
INSERT INTO seen VALUES (2, DEFAULT, 'the lights in the park are out');
RESET ROLE;
SELECT id, repeats FROM seen ORDER BY id;
SELECT * FROM asked;
SELECT count(*) FROM seen_log;
GRANT SELECT (id) ON seen TO regress_conditions_writer;
SET ROLE regress_conditions_writer;
INSERT INTO seen VALUES (3, DEFAULT, 'the lights in the park are out');
RESET ROLE;
SELECT id, repeats FROM seen ORDER BY id;
SELECT * FROM asked;
SELECT new_key, old_key FROM seen_log ORDER BY 1, 2;
TRUNCATE asked, seen_log;
GRANT SELECT ON seen TO regress_conditions_writer;
CREATE POLICY own ON seen USING (who = current_user);
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
SET ROLE regress_conditions_writer;
INSERT INTO seen VALUES (4, DEFAULT, 'the lights in the park are out') RETURNING repeats;
RESET ROLE;
SELECT * FROM asked;
SELECT new_key, old_key FROM seen_log ORDER BY 1, 2;
-- a trigger that refuses sees them all, and tells none
CREATE TRIGGER reject BEFORE INSERT ON seen FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => asks');
DELETE FROM seen WHERE who <> 'owner';
SET ROLE regress_conditions_writer;
INSERT INTO seen VALUES (5, DEFAULT, 'the lights in the park are out');
RESET ROLE;
-- the condition must be the user's to call
DROP TRIGGER reject ON seen;
CREATE TRIGGER reject BEFORE INSERT ON seen FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0', 'condition => asks');
REVOKE EXECUTE ON FUNCTION asks FROM public;
SET ROLE regress_conditions_writer;
INSERT INTO seen VALUES (5, DEFAULT, 'the lights in the park are out');
RESET ROLE;
DROP TABLE seen, seen_log, asked CASCADE;

--
-- a log: users who may not write to it do not lock it
--
CREATE TABLE written (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON written USING hamming (fp);
CREATE TABLE log (new_key int, old_key int, distance int, logged_at timestamptz);
CREATE TRIGGER log AFTER INSERT ON written FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('log', 'max_distance => 3');
GRANT SELECT, INSERT ON written TO regress_conditions_writer;
CREATE VIEW log_locks AS SELECT mode FROM pg_locks WHERE relation = 'log'::regclass AND pid = pg_backend_pid();
GRANT SELECT ON log_locks TO regress_conditions_writer;
SET ROLE regress_conditions_writer;
BEGIN;
INSERT INTO written VALUES (1, '0000000000000001');
SELECT * FROM log_locks;
COMMIT;
INSERT INTO written VALUES (2, '0000000000000001');
RESET ROLE;
GRANT INSERT (new_key, old_key, distance, logged_at) ON log TO regress_conditions_writer;
SET ROLE regress_conditions_writer;
BEGIN;
INSERT INTO written VALUES (2, '0000000000000001');
SELECT * FROM log_locks;
COMMIT;
RESET ROLE;
SELECT new_key, old_key FROM log;

--
-- a writer's own operators, and overloads of a condition's functions, see no row
--
CREATE SCHEMA mine AUTHORIZATION regress_conditions_writer;
CREATE TABLE secret (id int PRIMARY KEY, district varchar(20), content text, repeats int);
CREATE INDEX ON secret USING hamming (content);
CREATE FUNCTION same_district(a secret, b secret) RETURNS boolean LANGUAGE sql
  AS 'SELECT a.district = b.district AND simdup_resembles(a.content, b.content, 0.5)';
CREATE FUNCTION same_by_own_path(a secret, b secret) RETURNS boolean LANGUAGE sql SET search_path = pg_catalog, pg_temp
  AS 'SELECT a.district = b.district AND length(a.content) > 3';
GRANT INSERT ON secret TO regress_conditions_writer;
INSERT INTO secret VALUES (1, 'north', 'the lights in the park are out');
SET ROLE regress_conditions_writer;
CREATE TABLE mine.caught (a text, b text);
CREATE FUNCTION mine.catch(a varchar, b varchar) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN INSERT INTO mine.caught VALUES (a, b); RETURN a::text OPERATOR(pg_catalog.=) b::text; END $$;
CREATE OPERATOR mine.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = mine.catch);
CREATE FUNCTION mine.simdup_resembles(a text, b text, c numeric) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN INSERT INTO mine.caught VALUES (a, b); RETURN true; END $$;
CREATE FUNCTION mine.length(a text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN INSERT INTO mine.caught VALUES (a, NULL); RETURN 10; END $$;
SET search_path = mine, pg_catalog, public;
SELECT 'a'::varchar = 'b'::varchar AS trap;
RESET ROLE;
CREATE TRIGGER reject BEFORE INSERT ON conditions.secret FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => same_district');
SET ROLE regress_conditions_writer;
INSERT INTO conditions.secret VALUES (2, 'north', 'the lights in the park are out');
RESET ROLE;
CREATE OR REPLACE TRIGGER reject BEFORE INSERT ON conditions.secret FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('condition => same_by_own_path');
SET ROLE regress_conditions_writer;
INSERT INTO conditions.secret VALUES (2, 'north', 'the lights in the park are out');
SHOW search_path;
RESET ROLE;
RESET search_path;
SELECT * FROM mine.caught;

--
-- overloads in the extension's schema, and a fingerprint of a domain, change nothing
--
SET search_path = conditions, public;
CREATE DOMAIN fingerprint AS simhash64;
CREATE FUNCTION public.simhash_ball(center fingerprint, radius int) RETURNS simhash_ball LANGUAGE sql
  RETURN public.simhash_ball(center::simhash64, 64);
CREATE TABLE target (id int PRIMARY KEY, fp fingerprint, dup int);
CREATE INDEX ON target USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON target FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3');
INSERT INTO target VALUES (1, :a), (2, :a), (3, near(:a, 1, 2, 3, 4)), (4, near(:a, 1, 2, 3));
SELECT id, dup FROM target ORDER BY id;
DROP FUNCTION public.simhash_ball(conditions.fingerprint, int);

--
-- texts without a shingle, temporary and unlogged tables
--
CREATE TEMP TABLE brief (id int PRIMARY KEY, content text, repeats int);
CREATE INDEX ON brief USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON brief FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO brief VALUES (1, ''), (2, '...'), (3, '...'), (4, NULL), (5, 'a'), (6, 'A');
SELECT id, repeats FROM brief ORDER BY id;
DROP TABLE brief;
CREATE UNLOGGED TABLE brief (id int PRIMARY KEY, content text, repeats int);
CREATE INDEX ON brief USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON brief FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('repeats');
INSERT INTO brief VALUES (1, 'a short text'), (2, 'A short text.');
MERGE INTO brief USING (VALUES (2, 'something else'), (3, 'a short text')) v (id, content) ON brief.id = v.id
  WHEN MATCHED THEN UPDATE SET content = v.content WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.content);
INSERT INTO brief VALUES (3, 'something else') ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content;
INSERT INTO brief VALUES (3, 'a short text') ON CONFLICT (id) DO NOTHING;
SELECT id, repeats FROM brief ORDER BY id;

-- texts that a collation holds equal are one scope, and one key of components
CREATE TABLE fold (key int PRIMARY KEY, fp simhash64, scope text COLLATE ci);
INSERT INTO fold VALUES (1, '00000000000000ff', 'Mill'), (2, '00000000000000ff', 'MILL'), (3, '00000000000000ff', 'Fish');
SELECT key, simdup_cluster(key, fp) OVER (PARTITION BY scope ORDER BY key) AS cluster FROM fold ORDER BY key;
SELECT simdup_group('fold_group', 'fold');
SELECT * FROM simdup_regroup('fold_group');
SELECT r #> '{counts,clusters}' AS clusters, r #> '{distances,0,pairs}' AS pairs, r #> '{scopes,kept}' AS scopes FROM simdup_report('fold') AS r;
SELECT a, b, simdup_component(a COLLATE ci, b) OVER () FROM (VALUES ('b', 'a'), ('B', 'c')) AS v (a, b) ORDER BY a COLLATE "C";
-- of rows that others refer to, tags are the same by the collation of their unique key
CREATE TABLE tag (fold int REFERENCES fold, tag text COLLATE ci);
CREATE UNIQUE INDEX ON tag (fold, tag COLLATE "C");
INSERT INTO tag VALUES (1, 'Lamp'), (2, 'lamp'), (2, 'Lamp');
CREATE VIEW fold_map AS SELECT 2 AS removed, 1 AS kept;
\set ECHO errors
SELECT statement FROM simdup_removal('fold', 'fold_map') ORDER BY step \gexec
\set ECHO all
TABLE tag ORDER BY tag COLLATE "C";
DROP VIEW fold_map;
DROP TABLE tag, tag_moved, fold_removed;
SELECT simdup_ungroup('fold_group');
DROP TABLE fold;

SET client_min_messages = error;
DROP SCHEMA conditions, mine CASCADE;
DROP ROLE regress_conditions_writer;
