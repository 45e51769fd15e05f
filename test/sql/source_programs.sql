-- source_programs: the output of the source documents' programs, by SQL

-- The Java program (of 文本去重算法, in doc/simdup-methods.md). Blanks
-- separate its tokens, its hash is "java", and every occurrence weighs 1. A sum
-- of zero gives a 1, although the text says 0.
CREATE TABLE java AS
SELECT id, content,
       simhash(content, tokenizer => 'space', weighting => 'tf', hash => 'java', ties => true) AS fp
FROM (VALUES (1, 'This is a test string for testing'),
             (2, 'This is a test string for testing, This is a test string for testing abcdef'),
             (3, 'This is a test string for testing als')) AS given (id, content);
SELECT id, fp, fp::bigint FROM java ORDER BY id;
SELECT a.fp <~> b.fp AS first_second, a.fp <~> c.fp AS first_third
FROM java a, java b, java c WHERE a.id = 1 AND b.id = 2 AND c.id = 3;

-- The program's blocks are those of simhash_blocks, low bits first, each with
-- its bits reversed. It writes bit 0 of the fingerprint first and reads the
-- digits as a binary number.
CREATE TABLE java_block AS
SELECT id, number - 1 AS block, element & 65535 AS value,
       reverse((element & 65535)::int::bit(16)::text)::bit(16)::int AS printed
FROM java, unnest(simhash_blocks(fp)) WITH ORDINALITY AS part (element, number);
SELECT * FROM java_block ORDER BY id, block;

-- So equal blocks stay equal, and the same rows share a block either way.
SELECT a.id, b.id,
       array_agg(a.block ORDER BY a.block) FILTER (WHERE a.value = b.value) AS shared,
       array_agg(a.block ORDER BY a.block) FILTER (WHERE a.printed = b.printed) AS printed_shared
FROM java_block a JOIN java_block b ON a.block = b.block AND a.id < b.id
GROUP BY a.id, b.id ORDER BY a.id, b.id;

-- All output of the program. The number beside the first fingerprint is its
-- length in bits; the numbers beside the others count their bits of 1.
CREATE FUNCTION unsigned(fp simhash64) RETURNS numeric IMMUTABLE LANGUAGE sql
  AS 'SELECT fp::bigint + CASE WHEN fp::bigint < 0 THEN 18446744073709551616 ELSE 0 END';
CREATE TABLE printed AS
SELECT string_agg(lines, '' ORDER BY id) AS lines
FROM (SELECT id, concat(reverse(fp::bit(64)::text), E' length 64\n',
                        unsigned(fp), '  ', CASE id WHEN 1 THEN 65 - position('1' IN fp::bit(64)::text)
                                                    ELSE bit_count(fp::bit(64)) END, E'\n',
                        (SELECT string_agg('----' || printed || E'\n', '' ORDER BY block)
                         FROM java_block WHERE java_block.id = java.id),
                        CASE id WHEN 1 THEN E'\n\n' END) AS lines
      FROM java
      UNION ALL
      SELECT 4, E'============================\n'
      UNION ALL
      SELECT 3 + other.id, format(E'%1$s %1$s\n', java.fp <~> other.fp)
      FROM java, java AS other WHERE java.id = 1 AND other.id > 1) AS part;
\t
\a
SELECT lines FROM printed;
SELECT encode(sha256(lines::bytea), 'hex') FROM printed;
\a
\t

DROP TABLE java, java_block, printed;
DROP FUNCTION unsigned;
