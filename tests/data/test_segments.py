"""Segments of text: parallel files, JSON lines, pairing, and what is refused."""

import gzip
import json
import re

import pytest

from heldout.data.segments import Segments, pair_segments, read_hypotheses, read_references
from heldout.errors import InputError
from refusals import refusal


def lines(*records):
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def test_parallel_files_give_several_references(write):
    first = write("sys.txt.gz", gzip.compress(b"\xef\xbb\xbfone\ntwo\n"))
    second = write("b", "1\n\n")
    found = read_references(first, second)
    assert found.texts == (("one", "1"), ("two", ""))
    assert (found.ids, found.has_ids, found.reference_count) == (("1", "2"), False, "2")
    assert read_hypotheses(first).name == "sys"
    table = write("b", '{"references": ["x", "y"]}\n')
    assert read_references(write("a", "1\n"), table).texts == (("1", "x", "y"),)


def test_only_line_feeds_end_a_line(write):
    """A text may hold other line marks: a reader that splits there shifts all pairs behind it."""
    text = "one\u2028still one\x0b\x85\r\ntwo"
    assert read_hypotheses(write("a.txt", text)).texts == (
        ("one\u2028still one\x0b\x85",),
        ("two",),
    )


def test_json_lines_with_any_number_of_references(write):
    records = [{"id": 7, "references": ["a", "b"]}, {"id": "x", "reference": "c"}]
    found = read_references(write("r.jsonl", lines(*records)))
    assert found.texts == (("a", "b"), ("c",))
    assert (found.ids, found.has_ids, found.reference_count) == (("7", "x"), True, "var")


def test_segments_with_ids_are_paired_by_id_with_log_probabilities(write):
    references = write("r", lines({"id": "p", "reference": "1"}, {"id": "q", "reference": "2"}))
    records = [
        {"id": "q", "text": "two", "logprobs": [-2, -0.5]},
        {"id": "p", "logprobs": [0]},
    ]
    system = read_hypotheses(write("h", lines(*records)))
    paired = pair_segments(read_references(references), system)
    assert paired.ids == ("p", "q")
    assert paired.texts == (("",), ("two",))
    assert paired.log_probs == ((0.0,), (-2.0, -0.5))


def test_segments_without_ids_are_paired_by_place_and_counted():
    references = Segments.of(["a", "b", "c"], "references")
    assert pair_segments(references, Segments.of(["x", "y", "z"])).texts[2] == ("z",)
    with pytest.raises(InputError, match=r"sys has 2 segments, the references have 3"):
        pair_segments(references, Segments.of(["x", "y"], "sys"))


def test_segments_that_one_side_lacks_are_named():
    def made(name, *ids):
        return Segments(name, ids, tuple(("t",) for _ in ids), has_ids=True)

    with pytest.raises(InputError, match=r"sys lacks 1 of 2 segments: q"):
        pair_segments(made("references", "p", "q"), made("sys", "p"))
    with pytest.raises(
        InputError, match=r"the references lack segments of sys: 4 of 5.*: b, c, d, …"
    ):
        pair_segments(made("references", "a"), made("sys", *"abcde"))


HYPOTHESES = [
    (b"fine\n\xff\xfe\n", r"a:2: byte 0xff is not UTF-8"),
    (b"fine\n\0\n", r"a:2: not a text file \(byte 0x00\)"),
    ('{"id": 1, "text": "x"}\n{"id": 1, "text": "y"}\n', r"a:2: segment 1 appears twice.*line 1"),
    ('{"text": "x"}\n{"id": 1, "text": "y"}\n', r"a:2: some segments have an id, others have none"),
    ('{"id": 1}\n', r"a:1: no hypothesis: expected one of hypothesis, .* found id"),
    ('{"text": "x"}\n{"text": \n', r"a:2: not JSON"),
    ('{"text": "x"}\n[1]\n', r"a:2: expected a JSON object, found list"),
    ('{"text": 3}\n', r"a:1: 'text' is 3, expected text"),
    ('{"logprobs": [-1, null]}\n', r"a:1: 'logprobs': token 2 has None"),
    ('{"logprobs": [0.5]}\n', r"a:1: 'logprobs': token 1 has 0.5"),
    ('{"logprobs": []}\n', r"a:1: 'logprobs': .* expected a list"),
    ('{"logprobs": [-1]}\n{"text": "x"}\n', r"a:2: some segments have log-probabilities, others"),
]
REFERENCES = [
    ('{"id": 1, "references": []}\n', r"r:1: 'references' is \[\], expected text"),
    ('{"id": 1, "text": "a"}\n', r"r:1: no references: expected one of references"),
    ('{"id": 1, "references": ["a", 2]}\n', r"r:1: 'references' is \['a', 2\], expected text"),
]


def test_what_cannot_be_read_is_refused(write, tmp_path):
    for content, message in HYPOTHESES:
        said = refusal(read_hypotheses, write("a", content))
        assert re.search(message, said), (content, said)
    for content, message in REFERENCES:
        said = refusal(read_references, write("r", content))
        assert re.search(message, said), (content, said)
    first, second = write("a", "1\n2\n"), write("b", "1\n")
    assert "b has 1 segment, the references have 2" in refusal(read_references, first, second)
    assert "is empty" in refusal(read_hypotheses, write("a", ""))
    assert "no such file" in refusal(read_hypotheses, tmp_path / "none")
    assert "expected a list of texts" in refusal(Segments.of, "abc")
