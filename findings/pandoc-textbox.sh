#!/bin/bash
# pandoc 2.17.1.1 (Debian 12: pandoc) reads a docx with a paragraph and a text box, drawn as by Word 2007.
# Guess: the words of the box stand once behind the paragraph, as docx2txt has them. Seen: they are missing, without a warning.
. "$(dirname "$0")/private_folder"
debian pandoc
box='<w:txbxContent><w:p><w:r><w:t>Sent in May.</w:t></w:r></w:p></w:txbxContent>'
python3 "$here/docx.py" '<w:r><w:t>The lamp is dark.</w:t></w:r>' "<w:r><w:pict xmlns:v=\"urn:schemas-microsoft-com:vml\">
<v:shape style=\"width:72pt;height:72pt\"><v:textbox>$box</v:textbox></v:shape></w:pict></w:r>"
pandoc -t plain t.docx -o out 2>&1 | tee warnings
seen 'The lamp is dark.' out
if [ -s warnings ] || grep 'Sent in May' out; then exit 1; fi
