# alphabets.sh: minhash64 of texts in ten scripts, against md5, sha256 and hashtext. Texts
# are words of random letters; where people write no blanks, a word is a clause. The
# least processor time of five runs in turn, in nanoseconds a character. SIMDUP_VECTORS=plain or avx2 chooses the path.

. "$ROOT/test/bench/lib.sh"

echo "SIMDUP_VECTORS=${SIMDUP_VECTORS:-}"
printf '%-12s %8s %10s %8s %8s %8s\n' letters length 'ns' ': md5' ': sha256' ': hashtext'
while read -r name alphabet longest; do
  for length in 100 350 1000 10000; do
    sql -v alphabet="$alphabet" -v longest="$longest" -v length="$length" <<'SQL'
DROP TABLE IF EXISTS letter;
CREATE TABLE letter AS
SELECT left(string_agg(w, ' '), :length) AS body
FROM (SELECT t, (SELECT string_agg(substr(:'alphabet', 1 + floor(random() * length(:'alphabet'))::int, 1), '')
                 FROM generate_series(0, (random() * :longest)::int + 0 * (t + i))) AS w
      FROM generate_series(1, 1000000 / :length) t, generate_series(1, :length * 2 / (:longest + 4) + 1) i) AS words
GROUP BY t;
VACUUM letter;
SQL
    {
      echo "\\set spent '(SELECT split_part(pg_read_file(''/proc/self/schedstat''), '' '', 1)::float8 / 4e6)'"
      for _ in 1 2 3 4 5; do
        for f in 'minhash64(body)' 'md5(body)' "sha256(convert_to(body, 'UTF8'))" 'hashtext(body)'; do
          echo 'SELECT :spent AS before \gset'
          echo "SELECT count($f) AS n FROM letter, generate_series(1, 4) \\gset"
          echo 'SELECT :spent - :before;'
        done
      done
    } | sql | awk -v name="$name" -v n="$length" '
      { i = NR % 4; if (!(i in least) || $1 < least[i]) least[i] = $1 }
      END { printf "%-12s %8d %10.1f %8.2f %8.2f %8.2f\n", name, n, least[1], least[1] / least[2], least[1] / least[3], least[1] / least[0] }'
  done
done <<'LETTERS'
English etaoinshrdlucmfwypvbgk 8
German enisratdhulcgmobwfkzäöüß 10
Russian оеаинтсрвлкмдпуяызбгчйхж 10
Simplified 的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会 20
Traditional 這個國時會為來說們學對發後經過電話門關東車馬長見問間題實現應當與從將開動機業 20
Japanese のにはをたがでてとしれさあるいなもかられカタンスルトリ日本語人大年 20
Korean 이다는을의에가고하지로사은기도아자시대한인정리나일 3
Arabic المنيرتبوسدهعقفحكجشصطخذ 7
Hindi कनरतसहमलपयदबवगजािीेोु् 6
Thai านรกอเงทยมลวดสตปคหบพช 20
LETTERS
