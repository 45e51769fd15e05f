"""SQLAlchemy on a server, by each driver that there is, and alembic."""
import importlib.util
import unittest
import warnings

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ExcludeConstraint
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, declarative_base

from simdup import Simhash64 as Fingerprint
from simdup import SimhashBall as Ball
from simdup.sqlalchemy import (HammingIndex, Simhash64, SimhashBall, campaign, cluster, component, distance, flag_trigger,
                               log_trigger, reject_trigger, resembles, template, within)

from . import BUS, LAMP, PLAYGROUND, exchanged, new_database, psql

Base = declarative_base()


class Letter(Base):
    __tablename__ = 'letter'
    id = sa.Column(sa.Integer, primary_key=True)
    content = sa.Column(sa.Text, nullable=False)
    title = sa.Column(sa.String(100))
    fp = sa.Column(Simhash64, sa.Computed('minhash64(content)'))
    __table_args__ = (HammingIndex('letter_near', 'content'), HammingIndex('letter_fp', fp, postgresql_with={'fillfactor': 70}))


class Photo(Base):
    __tablename__ = 'photo'
    id = sa.Column(sa.Integer, primary_key=True)
    fp = sa.Column(Simhash64)
    ball = sa.Column(SimhashBall)
    __table_args__ = (
        HammingIndex('photo_fp', 'fp'),
        ExcludeConstraint((sa.text('simhash_ball(fp, 0)'), '~='), using='hamming', name='no_copy'),
    )


DRIVERS = ['psycopg2']
if sa.__version__ >= '2' and importlib.util.find_spec('psycopg'):
    DRIVERS.append('psycopg')


class Searches:
    """What every driver is tried with."""

    @classmethod
    def setUpClass(cls):
        cls.database = new_database(f'python_sqlalchemy_{cls.driver}')
        psql(cls.database, 'CREATE EXTENSION simdup')
        cls.engine = sa.create_engine(f'postgresql+{cls.driver}://', future=True)
        Base.metadata.create_all(cls.engine)
        with cls.engine.begin() as conn:
            conn.execute(sa.text('INSERT INTO photo SELECT i, hashint8extended(i, 0)::text::bigint::simhash64 FROM generate_series(1, 2000) AS i'))
            conn.execute(Letter.__table__.insert(), [{'id': i, 'content': text} for i, text in enumerate((LAMP, BUS, PLAYGROUND), 1)])
            # of other wording throughout
            conn.execute(sa.text("INSERT INTO letter (id, content) SELECT i, (SELECT string_agg(md5((i * 10 + j)::text), ' ') "
                                 'FROM generate_series(1, 4) AS j) FROM generate_series(10, 1000) AS i'))
            conn.execute(sa.text('ANALYZE'))

    @classmethod
    def tearDownClass(cls):
        cls.engine.dispose()

    def setUp(self):
        self.session = Session(self.engine, future=True)
        self.addCleanup(self.session.close)

    def plan(self, query):
        compiled = query.compile(self.engine, compile_kwargs={'literal_binds': True})
        return '\n'.join(row[0] for row in self.session.execute(sa.text('EXPLAIN ' + str(compiled).replace(':', '\\:'))))

    def test_values(self):
        photo = Photo(id=5001, fp='00000000DEADBEEF', ball=Ball(7, 3))
        self.session.add_all([photo, Photo(id=5002, fp=0xdeadbee0), Photo(id=5003)])
        self.session.flush()
        self.session.expire_all()
        got = self.session.get(Photo, 5001)
        self.assertEqual((got.fp, type(got.fp), got.ball), ('00000000deadbeef', Fingerprint, Ball(7, 3)))
        self.assertEqual(self.session.execute(sa.select(Photo.id).where(Photo.fp == 0xdeadbeef)).scalars().all(), [5001])
        self.assertEqual(self.session.execute(sa.select(Photo.id).where(Photo.fp.in_([0xdeadbeef, '00000000deadbee0'])).order_by(Photo.id)).scalars().all(), [5001, 5002])
        self.assertIsNone(self.session.get(Photo, 5003).fp)
        with self.assertRaises(sa.exc.StatementError):
            self.session.execute(sa.select(Photo.id).where(Photo.fp == 'no digits'))

    def test_fingerprints(self):
        self.session.add_all([Photo(id=5001, fp=0xdeadbeef), Photo(id=5002, fp=0xdeadbee0)])
        self.session.flush()
        nearest = sa.select(Photo.id, Photo.fp.distance(0xdeadbeef)).order_by(Photo.fp.distance(0xdeadbeef)).limit(2)
        self.assertEqual(self.session.execute(nearest).fetchall(), [(5001, 0), (5002, 4)])
        self.assertEqual(self.session.execute(sa.select(Photo.id).order_by(distance(Photo.fp, 0xdeadbeef)).limit(1)).scalar(), 5001)
        for near in (Photo.fp.within(0xdeadbeef, 4), within(Photo.fp, '00000000deadbeef')):
            query = sa.select(Photo.id).where(near).order_by(Photo.id)
            self.assertEqual(self.session.execute(query).scalars().all(), [5001, 5002])
            self.assertIn('photo_fp', self.plan(query))
        self.assertIn('photo_fp', self.plan(nearest))
        other = sa.orm.aliased(Photo)
        pairs = sa.select(Photo.id, other.id).where(Photo.fp.within(other.fp, 4), Photo.id < other.id, Photo.id > 5000)
        self.assertEqual(self.session.execute(pairs).fetchall(), [(5001, 5002)])

    def test_texts(self):
        near = sa.select(Letter.id).where(resembles(Letter.content, LAMP + ' Please!', 0.8))
        self.assertEqual(self.session.execute(near).scalars().all(), [1])
        self.assertIn('letter_near', self.plan(near))
        self.assertEqual(self.session.execute(sa.select(Letter.id).where(resembles(Letter.content, LAMP[:40]))).scalars().all(), [])
        nearest = sa.select(Letter.id).order_by(distance(Letter.content, BUS.upper())).limit(1)
        self.assertEqual(self.session.execute(nearest).scalar(), 2)
        self.assertIn('letter_near', self.plan(nearest))
        for bad in (-1, 2, float('nan')):
            with self.assertRaises(ValueError):
                resembles(Letter.content, LAMP, bad)

    def test_joins(self):
        self.session.add_all([Letter(id=5001, content=LAMP + '!'), Letter(id=5002, content=BUS.upper()), Letter(id=5003, content='?')])
        self.session.flush()
        other = sa.orm.aliased(Letter)
        self.session.execute(sa.text('SET LOCAL enable_nestloop = off'))
        for near in (resembles(Letter.content, other.content, 0.8), Letter.fp.within(other.fp), within(Letter.fp, other.fp, 3)):
            pairs = sa.select(Letter.id, other.id).join(other, sa.and_(Letter.id < other.id, near)).order_by(Letter.id)
            self.assertEqual(self.session.execute(pairs).fetchall(), [(1, 5001), (2, 5002)])
            self.assertIn('(Hamming Join)', self.plan(pairs))
            earlier = sa.exists().where(near, other.id < Letter.id)
            for condition, expected in ((earlier, [5001, 5002]), (~earlier, [1, 2, 3, 5003])):
                query = sa.select(Letter.id).where(condition, sa.not_(Letter.id.between(10, 1000))).order_by(Letter.id)
                self.assertEqual(self.session.execute(query).scalars().all(), expected)
            self.assertIn('Join Type: Anti', self.plan(sa.select(Letter.id).where(~earlier)))
        # a server-side cursor
        streamed = self.session.connection().execution_options(stream_results=True, max_row_buffer=1).execute(pairs)
        self.assertEqual(list(streamed), [(1, 5001), (2, 5002)])

    def test_clusters(self):
        self.session.add_all([Letter(id=5001, content=LAMP + '!', title='new'), Letter(id=5002, content=BUS.upper()), Letter(id=5003, content='?')])
        self.session.flush()
        chosen = sa.select(Letter).where(sa.or_(Letter.id < 10, Letter.id > 5000)).subquery()
        c = chosen.c
        for found, clusters in (
                (cluster(c.id, c.fp), [1, 2, 3, 1, 2, 5003]),
                (cluster(c.id, c.fp, max_distance=0, method='connected'), [1, 2, 3, 1, 2, 5003]),
                (cluster(c.id, content=c.content), [1, 2, 3, 1, 2, 5003]),
                (cluster(c.id, content=c.content, min_resemblance=0.9), [1, 2, 3, 1, 2, 5003]),
                (cluster(c.id, c.fp, c.content, max_distance=3, min_resemblance=1, w=2, unit='word'), [1, 2, 3, 1, 2, 5003]),
                (cluster(c.id, c.fp, c.content, unit='raw', min_resemblance=1.0), [1, 2, 3, 5001, 5002, 5003])):
            query = sa.select(c.id, found.over(order_by=c.id)).order_by(c.id)
            self.assertEqual(self.session.execute(query).fetchall(), list(zip([1, 2, 3, 5001, 5002, 5003], clusters)))
        scoped = sa.select(cluster(c.id, c.fp).over(partition_by=c.title, order_by=c.id)).order_by(c.id)
        self.assertEqual(self.session.execute(scoped).scalars().all(), [1, 2, 3, 5001, 2, 5003])
        self.assertIs(type(cluster(Letter.content, Letter.fp).type), sa.Text)
        for bad in ({}, {'fp': c.fp, 'min_resemblance': 0.8}, {'content': c.content, 'max_distance': 8}, {'fp': c.fp, 'limit': 3}):
            with self.subTest(bad=list(bad)), self.assertRaises(TypeError):
                cluster(c.id, **bad)

    def test_campaigns(self):
        self.session.add(Letter(id=5001, content='I am 80. ' + LAMP))
        self.session.flush()
        for min_containment, expected in ((0.35, [1, 1]), (1, [1, 1]), (0.0, [1, 1])):
            found = campaign(Letter.id, Letter.content, min_containment).over(order_by=Letter.id)
            query = sa.select(found).where(Letter.id.in_([1, 5001])).order_by(Letter.id)
            self.assertEqual(self.session.execute(query).scalars().all(), expected)
        self.assertIs(type(campaign(Letter.content, Letter.content).type), sa.Text)

    def test_templates(self):
        self.session.add_all(Letter(id=6000 + i, content=content) for i, content in enumerate(exchanged(16)))
        self.session.flush()
        for min_containment, n in ((0.35, 1), (0, 1), (1.0, 16)):
            found = template(Letter.id, Letter.content, min_containment).over(order_by=Letter.id)
            keys = self.session.execute(sa.select(found, Letter.id).order_by(Letter.id)).all()
            self.assertEqual(len({key for key, id in keys if id >= 6000}), n)
            self.assertEqual([key for key, id in keys if id < 6000], [id for key, id in keys if id < 6000])
        self.assertIs(type(template(Letter.content, Letter.content).type), sa.Text)

    def test_components(self):
        pair = sa.select(sa.column('a', sa.Integer), sa.column('b', sa.Integer)).select_from(
            sa.text('(VALUES (1, 2), (3, 2), (8, 9)) AS v (a, b)')).subquery()
        query = sa.select(pair.c.a, component(pair.c.a, pair.c.b).over()).order_by(pair.c.a)
        self.assertEqual(self.session.execute(query).fetchall(), [(1, 1), (3, 1), (8, 8)])

    def test_functions(self):
        fp = self.session.execute(sa.select(sa.func.minhash64(sa.literal(LAMP)))).scalar()
        self.assertEqual((fp, type(fp)), (self.session.get(Letter, 1).fp, Fingerprint))
        self.assertEqual(self.session.execute(sa.select(sa.func.minhash64(Letter.content).distance(fp)).where(Letter.id == 1)).scalar(), 0)

    def test_refused(self):
        self.session.add(Photo(id=5001, fp=1))
        self.session.flush()
        with self.assertRaises(IntegrityError), self.session.begin_nested():
            self.session.execute(Photo.__table__.insert(), {'id': 5002, 'fp': 1})

    def test_triggers(self):
        meta = sa.MetaData()
        log = sa.Table('Arrival "log"', meta, sa.Column('new_key', sa.Integer, primary_key=True), sa.Column('old_key', sa.Integer, primary_key=True),
                       sa.Column('distance', sa.Integer), sa.Column('logged_at', sa.DateTime(timezone=True)))
        item = sa.Table('item 100%', meta, sa.Column('id', sa.Integer, primary_key=True), sa.Column('content', sa.Text),
                        sa.Column('repeats "it"', sa.Integer), HammingIndex('item_near', 'content'))
        for trigger in (flag_trigger(item, 'a "flag"', item.c['repeats "it"'], max_distance=3, lock=True), log_trigger(item, "it's 5 %s", log),
                        flag_trigger(item, 'by name', 'repeats "it"')):
            sa.event.listen(item, 'after_create', trigger)
        rows = [{'id': 1, 'content': LAMP}, {'id': 2, 'content': LAMP + '!'}, {'id': 3, 'content': BUS}]
        with self.engine.begin() as conn:
            meta.create_all(conn)
            conn.execute(item.insert(), rows)
            self.assertEqual(conn.execute(sa.select(item.c['repeats "it"']).order_by(item.c.id)).scalars().all(), [None, 1, None])
            self.assertEqual(conn.execute(sa.select(log.c.new_key, log.c.old_key)).fetchall(), [(2, 1)])
            names = conn.execute(sa.text('SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1')).scalars().all()
            self.assertEqual(names, ['a "flag"', 'by name', "it's 5 %s"])
            # as in a migration, which has the names only
            conn.execute(reject_trigger(sa.table('item 100%', schema='public'), 'reject'))
            with self.assertRaises(IntegrityError), conn.begin_nested():
                conn.execute(item.insert(), {'id': 4, 'content': BUS.upper()})
            meta.drop_all(conn)

    def test_reflection(self):
        with warnings.catch_warnings():
            warnings.filterwarnings('error', message='Did not recognize type')
            warnings.filterwarnings('ignore', message='.*expression-based index')
            meta = sa.MetaData()
            meta.reflect(self.engine)
        self.assertIsInstance(meta.tables['letter'].c.fp.type, Simhash64)
        self.assertIsInstance(meta.tables['photo'].c.ball.type, SimhashBall)
        using = {i.name: i.dialect_options['postgresql']['using'] for i in meta.tables['letter'].indexes}
        self.assertEqual(using, {'letter_near': 'hamming', 'letter_fp': 'hamming'})

    @unittest.skipUnless(importlib.util.find_spec('alembic'), 'no alembic')
    def test_alembic_sees_no_difference(self):
        from alembic.autogenerate import compare_metadata, produce_migrations
        from alembic.autogenerate.api import AutogenContext
        from alembic.autogenerate.render import _render_cmd_body
        from alembic.migration import MigrationContext

        with self.engine.connect() as conn, warnings.catch_warnings():
            warnings.filterwarnings('error', message='Did not recognize type')
            warnings.filterwarnings('error', message='Computed default')
            warnings.filterwarnings('ignore', message='.*expression-based index')
            context = MigrationContext.configure(conn, opts={'compare_type': True, 'compare_server_default': True})
            self.assertEqual(compare_metadata(context, Base.metadata), [])

            # and a true one
            other = sa.MetaData()
            Letter.__table__.to_metadata(other)
            other.tables['letter'].append_column(sa.Column('more', Simhash64))
            HammingIndex('letter_more', other.tables['letter'].c.more)
            code = _render_cmd_body(produce_migrations(context, other).upgrade_ops, AutogenContext(context, opts={
                'sqlalchemy_module_prefix': 'sa.', 'alembic_module_prefix': 'op.', 'user_module_prefix': None,
                'render_item': None, 'render_as_batch': False}))
        self.assertIn("sa.Column('more', simdup.sqlalchemy.Simhash64(), nullable=True)", code)
        self.assertRegex(code, r"op\.create_index\(.*'letter_more', 'letter', \['more'\], unique=False, postgresql_using='hamming'\)")


for driver in DRIVERS:
    globals()[f'Searches_{driver}'] = type(f'Searches_{driver}', (Searches, unittest.TestCase), {'driver': driver})

if __name__ == '__main__':
    unittest.main()
