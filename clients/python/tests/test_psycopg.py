"""psycopg 3 on a server."""
import asyncio
import unittest

import psycopg
from psycopg.rows import dict_row

import simdup.psycopg
from simdup import Simhash64, SimhashBall

from . import new_database, psql

FP = Simhash64('00000000deadbeef')
BALL = SimhashBall(FP, 3)


class Psycopg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = new_database('python_psycopg')
        # a schema that no search_path names
        psql(cls.database, 'CREATE SCHEMA near', 'CREATE EXTENSION simdup SCHEMA near')

    def connect(self, **options):
        conn = psycopg.connect(**options)
        self.addCleanup(conn.close)
        return conn

    def test_both_formats(self):
        conn = self.connect()
        simdup.psycopg.register(conn)
        for binary in (False, True):
            for mark in ('%s', '%b', '%t'):
                for value in (FP, BALL, Simhash64(-1), Simhash64(0), SimhashBall(-1, 64)):
                    row = conn.execute(f'SELECT {mark}, pg_typeof({mark})::text', [value, value], binary=binary).fetchone()
                    self.assertEqual((row[0], type(row[0])), (value, type(value)))
                    self.assertRegex(row[1], r'^near\.simhash(64|_ball)$')
                got = conn.execute(f'SELECT {mark}', [[FP, None, Simhash64(-1)]], binary=binary).fetchone()[0]
                self.assertEqual(got, [FP, None, Simhash64(-1)])
                self.assertIsInstance(got[2], Simhash64)
                self.assertEqual(conn.execute(f'SELECT {mark}', [[BALL]], binary=binary).fetchone()[0], [BALL])

    def test_search(self):
        conn = self.connect(autocommit=True, row_factory=dict_row)
        simdup.psycopg.register(conn)
        self.assertEqual(conn.info.transaction_status, psycopg.pq.TransactionStatus.IDLE)
        conn.execute('SET search_path = public, near')
        conn.execute('CREATE TABLE photo (id int, fp simhash64)')
        conn.execute('INSERT INTO photo SELECT i, hashint8extended(i, 0)::simhash64 FROM generate_series(1, 2000) AS i')
        conn.execute('CREATE INDEX photo_fp ON photo USING hamming (fp)')
        conn.execute('INSERT INTO photo VALUES (%s, %s)', [2001, FP])
        with conn.cursor() as cursor:
            with cursor.copy('COPY photo FROM STDIN (FORMAT binary)') as copy:
                copy.set_types(['int4', 'simhash64'])
                copy.write_row((2002, Simhash64(0xdeadbee0)))
        for query in ('simhash_within(fp, %s, 4)', 'fp <~> %s <= 4'):
            rows = conn.execute(f'SELECT id, fp FROM photo WHERE {query} ORDER BY id', [FP]).fetchall()
            self.assertEqual(rows, [{'id': 2001, 'fp': FP}, {'id': 2002, 'fp': Simhash64(0xdeadbee0)}])
        self.assertEqual(conn.execute('SELECT id FROM photo WHERE fp <@ %s', [BALL]).fetchall(), [{'id': 2001}])
        self.assertEqual(conn.execute('SELECT id FROM photo WHERE fp = ANY (%s)', [[FP]]).fetchall(), [{'id': 2001}])

    def test_literals(self):
        conn = self.connect(cursor_factory=psycopg.ClientCursor)
        simdup.psycopg.register(conn)
        self.assertEqual(conn.execute('SELECT %s, %s, %s', [FP, BALL, [FP]]).fetchone(), (FP, BALL, [FP]))

    def test_transaction_is_kept(self):
        conn = self.connect()
        conn.execute('CREATE TABLE kept ()')
        simdup.psycopg.register(conn)
        conn.rollback()
        self.assertEqual(conn.execute("SELECT to_regclass('kept')").fetchone(), (None,))

    def test_asynchronous(self):
        async def main():
            async with await psycopg.AsyncConnection.connect() as conn:
                await simdup.psycopg.register_async(conn)
                return await (await conn.execute('SELECT %s, %s', [FP, BALL])).fetchone()

        self.assertEqual(asyncio.run(main()), (FP, BALL))

    def test_without_extension(self):
        conn = self.connect(dbname='template1')
        with self.assertRaisesRegex(psycopg.ProgrammingError, 'CREATE EXTENSION simdup'):
            simdup.psycopg.register(conn)


if __name__ == '__main__':
    unittest.main()
