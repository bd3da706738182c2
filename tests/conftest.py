"""What holds in every test."""

import pytest
from hypothesis import settings

from heldout.report import codes

# A busy machine is slow, not wrong: no deadline anywhere. No examples are kept between runs.
settings.register_profile("heldout", deadline=None, database=None)
settings.load_profile("heldout")


@pytest.fixture(autouse=True)
def every_warning_has_a_code(monkeypatch):
    """Whatever is printed as a warning has a code, and by it a paragraph in docs/warnings.md."""
    known = codes.code_of

    def code_of(sentence):
        code = known(sentence)
        assert code, f"no code in heldout.report.codes for the warning: {sentence}"
        return code

    monkeypatch.setattr(codes, "code_of", code_of)
