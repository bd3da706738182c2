"""What is said of input that is refused."""

from heldout import InputError
from heldout.errors import MissingExtraError


def refusal(read, *given, **options):
    """The one line with which an input is refused; empty where it is accepted."""
    try:
        read(*given, **options)
    except (InputError, MissingExtraError) as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said
    return said
