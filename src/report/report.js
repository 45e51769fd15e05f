'use strict';

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const texts = JSON.parse(byId('texts').textContent);

// A text of the page, with values for {1}, {2} and so on.
function say(key, ...values) {
  return texts[key].replace(/\{([1-9])\}/g, (all, i) => values[i - 1] ?? all);
}

// --- files

// A spreadsheet runs a cell that begins like a formula. Numbers are harmless.
function csvCell(value) {
  const text = String(value ?? '');
  const formula = /^[\s=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  return '"' + (formula ? "'" : '') + text.replace(/"/g, '""') + '"';
}

function csv(columns, rows) {
  const head = columns.map((column) => say(`csv_${column}`));
  return '\ufeff' + [head, ...rows].map((row) => head.map((_, i) => csvCell(row[i])).join(',') + '\r\n').join('');
}

function save(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: type + ';charset=utf-8' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const decision = (same) => (same === undefined ? '' : say(same ? 'same' : 'not_same'));
const decided = (row, at) => row.map((value, i) => (i === at ? decision(value) : value));
const withTexts = () => byId('with-texts')?.checked;
const number = (n) => n.toLocaleString('en');

function casesCsv() {
  if (!withTexts()) return csv(['case', 'key', 'distance'], data.rows);
  return csv(['case', 'key', 'distance', 'text'], data.rows.map((row, i) => [...row, data.texts[i]]));
}

function pairsCsv() {
  return csv(['a', 'b', 'distance', ...(data.decisions ? ['decision'] : [])], data.pairs.map((pair) => decided(pair, 3)));
}

function decisionsCsv() {
  return csv(['a', 'b', 'decision', 'note', 'by', 'at'], data.decisions.map((row) => decided(row, 2)));
}

function saver(button, name, text, rows, total) {
  if (rows < total) button.textContent = say('first_rows', button.textContent, number(rows), number(total));
  button.addEventListener('click', () => save(name, 'text/csv', text()));
}

saver(byId('save-groups'), 'cases.csv', casesCsv, data.rows.length, data.n_rows);
saver(byId('save-pairs'), 'pairs.csv', pairsCsv, data.pairs.length, data.n_pairs);
if (data.decisions) saver(byId('save-decisions-csv'), 'decisions.csv', decisionsCsv, data.decisions.length, data.n_decisions);

if (data.texts && data.texts.length < data.n_rows) {
  byId('with-texts').nextElementSibling.textContent = say('with_first_texts', number(data.texts.length));
}

// --- search among the cases

const groups = [...document.querySelectorAll('details.group')];
// The letters' words, not the page's own.
const contents = groups.map((group) => [...group.querySelectorAll('h3, .key, .start, .text')]
  .map((part) => part.textContent.toLowerCase()).join('\n'));
const few = 20;

function search() {
  const wanted = byId('search').value.trim().toLowerCase();
  let n = 0;
  groups.forEach((group, i) => {
    group.hidden = !contents[i].includes(wanted);
    n += group.hidden ? 0 : 1;
  });
  if (wanted !== '' && n <= few) {
    groups.forEach((group) => { group.open = group.open || !group.hidden; });
  }
  byId('found').textContent = wanted === '' ? '' : say('found', number(n), number(groups.length));
}

byId('search').addEventListener('input', search);

let allOpen = false;
byId('open-all').addEventListener('click', (event) => {
  allOpen = !allOpen;
  groups.forEach((group) => { group.open = allOpen; });
  event.target.textContent = say(allOpen ? 'close_all' : 'open_all');
});

// Bits and other numbers are for those who ask for them.
const showNumbers = () => document.body.classList.toggle('no-bits', !byId('show-numbers').checked);
byId('show-numbers').addEventListener('change', showNumbers);
showNumbers();

// --- paper: every case and its differences

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
function ticked(review, answer) {
  const pairs = [...document.querySelectorAll('.pair')];
  return review.pairs.filter((keys, i) => pairs[i].querySelector(':checked').value === answer);
}

// One call for each answer; the last one refreshes the groups.
function decisions(review) {
  const answers = ['true', 'false'].filter((answer) => ticked(review, answer).length > 0);
  return answers.map((answer, i) => {
    const keys = [0, 1].map((side) => `ARRAY[${ticked(review, answer).map((pair) => literal(pair[side])).join(', ')}]::${review.key_type}[]`);
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
    const n = ticked(review, 'true').length + ticked(review, 'false').length;
    byId('decided').textContent = say(n > 0 ? 'decided_unsaved' : 'decided_count', n, review.pairs.length);
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
    byId('decided').textContent = say('saved', 'decisions.sql');
  });
  count();
  if (answers.n > 0) byId('kept').textContent = say(answers.n === 1 ? 'kept_one' : 'kept_many', answers.n);
}

if (byId('review-data')) offerDecisions(JSON.parse(byId('review-data').textContent));

document.querySelectorAll('.tools').forEach((tools) => { tools.hidden = false; });
