#!/usr/bin/python3
"""Make htmlnames.c out of Python's list of the names of HTML 5.

    python3 src/core/tools/htmlnames.py > src/core/unicode/htmlnames.c

The list, html.entities.html5, is that of the standard, which is never to change:
https://html.spec.whatwg.org/entities.json. Names are in byte order. A name is
followed by a semicolon, or by an exclamation mark if browsers read it without
its semicolon, too. Behind it come one code point or two, in hexadecimal digits.
"""
from html.entities import html5

entries = []
for name in sorted(key[:-1] for key in html5 if key.endswith(';')):
    mark = '!' if name in html5 else ';'
    entries.append(name + mark + '+'.join(f'{ord(c):x}' for c in html5[name + ';']))

print('''/*
 * htmlnames.c
 *	  The named character references of HTML 5.
 *
 * Made by tools/htmlnames.py from the standard's list.
 */
#include "core/unicode/htmlnames.h"

const char simdup_html_names[] =''')
line = ' '
for entry in entries:
    if len(line) + len(entry) > 104:
        print(f'\t"{line}"')
        line = ''
    line += entry + ' '
print(f'\t"{line}";')
print('const size_t simdup_html_names_len = sizeof(simdup_html_names) - 1;')
