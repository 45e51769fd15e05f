# run.sh: make demo. Sourced by test/run with a running server; DATA names a
# CSV file of the user's, and TEXT its column with the text, if it is named. By default it
# is the project's own petitions, in Chinese or English as the locale says. REPORT names the page that is written, by default
# results/demo.html.

# csv_header FILE: what stands between the names of its header, most often, and the
# names, one a line, each behind a =. A quoted name may hold a line break.
csv_header()
{
  head -c 65536 "$1" | perl -0777 -ne '
    s/\A\xef\xbb\xbf//;
    tr/\r/\n/;
    my $header = /\A((?:"[^"]*"|[^\n"]+)*)/ ? $1 =~ tr/\n/ /r : "";
    my $bare = $header =~ s/"[^"]*"//gr;
    my ($between) = sort { (() = $bare =~ /\Q$b/g) <=> (() = $bare =~ /\Q$a/g) } ",", ";", "\t", "|";
    print "$between\n";
    for ($header)
    {
      do { print "=", /\G *"((?:[^"]|"")*)"/gc ? $1 =~ s/""/"/gr : /\G([^$between]*)/gc ? $1 : "", "\n" } while /\G[^$between]*[$between]/gc;
    }'
}

# check_csv FILE: name its faults before the server does.
check_csv()
{
  [ -e "$1" ] || die "there is no file $1"
  [ -f "$1" ] && [ -r "$1" ] || die "$1 is not a file that can be read"
  [ -s "$1" ] || die "$1 is empty"
  # NUL is valid UTF-8 and no text.
  tr -d '\000' <"$1" | cmp -s - "$1" ||
    die "$1 is not a text file; convert UTF-16, for example, by: iconv -f UTF-16 -t UTF-8"
  iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 ||
    die "$1 is not UTF-8; convert it first, for example: iconv -f GB18030 -t UTF-8"
}

# load_csv FILE: the user's rows, as table petition of database demo.
load_csv()
{
  local header
  check_csv "$1"
  header=$(csv_header "$1")
  demo_psql -v names="${header#*$'\n'}" -f test/demo/csv.sql \
    -c "\\copy csv FROM pstdin WITH (FORMAT csv, HEADER, DELIMITER '${header%%$'\n'*}')" <"$1" ||
    die "$1 cannot be read as CSV with a header: see the message above"
  [ "$(demo_psql -Atc 'SELECT count(*) FROM csv')" != 0 ] || die "$1 has no rows"
  demo_psql -v file="$1" -v text="${TEXT:-}" -f test/demo/choose.sql || die "no column of $1 is the text; name it: TEXT=column"
  [ "$(demo_psql -Atc 'SELECT count(minhash64(content)) FROM petition')" != 0 ] || die "there are no words in that column"
}

demo_psql()
{
  psql -qX -d demo -v ON_ERROR_STOP=1 -P footer=off -P null= -P pager=off "$@"
}

export PGCLIENTENCODING=UTF8 PGOPTIONS='-c client_min_messages=warning'
createdb demo
demo_psql -c 'CREATE EXTENSION simdup' -f test/demo/display.sql
if [ -n "${DATA:-}" ]; then
  load_csv "$DATA"
else
  demo_psql -f test/demo/petitions.sql
fi
report=${REPORT:-$PWD/results/demo.html}
mkdir -p "$(dirname "$report")"
case ${LC_ALL:-${LC_MESSAGES:-${LANG:-}}} in zh*) chinese=true ;; *) chinese=false ;; esac
demo_psql -v report="$report" -v chinese="$chinese" -f test/demo/demo.sql
