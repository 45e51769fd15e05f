"""psycopg2: what an application does with fingerprints and texts. Prints TAP."""
import sys

import psycopg2
import psycopg2.extensions

from tap import BUS, CLUSTERS, FOUND_CLUSTERS, FOUND_PAIRS, LAMP, PAIRS, check, done


def query(sql, params=None):
    cursor.execute(sql, params)
    return cursor.fetchall()


def sqlstate(sql, *params):
    try:
        cursor.execute(sql, params)
    except psycopg2.Error as error:
        return error.pgcode
    return 'no error'


conn = psycopg2.connect('')
conn.autocommit = True
cursor = conn.cursor()
cursor.execute(open(sys.argv[1]).read())

# arrays
cursor.execute("SELECT typarray FROM pg_type WHERE oid = 'simhash64'::regtype")
psycopg2.extensions.register_type(psycopg2.extensions.new_array_type(
    cursor.fetchone(), 'simhash64[]', psycopg2.extensions.UNICODE), conn)

cursor.execute('INSERT INTO letter (content) VALUES (%s)', [LAMP])
check(query('SELECT fp FROM letter'), [(sys.argv[2],)], 'a fingerprint is a string')

fp = '00000000deadbeef'
cursor.execute('INSERT INTO photo VALUES (%s, %s)', [20001, fp])
cursor.execute('INSERT INTO photo VALUES (%s, %s::bytea::simhash64)', [20002, bytes.fromhex(fp)])
cursor.execute('INSERT INTO photo VALUES (%s, %s::bigint::simhash64)', [20003, 0xdeadbeef])
check(query('SELECT count(*) FROM photo WHERE fp = %s', [fp]), [(3,)], 'inserted as text, in binary and as a number')

# search
rows = query('SELECT id FROM photo WHERE simhash_within(fp, %s, 3) ORDER BY id', [fp])
check(rows, [(20001,), (20002,), (20003,)], 'search by text')
rows = query('SELECT id, fp::bytea FROM photo WHERE simhash_within(fp, %s::bytea::simhash64, 3) ORDER BY id', [bytes.fromhex(fp)])
check([(i, bytes(value)) for i, value in rows], [(i, bytes.fromhex(fp)) for i in (20001, 20002, 20003)], 'search in binary')

# prepared
cursor.execute('PREPARE near (simhash64) AS SELECT id FROM photo WHERE simhash_within(fp, $1, 3) ORDER BY id')
for _ in range(8):
    found = query('EXECUTE near (%s)', [fp])
plan = query('EXPLAIN EXECUTE near (%s)', [fp])
check((len(found), 'photo_fp' in str(plan)), (3, True), 'prepared, eight times: the index is used')

rows = query('SELECT array_agg(fp) FROM photo WHERE fp = ANY (%s::simhash64[])', [[fp, 'f' * 16]])
check(rows, [([fp, fp, fp],)], 'arrays both ways')

rows = query('SELECT id FROM photo ORDER BY fp <~> %s, id LIMIT 10', [fp])
check((len(rows), rows[:3]), (10, [(20001,), (20002,), (20003,)]), 'the nearest ten')

cursor.execute('INSERT INTO report VALUES (1, %s)', [LAMP])
# refused
try:
    cursor.execute('INSERT INTO report VALUES (2, %s)', [LAMP + '!'])
except psycopg2.errors.ExclusionViolation as error:
    check(error.pgcode, '23P01', 'reject is caught')
check(sqlstate('INSERT INTO letter (content) VALUES (%s)', LAMP + '!'), '23P01', 'EXCLUDE is caught')

cursor.execute('INSERT INTO letter (content) VALUES (%s) ON CONFLICT DO NOTHING', [LAMP + '!'])
check(cursor.rowcount, 0, 'ON CONFLICT DO NOTHING')

store = '''INSERT INTO note (content) VALUES (%(text)s)
    ON CONFLICT (kept) DO UPDATE SET seen = note.seen + 1 RETURNING id, seen = 1 AS is_new'''
old = query(store, {'text': LAMP + '?'})
new = query(store, {'text': BUS})
check((old, len(new), new[0][1]), ([(1, False)], 1, True), 'store it unless it is there')

rows = query("""
    SELECT id, share, distance
    FROM (SELECT id, content, fp <~> minhash64(%(text)s) AS distance
          FROM letter ORDER BY fp <~> minhash64(%(text)s) LIMIT 200) AS near,
         shingle_containment(%(text)s, content, 4, 'char') AS share
    WHERE share >= 0.3 ORDER BY share DESC, distance, id LIMIT 10""", {'text': LAMP[:45]})
check([row[:2] for row in rows], [(1, 1.0)], 'half a letter finds the letter')

# numbers stand in the statement as they are, strings in quotes
check([query(PAIRS, [distance]) for distance in (3, '3')], FOUND_PAIRS, 'pairs by a join')
check([query(clusters, [distance]) for clusters in CLUSTERS for distance in (3, '3')], FOUND_CLUSTERS, 'clusters by a window function')
with psycopg2.connect('') as other, other.cursor('pairs') as stream:
    stream.itersize = 1
    stream.execute(PAIRS, [3])
    check(list(stream), FOUND_PAIRS[0], 'pairs as a stream')
cursor.execute("SELECT simdup_group('photo_case', %s, %s, %s, %s)", ['late_photo', 3, 'leader', None])
check(query("SELECT key, id FROM simdup_regroup('photo_case')"), [('20002', 1), ('20003', 1)], 'a grouping by position')
done()
