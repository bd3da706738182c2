"""Large files of JSON lines are read a block at a time, with the result of line by line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data.io import jsonl
from heldout.data.io.blocks import Reading
from heldout.data.io.jsonl import JsonLines
from heldout.errors import FormatError

TEXT = st.text(st.sampled_from('ab é"\\\n\t\x7f{}:,'), max_size=12)
LINES = st.one_of(
    st.fixed_dictionaries({"_id": st.just("ID"), "text": TEXT}),
    st.fixed_dictionaries({"_id": st.just("ID"), "title": TEXT, "text": TEXT}),
    st.fixed_dictionaries({"id": st.just("ID"), "contents": TEXT}),
    st.fixed_dictionaries({"_id": st.just("ID"), "text": TEXT, "metadata": st.just({})}),
    st.fixed_dictionaries({"_id": st.just("ID"), "text": TEXT, "metadata": st.just({"a": 1})}),
    st.fixed_dictionaries({"text": TEXT, "_id": st.just("ID")}),
)
STYLES = st.sampled_from(
    [
        {"ensure_ascii": False},
        {"ensure_ascii": True},
        {"ensure_ascii": False, "separators": (",", ":")},
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n \n"])


def documents(path: Path, size: int) -> list[tuple[str, str]]:
    found = JsonLines([str(path), str(path.with_suffix(".more"))], Reading())
    batches = list(found.batches(size))
    assert [one for batch in batches for one in batch.ids] == list(found.ids)
    pairs = [pair for batch in batches for pair in batch.pairs()]
    assert [found.text(number) for number in range(len(pairs))] == [text for _, text in pairs]
    return [*pairs, ("digest", found.digest())]


@given(st.lists(st.tuples(LINES, STYLES, ENDS), min_size=1, max_size=12), st.integers(1, 60))
@settings(max_examples=40)
def test_blocks_have_the_documents_of_lines(lines, size):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        path = Path(name, "x.jsonl")
        texts = [
            json.dumps(line, **style).replace("ID", f"d{number}") + end
            for number, (line, style, end) in enumerate(lines)
        ]
        path.write_bytes("".join(texts).encode())
        path.with_suffix(".more").write_bytes(b'{"_id": "last", "text": "no newline"}')
        wanted = documents(path, size)
        patch.setattr(jsonl, "_LARGE", 0)
        assert documents(path, size) == wanted


@pytest.mark.parametrize(
    "line",
    [
        b'{"_id": "d", "text": "\xff"}',
        b'{"_id": "d", "text": "open',
        b'{"_id": "d", "text": "x"} y',
        b'{"_id": "d", "text": "tab\t"}',
        b'{"_id": "d"}',
        b"[]",
        b"{}",
        b'{"_id": "", "text": "x"}',
    ],
)
def test_wrong_lines_are_named_alike(tmp_path, monkeypatch, line):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"_id": "a", "text": "x"}\n\n' + line + b"\n")
    said = []
    for large in (1 << 40, 0):
        monkeypatch.setattr(jsonl, "_LARGE", large)
        with pytest.raises(FormatError) as error:
            len(JsonLines([str(path)], Reading()))
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "x.jsonl:3" in said[0]
