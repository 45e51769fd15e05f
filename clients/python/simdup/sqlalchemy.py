"""SQLAlchemy: types, the hamming index, searches that use it, joins, clusters and triggers.

    class Letter(Base):
        content = mapped_column(Text)
        __table_args__ = (HammingIndex('letter_near', 'content'),)

    select(Letter).where(resembles(Letter.content, text, 0.8))
    select(Letter).order_by(distance(Letter.content, text)).limit(10)
    select(Letter.id, cluster(Letter.id, content=Letter.content).over(order_by=Letter.id))

within and resembles take columns of two tables, too: in join(), or in exists().where().
Import this module before you reflect tables: then it knows their types.
"""
from __future__ import annotations

from typing import Any, Callable, List, Optional

from sqlalchemy import DDL, Boolean, Index, Integer, cast, func, literal, literal_column
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.sql import ClauseElement, coercions, roles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import UserDefinedType

from . import Simhash64 as _Simhash64
from . import SimhashBall as _SimhashBall
from . import _cluster_arguments, _create_trigger

__all__ = ['HammingIndex', 'Simhash64', 'SimhashBall', 'campaign', 'cluster', 'component', 'distance', 'flag_trigger',
           'log_trigger', 'reject_trigger', 'resembles', 'within']


class Simhash64(UserDefinedType):  # type: ignore[type-arg]
    """The type simhash64 of a column. Values are simdup.Simhash64."""

    cache_ok = True

    class comparator_factory(UserDefinedType.Comparator):  # type: ignore[type-arg]
        """The methods of a column of fingerprints."""

        def distance(self, other: Any) -> Any:
            """Return the Hamming distance, <~>: in ORDER BY, the index serves it."""
            return self.op('<~>', return_type=Integer())(other)

        def within(self, other: Any, max_distance: int = 8) -> Any:
            """Return whether the distance is at most max_distance: simhash_within."""
            if not isinstance(other, ClauseElement) and not hasattr(other, '__clause_element__'):
                other = literal(other, self.type)
            return func.simhash_within(self.expr, other, literal_column(str(int(max_distance))), type_=Boolean)

    def get_col_spec(self, **options: Any) -> str:
        return 'simhash64'

    def bind_processor(self, dialect: Any) -> Callable[[Any], Optional[str]]:
        return lambda value: None if value is None else str(_Simhash64(value))

    def literal_processor(self, dialect: Any) -> Callable[[Any], str]:
        return lambda value: f"'{_Simhash64(value)}'"

    # so that no driver has to know the type
    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(bindvalue, self)

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], Optional[_Simhash64]]:
        return lambda value: None if value is None else _Simhash64(value)

    @property
    def python_type(self) -> type:
        return _Simhash64


class SimhashBall(UserDefinedType):  # type: ignore[type-arg]
    """The type simhash_ball of a column. Values are simdup.SimhashBall."""

    cache_ok = True

    def get_col_spec(self, **options: Any) -> str:
        return 'simhash_ball'

    def bind_processor(self, dialect: Any) -> Callable[[Any], Optional[str]]:
        return lambda value: None if value is None else str(value)

    def literal_processor(self, dialect: Any) -> Callable[[Any], str]:
        return lambda value: f"'{value}'"

    def bind_expression(self, bindvalue: Any) -> Any:
        return cast(bindvalue, self)

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], Optional[_SimhashBall]]:
        return lambda value: value if value is None or isinstance(value, _SimhashBall) else _SimhashBall.parse(value)

    @property
    def python_type(self) -> type:
        return _SimhashBall


PGDialect.ischema_names['simhash64'] = Simhash64
PGDialect.ischema_names['simhash_ball'] = SimhashBall


class minhash64(GenericFunction):  # type: ignore[type-arg]
    """func.minhash64(content): its result is a fingerprint."""

    type = Simhash64()
    inherit_cache = True


class simhash(GenericFunction):  # type: ignore[type-arg]
    """func.simhash(content): its result is a fingerprint."""

    type = Simhash64()
    inherit_cache = True


class HammingIndex(Index):
    """CREATE INDEX name ON … USING hamming (expression).

    The expression is the name of a column, a column, or an expression such as
    func.minhash64(title, 2). Further arguments are those of Index.
    """

    inherit_cache = True

    def __init__(self, name: Optional[str], expression: Any, **options: Any) -> None:
        super().__init__(name, expression, postgresql_using='hamming', **options)


def _share(value: float) -> Any:
    # a constant, so that a generic plan knows the radius of the search
    value = float(value)
    if not 0 <= value <= 1:
        raise ValueError(f'a resemblance is 0 to 1, not {value}')
    return literal_column(f'{value:.17f}'.rstrip('0'))


def resembles(content: Any, query: Any, min_resemblance: float = 0.8, recall: float = 0.99) -> Any:
    """Return whether two texts resemble each other: simdup_resembles."""
    return func.simdup_resembles(content, query, _share(min_resemblance), _share(recall), type_=Boolean)


def distance(content: Any, query: Any) -> Any:
    """Return the distance of two fingerprints, <~>, or of two texts, <~~>.

    In ORDER BY, the index of the column serves it.
    """
    content = coercions.expect(roles.ExpressionElementRole, content)
    if isinstance(content.type, Simhash64):
        return content.distance(query)
    return content.op('<~~>', return_type=Integer())(query)


def within(fp: Any, other: Any, max_distance: int = 8) -> Any:
    """Return whether two fingerprints are within max_distance: simhash_within."""
    return coercions.expect(roles.ExpressionElementRole, fp).within(other, max_distance)


def cluster(key: Any, fp: Any = None, content: Any = None, **options: Any) -> Any:
    """Return the key of the first row of the row's cluster: simdup_cluster, for .over().

    Of fp, content, or both. Options are max_distance and method with fp,
    min_resemblance and method with content, and with both also w and unit.
    """
    key = coercions.expect(roles.ExpressionElementRole, key)
    columns, constants = _cluster_arguments(fp, content, options)
    constants = [literal(value) if isinstance(value, str) else literal_column(repr(value)) for value in constants]
    return func.simdup_cluster(key, *columns, *constants, type_=key.type)


def campaign(key: Any, content: Any, min_containment: float = 0.35) -> Any:
    """Return the key of the letter at the center of the row's campaign: simdup_campaign, for .over()."""
    key = coercions.expect(roles.ExpressionElementRole, key)
    return func.simdup_campaign(key, content, literal_column(repr(float(min_containment))), type_=key.type)


def template(key: Any, content: Any, min_containment: float = 0.35) -> Any:
    """Return the key of a letter of the same exchanged phrases as the row's: simdup_template, for .over()."""
    key = coercions.expect(roles.ExpressionElementRole, key)
    return func.simdup_template(key, content, literal_column(repr(float(min_containment))), type_=key.type)


def component(a: Any, b: Any) -> Any:
    """Return the smallest key that pairs connect with those of the row: simdup_component, for .over()."""
    a = coercions.expect(roles.ExpressionElementRole, a)
    return func.simdup_component(a, b, type_=a.type)


_preparer = PGDialect(paramstyle='named').identifier_preparer


def _trigger(kind: str, table: Any, name: str, arguments: List[str], options: Any) -> Any:
    # DDL formats its text with %
    return DDL(_create_trigger(kind, _preparer.format_table(table), name, arguments, options).replace('%', '%%'))


def flag_trigger(table: Any, name: str, flag: Any, **options: Any) -> Any:
    """Return CREATE TRIGGER … EXECUTE FUNCTION simdup_flag_trigger: flag, a column, names the nearest other row.

    Options are those of the function. The statement is for
    event.listen(table, 'after_create', …), or for execute() in a migration.
    """
    return _trigger('flag', table, name, [getattr(flag, 'name', flag)], options)


def log_trigger(table: Any, name: str, log: Any, **options: Any) -> Any:
    """Return CREATE TRIGGER … EXECUTE FUNCTION simdup_log_trigger: near rows are written to the table log."""
    return _trigger('log', table, name, [_preparer.format_table(log)], options)


def reject_trigger(table: Any, name: str, **options: Any) -> Any:
    """Return CREATE TRIGGER … EXECUTE FUNCTION simdup_reject_trigger: a near row is an IntegrityError."""
    return _trigger('reject', table, name, [], options)
