#!/bin/bash
# postal-mime 4.0.0 (npm) decodes quoted-printable where blanks came behind the = of a soft line break on the way.
# Guess: the line goes on, as RFC 2045, 6.7 (3) has such blanks deleted, and as mailparser does. Seen: = and the break are
# in the text.
. "$(dirname "$0")/private_folder"
packages postal-mime@4.0.0 mailparser@3.14.2
cat >t.mjs <<'J'
import PostalMime from 'postal-mime';
import { simpleParser } from 'mailparser';
const mail = 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n' +
  'Content-Transfer-Encoding: quoted-printable\r\n\r\nThe street=  \r\nlamp is dark.\r\n';
console.log('mailparser', JSON.stringify((await simpleParser(mail)).text));
console.log('postal-mime', JSON.stringify((await PostalMime.parse(mail)).text));
J
node t.mjs >out
seen 'mailparser "The streetlamp is dark.\n"' out
seen 'postal-mime "The street=  \nlamp is dark.\n"' out
