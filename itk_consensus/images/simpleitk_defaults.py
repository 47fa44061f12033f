"""What SimpleITK's users set for every filter at once."""

from __future__ import annotations

from typing import Any

import SimpleITK as sitk


def simpleitk_default(name: str) -> Any:
    """SimpleITK's global default, such as "GlobalDefaultCoordinateTolerance"."""
    return getattr(sitk.ProcessObject, f"Get{name}")()
