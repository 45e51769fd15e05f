-- report.sql: the duplicates of a table as a text and as a page, for cron:
--
--   psql -X -d DB -v table=petition -v key=id -v fp=fp -v body=content \
--     -v distance=8 -v out=/var/reports/petition -f report.sql
--
-- writes OUT.txt and OUT.html. Without the variables it is the table petition
-- of the demo, at distance 8, into the current folder.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \set table petition \endif
\if :{?key} \else \set key id \endif
\if :{?fp} \else \set fp fp \endif
\if :{?body} \else \set body content \endif
\if :{?distance} \else \set distance 8 \endif
\if :{?out} \else \set out duplicates \endif

SET simdup.progress_interval = 0;
SET client_min_messages = warning;
SELECT format('SELECT %I, %I, %I::text FROM %s ORDER BY 1', :'key', :'fp', :'body', :'table'::regclass) AS query,
  format('SELECT %I, %I FROM %s ORDER BY 1', :'key', :'fp', :'table'::regclass) AS short_query,
  format('Near-duplicates in %s, %s', :'table', current_date) AS title \gset

\pset footer off
\set text_file :out .txt
\o :text_file
\qecho :title
SELECT * FROM simdup_summary(:'short_query', :distance);
\set page_file :out .html
\o :page_file
\pset format unaligned
\pset tuples_only on
SELECT simdup_report_html(:'query', :'title', :distance);
\o
