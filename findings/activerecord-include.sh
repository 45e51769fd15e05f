#!/bin/bash
# Active Record 6.1.7.10 (Debian 12: ruby-activerecord) writes schema.rb of a table with indexes that INCLUDE a column.
# Guess: the dump leaves the included column out. Seen: it is a second key column, ["a", "c"], so that a unique index would
# be another rule. The index on lower(a) is dumped as "lower(a)) INCLUDE (c".
. "$(dirname "$0")/private_server"
debian ruby-activerecord ruby-pg
psql -qX -c 'CREATE TABLE u (id integer PRIMARY KEY, a text, c text)' \
  -c 'CREATE UNIQUE INDEX u_a ON u (a) INCLUDE (c)' -c 'CREATE INDEX u_lower ON u (lower(a)) INCLUDE (c)'
cat >t.rb <<'R'
require 'active_record'
ActiveRecord::Base.establish_connection adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'],
                                        username: 'postgres', database: 'postgres'
ActiveRecord::SchemaDumper.dump
R
ruby t.rb >out
seen 't.index ["a", "c"], name: "u_a", unique: true' out
seen 't.index "lower(a)) INCLUDE (c", name: "u_lower"' out
