'use strict';

// The page is made of two JSON elements: data, and texts in English and Chinese.
// Every value goes into a text node, so no value can become markup.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const texts = JSON.parse(byId('texts').textContent);
const report = data.report;
const counts = report.counts;
const settings = report.settings;
const language = /^zh(-|$)/i.test(data.lang) ? 1 : 0;

// --- texts and numbers

// A text of the page as a list of parts, with values for {1}, {2} and so on.
function parts(key, ...values) {
  const text = data.translations?.[key] ?? texts[key][language];
  return text.split(/(\{[1-9]\})/).map((part) => (/^\{[1-9]\}$/.test(part) ? values[part[1] - 1] ?? part : part));
}

const say = (key, ...values) => parts(key, ...values).join('');

const format = (() => {
  try { return new Intl.NumberFormat(data.lang); } catch { return new Intl.NumberFormat('en'); }
})();
const number = (n) => format.format(n);
// The form of one thing or of many, with their number.
const count = (key, n) => say(`${key}_${n === 1 ? 'one' : 'many'}`, number(n));
// Between sentences, which Chinese does not part.
const gap = language === 1 ? '' : ' ';

// --- elements

// Children are elements, strings, or nothing.
function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

// Characters that cannot be seen, or that turn the text round. Scripts need the
// joiners and marks, so these count only where they are what differs.
const hidden = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}])/u;
const changed = /([\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}])/u;
const arrows = { '\n': '\u21b5\n', '\t': '\u21e5\t' };

// A value as text nodes, with what cannot be seen named.
function shown(value, pattern = hidden) {
  return String(value).replace(/\r\n/g, '\n').split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    if (arrows[part]) return arrows[part];
    const code = part.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    return make('span', { className: 'named' }, `U+${code}`);
  });
}

const passage = (value, name = 'span') => make(name, { className: 'text', dir: 'auto' }, shown(value));

function address(key) {
  const encoded = encodeURIComponent(key.toWellFormed?.() ?? key).replace(/[.!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return data.row_url.split('%s').join(encoded);
}

// A key, as a link where the page has one. A key that was cut leads nowhere.
function keyOf(key, linked = true) {
  const link = linked && data.row_url && !key.endsWith(' ...');
  const words = shown(key);
  return make('b', { className: 'key', dir: 'auto' },
    link ? make('a', { href: address(key), rel: 'noreferrer' }, words) : words);
}

const keysOf = (a, b, linked) => parts('key_pair', keyOf(a, linked), keyOf(b, linked));
const rest = (...words) => make('p', { className: 'rest' }, ...words);
const answer = (same) => say(same ? 'same' : 'not_same');
const isDecided = (same) => (same === null || same === undefined ? null : make('strong', {}, say('decided', answer(same))));

// A time is shown as its date.
function column(name, value) {
  const time = /^(\d{4,}-\d\d-\d\d)T\d\d:\d\d/.exec(value);
  return make('span', { className: 'column', title: time ? `${name} ${value}` : name, dir: 'auto' }, time ? time[1] : shown(value));
}

// A date keeps its order beside any script.
const dayOf = (day) => make('span', { className: 'day', dir: 'ltr' }, day);

// A table whose columns are { head, cell, words }. cell gives a row's value.
function table(caption, columns, rows) {
  const head = columns.map((column) => (column.head === '' ? make('td')
    : make('th', { scope: 'col', className: column.words ? 'words' : '' }, column.head)));
  const body = rows.map((row) => make('tr', {}, columns.map((column, i) => make(i === 0 ? 'th' : 'td', {
    className: column.words ? 'words' : '', ...(i === 0 ? { scope: 'row' } : {}) }, column.cell(row)))));
  return make('div', { className: 'scroll' }, make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, head)), make('tbody', {}, body)));
}

function drawn(name, attributes, children = []) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Bars as wide as their values; each has the class of its place. The edge of the longest one is inside.
const bars = (values, most) => drawn('svg', { width: '100%', height: 12, 'aria-hidden': true },
  values.map((value, i) => drawn('rect', { class: `bar${i}`, x: 1, y: 1, width: `${most > 0 ? (98 * value) / most : 0}%`, height: 10 })));

const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

// The columns of a picture at most, which may be as narrow as a phone.
const mostColumns = 120;

// A picture of rows, each a column of its values in one another, and the table that has their numbers. As many names
// as fit the narrowest picture, of 35 characters, stand below. Its label says every number to who does not see it.
function picture(caption, nameOf, valuesOf, rows, ...numbers) {
  const most = largest(rows.flatMap(valuesOf));
  const wide = 100 / rows.length;
  const step = Math.ceil(rows.length * (largest(rows.map((row) => nameOf(row).length)) + 0.8) / 35);
  const high = (value) => (72 * value) / most;
  const told = (row) => `${nameOf(row)}: ${valuesOf(row).map(number).join(' / ')}`;
  const columns = rows.map((row, i) => drawn('g', {}, [drawn('title', {}, [told(row)]),
    ...valuesOf(row).map((value, j, all) => drawn('rect', { class: `bar${j + 2 - all.length}`, x: `${(i + 0.1) * wide}%`, width: `${0.8 * wide}%`, y: `${86 - high(value)}%`, height: `${high(value)}%` }))]));
  const names = rows.flatMap((row, i) => (i % step > 0 || (step > 1 && i * wide > 80) ? []
    : [drawn('text', { x: `${(step > 1 ? i : i + 0.5) * wide}%`, y: '98%', 'text-anchor': step > 1 ? 'start' : 'middle' }, [nameOf(row)])]));
  return make('figure', {}, make('figcaption', {}, caption),
    drawn('svg', { class: 'picture', role: 'img', 'aria-label': `${caption}. ${rows.map(told).join('; ')}` }, [
      drawn('text', { x: 0, y: '9%' }, [number(most)]), drawn('line', { x1: 0, x2: '100%', y1: '86%', y2: '86%' }), ...columns, ...names]),
    make('details', { className: 'numbers' }, make('summary', {}, say('as_table')), ...numbers));
}
const farthest = largest(report.examples.map((pair) => pair.distance));
const barColumn = (values, rows) => ({ head: '', cell: (row) => bars(values(row), largest(rows.flatMap(values))) });

// --- overview

// What a reader does next, as links to the sections.
function showNext() {
  const next = {
    cases: counts.clusters > 0 ? say('next_cases', count('letters', counts.largest)) : counts.rows > 0 && say('next_none'),
    'to-decide': report.questions?.length > 0 && say('next_decide', count('pairs', report.questions.length)),
    examples: farthest > 0 && say('next_examples', number(farthest)),
    files: counts.clusters > 0 && say('next_files'),
  };
  byId('sections').append(...[...document.querySelectorAll('main > [aria-labelledby]:not([hidden])')].map((section) => make('li', { className: next[section.id] ? 'step' : '' },
    make('a', { href: `#${section.id}` }, next[section.id] || section.querySelector('h2').textContent))));
}

const sizeOf = (row) => [...new Set([row.from, row.to])].map(number).join('\u2013');

function showSizes() {
  byId('sizes').append(picture(say('by_size'), sizeOf, (row) => [row.clusters], report.sizes, table(say('by_size'), [
    { head: say('letters'), words: true, cell: sizeOf },
    { head: say('cases'), cell: (row) => number(row.clusters) },
  ], report.sizes)));
}

function showFacts() {
  const earlier = data.before?.counts ?? data.before;
  const names = ['rows', 'without_fingerprint', 'repeats', 'clusters', 'cluster_rows', ...(counts.clusters > 0 || earlier ? ['largest'] : []), ...('without_case' in counts ? ['without_case'] : [])];
  const columns = [
    { head: say('what'), words: true, cell: (name) => say(`fact_${name}`) },
    { head: say('now'), cell: (name) => number(counts[name]) },
  ];
  if (earlier) {
    const was = (name) => (typeof earlier[name] === 'number' ? earlier[name] : null);
    columns.push({ head: say('before'), cell: (name) => (was(name) === null ? '' : number(was(name))) });
    const sign = (n) => (n > 0 ? '+' : n < 0 ? '\u2212' : '');
    columns.push({ head: say('change'), cell: (name) => (was(name) === null ? ''
      : `${sign(counts[name] - was(name))}${number(Math.abs(counts[name] - was(name)))}`) });
  }
  byId('facts').append(table(say('in_all'), columns, names));
}

// The latest weeks or months, also those without a letter, if their years are of our time.
function latestPeriods({ unit, counts: known }) {
  const first = known[0].from;
  const day = new Date(`${known.at(-1).from}T00:00Z`);
  const rows = [];
  if (!known.every((row) => /^\d{4}-\d\d-\d\d$/.test(row.from))) return known.slice(-mostColumns);
  for (let from = known.at(-1).from; from >= first && rows.length < mostColumns; from = day.toISOString().slice(0, 10)) {
    rows.unshift(known.find((row) => row.from === from) ?? { from, rows: 0, repeats: 0 });
    if (unit === 'month') day.setUTCMonth(day.getUTCMonth() - 1);
    else day.setUTCDate(day.getUTCDate() - 7);
  }
  return rows;
}

function showPeriods() {
  const { periods } = report;
  if (!periods) return;
  const caption = say(`by_${periods.unit}`);
  const columns = latestPeriods(periods);
  const latest = columns.filter((row) => row.rows > 0);
  const nameOf = (row) => (periods.unit === 'month' ? row.from.replace(/-\d\d( BC)?$/, '$1') : row.from);
  byId('periods').append(picture(caption, nameOf, (row) => [row.rows, row.repeats], columns, table(caption, [
    { head: say(periods.unit), words: true, cell: (row) => dayOf(nameOf(row)) },
    { head: say('fact_rows'), cell: (row) => number(row.rows) },
    { head: say('fact_repeats'), cell: (row) => number(row.repeats) },
  ], [...latest].reverse())),
  latest.length < periods.counts.length ? rest(say('earlier_periods', number(latest.length), number(periods.counts.length))) : '');
}

const scopeOf = (scope) => (scope === null ? say('no_scope') : passage(scope));

function showScopes() {
  if (!report.scopes) return;
  const { kept, all } = report.scopes;
  const scopes = { head: say('scope'), words: true, cell: (row) => scopeOf(row.scope) };
  byId('scopes').append(table(say('by_scope'), [scopes, barColumn((row) => [row.rows, row.repeats], kept)], kept.slice(0, 12)),
    make('details', { className: 'numbers' }, make('summary', {}, say('as_table')), table(say('by_scope'), [scopes,
      ...['rows', 'repeats', 'clusters'].map((name) => ({ head: say(`fact_${name}`), cell: (row) => number(row[name]) })),
      { head: say('largest_case'), cell: (row) => number(row.largest) },
    ], kept)), rest(say('scopes_apart')));
  if (kept.length < all) byId('scopes').append(rest(say('more_scopes', number(kept.length), number(all))));
}

// --- cases

function lettersOf(member, one) {
  const line = [keyOf(member.key), ' '];
  (member.columns ?? []).forEach((value, i) => {
    if (value !== null) line.push(column(settings.columns[i], value), ' ');
  });
  if (member.key === one.first) line.push(say(one.is_later ? 'first_here' : 'first_letter'), ' ');
  else {
    const bits = [say('distance', number(member.distance)), ...(settings.method !== 'given' && member.distance > settings.max_distance ? [say('beyond')] : []),
      ...(typeof member.resemblance === 'number' ? [say('resemblance', member.resemblance.toFixed(2))] : [])];
    line.push(make('span', { className: 'bits' }, bits.join(say('list'))), ' ');
  }
  line.push(isDecided(member.decided), ' ');
  if (settings.has_content) {
    if (member.no_text) line.push(say('no_text'));
    else if (member.adds) line.push(say('adds'), ' ', passage(member.adds));
    else line.push(say('adds_nothing'));
    if (member.cut) line.push(' ', make('i', { className: 'omitted' }, say('cut')));
    if (member.lacks) line.push(make('br'), say('leaves_out'), ' ', make('del', {}, passage(member.lacks)));
    if (member.numbers) line.push(make('br'), ...parts('other_numbers', make('b', { dir: 'auto' }, shown(member.numbers))));
  }
  return make('li', { className: 'entry' }, make('p', {}, line));
}

const isLoose = (one) => settings.method !== 'given' && one.reach > settings.max_distance;

function fillCase(body, one) {
  if (isLoose(one)) body.append(rest(say(settings.groups ? 'loose_case' : 'loose_chain')));
  if (settings.has_content) body.append(...(one.common ? [make('h4', {}, say('common')), passage(one.common, 'div')] : one.size > 1 ? [rest(say('no_common'))] : []));
  body.append(make('ol', {}, one.members.map((member) => lettersOf(member, one))));
  const more = one.size - one.members.length;
  if (more > 0) {
    body.append(rest(count('not_shown', more)));
    if (settings.has_content && one.add_nothing > 0) body.append(rest(count('add_nothing', one.add_nothing)));
    if (settings.has_content && one.compared < one.size) body.append(rest(say('compared', count('letters', one.compared))));
  }
}

// A case is filled when it is opened. Most are never.
function showCase(one) {
  const dates = one.from === one.to ? [dayOf(one.from)] : parts('span', dayOf(one.from), dayOf(one.to));
  const fold = make('details', { className: 'case' }, make('summary', {},
    make('span', { className: 'head' }, make('h3', {}, say('case', String(one.id))),
      make('span', { className: 'count' }, one.outside > 0 ? say('here_of_all', count('letters', one.size), number(one.size + one.outside)) : count('letters', one.size)),
      one.from ? make('span', { className: 'when' }, dates) : null,
      one.scope === undefined ? null : make('span', { className: 'scope' }, scopeOf(one.scope)),
      isLoose(one) && !settings.groups ? make('strong', { className: 'loose' }, say('loose')) : null),
    make('span', { className: 'start', dir: 'auto' }, one.start === '' ? keyOf(one.first, false) : shown(one.differs ?? one.start))));
  fold.fill = () => {
    fold.fill = () => {};
    fillCase(fold, one);
  };
  fold.addEventListener('toggle', () => { if (fold.open) fold.fill(); });
  return fold;
}

function showCases() {
  const intro = settings.groups
    ? parts('cases_of_grouping', make('code', {}, shown(settings.groups))) : [say(`cases_of_${settings.method}`)];
  byId('cases-intro').append(...intro, settings.has_content ? `${gap}${say('how_to_read')}` : '');
  const folds = report.cases.kept.map(showCase);
  byId('case-list').append(...(folds.length > 0 ? folds : [rest(say('none'))]));
  if (folds.length === 0) document.querySelectorAll('#cases .tools').forEach((tools) => { tools.hidden = true; });
  const more = report.cases.all - folds.length;
  if (more > 0) byId('case-rest').append(make('div', { className: 'screen' }, rest(count('left_out', more))));
  // paper has the first ten and those that are open
  const paper = make('p', { className: 'rest paper' });
  const tell = () => {
    const printed = folds.filter((fold, i) => !fold.hidden && (i < 10 || fold.open)).length;
    paper.textContent = report.cases.all > printed ? count('not_printed', report.cases.all - printed) : '';
  };
  byId('case-rest').append(paper);
  addEventListener('beforeprint', tell);
  tell();
  return folds;
}

// Search what the cases say, not the page's own words.
function offerSearch(folds) {
  const contents = report.cases.kept.map((one) => [say('case', String(one.id)), one.scope, one.from, one.to, one.start, one.differs, one.common,
    ...one.members.flatMap((member) => [member.key, member.adds, member.lacks, ...(member.columns ?? [])])].join('\n').toLowerCase());
  byId('search').addEventListener('input', () => {
    const wanted = byId('search').value.trim().toLowerCase();
    const found = folds.filter((fold, i) => {
      fold.hidden = !contents[i].includes(wanted);
      return !fold.hidden;
    });
    if (wanted !== '' && found.length <= 20) found.forEach((fold) => { fold.open = true; });
    byId('found').textContent = wanted === '' ? '' : say('found', number(found.length), number(folds.length));
  });
  let open = false;
  byId('open-all').addEventListener('click', (event) => {
    open = !open;
    folds.forEach((fold) => { fold.open = open; });
    event.target.textContent = say(open ? 'close_all' : 'open_all');
  });
  // Distances are for those who ask for them.
  const showNumbers = () => document.body.classList.toggle('no-bits', !byId('show-numbers').checked);
  byId('show-numbers').addEventListener('change', showNumbers);
  showNumbers();
}

// --- pairs

// Two texts as one: [kind, text] with "=", "-" or "+", and ["~", n] for what is
// left out: n characters that both have. ["more", n] counts differences that follow.
function difference(spans) {
  const note = (words) => make('i', { className: 'omitted' }, words);
  const mark = { '-': 'del', '+': 'ins' };
  return make('div', { className: 'text', dir: 'auto' }, spans.map(([kind, value, more]) => {
    if (kind === '=') return shown(value);
    if (kind === '~') return note(say('omitted_same', count('characters', value)));
    if (kind === 'more') return note(count('more_differences', value));
    if (kind === 'cut') return note(say('cut'));
    return [make(mark[kind], {}, shown(value, value.length > 2 ? changed : /([\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff])/u)),
      more > 0 ? note(say('omitted_more', count('characters', more))) : null];
  }));
}

function legend() {
  return make('p', { className: 'legend' }, say('legend'), make('del', {}, say('struck')), ` ${say('legend_struck')}${say('list')}`,
    make('ins', {}, say('underlined')), ` ${say('legend_underlined')}`);
}

function pairLine(pair, ...before) {
  const line = [...before, make('span', { className: 'bits' }, [say('distance', number(pair.distance)),
    ...(typeof pair.resemblance === 'number' ? [say('resemblance', pair.resemblance.toFixed(2))] : []),
    ...(pair.n_decided ? [count('decides', pair.n_decided)] : [])].join(say('list')))];
  return make('p', {}, [...line, isDecided(pair.decided)].flatMap((part) => [part, ' ']));
}

const numbersOf = (pair) => (pair.numbers_a || pair.numbers_b ? make('p', {}, parts('numbers_differ', make('span', {},
  parts('key_pair', make('b', { dir: 'auto' }, shown(pair.numbers_a ?? '\u2013')), make('b', { dir: 'auto' }, shown(pair.numbers_b ?? '\u2013')))))) : null);

function showExamples() {
  const list = byId('example-list');
  if (settings.has_content && report.examples.length > 0) list.append(legend());
  [...report.distances].reverse().forEach(({ distance, pairs }) => {
    const examples = report.examples.filter((pair) => pair.distance === distance);
    if (examples.length === 0) return;
    list.append(make('details', { open: distance === farthest }, make('summary', {},
      make('h3', {}, distance === 0 ? say('equal_fingerprints') : say('distance_head', distance)), ' ', make('span', { className: 'count' }, count('pairs', pairs))),
    examples.map((pair) => make('article', { className: 'entry' }, make('h4', {}, keysOf(pair.a, pair.b)),
      pairLine(pair, pair.same_text ? say('same_text') : ''), numbersOf(pair), pair.differences ? difference(pair.differences) : null))));
  });
  if (report.examples.length === 0) list.append(rest(say('none')));
}

// --- files

// A spreadsheet runs a cell that begins like a formula. Numbers are harmless.
function csvCell(value) {
  const text = String(value ?? '');
  const formula = /^[\s=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  // Read by other signs than a comma, a cell may begin after one, or after a line's end, quoted or not.
  const guarded = text.replace(/([;\t\r\n])(?=["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'");
  return `"${formula ? "'" : ''}${guarded.replace(/"/g, '""')}"`;
}

function csv(columns, rows) {
  const head = columns.map((column) => say(`csv_${column}`));
  return `\ufeff${[head, ...rows].map((row) => `${head.map((_, i) => csvCell(row[i])).join(',')}\r\n`).join('')}`;
}

function save(name, type, text) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// A button for a list, of which the report may hold the first rows only.
function offerFile(button, label, list, name, text) {
  byId(button).hidden = !list;
  if (!list) return;
  const n = list.kept.length < list.all ? say('first_rows', number(list.kept.length), number(list.all)) : number(list.all);
  byId(button).textContent = say(label, n);
  byId(button).addEventListener('click', () => save(name, 'text/csv', text(list.kept)));
}

function offerFiles() {
  const n = report.rows.kept.filter((row) => row.length > 3).length;
  byId('with-texts-label').hidden = n === 0;
  byId('with-texts').nextElementSibling.textContent = n < report.rows.all ? say('with_first_texts', number(n)) : say('with_texts');
  offerFile('save-cases', 'save_cases', report.rows, 'cases.csv',
    (rows) => csv(['case', 'key', 'distance', ...(byId('with-texts').checked ? ['text'] : [])], rows));
  offerFile('save-pairs', 'save_pairs', report.pairs, 'pairs.csv', (rows) => csv(['a', 'b', 'distance'], rows));
  offerFile('save-decisions', 'save_decisions', report.decisions, 'decisions.csv', (rows) => csv(['a', 'b', 'decision', 'note', 'by', 'at'],
    rows.map((row) => [row.a, row.b, answer(row.same), row.note, row.by, row.at])));
}

// --- decisions

function literal(text) {
  const quoted = `'${text.replace(/'/g, "''")}'`;
  return text.includes('\\') ? `E${quoted.replace(/\\/g, '\\\\')}` : quoted;
}

function showDecisions() {
  const { kept, all } = report.decisions;
  if (all === 0) return;
  const some = kept.slice(0, 200);
  byId('decisions').append(make('details', {}, make('summary', {}, make('h3', {}, say('decisions')), ' ', make('span', { className: 'count' }, number(all))),
    table('', [
      { head: say('letters'), words: true, cell: (row) => keysOf(row.a, row.b) },
      { head: say('answer'), words: true, cell: (row) => answer(row.same) },
      ...['note', 'by', 'at'].map((name) => ({ head: say(name), words: true, cell: (row) => shown(row[name] ?? '') })),
    ], some), some.length < all ? rest(say('more_decisions', number(some.length), number(all))) : null));
}

function showQuestion(pair, i) {
  const choice = (value, name) => make('label', {}, make('input', { type: 'radio', name: `pair${i}`, value, checked: value === '' }), ` ${say(name)}`);
  return make('article', { className: 'entry pair' }, make('h3', { id: `pair-${i}` }, keysOf(pair.a, pair.b)), pairLine(pair, say(pair.id === pair.other ? 'why_one_case' : 'why_two_cases')),
    numbersOf(pair), pair.differences ? difference(pair.differences) : null,
    make('fieldset', { 'aria-describedby': `pair-${i}` }, make('legend', {}, say('question')),
      choice('true', 'answer_same'), choice('false', 'answer_not_same'), choice('', 'answer_none')));
}

// Answers stay in this browser until they are saved, by the keys of their pairs,
// so that a reload or the next day's page has them still.
function keptAnswers() {
  const name = `simdup ${settings.groups}`;
  return {
    read: () => { try { return JSON.parse(localStorage.getItem(name)) ?? {}; } catch { return {}; } },
    write: (answers) => { try { localStorage.setItem(name, JSON.stringify(answers)); return true; } catch { return false; } },
    forget: () => { try { localStorage.removeItem(name); } catch { /* nothing was kept */ } },
  };
}

// Rows for the table of decisions, where the smaller key is first. The next refresh takes them.
function inserts(pairs, answers) {
  const rows = pairs.flatMap(({ a, b, is_less: isLess }, i) => (answers[i] === '' ? []
    : [`  (${(isLess ? [a, b] : [b, a]).map(literal).join(', ')}, ${answers[i]})`]));
  return rows.length === 0 ? [] : [`INSERT INTO ${report.decide.table} (a, b, same) VALUES`, `${rows.join(',\n')};`];
}

// One call for each answer; the last one refreshes the groups.
function decideCalls(pairs, answers) {
  const given = ['true', 'false'].filter((one) => answers.includes(one));
  return given.map((one, i) => {
    const chosen = pairs.filter((_, j) => answers[j] === one);
    const keys = ['a', 'b'].map((side) => `ARRAY[${chosen.map((pair) => literal(pair[side])).join(', ')}]`);
    return `SELECT * FROM ${report.decide.decide}(${literal(settings.groups)}, ${keys.join(', ')}, same => ${one}, refresh => ${i === given.length - 1});`;
  });
}

const script = (statements) => `${["SET client_encoding = 'UTF8';", 'BEGIN;', ...statements, 'COMMIT;'].join('\n')}\n`;

function offerQuestions() {
  const pairs = report.questions;
  const articles = pairs.map(showQuestion);
  byId('questions').append(...(pairs.length > 0 ? [legend(), ...articles] : [rest(say('none'))]));
  const kept = keptAnswers();
  const nameOf = (pair) => JSON.stringify([pair.a, pair.b]);
  const answers = () => articles.map((article) => article.querySelector(':checked').value);
  const earlier = kept.read();
  let unsaved = false;
  const n = articles.filter((article, i) => {
    const choice = [...article.querySelectorAll('input')].find((input) => input.value && input.value === earlier[nameOf(pairs[i])]);
    if (choice) choice.checked = true;
    return choice;
  }).length;
  const tell = () => {
    const given = answers().filter((one) => one !== '').length;
    byId('decided').textContent = say(given > 0 ? 'decided_unsaved' : 'decided_count', number(given), number(pairs.length));
  };
  byId('questions').addEventListener('change', () => {
    const all = kept.read();
    answers().forEach((one, i) => {
      if (one) all[nameOf(pairs[i])] = one;
      else delete all[nameOf(pairs[i])];
    });
    unsaved = !kept.write(all);
    tell();
  });
  addEventListener('beforeunload', (event) => { if (unsaved) event.preventDefault(); });
  const offer = (button, name, statements) => byId(button).addEventListener('click', () => {
    save(name, 'application/sql', script(statements(pairs, answers())));
    kept.forget();
    unsaved = false;
    byId('decided').textContent = say('saved', name);
  });
  offer('save-answers', 'decisions.sql', decideCalls);
  offer('save-inserts', 'decisions-insert.sql', inserts);
  tell();
  if (n > 0) byId('kept').textContent = count('kept', n);
}

// --- figures for engineers, and what was asked

// The distance beyond which chance explains more than one pair in twenty.
function stopAt() {
  const beyond = report.distances.findIndex((row) => 20 * row.by_chance > row.pairs);
  if (beyond === 0) return say('chance_everywhere');
  return beyond < 0 ? say('chance_nowhere') : say('stop_at', number(report.distances[beyond - 1].distance));
}

function showFigures() {
  const log = (n) => Math.log(1 + n);
  const expected = (n) => (n > 0 && n < 10 ? n.toPrecision(2) : number(Math.round(n)));
  const unit = settings.unit === 'word' ? 'resemblance_words' : 'resemblance_sentence';
  byId('figures').append(make('h3', {}, say('by_chance')), make('p', {}, ['bits_sentence', 'found_sentence', 'expected_sentence'].map((key) => `${say(key, number(settings.max_distance))}${gap}`),
    say(unit, number(settings.w))),
  make('p', {}, make('strong', {}, counts.cluster_rows > 0 ? stopAt() : '')),
  table(say('distance_column'), [
    { head: say('distance_column'), words: true, cell: (row) => number(row.distance) },
    { head: say('found_column'), cell: (row) => number(row.pairs) },
    { head: say('expected_column'), cell: (row) => expected(row.by_chance) },
    barColumn((row) => [log(row.pairs), log(row.by_chance)], report.distances),
  ], report.distances), rest(say('log_bars')),
  table('', [
    { head: say('what'), words: true, cell: (name) => say(`fact_${name}`) },
    { head: say('now'), cell: (name) => number(counts[name]) },
  ], ['equal_sets', 'equal_rows', 'distinct_fingerprints']));
}

function showSettings() {
  const made = report.made;
  const time = make('time', { dateTime: made.at }, made.at.slice(0, 16).replace('T', ' '));
  const list = (items) => items.flatMap(([name, value]) => [make('dt', {}, say(name)), make('dd', {}, value)]);
  byId('settings').append(...list([
    ['limit', [say('limit_is', number(settings.max_distance)), ...(settings.min_resemblance === null ? [] : [say('list'), say('resemblance_limit', settings.min_resemblance)])]],
    ['method', settings.method],
    ['time', parts('seconds', time, number(made.seconds))],
    ...(report.periods ? [['dates', make('code', {}, shown(report.periods.column))]] : []),
  ]));
  byId('statement').append(...list([
    ['query', make('code', { dir: 'ltr' }, shown(settings.query))],
    ['versions', `simdup ${made.simdup}${say('list')}PostgreSQL ${made.postgresql}`],
  ]));
}

// --- the page

function showHeadline() {
  const share = counts.rows > 0 ? (100 * counts.repeats) / counts.rows : 0;
  byId('headline').textContent = counts.clusters === 0 ? say('headline_none', count('letters', counts.rows))
    : say(`headline_${counts.repeats === 1 ? 'one' : 'many'}`, number(counts.repeats), count('letters', counts.rows),
      share.toFixed(1), count('cases', counts.clusters), number(counts.largest));
  if (counts.rows > 0) byId('share').append(bars([counts.rows, counts.repeats], counts.rows), rest(say('share')));
}

byId('title').append(...shown(data.title));
document.querySelectorAll('[data-text]').forEach((element) => { element.textContent = say(element.dataset.text); });
document.querySelectorAll('[data-label]').forEach((element) => { element.ariaLabel = say(element.dataset.label); });
byId('to-decide').hidden = !report.questions;
// no limit brought the letters of given cases together
byId('examples').hidden = settings.method === 'given';
showHeadline();
showNext();
showFacts();
if (report.sizes.length > 0) showSizes();
showPeriods();
showScopes();
const folds = showCases();
offerSearch(folds);
showExamples();
offerFiles();
if (report.questions) {
  showDecisions();
  offerQuestions();
}
showFigures();
showSettings();
byId('page').hidden = false;
// A box that scrolls can be reached by keys.
document.querySelectorAll('.scroll').forEach((box) => {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
});
addEventListener('hashchange', () => { document.querySelector(':target details')?.setAttribute('open', ''); });
