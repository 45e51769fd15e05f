// node-postgres: what an application does with fingerprints and texts. Prints TAP.
'use strict';
const fs = require('fs');
const { Client } = require('pg');

const LAMP = 'The lamp at the corner of Fish Street has been dark since May. I walk home there at night.';
const BUS = 'Bus 14 is late every single morning and people miss the train at the junction.';
let n = 0;

function check(got, expected, name) {
  const right = JSON.stringify(got) === JSON.stringify(expected);
  n++;
  console.log(`${right ? 'ok' : 'not ok'} ${n} - ${name}`);
  if (!right) console.log(`# got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
}

async function main() {
  const client = new Client();
  await client.connect();
  await client.query(fs.readFileSync(process.argv[2], 'utf8'));
  const rows = async (sql, values) => (await client.query({ text: sql, values, rowMode: 'array' })).rows;
  const state = async (sql, values) => client.query(sql, values).then(() => 'no error', (error) => error.code);

  // arrays
  const types = await client.query("SELECT typarray FROM pg_type WHERE oid = 'simhash64'::regtype");
  client.setTypeParser(types.rows[0].typarray, client.getTypeParser(1009));
  // arrays: end

  await client.query('INSERT INTO letter (content) VALUES ($1)', [LAMP]);
  check(await rows('SELECT fp FROM letter'), [[process.argv[3]]], 'a fingerprint is a string');

  const fp = '00000000deadbeef';
  await client.query('INSERT INTO photo VALUES ($1, $2)', [20001, fp]);
  await client.query('INSERT INTO photo VALUES ($1, $2::bytea::simhash64)', [20002, Buffer.from(fp, 'hex')]);
  await client.query('INSERT INTO photo VALUES ($1, $2::bigint::simhash64)', [20003, 0xdeadbeef]);
  check(await rows('SELECT count(*)::integer FROM photo WHERE fp = $1', [fp]), [[3]],
    'inserted as text, in binary and as a number');

  // search
  const search = 'SELECT id FROM photo WHERE simhash_within(fp, $1, 3) ORDER BY id';
  const found = await client.query(search, [fp]);
  // search: end
  check(found.rows.map((row) => row.id), [20001, 20002, 20003], 'search by text');
  const binary = await rows('SELECT fp::bytea FROM photo WHERE simhash_within(fp, $1::bytea::simhash64, 3) ORDER BY id',
    [Buffer.from(fp, 'hex')]);
  check(binary.map((row) => row[0].toString('hex')), [fp, fp, fp], 'search in binary');

  // prepared
  let last;
  for (let i = 0; i < 8; i++) last = await client.query({ name: 'near', text: search, values: [fp] });
  // prepared: end
  const plan = await rows(`EXPLAIN EXECUTE near ('${fp}')`);
  check([last.rows.length, /photo_fp/.test(plan)], [3, true], 'prepared, eight times: the index is used');

  check(await rows('SELECT array_agg(fp) FROM photo WHERE fp = ANY ($1)', [[fp, 'f'.repeat(16)]]),
    [[[fp, fp, fp]]], 'arrays both ways');

  const nearest = await rows('SELECT id FROM photo ORDER BY fp <~> $1, id LIMIT 10', [fp]);
  check([nearest.length, nearest.slice(0, 3)], [10, [[20001], [20002], [20003]]], 'the nearest ten');

  await client.query('INSERT INTO report VALUES (1, $1)', [LAMP]);
  // refused
  try {
    await client.query('INSERT INTO report VALUES (2, $1)', [LAMP + '!']);
  } catch (error) {
    check(error.code, '23P01', 'reject is caught');
  }
  // refused: end
  check(await state('INSERT INTO letter (content) VALUES ($1)', [LAMP + '!']), '23P01', 'EXCLUDE is caught');

  const result = await client.query('INSERT INTO letter (content) VALUES ($1) ON CONFLICT DO NOTHING', [LAMP + '!']);
  check(result.rowCount, 0, 'ON CONFLICT DO NOTHING');

  const store = `INSERT INTO note (content) VALUES ($1)
    ON CONFLICT (kept) DO UPDATE SET seen = note.seen + 1 RETURNING id, seen = 1 AS is_new`;
  const old = await rows(store, [LAMP + '?']);
  const fresh = await rows(store, [BUS]);
  check([old, fresh.length, fresh[0][1]], [[['1', false]], 1, true], 'store it unless it is there');

  const similar = await rows(`
    SELECT id, share, distance
    FROM (SELECT id, content, fp <~> minhash64($1) AS distance
          FROM letter ORDER BY fp <~> minhash64($1) LIMIT 200) AS near,
         shingle_containment($1, content, 4, 'char') AS share
    WHERE share >= 0.3 ORDER BY share DESC, distance, id LIMIT 10`, [LAMP.slice(0, 45)]);
  check(similar.map((row) => row.slice(0, 2)), [[1, 1]], 'half a letter finds the letter');

  // numbers and strings go without a type
  const pairs = `SELECT a.id, b.id FROM photo AS a JOIN photo AS b ON a.id < b.id AND simhash_within(a.fp, b.fp, $1)
    WHERE a.id >= 20002`;
  const clusters = ['max_distance => $1', '$1::integer'].map((distance) =>
    `SELECT id, simdup_cluster(id, fp, ${distance}) OVER (ORDER BY id) FROM photo WHERE id >= 20002`);
  check([await rows(pairs, [3]), await rows(pairs, ['3'])], [[[20002, 20003]], [[20002, 20003]]], 'pairs by a join');
  const clustered = [];
  for (const statement of clusters) {
    for (const distance of [3, '3']) clustered.push(await rows(statement, [distance]));
  }
  check(clustered, Array(4).fill([[20002, 20002], [20003, 20002]]), 'clusters by a window function');
  await client.query('BEGIN');
  await client.query(`DECLARE pairs CURSOR FOR ${pairs.replace('$1', '3')}`);
  check([await rows('FETCH 1 FROM pairs'), await rows('FETCH 1 FROM pairs')], [[[20002, 20003]], []], 'pairs as a stream');
  await client.query('COMMIT');
  await client.query("SELECT simdup_group('photo_case', $1, $2, $3, $4)", ['late_photo', 3, 'leader', null]);
  check(await rows("SELECT key, id::integer FROM simdup_regroup('photo_case')"), [['20002', 1], ['20003', 1]], 'a grouping by position');
  console.log(`1..${n}`);
  await client.end();
}

main().catch((error) => {
  console.log(`Bail out! ${error.stack}`);
  process.exit(1);
});
