"""What holds in every test."""

from hypothesis import settings

# A busy machine is slow, not wrong: no deadline anywhere. No examples are kept between runs.
settings.register_profile("heldout", deadline=None, database=None)
settings.load_profile("heldout")
