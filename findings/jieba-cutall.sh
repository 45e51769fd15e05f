#!/bin/bash
# @node-rs/jieba 2.0.3 (npm) cuts a Chinese sentence with a name of a rare character into all its words.
# Guess: the character 㛃 is a word of its own, as by cut, and in Python's jieba 0.42.1. Seen: cutAll leaves it out.
. "$(dirname "$0")/private_folder"
packages @node-rs/jieba@2.0.3
cat >t.mjs <<'J'
import jieba from '@node-rs/jieba';
import { dict } from '@node-rs/jieba/dict.js';
const words = jieba.Jieba.withDict(dict);
console.log('cut', words.cut('王㛃家的路灯坏了。', true).join('|'));
console.log('cutAll', words.cutAll('王㛃家的路灯坏了。').join('|'));
J
node t.mjs >out
seen 'cut 王|㛃|家|的|路灯|坏|了|。' out
seen 'cutAll 王|家|的|路|路灯|灯|坏|了|。' out
