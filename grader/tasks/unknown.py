"""Fields of a task that no model has. They are ignored, and a warning names them: most are misspelt
(formats.md, section 1)."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from grader.tasks.task import Wrong

DEEPEST = 50
"""Levels of nested tables that are looked into. Hierarchies have a few."""
LONGEST_NAME = 100
"""Characters of an unknown name that are compared and shown."""


def unknown_fields(data: Any, model: type[BaseModel]) -> Iterator[Wrong]:
    """The path of each field in `data` that `model` or the models in it do not have, with a reason
    that names the nearest field. `data` may be any JSON, valid for the model or not."""
    yield from _unknown(data, model, "", DEEPEST)


def _unknown(data: Any, model: type[BaseModel], path: str, levels: int) -> Iterator[Wrong]:
    if not isinstance(data, Mapping) or not levels:
        return
    for name, value in data.items():
        field = model.model_fields.get(name)
        if field is None:
            yield f"{path}{name[:LONGEST_NAME]}", _reason(name, model)
            continue
        parts = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, part in parts:
            if inner := _model_of(field, part):
                at = "" if place is None else f"[{place}]"
                yield from _unknown(part, inner, f"{path}{name}{at}.", levels - 1)


def _reason(name: str, model: type[BaseModel]) -> str:
    near = get_close_matches(name[:LONGEST_NAME], model.model_fields, n=1)
    return f"unknown field; did you mean {near[0]}?" if near else "unknown field"


def _model_of(field: FieldInfo, value: Any) -> type[BaseModel] | None:
    """The model that reads `value`: the only one of the field, the one whose literal fields have
    the values that are given (`how = "exact"`), or the one of the field's default."""
    if not isinstance(value, Mapping):
        return None
    models = list(_models_in(field.annotation))
    if len(models) > 1:
        default = [model for model in models if isinstance(field.default, model)]
        models = [model for model in models if _is_named(model, value)] or default
    return models[0] if models else None


def _is_named(model: type[BaseModel], value: Mapping[str, Any]) -> bool:
    return any(
        get_origin(field.annotation) is Literal and value.get(name) in get_args(field.annotation)
        for name, field in model.model_fields.items()
    )


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type such as `tuple[Key, ...]` or `Exact | Semantic`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
