#!/bin/bash
# PL/R 8.4.5 (Debian 12: postgresql-15-plr) has a function that returns its bigint argument, as one may with a fingerprint.
# Guess: the number comes back, or an error says that R's numbers have 53 bits. Seen: the last bits are other ones.
. "$(dirname "$0")/private_server"
debian postgresql-15-plr
psql -qX -c 'CREATE EXTENSION plr' -c "CREATE FUNCTION same(bits bigint) RETURNS bigint LANGUAGE plr AS 'bits'"
psql -XAtc 'SELECT same(4611686018427387905), same(-6148914691236517206)' >out
seen '4611686018427387904|-6148914691236516864' out
