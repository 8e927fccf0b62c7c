"""The part of JSON Schema that docs/run-1.schema.json uses."""

import re

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "integer": int, "number": (int, float)}
OF_OBJECTS = {"required", "properties", "additionalProperties", "minProperties"}
KNOWN = {"$schema", "anyOf", "title", "type", "const", "items", "minItems", "pattern", "minimum"} | OF_OBJECTS


def complaints(value, schema, at="$"):
    """What is wrong with ``value``, a sentence each."""
    assert set(schema) <= KNOWN, f"{at}: a keyword that is not checked: {set(schema) - KNOWN}"
    if "anyOf" in schema and all([*complaints(value, one, at)] for one in schema["anyOf"]):
        yield f"{at} is none of what it may be"
    kinds = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, bool) or not any(isinstance(value, TYPES[kind]) for kind in kinds):
        yield f"{at} is {value!r}, no {' or '.join(kinds)}"
    elif "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, not {schema['const']!r}"
    elif isinstance(value, dict):
        yield from (f"{at} lacks {name}" for name in schema.get("required", ()) if name not in value)
        known = schema.get("properties", {})
        if not schema.get("additionalProperties", True):
            yield from (f"{at} has {name}" for name in value if name not in known)
        if len(value) < schema.get("minProperties", 0):
            yield f"{at} is empty"
        for name in known.keys() & value.keys():
            yield from complaints(value[name], known[name], f"{at}.{name}")
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{at} has but {len(value)} items"
        for place, item in enumerate(value):
            yield from complaints(item, schema.get("items", {}), f"{at}[{place}]") if "items" in schema else ()
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{at} is {value!r}, which does not match"
    elif isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{at} is {value}, too small"
