"""Segments of text: parallel files, JSON lines, pairing, and what is refused."""

from __future__ import annotations

import gzip
import json

import pytest

from heldout.data.segments import Segments, pair_segments, read_hypotheses, read_references
from heldout.errors import FormatError, InputError


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def lines(*records):
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def test_parallel_files_give_several_references(tmp_path):
    first = write(tmp_path, "a", "one\ntwo\n")
    second = write(tmp_path, "b", "1\n\n")
    found = read_references(first, second)
    assert found.texts == (("one", "1"), ("two", ""))
    assert (found.ids, found.has_ids, found.reference_count) == (("1", "2"), False, "2")


def test_only_line_feeds_end_a_line(tmp_path):
    """A text may hold other line marks: a reader that splits there shifts all pairs behind it."""
    text = "one\u2028still one\x0b\x85\r\ntwo"
    assert read_hypotheses(write(tmp_path, "a.txt", text)).texts == (
        ("one\u2028still one\x0b\x85",),
        ("two",),
    )


def test_packed_files_and_byte_order_marks(tmp_path):
    path = write(tmp_path, "sys.txt.gz", gzip.compress(b"\xef\xbb\xbfone\ntwo\n"))
    found = read_hypotheses(path)
    assert (found.name, found.texts) == ("sys", (("one",), ("two",)))


def test_json_lines_with_any_number_of_references(tmp_path):
    records = [{"id": 7, "references": ["a", "b"]}, {"id": "x", "reference": "c"}]
    found = read_references(write(tmp_path, "r.jsonl", lines(*records)))
    assert found.texts == (("a", "b"), ("c",))
    assert (found.ids, found.has_ids, found.reference_count) == (("7", "x"), True, "var")


def test_log_probabilities_come_with_or_without_a_text(tmp_path):
    records = [{"text": "a", "logprobs": [-1, -0.5]}, {"logprobs": [0]}]
    found = read_hypotheses(write(tmp_path, "a.jsonl", lines(*records)))
    assert found.log_probs == ((-1.0, -0.5), (0.0,))
    assert found.texts == (("a",), ("",))


def test_segments_with_ids_are_paired_by_id(tmp_path):
    references = read_references(
        write(tmp_path, "r", lines({"id": "p", "reference": "1"}, {"id": "q", "reference": "2"}))
    )
    system = read_hypotheses(
        write(
            tmp_path,
            "h",
            lines(
                {"id": "q", "text": "two", "logprobs": [-2]},
                {"id": "p", "text": "one", "logprobs": [-1]},
            ),
        )
    )
    paired = pair_segments(references, system)
    assert paired.ids == ("p", "q")
    assert paired.texts == (("one",), ("two",))
    assert paired.log_probs == ((-1.0,), (-2.0,))


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\n\xff\xfe\n", r"a:2: byte 0xff is not UTF-8"),
        (b"fine\n\0\n", r"a:2: not a text file \(byte 0x00\)"),
        (
            '{"id": 1, "text": "x"}\n{"id": 1, "text": "y"}\n',
            r"a:2: segment 1 appears twice.*line 1",
        ),
        (
            '{"text": "x"}\n{"id": 1, "text": "y"}\n',
            r"a:2: some segments have an id, others have none",
        ),
        (
            '{"id": 1, "text": "y"}\n\n{"text": "x"}\n',
            r"a:3: some segments have an id, others have none",
        ),
        ('{"id": 1}\n', r"a:1: no hypothesis: expected one of hypothesis, .* found id"),
        ('{"text": "x"}\n{"text": \n', r"a:2: not JSON"),
        ('{"text": "x"}\n[1]\n', r"a:2: expected a JSON object, found list"),
        ('{"text": 3}\n', r"a:1: 'text' is 3, expected text"),
        ('{"logprobs": [-1, null]}\n', r"a:1: 'logprobs': token 2 has None"),
        ('{"logprobs": [0.5]}\n', r"a:1: 'logprobs': token 1 has 0.5"),
        ('{"logprobs": [-Infinity]}\n', r"a:1: 'logprobs': token 1 has -inf"),
        ('{"logprobs": []}\n', r"a:1: 'logprobs': .* expected a list"),
        ('{"logprobs": -1}\n', r"a:1: 'logprobs': .* expected a list"),
        (
            '{"logprobs": [-1]}\n{"text": "x"}\n',
            r"a:2: some segments have log-probabilities, others",
        ),
    ],
)
def test_bad_lines_are_named(tmp_path, content, message):
    with pytest.raises(FormatError, match=message):
        read_hypotheses(write(tmp_path, "a", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "references": []}\n', r"r:1: 'references' is \[\], expected text"),
        ('{"id": 1, "text": "a"}\n', r"r:1: no references: expected one of references"),
        ('{"id": 1, "references": ["a", 2]}\n', r"r:1: 'references' is \['a', 2\], expected text"),
    ],
)
def test_bad_references_are_named(tmp_path, content, message):
    with pytest.raises(FormatError, match=message):
        read_references(write(tmp_path, "r", content))


def test_parallel_files_of_different_length_are_refused(tmp_path):
    first, second = write(tmp_path, "a", "1\n2\n"), write(tmp_path, "b", "1\n")
    with pytest.raises(InputError, match=r"b has 1 segment, the references have 2"):
        read_references(first, second)


def test_references_in_json_lines_join_others(tmp_path):
    plain = write(tmp_path, "a", "1\n")
    table = write(tmp_path, "b", '{"references": ["x", "y"]}\n')
    assert read_references(plain, table).texts == (("1", "x", "y"),)


def test_empty_and_missing_files(tmp_path):
    with pytest.raises(InputError, match="is empty"):
        read_hypotheses(write(tmp_path, "a", ""))
    with pytest.raises(InputError, match="no such file"):
        read_hypotheses(tmp_path / "none")


def test_a_text_in_place_of_texts_is_refused():
    with pytest.raises(InputError, match="expected a list of texts"):
        Segments.of("abc")
