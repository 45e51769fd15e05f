"""The values, and that import simdup needs no library."""
import copy
import importlib.util
import json
import pickle
import subprocess
import sys
import unittest

import simdup
from simdup import Simhash64, SimhashBall


class Values(unittest.TestCase):
    def test_one_value_of_many_forms(self):
        for form in ('00000000deadbeef', '00000000DEADBEEF', 0xdeadbeef, bytes.fromhex('00000000deadbeef')):
            self.assertEqual(Simhash64(form), '00000000deadbeef')
        self.assertEqual(Simhash64(-1), 'f' * 16)
        self.assertEqual(Simhash64((1 << 64) - 1), 'f' * 16)
        self.assertEqual((int(Simhash64(-1)), Simhash64(-1).bigint()), ((1 << 64) - 1, -1))
        self.assertEqual(Simhash64(Simhash64(5).bigint()), Simhash64(5))
        self.assertEqual(bytes(Simhash64(1)), b'\0' * 7 + b'\1')

    def test_refused(self):
        for bad in ('', 'deadbeef', 'g' * 16, ' ' + '0' * 15, '0' * 17, '٠' * 16, b'1234567', 1 << 64, -(1 << 63) - 1):
            with self.subTest(bad=bad), self.assertRaises(ValueError):
                Simhash64(bad)
        for bad in (None, 1.0, []):
            with self.subTest(bad=bad), self.assertRaises(TypeError):
                Simhash64(bad)

    def test_distance(self):
        self.assertEqual(Simhash64(0).distance(-1), 64)
        self.assertEqual(Simhash64('00000000deadbeef').distance('00000000deadbeee'), 1)

    def test_copies(self):
        fp = Simhash64('00000000deadbeef')
        self.assertEqual(pickle.loads(pickle.dumps(fp)), fp)
        self.assertIsInstance(copy.deepcopy(fp), Simhash64)
        self.assertEqual(json.dumps([fp]), '["00000000deadbeef"]')
        self.assertEqual({fp: 1}['00000000deadbeef'], 1)

    def test_ball(self):
        ball = SimhashBall('00000000DEADBEEF', 3)
        self.assertEqual(str(ball), '<00000000deadbeef,3>')
        self.assertEqual(SimhashBall.parse(str(ball)), ball)
        self.assertIn(Simhash64(0xdeadbee8), ball)
        self.assertNotIn(Simhash64(0xdeadbee0), ball)
        for bad in ('<00000000deadbeef,65>', '<00000000deadbeef>', '(00000000deadbeef,3)', '<00000000deadbeef,-1>'):
            with self.subTest(bad=bad), self.assertRaises(ValueError):
                SimhashBall.parse(bad)

    def test_needs_no_library(self):
        program = ('import sys, importlib.abc\n'
                   'class No(importlib.abc.MetaPathFinder):\n'
                   '    def find_spec(self, name, path, target=None):\n'
                   '        if name in ("psycopg", "psycopg2", "sqlalchemy", "django"): raise ImportError(name)\n'
                   'sys.meta_path.insert(0, No())\n'
                   'import simdup\n'
                   'for name in ("psycopg", "sqlalchemy", "django"):\n'
                   '    try: __import__("simdup." + name)\n'
                   '    except ImportError as error: print(error)\n')
        out = subprocess.run([sys.executable, '-B', '-c', program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.split(), ['psycopg', 'sqlalchemy', 'django'])

    @unittest.skipUnless(importlib.util.find_spec('django') and importlib.util.find_spec('psycopg2'), 'no Django')
    def test_django_needs_no_settings(self):
        subprocess.run([sys.executable, '-B', '-c', 'from simdup.django import *; Simhash64Field(); HammingDistance("fp", 1)'], check=True)

    def test_version(self):
        with open('pyproject.toml', encoding='utf-8') as project:
            self.assertIn(f'version = "{simdup.__version__}"', project.read())


if __name__ == '__main__':
    unittest.main()
