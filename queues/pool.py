"""CPU work on hostile input, in worker processes. A call that crashes, hangs or takes too much
memory costs only itself."""

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
from multiprocessing import forkserver, resource_tracker
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
    """The worker died, ran out of memory, or the function has a fault. The message says which."""


class TimedOut(Exception):
    """The call took longer than the deadline of the pool. Its worker was killed."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception of the function, and the place that raised it. It is returned, not raised: then
    an exception of the future is always one of the pool."""

    error: Exception
    where: str = ""


class Pool:
    """`workers` processes. The first call starts them; a process that dies is replaced.

    A call has `deadline` seconds after a worker takes it. A worker may use
    `memory_bytes` of address space, and is replaced after `recycle` calls. Each worker runs
    `initializer(*initargs)` first. Functions, arguments and results are pickled, so functions must
    be in importable modules.

    `raises` has the exceptions that functions raise on purpose. Any other exception is a fault that
    a hostile input has found: the call raises `Crashed`, and other calls go on.
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
        """Run `fn(*args)` in a worker. Raises the exceptions in `raises`, `Crashed`, `TimedOut`, or
        `Stopped` if the pool is closed."""
        try:
            return await self._call(fn, args)
        except BrokenProcessPool:
            # pebble fails all calls when an idle worker dies: start new workers and retry once.
            try:
                return await self._call(fn, args)
            except BrokenProcessPool as error:
                raise Crashed(f"the workers do not start: {error}") from error

    async def close(self) -> None:
        """End all workers. Calls in progress raise `Stopped`. May be called again."""
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
        try:
            call = pool.schedule(_guarded, (fn, args), timeout=self._deadline)
        except RuntimeError as error:  # the pool broke after it was started
            raise BrokenProcessPool(str(error)) from error
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
        """The running pool. One caller starts it for all, in a thread."""
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
        # Workers are forked, in milliseconds, from a clean process that has imported `module`.
        self._context.set_forkserver_preload([module])
        with _imports_as_here(), _without_interrupts():
            forkserver.ensure_running()
        pool = ProcessPool(
            self._workers,
            max_tasks=self._recycle,
            initializer=_prepare,
            initargs=self._setup,
            context=self._context,
        )
        if not pool.active:  # reading this property starts the pool
            raise BrokenProcessPool("the workers could not be started")
        return pool

    def _end(self, pool: ProcessPool) -> None:
        pool.stop()  # type: ignore[no-untyped-call]
        # Before pebble unlinks its locks: a worker that is still starting would fail to open them,
        # and print a traceback.
        self._context.kill()
        pool.join()


class _Process(ForkServerProcess):
    """A process that does not run the program's main module again. Otherwise a script without an
    `if __name__ == "__main__"` guard would run in every worker."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # a module without a file to run
        try:
            return ForkServerProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _Context(ForkServerContext):
    """Starts processes, and can kill all of them."""

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
    """Processes that start inside this block import modules from the same places as this one.
    Otherwise they would look in the current folder first, where a user may have a folder `cache`.
    """
    path = os.pathsep.join(filter(None, sys.path))
    variables = {
        "PYTHONPATH": path,
        "PYTHONSAFEPATH": "1",
        # After an interrupt that ends this process at once, the tracker removes locks and warns of
        # them. Users need no such warning.
        "PYTHONWARNINGS": "ignore:resource_tracker",
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that start inside this block never get SIGINT, which the parent handles. Otherwise
    Ctrl-C would end the server of workers with a traceback while it imports modules."""
    resource_tracker.ensure_running()  # it unblocks signals after its start
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _cause(exitcode: int) -> str:
    try:
        return signal.Signals(-exitcode).name
    except ValueError:
        return f"exit status {exitcode}"


# In the worker


def _prepare(
    memory_bytes: int | None, initializer: Callable[..., object] | None, initargs: tuple[Any, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # die at once, also inside C code
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    if initializer is not None:
        initializer(*initargs)


def _die_with_parent() -> None:
    """Have the kernel kill this process when the parent ends for any reason.

    A thread that waits for the parent is not enough: C code that holds the interpreter lock blocks
    that thread.
    """
    parent = multiprocessing.parent_process()
    if parent is None or not hasattr(fcntl, "F_SETSIG"):
        return  # not Linux: pebble's worker ends after its current call
    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if wait([pipe], 0):
        os._exit(1)


def _guarded(fn: Callable[[*Args], T], args: tuple[*Args]) -> T | _Raised:
    """The result of `fn`, or its exception in a form that can be pickled. An exception that cannot
    be unpickled would break the whole pool; a SystemExit would reach the parent."""
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
