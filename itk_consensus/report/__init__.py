"""Reports: text, JSON, tables, pictures and an HTML page.

The package has the name of its main function: ``itk_consensus.report(filter, path)`` writes the
page whether or not this package was imported before.
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
