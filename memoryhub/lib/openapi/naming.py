"""Names in the document: vocabularies are components, titles that only repeat a name are left out."""

from __future__ import annotations

from typing import Any

from memoryhub.lib.openapi.examples import REFERENCE

type Json = dict[str, Any]
_SUFFIX = "Out"
#: Names that are clear inside their module, and clearer ones for the outside.
_OUTSIDE = {
    "AbsenceOut": "Absence",
    "ChangeOut": "DiaryLine",
    "ItemOut": "ChangesetItem",
    "Ids": "MemoryIds",
    "Level": "SettingLevel",
    "Named": "IdAndName",
    "Period": "StatsPeriod",
    "ReadOut": "ReadMemories",
    "Refusal": "UndoRefusal",
    "SearchOut": "SearchAnswer",
    "Skip": "BulkRefusal",
    "Sort": "MemorySort",
    "Stage": "AbsenceStage",
    "StageOut": "SearchStage",
    "Strategy": "ClusterStrategy",
    "UndoneOut": "UndoAnswer",
    "BulkOut": "BulkAnswer",
    "BatchOut": "BatchAnswer",
    "CleanupOut": "CleanupAnswer",
    "CountedOut": "ErasureCount",
    "StartedOut": "StartedJob",
    "VerifiedOut": "VerifiedReceipt",
    "Verdict": "FactVerdict",
    "What": "DiaryLineFate",
}


def tidy(document: Json) -> None:
    """Refer to vocabularies by name, drop what nothing refers to, and call shapes what they are to a caller."""
    schemas: dict[str, Json] = document["components"]["schemas"]
    document["paths"] = _named(document["paths"], schemas)
    for name in list(schemas):
        if "enum" not in schemas[name]:
            schemas[name] = {key: _named(value, schemas) for key, value in schemas[name].items()}
    for name, schema in schemas.items():
        schemas[name] = _untitled(schema)
    document["paths"] = _untitled(document["paths"])
    _rename(document)
    _prune(document)


def _named(node: Any, schemas: dict[str, Json]) -> Any:
    """The same with every vocabulary that stands in it replaced by a reference."""
    if isinstance(node, list):
        return [_named(item, schemas) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("enum"), list) and str(node.get("title", "")).isidentifier():
        name = node["title"]
        if name in schemas or name[0].isupper():
            schemas.setdefault(name, {key: node[key] for key in node if key != "default"})
            found = {"$ref": REFERENCE + name}
            return {**found, "default": node["default"]} if "default" in node else found
    same = [name for name, schema in schemas.items() if node.get("enum") and schema.get("enum") == node["enum"]]
    if same:
        kept = {key: node[key] for key in ("default", "description") if key in node}
        return {"$ref": REFERENCE + same[0], **kept}
    return {key: _named(value, schemas) for key, value in node.items()}


def _untitled(node: Any, *, is_names: bool = False) -> Any:
    """Without titles; below ``properties`` the keys are names of fields, and a field may be called title."""
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value
        if key in ("examples", "default") and not is_names
        else _untitled(value, is_names=key == "properties")
        for key, value in node.items()
        if is_names or key != "title" or not isinstance(value, str)
    }


def _rename(document: Json) -> None:
    """``MemoryOut`` is a memory; where the plain name is taken, it stays."""
    schemas: dict[str, Json] = document["components"]["schemas"]
    plain = {name: _OUTSIDE.get(name, name.removesuffix(_SUFFIX)) for name in schemas}
    renamed = {name: new for name, new in plain.items() if new not in schemas}
    document["components"]["schemas"] = {renamed.get(name, name): schema for name, schema in schemas.items()}
    for reference in _references(document):
        name = reference["$ref"].removeprefix(REFERENCE)
        if name in renamed:
            reference["$ref"] = REFERENCE + renamed[name]


def _references(node: Any) -> list[Json]:
    if isinstance(node, dict):
        own = [node] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in _references(value)]
    return [found for value in node for found in _references(value)] if isinstance(node, list) else []


def _prune(document: Json) -> None:
    """Keep what an operation leads to, in alphabetical order."""
    schemas: dict[str, Json] = document["components"]["schemas"]
    wanted, ahead = set(), [document["paths"]]
    while ahead:
        for reference in _references(ahead.pop()):
            name = reference["$ref"].removeprefix(REFERENCE)
            if name in schemas and name not in wanted:
                wanted.add(name)
                ahead.append(schemas[name])
    document["components"]["schemas"] = {name: schemas[name] for name in sorted(wanted)}
