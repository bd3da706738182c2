"""What must hold of splits."""

import numpy as np


def disjoint(splits):
    """No unit is on two sides of a split."""
    for split in splits:
        assert (sides_with(split) <= 1).all()


def covering(splits):
    """Every unit is on one side of each split."""
    for split in splits:
        assert (sides_with(split) == 1).all()


def sides_with(split):
    """On how many sides each unit is."""
    sides = [side for side in (split.train, split.test, split.validation) if side is not None]
    return np.sum([side > 0 for side in sides], axis=0)


def held_out_once(splits):
    """In every repeat each unit is in one test side, and folds() says which."""
    times = {}
    for split in splits:
        times.setdefault(split.key.repeat, np.zeros(len(splits.ids), int))[split.test > 0] += 1
        assert (splits.folds(split.key.repeat)[split.test > 0] == split.key.fold).all()
    for held in times.values():
        assert (held == 1).all()


def even(splits, by=1):
    """Test sides of a repeat differ by one at most."""
    sizes = {}
    for split in splits:
        sizes.setdefault(split.key.repeat, []).append(split.n_test)
    for found in sizes.values():
        assert max(found) - min(found) <= by


def strata_even(splits, labels):
    """A stratum has the same number of units in every fold, but for one."""
    labels = np.array(labels)
    for label in set(labels.tolist()):
        for repeat in range(splits.repeats):
            folds = splits.folds(repeat)
            counts = np.bincount(folds[labels == label], minlength=folds.max() + 1)
            assert counts.max() - counts.min() <= 1


def strata_in_proportion(split, labels):
    """The test side has its share of each stratum, up or down to a whole number."""
    labels = np.array(labels)
    for label in set(labels.tolist()):
        inside = labels == label
        share = inside.sum() * split.n_test / len(labels)
        assert abs(split.test[inside].sum() - share) < 1


def groups_intact(splits, groups):
    """Units of a group are on one side."""
    groups = np.array(groups)
    for split in splits:
        for group in set(groups.tolist()):
            assert len(set(split.test[groups == group].tolist())) == 1


def drawn_n_times(splits, side="train"):
    """As many draws as there are units; the other side has each unit that was never drawn."""
    for split in splits:
        drawn = split.weights(side)
        other = split.weights("test" if side == "train" else "train")
        assert drawn.sum() == len(splits.ids)
        assert (other == (drawn == 0)).all()


def share_never_drawn(splits):
    """The share that is never drawn is (1 - 1/n)^n, within five standard errors."""
    n = len(splits.ids)
    shares = np.array([(split.train == 0).mean() for split in splits])
    # The variance of the share of empty boxes when n balls fall into n boxes.
    one, two = (1 - 1 / n) ** n, (1 - 2 / n) ** n
    variance = (one + (n - 1) * two) / n - one**2
    assert abs(shares.mean() - one) < 5 * np.sqrt(variance / len(shares))


def same_for_any_order(plan, ids, unit="query"):
    """Each unit is on the same side whatever order the units come in; so is the fingerprint."""
    turned = ids[::-1]
    first, second = plan.splits(ids, unit), plan.splits(turned, unit)
    assert first.fingerprint == second.fingerprint
    for one, other in zip(first, second, strict=True):
        assert (one.train == other.train[::-1]).all()
        assert (one.test == other.test[::-1]).all()
