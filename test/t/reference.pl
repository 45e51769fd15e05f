# reference: the tables of objects in the reference agree with the catalog. Each
# function has an anchor. One name of a parameter has one type and one default. The
# objects are counted.
#
# A row's first cell begins with the anchors of functions that are new on the page. It
# holds the object's kind (none: a function), its signature, and after an arrow its
# result, spelled as the catalog's entry below. A missing row fails, as do an extra one
# and another name, type, default or result. The second cell is a paragraph at most.
# A cell may hold several signatures with one result.

use strict;
use warnings;
use utf8;

use Encode qw(decode_utf8 encode_utf8);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = 'doc/simdup-reference.md';

# The rows of its tables of objects: [line, object, what, anchors ...].
sub rows
{
	my @rows;
	my ($line, $objects) = (0, 0);

	for (split /\n/, decode_utf8(slurp_file($page)))
	{
		$line++;
		# other tables have another head
		$objects = /^\|Object\|What it does\|/ || $objects && /^\|/;
		next unless $objects && !/^\|-/;

		my @cells = map { s/^\s+|\s+$//gr } split /(?<!\\)\|/, substr($_, 1), -1;
		pop @cells;
		next if "@cells" eq 'Object What it does';
		my @anchors = $cells[0] =~ /<a id="([^"]*)"><\/a>/g;
		$cells[0] =~ s/<a id="[^"]*"><\/a>//g;
		push @rows, [ $line, @cells, @anchors ];
	}
	return @rows;
}

# A first cell without its backquotes: the catalog's entries.
sub objects
{
	my ($cell) = @_;
	my ($kind, $signatures, $result) = $cell =~ /^(?:([a-z ]+) )?(`[^`]+`(?:, `[^`]+`)*)(?: → `([^`]+)`)?$/
	  or return "(not in the tables' notation) $cell";

	return map { join '', $kind ? "$kind " : '', $_, $result ? " → $result" : '' } $signatures =~ /`([^`]+)`/g;
}

# The objects of an installed simdup, one entry a line, in the tables' notation.
# Left out are functions that deal in internal or cstring, or implement a type, a
# cast, an operator or an operator class. So are the parts of a function in SQL, whose
# comment begins "implementation of name:". A function that implements an operator
# and may be called too has a comment that does not begin "implementation of",
# as in PostgreSQL's own catalog.
my $catalog = <<'SQL';
WITH member AS (
  SELECT classid, objid, obj_description(objid, classid::regclass::name) AS comment
  FROM pg_depend JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
  WHERE deptype = 'e' AND extname = 'simdup'
), function AS (
  SELECT p.*, coalesce(proallargtypes, proargtypes::oid[]) AS types, comment
  FROM pg_proc AS p JOIN member ON classid = 'pg_proc'::regclass AND objid = oid
), argument AS (
  SELECT f.oid AS function, i, coalesce(proargmodes[i] = 'i', true) AS is_input,
    concat_ws(' ', proargnames[i], format_type(type, NULL),
      '= ' || regexp_replace(pg_get_function_arg_default(f.oid, i::integer), '::[a-z0-9 ]+(\[\])?$', '')) AS argument
  FROM function AS f, unnest(types) WITH ORDINALITY AS t (type, i)
), entry (entry) AS (
  SELECT CASE prokind WHEN 'a' THEN 'aggregate ' WHEN 'w' THEN 'window function ' ELSE '' END || proname ||
    CASE WHEN prorettype = 'trigger'::regtype
      THEN coalesce(substring(comment FROM '^trigger (\([^)]*\))'), '(?)')
      ELSE format('(%s)', (SELECT string_agg(argument, ', ' ORDER BY i)
                           FROM argument WHERE function = f.oid AND is_input)) END ||
    ' → ' || CASE WHEN proretset THEN 'setof ' ELSE '' END ||
    coalesce((SELECT '(' || string_agg(argument, ', ' ORDER BY i) || ')'
              FROM argument WHERE function = f.oid AND NOT is_input), format_type(prorettype, NULL))
  FROM function AS f
  WHERE NOT '{internal,cstring}'::regtype[]::oid[] && (types || prorettype)
    AND NOT EXISTS (SELECT FROM pg_type WHERE f.oid IN (typinput, typoutput, typreceive, typsend))
    AND NOT EXISTS (SELECT FROM pg_cast WHERE castfunc = f.oid)
    AND NOT EXISTS (SELECT FROM pg_amproc WHERE amproc = f.oid)
    AND NOT (EXISTS (SELECT FROM pg_operator WHERE oprcode = f.oid) AND comment LIKE 'implementation of % operator')
    AND coalesce(comment, '') !~ '^implementation of \w+: '
  UNION ALL
  SELECT 'type ' || typname FROM pg_type JOIN member ON classid = 'pg_type'::regclass AND objid = oid
  WHERE typcategory <> 'A'
  UNION ALL
  SELECT format('cast %s AS %s', format_type(castsource, NULL), format_type(casttarget, NULL))
  FROM pg_cast JOIN member ON classid = 'pg_cast'::regclass AND objid = oid
  UNION ALL
  SELECT format('operator %s %s %s → %s', format_type(oprleft, NULL), oprname, format_type(oprright, NULL), format_type(oprresult, NULL))
  FROM pg_operator JOIN member ON classid = 'pg_operator'::regclass AND objid = oid
  UNION ALL
  SELECT format('operator class %s USING %s', opcname, amname)
  FROM pg_opclass AS c JOIN member ON classid = 'pg_opclass'::regclass AND objid = c.oid
    JOIN pg_am AS a ON a.oid = opcmethod
  UNION ALL
  SELECT 'access method ' || amname
  FROM pg_am AS a JOIN member ON classid = 'pg_am'::regclass AND objid = a.oid
  UNION ALL
  SELECT 'text search parser ' || prsname
  FROM pg_ts_parser JOIN member ON classid = 'pg_ts_parser'::regclass AND objid = oid
  UNION ALL
  -- a family comes with its class, of the same name
  SELECT 'unknown ' || pg_describe_object(classid, objid, 0) FROM member
  WHERE classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass, 'pg_operator'::regclass,
    'pg_opclass'::regclass, 'pg_am'::regclass, 'pg_ts_parser'::regclass)
    AND NOT (classid = 'pg_opfamily'::regclass AND EXISTS (
      SELECT FROM pg_opfamily AS f JOIN pg_opclass AS c ON opcfamily = f.oid AND opcname = opfname WHERE f.oid = objid))
  UNION ALL
  SELECT format('setting %s = %s', name, set_config(name, boot_val, true)) FROM pg_settings
  WHERE name LIKE 'simdup.%'
)
SELECT replace(replace(replace(entry, 'double precision', 'float8'), 'bit varying', 'varbit'), '"', '')
FROM entry;
SQL

my @rows = rows();
is_deeply([ grep { @$_ < 3 || $_->[2] eq '' } @rows ], [], 'every row has an object, and what it does');
is_deeply([ grep { split(' ', $_->[2]) > 45 } @rows ], [], '... in a paragraph');
my $node = PostgreSQL::Test::Cluster->new('reference');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# What CREATE EXTENSION installs, in the tables' notation.
sub installed
{
	$node->safe_psql('postgres', 'CREATE EXTENSION simdup');
	# settings are there once the library is loaded, which any call does
	my %installed = map { $_ => 1 }
	  split /\n/, decode_utf8($node->safe_psql('postgres', encode_utf8("SET client_encoding = UTF8; LOAD 'simdup'; $catalog")));
	cmp_ok(scalar(keys %installed), '>', 50, 'there is much to say');
	return \%installed;
}

my $existing = installed();
my %documented;
$documented{$_}++ for map { objects($_->[1]) } @rows;
is(encode_utf8(join "\n", grep { !$documented{$_} } sort keys %$existing), '', 'nothing is missing');
is(encode_utf8(join "\n", grep { !$existing->{$_} } sort keys %documented), '', 'nothing is there that does not exist');
is(encode_utf8(join "\n", grep { $documented{$_} > 1 } sort keys %documented), '', 'nothing is there twice');

# One name means one thing: an input parameter of several functions has one type, and
# one default where it has any, but for these.
my %exception = (
	'a' => 'the two things that are compared, of any type',
	'b' => 'the two things that are compared, of any type',
	'content of rabin_fingerprint' => 'bytes have a fingerprint, too',
	'groups' => 'a report need not have one',
	'hash of simhash_agg' => 'a hash itself, where others name an algorithm',
	'k of sketch_resemblance' => 'NULL for sketches by modulus',
	'max_distance of simdup_tune' => 'the largest one to look at',
	'max_distance of simhash_pieces' => 'no default: all pieces must agree',
	'min_resemblance of minhash64_distance' => 'no default: it is what is asked',
	'min_resemblance of minhash_bands_for' => 'no default: it is what is asked',
	'min_resemblance of simdup_cluster' => 'texts are always compared',
	'min_resemblance of simdup_resembles' => 'texts are always compared',
	'min_resemblance of simdup_cluster' => 'NULL where contents do not count',
	'source of simdup_report_html' => 'a ready report may take its place',
	'n of simhash_pieces' => 'of pieces, where others count rows',
	'n_bits of simdup_bitmap' => 'the document has 128',
	'tokenizer of imatch_lexicon' => 'an aggregate has no defaults',
	'tokenizer of term_idf' => 'an aggregate has no defaults',
	'unit of shingle_sketch' => 'the documents shingle words',
	'unit of shingle_sketch_bottom' => 'the documents shingle words',
	'unit of shingle_winnow' => 'quotations are of words',
	'unit of simdup_shingles' => 'the documents shingle words',
	'w of shingle_sketch' => 'the documents have 10',
	'w of shingle_sketch_bottom' => 'the documents have 10',
	'w of shingle_winnow' => 'quotations are of eight words',
	'weight of simhash_agg' => 'an integer beside ready hashes',
	'weighting of simhash' => 'a text search vector has counted already',
	'weights of term_cosine' => 'no default: terms have weights',
);
my %parameters;
for (
	split /\n/,
	$node->safe_psql(
		'postgres', q{
	SELECT concat_ws(E'\t', proargnames[i], proname, format_type(types[i], NULL), pg_get_function_arg_default(oid, i))
	FROM (SELECT p.oid, proname, proargnames, proargmodes, coalesce(proallargtypes, string_to_array(proargtypes::text, ' ')::oid[]) AS types
	      FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	        JOIN pg_extension AS e ON d.refobjid = e.oid AND extname = 'simdup'
	      WHERE coalesce(obj_description(p.oid, 'pg_proc'), '') !~ '^implementation of \w+: ') AS f, generate_subscripts(proargnames, 1) AS i
	WHERE coalesce(proargmodes[i], 'i') = 'i' AND proargnames[i] <> ''})
  )
{
	my ($name, $function, @meaning) = split /\t/;
	my $known = $exception{"$name of $function"} ? "$name of $function" : $exception{$name} ? $name : undef;
	push @{ $parameters{$name} }, [ $function, join(' = ', @meaning), $known ];
}
cmp_ok(scalar(keys %parameters), '>', 50, 'there are parameters to compare');
my (@different, %excused);
for my $name (sort keys %parameters)
{
	my %meanings;
	push @{ $meanings{ $_->[1] } }, $_->[0] for grep { !$_->[2] } @{ $parameters{$name} };
	push @different, map { "$name $_: @{ $meanings{$_} }" } sort keys %meanings if keys %meanings > 1;
	for (grep { $_->[2] } @{ $parameters{$name} })
	{
		# an exception is one: its meaning differs from that of the others, or of one another
		$excused{ $_->[2] } = 1 if !$meanings{ $_->[1] } || @{ $parameters{$name} } > 1 && $_->[2] eq $name;
	}
}
is(join("\n", @different), '', 'a name has one type and one default in all functions');
is(join("\n", grep { !$excused{$_} } sort keys %exception), '', 'no exception is left of what differs no longer');

# Nothing that is not needed: each name is one more to learn, and is kept for ever.
# From 17 on, the array types that the server makes for types count as objects, too.
my %names = map { /^(?:aggregate |window function )?(\w+)\(/ ? ($1 => 1) : () } keys %$existing;
cmp_ok(scalar(keys %names), '<=', 95, 'names that people call');
my %anchors;
for my $row (@rows)
{
	my (undef, $object, undef, @anchors) = @$row;
	my %here = map { $_ => 1 } $object =~ /(\w+)\(/g;

	$anchors{$_} .= $here{$_} ? 'here' : "in line $row->[0]" for @anchors;
}
is_deeply(\%anchors, { map { $_ => 'here' } keys %names }, 'each function has an anchor, where its row is');
cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM pg_depend JOIN pg_extension AS e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
	WHERE deptype = 'e' AND extname = 'simdup'
	  AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type AS t WHERE t.typarray = objid))"), '<=', 178, 'objects');
note(scalar(keys %names), ' names');

# The hint of a trigger function at a wrong event writes its arguments as the page does.
$node->safe_psql('postgres', 'CREATE TABLE t (id integer)');
for my $row (grep { $_->[1] =~ /→ `trigger`$/ } @rows)
{
	my ($call, $name) = $row->[1] =~ /^`((\w+)\(.*\))`/;
	my (undef, undef, $stderr) = $node->psql('postgres', "BEGIN;
		CREATE TRIGGER t BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION $name('1');
		INSERT INTO t VALUES (1);
		DELETE FROM t");
	like($stderr, qr/^HINT:.*EXECUTE FUNCTION \Q$call\E\.$/m, "the hint of $name writes it as the reference does") or diag($stderr);
}

$node->stop;
done_testing();
