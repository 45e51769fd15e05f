#!/bin/bash
# LibreOffice 7.4.7 (Debian 12: libreoffice-writer-nogui) makes a PDF, without a window, of a docx where somebody
# struck the word "new" and wrote "dark" with changes tracked.
# Guess: the PDF has "dark" alone, as pandoc does. Seen: the struck word is printed, too, and reads as "newdark".
. "$(dirname "$0")/private_folder"
debian libreoffice-writer-nogui poppler-utils
author='w:author="A" w:date="2026-01-01T00:00:00Z"'
python3 "$here/docx.py" "<w:r><w:t xml:space=\"preserve\">The lamp is </w:t></w:r>
<w:del w:id=\"1\" $author><w:r><w:delText>new</w:delText></w:r></w:del><w:ins w:id=\"2\" $author><w:r><w:t>dark</w:t></w:r></w:ins>"
soffice --headless "-env:UserInstallation=file://$work/profile" --convert-to pdf t.docx >soffice.log 2>&1
pdftotext t.pdf out
seen 'The lamp is newdark' out
