"""Real collections have the counts that their makers print."""

import pytest

from heldout import read_collection


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("cranfield", (1400, 225, 1612)),
        ("cranfield/cranfield_config.toml", (1400, 225, 1612)),
        ("cranfield/cranfield", (1400, 225, 1612)),
        ("scifact", (5183, 300, 339)),
    ],
)
def test_counts(shared_data, path, counts):
    found = read_collection(shared_data / path)
    assert (len(found.documents), len(found.queries), len(found.qrels)) == counts


def test_cranfield_has_two_empty_documents(shared_data):
    found = read_collection(shared_data / "cranfield")
    (note,) = found.notes
    assert (note.code, note.count) == ("empty-documents", 2)
    assert not found.documents.text(470).strip()
    assert not found.documents.text(994).strip()


def test_the_train_split_of_scifact(shared_data):
    found = read_collection(shared_data / "scifact", split="train")
    assert (len(found.queries), len(found.qrels)) == (809, 919)
