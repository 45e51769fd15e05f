# run.sh: make demo. Sourced by test/run with a running server; DATA names a
# CSV file of the user's, by default it is the project's own petitions. REPORT
# names the page that is written, by default results/demo.html.

# csv_header START DELIMITER: the column names in the start of a CSV, one a
# line, each behind a =.
csv_header()
{
  local delimiter=$2 line='' next quotes name
  # A quoted name may hold a line break.
  while IFS= read -r next || [ -n "$next" ]; do
    line+=${next%$'\r'}
    quotes=${line//[^\"]/}
    [ $((${#quotes} % 2)) = 1 ] || break
    line+=' '
  done <<<"$1"

  while :; do
    if [[ $line =~ ^\ *\"(([^\"]|\"\")*)\"(.*)$ ]]; then
      echo "=${BASH_REMATCH[1]//\"\"/\"}"
      line=${BASH_REMATCH[3]}
    else
      name=${line%%"$delimiter"*}
      echo "=$name"
      line=${line:${#name}}
    fi
    [[ $line == *"$delimiter"* ]] || break
    line=${line#*"$delimiter"}
  done
}

# check_csv FILE: say what is wrong with it before the server has to.
check_csv()
{
  [ -e "$1" ] || die "there is no file $1"
  [ -f "$1" ] && [ -r "$1" ] || die "$1 is not a file that can be read"
  [ -s "$1" ] || die "$1 is empty"
  # NUL is valid UTF-8 and no text.
  tr -d '\000' <"$1" | cmp -s - "$1" || die "$1 is not a text file"
  iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 ||
    die "$1 is not UTF-8; convert it first, for example: iconv -f GB18030 -t UTF-8"
}

# load_csv FILE: the user's rows, as table petition of database demo.
load_csv()
{
  local delimiter=, start first
  check_csv "$1"
  start=$(head -c 65536 "$1" | sed $'1s/^\xef\xbb\xbf//')
  first=${start%%$'\n'*}
  if [[ $first != *,* ]]; then
    [[ $first != *';'* ]] || delimiter=';'
    [[ $first != *$'\t'* ]] || delimiter=$'\t'
  fi
  demo_psql -v delimiter="$delimiter" -v names="$(csv_header "$start" "$delimiter")" \
    -f test/demo/csv.sql <"$1" || die "$1 cannot be read as CSV with a header: see the message above"
  [ "$(demo_psql -Atc 'SELECT count(*) FROM csv')" != 0 ] || die "$1 has no rows"
  demo_psql -v file="$1" -f test/demo/choose.sql
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
demo_psql -v report="$report" -f test/demo/demo.sql
