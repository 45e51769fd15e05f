#!/bin/bash
# officeparser 7.8.0 (npm) reads the text of a docx with a line break within a paragraph (Shift and Return), and a hyphen
# that does not break.
# Guess: the break is a line end or a blank, and the hyphen a hyphen. Seen: both are gone, and the words are one.
. "$(dirname "$0")/private_folder"
packages officeparser@7.8.0
python3 "$here/docx.py" '<w:r><w:t>Mill Lane</w:t><w:br/><w:t>Lamp 14</w:t><w:noBreakHyphen/><w:t>16</w:t></w:r>'
cat >t.mjs <<'J'
import { parseOffice } from 'officeparser';
console.log((await parseOffice('t.docx')).toText());
J
node t.mjs >out
seen 'Mill LaneLamp 1416' out
