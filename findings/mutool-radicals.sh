#!/bin/bash
# mutool 1.21.1 (Debian 12: mupdf-tools) reads Chinese out of a PDF that Chromium made with the font Noto Sans CJK.
# Guess: 长门 as it was typed, as pdftotext has it. Seen: the radicals U+2ED3 and U+2ED4, which look the same. They
# stand in the PDF's ToUnicode map, the characters in its ActualText. NFKC doesn't change these two.
. "$(dirname "$0")/private_folder"
debian mupdf-tools poppler-utils chromium fonts-noto-cjk
echo '<html lang="zh-CN"><meta charset="utf-8"><p style="font-family: Noto Sans CJK SC">长门的路灯</p></html>' >t.html
chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
  --print-to-pdf=t.pdf "file://$work/t.html" >chromium.log 2>&1
pdftotext t.pdf out
seen '长门的路灯' out
mutool draw -q -F txt t.pdf >out2
seen $'\xe2\xbb\x93\xe2\xbb\x94的路灯' out2
