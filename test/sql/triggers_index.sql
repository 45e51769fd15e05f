--
-- triggers_index: an index that would leave a trigger without one answer is refused when
-- it is created, not at the next row.
--
SET client_min_messages = warning;
CREATE SCHEMA arrival_index;
SET search_path = arrival_index;
CREATE TABLE letter (id int PRIMARY KEY, subject text, content text, repeats int);
CREATE INDEX "Letter near" ON letter USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON letter FOR EACH ROW EXECUTE FUNCTION public.simdup_flag_trigger('repeats');
CREATE INDEX letter_subject ON letter USING hamming (public.minhash64(subject, 2));
CREATE INDEX ON letter USING hamming (content) WHERE id > 0;
ALTER TABLE letter ADD EXCLUDE USING hamming (public.simhash_ball(public.minhash64(content), 3) WITH OPERATOR(public.~=));
-- late, with an invalid index that stays
CREATE INDEX CONCURRENTLY letter_subject ON letter USING hamming (public.minhash64(subject, 2));
INSERT INTO letter VALUES (1, 'Shade', 'The playground behind the school has no shade.');
DROP INDEX arrival_index.letter_subject; CREATE OR REPLACE TRIGGER flag BEFORE INSERT OR UPDATE ON arrival_index.letter FOR EACH ROW EXECUTE FUNCTION public.simdup_flag_trigger('repeats', 'index => "Letter near"');
CREATE INDEX CONCURRENTLY letter_subject ON letter USING hamming (public.minhash64(subject, 2));
INSERT INTO letter VALUES (2, 'Shade', 'The playground behind the school has no shade!') RETURNING repeats;
DROP INDEX letter_subject;
-- a constraint trigger without arguments
CREATE CONSTRAINT TRIGGER reject AFTER INSERT ON letter DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.simdup_reject_trigger();
CREATE INDEX letter_subject ON letter USING hamming (public.minhash64(subject, 2));
-- equal ones, also in place of the first; a trigger that is disabled
CREATE INDEX letter_again ON letter USING hamming (content);
CREATE INDEX CONCURRENTLY letter_once_more ON letter USING hamming (content);
ALTER TABLE letter DISABLE TRIGGER reject;
CREATE INDEX letter_subject ON letter USING hamming (public.minhash64(subject, 2));
-- an index made before the trigger is an error at the first row; none is refused again
ALTER TABLE letter ENABLE TRIGGER reject;
REINDEX TABLE letter;
REINDEX TABLE CONCURRENTLY letter;
REINDEX INDEX CONCURRENTLY letter_subject;
VACUUM FULL letter;
CLUSTER letter USING letter_pkey;
TRUNCATE letter;
INSERT INTO letter VALUES (1, 'Shade', 'The playground behind the school has no shade.');
-- a trigger that fires always
ALTER TABLE letter ENABLE ALWAYS TRIGGER reject;
DROP INDEX letter_subject;
CREATE INDEX letter_subject ON letter USING hamming (public.minhash64(subject, 2));
-- an exclusion constraint of the same fingerprints stores the same
CREATE TABLE exact (id int PRIMARY KEY, fp public.simhash64, repeats int);
CREATE INDEX exact_near ON exact USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT ON exact FOR EACH ROW EXECUTE FUNCTION public.simdup_flag_trigger('repeats');
ALTER TABLE exact ADD EXCLUDE USING hamming (fp WITH OPERATOR(public.=));
INSERT INTO exact VALUES (1, '00000000000000ff');
DROP INDEX exact_near;
CREATE TABLE exact_child (LIKE exact INCLUDING ALL) INHERITS (exact);
INSERT INTO exact VALUES (2, '00000000000000fe') RETURNING repeats;
-- an index of a child that differs
ALTER TABLE exact_child DROP CONSTRAINT exact_child_fp_excl;
CREATE INDEX exact_child_some ON exact_child USING hamming (fp) WHERE id > 0;
INSERT INTO exact VALUES (3, '00000000000000fd') RETURNING repeats;

-- a partitioned table: at its parent, with and without partitions, and not for a new one
CREATE TABLE p (id int, region text, subject text, content text, repeats int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE INDEX p_near ON p USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON p FOR EACH ROW EXECUTE FUNCTION public.simdup_flag_trigger('repeats', 'key => id');
CREATE INDEX p_subject ON p USING hamming (public.minhash64(subject, 2));
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE INDEX p_subject ON p USING hamming (public.minhash64(subject, 2));
CREATE INDEX p_subject ON ONLY p USING hamming (public.minhash64(subject, 2));
-- the trigger does not search a partition's own index
CREATE INDEX ON p_a USING hamming (public.minhash64(subject, 2));
CREATE TABLE p_b (LIKE p INCLUDING ALL);
CREATE INDEX ON p_b USING hamming (public.minhash64(subject, 2));
ALTER TABLE p ATTACH PARTITION p_b FOR VALUES IN ('b');
INSERT INTO p VALUES (1, 'a', 'Shade', 'No shade.'), (2, 'b', 'Shade', 'No shade.');
-- but a trigger of the partition's own does
CREATE TABLE p_d (LIKE p);
CREATE INDEX p_d_subject ON p_d USING hamming (public.minhash64(subject, 2));
CREATE TRIGGER own BEFORE INSERT ON p_d FOR EACH ROW EXECUTE FUNCTION public.simdup_reject_trigger();
ALTER TABLE p ATTACH PARTITION p_d FOR VALUES IN ('d');
BEGIN;
ALTER TABLE p DISABLE TRIGGER flag;
CREATE INDEX p_subject ON p USING hamming (public.minhash64(subject, 2));
ALTER TABLE p ENABLE TRIGGER flag;
CREATE TABLE p_c PARTITION OF p FOR VALUES IN ('c');
ROLLBACK;
DROP SCHEMA arrival_index CASCADE;
