# text.sh: fingerprints of texts, beside work of the server on the same rows.
# Without the Chinese petitions beside the checkout it takes the project's own.

. "$ROOT/test/bench/lib.sh"

petitions=$ROOT/../shared/data/petitions_zh/petitions.csv
if [ -e "$petitions" ]; then
  sql -c 'CREATE TABLE raw (id text, who text, title text, at text, body text, con text, pro text)'
else
  petitions=$ROOT/test/data/petitions.csv
  sql -c 'CREATE TABLE raw (id text, title text, district text, category text, at text, body text)'
fi
sql -c "\\copy raw FROM '$petitions' (FORMAT csv, HEADER)"
sql <<'SQL'
CREATE TABLE petition AS
SELECT body FROM raw, generate_series(1, (SELECT (100e6 / sum(octet_length(body)))::int + 1 FROM raw));
VACUUM ANALYZE petition;
SQL
rows=$(sql -c 'SELECT count(*) FROM petition')
echo "$(sql -c "SELECT pg_size_pretty(sum(octet_length(body))) FROM petition") of petitions, one core"
ratio "simhash(body) : to_tsvector('simple', body)" \
  'SELECT count(simhash(body)) FROM petition' \
  "SELECT count(to_tsvector('simple', body)) FROM petition" 3 '<= 0.333'
ratio 'simhash(body) : md5(body)' \
  'SELECT count(simhash(body)) FROM petition' \
  'SELECT count(md5(body)) FROM petition' 5 '<= 2.5'
ratio 'minhash64(body) : simhash(body)' \
  'SELECT count(minhash64(body)) FROM petition' \
  'SELECT count(simhash(body)) FROM petition' 5 '<= 1.0'
ratio 'minhash64(body) : md5(body)' \
  'SELECT count(minhash64(body)) FROM petition' \
  'SELECT count(md5(body)) FROM petition' 5 '<= 2.0'
ratio "minhash64(body, 2, 'word') : simhash(body)" \
  "SELECT count(minhash64(body, 2, 'word')) FROM petition" \
  'SELECT count(simhash(body)) FROM petition' 3
ratio 'minhash_bits(body) : minhash64(body)' \
  'SELECT count(minhash_bits(body)) FROM petition' \
  'SELECT count(minhash64(body)) FROM petition' 3
ratio 'minhash64_row(body, 3 fields) : minhash64(body)' \
  "SELECT count(minhash64_row(body, ARRAY['one', 'two', 'three'])) FROM petition" \
  'SELECT count(minhash64(body)) FROM petition' 3
ratio 'simhash_row(body, 3 fields) : simhash(body)' \
  "SELECT count(simhash_row(body, ARRAY['one', 'two', 'three'])) FROM petition" \
  'SELECT count(simhash(body)) FROM petition' 5 '<= 1.3'

# a public library for the same work, of texts folded before: Debian's golang-github-dgryski-go-minhash-dev
if [ -e /usr/share/gocode/src/github.com/dgryski/go-minhash ] && command -v go >/dev/null; then
  cat > "$SCRATCH/sketch.go" <<'GO'
package main

import (
	"bufio"
	"fmt"
	"os"
	"syscall"

	"github.com/dgryski/go-metro"
	"github.com/dgryski/go-minhash"
)

func h1(b []byte) uint64 { return metro.Hash64(b, 1) }
func h2(b []byte) uint64 { return metro.Hash64(b, 2) }

func main() {
	var usage syscall.Rusage
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		sketch := minhash.NewMinWise(h1, h2, 64)
		starts := []int{}
		for at := range lines.Text() {
			starts = append(starts, at)
		}
		starts = append(starts, len(lines.Bytes()))
		for i := 4; i < len(starts); i++ {
			sketch.Push(lines.Bytes()[starts[i-4]:starts[i]])
		}
	}
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	fmt.Println(usage.Utime.Nano() / 1000000)
}
GO
  (cd "$SCRATCH" && GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$SCRATCH/go go build -o sketch sketch.go)
  sql -c "COPY (SELECT lower(regexp_replace(body, '\W', '', 'g')) FROM petition) TO STDOUT" > "$SCRATCH/folded"
  theirs=$(for _ in 1 2 3; do GOMAXPROCS=1 "$SCRATCH/sketch" < "$SCRATCH/folded"; done | median)
  ours=$(for _ in 1 2 3; do seconds 'SELECT count(minhash64(body)) FROM petition'; echo; done | awk '{ print 1000 * $1 }' | median)
  ratio_row 'go-minhash : minhash64(body) (processor time)' "$rows" "$theirs" "$ours"
fi

cc -O2 -Wall -Wextra -I"$ROOT/src" -o "$SCRATCH/text" "$ROOT/test/bench/text.c" "$ROOT"/src/core/*/*.c "$ROOT/test/unit/host.c" -lm
"$SCRATCH/text" > "$SCRATCH/text.out"
ours=$(awk '{ print $1 }' "$SCRATCH/text.out" | median)
plain=$(awk '{ print $2 }' "$SCRATCH/text.out" | median)
ratio_row 'plain 64 counters : sum of features (ns a feature)' 200 "$plain" "$ours" '>= 15'

sql <<'SQL'
CREATE TABLE feature AS
SELECT 'feature' || i % 100000 AS feature, (i % 16)::float8 AS weight FROM generate_series(1, 5000000) i;
VACUUM ANALYZE feature;
SQL
sql <<'SQL'
CREATE TABLE sketch AS SELECT body, minhash_bits(body) AS bits FROM petition LIMIT 2000;
CREATE TABLE candidate AS
SELECT a.body AS body_a, b.body AS body_b, a.bits AS bits_a, b.bits AS bits_b
FROM (SELECT *, row_number() OVER () AS n FROM sketch) AS a JOIN (SELECT *, row_number() OVER () AS n FROM sketch) AS b ON (a.n + 7) % 2000 = b.n,
  generate_series(1, 5);
VACUUM ANALYZE candidate;
SQL
rows=10000
ratio 'shingle_resemblance(a, b) : minhash_bits_resemblance' \
  "SELECT sum(shingle_resemblance(body_a, body_b, 4, 'char')) FROM candidate" \
  'SELECT sum(minhash_bits_resemblance(bits_a, bits_b)) FROM candidate' 3
rows=5000000
ratio 'minhash64_agg(feature) : sum(length(feature))' \
  'SELECT minhash64_agg(feature) FROM feature' \
  'SELECT sum(length(feature)) FROM feature' 3
ratio 'simhash_agg(feature, weight) : sum(weight)' \
  'SELECT simhash_agg(feature, weight) FROM feature' \
  'SELECT sum(weight) FROM feature' 3
ratio 'simhash_agg(feature) : sum(length(feature))' \
  'SELECT simhash_agg(feature) FROM feature' \
  'SELECT sum(length(feature)) FROM feature' 3
