"""Store the analyzer with an index, and restore it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.retrieve.analyze import AbsentFunction, Analyzer, function_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.retrieve.analyze import TokenFunction


def describe_index(analyzer: Analyzer, documents_digest: str) -> dict[str, Any]:
    """Return what ``index.json`` says of analyzer and documents."""
    values = {field.name: getattr(analyzer, field.name) for field in fields(analyzer)}
    if analyzer.function is not None:
        values["function"] = function_name(analyzer.function)
    stems = _stems_version(analyzer.stemmer)
    return {"analyzer": values, "stems": stems, "documents": documents_digest}


def restored_analyzer(
    name: str, about: Mapping[str, Any], function: TokenFunction | None
) -> Analyzer:
    """Return the analyzer that an index was built with; `name` is for messages."""
    values = dict(about["analyzer"])
    stop = values["stop"]
    values["stop"] = stop if isinstance(stop, str) else tuple(stop)
    values["function"] = _function(name, values["function"], function)
    stems = _stems_version(values["stemmer"])
    if stems != about["stems"]:
        raise InputError(
            f"{name}: built with the stemmers of Snowball {about['stems']}, but {stems} is "
            "installed and may differ: build the index again, or install that version of PyStemmer"
        )
    return Analyzer(**values)


def _function(
    name: str, built_with: str | None, given: TokenFunction | None
) -> TokenFunction | None:
    if given is None:
        return None if built_with is None else AbsentFunction(built_with)
    if function_name(given) != built_with:
        raise InputError(
            f"{name}: the index was built with {built_with or 'no function'}, "
            f"not with {function_name(given)}: pass the same function"
        )
    return given


def _stems_version(stemmer: str | None) -> str | None:
    if stemmer is None:
        return None
    import Stemmer

    return str(Stemmer.version())
