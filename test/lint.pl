# lint.pl CHECK: the checks of test/lint that read the sources as text. Show the faults,
# and nothing if there is none.

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

# A layer includes itself and the layers that its arrows lead to, as CONTRIBUTING.md draws
# them. Names without a folder are the server's headers, or compat.h.
sub layers
{
	my %below;
	for (content('CONTRIBUTING.md') =~ /^    ([a-z, ]+(?: → [a-z, ]+)+)$/mg)
	{
		my @steps = map { [ split /, / ] } split / → /;
		for my $i (1 .. $#steps)
		{
			push @{ $below{$_} }, @{ $steps[$i] } for @{ $steps[ $i - 1 ] };
		}
	}
	my $reaches;
	$reaches = sub { my ($from, $to) = @_; return $from eq $to || grep { $reaches->($_, $to) } @{ $below{$from} // [] } };
	print map { m{^src/(\w+)/$} && $1 ne 'core' && !$below{$1} ? "$1 has no place among the layers\n" : () } glob 'src/*/';
	lines(
		sub {
			my ($layer) = $_[0] =~ m{^src/(\w+)/};
			return 0 unless /$include"([^"]+)"/;
			my ($name, $folder) = ($1, $1 =~ m{^(\w+)/});
			return $name =~ m{(?:^|/)\.} || ($layer && $folder && -d "src/$folder" && !$reaches->($layer, $folder));
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

# An install script that would take over existing objects is a hole
# (CVE-2020-14350, CVE-2022-2625).
sub plain_create
{
	for my $file (@sql)
	{
		my $text = content($file) =~ s/--.*//gr =~ s/\s+/ /gr;
		print "$file: $_\n" for $text =~ /([^;]{0,40}(?:\bIF (?:NOT )?EXISTS +[^ (]|SECURITY DEFINER|OR REPLACE)[^;]{0,40})/gi;
	}
}

# SQL that a DBA reads: no written-out schema or operator, and short lines. The path of a
# function, and an operator that format() fills in, are meant. In C, a comment within
# fifteen lines above may say "under any search_path".
my $written_out = qr/pg_catalog\.|OPERATOR ?\((?!%)/;

sub readable_sql
{
	# the statements of a removal run under the caller's path
	lines(sub { length > 110 }, @sql);
	lines(sub { /$written_out/ }, grep { !/removal/ } @sql);
	for my $file (@c)
	{
		my @text = split /\n/, content($file);
		for my $n (grep { $text[$_] =~ /".*$written_out/ } 0 .. $#text)
		{
			print "$file:$n: $text[$n]\n" unless grep { /under any search_path/ } @text[ ($n > 15 ? $n - 15 : 0) .. $n ];
		}
	}
}

# A function that is not C has the path of the catalogs, or a body that is bound
# when it is created. It calls simdup's own functions by a schema.
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
	# the checks find their faults, and nothing else
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

# META.json follows the PGXN Meta Spec 1.0.0, and is true of the
# folder. Each value is known by its path.
sub values_of
{
	my ($path, $value) = @_;
	return map { values_of("$path/$_", $value->{$_}) } sort keys %$value if ref $value eq 'HASH';
	return map { values_of($path, $_) } @$value if ref $value eq 'ARRAY';
	return [ $path, $value // '' ];
}

sub meta
{
	my $version = qr/(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+)?/;
	my %form = (
		(map { $_ => qr/.+/ } qw(/abstract /description /maintainer /provides/simdup/abstract /provides/simdup/file /provides/simdup/docfile)),
		(map { $_ => $version } qw(/version /provides/simdup/version /prereqs/runtime/requires/PostgreSQL /prereqs/test/requires/PostgreSQL)),
		'/name' => qr/simdup/, '/license' => qr/postgresql/, '/release_status' => qr/stable|testing|unstable/,
		'/tags' => qr{[^[:cntrl:]/\\]{1,256}}, '/meta-spec/version' => qr/1\.0\.0/, '/meta-spec/url' => qr{https://pgxn\.org/meta/spec\.txt});
	my (%seen, %tags);
	for (values_of('', JSON::PP->new->utf8->decode(content('META.json'))))
	{
		my ($path, $value) = @$_;
		print "not as the rules want it, or unknown: $path = $value\n" unless $form{$path} && $value =~ /\A$form{$path}\z/;
		print "twice: $value\n" if $path eq '/tags' && $tags{ lc $value }++;
		print "no file $value\n" if $path =~ m{file$} && !-f $value;
		$seen{$path} = 1;
	}
	print map { $seen{$_} ? () : "no $_\n" } sort keys %form;
	# what PGXN's site shows of a distribution
	print "no README.md or CHANGELOG.md\n" unless -f 'README.md' && -f 'CHANGELOG.md';
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
