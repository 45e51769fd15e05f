#!/bin/bash
# drizzle-kit 0.31.11 pulls an index on (a DESC NULLS LAST), then generates SQL from the pulled schema.
# Guess: the order comes back. Seen: schema.ts has .desc().nullsLast().op("text_ops"), the SQL only "a" text_ops.
. "$(dirname "$0")/private_server"
packages drizzle-kit@0.31.11 drizzle-orm@0.45.4 pg@8.23.1
kit() { npx --no-install drizzle-kit "$@" >kit.log 2>&1 || { cat kit.log; exit 1; }; }
kit pull --dialect=postgresql --url="postgres://postgres@127.0.0.1:$PGPORT/postgres" --out=pulled
seen 'table.a.desc().nullsLast().op("text_ops")' pulled/schema.ts
kit generate --dialect=postgresql --schema=pulled/schema.ts --out=made
cat made/*.sql >made.sql
seen 'CREATE INDEX "t_desc" ON "t" USING btree ("a" text_ops);' made.sql
