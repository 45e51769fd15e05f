--
-- triggers: the work of each trigger, and its errors when it is written wrong.
-- Sessions that meet are in the specs, loads and crashes in the TAP test.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival;
SET search_path = arrival, public;

-- a fingerprint with the given bits changed
CREATE FUNCTION near(fp simhash64, VARIADIC bits int[]) RETURNS simhash64 LANGUAGE sql IMMUTABLE
  RETURN (fp::bigint # (SELECT sum(1::bigint << b) FROM unnest(bits) b)::bigint)::simhash64;

--
-- simdup_flag_trigger
--
CREATE TABLE "Flag ged" ("Key" int PRIMARY KEY, gone int, "Fp" simhash64, "Dup" int REFERENCES "Flag ged");
ALTER TABLE "Flag ged" DROP COLUMN gone;
CREATE INDEX ON "Flag ged" USING hamming ("Fp");
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON "Flag ged" FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('Dup', 'max_distance => 3');
\set a '''00ff00ff00ff00ff''::simhash64'
INSERT INTO "Flag ged" VALUES
  (10, :a),
  (11, near(:a, 1, 2, 3)),
  (5, near(:a, 1, 2)),
  (12, near(:a, 1)),
  (13, near(:a, 9, 10, 11, 12)),
  (14, NULL);
INSERT INTO "Flag ged" VALUES (15, NULL, 10), (17, 'ffffffffffffffff', 10);
DELETE FROM "Flag ged" WHERE "Key" = 17;
SELECT * FROM "Flag ged" ORDER BY 1;
-- an update that changes the fingerprint looks again, another does not
UPDATE "Flag ged" SET "Fp" = near(:a, 9, 10, 11) WHERE "Key" = 10;
UPDATE "Flag ged" SET "Dup" = 14 WHERE "Key" = 11;
UPDATE "Flag ged" SET "Fp" = "Fp", "Dup" = NULL WHERE "Key" = 12;
UPDATE "Flag ged" SET "Fp" = NULL WHERE "Key" = 5;
SELECT * FROM "Flag ged" ORDER BY 1;
-- never itself: an upsert, a change of key, no key
INSERT INTO "Flag ged" VALUES (14, 'ffffffffffffffff') ON CONFLICT ("Key") DO UPDATE SET "Fp" = EXCLUDED."Fp";
INSERT INTO "Flag ged" VALUES (14, 'fffffffffffffff0') ON CONFLICT ("Key") DO UPDATE SET "Fp" = EXCLUDED."Fp";
UPDATE "Flag ged" SET "Key" = 16, "Fp" = 'fffffffffffffff8' WHERE "Key" = 14;
SELECT * FROM "Flag ged" WHERE "Key" > 13 ORDER BY 1;
-- a key of any type
CREATE TABLE flag_text (id text COLLATE "C" PRIMARY KEY, fp simhash64, dup text);
CREATE INDEX ON flag_text USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON flag_text FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 64', 'key => id');
INSERT INTO flag_text VALUES (repeat('long ', 1000), :a), ('b', near(:a, 1, 2)), ('a', near(:a, 1, 3)), ('c', near(:a, 1)), ('d', near(:a, 5));
UPDATE flag_text SET fp = near(:a, 5, 6) WHERE id = 'd';
SELECT left(id, 9) AS id, left(dup, 9) AS dup FROM flag_text ORDER BY id;
-- distance 0
CREATE TABLE flag_zero (id int PRIMARY KEY, fp simhash64, dup int);
CREATE INDEX ON flag_zero USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT ON flag_zero FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 0', 'key => id');
INSERT INTO flag_zero SELECT i, (i % 7)::bigint::simhash64 FROM generate_series(1, 20) i;
SELECT string_agg(dup::text, ' ' ORDER BY id) FROM flag_zero;
-- the nearest, of equally near ones the smallest key, as a scan finds them
CREATE TABLE many (id int PRIMARY KEY, fp simhash64, dup int);
CREATE TABLE many_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE INDEX ON many USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT ON many FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 14');
CREATE TRIGGER log AFTER INSERT ON many FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('many_log', 'max_distance => 14');
INSERT INTO many SELECT i, (hashint8extended(i % 20, 1) # (hashint8extended(i, 2) & hashint8extended(i, 3) & hashint8extended(i, 4)))::simhash64 FROM generate_series(1, 400) i;
SELECT count(dup) > 300 AS flagged, count(*) FILTER (WHERE dup IS DISTINCT FROM
    (SELECT b.id FROM many b WHERE b.id < many.id AND b.fp <~> many.fp <= 14 ORDER BY b.fp <~> many.fp, b.id LIMIT 1)) AS wrong FROM many;
SELECT count(*) > 1000 AS logged, count(*) - (SELECT count(*) FROM many a JOIN many b ON a.id > b.id AND a.fp <~> b.fp <= 14) AS wrong FROM many_log;

--
-- A generated fingerprint: there is none yet when BEFORE triggers fire
--
CREATE TABLE gen (id int PRIMARY KEY, body text, fp simhash64 GENERATED ALWAYS AS (simhash(body)) STORED, dup int);
CREATE INDEX ON gen USING hamming (fp);
CREATE TABLE gen_log (line serial, new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON gen FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'key => id');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON gen FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('gen_log', 'key => id');
INSERT INTO gen VALUES (1, 'the street lights in the park are out since monday'), (2, 'the street lights in the park are out since monday'), (3, ''), (4, NULL);
UPDATE gen SET body = 'the street lights in the park are out since monday' WHERE id = 4;
UPDATE gen SET body = 'something else entirely' WHERE id = 2;
UPDATE gen SET dup = NULL WHERE id = 4;
SELECT id, dup FROM gen ORDER BY id;
SELECT new_key, old_key, distance, logged_at <= now() AS timed FROM gen_log ORDER BY line;
ALTER TABLE gen DISABLE TRIGGER USER;
CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON gen FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO gen VALUES (5, 'something else entirely');
UPDATE gen SET body = 'something else entirely' WHERE id = 1;
DROP TRIGGER reject ON gen;
CREATE TRIGGER reject AFTER INSERT OR UPDATE ON gen FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO gen VALUES (5, 'something else entirely');
UPDATE gen SET body = 'something else entirely' WHERE id = 1;
SELECT id, body FROM gen ORDER BY id;
-- one that is of the table, too
CREATE TABLE gen_here (id int PRIMARY KEY, body text, dup int, here text GENERATED ALWAYS AS (body || tableoid::bigint::text) STORED);
CREATE INDEX ON gen_here USING hamming (here);
CREATE TRIGGER flag BEFORE INSERT ON gen_here FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 0');
INSERT INTO gen_here VALUES (1, 'lights');
INSERT INTO gen_here VALUES (2, 'lights') RETURNING dup;

--
-- simdup_log_trigger. Random statements: triggers_log.
--
CREATE TABLE logged (id int PRIMARY KEY, fp simhash64);
CREATE TABLE logged_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE INDEX ON logged USING hamming (fp);
CREATE TRIGGER log AFTER INSERT OR UPDATE ON logged FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('arrival.logged_log', 'max_distance => 3', 'key => id');
INSERT INTO logged VALUES (1, :a), (2, NULL);
INSERT INTO logged VALUES (4, near(:a, 1)), (3, near(:a, 2)), (5, near(:a, 1, 2)), (6, 'ffffffffffffffff');
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;
-- a pair keeps its first distance; changed later, the other row is the new one
UPDATE logged SET fp = fp;
UPDATE logged SET fp = near(:a, 1, 2, 3) WHERE id = 1;
SELECT new_key, old_key, distance FROM logged_log WHERE 1 IN (new_key, old_key) ORDER BY 1, 2;
-- another key is another pair
TRUNCATE logged_log;
UPDATE logged SET id = 7 WHERE id = 5;
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;
-- under an isolation level that has one snapshot
TRUNCATE logged_log;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO logged VALUES (8, near(:a, 4));
UPDATE logged SET fp = near(:a, 5) WHERE id = 8;
COMMIT;
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;
-- one command inserts and updates: the larger key is the new one, also for a condition
TRUNCATE logged, logged_log;
CREATE FUNCTION later(new_row logged, near_row logged) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT new_row.id > near_row.id';
CREATE OR REPLACE TRIGGER log AFTER INSERT OR UPDATE ON logged FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('logged_log', 'max_distance => 3', 'key => id', 'condition => later');
INSERT INTO logged VALUES (2, 'ffffffffffffffff'), (3, :a), (8, 'ffffffffffffffff');
TRUNCATE logged_log;
MERGE INTO logged USING (VALUES (2, near(:a, 1)), (1, near(:a, 2)), (3, :a), (4, near(:a, 3))) AS v (id, fp) ON v.id = logged.id
  WHEN MATCHED THEN UPDATE SET fp = v.fp WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.fp);
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;
TRUNCATE logged_log;
WITH i AS (INSERT INTO logged VALUES (9, 'ffffffff00000000')) UPDATE logged SET fp = 'ffffffff00000001' WHERE id = 8;
SELECT new_key, old_key, distance FROM logged_log ORDER BY 1, 2;

--
-- simdup_reject_trigger
--
CREATE TABLE rejecting ("the id" int PRIMARY KEY, fp simhash64);
CREATE INDEX ON rejecting USING hamming (fp);
CREATE TRIGGER "No twins" BEFORE INSERT OR UPDATE ON rejecting FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
INSERT INTO rejecting VALUES (1, :a), (2, NULL), (3, NULL);
\set SHOW_CONTEXT never
DO $$
DECLARE
  state text; detail text; tab text; sch text; con text;
BEGIN
  INSERT INTO rejecting VALUES (4, '00ff00ff00ff00fe');
EXCEPTION WHEN exclusion_violation THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL,
    sch = SCHEMA_NAME, tab = TABLE_NAME, con = CONSTRAINT_NAME;
  RAISE WARNING '% | % | %.% | %', state, detail, sch, tab, con;
END $$;
INSERT INTO rejecting VALUES (4, near(:a, 1, 2, 3, 4)), (5, near(:a, 1, 2, 3));
INSERT INTO rejecting VALUES (4, near(:a, 1, 2, 3, 4));
INSERT INTO rejecting VALUES (4, near(:a, 1, 2, 3, 5)) ON CONFLICT ("the id") DO UPDATE SET fp = EXCLUDED.fp;
UPDATE rejecting SET fp = near(:a, 1) WHERE "the id" = 4;
UPDATE rejecting SET "the id" = 40 WHERE "the id" = 4;
SELECT * FROM rejecting ORDER BY 1;
-- distance 64: one row and no more
CREATE TABLE only_one (id int, fp simhash64);
CREATE INDEX ON only_one USING hamming (fp);
CREATE TRIGGER reject BEFORE INSERT ON only_one FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 64', 'key => id');
INSERT INTO only_one VALUES (1, :a);
INSERT INTO only_one VALUES (2, near(:a, 0, 9, 20, 31, 32, 33, 60, 63));
-- deferred: the rows at the end count
CREATE TABLE deferred (id int PRIMARY KEY, fp simhash64);
CREATE INDEX ON deferred USING hamming (fp);
CREATE CONSTRAINT TRIGGER reject AFTER INSERT OR UPDATE ON deferred
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3', 'key => id');
BEGIN;
INSERT INTO deferred VALUES (1, :a), (2, near(:a, 1)), (3, near(:a, 2));
UPDATE deferred SET fp = 'ffffffffffffffff' WHERE id = 2;
DELETE FROM deferred WHERE id = 3;
COMMIT;
BEGIN;
INSERT INTO deferred VALUES (4, near(:a, 1));
COMMIT;
SELECT id FROM deferred ORDER BY id;

--
-- Locks: rows within k have one in common, at any bits in which they differ;
-- unrelated rows hardly ever
--
CREATE FUNCTION locks_of(k int, fp simhash64) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  locks text[];
BEGIN
  EXECUTE format('CREATE TRIGGER t BEFORE INSERT ON locking FOR EACH ROW
    EXECUTE FUNCTION simdup_reject_trigger(%L, %L)', 'key => id', 'max_distance => ' || k);
  INSERT INTO locking VALUES (1, fp);
  SELECT array_agg(objsubid || ':' || objid) INTO locks FROM pg_locks
    WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objsubid > 16384 AND classid <> 0;
  RAISE SQLSTATE 'XX999';
EXCEPTION WHEN SQLSTATE 'XX999' THEN
  RETURN locks;
END $$;
CREATE TABLE locking (id int, fp simhash64);
CREATE INDEX ON locking USING hamming (fp);
CREATE TABLE locked (k int, n int, twins bool, unrelated bool);
CREATE PROCEDURE lock_pairs() LANGUAGE plpgsql AS $$
DECLARE
  fp simhash64; twin simhash64; locks text[];
BEGIN
  FOR k IN 0 .. 16 LOOP
    FOR i IN 1 .. 20 LOOP
      fp := hashint8extended(i, k)::simhash64;
      SELECT (fp::bigint # coalesce(bit_xor(1::bigint << b), 0))::simhash64 INTO twin
        FROM (SELECT b FROM generate_series(0, 63) b ORDER BY hashint8extended(b, i * 100 + k) LIMIT k) bits;
      locks := locks_of(k, fp);
      INSERT INTO locked VALUES (k, cardinality(locks), locks && locks_of(k, twin),
                                 locks && locks_of(k, hashint8extended(-i, k)::simhash64));
      COMMIT;
    END LOOP;
  END LOOP;
END $$;
CALL lock_pairs();
SELECT k, max(n) AS locks, bool_and(twins) AS twins_meet, count(*) FILTER (WHERE unrelated) AS unrelated_meet
  FROM locked GROUP BY k ORDER BY k;

-- what pg_locks shows is not the value of a block: of one fingerprint, two tables
-- have other tags, and one table the same again
CREATE TABLE tagged (n int, tag text);
CREATE TABLE locking_too (LIKE locking INCLUDING INDEXES);
CREATE TRIGGER t BEFORE INSERT ON locking_too FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 0', 'key => id');
INSERT INTO tagged SELECT i, t FROM generate_series(1, 2) AS i, unnest(locks_of(0, '0000000000000007')) AS t;
BEGIN;
INSERT INTO locking_too VALUES (1, '0000000000000007');
INSERT INTO tagged SELECT 3, objsubid || ':' || objid FROM pg_locks
WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objsubid > 16384 AND classid <> 0;
COMMIT;
SELECT count(*), count(DISTINCT tag) AS tags, bool_or(tag LIKE '%:7') AS shows FROM tagged;

--
-- Partitions: twins are looked for in the whole table
--
CREATE TABLE part (gone int, id int, region text, fp simhash64, dup int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE part_n (dup int, fp simhash64, id int NOT NULL, region text NOT NULL);
ALTER TABLE part DROP COLUMN gone;
ALTER TABLE part ATTACH PARTITION part_n FOR VALUES IN ('n');
CREATE TABLE part_s PARTITION OF part FOR VALUES IN ('s');
CREATE INDEX ON part USING hamming (fp);
CREATE TABLE part_log (new_key int, old_key int, distance int, logged_at timestamptz, UNIQUE (new_key, old_key));
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON part FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3', 'key => id', 'lock => true');
CREATE TRIGGER log AFTER INSERT OR UPDATE ON part FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('part_log', 'max_distance => 3', 'key => id');
INSERT INTO part (id, region, fp) VALUES (1, 'n', :a), (2, 's', near(:a, 1));
INSERT INTO part_n (id, region, fp) VALUES (3, 'n', near(:a, 1, 2));
UPDATE part SET fp = near(:a, 1, 2, 3), region = 's' WHERE id = 1;
BEGIN;
INSERT INTO part_s (id, region, fp) VALUES (4, 's', 'ffffffffffffffff');
SELECT DISTINCT classid::regclass FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
COMMIT;
SELECT tableoid::regclass, id, dup FROM part ORDER BY id;
SELECT new_key, old_key, distance FROM part_log ORDER BY 1, 2;
-- a partition that comes later has the triggers too
CREATE TABLE part_w PARTITION OF part FOR VALUES IN ('w');
INSERT INTO part (id, region, fp) VALUES (5, 'w', near('ffffffffffffffff', 1));
SELECT id, dup FROM part WHERE id = 5;
ALTER TABLE part DETACH PARTITION part_s;
INSERT INTO part (id, region, fp) VALUES (6, 'w', near('ffffffffffffffff', 1, 2));
SELECT id, dup FROM part WHERE id = 6;

--
-- Inheritance: a parent's trigger searches the children, and does not fire
-- for them
--
CREATE TABLE parent (id int PRIMARY KEY, fp simhash64, dup int);
CREATE TABLE child (more text) INHERITS (parent);
CREATE INDEX ON parent USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT ON parent FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3', 'key => id');
INSERT INTO child VALUES (1, :a), (2, :a);
INSERT INTO parent VALUES (3, :a);
CREATE INDEX ON child USING hamming (minhash64(more));
INSERT INTO parent VALUES (3, :a);
CREATE INDEX ON child USING hamming (fp);
INSERT INTO parent VALUES (3, :a);
ALTER TABLE child ADD UNIQUE (id);
INSERT INTO parent VALUES (3, :a);
SELECT tableoid::regclass, id, dup FROM parent ORDER BY id;
-- a child whose columns have other numbers
CREATE TABLE other (fp simhash64, dup int, more text, id int PRIMARY KEY);
ALTER TABLE other INHERIT parent;
CREATE INDEX ON other USING hamming (minhash64(more));
INSERT INTO parent VALUES (4, near(:a, 20));
CREATE INDEX ON other USING hamming (fp) WHERE id > 0;
CREATE INDEX ON other USING hamming (fp);
INSERT INTO other VALUES (near(:a, 20, 21, 22, 23), NULL, NULL, 4);
INSERT INTO parent VALUES (5, near(:a, 20, 21, 22, 23));
SELECT tableoid::regclass, id, dup FROM parent ORDER BY id;

--
-- The table changes under a session's plans
--
CREATE TABLE changing (id int PRIMARY KEY, fp simhash64, dup int);
CREATE INDEX ON changing USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT ON changing FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3');
INSERT INTO changing VALUES (1, :a);
ALTER TABLE changing RENAME TO changed;
INSERT INTO changed VALUES (2, near(:a, 1));
CREATE TABLE changing (id int, fp simhash64);
ALTER TABLE changed SET SCHEMA public;
INSERT INTO public.changed VALUES (3, near(:a, 2));
ALTER TABLE public.changed ALTER id TYPE bigint, ALTER dup TYPE bigint;
INSERT INTO public.changed VALUES (4, near(:a, 3));
CREATE INDEX ON public.changed USING hamming (fp);
INSERT INTO public.changed VALUES (5, near(:a, 4));
ALTER TABLE public.changed DROP COLUMN fp;
ALTER TABLE public.changed ADD COLUMN fp simhash64;
INSERT INTO public.changed (id, fp) VALUES (6, :a);
CREATE INDEX ON public.changed USING hamming (fp);
INSERT INTO public.changed (id, fp) VALUES (6, :a);
INSERT INTO public.changed (id, fp) VALUES (7, :a);
SELECT id, dup FROM public.changed ORDER BY id;
ALTER TABLE public.changed RENAME COLUMN fp TO fingerprint;
ALTER TABLE public.changed RENAME COLUMN id TO key;
INSERT INTO public.changed (key, fingerprint) VALUES (8, :a) RETURNING dup;
ALTER TABLE public.changed RENAME COLUMN dup TO repeats;
INSERT INTO public.changed (key) VALUES (9);
DROP TABLE public.changed;

--
-- A schema that shadows the functions of the searches
--
CREATE SCHEMA shadow;
CREATE FUNCTION shadow.no(int, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'shadowed'; END $$;
CREATE FUNCTION shadow.no(simhash64, simhash64) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'shadowed'; END $$;
CREATE FUNCTION shadow.simhash_ball(simhash64, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'shadowed'; END $$;
CREATE FUNCTION shadow.simhash(text, int, text, text, text, bool) RETURNS simhash64 LANGUAGE plpgsql AS $$ BEGIN RAISE 'shadowed'; END $$;
CREATE FUNCTION shadow.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'shadowed'; END $$;
CREATE OPERATOR shadow.= (LEFTARG = int, RIGHTARG = int, FUNCTION = shadow.no);
CREATE OPERATOR shadow.< (LEFTARG = int, RIGHTARG = int, FUNCTION = shadow.no);
CREATE OPERATOR shadow.<= (LEFTARG = int, RIGHTARG = int, FUNCTION = shadow.no);
CREATE OPERATOR shadow.<~> (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = shadow.no);
CREATE TABLE shadow.gen_log (nothing int);
CREATE TABLE plain (id int PRIMARY KEY, body text, dup int);
CREATE INDEX ON plain USING hamming (body);
CREATE TRIGGER b_flag BEFORE INSERT OR UPDATE ON plain FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'max_distance => 3', 'key => id', 'lock => true');
CREATE TRIGGER c_log AFTER INSERT OR UPDATE ON plain FOR EACH ROW
  EXECUTE FUNCTION simdup_log_trigger('gen_log', 'max_distance => 3', 'key => id');
TRUNCATE gen_log;
SET search_path = shadow, pg_catalog, public;
INSERT INTO arrival.plain VALUES (1, 'a b c d'), (2, 'a b c d');
SET search_path = '';
INSERT INTO arrival.plain VALUES (3, 'a b c d');
SET search_path = arrival, public;
SELECT id, dup FROM plain ORDER BY id;
SELECT new_key, old_key, distance FROM gen_log ORDER BY line;

--
-- Rights: reject is a constraint and sees every row, but tells only those that
-- the user may see; flag and log search as the user
--
CREATE ROLE regress_simdup_clerk;
CREATE TABLE shared (id int PRIMARY KEY, who text DEFAULT current_user, fp simhash64, dup int);
CREATE INDEX ON shared USING hamming (fp);
CREATE TRIGGER reject BEFORE INSERT ON shared FOR EACH ROW
  EXECUTE FUNCTION simdup_reject_trigger('max_distance => 1', 'key => id');
GRANT USAGE ON SCHEMA arrival TO regress_simdup_clerk;
GRANT INSERT ON shared TO regress_simdup_clerk;
INSERT INTO shared VALUES (1, DEFAULT, :a);
SET ROLE regress_simdup_clerk;
INSERT INTO shared VALUES (2, DEFAULT, :a);
RESET ROLE;
GRANT SELECT (id) ON shared TO regress_simdup_clerk;
SET ROLE regress_simdup_clerk;
INSERT INTO shared VALUES (2, DEFAULT, :a);
RESET ROLE;
GRANT SELECT ON shared TO regress_simdup_clerk;
ALTER TABLE shared ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shared USING (who = current_user);
CREATE TRIGGER flag BEFORE INSERT ON shared FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'key => id');
SET ROLE regress_simdup_clerk;
INSERT INTO shared VALUES (2, DEFAULT, :a);
INSERT INTO shared VALUES (3, DEFAULT, near(:a, 1, 2)), (4, DEFAULT, near(:a, 3, 4));
SELECT id, dup FROM shared ORDER BY id;
SELECT simdup_lock_arrivals('shared');
SELECT simdup_lock_arrivals('gen');
RESET ROLE;
SELECT simdup_lock_arrivals('shared');
-- no arrival asks for the lock; those of a partition, for that of the table with the trigger
SELECT simdup_lock_arrivals('logged');
BEGIN;
SELECT simdup_lock_arrivals('part_n');
SELECT classid::regclass, mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
COMMIT;
SELECT simdup_lock_arrivals(0);
DROP TABLE shared;
REVOKE USAGE ON SCHEMA arrival FROM regress_simdup_clerk;
DROP ROLE regress_simdup_clerk;

-- replication applies without the triggers, unless told otherwise
SET session_replication_role = replica;
INSERT INTO rejecting VALUES (50, :a);
ALTER TABLE rejecting ENABLE ALWAYS TRIGGER "No twins";
INSERT INTO rejecting VALUES (51, :a);
RESET session_replication_role;

--
-- Written wrong: the fault, and how to write it
--
CREATE TABLE wrong (id int NOT NULL UNIQUE, big bigint GENERATED ALWAYS AS IDENTITY UNIQUE, body text, fp simhash64, flag int, js json,
                    short varchar(3), long varchar(10) NOT NULL UNIQUE DEFAULT left(md5(random()::text), 10),
                    idgen int NOT NULL GENERATED ALWAYS AS (id + 1) STORED UNIQUE);
CREATE TABLE wrong_log (new_key int, old_key int, distance int);
CREATE INDEX wrong_fp ON wrong USING hamming (fp);
CREATE PROCEDURE try(timing text, call text) LANGUAGE plpgsql AS $$
DECLARE
  state text; message text; detail text; hint text;
BEGIN
  EXECUTE format('CREATE TRIGGER t %s EXECUTE FUNCTION %s', timing, call);
  INSERT INTO wrong (id, fp) VALUES (1, '0000000000000000'), (2, '0000000000000000');
  DROP TRIGGER t ON wrong;
  DELETE FROM wrong;
  RAISE WARNING '% works', call;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
    detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE WARNING E'% %\n  %\n  %', state, message, detail, hint;
END $$;
\set VERBOSITY terse
\set before '\'BEFORE INSERT ON wrong FOR EACH ROW\''
\set after '\'AFTER INSERT ON wrong FOR EACH ROW\''
SELECT simdup_flag_trigger();
CALL try('AFTER INSERT ON wrong FOR EACH ROW', $$simdup_flag_trigger('flag', 'key => id')$$);
CALL try('BEFORE INSERT ON wrong FOR EACH STATEMENT', $$simdup_flag_trigger('flag', 'key => id')$$);
CALL try('BEFORE INSERT ON wrong FOR EACH ROW', $$simdup_log_trigger('gen_log', 'key => id')$$);
CALL try('BEFORE INSERT ON wrong FOR EACH STATEMENT', $$simdup_log_trigger('gen_log', 'key => id')$$);
CALL try('AFTER INSERT ON wrong FOR EACH STATEMENT', $$simdup_log_trigger('gen_log', 'key => id')$$);
CALL try('AFTER INSERT ON wrong REFERENCING NEW TABLE AS n FOR EACH STATEMENT', $$simdup_log_trigger('gen_log', 'key => id')$$);
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON wrong DEFERRABLE FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('gen_log', 'key => id');
INSERT INTO wrong VALUES (1);
DROP TRIGGER t ON wrong;
CALL try('AFTER INSERT ON wrong FOR EACH STATEMENT', $$simdup_reject_trigger('key => id')$$);
CALL try(:before, $$simdup_flag_trigger()$$);
CALL try(:before, $$simdup_flag_trigger('flag')$$);
CALL try(:before, $$simdup_flag_trigger('nope', 'key => id')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => nope')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => ctid')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => big')$$);
CALL try(:before, $$simdup_flag_trigger('id', 'key => id')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => js')$$);
CALL try(:before, $$simdup_flag_trigger('short', 'key => long')$$);
CALL try(:before, $$simdup_flag_trigger('idgen', 'key => id')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => idgen')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'lock')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'lock => perhaps')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'luck => true')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'within => id')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'max_distance=3')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key := id')$$);
CALL try(:before, $$simdup_flag_trigger('flag', E' key\t=>id ', E'max_distance=>\n3', 'columns  =>  body')$$);
CALL try(:before, $$simdup_reject_trigger('key => id', 'lock => true')$$);
CALL try(:before, $$simdup_reject_trigger()$$);
CALL try(:before, $$simdup_reject_trigger('key => ')$$);
CALL try(:before, $$simdup_reject_trigger('key => id, nope')$$);
CALL try(:before, $$simdup_reject_trigger('key => id, "')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id, big')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'columns => nope')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'columns => body, ')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'key => id', 'index => wrong_fp, wrong_pkey')$$);
CALL try(:before, $$simdup_flag_trigger('flag', 'max_distance => 8', 'key => id', 'max_distance => 3')$$);
CALL try(:before, $$simdup_reject_trigger('key => id', ' key=>id')$$);
SELECT format('CALL try(%L, %L)', 'BEFORE INSERT ON wrong FOR EACH ROW', format('simdup_flag_trigger(%L, %L, %L)', 'flag', 'key => id', 'max_distance => ' || k))
  FROM unnest(ARRAY['-1', '65', 'three', '', '99999999999999999999', '+3', ' 3', '3 ', '0x3', '1e1', '03']) k \gexec
CALL try(:after, $$simdup_log_trigger()$$);
CALL try(:after, $$simdup_log_trigger('no_log', 'key => id')$$);
CALL try(:after, $$simdup_log_trigger('wrong_log', 'key => id')$$);
-- also where no row is near; a value that an INSERT converts fits
CREATE TRIGGER t AFTER INSERT ON wrong FOR EACH ROW EXECUTE FUNCTION simdup_log_trigger('wrong_log', 'key => id');
INSERT INTO wrong (id, fp) VALUES (1, '0000000000000000');
ALTER TABLE wrong_log ADD COLUMN logged_at date, ALTER new_key TYPE text, ALTER old_key TYPE uuid USING NULL;
INSERT INTO wrong (id, fp) VALUES (1, '0000000000000000');
DROP TRIGGER t ON wrong;
CALL try(:after, $$simdup_log_trigger('wrong_log', 'key => id')$$);
ALTER TABLE wrong_log ALTER old_key TYPE bigint USING NULL;
CALL try(:after, $$simdup_log_trigger('wrong_log', 'key => id')$$);
SELECT DISTINCT new_key, old_key, distance FROM wrong_log;
CALL try(:after, $$simdup_log_trigger('a.b.c.d', 'key => id')$$);
CREATE TRIGGER t BEFORE DELETE ON wrong FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('key => id');
INSERT INTO wrong VALUES (1);
DELETE FROM wrong;
DROP TRIGGER t ON wrong;
\set VERBOSITY default

-- equal rows, with keys in no order: a statement reads each once. A naive trigger reads all
-- rows and writes the same flag, also where rows change or go while the statement runs.
CREATE TABLE equals (id int PRIMARY KEY, fp simhash64, note int, dup int, expected int, written int);
CREATE INDEX ON equals USING hamming (fp);
CREATE FUNCTION differ(new_row equals, near_row equals) RETURNS boolean LANGUAGE sql
  RETURN new_row.note IS DISTINCT FROM 7 OR near_row.id % 3 = 0;
CREATE FUNCTION expect() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  near equals;
  next int;
BEGIN
  IF TG_OP = 'UPDATE' AND (OLD.fp, OLD.note) IS NOT DISTINCT FROM (NEW.fp, NEW.note) THEN
    RETURN NEW;
  END IF;
  NEW.written = NEW.written + 1;
  NEW.expected = NULL;
  FOR near IN SELECT * FROM equals WHERE fp <~> NEW.fp <= 8 AND id <> NEW.id ORDER BY fp <~> NEW.fp, id LOOP
    next = near.dup;
    WHILE next <> NEW.id LOOP
      SELECT dup INTO next FROM equals WHERE id = next;
    END LOOP;
    IF next IS NULL AND differ(NEW, near) THEN
      NEW.expected = near.id;
      EXIT;
    END IF;
  END LOOP;
  RETURN NEW;
END $$;
CREATE TRIGGER expect BEFORE INSERT OR UPDATE ON equals FOR EACH ROW EXECUTE FUNCTION expect();
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON equals FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('dup', 'condition => differ', 'columns => note', 'key => id');
SELECT setseed(.5);
INSERT INTO equals SELECT i * 7919 % 2003, near(:a, i % 2), 0, NULL, NULL, 0 FROM generate_series(1, 900) i;
BEGIN;
DELETE FROM equals WHERE random() < .2;
SAVEPOINT s;
INSERT INTO equals SELECT i * 7919 % 2003, near(:a, i % 2), 0, NULL, NULL, 0 FROM generate_series(901, 1100) i;
DELETE FROM equals WHERE id IN (SELECT id FROM equals ORDER BY id LIMIT 50);
INSERT INTO equals SELECT i * 7919 % 2003, near(:a, i % 2), i % 8, NULL, NULL, 0 FROM generate_series(1101, 1200) i;
ROLLBACK TO s;
UPDATE equals SET note = 7 WHERE random() < .1;
INSERT INTO equals SELECT i * 7919 % 2003, near(:a, i % 2), i % 8, NULL, NULL, 0 FROM generate_series(801, 1300) i
  ON CONFLICT (id) DO UPDATE SET note = EXCLUDED.note, fp = near(EXCLUDED.fp, 2);
COMMIT;
UPDATE equals SET note = note + 1 WHERE id < 300;
CREATE FUNCTION drop_least(i int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM equals WHERE id = (SELECT min(id) FROM equals WHERE fp = '00ff00ff00ff00fe') AND i % 3 = 0;
  RETURN i;
END $$;
INSERT INTO equals SELECT drop_least(i), near(:a, i % 2), 0, NULL, NULL, 0 FROM generate_series(3001, 3100) i;
SELECT count(*), count(dup), sum(written), count(*) FILTER (WHERE dup IS DISTINCT FROM expected) AS wrong FROM equals;
DROP TRIGGER expect ON equals;
DROP TRIGGER flag ON equals;
CREATE TRIGGER flag BEFORE INSERT ON equals FOR EACH ROW EXECUTE FUNCTION simdup_flag_trigger('dup');
BEGIN;
INSERT INTO equals SELECT 6000 + i * 7919 % 4001, near(:a, 30) FROM generate_series(1, 4000) i;
SELECT pg_stat_get_xact_blocks_fetched('equals'::regclass) < 1000000 AS each_once;
ROLLBACK;

SET client_min_messages = error;
DROP SCHEMA arrival, shadow CASCADE;
