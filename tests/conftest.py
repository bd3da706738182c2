"""What holds in every test."""

import gc

from hypothesis import settings

# A busy machine is slow, not wrong: no deadline anywhere. No examples are kept between runs.
# Before a release, and after a change of what is tested: pytest --hypothesis-profile thorough
settings.register_profile("heldout", deadline=None, database=None, max_examples=25)
settings.register_profile("thorough", settings.get_profile("heldout"), max_examples=500)
settings.load_profile("heldout")


def pytest_collection_finish():
    """Leave what was imported out of every later search for garbage: it stays, and it is a lot."""
    gc.collect()
    gc.freeze()
