"""What the tests share: letters, and databases of their own. PGHOST and its like name the server."""
import os
import subprocess

LAMP = 'The lamp at the corner of Fish Street has been dark since May. I walk home there at night.'
BUS = 'Bus 14 is late every single morning and people miss the train at the junction.'
PLAYGROUND = 'The playground behind the school has no shade, and in summer the slides are too hot to touch.'


def exchanged(n):
    """Return n letters that exchange two phrases in each of eight slots, and end with words of their own."""
    slots = [[f'slot{slot} choice{choice} has these words' for choice in (0, 1)] for slot in range(8)]
    return [' '.join(phrases[i * 0x9E37 >> slot & 1] for slot, phrases in enumerate(slots)) + f' yours {i}' for i in range(n)]


def psql(database, *statements):
    """Run statements, and return what psql prints."""
    command = ['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', database]
    for statement in statements:
        command += ['-c', statement]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def new_database(name):
    """Create an empty database and make it libpq's default. Return its name."""
    psql('postgres', f'DROP DATABASE IF EXISTS {name}', f'CREATE DATABASE {name}')
    os.environ['PGDATABASE'] = name
    return name
