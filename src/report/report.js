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
  return csv([data.decisions ? 'case' : 'group', 'key', 'distance'], data.rows);
}

function pairsCsv() {
  return csv(['a', 'b', 'distance', ...(data.decisions ? ['decision'] : [])], data.pairs);
}

function decisionsCsv() {
  return csv(['a', 'b', 'decision', 'note', 'by', 'at'], data.decisions);
}

function saver(button, name, text, rows, total) {
  if (rows < total) {
    button.textContent += ` (the first ${rows.toLocaleString('en')} of ${total.toLocaleString('en')} rows)`;
  }
  button.addEventListener('click', () => save(name, 'text/csv', text()));
}

saver(byId('save-groups'), data.decisions ? 'cases.csv' : 'groups.csv', groupsCsv, data.rows.length, data.n_rows);
saver(byId('save-pairs'), 'pairs.csv', pairsCsv, data.pairs.length, data.n_pairs);
if (data.decisions) saver(byId('save-decisions-csv'), 'decisions.csv', decisionsCsv, data.decisions.length, data.n_decisions);

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
  byId('found').textContent = wanted === '' ? '' : `${n} of ${groups.length} ${data.decisions ? 'cases' : 'groups'} shown`;
}

byId('search').addEventListener('input', search);

byId('open-all').addEventListener('click', (event) => {
  const open = event.target.textContent === 'Open all';
  groups.forEach((group) => { group.open = open; });
  event.target.textContent = open ? 'Close all' : 'Open all';
});

// --- paper: every group and its differences

const details = [...document.querySelectorAll('details')];
let closed = [];

addEventListener('beforeprint', () => {
  closed = details.filter((one) => !one.open);
  closed.forEach((one) => { one.open = true; });
});
addEventListener('afterprint', () => closed.forEach((one) => { one.open = false; }));

// --- decisions

function literal(text) {
  const quoted = "'" + text.replace(/'/g, "''") + "'";
  return text.includes('\\') ? 'E' + quoted.replace(/\\/g, '\\\\') : quoted;
}

// The pairs that were ticked with an answer.
function decided(review, answer) {
  const pairs = [...document.querySelectorAll('.pair')];
  return review.pairs.filter((keys, i) => pairs[i].querySelector(':checked').value === answer);
}

// One call for each answer; the last one refreshes the groups.
function decisions(review) {
  const answers = ['true', 'false'].filter((answer) => decided(review, answer).length > 0);
  return answers.map((answer, i) => {
    const keys = [0, 1].map((side) => `ARRAY[${decided(review, answer).map((pair) => literal(pair[side])).join(', ')}]::${review.key_type}[]`);
    return `SELECT * FROM ${review.decide}(${literal(review.grouping)}, ${keys.join(', ')}, same => ${answer}, refresh => ${i === answers.length - 1});`;
  });
}

// Answers stay in this browser until they are saved, by the keys of their pairs,
// so that a reload or the next day's page has them still.
function keepAnswers(review) {
  const name = `simdup ${review.grouping}`;
  const pairs = [...document.querySelectorAll('.pair')];
  const key = (i) => JSON.stringify(review.pairs[i]);
  const kept = () => {
    try { return JSON.parse(localStorage.getItem(name)) ?? {}; } catch { return {}; }
  };
  const keep = () => {
    const answers = kept();
    pairs.forEach((pair, i) => {
      const answer = pair.querySelector(':checked').value;
      if (answer) answers[key(i)] = answer;
      else delete answers[key(i)];
    });
    try { localStorage.setItem(name, JSON.stringify(answers)); return true; } catch { return false; }
  };
  const answers = kept();
  let n = 0;
  pairs.forEach((pair, i) => {
    const choice = [...pair.querySelectorAll('input')].find((input) => input.value && input.value === answers[key(i)]);
    if (choice) {
      choice.checked = true;
      n += 1;
    }
  });
  const forget = () => { try { localStorage.removeItem(name); } catch { /* nothing was kept */ } };
  return { n, keep, forget };
}

function offerDecisions(review) {
  const answers = keepAnswers(review);
  let unsaved = false;
  const count = () => {
    const n = decided(review, 'true').length + decided(review, 'false').length;
    byId('decided').textContent = `${n} of ${review.pairs.length} pairs decided${n > 0 ? ', not saved yet' : ''}`;
  };
  document.querySelectorAll('.pair').forEach((pair) => pair.addEventListener('change', () => {
    unsaved = !answers.keep();
    count();
  }));
  addEventListener('beforeunload', (event) => { if (unsaved) event.preventDefault(); });
  byId('save-decisions').addEventListener('click', () => {
    const lines = ["SET client_encoding = 'UTF8';", 'BEGIN;', ...decisions(review), 'COMMIT;'];
    save('decisions.sql', 'application/sql', lines.join('\n') + '\n');
    answers.forget();
    unsaved = false;
    byId('decided').textContent = 'Saved as decisions.sql. Run it with psql.';
  });
  count();
  if (answers.n > 0) byId('kept').textContent = `${answers.n} of your answers were kept in this browser. They are not saved yet.`;
}

if (byId('review-data')) offerDecisions(JSON.parse(byId('review-data').textContent));

document.querySelectorAll('.tools').forEach((tools) => { tools.hidden = false; });
