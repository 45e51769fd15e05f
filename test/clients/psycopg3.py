"""psycopg 3: what an application does with fingerprints and texts. Prints TAP."""
import sys

import psycopg
from psycopg.types import TypeInfo

from tap import BUS, CLUSTERS, FOUND_CLUSTERS, FOUND_PAIRS, LAMP, PAIRS, check, done


def sqlstate(sql, *params):
    try:
        with conn.transaction():
            conn.execute(sql, params)
    except psycopg.Error as error:
        return error.sqlstate
    return 'no error'


conn = psycopg.connect(autocommit=True)
conn.execute(open(sys.argv[1]).read())

# arrays
TypeInfo.fetch(conn, 'simhash64').register(conn)

conn.execute('INSERT INTO letter (content) VALUES (%s)', [LAMP])
check(conn.execute('SELECT fp FROM letter').fetchone()[0], sys.argv[2], 'a fingerprint is a string')

fp = '00000000deadbeef'
conn.execute('INSERT INTO photo VALUES (%s, %s)', [20001, fp])
conn.execute('INSERT INTO photo VALUES (%b, %b)', [20002, fp])
conn.execute('INSERT INTO photo VALUES (%s, %s::bigint::simhash64)', [20003, 0xdeadbeef])
check(conn.execute('SELECT count(*) FROM photo WHERE fp = %s', [fp]).fetchone()[0], 3,
      'inserted as text, in binary and as a number')

# search
search = 'SELECT id FROM photo WHERE simhash_within(fp, %s, 3) ORDER BY id'
rows = conn.execute(search, [fp]).fetchall()
check(rows, [(20001,), (20002,), (20003,)], 'search by text')
# search in binary
search_binary = 'SELECT id, fp FROM photo WHERE simhash_within(fp, %b::simhash64, 3) ORDER BY id'
rows = conn.execute(search_binary, [fp], binary=True).fetchall()
check(rows, [(i, bytes.fromhex(fp)) for i in (20001, 20002, 20003)], 'search in binary')

for _ in range(8):
    found = conn.execute(search, [fp], prepare=True).fetchall()
name = conn.execute("SELECT name FROM pg_prepared_statements WHERE statement ~ 'simhash_within.*3'").fetchone()[0]
plan = conn.execute(f'EXPLAIN EXECUTE "{name}" (\'{fp}\')').fetchall()
check((len(found), 'photo_fp' in str(plan)), (3, True), 'prepared, eight times: the index is used')

rows = conn.execute('SELECT array_agg(fp) FROM photo WHERE fp = ANY (%s::simhash64[])', [[fp, 'f' * 16]]).fetchone()
check(rows[0], [fp, fp, fp], 'arrays both ways')

rows = conn.execute('SELECT id FROM photo ORDER BY fp <~> %s, id LIMIT 10', [fp]).fetchall()
check((len(rows), rows[:3]), (10, [(20001,), (20002,), (20003,)]), 'the nearest ten')

conn.execute('INSERT INTO report VALUES (1, %s)', [LAMP])
# refused
try:
    conn.execute('INSERT INTO report VALUES (2, %s)', [LAMP + '!'])
except psycopg.errors.ExclusionViolation as error:
    check(error.sqlstate, '23P01', 'reject is caught')
check(sqlstate('INSERT INTO letter (content) VALUES (%s)', LAMP + '!'), '23P01', 'EXCLUDE is caught')

cursor = conn.execute('INSERT INTO letter (content) VALUES (%s) ON CONFLICT DO NOTHING', [LAMP + '!'])
check(cursor.rowcount, 0, 'ON CONFLICT DO NOTHING')

store = '''INSERT INTO note (content) VALUES (%(text)s)
    ON CONFLICT (kept) DO UPDATE SET seen = note.seen + 1 RETURNING id, seen = 1 AS is_new'''
old = conn.execute(store, {'text': LAMP + '?'}).fetchall()
new = conn.execute(store, {'text': BUS}).fetchall()
check((old, len(new), new[0][1]), ([(1, False)], 1, True), 'store it unless it is there')

rows = conn.execute("""
    SELECT id, share, distance
    FROM (SELECT id, content, fp <~> minhash64(%(text)s) AS distance
          FROM letter ORDER BY fp <~> minhash64(%(text)s) LIMIT 200) AS near,
         shingle_containment(%(text)s, content, 4, 'char') AS share
    WHERE share >= 0.3 ORDER BY share DESC, distance, id LIMIT 10""", {'text': LAMP[:45]}).fetchall()
check([row[:2] for row in rows], [(1, 1.0)], 'half a letter finds the letter')

# a small number goes as smallint, a string without a type
check([conn.execute(PAIRS, [distance]).fetchall() for distance in (3, '3')], FOUND_PAIRS, 'pairs by a join')
check([conn.execute(clusters, [distance]).fetchall() for clusters in CLUSTERS for distance in (3, '3')], FOUND_CLUSTERS,
      'clusters by a window function')
with conn.transaction(), conn.cursor(name='pairs') as cursor:
    cursor.itersize = 1
    check(list(cursor.execute(PAIRS, [3])), FOUND_PAIRS[0], 'pairs as a stream')
conn.execute("SELECT simdup_group('photo_case', %s, %s, %s, %s)", ['late_photo', 3, 'leader', None])
check(conn.execute("SELECT key, id FROM simdup_regroup('photo_case')").fetchall(), [('20002', 1), ('20003', 1)], 'a grouping by position')

done()
