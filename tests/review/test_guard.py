"""Access control of the application, tested without a browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("aiohttp")

from itk_consensus.review.application.guard import Guard


def answer(guard: Guard, cookie: str = "", token: str = "") -> Any:
    async def page(_request: Any) -> str:
        return "the page"

    request: Any = SimpleNamespace(
        headers={"Host": "localhost:1"},
        cookies={"itk_consensus_review": cookie},
        query={"token": token},
    )
    return asyncio.run(guard._checked(request, page))


@pytest.mark.parametrize("word", ["grün", "\udcff", "\ud800x"])
def test_a_cookie_or_token_that_is_no_ascii_is_refused(word: str) -> None:
    """Issue 44: bytes that are not UTF-8 caused a traceback."""
    guard = Guard()
    assert answer(guard, token=word).status == 403
    assert answer(guard, token=guard.token).status == 302
    assert answer(guard, cookie=word).status == 403
