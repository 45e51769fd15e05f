"""Alembic: its row in doc/simdup-applications.md. Prints TAP."""
import importlib
import warnings

from alembic.autogenerate import api, produce_migrations, render
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, create_engine

from tap import check, done

warnings.simplefilter('ignore')
conn = create_engine('postgresql+psycopg2://').connect()


def migration():
    """Return a migration that makes the table letter anew, as alembic writes it."""
    meta = MetaData()
    meta.reflect(conn, only=['letter'])
    context = MigrationContext.configure(conn, opts={
        'sqlalchemy_module_prefix': 'sa.', 'alembic_module_prefix': 'op.', 'user_module_prefix': None,
        'render_item': None, 'render_as_batch': False,
        'include_name': lambda name, kind, parent: kind != 'table'})
    return '\n'.join(str(render._render_cmd_body(produce_migrations(context, meta).upgrade_ops,
                                                 api.AutogenContext(context))).splitlines())


bare = migration()
check('NullType' in bare, True, 'the type is unknown')
check("postgresql_using='hamming'" in bare, True, 'the index is kept')
check("sa.Computed('minhash64(content)'" in bare, True, 'the generated column is kept')
check('no_copy' in bare, False, 'the constraint is not seen')
importlib.import_module('simdup.sqlalchemy')
check('NullType' not in migration() and 'Simhash64' in migration(), True, 'simdup.sqlalchemy has the type')
done()
