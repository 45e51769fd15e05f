#!/bin/bash
# @iarna/rtf-to-html 1.1.0 (npm) reads Chinese in RTF as Word writes it: \u with the character, then two bytes of code
# page 936. They are for readers that don't know \u. \uc2 says that there are two.
# Guess: the character comes once. Seen: it comes twice, 路灯 becomes 路路灯灯.
. "$(dirname "$0")/private_folder"
packages @iarna/rtf-to-html@1.1.0
printf '%s' '{\rtf1\ansi\ansicpg936\deff0{\fonttbl{\f0\fnil\fcharset134 SimSun;}}' \
  "\\f0\\uc2\\u-29201\\'c2\\'b7\\u28783\\'b5\\'c6\\par}" >t.rtf
cat >t.mjs <<'J'
import { readFileSync } from 'node:fs';
import rtf from '@iarna/rtf-to-html';
rtf.fromString(readFileSync('t.rtf', 'latin1'), (error, html) => console.log(error ?? html));
J
node t.mjs >out
seen '路路灯灯' out
