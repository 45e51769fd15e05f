"""SQLAlchemy over psycopg2: what an application does with fingerprints and texts. Prints TAP."""
import sys
import warnings

from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import IntegrityError

from simdup.sqlalchemy import Simhash64
from tap import BUS, CLUSTERS, FOUND_CLUSTERS, FOUND_PAIRS, LAMP, PAIRS, check, done

engine = create_engine('postgresql+psycopg2://', isolation_level='AUTOCOMMIT')
conn = engine.connect()
conn.exec_driver_sql(open(sys.argv[1]).read())

with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    warnings.filterwarnings('error', message='Did not recognize type')
    letter = Table('letter', MetaData(), autoload_with=engine)
check(type(letter.c.fp.type).__name__, 'Simhash64', 'the type is recognised')
photo = Table('photo', MetaData(), Column('id', Integer, primary_key=True), Column('fp', Simhash64))

conn.execute(letter.insert(), {'content': LAMP})
check(conn.execute(select(letter.c.fp)).scalar(), sys.argv[2], 'a fingerprint is a string')

fp = '00000000deadbeef'
conn.execute(photo.insert(), {'id': 20001, 'fp': fp})
conn.execute(text('INSERT INTO photo VALUES (:id, CAST(:fp AS simhash64))'), {'id': 20002, 'fp': fp})
conn.execute(text('INSERT INTO photo VALUES (:id, CAST(CAST(:fp AS bigint) AS simhash64))'), {'id': 20003, 'fp': 0xdeadbeef})
check(conn.execute(select(func.count()).select_from(photo).where(photo.c.fp == fp)).scalar(), 3,
      'inserted as text and as a number')

# search
rows = conn.execute(select(photo.c.id).where(func.simhash_within(photo.c.fp, fp, 3)).order_by(photo.c.id)).fetchall()
check(rows, [(20001,), (20002,), (20003,)], 'search by text')

for _ in range(8):
    found = conn.execute(select(photo.c.id).where(func.simhash_within(photo.c.fp, fp, 3))).fetchall()
plan = conn.execute(text('EXPLAIN SELECT id FROM photo WHERE simhash_within(fp, :fp, 3)'), {'fp': fp}).fetchall()
check((len(found), 'photo_fp' in str(plan)), (3, True), 'eight times: the index is used')

# arrays
fps = conn.execute(select(func.array_agg(photo.c.fp, type_=ARRAY(Text)).cast(ARRAY(Text)))
                   .where(photo.c.fp == text('ANY (CAST(:some AS simhash64[]))')), {'some': [fp, 'f' * 16]}).scalar()
check(fps, [fp, fp, fp], 'arrays both ways')

# nearest
rows = conn.execute(select(photo.c.id).order_by(photo.c.fp.distance(fp), photo.c.id).limit(10)).fetchall()
check((len(rows), rows[:3]), (10, [(20001,), (20002,), (20003,)]), 'the nearest ten')

conn.execute(text('INSERT INTO report VALUES (1, :content)'), {'content': LAMP})
for table, statement in (('reject', 'INSERT INTO report VALUES (2, :content)'),
                         ('EXCLUDE', 'INSERT INTO letter (content) VALUES (:content)')):
    state = 'no error'
    # refused
    try:
        conn.execute(text(statement), {'content': LAMP + '!'})
    except IntegrityError as error:
        state = error.orig.pgcode
    check(state, '23P01', f'{table} is caught')

result = conn.execute(text('INSERT INTO letter (content) VALUES (:text) ON CONFLICT DO NOTHING'), {'text': LAMP + '!'})
check(result.rowcount, 0, 'ON CONFLICT DO NOTHING')

store = text('''INSERT INTO note (content) VALUES (:text)
    ON CONFLICT (kept) DO UPDATE SET seen = note.seen + 1 RETURNING id, seen = 1 AS is_new''')
old = conn.execute(store, {'text': LAMP + '?'}).fetchall()
new = conn.execute(store, {'text': BUS}).fetchall()
check((old, len(new), new[0][1]), ([(1, False)], 1, True), 'store it unless it is there')

rows = conn.execute(text("""
    SELECT id, share, distance
    FROM (SELECT id, content, fp <~> minhash64(:text) AS distance
          FROM letter ORDER BY fp <~> minhash64(:text) LIMIT 200) AS near,
         shingle_containment(:text, content, 4, 'char') AS share
    WHERE share >= 0.3 ORDER BY share DESC, distance, id LIMIT 10"""), {'text': LAMP[:45]}).fetchall()
check([row[:2] for row in rows], [(1, 1.0)], 'half a letter finds the letter')

def found(connection, statement, distance):
    return connection.execute(text(statement.replace('%s', ':distance')), {'distance': distance}).fetchall()


check([found(conn, PAIRS, distance) for distance in (3, '3')], FOUND_PAIRS, 'pairs by a join')
check([found(conn, clusters, distance) for clusters in CLUSTERS for distance in (3, '3')], FOUND_CLUSTERS, 'clusters by a window function')
with create_engine('postgresql+psycopg2://').connect() as other:
    check(found(other.execution_options(stream_results=True, max_row_buffer=1), PAIRS, 3), FOUND_PAIRS[0], 'pairs as a stream')
conn.execute(select(func.simdup_group('photo_case', 'late_photo', 3, 'leader', None)))
check(conn.execute(text("SELECT key, id FROM simdup_regroup('photo_case')")).fetchall(), [('20002', 1), ('20003', 1)], 'a grouping by position')
done()
