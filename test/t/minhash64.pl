# minhash64: equal fingerprints of one letter in several spellings, and of any rows in
# any order. petitions.pl has the pairs that it finds in real petitions.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('minhash64');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;
$ENV{PGCLIENTENCODING} = 'UTF8';
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simdup;
CREATE TABLE variant (letter text, language text, variant text, content text, PRIMARY KEY (letter, variant));
\copy variant FROM 'test/data/variants.csv' (FORMAT csv, HEADER)
SQL

# --- the same letter otherwise: smallest and largest distance from the text as
# it was written. Other spellings are at 0, but where the words are others.

my %expected = map { /^(\S+ \S+) +(.*)$/ ? ($1 => $2) : () } split /\n/, <<'TABLE';
ar decomposed    6 letters: 0 to 0
ar glued         7 letters: 0 to 0
ar no_diacritics 7 letters: 0 to 0
ar place         7 letters: 5 to 8
ar spacing       7 letters: 0 to 0
ar stretched     7 letters: 0 to 0
ar typo          7 letters: 0 to 4
ar vowel_signs   7 letters: 0 to 0
de capitals      7 letters: 0 to 0
de decomposed    6 letters: 0 to 0
de full_width    7 letters: 0 to 0
de glued         7 letters: 0 to 0
de no_diacritics 7 letters: 0 to 0
de place         7 letters: 5 to 11
de spacing       7 letters: 0 to 0
de transcribed   7 letters: 0 to 10
de typo          7 letters: 0 to 6
hi glued         7 letters: 0 to 0
hi place         7 letters: 1 to 9
hi precomposed   4 letters: 0 to 0
hi spacing       7 letters: 0 to 0
hi typo          7 letters: 1 to 5
ja decomposed    7 letters: 0 to 0
ja glued         7 letters: 0 to 0
ja half_width    5 letters: 0 to 0
ja parted        7 letters: 0 to 0
ja place         7 letters: 4 to 11
ja spacing       7 letters: 0 to 0
ja typo          7 letters: 4 to 15
ko decomposed    7 letters: 0 to 0
ko glued         7 letters: 0 to 0
ko parted        7 letters: 0 to 0
ko place         7 letters: 0 to 11
ko spacing       7 letters: 0 to 0
ko typo          7 letters: 3 to 10
th glued         7 letters: 0 to 0
th parted        7 letters: 0 to 0
th place         7 letters: 1 to 11
th spacing       7 letters: 0 to 0
th typo          7 letters: 0 to 11
vi capitals      7 letters: 0 to 0
vi decomposed    7 letters: 0 to 0
vi full_width    7 letters: 0 to 0
vi glued         7 letters: 0 to 0
vi no_diacritics 7 letters: 0 to 0
vi place         7 letters: 5 to 9
vi spacing       7 letters: 0 to 0
vi typo          7 letters: 0 to 6
zh glued         7 letters: 0 to 0
zh parted        7 letters: 0 to 0
zh place         7 letters: 5 to 10
zh spacing       7 letters: 0 to 0
zh traditional   7 letters: 0 to 0
zh typo          7 letters: 3 to 8
TABLE

my %got = map { /^(.*?)\|(.*)$/ ? ($1 => $2) : () } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT v.language || ' ' || v.variant, count(*) || ' letters: ' || min(d) || ' to ' || max(d)
FROM variant AS v JOIN variant AS t USING (letter), LATERAL (SELECT minhash64(v.content) <~> minhash64(t.content) AS d) AS x
WHERE t.variant = 'text' AND v.variant <> 'text'
GROUP BY v.language, v.variant;
SQL
is($got{$_} // 'not there', $expected{$_} // 'not expected', "$_: distance")
  for sort keys %{ { %got, %expected } };

# --- letters on other matters in the same language have nothing to do with it

is( $node->safe_psql('postgres', <<'SQL'),
SELECT a.language, count(*), min(a.fp <~> b.fp), round(avg(a.fp <~> b.fp), 1)
FROM (SELECT *, minhash64(content) AS fp FROM variant WHERE variant = 'text') AS a
  JOIN (SELECT *, minhash64(content) AS fp FROM variant WHERE variant = 'text') AS b ON a.letter < b.letter AND a.language = b.language
GROUP BY a.language ORDER BY 1;
SQL
	join("\n", qw(ar|21|27|31.0 de|21|22|31.6 hi|21|24|30.7 ja|21|26|33.6 ko|21|26|30.2 th|21|24|31.9 vi|21|25|30.4 zh|21|21|32.8)), 'unrelated letters: pairs, smallest distance, mean');

# --- bytes that are no text, and characters that the database lacks

$node->safe_psql('postgres', "CREATE DATABASE bytes TEMPLATE template0 ENCODING 'SQL_ASCII'");
$node->safe_psql('bytes', 'CREATE EXTENSION simdup');
{
	local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
	is( $node->safe_psql('bytes', <<'SQL'),
SELECT minhash64(E'a\xff\x62\xc3 c\xe4\xb8 d') = minhash64('abcd'), minhash64(E'a\xff\x62', 1, 'word') = minhash64('a b', 1, 'word'),
       minhash64(E'\xff\xfe') IS NULL, minhash64_row('a', ARRAY[E'\xff']) <> minhash64_row('a', ARRAY[E'\xfe']),
       minhash64(E'\xed\xa0\x80') IS NULL, minhash64(E'\xc0\xafx') = minhash64('x'), minhash64(E'\xc3\x89t\xc3\xa9') = 'a3105a90eba58a23';
SQL
		't|t|t|t|t|t|t', 'SQL_ASCII: bytes that are not UTF-8 separate');
}

# All characters that a UTF8 database holds, in one text and each by itself.
is( $node->safe_psql('postgres', <<'SQL'),
SELECT minhash64(string_agg(chr(i), '' ORDER BY i)) = minhash64(ARRAY(SELECT minhash64_shingles(string_agg(chr(i), '' ORDER BY i)))),
       minhash64(string_agg(chr(i), '' ORDER BY i), 2, 'word') = minhash64(ARRAY(SELECT minhash64_shingles(string_agg(chr(i), '' ORDER BY i), 2, 'word'))),
       count(minhash64(chr(i))), md5(string_agg(minhash64(chr(i))::text, ',' ORDER BY i))
FROM generate_series(1, 1114111) AS i WHERE i NOT BETWEEN 55296 AND 57343;
SQL
	't|t|140489|dbcb89b3b709826d5142405de5372f9a', 'all of Unicode');

# --- a million features, serially and in parallel, as rows and as an array

is( $node->safe_psql('postgres', <<'SQL'),
CREATE TABLE feature AS SELECT 'feature ' || i AS f FROM generate_series(1, 1000000) AS i;
ALTER TABLE feature SET (parallel_workers = 3);
SET max_parallel_workers_per_gather = 0;
CREATE TABLE result AS SELECT minhash64_agg(f) AS fp FROM feature;
INSERT INTO result SELECT minhash64_agg(f ORDER BY md5(f)) FROM feature;
INSERT INTO result SELECT minhash64(array_agg(f)) FROM feature;
SET max_parallel_workers_per_gather = 3;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
INSERT INTO result SELECT minhash64_agg(f) FROM feature;
CREATE TABLE parallel AS SELECT minhash64_agg(f) AS fp FROM feature;
INSERT INTO result TABLE parallel;
SELECT count(*), count(DISTINCT fp) FROM result;
SQL
	'5|1', 'a million features');

$node->stop;
done_testing();
