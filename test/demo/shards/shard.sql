-- One of three shards: its table, index and trigger.
CREATE EXTENSION simdup;
CREATE TABLE petition (id bigint PRIMARY KEY, content text,
  fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED, duplicate bigint);
CREATE INDEX petition_fp ON petition USING hamming (fp);
CREATE TRIGGER flag BEFORE INSERT OR UPDATE ON petition FOR EACH ROW
  EXECUTE FUNCTION simdup_flag_trigger('duplicate', 'key => id');
