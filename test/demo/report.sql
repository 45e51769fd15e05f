-- report.sql: the duplicates of a table as a text and as a page, for cron:
--
--   psql -X -d DB -v table=petition -v key=id -v fp=fp -v body=content \
--     -v distance=8 -v out=/var/reports/petition -f report.sql
--
-- writes OUT.txt and OUT.html. Without the variables it is the table petition
-- of the demo, at distance 8, into the current folder. -v url=… makes a link of
-- each key: https://city.example/letters/%s. OUT.json keeps the numbers: those of
-- the last day before this one stand beside today's.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \set table petition \endif
\if :{?key} \else \set key id \endif
\if :{?fp} \else \set fp fp \endif
\if :{?body} \else \set body content \endif
\if :{?distance} \else \set distance 8 \endif
\if :{?out} \else \set out duplicates \endif

\if :{?url} \else \set url '' \endif

SET simdup.progress_interval = 0;
SET client_min_messages = warning;
SELECT format('SELECT %I, %I, %I::text AS content FROM %s ORDER BY 1', :'key', :'fp', :'body', :'table'::regclass) AS query,
  format('SELECT %I, %I FROM %s ORDER BY 1', :'key', :'fp', :'table'::regclass) AS short_query,
  format('Near-duplicates in %s, %s', :'table', current_date) AS title \gset

\set numbers :out .json
\set earlier `[ ! -s :'numbers' ] && echo '{}' || cat :'numbers'`
SELECT CASE WHEN e ->> 'day' = current_date::text THEN e -> 'before' ELSE e - 'before' END AS before
FROM (SELECT :'earlier'::jsonb AS e) AS e \gset
SELECT jsonb_agg(s ORDER BY n) AS summary
FROM simdup_summary(:'short_query', :distance) WITH ORDINALITY AS s (section, item, value, n) \gset

\pset footer off
\set text_file :out .txt
\o :text_file
\qecho :title
SELECT section, item, value, before, value - before AS change
FROM jsonb_to_recordset(:'summary') AS s (section text, item text, value float8, n bigint),
  LATERAL (SELECT (:'before'::jsonb -> 'numbers' ->> (section || ': ' || item))::float8 AS before) AS b
ORDER BY n;

\pset format unaligned
\pset tuples_only on
\set page_file :out .html
\o :page_file
SELECT simdup_report_html(:'query', :'title', :distance, row_url => nullif(:'url', ''), before => :'before'::jsonb -> 'numbers');

\o :numbers
SELECT jsonb_build_object('day', current_date, 'before', :'before'::jsonb,
  'numbers', (SELECT jsonb_object_agg(section || ': ' || item, value)
              FROM jsonb_to_recordset(:'summary') AS s (section text, item text, value float8)
              WHERE section <> 'headline'));
\o
