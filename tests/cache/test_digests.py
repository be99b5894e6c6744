import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.digests import content_digest, digest

# Lone surrogates and integers beyond 64 bits are within what records can hold.
texts = st.text(st.characters())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)


def shape(value: object) -> object:
    """A value with its types, as True == 1 in Python."""
    match value:
        case dict():
            return {key: shape(inner) for key, inner in value.items()}
        case list():
            return [shape(inner) for inner in value]
    return (type(value), value)


def test_a_key_is_stable_across_versions() -> None:
    assert digest("judge", {"b": 1, "a": None}).hex() == (
        hashlib.blake2b(b'["judge",{"a":null,"b":1}]', digest_size=20).hexdigest()
    )


@given(st.lists(values), st.lists(values))
def test_keys_are_equal_only_if_parts_are(one: list[object], two: list[object]) -> None:
    assert (digest(*one) == digest(*two)) == (shape(one) == shape(two))


def test_parts_do_not_run_into_each_other() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest(["ab", "c"])}) == 4


def test_the_order_of_a_list_matters_that_of_fields_does_not() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_lone_surrogates_have_different_keys() -> None:
    strange = ["\ud800", "\ud801", "\\ud800", "?", "\ufffd", "\udfff", '"\ud800']
    assert len({digest(text) for text in strange}) == len(strange)
    assert digest({"b": "\ud800", "a": 1}) == digest({"a": 1, "b": "\ud800"})


def test_a_part_must_be_a_json_value() -> None:
    with pytest.raises(TypeError):
        digest(b"bytes")


def test_a_content_digest_is_sha256() -> None:
    assert content_digest(b"") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
