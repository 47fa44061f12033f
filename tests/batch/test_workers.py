"""Interrupted batches terminate, and schedulers that do not respond are rejected."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from itk_consensus.batch import workers
from itk_consensus.batch.workers import LOCAL, dask_client
from itk_consensus.core.errors import ParameterError

_PATIENT_BATCH = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.workers import results_of

if __name__ == "__main__":
    cases = [BatchCase(str(number), (), ()) for number in range(4)]
    sys.path.insert(0, {folder!r})
    from patient import wait
    try:
        list(results_of(cases, wait, jobs=2))
    except KeyboardInterrupt:
        sys.exit(130)
"""
_WAIT = """
import pathlib, time

def wait(case):
    pathlib.Path({folder!r}, "begun-" + case.name).touch()
    time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no signals")
def test_a_batch_that_is_interrupted_twice_ends_though_its_cases_do_not(tmp_path: Path) -> None:
    """Issue 27, item 11: it waited for the cases, and hung after a second Ctrl-C."""
    (tmp_path / "patient.py").write_text(_WAIT.format(folder=str(tmp_path)))
    (tmp_path / "run.py").write_text(_PATIENT_BATCH.format(folder=str(tmp_path)))
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py")],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("begun-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)  # a terminal interrupts all processes
        time.sleep(0.3)
    try:
        assert process.wait(60) != 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def mute_server() -> Iterator[str]:
    """Run a server that accepts connections but never responds."""
    server = socket.socket()
    server.bind(("localhost", 0))
    server.listen()
    yield f"tcp://localhost:{server.getsockname()[1]}"
    server.close()


def refused(address: str) -> str:
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError) as caught, dask_client(address, 1):
        pass
    assert str(caught.value).startswith(
        f"--scheduler must be the address of a dask scheduler, got {address!a}: "
    )
    return str(caught.value)


def test_a_mute_server_is_refused(mute_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 27, item 18: the client waited forever."""
    monkeypatch.setattr(workers, "_SECONDS_TO_ANSWER", 1)
    assert "does not answer within 1 s" in refused(mute_server)


@pytest.mark.parametrize("address", ["", "/tmp/file", "tls://", "tls://localhost:1", "a b:1", "x"])
def test_what_is_no_address_is_refused_at_once(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 27, item 18: it took 23 s and ended in a traceback."""
    monkeypatch.setattr(workers, "_SECONDS_TO_ANSWER", 1)
    refused(address)


def test_a_scheduler_is_found_at_its_address() -> None:
    pytest.importorskip("distributed")
    with dask_client(LOCAL, 1) as local, dask_client(local.scheduler.address, 1) as client:
        assert client.submit(sum, [1, 2]).result() == 3
