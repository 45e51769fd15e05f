# Browser: a headless Chromium, driven by chromedriver's HTTP interface
# (WebDriver, W3C). It needs nothing but what Perl has.

package Browser;

use strict;
use warnings;

use HTTP::Tiny;
use IPC::Run;
use JSON::PP;

# obstacle(): why there is no browser here; nothing where there is one.
sub obstacle
{
	for my $program ('chromium', 'chromedriver')
	{
		return "$program is not installed on this machine"
		  unless grep { -x "$_/$program" } split /:/, $ENV{PATH};
	}
	return;
}

# new FOLDER: a browser that keeps its profile and its downloads there.
sub new
{
	my ($class, $folder) = @_;
	my $self = bless { out => '', folder => $folder, http => HTTP::Tiny->new(timeout => 600) }, $class;

	mkdir "$folder/$_" for 'profile', 'downloads', 'home';
	{
		local $ENV{HOME} = "$folder/home";
		$self->{driver} = IPC::Run::start([ 'chromedriver', '--port=0' ],
			'<', \undef, '>', \$self->{out}, '2>', "$folder/chromedriver.log", IPC::Run::timer(120));
	}
	$self->{driver}->pump until $self->{out} =~ /started successfully on port (\d+)/;
	$self->{url} = "http://127.0.0.1:$1/session";
	$self->{url} .= '/' . $self->call('', {
		capabilities => { alwaysMatch => {
			browserName => 'chrome',
			unhandledPromptBehavior => 'ignore',
			'goog:loggingPrefs' => { browser => 'ALL' },
			# its sandbox needs rights that containers do not give
			'goog:chromeOptions' => { args => [ '--headless=new', '--no-sandbox', '--disable-gpu',
				'--disable-dev-shm-usage', '--window-size=1000,900', "--user-data-dir=$folder/profile" ] } } } })->{sessionId};
	$self->devtools('Browser.setDownloadBehavior', { behavior => 'allow', downloadPath => "$folder/downloads" });
	return $self;
}

# call PATH [CONTENT]: one command's value.
sub call
{
	my ($self, $path, $content) = @_;
	my $answer = $self->{http}->request($content ? 'POST' : 'GET', $self->{url} . $path,
		$content ? { content => encode_json($content), headers => { 'Content-Type' => 'application/json' } } : {});

	die "$path: $answer->{status} $answer->{content}" unless $answer->{success};
	return decode_json($answer->{content})->{value};
}

sub devtools
{
	my ($self, $command, $params) = @_;

	return $self->call('/goog/cdp/execute', { cmd => $command, params => $params });
}

sub open_page { $_[0]->call('/url', { url => $_[1] }); return; }

# js BODY [ARGUMENT...]: the result of a function of that body.
sub js
{
	my ($self, $body, @arguments) = @_;

	return $self->call('/execute/sync', { script => $body, args => \@arguments });
}

# One element; each element found is { a name of the protocol => its id }.
sub find
{
	my ($self, $selector) = @_;
	my ($id) = values %{ $self->call('/element', { using => 'css selector', value => $selector }) };

	return "/element/$id";
}

sub click { $_[0]->call($_[0]->find($_[1]) . '/click', {}); return; }

# Keys as a person types them; \x{E007} is Enter.
sub type { $_[0]->call($_[0]->find($_[1]) . '/value', { text => $_[2] }); return; }

# Lines of the console: errors of scripts, and refusals by the page's policy.
sub console { return map { $_->{message} } @{ $_[0]->call('/se/log', { type => 'browser' }) }; }

# downloaded NAME: its bytes, once they are all there.
sub downloaded
{
	my ($self, $name) = @_;
	my $file = "$self->{folder}/downloads/$name";

	for (1 .. 600)
	{
		last if -s $file;
		select undef, undef, undef, 0.1;
	}
	open my $handle, '<:raw', $file or die "$file: $!";
	local $/;
	return <$handle>;
}

sub stop
{
	my ($self) = @_;

	$self->{http}->request('DELETE', $self->{url});
	$self->{driver}->kill_kill;
	return;
}

1;
