# encodings: the same text has the same fingerprint in every database.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encodings');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# Texts as UTF-8, as psql sends them. Each encoding can hold some of them, and
# the others are left out there.
my %texts = (
	ascii => 'The PETITION of 12 Citizens: THIS IS IT, in full',
	turkish_i => 'ISTANBUL Istanbul IIiI title TITLE',
	latin1 => "\x{c3}\x{80}\x{c3}\x{89}\x{c3}\x{8e} Stra\x{c3}\x{9f}e \x{c3}\x{a0} \x{c3}\x{97} \x{c2}\x{b5}m 1\x{c2}\x{bd} \x{c3}\x{98}RE NA\x{c3}\x{8f}VE caf\x{c3}\x{a9}s \x{c2}\x{a0} end",
	chinese => "\x{e5}\x{b8}\x{82}\x{e6}\x{94}\x{bf}\x{e5}\x{ba}\x{9c} \x{e4}\x{bf}\x{ae}\x{e8}\x{b7}\x{af} 2020 \x{e5}\x{b9}\x{b4}\x{ef}\x{bc}\x{8c}\x{ef}\x{bc}\x{a1}\x{ef}\x{bc}\x{a2} road",
	greek => "\x{ce}\x{9f}\x{ce}\x{94}\x{ce}\x{9f}\x{ce}\x{a3} \x{cf}\x{80}\x{ce}\x{bf}\x{ce}\x{bb}\x{ce}\x{af}\x{cf}\x{84}\x{ce}\x{b7}\x{cf}\x{82}",
	cyrillic => "\x{d0}\x{9f}\x{d0}\x{95}\x{d0}\x{a2}\x{d0}\x{98}\x{d0}\x{a6}\x{d0}\x{98}\x{d0}\x{af} \x{d0}\x{b3}\x{d1}\x{80}\x{d0}\x{b0}\x{d0}\x{b6}\x{d0}\x{b4}\x{d0}\x{b0}\x{d0}\x{bd}",
	dotted => "\x{c4}\x{b0}zmir \x{c4}\x{b1}\x{c5}\x{9f}\x{c4}\x{b1}k DI\x{c5}\x{9e}",
	astral => "\x{f0}\x{90}\x{90}\x{80}\x{f0}\x{90}\x{90}\x{a8} \x{f0}\x{a0}\x{80}\x{80}\x{f0}\x{a0}\x{80}\x{81} \x{f0}\x{9f}\x{98}\x{80}",
	empty => ' , . ');

# Everything a fingerprint of each text can be asked for, as one line a text. Texts that
# the database cannot hold are left out.
sub fingerprints
{
	my ($db) = @_;
	my ($stdout, $stderr);

	$node->psql($db, join('', map { <<"SQL" } sort keys %texts), stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
SELECT '$_', concat_ws(' ', simhash(t), simhash(t, tokenizer => 'alpha'), simhash(t, tokenizer => 'space'),
         simhash(t, tokenizer => 'char:3'), simhash(t, tokenizer => 'word:2', weighting => 'tf'),
         simhash(t, 5, weighting => 'set', ties => true), simhash_row(t, ARRAY[' ' || t || ' ']),
         simdup_hash(t), minhash64(t), minhash64(t, 2, 'word'), minhash64_row(t, ARRAY[' ' || t || ' ']),
         minhash64(ARRAY[t]), minhash_bits(t, 64), simdup_numbers(t))
FROM (SELECT '$texts{$_}'::text AS t) AS x;
SQL
	# untranslatable, or no character there
	my @errors = $stderr =~ /(?:ERROR|FATAL|PANIC): .*/g;
	my @unexpected = grep { !/has no equivalent in encoding|invalid byte sequence/ } @errors;
	my %got = $stdout =~ /^(\w+)\|(.*)$/mg;

	die $stderr if @unexpected || keys(%got) + @errors != keys %texts;
	return \%got;
}

# Creates a database with simdup; false where the server cannot.
sub created
{
	my ($db, $options) = @_;
	my $stderr;

	return 0 if $node->psql('postgres', qq{CREATE DATABASE "$db" TEMPLATE template0 $options}, stderr => \$stderr) != 0;
	$node->safe_psql($db, 'CREATE EXTENSION simdup');
	return 1;
}

# The same fingerprints in $db as in the first database, for every text that
# it holds.
my $expected;

sub same_in
{
	my ($db, $name) = @_;
	my $got = fingerprints($db);
	my @held = sort keys %$got;
	my @differ = map { "$_: $got->{$_}" } grep { $got->{$_} ne $expected->{$_} } @held;

	is(join("\n", @differ), '', "$name holds @held");
	cmp_ok(scalar(@held), '>=', 3, "$name holds some of them");
	return;
}

$ENV{PGCLIENTENCODING} = 'UTF8';
created('utf8', "ENCODING 'UTF8' LOCALE 'C'") or die 'no UTF8 database';
$expected = fingerprints('utf8');
is($node->safe_psql('utf8', "SELECT simhash('$texts{empty}') IS NULL"), 't', 'no word, no fingerprint');
like($expected->{chinese}, qr/^[0-9a-f]{16} /, 'there is something to compare');

for my $encoding (qw(SQL_ASCII LATIN1 LATIN5 LATIN9 WIN1251 WIN1252 WIN1253 KOI8R ISO_8859_7 EUC_CN EUC_JP EUC_KR EUC_TW EUC_JIS_2004))
{
	ok(created(lc $encoding, "ENCODING '$encoding' LOCALE 'C'"), "a database in $encoding");
	same_in(lc $encoding, $encoding);
}

# --- database locales of this machine, at most a dozen that matter most

my %charmap_encoding = ('UTF-8' => 'UTF8', 'ISO-8859-1' => 'LATIN1', 'ISO-8859-9' => 'LATIN5',
	'ISO-8859-15' => 'LATIN9', 'GB2312' => 'EUC_CN', 'EUC-JP' => 'EUC_JP', 'EUC-KR' => 'EUC_KR');
my @locales = grep { !/^(C|POSIX)$/ } split /\n/, `locale -a 2>/dev/null` // '';
@locales = (sort { ($b =~ /^(tr|az|lt|de|zh|C)[_.]/) <=> ($a =~ /^(tr|az|lt|de|zh|C)[_.]/) || $a cmp $b } @locales);
splice(@locales, 12) if @locales > 12;
for my $locale (@locales)
{
	chomp(my $charmap = `LC_ALL='$locale' locale charmap 2>/dev/null` // '');
	my $encoding = $charmap_encoding{$charmap} or next;

	SKIP:
	{
		skip "no database with $locale on this server", 2
		  unless created("locale_$locale", "ENCODING '$encoding' LOCALE '$locale'");
		same_in("locale_$locale", "$encoding and $locale");
	}
}
for my $icu ('und', 'tr', 'lt')
{
	SKIP:
	{
		skip 'no ICU in this server', 2
		  unless created("icu_$icu", "ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE '$icu'");
		same_in("icu_$icu", "UTF8 and ICU's $icu");
	}
}

# --- collations: every one there is, and one under which different texts are
# equal

$node->psql('utf8',
	q{CREATE COLLATION careless (PROVIDER = icu, LOCALE = 'und-u-ks-level1', DETERMINISTIC = false)});
for my $text (grep { $_ ne 'empty' } sort keys %texts)
{
	is( $node->safe_psql('utf8', <<"SQL"),
CREATE TEMPORARY TABLE different (name text);
DO \$\$
DECLARE
  c record;
  same boolean;
BEGIN
  FOR c IN SELECT collnamespace::regnamespace AS schema, collname FROM pg_collation
           WHERE collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
  LOOP
    EXECUTE format('SELECT simhash(t COLLATE %s.%I) = simhash(t) AND simhash(t COLLATE %1\$s.%2\$I, 3) = simhash(t, 3)
                    FROM (SELECT %L::text AS t) AS x', c.schema, c.collname, '$texts{$text}') INTO same;
    INSERT INTO different SELECT c.collname WHERE same IS NOT TRUE;
  END LOOP;
END \$\$;
SELECT string_agg(name, ' ' ORDER BY name) FROM different;
SQL
		'', "$text under every collation");
}

# --- bytes that are no text: in SQL_ASCII they separate

is( $node->safe_psql('sql_ascii', <<'SQL'),
SELECT simhash(E'one\xfftwo three') = simhash('one two three'),
       simhash(E'one\xe5\xb8 two') = simhash('one two'),
       simhash(E'\xff\xfe') IS NULL,
       simhash(E'caf\xc3\xa9') = simhash(E'CAF\xc3\x89');
SQL
	't|t|t|t', 'in SQL_ASCII, bytes that are not UTF-8 separate');

# --- characters that fold to one that the encoding lacks: they have a fingerprint, and are shown as ?

is($node->safe_psql('latin1', "SELECT minhash64('\x{c2}\x{b5}m')"), $node->safe_psql('utf8', "SELECT minhash64('\x{c2}\x{b5}m')"), 'a micro sign in LATIN1');
$node->psql('latin1', "\\set VERBOSITY sqlstate\nSELECT minhash64_shingles('\x{c2}\x{b5}m')", stderr => \my $no_shingle);
like($no_shingle, qr/22P05/, 'no shingle becomes another');
is($node->safe_psql('latin1', "SELECT simdup_explain('\x{c2}\x{b5}m', 'm')::text LIKE '%?m%'"), 't', 'an explanation shows it as ?');

# --- characters that Unicode does not have: PostgreSQL stores them, and they separate

for my $case ([ 'win1252', 'caf\xe9', '\x81', 'st\xe0ry' ], [ 'euc_tw', '\xc4\xe3\xc4\xe4', '\x8e\xa2\xf2\xc8', '\xc5\xa1\xc5\xa2' ])
{
	my ($db, $before, $strange, $after) = @$case;
	my $bytes = "E'$before$strange$after'";

	isnt($node->psql($db, "SELECT convert_to($bytes, 'UTF8')"), 0, "$db: the server cannot convert it");
	is( $node->safe_psql($db, <<"SQL"), "t|t|t|t|t\nt|t\nt|t|t|t\n$db", "$db: it separates, an index takes it, and it is shown as ?");
SET client_encoding = '$db';
CREATE TABLE strange (id integer, content text);
CREATE INDEX strange_near ON strange USING hamming (content);
INSERT INTO strange VALUES (1, $bytes), (2, E'$strange'), (3, repeat($bytes || ' and then ', 30000));
REINDEX INDEX strange_near;
SELECT simhash($bytes) = simhash(E'$before $after'), minhash64($bytes, 2) = minhash64(E'$before $after', 2),
       minhash64(E'$strange') IS NULL, minhash64(content) = minhash64(E'$before $after and then $before $after'),
       simdup_index_check('strange_near', true) IS NOT NULL
FROM strange WHERE id = 3;
SELECT simdup_without($bytes || ' Sent from my phone', '{SENT FROM my phone}') = E'$before?$after', simdup_without($bytes, '{SENT FROM my phone}') = $bytes;
CREATE VIEW strange_source AS SELECT id AS key, content FROM strange;
SELECT simdup_report_differences($bytes || ' b', $bytes || ' c')::text LIKE '%?%', term_idf(content, 'space')::text LIKE '%?%',
  simdup_explain($bytes, $bytes) IS NOT NULL, (SELECT simdup_report('strange_source') #>> '{counts,rows}') = '3'
FROM (SELECT $bytes AS content) AS x;
SELECT current_database() FROM strange WHERE simdup_resembles(content, E'$before $after', 1);
SQL
}
# a text that grows beyond a gigabyte as UTF-8 has a fingerprint too, and its index
is( $node->safe_psql('latin9', <<'SQL'), 1, '370 MB in LATIN9, more than 1 GB in UTF-8');
CREATE TABLE large (content text);
ALTER TABLE large ALTER content SET STORAGE external;
CREATE INDEX large_near ON large USING hamming (content);
INSERT INTO large SELECT repeat(E'\xa4', 370000000) || 'euro';
SET enable_seqscan = off;
SELECT count(*) FROM large WHERE content <~@ simhash_ball(minhash64('euro'), 0);
DROP TABLE large;
SQL

$node->stop;
done_testing();
