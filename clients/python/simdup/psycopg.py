"""psycopg 3: fingerprints come and go as Simhash64, balls as SimhashBall.

    with psycopg.connect(...) as conn:
        simdup.psycopg.register(conn)

The types belong to a database, so each connection is registered. For a pool, give
register as its argument configure.
"""
from __future__ import annotations

import struct
from typing import Any, Iterable, Tuple

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.types import TypeInfo

from . import Simhash64, SimhashBall

__all__ = ['register', 'register_async']

# Whatever the search_path, the types are where the extension is.
_QUERY = """
    SELECT t.typname::text, t.oid::bigint, t.typarray::bigint, pg_catalog.format('%I.%I', n.nspname, t.typname)
    FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_extension AS e ON e.extnamespace = t.typnamespace
      JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
    WHERE e.extname = 'simdup' AND t.typname IN ('simhash64', 'simhash_ball')"""


class _Text(Dumper):
    def dump(self, obj: Any) -> bytes:
        return str(obj).encode()


class _Simhash64Binary(Dumper):
    format = Format.BINARY

    def dump(self, obj: Simhash64) -> bytes:
        return bytes(obj)


class _Simhash64Loader(Loader):
    def load(self, data: Any) -> Simhash64:
        return Simhash64(bytes(data).decode())


class _Simhash64BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> Simhash64:
        return Simhash64(bytes(data))


class _SimhashBallBinary(Dumper):
    format = Format.BINARY

    def dump(self, obj: SimhashBall) -> bytes:
        return struct.pack('>8si', bytes(obj.center), obj.radius)


class _SimhashBallLoader(Loader):
    def load(self, data: Any) -> SimhashBall:
        return SimhashBall.parse(bytes(data).decode())


class _SimhashBallBinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Any) -> SimhashBall:
        center, radius = struct.unpack('>8si', data)
        return SimhashBall(Simhash64(center), radius)


_ADAPTERS = {
    'simhash64': (Simhash64, (_Simhash64Binary, _Text), (_Simhash64Loader, _Simhash64BinaryLoader)),
    'simhash_ball': (SimhashBall, (_SimhashBallBinary, _Text), (_SimhashBallLoader, _SimhashBallBinaryLoader)),
}


def _register(conn: Any, rows: Iterable[Tuple[str, int, int, str]]) -> None:
    types = {name: (oid, array_oid, regtype) for name, oid, array_oid, regtype in rows}
    if len(types) != len(_ADAPTERS):
        raise psycopg.ProgrammingError('the database has no extension simdup: run CREATE EXTENSION simdup')
    for name, (cls, dumpers, loaders) in _ADAPTERS.items():
        oid, array_oid, regtype = types[name]
        # also makes arrays known
        TypeInfo(name, oid, array_oid, regtype=regtype).register(conn)
        for dumper in dumpers:
            conn.adapters.register_dumper(cls, type(dumper.__name__, (dumper,), {'oid': oid}))
        for loader in loaders:
            conn.adapters.register_loader(oid, loader)


def register(conn: psycopg.Connection[Any]) -> None:
    """Make a connection read and write simhash64 and simhash_ball, and their arrays."""
    with conn.transaction(), conn.cursor(row_factory=tuple_row) as cursor:
        rows = cursor.execute(_QUERY).fetchall()
    _register(conn, rows)


async def register_async(conn: psycopg.AsyncConnection[Any]) -> None:
    """Do the same as register for an asynchronous connection."""
    async with conn.transaction(), conn.cursor(row_factory=tuple_row) as cursor:
        rows = await (await cursor.execute(_QUERY)).fetchall()
    _register(conn, rows)
