// Schema tools: the rows of the table in doc/simdup-applications.md. Each introspects or
// generates the page's table, or makes one of its own. Prints TAP.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import pg from 'pg';
import { Kysely, PostgresDialect, sql } from 'kysely';
import knex from 'knex';
import { DataTypes, Sequelize } from 'sequelize';

const { DataSource, EntitySchema } = createRequire(import.meta.url)('typeorm');
let n = 0;
const check = (right, name) => console.log(`${right ? 'ok' : 'not ok'} ${++n} - ${name}`);
const client = new pg.Client();
await client.connect();
const env = process.env;
const url = `postgres://${env.PGUSER}@127.0.0.1:${env.PGPORT}/${env.PGDATABASE}`;
const index = async (name) =>
  (await client.query('SELECT coalesce(pg_get_indexdef(to_regclass($1)), $2) AS def', [name, 'none'])).rows[0].def;

// drizzle-kit: pull, then generate
const drizzle = (...args) => {
  try {
    return execFileSync('node', ['node_modules/drizzle-kit/bin.cjs', ...args], { stdio: 'pipe' }).toString();
  } catch (error) {
    return `${error.stdout}${error.stderr}`;
  }
};
drizzle('pull', '--dialect=postgresql', `--url=${url}`, '--out=pulled');
const pulled = readFileSync('pulled/schema.ts', 'utf8');
check(/unknown\("fp"\)/.test(pulled) && /using\("hamming"/.test(pulled) && !/no_copy/.test(pulled),
  'drizzle-kit pull: the type is unknown, the index is kept, the constraint is not seen');
drizzle('generate', '--dialect=postgresql', '--schema=schema_drizzle.mjs', '--out=generated');
const file = readdirSync('generated').find((name) => name.endsWith('.sql'));
const made = readFileSync(`generated/${file}`, 'utf8');
check(/"fp" "?simhash64"? GENERATED ALWAYS AS \(minhash64\(content\)\) STORED/.test(made) && /USING hamming \("content"\)/.test(made),
  'drizzle-kit generate: customType, the index and the generated column');

// Knex
const k = knex({ client: 'pg', connection: url });
await k.schema.createTable('knex_letter', (t) => {
  t.increments('id');
  t.text('content');
  t.specificType('fp', 'simhash64 GENERATED ALWAYS AS (minhash64(content)) STORED');
  t.index('content', 'knex_near', 'hamming');
});
check(/USING hamming/.test(await index('knex_near')), "Knex: t.index('content', name, 'hamming')");
await k.schema.alterTable('knex_letter', (t) => t.index('content', 'knex_typed', { indexType: 'hamming' }));
check(!/USING hamming/.test(await index('knex_typed')), '... where {indexType} makes a btree');
await k.destroy();

// Kysely
const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ max: 1 }) }) });
await db.schema.createTable('kysely_letter').addColumn('content', 'text')
  .addColumn('fp', sql`simhash64`, (c) => c.generatedAlwaysAs(sql`minhash64(content)`).stored()).execute();
await db.schema.createIndex('kysely_near').on('kysely_letter').using('hamming').column('content').execute();
await db.insertInto('kysely_letter').values({ content: 'The lamp is dark.' }).execute();
const { distance } = await db.selectFrom('kysely_letter').select(sql`content <~~> ${'The lamp is dark!'}`.as('distance'))
  .executeTakeFirst();
check(distance === 0 && /USING hamming/.test(await index('kysely_near')), 'Kysely: the column, the index and the distance');
await db.destroy();

// Sequelize
const s = new Sequelize(url, { dialect: 'postgres', logging: false });
const Note = s.define('sequelize_letter', { content: DataTypes.TEXT, fp: 'simhash64' },
  { freezeTableName: true, timestamps: false, indexes: [{ name: 'sequelize_near', using: 'hamming', fields: ['content'] }] });
await Note.sync();
check(/USING hamming/.test(await index('sequelize_near')), "Sequelize: indexes: [{using: 'hamming'}]");
await s.close();

// TypeORM
const excluded = { insert: false, update: false };
const source = async (push, flag = excluded, fingerprint = excluded) => {
  const data = new DataSource({ type: 'postgres', url, schema: 'public', synchronize: false, entities: [new EntitySchema({
    name: 'typeorm_letter',
    columns: { id: { type: 'integer', primary: true, generated: 'increment' }, content: { type: 'text' },
      fp: { type: 'simhash64', nullable: true, generatedType: 'STORED', asExpression: 'minhash64(content)', ...fingerprint },
      repeats: { type: 'integer', nullable: true, ...flag } } })] });
  if (push) data.driver.supportedDataTypes.push('simhash64');
  return data.initialize().catch((error) => error);
};
check((await source(false)).name === 'DataTypeNotSupportedError', 'TypeORM refuses the type');
const data = await source(true);
await data.synchronize();
await client.query('CREATE INDEX typeorm_near ON typeorm_letter USING hamming (content)');
const saved = await data.getRepository('typeorm_letter').save({ content: 'The lamp is dark.' });
await client.query('UPDATE typeorm_letter SET repeats = 7');
await data.getRepository('typeorm_letter').save({ ...saved, content: 'The lamp is out.', repeats: null });
check((await client.query('SELECT repeats FROM typeorm_letter')).rows[0].repeats === 7, '... a flag with update: false stays');
const open = await source(true, {}, {});
const refused = await open.getRepository('typeorm_letter').save({ ...saved, fp: '0000000000000000' }).catch((error) => error);
check(refused.code === '428C9', '... and without it, a fingerprint that is not the row\'s is refused');
await open.getRepository('typeorm_letter').save({ id: saved.id, content: 'The lamp is out.', repeats: null });
check((await client.query('SELECT repeats FROM typeorm_letter')).rows[0].repeats === null, '... and a flag is erased');
await open.destroy();
await data.synchronize();
check(await index('typeorm_near') === 'none', '... and synchronize drops an index that is not declared');
await data.destroy();
console.log(`1..${n}`);
await client.end();
