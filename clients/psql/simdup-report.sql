-- simdup-report.sql: the near-duplicates of a source as a text and as a page, for cron:
--
--   psql -X -d city -v source=letters -v distance=8 -v out=/var/reports/letters \
--     -f "$(pg_config --sharedir)/extension/simdup-report.sql"
--
-- writes OUT.txt and OUT.html. The source is a table or view as simdup_report takes
-- it. Without one, it is the columns or expressions -v key=id, -v body=content and
-- -v fp='minhash64(body)' of -v table=petition. Each key is a link with
-- -v url=https://city.example/letters/%s. The page is in Chinese with -v lang=zh, and has
-- another title with -v title=…. With -v groups=letter_case, it has the cases of that
-- grouping, by its settings. OUT.json keeps the counts: those of the last day before
-- this one stand beside today's.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?distance} \else \set distance 8 \endif
\if :{?out} \else \set out duplicates \endif
\if :{?url} \else \set url '' \endif
\if :{?lang} \else \set lang en \endif
\if :{?groups} \else \set groups '' \endif
SET client_min_messages = warning;

-- Functions and operators below are the catalogs' and the extension's own, with any search_path.
SELECT n.nspname AS simdup
FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
WHERE e.extname OPERATOR(pg_catalog.=) 'simdup' \gset
\if :{?source}
\set name :source
\else
\if :{?table} \else \set table petition \endif
\if :{?key} \else \set key id \endif
\if :{?body} \else \set body content \endif
\if :{?fp} \else \set fp :"simdup" '.minhash64((' :body ')::pg_catalog.text)' \endif
CREATE TEMPORARY VIEW duplicate_source AS SELECT :key AS key, :fp AS fp, (:body)::pg_catalog.text AS content FROM :table;
\set source pg_temp.duplicate_source
\set name :table
\endif
SELECT :'source'::pg_catalog.regclass::pg_catalog.oid AS source,
  CASE WHEN :'groups' OPERATOR(pg_catalog.<>) ''
    THEN :'groups'::pg_catalog.text::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text
    ELSE '' END AS groups \gset
SET search_path = pg_catalog, pg_temp;
\if :{?title} \else
SELECT format('Near-duplicates in %s, %s', :'name', current_date) AS title \gset
\endif

\set numbers :out .json
\set earlier `[ ! -s :'numbers' ] && echo '{}' || cat :'numbers'`
SELECT CASE WHEN e ->> 'day' = current_date::text THEN e -> 'before' ELSE e - 'before' END AS before
FROM (SELECT :'earlier'::jsonb AS e) AS e \gset
CREATE TEMPORARY TABLE duplicate_report AS SELECT :"simdup".simdup_report(:'source', :distance,
  groups => nullif(:'groups', '')::oid::regclass) AS report;
-- before its file is opened, so that an error leaves the last page
CREATE TEMPORARY TABLE duplicate_page AS
SELECT :"simdup".simdup_report_html(title => :'title', report => report, row_url => nullif(:'url', ''),
  lang => :'lang', before => nullif(:'before'::jsonb, '{}')) AS html FROM duplicate_report;

\pset footer off
\set text_file :out .txt
\o :text_file
\qecho :title
SELECT key AS count, value::bigint AS now, before, value::bigint - before AS change
FROM duplicate_report, jsonb_each_text(report -> 'counts'),
  LATERAL (SELECT (:'before'::jsonb -> 'counts' ->> key)::bigint AS before) AS b;

\pset format unaligned
\pset tuples_only on
\set page_file :out .html
\o :page_file
SELECT html FROM duplicate_page;

\o :numbers
SELECT jsonb_build_object('day', current_date, 'before', :'before'::jsonb, 'counts', report -> 'counts') FROM duplicate_report;
\o
