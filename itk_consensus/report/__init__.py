"""Results for people: text, JSON, tables, pictures and one HTML page.

The room carries the name of its front door: ``itk_consensus.report(filter, path)`` writes the page
whether or not somebody imported this room before.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        from itk_consensus.report.page import report

        report(*arguments, **keywords)


sys.modules[__name__].__class__ = _Room
