"""Who says what about a setting, and which of them holds: default < system < vault < bank < agent < request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from memories.rules.presets import ORDERED, OTHER_NAMES, PRESETS
from memories.rules.settings import Group, Level, Settings
from memoryhub.lib.errors import FieldError, Invalid

type Layers = Mapping[Level, Mapping[str, Any]]

DEFAULT = "default"


class Effective(NamedTuple):
    """What holds and who said so: ``default``, a level, or a level's preset such as ``vault: preset seed``."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One setting as the settings page and the API describe it."""

    key: str
    group: Group
    description: str
    default: Any
    levels: tuple[Level, ...]
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    planned: bool


class SettingInvalid(Invalid):
    """That setting cannot be made like this; the schema at GET /settings names keys, bounds and levels."""

    code = "invalid_setting"


def _described(key: str) -> SettingInfo:
    field = Settings.model_fields[key]
    extra: Any = field.json_schema_extra
    bounds = {name: getattr(item, name) for item in field.metadata for name in ("ge", "le") if hasattr(item, name)}
    annotation = getattr(field.annotation, "__value__", field.annotation)
    return SettingInfo(
        key=key,
        group=extra["group"],
        description=field.description or "",
        default=field.default,
        levels=extra["levels"],
        minimum=bounds.get("ge"),
        maximum=bounds.get("le"),
        choices=tuple(get_args(annotation)) if _is_literal(annotation) else (),
        planned=extra["planned"],
    )


def _is_literal(annotation: Any) -> bool:
    return getattr(get_origin(annotation), "_name", None) == "Literal"


INFO: dict[str, SettingInfo] = {key: _described(key) for key in Settings.model_fields}
_DEFAULTS = {key: Effective(info.default, DEFAULT) for key, info in INFO.items()}
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    key: TypeAdapter(cast("Any", Annotated[field.annotation, field]), config=_STRICT)
    for key, field in Settings.model_fields.items()
}


def canonical_key(key: str) -> str:
    """Our name of a setting. Raises SettingInvalid for an unknown one (CFG-03)."""
    key = OTHER_NAMES.get(key, key)
    if key not in INFO:
        raise SettingInvalid(errors=[FieldError("/key", "unknown_key", f"There is no setting {key[:80]!r}.")])
    return key


def unknown_keys(layers: Layers) -> list[str]:
    """Keys that no setting has, for a warning: `resolve` passes over them (CFG-03)."""
    return sorted({key for layer in layers.values() for key in layer if OTHER_NAMES.get(key, key) not in INFO})


def check_setting(key: str, value: Any, level: Level) -> Any:
    """The value as it is stored. Raises SettingInvalid when it is out of bounds or not to be set at that level."""
    info = INFO[canonical_key(key)]
    if level not in info.levels:
        allowed = ", ".join(info.levels)
        raise SettingInvalid(errors=[FieldError("/level", "wrong_level", f"{info.key} may be set at: {allowed}.")])
    try:
        return _ADAPTERS[info.key].validate_python(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise SettingInvalid(
            errors=[FieldError("/value", item["type"], f"{info.key}: {item['msg']}") for item in found]
        ) from None


def check_request(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings one request asks for, by their keys. Raises SettingInvalid naming every one that cannot be."""
    checked: dict[str, Any] = {}
    wrong: list[FieldError] = []
    for name, value in values.items():
        try:
            key = canonical_key(name)
            checked[key] = check_setting(key, value, Level.REQUEST)
        except SettingInvalid as error:
            wrong += [FieldError(f"/settings/{name[:80]}", item.code, item.detail) for item in error.errors]
    if wrong:
        raise SettingInvalid(errors=wrong)
    return checked


def resolve(layers: Layers) -> dict[str, Effective]:
    """Every setting with the value that holds and its source; a preset stands just below its own level's settings.

    Values that are no longer acceptable (stored before a bound was tightened) and unknown keys are passed over.
    """
    effective = dict(_DEFAULTS)
    for level in Level:
        layer = layers.get(level, {})
        preset = str(layer.get("preset", "none")) if level in INFO["preset"].levels else "none"
        effective |= {
            key: Effective(value, f"{level}: preset {preset}") for key, value in PRESETS.get(preset, {}).items()
        }
        for name, value in layer.items():
            try:
                key = canonical_key(name)
                effective[key] = Effective(check_setting(key, value, level), level.value)
            except SettingInvalid:
                continue
    return effective


def check_change(layers: Layers, level: Level, key: str, value: Any) -> tuple[str, Any]:
    """The canonical key and value of one change, tried together with everything else that holds.

    Raises SettingInvalid when the value is not acceptable by itself or makes a minimum exceed its maximum (CFG-03),
    and for a setting that nothing reads yet: whoever sets one must be able to count on it.
    """
    key = canonical_key(key)
    if INFO[key].planned:
        unread = f"Nothing reads {key} yet, so it cannot be set."
        raise SettingInvalid(errors=[FieldError("/key", "not_in_use", unread)])
    value = check_setting(key, value, level)
    changed = {**layers, level: {**layers.get(level, {}), key: value}}
    if wrong := disordered(resolve(changed)):
        raise SettingInvalid(errors=[FieldError("/value", "out_of_order", text) for text in wrong])
    return key, value


def disordered(effective: Mapping[str, Effective], pairs: Sequence[tuple[str, str]] = ORDERED) -> list[str]:
    """A sentence for every pair whose lower value exceeds its upper one."""
    return [
        f"{low} ({effective[low].value}) may not exceed {high} ({effective[high].value})."
        for low, high in pairs
        if effective[low].value > effective[high].value
    ]
