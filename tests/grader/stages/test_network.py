"""Which hosts answer in a call."""

import asyncio

import pytest

from grader.stages.network import MOST_HOSTS, Network


class Prober:
    """Answers for the URLs that it is made with, and notes which are probed."""

    def __init__(self, *up: str) -> None:
        self.up = up
        self.probed: list[str] = []

    async def __call__(self, url: str) -> bool:
        self.probed.append(url)
        return url in self.up


async def test_only_other_hosts_count() -> None:
    network = Network(Prober())
    assert not await network.answers_besides({"a"})
    network.add_answer("a")
    assert not await network.answers_besides({"a"})
    assert await network.answers_besides({"b"})
    network.add_answer("b")
    assert not await network.answers_besides({"a", "b"})
    assert await network.answers_besides({"a"})


async def test_known_urls_of_other_hosts_are_probed_until_one_answers() -> None:
    prober = Prober("http://c/", "http://d/")
    network = Network(prober)
    for host in "abcd":
        network.add_known_url(host, f"http://{host}/")
        network.add_known_url(host, f"http://{host}/second")
    results = await asyncio.gather(*(network.answers_besides({"a"}) for _ in range(3)))
    assert results == [True] * 3
    assert prober.probed == ["http://b/", "http://c/"]


async def test_a_known_url_is_probed_once() -> None:
    prober = Prober()
    network = Network(prober)
    network.add_known_url("b", "http://b/")
    for _ in range(2):
        assert not await network.answers_besides({"a"})
    assert prober.probed == ["http://b/"]


async def test_nothing_is_probed_if_a_host_answered() -> None:
    prober = Prober("http://b/")
    network = Network(prober)
    network.add_known_url("b", "http://b/")
    network.add_answer("c")
    assert await network.answers_besides({"a"})
    assert prober.probed == []


@pytest.mark.parametrize("answers", [True, False])
async def test_visits_under_way_are_waited_for(answers: bool) -> None:
    network = Network(Prober())
    asked = asyncio.Event()

    async def ask() -> bool:
        asked.set()
        return await network.answers_besides({"a"})

    with network.visiting("a"):
        with network.visiting("b"):
            with network.visiting("b"):
                waiting = asyncio.create_task(ask())
                await asked.wait()
            network.add_answer("a")
            assert not waiting.done()
            if answers:
                network.add_answer("b")
        assert await waiting is answers  # although a visit of the host itself is under way


async def test_visits_that_have_ended_are_not_waited_for() -> None:
    network = Network(Prober())
    with network.visiting("b"):
        pass
    assert not await network.answers_besides({"a"})
    with network.visiting("b"):
        with network.visiting("b"):
            pass
        waiting = asyncio.create_task(network.answers_besides({"a"}))
        await asyncio.sleep(0)
        assert not waiting.done()  # one visit is still under way
    assert not await waiting


async def test_few_hosts_are_remembered() -> None:
    network = Network(Prober())
    for number in range(MOST_HOSTS):
        assert network.wants_known_urls
        network.add_known_url(f"host{number}", "http://a/")
    assert not network.wants_known_urls
