"""How many modules of the package a call passes through: what a reader has to open to follow it.

python -m tests.modules_of_a_call
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def modules_of(call: Callable[[], Any]) -> list[str]:
    """Modules whose functions run during a call, in the order in which they are first entered.

    The call is made once before, so that loading modules does not count.
    """
    call()
    seen: dict[str, None] = {}

    def entered(frame: FrameType, event: str, _argument: Any) -> None:
        name = str(frame.f_globals.get("__name__", ""))
        if event == "call" and name.startswith("itk_consensus."):
            seen.setdefault(name)

    sys.setprofile(entered)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def some_raters() -> list[sitk.Image]:
    """Four noisy masks of a cube."""
    noise = np.random.default_rng(1)
    cube = np.zeros((20, 20, 20), bool)
    cube[5:15, 5:15, 5:15] = True
    noisy = [cube ^ (noise.random(cube.shape) < 0.05) for _ in range(4)]
    return [sitk.GetImageFromArray(mask.astype(np.uint8)) for mask in noisy]


def main() -> None:
    """Print the way of the simplest calls."""
    raters = some_raters()
    for function in (ic.STAPLE, ic.LabelVoting):
        modules = modules_of(lambda function=function: function(raters))
        print(f"{function.__name__}: {len(modules)} modules")
        print("".join(f"  {name}\n" for name in modules), end="")


if __name__ == "__main__":
    main()
