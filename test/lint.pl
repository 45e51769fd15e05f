# lint.pl CHECK: the checks of test/lint that read the sources as text. Show what is
# wrong, and nothing where nothing is.

use strict;
use warnings;

use File::Find qw(find);
use JSON::PP ();

sub content
{
	my ($file) = @_;
	open my $handle, '<', $file or die "$file: $!\n";
	local $/;
	return <$handle> // '';
}

# The files below a folder whose names end so.
sub files
{
	my ($folder, $ending) = @_;
	my @files;
	find({ no_chdir => 1, wanted => sub { push @files, $_ if -f && /\.(?:$ending)$/ } }, $folder);
	return sort @files;
}

# Show the lines of files that are wrong to a function.
sub lines
{
	my ($wrong, @files) = @_;
	for my $file (@files)
	{
		my $n = 0;
		for (split /\n/, content($file))
		{
			$n++;
			print "$file:$n: $_\n" if $wrong->($file);
		}
	}
}

my @c = files('src', '[ch]');
my @sql = glob 'sql/*.sql';
my $include = qr/^\s*#\s*include\s*/;

sub whitespace
{
	my @files = (
		@sql, files('src', '[ch]'), files('test', 'sh|[ch]|p[lm]|spec'), files('clients', 'py|md|toml'),
		glob('*.md doc/*.md test/*.md test/*/*.md'), qw(Makefile simdup.control META.json));

	lines(sub { /[ \t]$/ }, @files);
	print map { "$_: no newline at the end\n" } grep { content($_) =~ /[^\n]\z/ } @files;
}

# core/ includes core/ and the C library, and builds without a server's headers, which
# test/lint shows.
sub core_alone
{
	my $library = qr/<(?:assert|ctype|errno|float|inttypes|limits|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|immintrin)\.h>/;
	lines(sub { /$include/ && !/$include(?:"core\/|$library)/ }, files('src/core', '[ch]'));
}

# A layer includes itself and layers to the right of it in this order. Names
# without a folder are the server's headers, or compat.h.
sub layers
{
	my @layers = qw(triggers report batch joins shingles terms bitmap index text type server core);
	my %place = map { $layers[$_] => $_ } 0 .. $#layers;
	print map { m{^src/(\w+)/$} && !exists $place{$1} ? "$1 has no place in the order of layers\n" : () } glob 'src/*/';
	lines(
		sub {
			my ($layer) = $_[0] =~ m{^src/(\w+)/};
			return 0 unless /$include"([^"]+)"/;
			my ($name, $folder) = ($1, $1 =~ m{^(\w+)/});
			return $name =~ m{(?:^|/)\.} || ($layer && $folder && ($place{$folder} // 99) < $place{$layer});
		},
		@c);
}

# No two files define a type of one name.
sub type_names
{
	my %files;
	for my $file (@c)
	{
		my %here = map { $_ => 1 } content($file) =~ /^(?:typedef )?(?:struct|union|enum) (\w+)$/mg;
		push @{ $files{$_} }, $file for keys %here;
	}
	print map { @{ $files{$_} } > 1 ? "$_: @{ $files{$_} }\n" : () } sort keys %files;
}

# PostgreSQL's versions differ in compat.h only.
sub versions
{
	lines(sub { /PG_VERSION_NUM/ }, grep { $_ ne 'src/compat.h' } @c);
}

# An install script that would take over what it finds is a hole
# (CVE-2020-14350, CVE-2022-2625).
sub plain_create
{
	for my $file (@sql)
	{
		my $text = content($file) =~ s/--.*//gr =~ s/\s+/ /gr;
		print "$file: $_\n" for $text =~ /([^;]{0,40}(?:\bIF (?:NOT )?EXISTS +[^ (]|SECURITY DEFINER|OR REPLACE)[^;]{0,40})/gi;
	}
}

# SQL that a DBA reads, also in C: no written-out schema or operator, and short lines.
# The path of a function, and an operator that format() fills in, are meant.
my $written_out = qr/pg_catalog\.|OPERATOR ?\((?!%)/;

sub readable_sql
{
	lines(sub { length > 110 || /$written_out/ }, @sql);
	lines(sub { /".*$written_out/ }, @c);
}

# A function that is not C has the path of the catalogs, or a body that is bound
# when it is created. simdup's own functions are called by a schema that is given.
sub unbound
{
	my ($text) = @_;
	my @wrong;
	$text =~ s/--[^\n]*//g;
	while ($text =~ /\bCREATE\s+(?:FUNCTION|PROCEDURE)\s+(\w+)((?:(?!\bCREATE\s).)*?)(\bAS\s+(\$\w*\$).*?\4([^;]*);|;)/gs)
	{
		my ($name, $head, $body) = ($1, "$2 " . ($5 // ''), $3);
		next if "$head$body" =~ /\bLANGUAGE\s+(?:C|internal)\b/i || $head =~ /\bRETURN\s+|\bBEGIN\s+ATOMIC\b/i;
		push @wrong, "function $name has no SET search_path = pg_catalog, pg_temp\n"
		  unless $head =~ /\bSET\s+search_path\s*(?:=|TO)\s*pg_catalog,\s*pg_temp(?=\s|$)/i;
		my $code = $body =~ s/'(?:[^']|'')*'/ /gr;
		push @wrong, "function $name calls $1 by its name\n" while $code =~ /(?<![\w.])(simdup_\w+|simhash_\w+|minhash\w+|shingle_\w+) ?\(/g;
	}
	return @wrong;
}

sub bound_functions
{
	for my $file (@sql)
	{
		print map { "$file: $_" } unbound(content($file));
	}
	# the checks find what they are for, and nothing else
	while (<DATA>)
	{
		chomp;
		my ($kind, $text) = /^(\w+): (.*)/ or next;
		print "the checks are wrong on: $text\n" if ($kind eq 'wrong') != (unbound($text) || $text =~ $written_out ? 1 : 0);
	}
}

# \df+ shows a comment in one cell. The contract stands in doc/simdup-reference.md.
sub comments
{
	for my $file (@sql)
	{
		my $text = content($file);
		while ($text =~ /\bCOMMENT ON ((?:(?!\bIS\b).)+?)\s+IS\s+'((?:[^']|'')*)';/gs)
		{
			my ($object, $comment) = ($1, $2 =~ s/''/'/gr);
			print "$file: comment on $object: ", length $comment, " characters\n" if length $comment > 120 || $comment =~ /\n/;
		}
	}
}

# PGXN wants semantic versions, where a hyphen stands before dev. Python writes a version
# to come as 1.1.dev0, and in packages a tilde sorts before the release.
sub one_version
{
	my ($version) = content('simdup.control') =~ /^default_version = '(.*)'/m;
	my $meta = JSON::PP::decode_json(content('META.json'));
	my %said = (
		'META.json' => [ $meta->{version}, $version =~ s/dev/-dev/r ],
		'META.json, extension' => [ $meta->{provides}{simdup}{version}, $version =~ s/dev/-dev/r ],
		'CHANGELOG.md' => [ content('CHANGELOG.md') =~ /^## (\d\S*)/m ? $1 : '', $version ],
		'rpm/simdup.spec' => [ content('rpm/simdup.spec') =~ /^Version: (.*)/m ? $1 : '', $version =~ s/dev/~dev/r ],
		'clients/python/pyproject.toml' => [ content('clients/python/pyproject.toml') =~ /^version = "(.*)"/m ? $1 : '', $version =~ s/dev/.dev0/r ]);

	# a release archive has no debian/
	$said{'debian/changelog'} = [ content('debian/changelog') =~ /\Asimdup \((.*)-\d*\)/ ? $1 : '', $version =~ s/dev/~dev/r ] if -d 'debian';
	print map { $said{$_}[0] eq $said{$_}[1] ? () : "$_ says $said{$_}[0], simdup.control $version\n" } sort keys %said;
}

# META.json is as the PGXN Meta Spec 1.0.0 wants it, and true of the folder. Its values are
# told apart by their paths.
sub values_of
{
	my ($path, $value) = @_;
	return map { values_of("$path/$_", $value->{$_}) } sort keys %$value if ref $value eq 'HASH';
	return map { values_of($path, $_) } @$value if ref $value eq 'ARRAY';
	return "$path=" . ($value // '');
}

sub meta
{
	my @values = values_of('', JSON::PP->new->utf8->decode(content('META.json')));
	my $version = qr/(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+)?/;
	my $term = qr{[^[:space:][:cntrl:]/\\=]{2,}};
	my $range = qr/\s*(?:(?:[<>]=?|[=!]=)\s*)?(?:0|$version)\s*/;
	my $phase = qr{(?:configure|build|test|runtime|develop)/(?:requires|recommends|suggests|conflicts)};
	my $form = qr{/name=$term|/version=$version|/(?:abstract|description|maintainer|generated_by)=.+
		|/license=(?:postgresql|bsd|mit|apache_2_0|open_source)|/release_status=(?:stable|testing|unstable)|/tags=[^[:cntrl:]/\\]{1,256}
		|/meta-spec/version=1\.0\.0|/meta-spec/url=[a-z]+://[^/?\#]+.*|/prereqs/$phase/$term=$range(?:,$range)*
		|/provides/$term/(?:abstract|file|docfile)=.+|/provides/$term/version=$version
		|/resources/(?:homepage|license|bugtracker/web|repository/(?:url|web))=[a-z]+://[^/?\#]+.*|/resources/repository/type=\w+|/x_.*}x;
	my %seen;
	print map { /\A$form\z/ ? () : "not as the rules want it, or unknown: $_\n" } @values;
	print map { $seen{lc $_}++ == 1 ? "twice: $_\n" : () } grep { m{^/tags=} } @values;
	print map { m{^/provides/\w+/(?:doc)?file=(.*)} && !-f $1 ? "no file $1\n" : () } @values;
	for my $needed (qw(name version abstract maintainer license provides/simdup/file provides/simdup/version meta-spec/version))
	{
		print "no $needed\n" unless grep { m{^/$needed=.} } @values;
	}
	# what PGXN's site shows of a distribution
	print "no README.md or CHANGELOG.md\n" unless -f 'README.md' && -f 'CHANGELOG.md';
}

# --- repeats

# The places that share ten lines of code or more, by text or by shape. The shape of a
# line is the line without the names, numbers and strings in it. Lines of one shape in
# a row have one line's shape. Members of a struct and rows of a table have none.
# Comments, blank lines and preprocessor lines do not count.
#
# A comment "Like NAME, because ..." in one of two such places, or in the five
# lines before it, says why and excuses both. NAME is the file of the other, or
# a word in it; "Like NAME and NAME, because ..." names two.
my $least = 10;
my %keyword = map { $_ => 1 } qw(if else for while do switch case default break continue return goto
  sizeof static inline const volatile struct union enum typedef void char short int long float double
  signed unsigned bool true false NULL);
# [file, line number, text, shape] of each line of code; an entry without text ends a file
my @code;
# file => [line number, what a comment there excuses likeness to]
my %excuse;

sub shape
{
	my ($line) = @_;
	$line =~ s/"(?:[^"\\]|\\.)*"/s/g;
	$line =~ s/'(?:[^'\\]|\\.)*'/1/g;
	$line =~ s/\b(0[xX][0-9a-fA-F]+|[0-9][0-9.]*)\w*/1/g;
	$line =~ s/\b([A-Za-z_]\w*)/$keyword{$1} ? $1 : 'i'/ge;
	return $line =~ s/\s+//gr;
}

sub read_code
{
	my ($file) = @_;
	my ($text, $n, $data, $gap) = (content($file), 0, 0, qr/\s+(?:\*\s+)?/);
	# what a program of the tree wrote is as it wrote it
	return if $text =~ m{^ \* Made by tools/}m;
	while ($text =~ /\bLike$gap([\w.]+)(?:${gap}and$gap([\w.]+))?,${gap}because\b/g)
	{
		my $number = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
		push @{ $excuse{$file} }, map { [ $number, $_ ] } grep { defined } $1, $2;
	}
	# without comments, but with their line ends; strings are kept from harm
	$text =~ s{("(?:[^"\\\n]|\\.)*")|(/\*.*?\*/|//[^\n]*)}{$1 // $2 =~ tr/\n//cdr}gse;
	$text =~ s{^[ \t]*#(?:[^\n]*\\\n)*[^\n]*}{$& =~ tr/\n//cdr}gme;
	for (split /\n/, $text)
	{
		$n++;
		$data = 1 if /^(?:typedef )?(?:struct|union|enum)\b[^;()]*$/ || /^static const\b[^;()]*= \{$/;
		push @code, [ $file, $n, s/\s+//gr, $data ? '' : shape($_) ] if /\S/;
		$data = 0 if /^}/;
	}
	push @code, [ $file, $n ];
}

# Whether a comment at a place, the first and the last line of it, names the other.
sub excused
{
	my ($first, $last, $other, $other_last) = @_;
	my ($file) = $other->[0] =~ m{([^/]*)$};
	my $words = join ' ', map { $_->[0] eq $other->[0] && $_->[1] >= $other->[1] - 5 && $_->[1] <= $other_last->[1] ? $_->[2] // '' : () } @code;
	return grep { $_->[0] >= $first->[1] - 5 && $_->[0] <= $last->[1] && ($_->[1] eq $file || $words =~ /\b\Q$_->[1]\E\b/) }
	  @{ $excuse{ $first->[0] } // [] };
}

# Places that begin alike, each as far as it goes, among lines whose words are in a field.
sub repeats_of
{
	my ($field, @lines) = @_;
	my @words = map { $_->[$field] } @lines;
	my $same = sub { defined $words[ $_[0] ] && ($words[ $_[1] ] // '') eq $words[ $_[0] ] };
	my %places;
	for my $other (0 .. $#lines - $least + 1)
	{
		my @here = @words[ $other .. $other + $least - 1 ];
		next if grep { !defined } @here;
		my $before = $places{ join "\n", @here } //= [];
		for my $one (@$before)
		{
			# one that begins before is shown
			next if $one > 0 && $same->($one - 1, $other - 1);
			my $n = 0;
			$n++ while $one + $n < $other && $same->($one + $n, $other + $n);
			my @ends = @lines[ $one, $one + $n - 1, $other, $other + $n - 1 ];
			next if $n < $least || excused(@ends) || excused(@ends[ 2, 3, 0, 1 ]);
			printf "%s:%d-%d and %s:%d-%d share %d lines\n", @{ $ends[0] }[ 0, 1 ], $ends[1][1], @{ $ends[2] }[ 0, 1 ], $ends[3][1], $n;
		}
		push @$before, $other;
	}
}

sub repeats
{
	read_code($_) for @c;
	repeats_of(2, @code);
	my @shapes = grep { ($_->[3] // 'end') ne '' } @code;
	repeats_of(3, map { $shapes[$_] } grep { $_ == 0 || ($shapes[$_][3] // '') ne ($shapes[ $_ - 1 ][3] // '') } 0 .. $#shapes);
}

my $check = main->can(shift // '') or die "usage: lint.pl CHECK\n";
$check->();

__DATA__
wrong: CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT length(x) $$;
wrong: CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = pg_catalog, public AS $$ SELECT length(x) $$;
wrong: CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT simdup_group_changes(x) $$;
wrong: CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT pg_catalog.length(x) $$;
wrong: CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT 1 OPERATOR(public.+) 2 $$;
right: CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN length('x');
right: CREATE FUNCTION g() RETURNS int SET search_path = pg_catalog, pg_temp AS $$ BEGIN EXECUTE format('%s.simdup_x(1)', x); END $$;
