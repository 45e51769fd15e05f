# icu: words in encodings other than UTF8, and a column of their fingerprints that is
# dumped and restored.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('icu');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
if ($node->safe_psql('postgres', 'SELECT simdup_icu_version() IS NULL') eq 't')
{
	$node->stop;
	plan(skip_all => 'simdup was built without ICU');
}
$ENV{PGCLIENTENCODING} = 'UTF8';

# A database of an encoding.
sub create_database
{
	my ($encoding) = @_;
	my $db = lc "in_$encoding";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($db, 'CREATE EXTENSION simdup');
	return $db;
}

# The results for a text: its fingerprint and its words.
sub answers
{
	my ($db, $text) = @_;

	return $node->safe_psql($db, <<"SQL");
SELECT simhash('$text', tokenizer => 'icu');
SELECT feature, weight FROM simdup_features('$text', NULL, 'icu');
SQL
}

# --- the same answers in every encoding that can write the text

my $utf8 = create_database('UTF8');
my %texts = (
	EUC_CN => [ '我们学习，ＡＢ ab 3.14。', '学习' ],
	EUC_TW => [ '學校，ab 3.14。', '學校' ],
	EUC_JP => [ '学校 カタカナ，ab。', '学校' ],
	EUC_KR => [ '학교 공부, ab 3.', '학교' ],
	LATIN1 => [ 'Été à la plage, 3.14 straße', 'plage' ],
	WIN1251 => [ 'привет, мир 3.14', 'мир' ]);

for my $encoding (sort keys %texts)
{
	my ($text, $word) = @{ $texts{$encoding} };
	my $expected = answers($utf8, $text, $word);

	like($expected, qr/^\Q$word\E\|/m, "a word of text for $encoding");
	is(answers(create_database($encoding), $text, $word), $expected, "the same answers in $encoding");
}

# a character of this encoding can be two in Unicode
my $jis = create_database('EUC_JIS_2004');
is(answers($jis, '学校 か゚ ab'), answers($utf8, '学校 か゚ ab'), 'the same answers in EUC_JIS_2004');

# without an encoding, UTF-8 is read as such, and other bytes separate
my $ascii = create_database('SQL_ASCII');
is(answers($ascii, '学校 ab'), answers($utf8, '学校 ab'), 'UTF-8 in SQL_ASCII');
is($node->safe_psql($ascii, <<'SQL'), "ab|cd|学校", 'and other bytes there');
SELECT string_agg(feature, '|') FROM simdup_features(E'ab\xff\xe5cd\xc3 学校\xe5\xad', NULL, 'icu');
SQL

# --- a generated column is dumped and restored

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE page (body text,
  fp simhash64 GENERATED ALWAYS AS (simhash(body, tokenizer => 'icu')) STORED);
INSERT INTO page VALUES ('我们学习'), ('学校');
CREATE INDEX ON page USING hamming (fp);
SQL
my $contents = 'SELECT body, fp FROM public.page ORDER BY body';
my $before = $node->safe_psql('postgres', $contents);
my $dump = $node->basedir . '/dump';

$node->command_ok([ 'pg_dump', '-d', 'postgres', '-Fc', '-f', $dump ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_restore', '-e', '-d', 'restored', $dump ], 'restored');
is($node->safe_psql('restored', $contents), $before, 'and the same after it');

$node->stop;
done_testing();
