"""Judgements are recognised by their first line; anything else gets a closer look."""

import os
import threading

import pytest

from heldout.cli import main
from heldout.data.io.first_line import begins_with_judgement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"q1 0 d1 1\n", True),
        (b"q1\t0\td1\t-1\r\nq1\t0\td2\t1\n", True),
        (b"q1 0 d1 0.5\n", False),  # not a grade
        (b"q1 0 d1\n", False),
        (b"q1 Q0 d1 1 2.5 tag\n", False),
        (b"# q1 0 d1 1\n", False),
        (b"unit,truth,prediction,1\n", False),
        (b"unit\ttruth\tprediction\tscore\n", False),
        (b'{"unit": 1 }\n', False),
        (b"\x1f\x8b 0 d1 1", False),
        (b"", False),
    ],
)
def test_only_lines_of_four_fields_with_a_grade_are_judgements(tmp_path, text, expected):
    path = tmp_path / "a"
    path.write_bytes(text)
    assert begins_with_judgement(path) is expected
    assert not begins_with_judgement(tmp_path)
    assert not begins_with_judgement(tmp_path / "missing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_judgements_can_come_from_a_named_pipe(tmp_path, capsys):
    """A pipe can be read only once, so that it is not looked at before it is read."""
    pipe, run = tmp_path / "qrels", tmp_path / "a.run"
    os.mkfifo(pipe)
    run.write_text("q1 Q0 a 1 2.0 t\n")
    writer = threading.Thread(target=pipe.write_text, args=("q1 0 a 1\n",), daemon=True)
    writer.start()
    main(["eval", str(pipe), str(run), "-m", "AP", "--quiet"])
    assert capsys.readouterr().out == "run\tAP\nt\t1.0000\n"
