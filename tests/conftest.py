"""What holds in every test."""

import gc

import pytest
from hypothesis import settings

# A busy machine is slow, not wrong: no deadline anywhere. No examples are kept between runs.
settings.register_profile("heldout", deadline=None, database=None, max_examples=25)
# Of `make test-all`: before a release, and after a change of what is tested.
settings.register_profile("thorough", settings.get_profile("heldout"), max_examples=500)
settings.load_profile("heldout")


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run tests marked as long, too")


def pytest_collection_modifyitems(config, items):
    """Leave out what is long and rarely fails, unless it is asked for."""
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for doctests in the product and its documentation, not in tests."""
    collectors = yield
    return [each for each in collectors if type(each).__name__ != "DoctestModule"]


def pytest_collection_finish():
    """Leave what was imported out of every later search for garbage: it stays, and it is a lot."""
    gc.collect()
    gc.freeze()
