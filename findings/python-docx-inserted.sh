#!/bin/bash
# python-docx 0.8.11 (Debian 12: python3-docx) reads the text of a paragraph where somebody added a word with changes tracked.
# Guess: the paragraph's text has the word, which Word shows. Seen: the word is missing.
. "$(dirname "$0")/private_folder"
debian python3-docx
python3 "$here/docx.py" '<w:r><w:t xml:space="preserve">The lamp is </w:t></w:r>
<w:ins w:id="1" w:author="A" w:date="2026-01-01T00:00:00Z"><w:r><w:t>not </w:t></w:r></w:ins><w:r><w:t>mended.</w:t></w:r>'
/usr/bin/python3 -c 'import docx; print(docx.Document("t.docx").paragraphs[0].text)' >out
seen 'The lamp is mended.' out
