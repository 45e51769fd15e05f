# routes.sh: how far a letter is from itself when it comes by another route.
#
# routes.txt has one letter in each of some languages, as typed. Each route below makes
# a file of it, and reads the text out of that file by a tool. The table has the distance
# of minhash64, least to most, for each group of scripts, and the least resemblance. It
# counts the letters whose simdup_numbers are equal, or all of one side's among the
# other's. It is the table of doc/simdup-routes.md.
#
# LANGUAGES="en zh" and ROUTES="w3m pdf" choose some, one letter a line with RAW=yes.
# A route whose tool is not installed is left out, and said so.

. "$ROOT/test/bench/lib.sh"

cd "$SCRATCH" || exit
export LC_ALL=C.UTF-8 HOME=$SCRATCH OMP_THREAD_LIMIT=1

# route NAME "WHAT IT IS" "PROGRAMS IT NEEDS" COMMAND: one line of the table. The command prints
# the text of the letter $lang, whose language Tesseract calls $ocr.
names=()
declare -A title tools command
route()
{
  names+=("$1")
  title[$1]=$2
  tools[$1]=$3
  command[$1]=$4
}

route strip_html 'HTML, `simdup_strip_html`' 'psql' 'sql -v page="$(cat "$lang.html")" <<<"SELECT simdup_strip_html(:'\''page'\'')"'
route w3m 'HTML, w3m' 'w3m' 'w3m -dump -T text/html -I UTF-8 -O UTF-8 "$lang.html"'
route lynx 'HTML, lynx -nolist' 'lynx' 'lynx -dump -nolist -assume_charset=utf-8 -display_charset=utf-8 "$lang.html"'
route pandoc 'HTML, pandoc' 'pandoc' 'pandoc -t plain "$lang.html"'
route html2text 'HTML, html2text' 'html2text' 'html2text -utf8 -nobs "$lang.html"'
route python 'mail, Python' 'python3' '/usr/bin/python3 mail.py python "$lang"'
route ripmime 'mail, ripmime' 'python3 ripmime' '/usr/bin/python3 mail.py eml "$lang" && mkdir -p "mime_$lang" && ripmime -i "$lang.eml" -d "mime_$lang" && cat "mime_$lang/textfile1"'
route quoted 'mail, wrapped and quoted by >' 'python3' '/usr/bin/python3 mail.py quoted "$lang"'
route qp 'mail not decoded, quoted-printable' 'python3' '/usr/bin/python3 mail.py qp "$lang"'
route base64 'mail not decoded, base64' 'python3' '/usr/bin/python3 mail.py base64 "$lang"'
route docx 'docx, pandoc' 'pandoc' 'docx "$lang" && pandoc -t plain "$lang.docx"'
route docx2txt 'docx, docx2txt' 'pandoc docx2txt' 'docx "$lang" && docx2txt "$lang.docx" -'
route docx_table 'docx with a table, python-docx, paragraphs' 'pandoc python3-docx' 'docx "$lang.table" && /usr/bin/python3 -c '\''import docx, sys; print("\n".join(p.text for p in docx.Document(sys.argv[1]).paragraphs))'\'' "$lang.table.docx"'
route docx_writer 'docx, LibreOffice' 'pandoc soffice' 'writer txt:Text && cat "writer_txt:Text/$lang.txt"'
route antiword 'doc, antiword' 'pandoc soffice antiword' 'writer doc && antiword -m UTF-8.txt "writer_doc/$lang.doc"'
route catdoc 'doc, catdoc' 'pandoc soffice catdoc' 'writer doc && catdoc -d utf-8 "writer_doc/$lang.doc"'
route odt2txt 'odt, odt2txt' 'pandoc odt2txt' 'made "$lang.odt" pandoc -o "$lang.odt" "$lang.html" && odt2txt --encoding=UTF-8 "$lang.odt"'
route unrtf 'rtf, unrtf --text' 'pandoc soffice unrtf' 'writer rtf && unrtf --text "writer_rtf/$lang.rtf"'
route pdf 'PDF by Chromium, pdftotext' 'fonts-noto chromium pdftotext' 'chromium_pdf "$lang" && pdftotext "$lang.pdf" -'
route pdf_raw 'PDF by Chromium, pdftotext -raw' 'fonts-noto chromium pdftotext' 'chromium_pdf "$lang" && pdftotext -raw "$lang.pdf" -'
route pdf_mutool 'PDF by Chromium, mutool' 'fonts-noto chromium mutool' 'chromium_pdf "$lang" && mutool draw -q -F txt "$lang.pdf"'
route pdf_miner 'PDF by Chromium, pdfminer' 'fonts-noto chromium pdf2txt' 'chromium_pdf "$lang" && pdf2txt "$lang.pdf"'
route pdf_gs 'PDF by Chromium, Ghostscript' 'fonts-noto chromium gs' 'chromium_pdf "$lang" && gs -q -sDEVICE=txtwrite -o - "$lang.pdf"'
route pdf_writer 'PDF by LibreOffice, pdftotext' 'fonts-noto pandoc soffice pdftotext' 'writer pdf && pdftotext "writer_pdf/$lang.pdf" -'
route pdf_weasy 'PDF by WeasyPrint, pdftotext' 'fonts-noto weasyprint pdftotext' 'made "$lang.weasy.pdf" weasyprint "$lang.html" "$lang.weasy.pdf" && pdftotext "$lang.weasy.pdf" -'
route columns 'two columns, pdftotext' 'fonts-noto chromium pdftotext' 'chromium_pdf "$lang.columns" && pdftotext "$lang.columns.pdf" -'
route columns_layout 'two columns, pdftotext -layout' 'fonts-noto chromium pdftotext' 'chromium_pdf "$lang.columns" && pdftotext -layout "$lang.columns.pdf" -'
route scan 'scan, 300 dpi, Tesseract' 'fonts-noto chromium pdftoppm python3-pil tesseract' 'read_page "$lang" 300 "$ocr"'
route fax 'fax, 200 dpi, black and white' 'fonts-noto chromium pdftoppm python3-pil tesseract' 'read_page "$lang" 200 "$ocr"'

# lacks TOOL...: the first that is not installed
lacks()
{
  for tool in "$@"; do
    case $tool in
      python3-docx) /usr/bin/python3 -c 'import docx' 2>/dev/null ;;
      python3-pil) /usr/bin/python3 -c 'import PIL' 2>/dev/null ;;
      fonts-noto) [ -n "$(fc-list :lang=ar)" ] && [ -n "$(fc-list :lang=zh)" ] ;;
      *) command -v "$tool" >/dev/null ;;
    esac || { echo "$tool"; return; }
  done
}

# Each letter as text and as HTML, on one page and in two columns.
cat >letters.py <<'P'
import html, sys
letter = None
for line in open(sys.argv[1], encoding='utf-8').read().splitlines() + ['# end']:
    if line[0] != '#':
        lines.append(line)
        continue
    if letter and (len(sys.argv) == 2 or letter[1] in sys.argv[2:]):
        _, name, group, ocr = letter
        print(name, group, ocr)
        open(name + '.txt', 'w').write('\n\n'.join(lines) + '\n')
        for kind, style in ('html', 'font: 12pt serif'), ('columns.html', 'font: 11pt serif; columns: 2'):
            direction = 'rtl' if group == 'Arabic-Hebrew' else 'ltr'
            open(f'{name}.{kind}', 'w').write(
                f'<!DOCTYPE html><html lang="{name}" dir="{direction}"><head><meta charset="utf-8"><title>-</title>'
                f'<style>body {{ {style} }}</style></head><body>'
                + '\n'.join(f'<p>{html.escape(line)}</p>' for line in lines) + '</body></html>')
        # the third line is a table of one row
        table = f'<table><tr><td>{lines[2][:len(lines[2]) // 2]}</td><td>{lines[2][len(lines[2]) // 2:]}</td></tr></table>'
        open(f'{name}.table.html', 'w').write('\n'.join(table if i == 2 else f'<p>{line}</p>' for i, line in enumerate(lines)))
    letter, lines = line.split(), []
P
cat >mail.py <<'P'
import email, email.message, email.policy, sys, textwrap
what, name = sys.argv[1:]
text = open(name + '.txt').read()
if what == 'quoted':
    print('\n'.join('> ' + line for part in text.split('\n') for line in textwrap.wrap(part, 70) or ['']))
    sys.exit()
message = email.message.EmailMessage(policy=email.policy.SMTP)
message['Subject'] = 'A letter'
message.set_content(text, cte='base64' if what == 'base64' else 'quoted-printable')
message.add_alternative(open(name + '.html').read(), subtype='html', cte='base64')
raw = message.as_bytes()
open(name + '.eml', 'wb').write(raw)
if what == 'python':
    print(email.message_from_bytes(raw, policy=email.policy.default).get_body(('plain',)).get_content())
elif what != 'eml':
    print(message.get_body(('plain',)).get_payload())
P

cat >scan.py <<'P'
import sys
from PIL import Image, ImageChops
page = Image.open(sys.argv[1] + '.pgm').rotate(0.7, Image.BICUBIC, fillcolor=255)
page = ImageChops.add(page, Image.effect_noise(page.size, 20), offset=-128)
if sys.argv[1].endswith('.200'):
    page = page.point(lambda grey: 255 * (grey > 140))
page.save(sys.argv[1] + '.png')
P

# made FILE COMMAND...: run the command unless it has made the file
made()
{
  [ -e "$1" ] || "${@:2}" >/dev/null 2>&1
}
chromium_pdf() { made "$1.pdf" chromium --headless --no-sandbox --disable-gpu --user-data-dir="$SCRATCH/chromium" --no-pdf-header-footer --print-to-pdf="$1.pdf" "file://$SCRATCH/$1.html"; }
docx() { made "$1.docx" pandoc -o "$1.docx" "$1.html"; }
# LibreOffice converts the letters of all languages at once
writer()
{
  local letter
  for letter in "${languages[@]}"; do docx "$letter"; done
  made "writer_$1" soffice --headless "-env:UserInstallation=file://$SCRATCH/office" --convert-to "$1" --outdir "writer_$1" "${languages[@]/%/.docx}"
}
# read_page LANGUAGE DPI OCR: the page, scanned at a slight angle
read_page()
{
  chromium_pdf "$1"
  pdftoppm -singlefile -gray -r "$2" "$1.pdf" "$1.$2"
  /usr/bin/python3 scan.py "$1.$2"
  tesseract "$1.$2.png" - -l "$3"
}

/usr/bin/python3 letters.py "$ROOT/test/bench/routes.txt" ${LANGUAGES:-} >letters
mapfile -t languages < <(cut -d ' ' -f 1 letters)

sql -c 'CREATE TABLE letter (lang text, script text, content text)' -c 'CREATE TABLE copy (nr integer, name text, title text, lang text, content text)'
# clean FILE: UTF-8 without U+0000, and with the same blanks in amounts
clean() { iconv -c -f UTF-8 -t UTF-8 "$1" | tr -d '\000' | sed 's/[  ]/ /g'; }
while read -r lang script ocr; do
  sql -v lang="$lang" -v script="$script" -v content="$(clean "$lang.txt")" <<<"INSERT INTO letter VALUES (:'lang', :'script', :'content')"
done <letters

for nr in "${!names[@]}"; do
  name=${names[nr]}
  [[ " ${ROUTES:-$name} " == *" $name "* ]] || continue
  missing=$(lacks ${tools[$name]})
  if [ -n "$missing" ]; then
    echo "$name: there is no $missing"
    continue
  fi
  while read -r lang script ocr; do
    eval "${command[$name]}" >text 2>/dev/null </dev/null || echo "$name: no text of $lang"
    sql -v nr="$nr" -v name="$name" -v title="${title[$name]}" -v lang="$lang" -v content="$(clean text)" <<<"INSERT INTO copy VALUES (:nr, :'name', :'title', :'lang', :'content')"
  done <letters
done

sql <<'SQL'
CREATE VIEW compared AS
SELECT nr, name, title, lang, script, fp <~> minhash64(c.content) AS distance, shingle_resemblance(c.content, l.content) AS resemblance,
  c_numbers = l_numbers AS equal, c_numbers @> l_numbers OR c_numbers <@ l_numbers AS contained
FROM copy AS c JOIN letter AS l USING (lang), minhash64(l.content) AS fp,
  string_to_array(simdup_numbers(c.content), ' ') AS c_numbers, string_to_array(simdup_numbers(l.content), ' ') AS l_numbers;
SQL
if [ -n "${RAW:-}" ]; then
  sql -F ' ' -c 'SELECT name, lang, distance, round(resemblance::numeric, 2), equal, contained, title FROM compared ORDER BY nr, lang'
  exit
fi
echo '| the letter comes as | Latin, Cyrillic, Korean | Chinese, Japanese | Thai, Hindi | Arabic, Hebrew | least resemblance | numbers equal | numbers contained |'
echo '|---|---|---|---|---|---|---|---|'
sql <<'SQL'
SELECT format('| %s | %s | %s | %s of %s | %s |', title,
  string_agg(span, ' | ' ORDER BY place), round(min(least)::numeric, 2), sum(n_equal), sum(n), sum(n_contained))
FROM (SELECT nr, title, place, concat_ws('–', min(distance), nullif(max(distance), min(distance))) AS span, min(resemblance) AS least,
        count(*) FILTER (WHERE equal) AS n_equal, count(*) FILTER (WHERE contained) AS n_contained, count(*) AS n
      FROM compared, array_position('{Latin,Chinese-Japanese,Thai-Hindi,Arabic-Hebrew}', script) AS place GROUP BY nr, title, place) AS s
GROUP BY nr, title ORDER BY nr;
SQL
