-- shingling (Broder 1997)
\encoding UTF8
SELECT * FROM simdup_shingles('a rose is a rose is a rose', 4);
SELECT count(*), min(shingle) FROM simdup_shingles('A rose, is a ROSE.', 100);
SELECT * FROM simdup_shingles('Ét Àb!', 3, 'char');
SELECT * FROM simdup_shingles('Ét Àb!', 3, 'raw');
SELECT count(*) FROM simdup_shingles('***', 1);
SELECT count(*) FROM simdup_shingles('', 1, 'raw');

SELECT shingle_resemblance('a rose is a rose is a rose', 'a rose is a flower which is a rose', w, 'word') FROM generate_series(1, 4) AS w;
SELECT shingle_resemblance(t, t, 3, u) FROM (VALUES ('one two three four'), ('x'), ('été')) AS a(t),
  (VALUES ('word'), ('char'), ('raw')) AS b(u);
SELECT shingle_resemblance('one two', 'three four', 4, 'word'), shingle_resemblance('one', ''), shingle_resemblance('***', '---'),
       shingle_resemblance('***', '***', 1, 'raw'), shingle_resemblance(NULL, 'a');
-- case and accents fold, except raw
SELECT u, shingle_resemblance('ABC ÉTÉ', 'abc ete', 2, u) FROM (VALUES ('word'), ('char'), ('raw')) AS b(u);
-- a part is contained in the whole, not the whole in the part
SELECT shingle_containment('b c', 'a b c d', 1, 'word'), shingle_containment('a b c d', 'b c', 1), shingle_containment('', 'a');
-- w larger than the text: one shingle
SELECT shingle_resemblance('a b', 'a b', 64), shingle_resemblance('a b', 'a c', 64, 'raw'), shingle_resemblance('a b', 'a c', 64, 'word');

-- Rabin fingerprints: published vectors
SELECT s, to_hex(rabin_fingerprint(s, 32)) AS r32, to_hex(rabin_fingerprint(s)) AS r64
FROM (VALUES (''), ('abc'), ('hello'), ('a rose is a'), ('The quick brown fox jumps over the lazy dog'),
             ('été')) AS t(s);
SELECT to_hex(rabin_fingerprint(b, 32)) FROM (VALUES ('\x'::bytea), ('\x00'), ('\x01'), ('\x0100000000'), ('\x010000008d')) AS t(b);
-- Java's strings are UTF-16
SELECT to_hex(rabin_fingerprint('\x4e2d56fd'::bytea, 32)), to_hex(rabin_fingerprint('\x00680065006c006c006f'::bytea));

-- sketches
SELECT bool_and(v % 25 = 0 AND v >= 0), count(*) BETWEEN 10 AND 80 AS one_in_25, array_agg(v ORDER BY v) = array_agg(v ORDER BY ord) AS ascending
FROM unnest(shingle_sketch((SELECT string_agg(n::text, ' ') FROM generate_series(1, 1000) AS n))) WITH ORDINALITY AS s(v, ord);
SELECT shingle_sketch('a b', 1, 1) = shingle_sketch('b a b', 1, 1), cardinality(shingle_sketch('a b c', 1, 1)), shingle_sketch('!'), shingle_sketch_bottom('!');
-- 60 words, 51 shingles: the document's sketch starves, the bottom sketch does not
SELECT cardinality(shingle_sketch(t)) < 10 AS starves, cardinality(shingle_sketch_bottom(t)) AS bottom, cardinality(shingle_sketch_bottom(t, 10, 20)) AS bottom_20
FROM (SELECT string_agg('w' || n, ' ') FROM generate_series(1, 60) AS n) AS a(t);
SELECT shingle_sketch_bottom(t, 2, 10) = (shingle_sketch(t, 2, 1))[1:10]
FROM (SELECT string_agg('w' || n, ' ') FROM generate_series(1, 60) AS n) AS a(t);
SELECT sketch_resemblance('{1,2,3}', '{2,3,4}'), sketch_resemblance('{1,2,3}', '{1,2,3}'), sketch_resemblance('{1}', '{2}'),
       sketch_resemblance('{}', '{1}'), sketch_resemblance(NULL, '{1}');
-- of the k smallest of both: 1, 2, 5 in common is 1
SELECT sketch_resemblance('{1,5,9}', '{1,2,10}', 3), sketch_resemblance('{1,5,9}', '{1,2,10}');
-- with all fingerprints kept, the estimate is exact
SELECT sketch_resemblance(shingle_sketch(a, 2, 1), shingle_sketch(b, 2, 1)) = shingle_resemblance(a, b, 2, 'word')
FROM (VALUES ('a rose is a rose', 'a rose is a flower')) AS t(a, b);

SELECT cardinality(super_shingles(shingle_sketch(t, 2, 1))), cardinality(super_shingles('{1,2}')), super_shingles('{}'),
       super_shingles('{1,2,3,4}') && super_shingles('{1,2,3,4,5}'), super_shingles('{1,2,3,5}') && super_shingles('{1,2,3,4,5}')
FROM (SELECT string_agg('w' || n, ' ') FROM generate_series(1, 60) AS n) AS a(t);
-- stored sketches stay valid
SELECT shingle_sketch('a rose is a rose', 2, 1), super_shingles(shingle_sketch('a rose is a rose', 2, 1), 2);

-- bad input
SELECT * FROM simdup_shingles('a', 0);
SELECT shingle_resemblance('a', 'b', 0);
SELECT shingle_resemblance('a', 'b', 65, 'raw');
SELECT shingle_containment('a', 'b', 1, 'byte');
SELECT rabin_fingerprint('a', 16);
SELECT shingle_sketch('a', 1, 0);
SELECT shingle_sketch_bottom('a', 1, 0);
SELECT sketch_resemblance('{2,1}', '{1}');
SELECT sketch_resemblance('{1,NULL}', '{1}');
SELECT sketch_resemblance('{{1}}', '{1}');
SELECT sketch_resemblance('{1}', '{1}', 0);
SELECT super_shingles('{1}', 0);
