# Sum: prove's report on lines, with the sum of all tests as its last one.
# Used as prove --formatter Sum.
package Sum;

use strict;
use warnings;

use File::Basename qw(basename);
use parent 'TAP::Formatter::File';

# To the harness a bail-out ends all scripts. Here it ends the one that says so.
sub open_test
{
	my ($self, $script, $parser) = @_;

	$parser->callback(bailout => sub { $self->{bailed}{$script} = ': ' . $_[0]->explanation; $_[0]{type} = 'comment'; });
	return $self->SUPER::open_test($script, $parser);
}

sub summary
{
	my ($self, $all, $interrupted) = @_;
	my ($failed, $skipped, @stopped) = (scalar $all->failed, scalar $all->skipped);

	$self->SUPER::summary($all, $interrupted);
	for my $script ($all->descriptions)
	{
		my ($parser) = $all->parsers($script);
		my $name = basename($script, '.pl');

		# an end that no test explains is a failure, a script left out a skip
		$failed++ if $parser->has_problems && !$parser->failed;
		$skipped++ if $parser->skip_all;
		push @stopped, "not ok: $script stopped after test " . $parser->tests_run . ($self->{bailed}{$script} // '') . "\n" if !$parser->is_good_plan;
		# PostgreSQL::Test keeps a log for each script
		if ($parser->has_problems && open my $log, '<', "tmp_check/log/regress_log_$name")
		{
			my @lines = <$log>;
			$self->_output("The last lines of $name\'s log:\n", @lines > 30 ? @lines[ -30 .. -1 ] : @lines);
		}
	}
	$self->_output(@stopped, sprintf "%d passed, %d failed, %d skipped\n", $all->passed - $all->skipped, $failed, $skipped);
	return;
}

1;
