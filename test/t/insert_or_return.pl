# insert_or_return: the function of doc/simdup-applications.md returns a row in
# each call, and the right one, while other sessions store the same texts.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($clients, $calls, $texts) = (8, 250, 40);

my ($recipe) = slurp_file('doc/simdup-applications.md') =~ /```sql\n((?:(?!```).)*?CREATE FUNCTION insert_or_return.*?END \$\$;\n)/s
  or die 'the page has no such function';

my $node = PostgreSQL::Test::Cluster->new('insert_or_return');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION simdup;
$recipe
-- text n in one of two spellings, at distance 0
CREATE FUNCTION some_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS \$\$
  SELECT string_agg(md5((n / 2 * 100 + i)::text), CASE n % 2 WHEN 0 THEN ' ' ELSE ', ' END) FROM generate_series(1, 8) AS i \$\$;
CREATE TABLE call (n int, found int, is_new boolean);
SQL

my $script = PostgreSQL::Test::Utils::tempdir() . '/call.sql';
append_to_file($script, <<"SQL");
\\set n random(0, 2 * $texts - 1)
INSERT INTO call SELECT :n, row_id, is_new FROM insert_or_return(some_text(:n));
SQL
$node->command_ok([ 'pgbench', '-n', '-c', $clients, '-t', $calls, '-f', $script, 'postgres' ], "$clients clients");

is($node->safe_psql('postgres', 'SELECT count(*), count(found) FROM call'), join('|', ($clients * $calls) x 2), 'each call returned a row');
is($node->safe_psql('postgres', 'SELECT max(n), min(n) FROM (SELECT count(*) AS n FROM request GROUP BY fp) AS f'), '1|1', 'each text is stored once');
is( $node->safe_psql('postgres', 'SELECT count(*) FROM call JOIN request ON id = found WHERE fp <> minhash64(some_text(n))'),
	'0', 'each call returned the row of its text');
is($node->safe_psql('postgres', 'SELECT count(*) = (SELECT count(*) FROM request) FROM call WHERE is_new'), 't', 'one call stored each row');

$node->stop;
done_testing();
