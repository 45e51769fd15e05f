-- letters.sql: what every client program begins with, in a database of its own.
CREATE EXTENSION simdup;
CREATE TABLE letter (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content text NOT NULL,
  fp      simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED,
  CONSTRAINT no_copy EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=)
);
CREATE INDEX letter_fp ON letter USING hamming (fp);
CREATE TABLE note (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text NOT NULL,
  seen integer NOT NULL DEFAULT 1, repeats bigint,
  kept bigint NOT NULL GENERATED ALWAYS AS (coalesce(repeats, id)) STORED UNIQUE);
CREATE INDEX note_near ON note USING hamming (content);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON note FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('repeats', 'key => kept', 'lock => true');
INSERT INTO note (content)
  VALUES ('The lamp at the corner of Fish Street has been dark since May. I walk home there at night.');
CREATE TABLE photo (id integer PRIMARY KEY, fp simhash64);
INSERT INTO photo SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 20000) AS i;
CREATE INDEX photo_fp ON photo USING hamming (fp);
CREATE VIEW late_photo AS SELECT id AS key, fp FROM photo WHERE id >= 20002;
CREATE TABLE report (id integer PRIMARY KEY, content text,
  fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED);
CREATE INDEX report_fp ON report USING hamming (fp);
CREATE TRIGGER reject AFTER INSERT OR UPDATE ON report
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
ANALYZE;
