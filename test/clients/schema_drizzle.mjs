// The table of doc/simdup-applications.md for drizzle-kit.
import { sql } from 'drizzle-orm';
import { customType, index, integer, pgTable, text } from 'drizzle-orm/pg-core';

const simhash64 = customType({ dataType: () => 'simhash64' });
export const letter = pgTable('letter', {
  id: integer().generatedAlwaysAsIdentity().primaryKey(),
  content: text().notNull(),
  fp: simhash64().generatedAlwaysAs(sql`minhash64(content)`),
  repeats: integer(),
}, (table) => [index('letter_near').using('hamming', table.content)]);
