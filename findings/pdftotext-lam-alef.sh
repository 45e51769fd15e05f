#!/bin/bash
# pdftotext 22.12.0 (Debian 12: poppler-utils) reads Arabic words with the ligature لا out of a PDF that Chromium made.
# Guess: the words as they were typed. Seen: the two letters of each ligature change places, سلام becomes سالم, which is
# another word. The ligature's glyph stands for لا in the PDF's ToUnicode map.
. "$(dirname "$0")/private_folder"
debian poppler-utils chromium fonts-noto-core
echo '<html lang="ar" dir="rtl"><meta charset="utf-8"><p>لا سلام الاول كتاب</p></html>' >t.html
chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
  --print-to-pdf=t.pdf "file://$work/t.html" >chromium.log 2>&1
pdftotext t.pdf out
seen 'ال سالم االول كتاب' out
