#!/bin/bash
# Sequelize 6.37.8 runs sync({ alter: true }) three times on a model that does not change.
# Guess: the second run alters nothing. Seen: the unique column gets one more constraint, and index, each time.
. "$(dirname "$0")/server.sh"
packages sequelize@6.37.8 pg@8.23.1
cat >t.cjs <<'J'
const { Sequelize, DataTypes } = require('sequelize');
(async () => {
  const url = `postgres://postgres@127.0.0.1:${process.env.PGPORT}/postgres`;
  const s = new Sequelize(url, { dialect: 'postgres', logging: false });
  const n = s.define('n', { x: { type: DataTypes.TEXT, unique: true } }, { timestamps: false, freezeTableName: true });
  await n.sync();
  for (let i = 0; i < 3; i++) await n.sync({ alter: true });
  await s.close();
})();
J
node t.cjs
psql -XAtc "SELECT conname FROM pg_constraint WHERE conrelid = 'n'::regclass ORDER BY 1" >out
seen n_x_key out
seen n_x_key3 out
