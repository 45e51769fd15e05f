-- type: simhash64
SELECT '0123456789abcdef'::simhash64;
