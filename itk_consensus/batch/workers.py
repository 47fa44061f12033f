"""Where cases are worked on: processes of this machine, or a dask cluster. Same results."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any

from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.one_case import CaseResult, failed
from itk_consensus.core.errors import MissingDependencyError, ParameterError

Work = Callable[[BatchCase], CaseResult]

#: Instead of an address: a cluster of this machine.
LOCAL = "local"

_ADDRESS = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.%]+\]|[^\s/:@]+):[0-9]{1,5}")
_SECONDS_TO_ANSWER = 10

_CRASHED = "the process that worked on it ended abruptly: a crash, or not enough memory"


def results_of(
    cases: Sequence[BatchCase], work: Work, *, jobs: int, scheduler: str | None = None
) -> Iterator[CaseResult]:
    """Results as they come, in any order.

    Parameters
    ----------
    work : callable
        What can be pickled: it runs in another process.
    jobs : int
        Processes, unless a scheduler has its own.
    scheduler : str, optional
        Address of a dask scheduler, or "local" for a dask cluster of `jobs` processes.
    """
    if scheduler is not None:
        with _dask(scheduler, jobs) as executor:
            yield from _collected(executor, cases, work, [])
        return
    lost: list[BatchCase] = []
    with _processes(jobs) as executor:
        yield from _collected(executor, cases, work, lost)
    # A process that dies takes its pool along; alone, the case that killed it shows itself.
    for case in lost:
        alone: list[BatchCase] = []
        with _processes(1) as executor:
            yield from _collected(executor, [case], work, alone)
        if alone:
            yield failed(case, _CRASHED)


def _collected(
    executor: Executor, cases: Sequence[BatchCase], work: Work, lost: list[BatchCase]
) -> Iterator[CaseResult]:
    futures: dict[Future[CaseResult], BatchCase] = {}
    for case in cases:
        try:
            futures[executor.submit(work, case)] = case
        except BrokenProcessPool:
            lost.append(case)
    for future in as_completed(futures):
        case = futures[future]
        try:
            yield future.result()
        except BrokenProcessPool:
            lost.append(case)
        except Exception as error:  # a worker of the cluster that is gone
            yield failed(case, f"{type(error).__name__}: {error}")


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    others = set(multiprocessing.active_children())
    with _uninterrupted():  # which the server of processes inherits, and so prints no traceback
        context = _context()
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        yield executor
    except BaseException:
        # Whoever interrupts does not wait for cases to end; what is half done is done again.
        with _uninterrupted():
            for worker in set(multiprocessing.active_children()) - others:
                worker.kill()
            _end_server()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a second Ctrl-C wait: workers that it kept alive would be waited for at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _context() -> Any:
    """Forking a process that has threads, as ours may, can lock it up: workers are made elsewhere.

    Where there is a server for that, it loads what all of them need once.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["itk_consensus.batch.one_case"])
    from multiprocessing import forkserver

    forkserver.ensure_running()
    return context


def _end_server() -> None:
    """End the server of processes: it may still be loading, and then make workers for nobody.

    There is no public way; without this one it ends by itself, later and with a traceback. It is
    started anew when somebody needs it.
    """
    module = sys.modules.get("multiprocessing.forkserver")
    server = getattr(getattr(module, "_forkserver", None), "_forkserver_pid", None)
    if server is not None:
        with suppress(OSError):
            os.kill(server, signal.SIGKILL)


def _start_worker() -> None:
    """Leave interruptions to the parent, and leave with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_after, args=(parent,), daemon=True).start()


def _leave_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _dask(scheduler: str, jobs: int) -> Iterator[Executor]:
    with dask_client(scheduler, jobs) as client:
        yield client.get_executor(pure=False)


@contextmanager
def dask_client(scheduler: str, jobs: int) -> Iterator[Any]:
    """A client of the dask scheduler at an address, or of a cluster of this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingDependencyError(
            "--scheduler needs dask.distributed: pip install 'itk-consensus[dask]'"
        ) from error
    if scheduler == LOCAL:
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            dashboard_address="localhost:0",  # None would still take port 8787
            silence_logs=logging.CRITICAL,  # errors of tasks reach us, and are said in one line
        )
        with cluster, Client(cluster) as client:
            yield client
        return
    _require_scheduler(scheduler)
    # One that fails to connect must not stay the default of whatever runs here later.
    with Client(scheduler, timeout=10, set_as_default=False) as client, client.as_current():
        yield client


def _require_scheduler(address: str) -> None:
    """Raise unless a scheduler answers: a client that waits for one that does not never ends."""
    from distributed import rpc
    from distributed.security import Security

    async def kind() -> Any:
        arguments = Security().get_connection_args("client")
        async with rpc(address, connection_args=arguments) as scheduler:
            return (await scheduler.identity())["type"]

    try:
        if not _ADDRESS.fullmatch(address):
            raise ValueError("it must be like tcp://host:8786, or local")
        with ThreadPoolExecutor(1) as pool:  # a notebook has a loop of its own in this thread
            asked = pool.submit(asyncio.run, asyncio.wait_for(kind(), _SECONDS_TO_ANSWER))
            found = asked.result()
        if found != "Scheduler":
            raise ValueError(f"a {found} answers there")
    except Exception as error:  # whatever a stranger's answer leads to
        reason = str(error) or f"it does not answer within {_SECONDS_TO_ANSWER} s"
        raise ParameterError(
            f"--scheduler must be the address of a dask scheduler, got {address!a}: {reason}"
        ) from error
