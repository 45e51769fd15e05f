#!/bin/bash
# sql-formatter 15.9.0 (npm), language postgresql, formats a query with an operator that somebody created.
# Guess: <~ stays one operator. Seen: a blank is put into it, and as ~ alone is an operator, too, the query has another answer.
. "$(dirname "$0")/private_server"
packages sql-formatter@15.9.0
psql -qX -c 'CREATE OPERATOR <~ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4larger)'
echo 'SELECT 1 <~ 2' >t.sql
npx --no-install sql-formatter --language postgresql t.sql >formatted.sql
seen '1 < ~ 2' formatted.sql
for file in t.sql formatted.sql; do psql -XAt -f "$file"; done | tr '\n' ' ' >out
seen '2 f' out
