#!/bin/bash
# DuckDB 1.5.6 (npm: @duckdb/node-api 1.5.6-r.1) compares words by levenshtein, damerau_levenshtein and hamming.
# Guess: one character for another is 1, as duckdb_functions() speaks of single-character edits. Seen: 3 for 中 and 国, whose
# bytes are counted. A limit on the distance then means another one in each script.
. "$(dirname "$0")/private_folder"
packages @duckdb/node-api@1.5.6-r.1
cat >t.mjs <<'J'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const query = `SELECT levenshtein('lamp', 'lamb')::text, levenshtein('中', '国')::text,
  damerau_levenshtein('中', '国')::text, hamming('中', '国')::text`;
console.log((await connection.runAndReadAll(query)).getRows()[0].join(' '));
J
node t.mjs >out
seen '1 3 3 3' out
