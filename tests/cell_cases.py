"""Pairs of cells by format, and what must hold for them."""

from judges.values.cells import comparator_for, compare


def listed(table):
    """The pairs of a table by format, as (format, gold, predicted)."""
    return [(form, *pair) for form, pairs in table.items() for pair in pairs]


def check_equal(form, gold, pred):
    """Two cells are equal, whichever is the gold, and an index finds them."""
    assert compare(form, gold, pred).match
    assert compare(form, gold, pred).why
    assert compare(form, pred, gold).match
    comparator = comparator_for(form)
    assert comparator.aliases(comparator.read(gold)) & comparator.aliases(comparator.read(pred))


def check_unequal(form, gold, pred):
    """Two cells are not equal, whichever is the gold, and share no exact key."""
    match = compare(form, gold, pred)
    assert not match.match
    assert match.why
    assert not compare(form, pred, gold).match
    comparator = comparator_for(form)
    assert comparator.exact(comparator.read(gold)) != comparator.exact(comparator.read(pred))
