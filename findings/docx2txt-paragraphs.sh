#!/bin/bash
# docx2txt 1.4 (Debian 12) reads a docx of the npm package docx 9.5.1, whose paragraphs have no attributes, as none needs.
# Guess: each paragraph is a line. Seen: all of them are one, and the word across an end is one word. A soft hyphen,
# which nobody sees, comes as a hyphen between blanks.
. "$(dirname "$0")/private_folder"
debian docx2txt
packages docx@9.5.1
cat >t.mjs <<'J'
import { writeFileSync } from 'node:fs';
import { Document, Packer, Paragraph, SoftHyphen, TextRun } from 'docx';
const letter = [new Paragraph('The lamp is broken'), new Paragraph('Please mend it.'),
  new Paragraph({ children: [new TextRun({ children: ['We co', new SoftHyphen(), 'operate'] })] })];
writeFileSync('t.docx', await Packer.toBuffer(new Document({ sections: [{ children: letter }] })));
J
node t.mjs
docx2txt t.docx out
seen 'The lamp is brokenPlease mend it.We co - operate' out
