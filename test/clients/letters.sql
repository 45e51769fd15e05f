-- letters.sql: what every client program begins with, in a database of its own.
CREATE EXTENSION simdup;
CREATE TABLE letter (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content text NOT NULL,
  fp      simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED,
  CONSTRAINT no_copy EXCLUDE USING hamming (simhash_ball(fp, 3) WITH ~=)
);
CREATE INDEX letter_fp ON letter USING hamming (fp);
CREATE FUNCTION insert_or_return(new_content text, OUT row_id integer, OUT is_new boolean)
LANGUAGE plpgsql AS $$
BEGIN
  LOOP
    SELECT id, false INTO row_id, is_new FROM letter
    WHERE simhash_within(fp, minhash64(new_content), 3)
    ORDER BY fp <~> minhash64(new_content), id LIMIT 1;
    EXIT WHEN FOUND;
    INSERT INTO letter (content) VALUES (new_content)
    ON CONFLICT DO NOTHING RETURNING id, true INTO row_id, is_new;
    EXIT WHEN FOUND;
  END LOOP;
END $$;
CREATE TABLE photo (id integer PRIMARY KEY, fp simhash64);
INSERT INTO photo SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 20000) AS i;
CREATE INDEX photo_fp ON photo USING hamming (fp);
CREATE TABLE report (id integer PRIMARY KEY, content text,
  fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED);
CREATE INDEX report_fp ON report USING hamming (fp);
CREATE TRIGGER reject AFTER INSERT OR UPDATE ON report
  FOR EACH ROW EXECUTE FUNCTION simdup_reject_trigger('max_distance => 3');
ANALYZE;
