"""CPU work on hostile input, in processes that may crash, hang or swell without harm."""

import asyncio
import fcntl
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, TypeVar, TypeVarTuple, cast
from weakref import WeakSet

from pebble import ProcessExpired, ProcessPool

from queues.node import Stopped

T = TypeVar("T")
Args = TypeVarTuple("Args")


class Crashed(Exception):
    """The worker died, or ran out of memory; the message says how."""


class TimedOut(Exception):
    """The call took longer than the pool allows; its worker was killed."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """What the function raised, and where. Returned, so that what a future raises is the pool's
    own."""

    error: Exception
    where: str = ""


class Pool:
    """`workers` processes, started by the first call and replaced when they die.

    A call gets `deadline` seconds, from when a worker takes it. A worker may hold `memory_bytes`
    of address space, and is replaced after `recycle` calls. `initializer(*initargs)` runs first in
    each. Functions, arguments and results are pickled; functions belong in importable modules.
    `raises` is what they raise to say something; all else is a fault in them, that one hostile
    input has found, and is told as `Crashed`: it must not cost what other calls are about.
    """

    def __init__(
        self,
        workers: int,
        *,
        deadline: float,
        memory_bytes: int | None = None,
        recycle: int = 1000,
        initializer: Callable[[*Args], object] | None = None,
        initargs: tuple[*Args] = cast(Any, ()),
        raises: tuple[type[Exception], ...] = (Exception,),
    ) -> None:
        self._workers = workers
        self._deadline = deadline
        self._recycle = recycle
        self._raises = (*raises, Crashed)
        self._setup = (memory_bytes, initializer, initargs)
        self._context = _Context()
        self._starting: asyncio.Task[ProcessPool] | None = None
        self._calls: set[Future[Any]] = set()
        self._closed = False

    async def run(self, fn: Callable[[*Args], T], *args: *Args) -> T:
        """`fn(*args)` in a worker. Raises what it `raises`, `Crashed`, `TimedOut` or `Stopped`."""
        try:
            return await self._call(fn, args)
        except BrokenProcessPool:
            # pebble gives up all calls when a worker dies between two of them: begin anew, once.
            try:
                return await self._call(fn, args)
            except BrokenProcessPool as error:
                raise Crashed(f"no worker stays alive: {error}") from error

    async def close(self) -> None:
        """End every worker; calls under way raise `Stopped`. May be called again."""
        self._closed = True
        for call in list(self._calls):
            call.cancel()
        if self._starting:
            await asyncio.wait([self._starting])
            if not self._starting.exception():
                await asyncio.to_thread(self._end, self._starting.result())

    async def _call(self, fn: Callable[[*Args], T], args: tuple[*Args]) -> T:
        if self._closed:
            raise Stopped("the pool is closed")
        pool = await self._started(fn.__module__)
        if self._closed:
            raise Stopped("the pool is closed")
        call = pool.schedule(_guarded, (fn, args), timeout=self._deadline)
        self._calls.add(call)
        try:
            out: T | _Raised = await asyncio.wrap_future(call)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and not (task and task.cancelling()):
                raise Stopped("the pool was closed") from None
            raise
        except TimeoutError as error:
            raise TimedOut(f"no result in {self._deadline} s") from error
        except ProcessExpired as error:
            raise Crashed(f"worker died: {_cause(error.exitcode)}") from error
        finally:
            self._calls.discard(call)
        if isinstance(out, _Raised):
            if isinstance(out.error, self._raises):
                raise out.error
            name = type(out.error).__name__
            raise Crashed(f"{name} at {out.where}: {out.error}") from out.error
        return out

    async def _started(self, module: str) -> ProcessPool:
        """A pool that works: started off the loop, and by one caller for all."""
        current = self._starting
        if current is None or (
            current.done() and (current.exception() or not current.result().active)
        ):
            current = asyncio.create_task(asyncio.to_thread(self._start, current, module))
            self._starting = current
        return await asyncio.shield(current)

    def _start(self, broken: asyncio.Task[ProcessPool] | None, module: str) -> ProcessPool:
        if broken and not broken.exception():
            self._end(broken.result())
        # Forked from a clean process that has loaded `module`: a worker takes milliseconds.
        self._context.set_forkserver_preload([module])
        with _imports_as_here():
            forkserver.ensure_running()
        pool = ProcessPool(
            self._workers,
            max_tasks=self._recycle,
            initializer=_prepare,
            initargs=self._setup,
            context=self._context,
        )
        if not pool.active:  # asking starts it
            raise BrokenProcessPool("the workers could not be started")
        return pool

    def _end(self, pool: ProcessPool) -> None:
        pool.stop()  # type: ignore[no-untyped-call]
        # Before pebble unlinks its locks: a worker that is only starting would fail to open them,
        # and say so at length.
        self._context.kill()
        pool.join()


class _Process(ForkServerProcess):
    """A process that does not run the program's main module again: a script that grades without
    a guard around it would begin to grade in every worker."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # which has no file to run
        try:
            return ForkServerProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _Context(ForkServerContext):
    """Starts processes, and can kill them all."""

    def __init__(self) -> None:
        super().__init__()
        self._processes: WeakSet[_Process] = WeakSet()

    def Process(self, *args: Any, **kwargs: Any) -> _Process:  # type: ignore[override]  # noqa: N802
        process = _Process(*args, **kwargs)
        self._processes.add(process)
        return process

    def kill(self) -> None:
        for process in list(self._processes):
            if process.pid is not None:
                process.kill()


@contextmanager
def _imports_as_here() -> Iterator[None]:
    """Let processes started meanwhile look for modules where this one does. They would look in
    the current folder first, and take a folder `cache` of the user's for a package of ours."""
    path = os.pathsep.join(filter(None, sys.path))
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "PYTHONSAFEPATH")}
    os.environ.update(PYTHONPATH=path, PYTHONSAFEPATH="1")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _cause(exitcode: int) -> str:
    try:
        return signal.Signals(-exitcode).name
    except ValueError:
        return f"exit status {exitcode}"


# In the worker


def _prepare(
    memory_bytes: int | None, initializer: Callable[..., object] | None, initargs: tuple[Any, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # die at once, in the midst of C code too
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    if initializer is not None:
        initializer(*initargs)


def _die_with_parent() -> None:
    """Have the kernel kill this process when the parent is gone, however it went.

    A thread that waits would not do: C code that keeps the interpreter lock keeps it waiting.
    """
    parent = multiprocessing.parent_process()
    if parent is None or not hasattr(fcntl, "F_SETSIG"):
        return  # not Linux: pebble's worker ends with its present call
    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], 0):
        os._exit(1)


def _guarded(fn: Callable[[*Args], T], args: tuple[*Args]) -> T | _Raised:
    """The result, or what was raised in a form that is sure to travel: an exception that cannot
    be unpickled would break the whole pool, a SystemExit would reach the parent."""
    try:
        return fn(*args)
    except Exception as error:
        if isinstance(error, MemoryError):
            return _Raised(Crashed("out of memory"))
        error.add_note(traceback.format_exc(limit=-5))
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(at.filename)}:{at.lineno}"  # noqa: PTH119
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return _Raised(RuntimeError(f"{type(error).__name__}: {error}"), where)
        return _Raised(error, where)
    except BaseException as error:
        return _Raised(Crashed(f"{type(error).__name__}: {error}"))
