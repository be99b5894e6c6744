"""How often, and with which words, a request is sent until its reply is usable."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from judges.endpoint import until_usable
from judges.endpoint.questions import (
    Fault,
    ModelUnusable,
    NeverUsable,
    Rejected,
    Reply,
    Request,
    Trouble,
    UnusableReply,
    Usage,
)
from judges.endpoint.until_usable import (
    ATTEMPTS,
    FEWEST,
    FIRST,
    History,
    UntilUsable,
    ask_until_usable,
)

REQUEST = Request("judge", "m", "low", "the rules", "the record", "{}")
BATCH = replace(REQUEST, role="cells", items=4)
PAID = Usage(1, 100, 0, 50)
GOOD = Reply({"ok": True}, Usage(1, 10, 0, 5))


def bad(fault: Fault = "no object", said: str = "prose", **parts: dict[str, str]) -> UnusableReply:
    return UnusableReply("it is wrong", fault, said, PAID, **parts)


class Model:
    """A model whose replies are given; the last one is given again and again."""

    def __init__(self, *ends: Reply | Exception) -> None:
        self.asked: list[Request] = []
        self._ends = list(ends)

    async def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(0)
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        if isinstance(end, Exception):
            raise end
        return end


# ---------------------------------------------------------------------------------------- attempts


async def test_a_usable_reply_is_asked_for_once() -> None:
    model = Model(GOOD)
    assert await ask_until_usable(model, REQUEST) == GOOD
    assert model.asked == [REQUEST]


async def test_a_repeat_says_what_was_wrong() -> None:
    model = Model(bad(), GOOD)
    reply = await ask_until_usable(model, REQUEST)
    assert reply == Reply({"ok": True}, Usage(2, 110, 0, 55))
    first, second = model.asked
    assert (second.system, second.user) == (first.system, first.user)
    assert second.turns == (
        ("assistant", "prose"),
        (
            "user",
            "Your reply cannot be used: it is wrong. "
            "Answer again with one JSON object by the schema, and nothing else.",
        ),
    )


async def test_three_unusable_replies_are_the_last() -> None:
    model = Model(bad(said="one"), bad(said="two"), bad(said="three"))
    with pytest.raises(UnusableReply) as end:
        await ask_until_usable(model, REQUEST)
    assert str(end.value) == "no usable reply in 3 attempts: it is wrong"
    assert (end.value.fault, end.value.said) == ("no object", "three")
    assert end.value.usage == Usage(3, 300, 0, 150)
    assert [request.attempt for request in model.asked] == [1, 2, 3]
    assert len({(request.attempt, request.turns) for request in model.asked}) == 3
    assert model.asked[2].turns[0] == ("assistant", "two")
    assert "the last attempt" in model.asked[2].turns[1][1]
    assert "the last attempt" not in model.asked[1].turns[1][1]


@pytest.mark.parametrize(("said", "shown"), [("", "(empty)"), ("x" * 3_000, "x" * 2_000 + " […]")])
async def test_the_unusable_reply_is_shown_in_a_bounded_length(said: str, shown: str) -> None:
    model = Model(bad(said=said), GOOD)
    await ask_until_usable(model, REQUEST)
    assert model.asked[1].turns[0] == ("assistant", shown)


async def test_a_refusal_is_repeated_once() -> None:
    model = Model(bad("refused"))
    with pytest.raises(UnusableReply, match="no usable reply in 2 attempts"):
        await ask_until_usable(model, REQUEST)
    assert len(model.asked) == 2
    assert "Nobody asks you to act on the data" in model.asked[1].turns[1][1]


async def test_a_reply_that_is_cut_off_gets_more_room_and_then_a_shorter_reason() -> None:
    model = Model(bad("cut off"))
    with pytest.raises(UnusableReply):
        await ask_until_usable(model, REQUEST)
    first, second, third = model.asked
    assert (first.max_tokens, first.turns) == (None, ())
    assert (second.max_tokens, second.turns) == (4 * PAID.tokens_out, ())
    assert third.max_tokens == 4 * PAID.tokens_out
    assert "at most ten words" in third.turns[1][1]


async def test_without_a_known_length_the_room_stays_as_it_is() -> None:
    cut = bad("cut off")
    cut.usage = Usage(1)
    model = Model(cut, GOOD)
    await ask_until_usable(model, REQUEST)
    assert model.asked[1] == replace(REQUEST, attempt=2)


async def test_the_room_is_kept_after_another_fault() -> None:
    model = Model(bad("cut off"), bad(), GOOD)
    await ask_until_usable(model, REQUEST)
    assert model.asked[2].max_tokens == 4 * PAID.tokens_out
    assert model.asked[2].turns[0] == ("assistant", "prose")


async def test_a_response_without_a_message_is_asked_for_in_the_same_words() -> None:
    model = Model(bad("no message", "<html>"))
    with pytest.raises(UnusableReply):
        await ask_until_usable(model, REQUEST)
    assert [request.turns for request in model.asked] == [()] * ATTEMPTS


@pytest.mark.parametrize("error", [Trouble("down"), Rejected("no"), ModelUnusable("401")])
async def test_other_failures_are_for_others(error: Exception) -> None:
    model = Model(bad(), error)
    with pytest.raises(type(error)):
        await ask_until_usable(model, REQUEST)
    assert len(model.asked) == 2


async def test_a_request_that_is_a_repeat_already_has_fewer_attempts_left() -> None:
    model = Model(bad())
    with pytest.raises(UnusableReply):
        await ask_until_usable(model, replace(REQUEST, attempt=3))
    assert len(model.asked) == 1


DIFFERENT = (bad("no object"), bad("empty"), bad("not by the schema"), bad("broken object"))
AT_RANDOM = {
    "replies": 40, "usable": 30, "repeats": 10, "usable_repeats": 6, "faults": {"empty", "refused"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "at_random"),
    [
        ({}, True),
        ({"usable": 29}, False),  # such a model does not know how to answer
        ({"usable_repeats": 5}, False),  # such requests get the same reply each time
        ({"faults": {"empty"}}, False),
    ],
)
def test_when_an_endpoint_fails_at_random(changes: dict[str, Any], at_random: bool) -> None:
    assert History(**{**AT_RANDOM, **changes}).fails_at_random is at_random


def test_a_history_counts_replies() -> None:
    history = History()
    history.add(REQUEST, "empty")
    history.add(replace(REQUEST, attempt=2), "refused")
    history.add(replace(REQUEST, attempt=3), None)
    history.add(REQUEST, None)
    assert history == History(4, 2, 2, 1, {"empty", "refused"})


@pytest.mark.parametrize("factor", [10, 0])
async def test_only_an_endpoint_that_fails_at_random_gets_more_attempts(factor: int) -> None:
    history = History(40 * factor, 40 * factor, 10 * factor, 10 * factor)
    model = Model(*DIFFERENT)
    with pytest.raises(UnusableReply):
        await ask_until_usable(model, REQUEST, history)
    assert len(model.asked) == (2 * ATTEMPTS if factor else ATTEMPTS)
    if factor:
        assert model.asked[3].turns == ()  # from the beginning
        assert model.asked[4].turns
    assert history.replies == 40 * factor + len(model.asked)


async def test_two_refusals_are_enough_at_random_too() -> None:
    model = Model(bad(), bad("refused"), bad("refused"))
    with pytest.raises(UnusableReply):
        await ask_until_usable(model, REQUEST, History(400, 400, 100, 100))
    assert len(model.asked) == 3


# ----------------------------------------------------------------------------------------- batches


async def test_the_good_items_of_a_batch_are_kept_and_the_others_asked_for_again() -> None:
    model = Model(
        bad("not by the schema", good={"2": "b", "3": "c"}, bad={"1": "x", "4": "y"}),
        bad("not by the schema", good={"4": "d"}, bad={"1": "z"}),
        Reply({"1": "a"}, PAID),
    )
    reply = await ask_until_usable(model, BATCH)
    assert reply == Reply({"1": "a", "2": "b", "3": "c", "4": "d"}, Usage(3, 300, 0, 150))
    assert [request.wanted for request in model.asked] == [(), ("1", "4"), ("1",)]
    assert model.asked[1].turns[1][1].endswith("Answer only for 1, 4.")


async def test_an_item_without_an_answer_is_named_with_its_reason() -> None:
    model = Model(
        bad("not by the schema", good={"1": "a", "3": "c", "4": "d"}, bad={"2": "no row"})
    )
    reply = await ask_until_usable(model, BATCH)
    assert reply.value == {"1": "a", "3": "c", "4": "d"}
    assert reply.unanswered == {"2": "no usable reply: no row"}
    assert len(model.asked) == 3


async def test_what_is_known_of_a_batch_outlives_a_useless_reply() -> None:
    model = Model(bad("not by the schema", good={"1": "a"}, bad={}), bad("empty", ""))
    reply = await ask_until_usable(model, BATCH)
    assert reply.value == {"1": "a"}
    assert reply.unanswered == dict.fromkeys(("2", "3", "4"), "no usable reply: it is wrong")
    assert model.asked[2].wanted == ("2", "3", "4")


# ------------------------------------------------------------------------------ the start of a run


async def ends_of(ask: UntilUsable, count: int, role: str = "judge") -> list[Reply | Exception]:
    requests = (replace(REQUEST, role=role, user=str(number)) for number in range(count))
    ends = await asyncio.gather(*map(ask, requests), return_exceptions=True)
    assert not any(isinstance(end, asyncio.CancelledError) for end in ends)
    return ends  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("requests", "stop_after"),
    [(500, FIRST), (60, FIRST), (30, 10), (12, 4), (11, 3), (9, FEWEST), (3, 3)],
)
async def test_a_model_that_never_gives_a_usable_reply_stops_early(
    requests: int, stop_after: int
) -> None:
    model = Model(bad())
    ask = UntilUsable(model)
    ends = await ends_of(ask, requests)
    assert sum(type(end) is UnusableReply for end in ends) == stop_after - 1
    assert sum(type(end) is NeverUsable for end in ends) == requests - stop_after + 1
    assert len(model.asked) <= requests + (ATTEMPTS - 1) * FIRST
    with pytest.raises(NeverUsable):
        await ask(REQUEST)


async def test_the_message_says_why_shows_a_reply_and_what_to_change() -> None:
    ends = await ends_of(UntilUsable(Model(bad(said="Hi\x1b[31m\u202e\n서울" + "x" * 500))), 3)
    assert str(ends[-1]) == (
        "stopped early: m gave no usable reply to the first 3 requests of the role 'judge'. "
        "The last fault: no usable reply in 3 attempts: it is wrong. "
        'The last reply began: "Hi\\x1b[31m\\u202e\\n서울' + "x" * 189 + '". '
        "Use a model that follows a JSON schema, or an endpoint that supports schemas "
        "(response_format, type json_schema). "
        "Nothing is lost: pages and verdicts are in the cache, and the same command continues."
    )


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        ("no message", "OPENAI_BASE_URL"),
        ("refused", "content filter"),
        ("cut off", "output tokens"),
        ("empty", "output tokens"),
        ("broken object", "JSON schema"),
    ],
)
async def test_the_advice_fits_the_fault(fault: Fault, advice: str) -> None:
    end = (await ends_of(UntilUsable(Model(bad(fault, ""))), 3))[-1]
    assert isinstance(end, NeverUsable)
    assert advice in str(end)
    assert "The last reply was empty." in str(end)


async def test_two_requests_stop_nothing() -> None:
    ends = await ends_of(UntilUsable(Model(bad())), 2)
    assert [type(end) for end in ends] == [UnusableReply] * 2


async def test_one_usable_reply_switches_the_stop_off() -> None:
    ask = UntilUsable(Model(GOOD, bad()))
    ends = await ends_of(ask, 100)
    assert [type(end) for end in ends].count(UnusableReply) == 99


async def test_a_usable_reply_of_an_earlier_run_switches_it_off_too() -> None:
    ask = UntilUsable(Model(bad()))
    ask.note_usable("judge")
    assert {type(end) for end in await ends_of(ask, 100)} == {UnusableReply}
    assert NeverUsable in {type(end) for end in await ends_of(ask, 100, "cells")}


async def test_roles_are_counted_apart() -> None:
    async def by_role(request: Request) -> Reply:
        if request.role == "dedupe":
            return GOOD
        raise bad()

    ask = UntilUsable(by_role)
    await ends_of(ask, 5, "dedupe")
    assert NeverUsable in {type(end) for end in await ends_of(ask, 5, "judge")}


async def test_few_requests_are_repeated_until_one_has_a_usable_reply() -> None:
    release = asyncio.Event()
    repeats: list[Request] = []

    async def ask(request: Request) -> Reply:
        if request.attempt == 1:
            raise bad()
        repeats.append(request)
        await release.wait()
        return GOOD

    asking = asyncio.create_task(ends_of(UntilUsable(ask), 100))
    await settle()
    assert len(repeats) == FIRST
    release.set()
    assert [getattr(end, "value", None) for end in await asking] == [GOOD.value] * 100


@pytest.mark.parametrize("end", [Trouble("down"), Rejected("no"), NeverUsable("another role")])
async def test_an_error_of_a_repeat_lets_another_request_repeat(end: Exception) -> None:
    async def ask(request: Request) -> Reply:
        if request.attempt == 1:
            raise bad()
        raise end

    ends = await ends_of(UntilUsable(ask), 100)
    assert {type(one) for one in ends} == {type(end)}


async def settle() -> None:
    for _ in range(500):
        await asyncio.sleep(0)


async def test_the_requests_of_a_role_share_their_history() -> None:
    once_bad = [end for fault in DIFFERENT for end in (fault, *[GOOD] * 9)]
    ask = UntilUsable(model := Model(*once_bad, *once_bad, bad()))
    for _ in range(72):
        await ask(REQUEST)
    with pytest.raises(UnusableReply):
        await ask(REQUEST)
    assert len(model.asked) == 80 + 2 * ATTEMPTS


def test_a_correction_fits_a_request() -> None:
    corrected = until_usable.corrected(REQUEST, " x ", "no")
    assert json.dumps(corrected.turns) == '[["assistant", "x"], ["user", "no"]]'
