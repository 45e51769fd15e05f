// Node: what doc/simdup-applications.md shows. Prints TAP.
import assert from 'node:assert';
import pg from 'pg';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { letter } from './schema_drizzle.mjs';

let n = 0;
const check = (got, expected, name) => {
  assert.deepStrictEqual(got, expected, name);
  console.log(`ok ${++n} - ${name}`);
};

const client = new pg.Client();
await client.connect();
const words = 'The lamp at the corner of Fish Street has been dark since May, sir.';
let refused;
// pg
const added = await client.query('INSERT INTO letter (content) VALUES ($1) RETURNING id, repeats', [words]);
const found = await client.query(`SELECT id, content <~~> $1 AS distance FROM letter
  WHERE content <~@ simhash_ball(minhash64($1), $2::integer) ORDER BY distance LIMIT 10`, [words, 8]);
try {
  await client.query('INSERT INTO letter (content) VALUES ($1)', [words.toUpperCase()]);
} catch (error) {
  if (error.code !== '23P01') throw error;
  refused = error.constraint;
}
// pg: end
check(added.rows, [{ id: 2, repeats: 1 }], 'the flag by RETURNING');
check(found.rows, [{ id: 2, distance: 0 }, { id: 1, distance: 2 }], 'search with a bound text, the distance is an integer');
check(refused, 'no_copy', '23P01 is caught');

await client.query('DELETE FROM letter WHERE id = 2');
const db = drizzle(client);
// drizzle
const flags = await db.insert(letter).values({ content: words }).returning({ repeats: letter.repeats });
const alike = await db.select().from(letter).where(sql`simdup_resembles(${letter.content}, ${words}, 0.7)`);
// drizzle: end
check([flags, alike.length], [[{ repeats: 1 }], 2], 'Drizzle: the flag and the search');
console.log(`1..${n}`);
await client.end();
