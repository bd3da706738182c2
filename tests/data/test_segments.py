"""Segments of text: parallel files, JSON lines, pairing, and what is refused."""

import gzip
import json

from heldout.data.segments import Segments, pair_segments, read_hypotheses, read_references
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
    # A text may hold other line marks: a reader that splits there shifts all pairs behind it.
    path = write("a.txt", "one\u2028still one\x0b\x85\r\ntwo")
    assert read_hypotheses(path).texts == (("one\u2028still one\x0b\x85",), ("two",))
    table = write("b", '{"references": ["x", "y"]}\n')
    assert read_references(write("a", "1\n"), table).texts == (("1", "x", "y"),)


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


def test_segments_without_ids_are_paired_by_place_and_missing_ones_are_named():
    def made(name, *ids):
        return Segments(name, ids, tuple(("t",) for _ in ids), has_ids=True)

    references = Segments.of(["a", "b", "c"], "references")
    assert pair_segments(references, Segments.of(["x", "y", "z"])).texts[2] == ("z",)
    for one, two, message in (
        (references, Segments.of(["x", "y"], "sys"), "sys has 2 segments, the references have 3"),
        (made("references", "p", "q"), made("sys", "p"), "sys lacks 1 of 2 segments: q"),
        (made("references", "a"), made("sys", *"abcde"), "lack segments of sys: 4 of 5"),
    ):
        assert message in refusal(pair_segments, one, two)


def test_what_cannot_be_read_is_refused(write, tmp_path):
    first, second = write("a", "1\n2\n"), write("b", "1\n")
    assert "b has 1 segment, the references have 2" in refusal(read_references, first, second)
    assert "is empty" in refusal(read_hypotheses, write("a", ""))
    assert "no such file" in refusal(read_hypotheses, tmp_path / "none")
    assert "expected a list of texts" in refusal(Segments.of, "abc")
