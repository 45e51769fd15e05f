#!/bin/bash
# catdoc 0.95 and unrtf 0.21.10 (Debian 12) read Chinese in RTF as the standard has it: \u and a signed number of 16 bits.
# 路 (U+8DEF) is negative. Then comes one character for readers that don't know \u.
# Guess: both write 路灯. Seen: catdoc loses 路 and keeps the ? of the other readers behind 灯; unrtf writes the characters
# to HTML, and ?? with --text.
. "$(dirname "$0")/private_folder"
export LC_ALL=C.UTF-8
debian catdoc unrtf
printf '%s' '{\rtf1\ansi\ansicpg936\deff0{\fonttbl{\f0\fnil\fcharset134 SimSun;}}\f0\uc1\u-29201?\u28783?\par}' >t.rtf
catdoc t.rtf >out
seen '?灯?' out
unrtf --html t.rtf 2>errors >html
seen '&#36335;&#28783;' html
unrtf --text t.rtf 2>errors >out
seen '??' out
