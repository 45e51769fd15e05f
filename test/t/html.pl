# html: names of character references, as Python's own list has them.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = '/usr/bin/python3';
plan skip_all => "there is no $python" unless -x $python;

my ($names) = run_command([ $python, 'src/core/tools/htmlnames.py' ]);
is("$names\n", slurp_file('src/core/unicode/htmlnames.c'), 'the table is what its program makes');

my $node = PostgreSQL::Test::Cluster->new('html');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# Pages with a name each, with its semicolon and without; white space is one blank.
my $script = $node->basedir . '/pages.py';
append_to_file($script, <<'END');
import html, html.entities, re
for name in html.entities.html5:
    for page in f'({name})', f'({name.rstrip(";")}9;)', f'({name.rstrip(";")})':
        page = page.replace('(', '(&')
        text = re.sub('[\t\n]', ' ', html.unescape(page))
        print('\t'.join(s.replace('\\', r'\\') for s in (page, text)))
END
is( $node->safe_psql('postgres', <<"SQL"),
CREATE EXTENSION simdup;
CREATE TABLE page (page text, expected text);
COPY page FROM PROGRAM 'PYTHONIOENCODING=utf-8 $python $script';
SELECT count(*), count(*) FILTER (WHERE simdup_strip_html(page) <> expected) FROM page;
SQL
	'6693|0', 'each name is read as Python reads it');

$node->stop;
done_testing();
