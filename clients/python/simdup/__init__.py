"""Fingerprints of simdup, the near-duplicate search of PostgreSQL.

This module needs no other package. The modules simdup.psycopg,
simdup.sqlalchemy and simdup.django each need the library of their name.
"""
from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any, Dict, List, SupportsIndex, Tuple, Union

__all__ = ['Simhash64', 'SimhashBall']
__version__ = '1.0.0'

_HEX = re.compile('[0-9a-fA-F]{16}')
_BALL = re.compile('<([0-9a-fA-F]{16}),([0-9]{1,2})>')


class Simhash64(str):
    """A value of the type simhash64: 16 lower-case hex digits, as the server writes it.

    It is made from 16 hex digits, from 8 bytes, big-endian, or from a number of
    64 bits, signed as a bigint or not. Anything else is a ValueError.
    """

    __slots__ = ()

    def __new__(cls, value: Union[str, bytes, bytearray, memoryview, SupportsIndex]) -> Simhash64:
        if isinstance(value, cls):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            text = bytes(value).hex()
        elif isinstance(value, str):
            text = value
        else:
            number = operator.index(value)
            if not -1 << 63 <= number < 1 << 64:
                raise ValueError(f'a fingerprint has 64 bits, not {number}')
            text = f'{number % (1 << 64):016x}'
        if not _HEX.fullmatch(text):
            raise ValueError(f'a fingerprint has 16 hex digits, not {text!r}')
        return super().__new__(cls, text.lower())

    def __int__(self) -> int:
        """Return the 64 bits as a number from 0."""
        return int(str(self), 16)

    def __bytes__(self) -> bytes:
        """Return the 64 bits as 8 bytes, big-endian."""
        return bytes.fromhex(self)

    def bigint(self) -> int:
        """Return the same 64 bits as a bigint of the server, which has a sign."""
        return int.from_bytes(bytes(self), 'big', signed=True)

    def distance(self, other: Union[str, bytes, SupportsIndex]) -> int:
        """Return the Hamming distance to another fingerprint: the operator <~>."""
        return bin(int(self) ^ int(Simhash64(other))).count('1')


@dataclass(frozen=True)
class SimhashBall:
    """A value of the type simhash_ball: the fingerprints within a radius of a center."""

    center: Simhash64
    radius: int

    def __post_init__(self) -> None:
        object.__setattr__(self, 'center', Simhash64(self.center))
        if not 0 <= self.radius <= 64:
            raise ValueError(f'a radius is 0 to 64, not {self.radius}')

    @classmethod
    def parse(cls, text: str) -> SimhashBall:
        """Return the ball of a text form, <hex,k>."""
        match = _BALL.fullmatch(text)
        if match is None:
            raise ValueError(f'a ball is <hex,k>, not {text!r}')
        return cls(Simhash64(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f'<{self.center},{self.radius}>'

    def __contains__(self, fp: Union[str, bytes, SupportsIndex]) -> bool:
        """Return whether the fingerprint is in the ball: the operator <@."""
        return self.center.distance(fp) <= self.radius


# The options of simdup_cluster that follow fp, content, or both, with their defaults.
_OPTIONS: Dict[Tuple[bool, bool], Dict[str, Any]] = {
    (True, False): {'max_distance': 8, 'method': 'leader'},
    (False, True): {'min_resemblance': 0.8, 'method': 'leader'},
    (True, True): {'max_distance': 8, 'min_resemblance': 0.8, 'method': 'leader', 'w': 4, 'unit': 'char'},
}


def _cluster_arguments(fp: Any, content: Any, options: Dict[str, Any]) -> Tuple[List[Any], List[Any]]:
    # the columns behind the key, and the constants behind these
    columns = [column for column in (fp, content) if column is not None]
    if not columns:
        raise TypeError('a cluster is of fp, of content, or of both')
    known = _OPTIONS[fp is not None, content is not None]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f'options of these columns are {", ".join(known)}, not {unknown[0]}')
    return columns, [type(known[name])(options.get(name, known[name])) for name in known]


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote + quote) + quote


def _create_trigger(kind: str, table: str, name: str, arguments: List[str], options: Dict[str, Any]) -> str:
    # the statement that makes a trigger on a table, whose name is quoted already
    arguments = arguments + [f'{option} => {str(value).lower() if isinstance(value, bool) else value}'
                             for option, value in options.items()]
    quoted = ', '.join(_quoted(argument, "'") for argument in arguments)
    return (f'CREATE TRIGGER {_quoted(name, chr(34))} {"AFTER" if kind == "log" else "BEFORE"} INSERT OR UPDATE ON {table} '
            f'FOR EACH ROW EXECUTE FUNCTION simdup_{kind}_trigger({quoted})')
