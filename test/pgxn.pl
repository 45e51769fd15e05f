#!/usr/bin/perl
# pgxn.pl FOLDER: check whether META.json there is as the PGXN Meta Spec 1.0.0
# wants it, and true of the folder. Says what is not.

use strict;
use warnings;

use JSON::PP ();

my $folder = shift or die "usage: pgxn.pl FOLDER\n";
my @wrong;

sub wrong
{
	push @wrong, join '', @_;
	return;
}

sub content
{
	my ($name) = @_;
	open my $file, '<:raw', "$folder/$name" or die "no $name: $!\n";
	local $/;
	return scalar <$file>;
}

my $version = qr/\A(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+)?\z/;

# What a property must be, by what it must match.
my %form = (
	string => sub { !ref $_[0] && length $_[0] },
	version => sub { !ref $_[0] && $_[0] =~ $version },
	term => sub { !ref $_[0] && $_[0] =~ m{\A[^[:space:][:cntrl:]/\\]{2,}\z} },
	tag => sub { !ref $_[0] && $_[0] =~ m{\A[^[:cntrl:]/\\]{1,256}\z} },
	status => sub { $_[0] =~ /\A(?:stable|testing|unstable)\z/ },
	url => sub { $_[0] =~ m{\A[a-z]+://[^/?#]+} },
	# a version, or a list of comparisons with one; 0 is any
	range => sub {
		!grep { !/\A\s*(?:[<>]=?|[=!]=)?\s*(.*?)\s*\z/ || $1 ne '0' && $1 !~ $version } split /,/, $_[0];
	},
	license => sub {
		$_[0] =~ /\A(?:agpl_3|apache_1_1|apache_2_0|artistic_1|artistic_2|bsd|freebsd|gfdl_1_2|gfdl_1_3|
			gpl_[123]|lgpl_2_1|lgpl_3_0|mit|mozilla_1_[01]|openssl|perl_5|postgresql|qpl_1_0|ssleay|sun|zlib|
			open_source|restricted|unrestricted|unknown)\z/x;
	},
	file => sub { -f "$folder/$_[0]" });

sub must_be
{
	my ($form, $name, $value) = @_;
	my $said = ref $value ? 'a list or map' : $value // 'nothing';
	wrong("$name: $said is no $form") if !defined $value || !$form{$form}->($value);
	return;
}

# A list, or its only element.
sub each_must_be
{
	my ($form, $name, $value) = @_;
	must_be($form, $name, $_) for ref $value eq 'ARRAY' ? @$value : $value;
	return;
}

# A map with these properties, and none but those and the x_ ones.
sub known_only
{
	my ($name, $map, @known) = @_;
	return wrong("$name is no map") if ref $map ne 'HASH';
	for my $key (sort keys %$map)
	{
		wrong("$name: unknown property $key") if $key !~ /\Ax_/i && !grep { $_ eq $key } @known;
	}
	return;
}

my $meta = eval { JSON::PP->new->utf8->decode(content('META.json')) } or die "META.json: $@";
known_only('META.json', $meta,
	qw(name version abstract description maintainer license provides meta-spec prereqs tags resources release_status generated_by no_index));
must_be('term', 'name', $meta->{name});
must_be('version', 'version', $meta->{version});
must_be('string', 'abstract', $meta->{abstract});
must_be('string', 'description', $meta->{description});
must_be('status', 'release_status', $meta->{release_status});
each_must_be('string', 'maintainer', $meta->{maintainer});
each_must_be('license', 'license', $meta->{license});
each_must_be('tag', 'tags', $meta->{tags});
wrong('tags: some are twice') if keys %{ { map { lc $_ => 1 } @{ $meta->{tags} } } } != @{ $meta->{tags} };

known_only('meta-spec', $meta->{'meta-spec'}, qw(version url));
wrong('meta-spec: not 1.0.0') if ($meta->{'meta-spec'}{version} // '') ne '1.0.0';
must_be('url', 'meta-spec url', $meta->{'meta-spec'}{url});

wrong('provides nothing') if !%{ $meta->{provides} // {} };
for my $extension (sort keys %{ $meta->{provides} })
{
	my $provided = $meta->{provides}{$extension};
	known_only("provides $extension", $provided, qw(file docfile version abstract));
	must_be('term', 'provides', $extension);
	must_be('version', "version of $extension", $provided->{version});
	must_be('string', "abstract of $extension", $provided->{abstract});
	must_be('file', "file of $extension", $provided->{file});
	must_be('file', "docfile of $extension", $provided->{docfile});
	my ($default) = content("$extension.control") =~ /^default_version\s*=\s*'(.*)'/m;
	# a version to come is 1.0.0dev there, and by semantic versioning 1.0.0-dev
	wrong("$extension.control has version $default, provides $provided->{version}")
	  if $default =~ s/dev$/-dev/r ne $provided->{version};
}

for my $phase (sort keys %{ $meta->{prereqs} // {} })
{
	wrong("prereqs: no phase $phase") if $phase !~ /\A(?:configure|build|test|runtime|develop)\z/;
	for my $relation (sort keys %{ $meta->{prereqs}{$phase} })
	{
		wrong("prereqs: no relation $relation") if $relation !~ /\A(?:requires|recommends|suggests|conflicts)\z/;
		my $needed = $meta->{prereqs}{$phase}{$relation};
		must_be('term', 'prereqs', $_), must_be('range', "prereqs $_", $needed->{$_}) for sort keys %$needed;
	}
}

for my $resource (sort keys %{ $meta->{resources} // {} })
{
	my $value = $meta->{resources}{$resource};
	wrong("resources: unknown $resource") if $resource !~ /\A(?:homepage|bugtracker|repository|license|x_.*)\z/i;
	must_be('url', "resources $resource", $_) for grep { m{\A[a-z]+:/} || !ref $value } ref $value eq 'HASH' ? values %$value : $value;
}

# what PGXN's site shows of a distribution
my $top = "$meta->{name}-$meta->{version}";
wrong("the folder is not called $top") if $folder !~ m{(?:\A|/)\Q$top\E/?\z};
opendir my $dir, $folder or die "$folder: $!\n";
my @files = readdir $dir;
wrong('no README') if !grep { /\AREADME(?:[.][^.]+)?\z/ } @files;
wrong('no list of changes') if !grep { /\AChange(?:s|Log)(?:[.](?:md|txt))?\z/i } @files;

print "$_\n" for @wrong;
exit(@wrong ? 1 : 0);
