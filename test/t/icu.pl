# icu: words in encodings other than UTF8, and text search configurations of the
# parser that are dumped, restored and moved.

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

my $config = <<'SQL';
CREATE TEXT SEARCH CONFIGURATION words (PARSER = simdup_icu);
ALTER TEXT SEARCH CONFIGURATION words ADD MAPPING FOR word, number WITH simple;
SQL

# A database of an encoding, with the configuration in it.
sub create_database
{
	my ($encoding) = @_;
	my $db = lc "in_$encoding";

	$node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($db, "CREATE EXTENSION simdup; $config");
	return $db;
}

# The results for a text: fingerprint, tokens, vector, headline.
sub answers
{
	my ($db, $text, $word) = @_;

	return $node->safe_psql($db, <<"SQL");
SELECT simhash('$text', tokenizer => 'icu');
SELECT feature, weight FROM simdup_features('$text', NULL, 'icu');
SELECT tokid, token FROM ts_parse('simdup_icu', '$text');
SELECT lexeme, positions FROM unnest(to_tsvector('words', '$text')) ORDER BY positions;
SELECT ts_headline('words', '$text', to_tsquery('words', '$word'));
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

	like($expected, qr/<b>\Q$word\E<\/b>/, "a headline of text for $encoding");
	is(answers(create_database($encoding), $text, $word), $expected, "the same answers in $encoding");
}

# a character of this encoding can be two in Unicode: the parser says so
my $jis = create_database('EUC_JIS_2004');
is(answers($jis, '学校 ab', '学校'), answers($utf8, '学校 ab', '学校'), 'the same answers in EUC_JIS_2004');
my (undef, undef, $stderr) = $node->psql($jis, "SELECT to_tsvector('words', '学校 か゚')");
like($stderr, qr/does not support this text in encoding "EUC_JIS_2004"/, 'or an error that says why not');
is( $node->safe_psql($jis, "SELECT simhash('学校 か゚', tokenizer => 'icu')"),
	$node->safe_psql($utf8, "SELECT simhash('学校 か゚', tokenizer => 'icu')"),
	'the tokenizer knows them all');

# without an encoding, what is UTF-8 is that, and other bytes separate
my $ascii = create_database('SQL_ASCII');
is(answers($ascii, '学校 ab', '学校'), answers($utf8, '学校 ab', '学校'), 'UTF-8 in SQL_ASCII');
is($node->safe_psql($ascii, <<'SQL'), "ab|cd|学校\n5", 'and other bytes there');
SELECT string_agg(feature, '|') FROM simdup_features(E'ab\xff\xe5cd\xc3 学校\xe5\xad', NULL, 'icu');
SELECT count(*) FROM ts_parse('simdup_icu', E'ab\xffcd\xe5\xad');
SQL

# --- what is built on the parser is dumped and restored

$node->safe_psql('postgres', <<"SQL");
$config
CREATE TABLE page (body text,
  words tsvector GENERATED ALWAYS AS (to_tsvector('public.words'::regconfig, body)) STORED,
  fp simhash64 GENERATED ALWAYS AS (simhash(body, tokenizer => 'icu')) STORED);
INSERT INTO page VALUES ('我们学习'), ('学校');
CREATE INDEX ON page USING gin (words);
SQL
my $contents = 'SELECT body, words, fp FROM public.page ORDER BY body';
my $before = $node->safe_psql('postgres', $contents);
my $dump = $node->basedir . '/dump';

$node->command_ok([ 'pg_dump', '-d', 'postgres', '-Fc', '-f', $dump ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_restore', '-e', '-d', 'restored', $dump ], 'restored');
is($node->safe_psql('restored', $contents), $before, 'and the same after it');

$node->stop;
done_testing();
