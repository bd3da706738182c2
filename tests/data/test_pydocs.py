"""The collection that is built of installed documentation."""

import re
from importlib.metadata import version
from unittest.mock import Mock

import pytest

from heldout import compiled as cache_module
from heldout import read_collection
from heldout.compiled import cache_folder
from heldout.data import pydocs as pydocs_module
from heldout.data.pydocs import PACKAGES, build_pydocs, parse_docstring, walk_docstrings
from refusals import refusal

SEE_ALSO = "\n\nSee Also\n--------\n"


@pytest.fixture(scope="module")
def walked():
    return walk_docstrings(["numpy", "scipy", "sklearn"])


@pytest.fixture
def building(monkeypatch, tmp_path):
    """Build into a cache of its own, of docstrings that were walked before; what was asked for."""
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "cache"))

    def begin(docstrings):
        walk = Mock(return_value=docstrings)
        monkeypatch.setattr(pydocs_module, "walk_docstrings", walk)
        return walk

    return begin


def test_docstrings_are_taken_apart():
    text = (
        "f(x,\n  y)\n\nAdd x\nand y.\n\nMore.\n\nSee Also\n--------\n"
        "g, :func:`h` : Others.\n    Indented, not : a name\n`m.k`\n:meth:`~C.run`: x\n"
        "\nNotes\n-----\nAll."
    )
    parts = parse_docstring(text)
    assert parts.summary == "Add x and y."
    assert parts.related == ("g", "h", "m.k", "C.run")
    assert parts.rest == "f(x,\n  y)\n\nMore.\n\nNotes\n-----\nAll."
    assert parts.whole == "f(x,\n  y)\n\nAdd x\nand y.\n\nMore.\n\nNotes\n-----\nAll."
    assert parse_docstring("Parameters\n----------\nx : int").summary == ""


def test_rules_of_the_collection():
    shared = f"Compute one good thing.\n\nText of f.{SEE_ALSO}g, C.run, m.sub.h, unknown, f : x"
    docstrings = {
        "m.f": shared,
        "m.sub.f": shared,
        "m.g": "Short summary.\n\nText of g.",
        "m.sub.h": f"COMPUTE one good thing.\n\nText of h.{SEE_ALSO}g",
        "m.C.run": "Compute one good thing.",
        "m.k": f"Three words only.\n\nText of k.{SEE_ALSO}g",
    }
    found = build_pydocs(list(docstrings.items()))
    # Shared docstrings are one document; same-text queries are one query; what has a summary
    # alone that is asked for is no document; three words are no query.
    assert found.queries.to_dict() == {"m.f": "Compute one good thing."}
    assert found.qrels.to_dict() == {"m.f": {"m.f": 2, "m.sub.h": 2, "m.g": 1}}
    assert dict(found.documents.pairs()) == {
        "m.f": "Text of f.",
        "m.g": "Short summary.\n\nText of g.",
        "m.k": "Three words only.\n\nText of k.",
        "m.sub.h": "Text of h.",
    }
    assert list(found.documents.ids) == ["m.f", "m.g", "m.k", "m.sub.h"]
    again = build_pydocs(list(reversed(docstrings.items())))
    assert again.fingerprint() == found.fingerprint()
    # Names are looked up from where they are written.
    summary = f"Compute one good thing.\n\nText.{SEE_ALSO}g, b.g, q.g"
    names = ("p.a.g", "p.b.g", "p.g", "q.g")
    found = build_pydocs([("p.a.f", summary), *((name, name) for name in names)])
    assert set(found.qrels.to_dict()["p.a.f"]) == {"p.a.f", "p.a.g", "p.b.g", "q.g"}


def test_the_installed_packages_make_a_good_collection(building, walked):
    calls = building(walked)
    found = read_collection("pydocs")
    # NumPy 2.4, SciPy 1.17, scikit-learn 1.9: 4,712 documents, 1,783 queries, 7,072 judgements.
    assert len(found.documents) > 3000
    assert len(found.queries) > 800
    assert len(found.qrels) > 2 * len(found.queries)
    assert set(found.qrels.grades.tolist()) == {1, 2}
    assert all(f"{name}-{version(name)}" in found.name for name in PACKAGES)
    assert "numpy.linalg.svd" in found.documents.ids
    assert calls.call_count == 1
    # Nothing gives the answer away.
    texts = dict(found.documents.pairs())
    assert not any(re.search(r"^See Also\n-{3,}", text, re.MULTILINE) for text in texts.values())
    for query, text in found.queries.to_dict().items():
        # After a signature the next paragraph would be the summary.
        first = texts[query].split("\n\n")[0]
        assert " ".join(first.split()).casefold() != text.casefold()


def test_it_is_built_once_and_kept_and_read_like_any_other(building, walked, tmp_path, monkeypatch):
    calls = building(walked[::20])
    first, second = read_collection("pydocs"), read_collection("pydocs")
    assert first.fingerprint() == second.fingerprint()
    assert calls.call_count == 1
    (folder,) = cache_folder().iterdir()
    assert {one.suffix for one in folder.rglob("*") if one.is_file()} == {".jsonl", ".tsv"}
    found = read_collection("pydocs", name="mine", fields=["_id"])
    assert (found.name, found.documents.text(0)) == ("mine", found.documents.ids[0])
    assert "no split 'dev'; it has test" in refusal(read_collection, "pydocs", split="dev")
    # Where the cache cannot be written it is built each time.
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "file" / "cache"))
    again = read_collection("pydocs")
    assert again.fingerprint() == first.fingerprint()
    assert [note.code for note in again.notes] == ["no-cache"]
    assert calls.call_count == 2


def test_walking_finds_the_same_again_no_tests_and_no_addresses(walked):
    some = [pair for pair in walked if pair[0].startswith("numpy.")]
    assert walk_docstrings(["numpy"]) == some
    assert not any(re.search(r"\.(tests|conftest)\.", name) for name, _ in walked)
    assert not any(re.search(" at 0x[0-9a-f]", text) for _, text in walked)


def test_the_cache_folder_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("HELDOUT_CACHE", raising=False)
    monkeypatch.setattr(cache_module.sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache_folder()).replace("\\", "/") == "/somewhere/heldout"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "heldout"
