#!/bin/bash
# DBD::Pg 3.16.0 (Debian 12: libdbd-pg-perl) tells the columns of a primary key that INCLUDEs another column.
# Guess: primary_key is id alone, as the key is unique by it. Seen: id and a. DBIx::Class::Schema::Loader asks it, too.
. "$(dirname "$0")/private_server"
debian libdbd-pg-perl
psql -qX -c 'CREATE TABLE u (id integer, a text, PRIMARY KEY (id) INCLUDE (a))'
perl -MDBI -e 'print join(" ", DBI->connect("dbi:Pg:")->primary_key(undef, "public", "u")), "\n"' >out
seen 'id a' out
