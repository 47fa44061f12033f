"""Run the application as a local server for one browser until the reviewer ends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trame.app import get_server
from trame_slicer import module as trame_slicer_module

from itk_consensus.core.errors import ProcessAborted
from itk_consensus.review.application.guard import HOSTS, Guard
from itk_consensus.review.application.page import ReviewPage
from itk_consensus.review.session import CaseToOpen


def serve(
    cases: Sequence[CaseToOpen],
    ready: Callable[[str], None],
    *,
    who: str = "",
    port: int = 0,
) -> None:
    """Serve cases until the reviewer ends the application or presses Ctrl-C.

    Parameters
    ----------
    ready : callable
        Called with the address, including its token, when the page can be opened.
    who : str
        The reviewer; if empty, the page asks for a name before the first decision.
    port : int
        0 selects a free port.
    """
    asyncio.run(_serve(cases, ready, who, port))


async def _serve(
    cases: Sequence[CaseToOpen], ready: Callable[[str], None], who: str, port: int
) -> None:
    ended = asyncio.Event()
    opening = set[asyncio.Task[None]]()
    server: Any = get_server(f"review-{uuid.uuid4().hex}", client_type="vue3")
    server.enable_module(trame_slicer_module)
    guard = Guard()
    server.controller.add("on_server_bind")(lambda wslink: guard.install(wslink.app))

    def ask() -> None:
        if ended.is_set():
            raise ProcessAborted("review: ended before the case was open")

    def open_case(number: int) -> None:
        task = asyncio.ensure_future(page.open(number, ask))
        opening.add(task)
        # If a case cannot be opened, end the application, which then reports the reason.
        task.add_done_callback(lambda done: ended.set() if done.exception() else None)

    page = ReviewPage(server, cases, who, open_case, ended.set)
    open_case(
        next((n for n, one in enumerate(cases) if one.before is None or not one.before.done), 0)
    )

    def tell(**_: Any) -> None:
        ready(f"http://{HOSTS[0]}:{server.port}/?token={guard.token}")

    server.controller.add("on_server_ready")(tell)
    loop = asyncio.get_running_loop()
    with _ending_by_signal(loop, ended), _silent_start(), _silent_when_closed(loop):
        with _command_line_of_its_own():
            running = server.start(
                host=HOSTS[0],
                port=port,
                exec_mode="task",
                open_browser=False,
                show_connection_info=False,
                timeout=0,
                thread=True,  # has no effect except that trame leaves signal handling to us
            )
        waiting = asyncio.ensure_future(ended.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        ended.set()
        page.finish_stroke()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(server.stop(), 5)
        waiting.cancel()
        running.cancel()
        for outcome in await asyncio.gather(*opening, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, ProcessAborted):
                raise outcome


@contextlib.contextmanager
def _ending_by_signal(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> Iterator[None]:
    """End the review on Ctrl-C as its button does; all decisions are already on disk."""
    known = (signal.SIGINT, signal.SIGTERM)
    try:
        for one in known:
            loop.add_signal_handler(one, ended.set)
    # on Windows, or outside the main thread
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        for one in known:
            loop.remove_signal_handler(one)


@contextlib.contextmanager
def _silent_when_closed(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Suppress the error that occurs if a page is closed while an image is being sent to it."""

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), ConnectionResetError):
            loop.default_exception_handler(context)

    def is_said(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        # The next lines of the log state which exception was raised.
        unsaid = ("Exception raised", "ConnectionResetError(", "closing transport")
        text = record.getMessage()
        return not isinstance(error, ConnectionResetError) and not any(u in text for u in unsaid)

    loggers = [logging.getLogger(name) for name in ("wslink.protocol", "aiohttp.server")]
    loop.set_exception_handler(handle)
    for logger in loggers:
        logger.addFilter(is_said)
    try:
        yield
    finally:
        loop.set_exception_handler(None)
        for logger in loggers:
            logger.removeFilter(is_said)


@contextlib.contextmanager
def _command_line_of_its_own() -> Iterator[None]:
    """Hide our command line from trame, which would parse it."""
    words = sys.argv
    sys.argv = words[:1]
    try:
        yield
    finally:
        sys.argv = words


@contextlib.contextmanager
def _silent_start() -> Iterator[None]:
    """Suppress the line that trame's web server prints at startup."""
    said = os.environ.get("WSLINK_READY_MSG")
    os.environ["WSLINK_READY_MSG"] = ""
    try:
        yield
    finally:
        if said is None:
            del os.environ["WSLINK_READY_MSG"]
        else:
            os.environ["WSLINK_READY_MSG"] = said
