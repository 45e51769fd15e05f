"""Django: a field, the hamming index, lookups, expressions, triggers in migrations.

    class Letter(FlagMixin, models.Model):
        content = models.TextField()
        repeats = models.ForeignKey('self', models.SET_NULL, null=True, editable=False)
        flag_fields = ['repeats']

        class Meta:
            indexes = [HammingIndex(fields=['content'], name='letter_near')]

    Letter.objects.filter(content__resembles=(text, 0.8))
    Letter.objects.filter(content__within=(text, 8))
    Letter.objects.order_by(HammingDistance('content', text))[:10]
    Letter.objects.filter(Exists(Old.objects.filter(Resembles('content', OuterRef('content'), 0.8))))
    Letter.objects.annotate(cluster=Window(Cluster('id', content='content'), order_by=F('id').asc()))
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from django.contrib.postgres.indexes import PostgresIndex
from django.contrib.postgres.operations import CreateExtension
from django.core.exceptions import ValidationError
from django.db import models
from django.db.migrations.operations.base import Operation
from django.db.models.expressions import Func, Value
from django.db.models.lookups import Lookup

from . import Simhash64, SimhashBall, _cluster_arguments, _create_trigger, _quoted

__all__ = [
    'Campaign', 'Cluster', 'Component', 'FlagMixin', 'FlagTrigger', 'HammingDistance', 'HammingIndex', 'LogTrigger', 'Minhash64',
    'RejectTrigger', 'Resembles', 'Simhash64Field', 'SimdupExtension', 'Template', 'Within',
]


# --- models

class Simhash64Field(models.Field):
    """A field of the type simhash64. Values are simdup.Simhash64."""

    description = 'A fingerprint of 64 bits'
    empty_strings_allowed = False

    def db_type(self, connection: Any) -> str:
        return 'simhash64'

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return '%s::simhash64'

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Optional[Simhash64]:
        return None if value is None else Simhash64(value)

    def to_python(self, value: Any) -> Optional[Simhash64]:
        if value is None or value == '':
            return None
        try:
            return Simhash64(value)
        except (TypeError, ValueError) as error:
            raise ValidationError('%(error)s', 'invalid', {'error': str(error)}) from error

    def get_prep_value(self, value: Any) -> Optional[str]:
        value = super().get_prep_value(value)
        # the driver knows str
        return None if value is None else str.__str__(Simhash64(value))


class HammingIndex(PostgresIndex):
    """CREATE INDEX … USING hamming: of a text, a fingerprint, or an expression such as Minhash64('title', 2)."""

    suffix = 'hamming'

    def __init__(self, *expressions: Any, fillfactor: Optional[int] = None, **options: Any) -> None:
        self.fillfactor = fillfactor
        super().__init__(*expressions, **options)

    def deconstruct(self) -> Tuple[str, Sequence[Any], Dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        if self.fillfactor is not None:
            kwargs['fillfactor'] = self.fillfactor
        return path, args, kwargs

    def get_with_params(self) -> List[str]:
        return [] if self.fillfactor is None else [f'fillfactor = {int(self.fillfactor)}']


if TYPE_CHECKING:
    from django.db.models import Model as _Model
else:
    # no model itself, so that this module can be imported before there are settings
    _Model = object


class FlagMixin(_Model):
    """For a model with flags, which simdup_flag_trigger sets: save() does not erase them.

    flag_fields names the fields. save() writes a flag of an old row only if it was
    assigned since it was read. After a save(), a flag is read anew when it is
    asked for.
    """

    flag_fields: Sequence[str] = ()

    def _flags(self) -> List[Any]:
        return [self._meta.get_field(name) for name in self.flag_fields]

    def _remember_flags(self) -> None:
        self._state.simdup_flags = self.pk, {
            field.attname: self.__dict__[field.attname] for field in self._flags() if field.attname in self.__dict__}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._remember_flags()

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        super().refresh_from_db(*args, **kwargs)
        self._remember_flags()

    def save(self, force_insert: Any = False, force_update: bool = False, using: Optional[str] = None,
             update_fields: Optional[Iterable[str]] = None) -> None:
        pk, known = getattr(self._state, 'simdup_flags', (None, {}))
        # bulk_create gives a key, and calls no save()
        old = self.pk is not None and pk in (None, self.pk) and not self._state.adding and using in (None, self._state.db)
        if update_fields is None and old and not force_insert:
            kept = {field.name for field in self._flags()
                    if field.attname not in self.__dict__ or known.get(field.attname, self) == self.__dict__[field.attname]}
            if kept:
                update_fields = [field.name for field in self._meta.concrete_fields
                                 if not field.primary_key and field.name not in kept and field.attname in self.__dict__]
        elif update_fields is None:
            # a copy under another key has no row to read the flag from
            for field in self._flags():
                self.__dict__.setdefault(field.attname, field.get_default())
        super().save(force_insert=force_insert, force_update=force_update, using=using, update_fields=update_fields)
        # as a deferred field is
        for field in self._flags():
            self.__dict__.pop(field.attname, None)
            self._state.fields_cache.pop(field.name, None)
        self._remember_flags()


# --- queries

class Minhash64(Func):
    """minhash64(content, w, unit, min_features): the fingerprint of a text."""

    function = 'minhash64'

    def __init__(self, content: Any, w: int = 4, unit: str = 'char', min_features: int = 0, **extra: Any) -> None:
        extra.setdefault('output_field', Simhash64Field())
        super().__init__(content, Value(w), Value(unit), Value(min_features), **extra)


def _constants(lookup: Any, most: int) -> Tuple[Any, List[Any]]:
    # a value alone, or a tuple of it and constants
    if not isinstance(lookup.rhs, (tuple, list)):
        return lookup.rhs, []
    if not 1 <= len(lookup.rhs) <= most or any(hasattr(value, 'resolve_expression') for value in lookup.rhs):
        raise ValueError(f'{lookup.lookup_name} takes a value, or a tuple of up to {most} values')
    return lookup.rhs[0], list(lookup.rhs[1:])


def _right_side(lookup: Any, compiler: Any, connection: Any, value: Any, constant: Callable[[Any], str],
                place: str = '%s') -> Tuple[str, List[Any]]:
    # an expression in SQL, or a place for a constant
    if hasattr(value, 'resolve_expression'):
        return lookup.process_rhs(compiler, connection)
    return place, [constant(value)]


@Simhash64Field.register_lookup
class _WithinLookup(Lookup):
    """fp__within=(fp, max_distance), fp__within=SimhashBall(fp, 3): simhash_within."""

    lookup_name = 'within'
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Tuple[str, List[Any]]:
        lhs, params = self.process_lhs(compiler, connection)
        other, constants = _constants(self, 2)
        max_distance = int(constants[0]) if constants else 8
        if isinstance(other, SimhashBall):
            max_distance = other.radius
            other = other.center
        rhs, rhs_params = _right_side(self, compiler, connection, other, lambda fp: str.__str__(Simhash64(fp)), '%s::simhash64')
        return f'simhash_within({lhs}, {rhs}, {max_distance})', [*params, *rhs_params]


@models.CharField.register_lookup
@models.TextField.register_lookup
class _TextWithinLookup(Lookup):
    """content__within=text, or (text, max_distance): the distance of two texts, <~~>, is at most that."""

    lookup_name = 'within'
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Tuple[str, List[Any]]:
        lhs, params = self.process_lhs(compiler, connection)
        other, constants = _constants(self, 2)
        rhs, rhs_params = _right_side(self, compiler, connection, other, str, '%s::text')
        max_distance = int(constants[0]) if constants else 8
        return f'{lhs} <~@ simhash_ball(minhash64({rhs}), {max_distance})', [*params, *rhs_params]


@models.CharField.register_lookup
@models.TextField.register_lookup
class _ResemblesLookup(Lookup):
    """content__resembles=text, or (text, min_resemblance), or with recall: simdup_resembles."""

    lookup_name = 'resembles'
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> Tuple[str, List[Any]]:
        lhs, params = self.process_lhs(compiler, connection)
        query, constants = _constants(self, 3)
        rhs, rhs_params = _right_side(self, compiler, connection, query, str)
        shares = ''.join(f', {float(share):.17f}' for share in constants)
        return f'simdup_resembles({lhs}, {rhs}{shares})', [*params, *rhs_params]


class HammingDistance(Func):
    """The distance of a field to a fingerprint, <~>, or of its text to a text, <~~>.

    In order_by() with a slice, the index of the field serves it.
    """

    template = '(%(expressions)s)'
    arg_joiner = ' <~~> '
    arity = 2

    def __init__(self, expression: Any, other: Any, **extra: Any) -> None:
        extra.setdefault('output_field', models.IntegerField())
        super().__init__(expression, other if hasattr(other, 'resolve_expression') else Value(other), **extra)

    def resolve_expression(self, *args: Any, **kwargs: Any) -> Any:
        resolved = super().resolve_expression(*args, **kwargs)
        field, other = resolved.get_source_expressions()
        if isinstance(field.output_field, Simhash64Field):
            resolved.arg_joiner = ' <~> '
            if isinstance(other, Value):
                other = Value(str.__str__(Simhash64(other.value)), output_field=Simhash64Field())
                resolved.set_source_expressions([field, other])
        return resolved

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return super().as_sql(compiler, connection, arg_joiner=self.arg_joiner, **extra)


class _Condition(Func):
    # for filter(), also of two columns: F('…'), OuterRef('…')
    template = '%(function)s(%(expressions)s%(constants)s)'

    def __init__(self, expression: Any, other: Any, field: models.Field, constants: str, **extra: Any) -> None:
        extra.setdefault('output_field', models.BooleanField())
        other = other if hasattr(other, 'resolve_expression') else Value(field.get_prep_value(other), output_field=field)
        super().__init__(expression, other, constants=constants, **extra)


class Within(_Condition):
    """simhash_within(fp, other, max_distance): a condition of two fingerprints."""

    function = 'simhash_within'

    def __init__(self, fp: Any, other: Any, max_distance: int = 8, **extra: Any) -> None:
        super().__init__(fp, other, Simhash64Field(), f', {int(max_distance)}', **extra)


class Resembles(_Condition):
    """simdup_resembles(content, query, min_resemblance, recall): a condition of two texts."""

    function = 'simdup_resembles'

    def __init__(self, content: Any, query: Any, min_resemblance: float = 0.8, recall: float = 0.99, **extra: Any) -> None:
        super().__init__(content, query, models.TextField(), f', {float(min_resemblance):.17f}, {float(recall):.17f}', **extra)


class _KeyWindow(Func):
    window_compatible = True

    def _resolve_output_field(self) -> Any:
        return self.get_source_expressions()[0].output_field


class Cluster(_KeyWindow):
    """simdup_cluster, for Window(): the key of the first row of the row's cluster.

    Of fp, content, or both. Options are max_distance and method with fp,
    min_resemblance and method with content, and with both also w and unit.
    """

    function = 'simdup_cluster'

    def __init__(self, key: Any, fp: Any = None, content: Any = None, **options: Any) -> None:
        columns, constants = _cluster_arguments(fp, content, options)
        super().__init__(key, *columns, *map(Value, constants))


class Campaign(_KeyWindow):
    """simdup_campaign, for Window(): the key of the letter at the center of the row's campaign."""

    function = 'simdup_campaign'

    def __init__(self, key: Any, content: Any, min_containment: float = 0.35) -> None:
        super().__init__(key, content, Value(float(min_containment)))


class Template(Campaign):
    """simdup_template, for Window(): the key of a letter of the same exchanged phrases as the row's."""

    function = 'simdup_template'


class Component(_KeyWindow):
    """simdup_component(a, b), for Window(): the smallest key that pairs connect with those of the row."""

    function = 'simdup_component'
    arity = 2


# --- migrations

class SimdupExtension(CreateExtension):
    """CREATE EXTENSION simdup, and in reverse DROP EXTENSION."""

    def __init__(self) -> None:
        super().__init__('simdup')


class _Trigger(Operation):
    reduces_to_sql = True
    reversible = True
    kind = ''

    def __init__(self, model_name: str, name: str, **options: Any) -> None:
        self.model_name = model_name
        self.name = name
        self.options = options

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Change nothing: a trigger is no part of a model's state."""

    def arguments(self, app_label: str, apps: Any, quote_name: Any) -> List[str]:
        return []

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        arguments = self.arguments(app_label, to_state.apps, schema_editor.quote_name)
        table = schema_editor.quote_name(model._meta.db_table)
        schema_editor.execute(_create_trigger(self.kind, table, self.name, arguments, self.options), params=None)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        # quote_name takes a name with quotes for a quoted one
        trigger = _quoted(self.name, '"')
        schema_editor.execute(f'DROP TRIGGER {trigger} ON {schema_editor.quote_name(model._meta.db_table)}', params=None)

    def describe(self) -> str:
        return f'Create trigger {self.name} on {self.model_name}, by simdup_{self.kind}_trigger'

    @property
    def migration_name_fragment(self) -> str:
        return f'{self.model_name}_{self.name}'.lower()


class FlagTrigger(_Trigger):
    """CREATE TRIGGER … EXECUTE FUNCTION simdup_flag_trigger: flag_field names the nearest other row.

    Options are those of the function: max_distance, key, columns, index, condition, lock.
    """

    kind = 'flag'

    def __init__(self, model_name: str, name: str, flag_field: str, **options: Any) -> None:
        super().__init__(model_name, name, **options)
        self.flag_field = flag_field

    def arguments(self, app_label: str, apps: Any, quote_name: Any) -> List[str]:
        return [apps.get_model(app_label, self.model_name)._meta.get_field(self.flag_field).column]


class LogTrigger(_Trigger):
    """CREATE TRIGGER … EXECUTE FUNCTION simdup_log_trigger: near rows are written to log_model's table."""

    kind = 'log'

    def __init__(self, model_name: str, name: str, log_model: str, **options: Any) -> None:
        super().__init__(model_name, name, **options)
        self.log_model = log_model

    def arguments(self, app_label: str, apps: Any, quote_name: Any) -> List[str]:
        return [quote_name(apps.get_model(app_label, self.log_model)._meta.db_table)]


class RejectTrigger(_Trigger):
    """CREATE TRIGGER … EXECUTE FUNCTION simdup_reject_trigger: a near row is an IntegrityError."""

    kind = 'reject'
