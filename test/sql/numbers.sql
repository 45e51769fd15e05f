-- simdup_numbers: the numbers of a text in many scripts. More cases are in the
-- unit test. In SQL_ASCII the bytes of UTF-8 have the same numbers.
SELECT getdatabaseencoding() NOT IN ('UTF8', 'SQL_ASCII') AS skip_test \gset
\if :skip_test
\echo skipped: the encoding of the database lacks these characters
\quit
\endif
\encoding UTF8

CREATE TABLE said (content text, numbers text);
INSERT INTO said VALUES
  ('', ''), ('no number at all', ''), ('one lamp', ''),
  ('Lamps 14 and 15, since 3 May 2024.', '14 15 3 2024'), ('room B12a', '12'), ('007', '007'),
  -- decimal digits of any script
  ('３，０００元', '3000'), ('٣ مصابيح في شارع ١٢', '3 12'), ('۱٬۲۳۴٫۵', '1234.5'), ('१२,३४,५६७.८९', '1234567.89'), ('ห้อง ๑๔', '14'),
  -- separators of groups, decimal marks
  ('1,234,567.89', '1234567.89'), ('1.234.567,89', '1234567.89'), ('1''234''567', '1234567'), ('12,34,567', '1234567'),
  (E'1\xc2\xa0234\xe2\x80\xaf567', '1234 567'), (E'1\xc2\xa0234\xc2\xa0567,5', '1234567.5'), ('1 234 567', '1 234 567'),
  ('1.234', '1.234'), ('3,14', '3.14'), ('0,123', '0.123'), ('1.', '1'), ('it is .5', '.5'), ('No.5', '5'),
  ('12.05.2024', '12 05 2024'), ('1,2,3', '1 2 3'), ('12-34', '12 34'), ('-5', '5'), ('5%', '5'), ('12:30', '12 30'),
  -- currency signs
  ('£1', '£1'), ('€1', '€1'), ('50 €', '50€'), ('$ 1,234.50 and $5', '$1234.50 $5'), ('￥３万元', '¥30000'), ('5 ¥', '5¥'),
  -- Chinese numerals
  ('二十', '20'), ('一百零五', '105'), ('二〇二四年十二月', '2024 12'), ('两千三百', '2300'), ('两千三', '2300'), ('壹仟貳佰叁拾肆圓', '1234'),
  ('一亿零三十', '100000030'), ('一个人，八盏灯', ''), ('3万', '30000'), ('1.5亿', '150000000'), ('3万五千', '30000 5000'), ('三四百', '34 100');
SELECT count(*), count(*) FILTER (WHERE simdup_numbers(content) = numbers) AS right FROM said;
SELECT content, numbers, simdup_numbers(content) FROM said WHERE simdup_numbers(content) <> numbers;
-- the numbers of the numbers are the numbers
SELECT count(*) FROM said WHERE simdup_numbers(simdup_numbers(content)) <> numbers;
DROP TABLE said;
SELECT simdup_numbers(NULL) IS NULL AS null;

-- the numbers that another text lacks
SELECT simdup_numbers('14 of 20, £5, 14', 'house 20, €5') AS own, simdup_numbers('14', '20 14') = '' AS none, simdup_numbers('14 20', 'no number') AS "all",
  simdup_numbers('14 140', '1 4 40') AS whole, simdup_numbers('14', NULL) IS NULL AS null;

-- near and not the same: what fingerprints see least, the numbers tell
SELECT minhash64(a) <~> minhash64(b) AS distance, simdup_numbers(a), simdup_numbers(b), simdup_numbers(a) = simdup_numbers(b) AS same
FROM (VALUES ('Lamp 14 in Fish Street has been dark since 3 May. Please mend it.', 'Lamp 15 in Fish Street has been dark since 3 May. Please mend it.'),
             ('The fee of £1,200 was paid twice.', 'The fee of €1,200 was paid twice.'),
             ('The fee of £1,200 was paid twice.', 'The fee of £1200 was paid twice!'),
             ('学校门口的二十盏路灯不亮', '学校门口的２０盏路灯不亮')) AS v(a, b);

-- immutable, so for columns and indexes
CREATE TABLE letter (content text, numbers text GENERATED ALWAYS AS (simdup_numbers(content)) STORED);
CREATE INDEX ON letter (simdup_numbers(content));
INSERT INTO letter VALUES ('lamps 1 to ' || repeat('9', 3000)), (repeat('七', 3000)), ('3' || repeat('亿', 300));
SELECT left(numbers, 12) AS numbers, length(numbers) FROM letter ORDER BY length(numbers);
DROP TABLE letter;
