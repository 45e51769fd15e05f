#!/bin/bash
# mammoth 1.13.0 (npm) takes the raw text of a docx where a word bears its pronunciation, Word's phonetic guide.
# Guess: the word 行 stands in the text, with or without its reading. Seen: both are left out, 人行道 becomes 人道, with a
# warning of an unrecognised element.
. "$(dirname "$0")/private_folder"
packages mammoth@1.13.0
python3 "$here/docx.py" '<w:r><w:t>人</w:t></w:r><w:r><w:ruby><w:rubyPr><w:rubyAlign w:val="center"/>
<w:hps w:val="12"/><w:hpsRaise w:val="18"/><w:hpsBaseText w:val="24"/><w:lid w:val="zh-CN"/></w:rubyPr>
<w:rt><w:r><w:t>xíng</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>行</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>道的路灯坏了。</w:t></w:r>'
cat >t.mjs <<'J'
import mammoth from 'mammoth';
console.log((await mammoth.extractRawText({ path: 't.docx' })).value);
J
node t.mjs >out
seen '人道的路灯坏了。' out
