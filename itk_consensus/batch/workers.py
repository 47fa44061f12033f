"""Parallel execution of cases, in local processes or on a dask cluster."""

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
from itk_consensus.batch.one_case import CaseResult, failed_result
from itk_consensus.core.errors import MissingDependencyError, ParameterError

Work = Callable[[BatchCase], CaseResult]

#: Selects a dask cluster on this machine, in place of an address.
LOCAL = "local"

_ADDRESS = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.%]+\]|[^\s/:@]+):[0-9]{1,5}")
_SECONDS_TO_ANSWER = 10

_CRASHED = "the process that worked on it ended abruptly: a crash, or not enough memory"


def results_of(
    cases: Sequence[BatchCase], work: Work, *, jobs: int, scheduler: str | None = None
) -> Iterator[CaseResult]:
    """Run `work` on each case, and yield results as they arrive, in any order.

    Parameters
    ----------
    work : callable
        Must be picklable, since it runs in other processes.
    jobs : int
        Number of processes; ignored if the scheduler has its own workers.
    scheduler : str, optional
        Address of a dask scheduler, or "local" for a dask cluster of `jobs` processes.
    """
    if scheduler is not None:
        with _dask(scheduler, jobs) as executor:
            yield from _collect(executor, cases, work, [])
        return
    lost: list[BatchCase] = []
    with _processes(jobs) as executor:
        yield from _collect(executor, cases, work, lost)
    # A process that dies breaks its pool; running the lost cases one by one shows which one failed.
    for case in lost:
        alone: list[BatchCase] = []
        with _processes(1) as executor:
            yield from _collect(executor, [case], work, alone)
        if alone:
            yield failed_result(case, _CRASHED)


def _collect(
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
        except Exception as error:  # a worker of the cluster disappeared
            yield failed_result(case, f"{type(error).__name__}: {error}")


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    others = set(multiprocessing.active_children())
    # this is inherited by the fork server, which then prints no traceback
    with _ignore_interrupts():
        context = _context()
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        yield executor
    except BaseException:
        # After an interrupt, do not wait for running cases; the next run will repeat them.
        with _ignore_interrupts():
            for worker in set(multiprocessing.active_children()) - others:
                worker.kill()
            _end_server()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in this context; a second one would leave workers running and block the
    exit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _context() -> Any:
    """Return a multiprocessing context other than plain fork, which can deadlock with threads.

    If available, this is the fork server, which imports the modules that workers need only once.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["itk_consensus.batch.one_case"])
    from multiprocessing import forkserver

    forkserver.ensure_running()
    return context


def _end_server() -> None:
    """Kill the fork server, which may still be importing modules and would then start useless
    workers.

    There is no public API for this; without it, the server exits later, with a traceback. It is
    restarted when needed.
    """
    module = sys.modules.get("multiprocessing.forkserver")
    server = getattr(getattr(module, "_forkserver", None), "_forkserver_pid", None)
    if server is not None:
        with suppress(OSError):
            os.kill(server, signal.SIGKILL)


def _start_worker() -> None:
    """Ignore Ctrl-C in a worker, and exit when the parent process ends for any reason."""
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
    """Connect to the dask scheduler at an address, or start a cluster on this machine."""
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
            dashboard_address="localhost:0",  # with None, port 8787 would still be used
            silence_logs=logging.CRITICAL,  # errors of tasks are raised here anyway
        )
        with cluster, Client(cluster) as client:
            yield client
        return
    _require_scheduler(scheduler)
    # A client that fails to connect must not remain the default of the process.
    with Client(scheduler, timeout=10, set_as_default=False) as client, client.as_current():
        yield client


def _require_scheduler(address: str) -> None:
    """Raise unless a scheduler responds, since a client would wait for it forever."""
    from distributed import rpc
    from distributed.security import Security

    async def kind() -> Any:
        arguments = Security().get_connection_args("client")
        async with rpc(address, connection_args=arguments) as scheduler:
            return (await scheduler.identity())["type"]

    try:
        if not _ADDRESS.fullmatch(address):
            raise ValueError("it must be like tcp://host:8786, or local")
        # in a notebook, the current thread already runs an event loop
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(asyncio.run, asyncio.wait_for(kind(), _SECONDS_TO_ANSWER))
            found = future.result()
        if found != "Scheduler":
            raise ValueError(f"a {found} answers there")
    except Exception as error:  # a server of another kind may respond with anything
        reason = str(error) or f"it does not answer within {_SECONDS_TO_ANSWER} s"
        raise ParameterError(
            f"--scheduler must be the address of a dask scheduler, got {address!a}: {reason}"
        ) from error
