# record: a generated column over a row's columns survives dump and restore, the
# extension in another schema, and other settings of the session that restores.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

$ENV{ENCODING} ||= 'UTF8';

my $node = PostgreSQL::Test::Cluster->new('record');
$node->init(extra => [ '--locale=C', "--encoding=$ENV{ENCODING}" ]);
$node->start;

my $fingerprints = <<'SQL';
SELECT count(fp), md5(string_agg(concat(id, ' ', fp, ' ', by_hand), ',' ORDER BY id)) FROM public.petition
SQL

# --- a table in one database

$node->safe_psql('postgres', 'CREATE DATABASE office');
$node->safe_psql('office', <<'SQL');
CREATE SCHEMA "Our Tools";
CREATE EXTENSION simdup SCHEMA "Our Tools";
CREATE TABLE petition (
  id integer PRIMARY KEY, content text, "Who?" text, district varchar(20), at timestamptz,
  day date, fee money, amount float8, scan bytea, took interval, ok boolean, tags text[]);
INSERT INTO petition
SELECT i, CASE WHEN i % 10 > 0 THEN 'petition number ' || i || ' ' || md5((i / 7)::text) END,
       CASE WHEN i % 3 = 0 THEN 'clerk ' || i % 5 END, 'district ' || i % 4,
       CASE WHEN i % 2 = 0 THEN '2024-01-01 00:00+00'::timestamptz + i * interval '1 hour' END,
       '2024-01-01'::date + i, i, i / 7.0, decode(md5(i::text), 'hex'), i * interval '1 minute',
       i % 2 = 1, ARRAY[i::text, 'x y']
FROM generate_series(1, 200) AS i;
SELECT format('ALTER TABLE petition ADD fp "Our Tools".simhash64 GENERATED ALWAYS AS (%s) STORED',
              "Our Tools".simhash_row_expression('petition', exclude => '{id}')) \gexec
ALTER TABLE petition ADD by_hand "Our Tools".simhash64 GENERATED ALWAYS AS
  ("Our Tools".simhash_row(content, ARRAY["Who?", district], field_weight => 5)) STORED;
CREATE INDEX ON petition (("Our Tools".simhash_field(at)));
SQL
is( $node->safe_psql('office', <<'SQL'),
SELECT count(*) FROM petition AS p WHERE fp::text IS DISTINCT FROM "Our Tools".simhash_record(p, exclude => '{id}')::text
SQL
	'0', 'the generated column is simhash_record of the row');
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
$node->safe_psql('restored', 'CREATE SCHEMA moved; ALTER EXTENSION simdup SET SCHEMA moved');

# --- values computed again equal those kept

for (['restored', 'moved'], ['elsewhere', 'elsewhere'])
{
	my ($db, $schema) = @$_;

	is($node->safe_psql($db, <<"SQL", extra_params => [ '-U', 'abroad' ]), '0', "$schema: simhash_record agrees");
SET search_path = '';
SELECT count(*) FROM public.petition AS p
WHERE fp::text IS DISTINCT FROM $schema.simhash_record(p, exclude => '{id}')::text;
SQL
	$node->safe_psql($db, 'UPDATE public.petition SET id = id', extra_params => [ '-U', 'abroad' ]);
	is($node->safe_psql($db, $fingerprints), $kept, "$schema: an update under other settings changes nothing");
}

# --- a table of someone else's: its columns' names are in the catalogs for all

$node->safe_psql('office', 'CREATE ROLE stranger LOGIN; GRANT USAGE ON SCHEMA "Our Tools" TO stranger');
like( $node->safe_psql('office', q{SELECT "Our Tools".simhash_row_expression('petition')}, extra_params => [ '-U', 'stranger' ]),
	qr/^"Our Tools"\.simhash_row\(content, /, 'without privileges on the table');
my ($status, undef, $stderr) = $node->psql('office', q{SELECT "Our Tools".simhash_record(p) FROM petition AS p},
	extra_params => [ '-U', 'stranger' ]);
like($stderr, qr/permission denied for table petition/, 'its rows are not');

$node->stop;
done_testing();
