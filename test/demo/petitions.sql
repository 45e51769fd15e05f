-- The project's own petitions: a table as a city government may have it.

\echo
\echo 'simdup: near-duplicates among 269 petitions to an invented city (test/data/petitions.csv)'
\echo
\set ECHO queries
CREATE TABLE petition (id bigint PRIMARY KEY, title text, district text, category text,
  received_at timestamp, content text);
\set ECHO none
\copy petition (id, title, district, category, received_at, content) FROM 'test/data/petitions.csv' WITH (FORMAT csv, HEADER)
\echo

CREATE TABLE truth (a bigint, b bigint, kind text, PRIMARY KEY (a, b));
\copy truth FROM 'test/data/truth.csv' WITH (FORMAT csv, HEADER)
