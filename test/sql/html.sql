-- the text of a page
\encoding UTF8
SELECT simdup_strip_html('<html><head><title>T</title><style>p {}</style><script>"</p>"</script></head>'
  '<body><h1>A &amp; B</h1><p>one<b>two</b>&nbsp;&#233;&#xC9;<!-- gone --><br>&lt;three&gt; 1 < 2</body>');
SELECT simdup_strip_html(''), simdup_strip_html('plain'), simdup_strip_html('a<'), simdup_strip_html('<p'),
       simdup_strip_html(NULL) IS NULL;
SELECT simdup_strip_html('<description><![CDATA[1 < 2 &amp; <b>3</b>]]></description><p>caf&eacute;&comma; na&iuml;ve&colon; &lbrack;x&rsqb; &fjlig;&Hat;');
-- nesting and repetition without end are no trouble
SELECT simdup_strip_html(repeat('<div>', 100000) || 'deep' || repeat('</div>', 100000));
SELECT length(simdup_strip_html(repeat('<!--', 100000))), length(simdup_strip_html(repeat('<script>', 100000))),
       length(simdup_strip_html(repeat('&', 100000))), length(simdup_strip_html(repeat('<a b="', 100000)));

-- a character that the encoding lacks stays a reference
SELECT current_database() AS home \gset
CREATE DATABASE simdup_latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c simdup_latin1
SET client_min_messages = warning;
CREATE EXTENSION simdup;
SELECT simdup_strip_html('&eacute;&#233;&#20013;&hellip;&#65;') = E'\u00e9\u00e9&#20013;&hellip;A';
SELECT count(*) FROM simdup_shingles(E'\u00c9T\u00c9', 2, 'char') WHERE shingle IN (E'\u00e9t', E't\u00e9');
SELECT rabin_fingerprint(E'\u00e9') = x'c3a9'::bigint;
\c :"home"
DROP DATABASE simdup_latin1;

-- a page that is stored as text is stripped twice; links with tokens are dropped
CREATE TABLE letter (content text, stored text);
INSERT INTO letter
SELECT v, replace(replace('<div class="message-body"><p style="margin: 0 auto">' || replace(v, '. ', '.</p><p style="color: #222">') || '</p></div>', '<', '&lt;'), '>', '&gt;')
FROM (VALUES ('The street lamp in Mill Lane has been dark for three weeks. Nobody from the council has come to mend it. Please send someone soon.')) AS t(v);
SELECT minhash64(content) <~> minhash64(simdup_strip_html(stored)) BETWEEN 13 AND 16 AS once_far,
       minhash64(content) <~> minhash64(simdup_strip_html(simdup_strip_html(stored))) AS twice FROM letter;
SELECT minhash64(a) <~> minhash64(b) > 8 AS with_links,
       minhash64(regexp_replace(a, 'https?://\S+', '', 'g')) <~> minhash64(regexp_replace(b, 'https?://\S+', '', 'g')) AS without
FROM (VALUES ('Please look at https://desk.example/t?token=8Zq0kYx2WmPv7LrN4cBd and answer.',
              'Please look at https://desk.example/t?token=Jh5TgQ9sEaVu3XfRy6Ko and answer.')) AS v(a, b);
DROP TABLE letter;
