#!/bin/bash
# pg_similarity 1.0 (Debian 12: postgresql-15-similarity) compares Russian words in a UTF-8 database of the locale C.UTF-8.
# Guess: jaccard of two that differ is 0, and of one with itself 1. Seen: both are NaN, as the alnum tokenizer finds no
# word. NaN is larger than all numbers, so that any two texts of such letters pass jaccard(a, b) >= 0.7.
LOCALE=C.UTF-8
. "$(dirname "$0")/private_server"
debian postgresql-15-similarity
psql -qX -c 'CREATE EXTENSION pg_similarity'
psql -XAtc "SELECT jaccard('лампа', 'лампа'), jaccard('лампа', 'мост'), jaccard('лампа', 'мост') >= 0.7" >out
seen 'NaN|NaN|t' out
