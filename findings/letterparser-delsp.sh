#!/bin/bash
# letterparser 0.1.8 (npm) reads a mail of format=flowed with delsp=yes (RFC 3676), which languages without blanks use.
# Guess: a line that ends in a blank is joined with the next one, without the blank. Seen: both stay as they came.
. "$(dirname "$0")/private_folder"
packages letterparser@0.1.8
cat >t.mjs <<'J'
import { extract } from 'letterparser';
console.log(JSON.stringify(extract(['From: a@example.org', 'Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes',
  '', '桥头的路 ', '灯坏了。', ''].join('\r\n')).text));
J
node t.mjs >out
seen '桥头的路 \n灯坏了。' out
