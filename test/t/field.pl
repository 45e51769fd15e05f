# field: a generated column over fields of many types survives dump and restore,
# the extension in another schema, and other settings of the session that
# restores.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('field');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;

my $fingerprints = <<'SQL';
SELECT count(fp), md5(string_agg(concat(id, ' ', fp), ',' ORDER BY id)) FROM public.petition
SQL

# --- a table in one database

$node->safe_psql('postgres', 'CREATE DATABASE office');
$node->safe_psql('office', <<'SQL');
CREATE SCHEMA "Our Tools";
CREATE EXTENSION simdup SCHEMA "Our Tools";
SET search_path = public, "Our Tools";
CREATE TABLE petition (
  id integer PRIMARY KEY, content text, "Who?" text, district varchar(20), at timestamptz,
  day date, fee money, amount float8, scan bytea, took interval, ok boolean, tags text[],
  fp simhash64 GENERATED ALWAYS AS (simhash_row(content, ARRAY["Who?", district, simdup_field(at),
    simdup_field(day), simdup_field(fee), simdup_field(amount), simdup_field(scan), simdup_field(took),
    simdup_field(ok), simdup_field(tags)], field_weight => 5)) STORED);
INSERT INTO petition
SELECT i, CASE WHEN i % 10 > 0 THEN 'petition number ' || i || ' ' || md5((i / 7)::text) END,
       CASE WHEN i % 3 = 0 THEN 'clerk ' || i % 5 END, 'district ' || i % 4,
       CASE WHEN i % 2 = 0 THEN '2024-01-01 00:00+00'::timestamptz + i * interval '1 hour' END,
       '2024-01-01'::date + i, i, i / 7.0, decode(md5(i::text), 'hex'), i * interval '1 minute',
       i % 2 = 1, ARRAY[i::text, 'x y']
FROM generate_series(1, 200) AS i;
CREATE INDEX ON petition (simdup_field(at));
SQL
my $kept = $node->safe_psql('office', $fingerprints);
like($kept, qr/^200\|/, 'every row has a fingerprint');

# --- restored, by a role and a database that see values in other forms

$node->safe_psql('postgres', q{
	CREATE ROLE abroad SUPERUSER LOGIN;
	ALTER ROLE abroad SET DateStyle = 'SQL, DMY';
	ALTER ROLE abroad SET TimeZone = 'Asia/Kathmandu';
	ALTER ROLE abroad SET extra_float_digits = -15;
	ALTER ROLE abroad SET IntervalStyle = 'iso_8601';
	ALTER ROLE abroad SET bytea_output = 'escape';
	CREATE DATABASE restored TEMPLATE template0;
	CREATE DATABASE elsewhere TEMPLATE template0;});
my $dump = $node->basedir . '/office.sql';
$node->command_ok([ 'pg_dump', '-d', 'office', '-f', $dump ], 'dump');
like(slurp_file($dump), qr/set_config\('search_path', '', false\)/, 'that restores with an empty search_path');
$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-U', 'abroad', '-d', 'restored', '-f', $dump ], 'restore');
is($node->safe_psql('restored', $fingerprints), $kept, 'the same fingerprints');

# the same with the extension in another schema
my $elsewhere = slurp_file($dump) =~ s/"Our Tools"/elsewhere/gr;
append_to_file("$dump.elsewhere", $elsewhere);
$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-U', 'abroad', '-d', 'elsewhere', '-f', "$dump.elsewhere" ],
	'restore into another schema');
is($node->safe_psql('elsewhere', $fingerprints), $kept, 'the same fingerprints');
$node->safe_psql('restored', 'ALTER SCHEMA "Our Tools" RENAME TO moved');

# --- values computed again equal those kept

for my $db ('restored', 'elsewhere')
{
	$node->safe_psql($db, 'UPDATE public.petition SET id = id', extra_params => [ '-U', 'abroad' ]);
	is($node->safe_psql($db, $fingerprints), $kept, "$db: an update under other settings changes nothing");
}

$node->stop;
done_testing();
