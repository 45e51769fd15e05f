-- The project's own petitions: a table as a city government may have it, with
-- a fingerprint that PostgreSQL keeps in step with the text by itself.

\echo
\echo 'simdup: near-duplicates among the petitions to an invented city (test/data/petitions.csv)'
\echo
\echo '1. Every row gets a fingerprint'
\echo '-------------------------------'
\set ECHO queries
CREATE TABLE petition (
  id          bigint PRIMARY KEY,
  title       text,
  district    text,
  category    text,
  received_at timestamp,
  content     text,
  fp          simhash64 GENERATED ALWAYS AS (simhash(content)) STORED
);
\set ECHO none
\echo
\echo 'Loading the petitions, every fingerprint with them:'
\timing on
\copy petition (id, title, district, category, received_at, content) FROM 'test/data/petitions.csv' WITH (FORMAT csv, HEADER)
\timing off
\echo

CREATE TABLE truth (a bigint, b bigint, kind text, PRIMARY KEY (a, b));
\copy truth FROM 'test/data/truth.csv' WITH (FORMAT csv, HEADER)
