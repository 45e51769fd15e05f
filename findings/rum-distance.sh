#!/bin/bash
# RUM 1.3.13 (Debian 12: postgresql-15-rum) orders arrays by <=>, for example the shingles of texts, nearest first.
# Guess: equal arrays have the distance 0. Seen: they have 1, and those without a common element Infinity. Two empty ones
# have 0: they are nearer to each other than any array to itself.
. "$(dirname "$0")/private_server"
debian postgresql-15-rum
psql -qX -c 'CREATE EXTENSION rum'
psql -XAtc "SELECT ARRAY[1, 2] <=> ARRAY[1, 2], ARRAY[1, 2] <=> ARRAY[3], '{}'::integer[] <=> '{}'" >out
seen '1|Infinity|0' out
