'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);

// --- files

// A spreadsheet runs a cell that begins like a formula. Numbers are harmless.
function csvCell(value) {
  const text = String(value);
  const formula = /^[\s=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  return '"' + (formula ? "'" : '') + text.replace(/"/g, '""') + '"';
}

function csv(head, rows) {
  return '\ufeff' + [head, ...rows].map((row) => row.map(csvCell).join(',') + '\r\n').join('');
}

function save(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: type + ';charset=utf-8' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function groupsCsv() {
  return csv(['group', 'key', 'distance'], data.rows);
}

function pairsCsv() {
  return csv(['a', 'b', 'distance'], data.pairs);
}

function saver(button, name, text, rows, total) {
  if (rows < total) {
    button.textContent += ` (the first ${rows.toLocaleString('en')} of ${total.toLocaleString('en')} rows)`;
  }
  button.addEventListener('click', () => save(name, 'text/csv', text()));
}

saver(byId('save-groups'), 'groups.csv', groupsCsv, data.rows.length, data.n_rows);
saver(byId('save-pairs'), 'pairs.csv', pairsCsv, data.pairs.length, data.n_pairs);

// --- search among the groups

const groups = [...document.querySelectorAll('details.group')];

// What a row says, in the words of either text: without what is struck out, or
// without what is underlined.
function words(node, without) {
  return [...node.childNodes].map((child) => {
    if (child.localName === without) return '';
    return child.localName ? words(child, without) : child.data;
  }).join('');
}

const texts = groups.map((group) => (words(group, 'del') + '\n' + words(group, 'ins')).toLowerCase());
const few = 20;

function search() {
  const wanted = byId('search').value.trim().toLowerCase();
  let n = 0;
  groups.forEach((group, i) => {
    group.hidden = !texts[i].includes(wanted);
    n += group.hidden ? 0 : 1;
  });
  if (wanted !== '' && n <= few) {
    groups.forEach((group) => { group.open = group.open || !group.hidden; });
  }
  byId('found').textContent = wanted === '' ? '' : `${n} of ${groups.length} groups shown`;
}

byId('search').addEventListener('input', search);

byId('open-all').addEventListener('click', (event) => {
  const open = event.target.textContent === 'Open all';
  groups.forEach((group) => { group.open = open; });
  event.target.textContent = open ? 'Close all' : 'Open all';
});

// --- decisions

function literal(text) {
  const quoted = "'" + text.replace(/'/g, "''") + "'";
  return text.includes('\\') ? 'E' + quoted.replace(/\\/g, '\\\\') : quoted;
}

function decisions(review) {
  return [...document.querySelectorAll('.pair')].flatMap((pair, i) => {
    const same = pair.querySelector(':checked').value;
    const keys = review.pairs[i].map(literal).join(', ');
    return same ? [`SELECT ${review.decide}(${literal(review.target)}::regclass, ${keys}, ${same});`] : [];
  });
}

function offerDecisions(review) {
  const count = () => { byId('decided').textContent = `${decisions(review).length} of ${review.pairs.length} pairs decided`; };
  document.querySelectorAll('.pair').forEach((pair) => pair.addEventListener('change', count));
  byId('save-decisions').addEventListener('click', () => {
    const lines = ["SET client_encoding = 'UTF8';", 'BEGIN;', ...decisions(review), 'COMMIT;'];
    save('decisions.sql', 'application/sql', lines.join('\n') + '\n');
  });
  count();
}

if (byId('review-data')) offerDecisions(JSON.parse(byId('review-data').textContent));

document.querySelectorAll('.tools').forEach((tools) => { tools.hidden = false; });
