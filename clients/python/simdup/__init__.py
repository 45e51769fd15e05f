"""Fingerprints of simdup, the near-duplicate search of PostgreSQL.

This module needs no other package. The modules simdup.psycopg,
simdup.sqlalchemy and simdup.django each need the library of their name.
"""
from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import SupportsIndex, Union

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
