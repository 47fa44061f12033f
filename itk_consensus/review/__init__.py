"""Where raters differ, decided by a person: disputes, decisions, their record, and an application.

Everything but the application works on plain arrays and knows no screen, so that the page, the
application and the module of 3D Slicer mean the same by a decision. The room carries the name of
its front door: ``itk_consensus.review(filter)`` opens the application.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        from itk_consensus.review.opening import review

        return review(*arguments, **keywords)


sys.modules[__name__].__class__ = _Room
