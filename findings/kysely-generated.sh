#!/bin/bash
# Kysely 0.29.9 introspects a generated column.
# Guess: hasDefaultValue is false. Seen: true, as for a column that takes a value.
. "$(dirname "$0")/private_server"
packages kysely@0.29.9 pg@8.23.1
cat >t.mjs <<'J'
import pg from 'pg';
import { Kysely, PostgresDialect } from 'kysely';
const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ max: 1 }) }) });
const t = (await db.introspection.getTables()).find((table) => table.name === 't');
for (const column of t.columns) console.log(column.name, column.hasDefaultValue);
await db.destroy();
J
node t.mjs >out
seen 'a false' out
seen 'b true' out
