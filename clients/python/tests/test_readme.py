"""The examples of README.md print what it says."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from . import new_database, psql

HERE = pathlib.Path(__file__).resolve().parent.parent

SETTINGS = """
import sys
import django
from django.conf import settings
settings.configure(
    DATABASES={'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': 'python_readme'}},
    INSTALLED_APPS=['letters'], DEFAULT_AUTO_FIELD='django.db.models.AutoField')
django.setup()
"""


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = (HERE / 'README.md').read_text(encoding='utf-8')
        cls.sections = {
            section.split('\n')[0]: re.findall(r'^```(python|text)\n(.*?)^```$', section, re.M | re.S)
            for section in text.split('\n## ')[1:]}

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.database = new_database('python_readme')
        # Django's own migration creates it
        if 'django' not in self.id():
            psql(self.database, 'CREATE EXTENSION simdup')

    # new in Python 3.11
    if not hasattr(unittest.TestCase, 'enterContext'):
        def enterContext(self, context):
            self.addCleanup(context.__exit__, None, None, None)
            return context.__enter__()

    def run_python(self, *arguments):
        done = subprocess.run([sys.executable, '-B', *arguments], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, 'PYTHONPATH': f'{HERE}:{self.folder}'})
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return done.stdout

    def fences(self, section, kinds):
        self.assertEqual([kind for kind, _ in self.sections[section]], kinds)
        return [body for _, body in self.sections[section]]

    def test_three_sections(self):
        self.assertEqual(list(self.sections), ['psycopg', 'SQLAlchemy', 'Django'])

    def test_psycopg(self):
        program, expected = self.fences('psycopg', ['python', 'text'])
        self.assertEqual(self.run_python('-c', program), expected)

    def test_sqlalchemy(self):
        program, expected = self.fences('SQLAlchemy', ['python', 'text'])
        self.assertEqual(self.run_python('-c', program), expected)

    def test_django(self):
        models, extension, trigger, program, expected = self.fences('Django', ['python', 'python', 'python', 'python', 'text'])
        migrations = self.folder / 'letters' / 'migrations'
        migrations.mkdir(parents=True)
        for package in (migrations.parent, migrations):
            (package / '__init__.py').touch()
        (migrations.parent / 'models.py').write_text(models, encoding='utf-8')
        (self.folder / 'manage.py').write_text(
            SETTINGS + 'from django.core.management import call_command\ncall_command(*sys.argv[1:], verbosity=0)\n', encoding='utf-8')
        (migrations / '0001_simdup.py').write_text(extension, encoding='utf-8')
        self.run_python('manage.py', 'makemigrations', 'letters', '--name', 'letter')
        (migrations / '0003_flag.py').write_text(trigger, encoding='utf-8')
        self.run_python('manage.py', 'migrate')
        self.assertEqual(self.run_python('-c', SETTINGS + program), expected)
        self.run_python('manage.py', 'migrate', 'letters', 'zero')
        self.assertEqual(psql(self.database, "SELECT count(*) FROM pg_extension WHERE extname = 'simdup'"), '0')


if __name__ == '__main__':
    unittest.main()
