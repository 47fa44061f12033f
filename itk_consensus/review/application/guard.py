"""Access control: only one browser on this machine, the one that opened the secret address,
is served.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

#: Host names under which a browser on this machine can reach the application.
HOSTS = ("127.0.0.1", "localhost")
_COOKIE = "itk_consensus_review"


class Guard:
    """Admits the first browser that presents the token, and from then on no other browser.

    The token can be used once: it is exchanged for a cookie that scripts cannot read and that is
    not sent with requests from other sites. The Host header must name this machine (to prevent
    DNS rebinding), and requests made by pages must come from the application's own pages.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self._session: str | None = None

    def install(self, app: web.Application) -> None:
        """Check every request; call this before the server starts."""

        async def checked(request: web.Request, handler: Callable[[web.Request], Any]) -> Any:
            return await self._checked(request, handler)

        app.middlewares.append(web.middleware(checked))

    async def _checked(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[Any]]
    ) -> Any:
        refusal = self._foreign(request)
        if refusal is not None:
            return web.Response(status=403, text=refusal)
        if self._is_known(request):
            if request.path == "/paraview/":  # the address at which trame connects its socket
                return web.json_response({"sessionURL": f"ws://{request.host}/ws"})
            return await handler(request)
        if not _are_same(request.query.get("token", ""), self.token):
            return web.Response(
                status=403, text="The address of a review has a token, which the terminal shows."
            )
        if self._session is not None:
            return web.Response(
                status=403,
                text="This review is open in another browser; its token is for one use. "
                "Decisions are kept: end the command and start it again to change the browser.",
            )
        self._session = secrets.token_urlsafe(24)
        answer = web.HTTPFound("/index.html")
        answer.set_cookie(_COOKIE, self._session, httponly=True, samesite="Strict", path="/")
        return answer

    def _is_known(self, request: web.Request) -> bool:
        shown = request.cookies.get(_COOKIE, "")
        return self._session is not None and _are_same(shown, self._session)

    def _foreign(self, request: web.Request) -> str | None:
        host = request.headers.get("Host", "")
        if host.rpartition(":")[0] not in HOSTS and host not in HOSTS:
            return "This application answers to this machine only."
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return "Pages of other sites may not talk to this application."
        return None


def _are_same(shown: str, secret: str) -> bool:
    # Header bytes that are not valid UTF-8 arrive as surrogates, which cannot be encoded strictly.
    return hmac.compare_digest(shown.encode(errors="replace"), secret.encode())
