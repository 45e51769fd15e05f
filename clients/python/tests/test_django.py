"""Django on a server."""
import io
import pickle
import unittest

from . import BUS, LAMP, PLAYGROUND, exchanged, new_database, psql

DATABASE = new_database('python_django')

import django
from django.conf import settings

settings.configure(
    DATABASES={'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': DATABASE}},
    INSTALLED_APPS=['django.contrib.postgres', 'tests.letters'],
    DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    USE_TZ=True,
)
django.setup()

from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Exists, F, OuterRef, Window
from django.db.migrations.writer import MigrationWriter
from django.test import TestCase
from django.test.utils import CaptureQueriesContext, isolate_apps

from simdup import Simhash64, SimhashBall
from simdup.django import (Campaign, Cluster, Component, FlagMixin, FlagTrigger, HammingDistance, HammingIndex, Minhash64, Resembles,
                           Simhash64Field, Template, Within)

from .letters.models import Letter, LetterLog, Photo


def plan(queryset):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute('SET LOCAL enable_seqscan = off')
        return queryset.explain()


def setUpModule():
    call_command('migrate', verbosity=0)


class Migrations(unittest.TestCase):
    def test_nothing_is_left_to_migrate(self):
        call_command('makemigrations', check=True, dry_run=True, stdout=io.StringIO())

    def test_reverse(self):
        triggers = 'SELECT string_agg(tgname, \',\' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal'
        self.assertEqual(psql(DATABASE, triggers), 'flag,log "it",no copies')
        self.assertEqual(psql(DATABASE, "SELECT reloptions, amname FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE relname = 'letter_near'"),
                         '{fillfactor=70}|hamming')
        call_command('migrate', 'letters', '0001', verbosity=0)
        self.assertEqual(psql(DATABASE, triggers), '')
        call_command('migrate', 'letters', 'zero', verbosity=0)
        self.assertEqual(psql(DATABASE, "SELECT count(*) FROM pg_extension WHERE extname = 'simdup'"), '0')
        call_command('migrate', verbosity=0)
        self.assertEqual(psql(DATABASE, triggers), 'flag,log "it",no copies')

    def test_sqlmigrate_shows_the_triggers(self):
        out = io.StringIO()
        call_command('sqlmigrate', 'letters', '0002', stdout=out, no_color=True)
        self.assertIn('CREATE TRIGGER "flag" BEFORE INSERT OR UPDATE ON "letters_letter" FOR EACH ROW EXECUTE FUNCTION '
                      "simdup_flag_trigger('repeats id', 'index => letter_near', 'max_distance => 10', 'lock => true')", out.getvalue())

    def test_written_out(self):
        text, imports = MigrationWriter.serialize(HammingIndex(Minhash64('title', 2), name='i', fillfactor=50))
        self.assertIn('simdup.django.HammingIndex(simdup.django.Minhash64(', text)
        self.assertIn('fillfactor=50', text)
        text, imports = MigrationWriter.serialize(Simhash64Field(null=True))
        self.assertEqual((text, imports), ('simdup.django.Simhash64Field(null=True)', {'import simdup.django'}))
        trigger = FlagTrigger('letter', 'flag', 'repeats', lock=True)
        name, args, kwargs = trigger.deconstruct()
        self.assertEqual((name, list(args), kwargs), ('FlagTrigger', ['letter', 'flag', 'repeats'], {'lock': True}))


class Queries(TestCase):
    def setUp(self):
        self.letters = [Letter.objects.create(content=text, title=text[:30], district=1) for text in (LAMP, BUS, PLAYGROUND)]
        for n in (0, 0xfff, 0xffffff):
            Photo.objects.create(name=f'{n:x}', fp=n)

    def names(self, **condition):
        return list(Photo.objects.filter(**condition).order_by('id').values_list('name', flat=True))

    def test_field(self):
        photo = Photo.objects.get(name='fff')
        self.assertEqual((photo.fp, type(photo.fp)), ('0000000000000fff', Simhash64))
        self.assertEqual(self.names(fp=0xfff), ['fff'])
        self.assertEqual(self.names(fp__in=['0000000000000FFF', 0]), ['0', 'fff'])
        Photo.objects.filter(name='fff').update(fp=None)
        self.assertEqual(self.names(fp__isnull=True), ['fff'])
        Photo.objects.bulk_create([Photo(name='many', fp=-1), Photo(name='none')])
        self.assertEqual(Photo.objects.get(name='many').fp, 'f' * 16)
        self.assertIsNone(Photo.objects.get(name='none').fp)
        made = [Photo(name='bulk', fp=n << 40) for n in (0xfff, 0xfff000)] + [Photo(name='bulk', fp=Minhash64(models.Value(LAMP)))]
        Photo.objects.bulk_create(made)
        self.assertEqual(self.names(fp__in=[0xfff << 40, Simhash64(0xfff000 << 40)]), ['bulk', 'bulk'])
        self.assertEqual(Photo.objects.get(id=made[2].id).fp, psql(DATABASE, f"SELECT minhash64('{LAMP}')"))
        Photo.objects.bulk_create([Photo(id=made[0].id, fp=0x5a5a5a5a5a5a5a5a)], ignore_conflicts=True)
        made[0].fp, made[1].fp, made[2].fp = None, '0ff000ff000ff000', b'\x77' * 8
        Photo.objects.bulk_update(made, ['fp'])
        self.assertEqual([photo.fp for photo in Photo.objects.filter(name='bulk').order_by('id')], [None, '0ff000ff000ff000', '7' * 16])
        with self.assertRaises(ValidationError):
            Photo(name='x', fp='no digits').full_clean()

    def test_within(self):
        self.assertEqual(self.names(fp__within=1), ['0'])
        self.assertEqual(self.names(fp__within=(0xff, 4)), ['fff'])
        self.assertEqual(self.names(fp__within=[Simhash64(0xff), 8]), ['0', 'fff'])
        self.assertEqual(self.names(fp__within=SimhashBall(0xffffff, 12)), ['fff', 'ffffff'])
        self.assertEqual(self.names(fp__within=models.F('fp')), ['0', 'fff', 'ffffff'])
        self.assertIn('photo_fp', plan(Photo.objects.filter(fp__within=(1, 3))))
        for bad in ((), (1, 2, 3), (models.F('fp'), 3), ('x', 3)):
            with self.subTest(bad=bad), self.assertRaises(ValueError):
                self.names(fp__within=bad)

    def test_within_of_texts(self):
        near = Letter.objects.filter(content__within=BUS.upper())
        self.assertEqual(list(near), self.letters[1:2])
        self.assertIn('letter_near', plan(near))
        self.assertEqual(list(Letter.objects.filter(content__within=(BUS + ' 100 % of it', 0))), [])
        self.assertEqual(Letter.objects.filter(content__within=(models.F('content'))).count(), 3)
        self.assertEqual(Letter.objects.exclude(content__within=(LAMP, 64)).count(), 0)
        self.assertEqual(list(Letter.objects.filter(title__within=(BUS[:30], 0))), self.letters[1:2])
        for bad in ((), (LAMP, 1, 2), (models.F('content'), 3), (LAMP, 'x')):
            with self.subTest(bad=bad), self.assertRaises(ValueError):
                list(Letter.objects.filter(content__within=bad))

    def test_resembles(self):
        near = Letter.objects.filter(content__resembles=LAMP + ' Please!')
        self.assertEqual(list(near), self.letters[:1])
        self.assertIn('letter_near', plan(near))
        self.assertEqual(list(Letter.objects.filter(content__resembles=(LAMP[:60], 0.4))), self.letters[:1])
        self.assertEqual(list(Letter.objects.filter(content__resembles=(LAMP[:60], 0.9, 1.0))), [])
        self.assertEqual(list(Letter.objects.exclude(content__resembles=LAMP).order_by('id')), self.letters[1:])
        # two different columns: a scan
        self.assertEqual(Letter.objects.filter(title__resembles=models.F('title')).count(), 3)

    def test_distance(self):
        nearest = Letter.objects.order_by(HammingDistance('content', BUS.upper()))[:1]
        self.assertEqual(list(nearest), self.letters[1:2])
        self.assertIn('letter_near', plan(nearest))
        for other in (0xffff, '000000000000ffff', Simhash64(0xffff)):
            nearest = Photo.objects.annotate(distance=HammingDistance('fp', other)).order_by('distance', 'id')[:2]
            self.assertEqual([(p.name, p.distance) for p in nearest], [('fff', 4), ('ffffff', 8)])
        self.assertIn('photo_fp', plan(Photo.objects.order_by(HammingDistance('fp', 7))[:1]))
        self.assertEqual(Photo.objects.filter(id=1).annotate(d=HammingDistance('fp', models.F('fp'))).filter(d__gt=0).count(), 0)
        titles = Letter.objects.annotate(fp=Minhash64('title', w=2)).filter(fp__within=(Minhash64(models.Value('x')), 8))
        self.assertRaises(ValueError, list, titles)
        one = psql(DATABASE, f"SELECT minhash64('{BUS[:30]}', 2)")
        near = Letter.objects.annotate(fp=Minhash64('title', w=2)).filter(fp__within=(one, 2))
        self.assertEqual(list(near), self.letters[1:2])
        self.assertIn('letter_title', plan(near))
        near = Letter.objects.annotate(fp=Minhash64('title', 2)).annotate(d=HammingDistance('fp', Minhash64(models.Value(BUS[:30]), 2)))
        self.assertEqual([letter.d for letter in near.order_by('d')[:1]], [0])

    def test_joins(self):
        lamp, bus, playground = self.letters
        copy = Letter.objects.create(content=LAMP + '!', title=LAMP[:30])
        for near in (Resembles('content', OuterRef('content'), 0.9, 0.95), Within(Minhash64('content'), Minhash64(OuterRef('content'))),
                     Within(Minhash64('title', 2), Minhash64(OuterRef('title'), 2), max_distance=3)):
            earlier = Exists(Letter.objects.filter(near, id__lt=OuterRef('id')))
            self.assertEqual(list(Letter.objects.filter(earlier)), [copy])
            self.assertEqual(list(Letter.objects.filter(~earlier).order_by('id')), [lamp, bus, playground])
            with connection.cursor() as cursor:
                cursor.execute('SET LOCAL enable_nestloop = off')
            for query, kind in ((Letter.objects.filter(earlier), 'Semi'), (Letter.objects.filter(~earlier), 'Anti')):
                self.assertRegex(query.explain(), rf'\(Hamming Join\).*\n *Join Type: {kind}')
        self.assertEqual(list(Letter.objects.filter(Resembles('content', LAMP)).order_by('id')), [lamp, copy])
        self.assertEqual(list(Photo.objects.filter(Within('fp', 0xff, 4)).values_list('name', flat=True)), ['fff'])
        self.assertEqual(Photo.objects.exclude(Within('fp', Simhash64(0xff), 4)).count(), 2)
        # a server-side cursor
        self.assertEqual(list(Letter.objects.filter(earlier).iterator(chunk_size=1)), [copy])

    def test_clusters(self):
        lamp, bus, playground = (letter.id for letter in self.letters)
        copy = Letter.objects.create(content=LAMP + '!', district=2).id
        for cluster in (Cluster('id', content='content'), Cluster('id', content=F('content'), min_resemblance=0.9, method='connected'),
                        Cluster('id', Minhash64('content')), Cluster('id', Minhash64('content'), max_distance=0),
                        Cluster('id', Minhash64('content'), 'content', max_distance=3, min_resemblance=1, w=2, unit='word')):
            found = Letter.objects.annotate(cluster=Window(cluster, order_by=F('id').asc())).order_by('id')
            self.assertEqual([letter.cluster for letter in found], [lamp, bus, playground, lamp])
        within = Window(Cluster('id', content='content'), partition_by=F('district'), order_by=F('id').asc())
        self.assertEqual(list(Letter.objects.annotate(c=within).order_by('id').values_list('c', flat=True)), [lamp, bus, playground, copy])
        self.assertIsInstance(Window(Cluster(F('id'), 'fp')).source_expression, Cluster)
        for bad in ({}, {'fp': 'fp', 'min_resemblance': 0.8}, {'content': 'content', 'max_distance': 8}):
            with self.subTest(bad=bad), self.assertRaises(TypeError):
                Cluster('id', **bad)

    def test_campaigns(self):
        lamp, bus, playground = (letter.id for letter in self.letters)
        Letter.objects.create(content='I am 80. ' + LAMP)
        found = Letter.objects.annotate(c=Window(Campaign('id', 'content'), order_by=F('id').asc())).order_by('id')
        self.assertEqual(list(found.values_list('c', flat=True)), [lamp, bus, playground, lamp])
        self.assertEqual(Campaign('id', 'content', 1).get_source_expressions()[2].value, 1.0)

    def test_templates(self):
        Letter.objects.bulk_create(Letter(content=content) for content in exchanged(16))
        found = Letter.objects.annotate(t=Window(Template('id', 'content'), order_by=F('id').asc())).order_by('id')
        self.assertEqual([letter.t for letter in found[:3]], [letter.id for letter in self.letters])
        self.assertEqual(len({letter.t for letter in found}), 4)
        self.assertEqual(Template('id', 'content', 1).get_source_expressions()[2].value, 1.0)

    def test_components(self):
        now = psql(DATABASE, 'SELECT now()')
        LetterLog.objects.bulk_create(LetterLog(new_key=a, old_key=b, distance=0, logged_at=now) for a, b in ((1, 2), (3, 2), (8, 9)))
        found = LetterLog.objects.annotate(component=Window(Component('new_key', 'old_key'))).order_by('new_key')
        self.assertEqual([log.component for log in found], [1, 1, 8])

    def test_reject(self):
        with self.assertRaises(IntegrityError), transaction.atomic():
            Photo.objects.create(fp=1)
        self.assertEqual(Photo.objects.count(), 3)

    def test_log(self):
        copy = Letter.objects.create(content=BUS + '!')
        self.assertEqual(list(LetterLog.objects.values_list('new_key', 'old_key')), [(copy.id, self.letters[1].id)])


class Generated(TestCase):
    def test_a_generated_field(self):
        # Django has it from 5.0 on
        if not hasattr(models, 'GeneratedField'):
            return
        with isolate_apps('tests.letters'):
            class Page(FlagMixin, models.Model):
                content = models.TextField()
                fp = models.GeneratedField(expression=Minhash64('content'), output_field=Simhash64Field(), db_persist=True)
                repeats = models.IntegerField(null=True)
                flag_fields = ['repeats']

                class Meta:
                    app_label = 'letters'
                    indexes = [HammingIndex(fields=['fp'], name='page_fp')]

            with connection.schema_editor() as editor:
                editor.create_model(Page)
            page = Page.objects.create(content=LAMP)
            self.assertEqual(page.fp, psql(DATABASE, f"SELECT minhash64('{LAMP}')"))
            page.content = BUS
            page.save()
            self.assertEqual(Page.objects.get().content, BUS)
            self.assertEqual(Page.objects.filter(fp__within=(Page.objects.get().fp, 0)).count(), 1)


class Flags(TestCase):
    def setUp(self):
        self.first = Letter.objects.create(content=LAMP)
        self.copy = Letter.objects.create(content=LAMP + '!')

    def stored(self):
        return Letter.objects.values_list('repeats', flat=True).get(id=self.copy.id)

    def test_a_flag_is_known_after_create(self):
        self.assertEqual(self.copy.repeats, self.first)
        self.assertEqual(self.copy.repeats_id, self.first.id)

    def test_save_after_create_keeps_it(self):
        self.copy.district = 7
        self.copy.save()
        self.assertEqual(self.stored(), self.first.id)
        self.copy.save()
        self.assertEqual(self.stored(), self.first.id)
        self.assertEqual(Letter.objects.get(id=self.copy.id).district, 7)

    def test_save_after_bulk_create_keeps_it(self):
        copy, other = Letter.objects.bulk_create([Letter(content=LAMP + '?'), Letter(content=PLAYGROUND)])
        for letter in (copy, other):
            letter.district = 7
            letter.save()
        self.assertIsNotNone(Letter.objects.get(id=copy.id).repeats)
        self.assertEqual(copy.repeats, Letter.objects.get(id=copy.id).repeats)
        self.assertIsNone(other.repeats)
        third = Letter.objects.bulk_create([Letter(content=PLAYGROUND + '?')])[0]
        third.repeats = self.first
        third.save()
        self.assertEqual(Letter.objects.get(id=third.id).repeats, self.first)

    def test_save_of_an_object_read_before_keeps_it(self):
        old = Letter.objects.get(id=self.first.id)
        again = pickle.loads(pickle.dumps(old))
        Letter.objects.filter(id=self.first.id).update(repeats=self.copy)
        old.district = 7
        old.save()
        again.save()
        self.assertEqual(Letter.objects.get(id=self.first.id).repeats, self.copy)

    def test_the_trigger_changes_it(self):
        self.assertEqual(self.copy.repeats, self.first)
        self.copy.content = BUS
        self.copy.save()
        self.assertIsNone(self.copy.repeats)
        self.copy.content = LAMP.upper()
        self.copy.save()
        self.assertEqual(self.copy.repeats_id, self.first.id)

    def test_an_assigned_flag_is_written(self):
        for read in (True, False):
            letter = Letter.objects.get(id=self.copy.id) if read else self.copy
            letter.repeats = None
            letter.save()
            self.assertIsNone(self.stored())
            letter.repeats = self.first
            letter.save()
            self.assertEqual(self.stored(), self.first.id)

    def test_update_fields_and_deferred(self):
        letter = Letter.objects.get(id=self.copy.id)
        letter.repeats = None
        letter.save(update_fields=['district'])
        self.assertEqual(self.stored(), self.first.id)
        letter = Letter.objects.defer('repeats').get(id=self.copy.id)
        letter.save()
        letter = Letter.objects.only('district').get(id=self.copy.id)
        letter.district = 8
        letter.save()
        self.assertEqual(self.stored(), self.first.id)
        letter = Letter.objects.only('district', 'repeats').get(id=self.copy.id)
        Letter.objects.filter(id=self.copy.id).update(repeats=None)
        letter.save()
        self.assertIsNone(self.stored())
        Letter.objects.filter(id=self.copy.id).update(repeats=self.first)
        letter.save()
        letter.refresh_from_db()
        self.assertEqual((letter.repeats, letter.content, letter.district), (self.first, self.copy.content, 8))

    def test_a_known_key_is_still_inserted(self):
        Letter(id=900, content=PLAYGROUND).save()
        self.assertEqual(Letter.objects.get(id=900).content, PLAYGROUND)
        Letter(id=900, content=PLAYGROUND, district=3).save()
        self.assertEqual(Letter.objects.get(id=900).district, 3)
        again = Letter.objects.get(id=900)
        again.pk = None
        again.save()
        self.assertEqual((again.repeats_id, Letter.objects.count()), (900, 4))
        again.pk = 901
        again.save()
        self.assertIsNotNone(again.repeats_id)
        self.assertEqual(Letter.objects.count(), 5)
        again.pk = None
        again._state.adding = True
        again.save(force_insert=True)
        self.assertEqual(Letter.objects.count(), 6)

    def test_no_query_is_added_to_a_save(self):
        with CaptureQueriesContext(connection) as queries:
            self.copy.save()
        self.assertEqual(len(queries), 1)


if __name__ == '__main__':
    unittest.main()
