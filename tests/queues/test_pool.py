import asyncio
import ctypes
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from queues.node import Stopped
from queues.pool import Crashed, Pool, TimedOut

ROOT = Path(__file__).parents[2]
PATIENCE = 20.0  # seconds, for what should take milliseconds


def double(number: int) -> int:
    return 2 * number


def divide(one: int, other: int) -> float:
    return one / other


def pid() -> int:
    return os.getpid()


def end(status: int) -> None:
    os._exit(status)


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    raise SystemExit(3)


def swell() -> int:
    return len(bytearray(8 << 30))


def hang() -> None:
    """C code that keeps the interpreter lock and hears no Python signal handler."""
    ctypes.PyDLL(None).pause()


def hang_after_telling(path: str) -> None:
    with Path(path).open("w") as pipe:
        pipe.write(str(os.getpid()))
    hang()


class Awkward(Exception):
    """Pickles, but cannot be unpickled."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(f"at {line}:{column}")


def raise_value_error() -> None:
    raise ValueError("no such thing")


def raise_awkward() -> None:
    raise Awkward(3, 4)


def return_unpicklable() -> object:
    return lambda: None


SETTINGS: list[str] = []


def remember(setting: str) -> None:
    SETTINGS.append(setting)


def settings() -> tuple[list[str], int]:
    return SETTINGS, os.getpid()


def ended(process: int) -> bool:
    """Whether `process` ends soon."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(handle):
        return bool(select.select([handle], [], [], PATIENCE)[0])


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    pool = Pool(2, deadline=PATIENCE, memory_bytes=2 << 30)
    yield pool
    await pool.close()


async def test_results_and_exceptions_come_back(pool: Pool) -> None:
    assert await asyncio.gather(*(pool.run(double, n) for n in range(50))) == [
        2 * n for n in range(50)
    ]
    with pytest.raises(ValueError, match="no such thing") as raised:
        await pool.run(raise_value_error)
    assert "raise_value_error" in raised.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Awkward: at 3:4"):
        await pool.run(raise_awkward)
    assert await pool.run(pid) != os.getpid()


async def test_an_exception_that_is_not_declared_is_a_crash() -> None:
    pool = Pool(1, deadline=PATIENCE, raises=(ValueError,))
    try:
        with pytest.raises(Crashed, match=r"ZeroDivisionError at test_pool\.py:\d+: ") as raised:
            await pool.run(divide, 1, 0)
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
        with pytest.raises(ValueError, match="no such thing"):
            await pool.run(raise_value_error)
    finally:
        await pool.close()


async def test_a_crash_costs_only_its_own_call(pool: Pool) -> None:
    calls = [pool.run(double, n) for n in range(100)]
    crashes = [pool.run(end, 7), pool.run(segfault), pool.run(leave), pool.run(swell)]
    results = await asyncio.gather(*calls[:50], *crashes, *calls[50:], return_exceptions=True)
    assert results[:50] + results[54:] == [2 * n for n in range(100)]
    assert [type(crash) for crash in results[50:54]] == [Crashed] * 4
    said = [str(crash) for crash in results[50:54]]
    assert said == [
        "worker died: exit status 7",
        "worker died: SIGSEGV",
        "SystemExit: 3",
        "out of memory",
    ]


async def test_an_unpicklable_result_is_an_error_of_its_call_only(pool: Pool) -> None:
    with pytest.raises(Exception, match=r"worker died|pickle"):
        await pool.run(return_unpicklable)
    assert await pool.run(double, 4) == 8


async def test_a_call_past_its_deadline_is_killed() -> None:
    pool = Pool(2, deadline=0.2)
    stuck = asyncio.create_task(pool.run(hang))
    assert await asyncio.gather(*(pool.run(double, n) for n in range(20))) == [
        2 * n for n in range(20)
    ]
    with pytest.raises(TimedOut, match=r"0\.2 s"):
        await stuck
    assert await pool.run(double, 4) == 8
    await pool.close()


async def test_an_idle_worker_that_is_killed_is_replaced(pool: Pool) -> None:
    victim = await pool.run(pid)
    os.kill(victim, signal.SIGKILL)
    assert ended(victim)
    assert await asyncio.gather(*(pool.run(double, n) for n in range(10))) == [
        2 * n for n in range(10)
    ]


async def test_cancelling_the_caller_kills_the_work(pool: Pool, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    caller = asyncio.create_task(pool.run(hang_after_telling, str(fifo)))
    worker = int(await asyncio.to_thread(fifo.read_text))
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await asyncio.to_thread(ended, worker)
    assert await pool.run(double, 4) == 8


async def test_closing_stops_calls_and_leaves_no_worker(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    pool = Pool(1, deadline=PATIENCE)
    running = asyncio.create_task(pool.run(hang_after_telling, str(fifo)))
    waiting = asyncio.create_task(pool.run(double, 4))
    worker = int(await asyncio.to_thread(fifo.read_text))
    await pool.close()
    await pool.close()
    assert ended(worker)
    for call in (running, waiting, pool.run(double, 4)):
        with pytest.raises(Stopped):
            await call


async def test_closing_a_pool_that_was_never_used_starts_nothing() -> None:
    pool = Pool(1, deadline=PATIENCE)
    await pool.close()
    with pytest.raises(Stopped):
        await pool.run(double, 4)


async def test_workers_are_initialised_and_recycled() -> None:
    pool = Pool(1, deadline=PATIENCE, recycle=2, initializer=remember, initargs=("quick",))
    seen = [await pool.run(settings) for _ in range(6)]
    await pool.close()
    assert [found for found, _ in seen] == [["quick"]] * 6
    assert len({worker for _, worker in seen}) == 3


async def test_workers_that_cannot_start_are_reported() -> None:
    pool = Pool(1, deadline=PATIENCE, initializer=raise_value_error)
    with pytest.raises(Crashed, match="the workers do not start"):
        await pool.run(double, 4)
    await pool.close()


class BrokenPool:
    """A pebble pool that breaks between its start and the first call."""

    active = False

    def schedule(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("Unexpected error within the Pool")


async def test_a_pool_that_breaks_before_a_call_is_replaced(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, broken = pool._started, iter([BrokenPool()])

    async def first_broken(module: str) -> object:
        return next(broken, None) or await started(module)

    monkeypatch.setattr(pool, "_started", first_broken)
    assert await pool.run(double, 4) == 8


async def test_a_pool_that_breaks_each_time_is_reported(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(module: str) -> object:
        return BrokenPool()

    monkeypatch.setattr(pool, "_started", broken)
    with pytest.raises(Crashed, match="the workers do not start: Unexpected error"):
        await pool.run(double, 4)


PROGRAM = """
    import asyncio, sys
    from queues.pool import Pool
    from tests_of_the_pool import double, hang_after_telling, pid

    async def main():
        pool = Pool(2, deadline=1000)
        try:
            print(await pool.run(pid), flush=True)
            await pool.run(hang_after_telling, sys.argv[1])
        finally:
            await pool.close()

    if __name__ == "__main__":
        try:
            asyncio.run(main())
        except KeyboardInterrupt:
            sys.exit(130)
"""


def interrupt(program: "subprocess.Popen[str]") -> tuple[str, str]:
    """Ctrl-C, as a terminal sends it: to the workers too. `asyncio.run` misses one that comes
    just as it goes to sleep, so a person would press again."""
    for _ in range(3):
        os.killpg(program.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=PATIENCE / 3)
    raise AssertionError("does not end")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_its_parent(how: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "tests_of_the_pool.py").symlink_to(__file__)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), str(fifo)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    worker = int(fifo.read_text())
    if how is signal.SIGKILL:
        program.kill()
        output, errors = program.communicate(timeout=PATIENCE)
    else:
        output, errors = interrupt(program)
    assert ended(worker)
    assert ended(int(output))
    if how is signal.SIGINT:
        assert (program.returncode, errors) == (130, "")


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import asyncio
            import operator
            from queues.pool import Pool

            async def main():
                pool = Pool(1, deadline=60)
                try:
                    return await pool.run(operator.add, 1, 2)
                finally:
                    await pool.close()

            print("runs")
            print(asyncio.run(main()))
        """)
    )
    program = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (program.stdout, program.stderr) == ("runs\n3\n", "")
