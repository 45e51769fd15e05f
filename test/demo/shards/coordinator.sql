-- The coordinator of three shards: one table over all of them, and rows for it.
CREATE EXTENSION simdup;
CREATE EXTENSION postgres_fdw;
CREATE SERVER shard1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard1', dbname 'city',
  extensions 'simdup', async_capable 'true', use_remote_estimate 'true');
CREATE SERVER shard2 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard2', dbname 'city',
  extensions 'simdup', async_capable 'true', use_remote_estimate 'true');
CREATE SERVER shard3 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard3', dbname 'city',
  extensions 'simdup', async_capable 'true', use_remote_estimate 'true');
CREATE USER MAPPING FOR PUBLIC SERVER shard1 OPTIONS (user 'city', password 'secret');
CREATE USER MAPPING FOR PUBLIC SERVER shard2 OPTIONS (user 'city', password 'secret');
CREATE USER MAPPING FOR PUBLIC SERVER shard3 OPTIONS (user 'city', password 'secret');

CREATE TABLE petition (id bigint NOT NULL, content text,
  fp simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED, duplicate bigint) PARTITION BY HASH (id);
CREATE FOREIGN TABLE petition_1 PARTITION OF petition FOR VALUES WITH (MODULUS 3, REMAINDER 0)
  SERVER shard1 OPTIONS (table_name 'petition');
CREATE FOREIGN TABLE petition_2 PARTITION OF petition FOR VALUES WITH (MODULUS 3, REMAINDER 1)
  SERVER shard2 OPTIONS (table_name 'petition');
CREATE FOREIGN TABLE petition_3 PARTITION OF petition FOR VALUES WITH (MODULUS 3, REMAINDER 2)
  SERVER shard3 OPTIONS (table_name 'petition');

INSERT INTO petition (id, content) VALUES
  (1, 'The playground behind the school has no shade, and in summer the slides are too hot to touch.'),
  (2, 'Bus 14 is late every single morning, and people miss the train at the junction.'),
  (3, 'The playground behind the school has no shade! In summer the slides are too hot to touch.'),
  (4, 'Bus 14 is late every single morning, so people miss their train at the junction.');
SELECT id, tableoid::regclass AS stored_in, duplicate FROM petition ORDER BY id;
