"""Judgement files of machines: qrels, tables, JSON lines."""

import json

from heldout.data.machine_judgements import as_machine

GRADES = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
ROWS = [("q1", "a", 2), ("q1", "b", 0), ("q2", "c", 1)]


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_qrels_csv_and_json_lines_are_read_alike(tmp_path):
    files = [
        write(tmp_path, "a.qrels", "".join(f"{q} 0 {d} {g}\n" for q, d, g in ROWS)),
        write(
            tmp_path,
            "a.csv",
            "query,document,grade\n" + "".join(f"{q},{d},{g}\n" for q, d, g in ROWS),
        ),
        write(
            tmp_path,
            "a.jsonl",
            "".join(json.dumps({"query": q, "document": d, "grade": g}) + "\n" for q, d, g in ROWS),
        ),
        write(tmp_path, "a.json", json.dumps(GRADES)),
    ]
    for path in files:
        assert as_machine(path).qrels.to_dict() == GRADES
        assert as_machine(path).name == "a"
    assert as_machine(GRADES).qrels.to_dict() == GRADES
