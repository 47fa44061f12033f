"""Measure the gain of IntensityRefinementFilter over the fusers it refines, on real readers and
crowds.

Nodules on CT (LIDC-IDRI): each reader is left out in turn and compared with the fusion of the
others. Crowds (BU-BIL): the fusion of seven workers is compared with the gold standard.

python -m examples.benchmarks.methods.intensity_refinement [--every N]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import SimpleITK as sitk

from examples.benchmarks.deep import deep_bubil, deep_lidc
from itk_consensus import ConsensusFilter, IntensityRefinementFilter, MajorityVoteFilter
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.votes.overlap import dice

FUSERS: dict[str, Callable[[], Any]] = {
    # Ties are background: a strict majority is needed.
    "vote": lambda: MajorityVoteFilter(TieRule="background"),
    "consensus": ConsensusFilter,
}


def gain(image: Any, raters: list[Any], reference: Any, fuser: Any) -> tuple[float, float]:
    """Return the gain in Dice from refining a fuser's result, and the weight of the intensities."""
    with warnings.catch_warnings():
        # The warning that only one of two readers remains is expected.
        warnings.simplefilter("ignore", ConsensusWarning)
        before = fuser.Execute(raters)
        refinement = IntensityRefinementFilter(Image=image, Filter=fuser)
        after = refinement.Execute(raters)
    one, other, wanted = (sitk.GetArrayViewFromImage(i) == 1 for i in (before, after, reference))
    return dice(other, wanted) - dice(one, wanted), refinement.GetIntensityWeight()


def nodule_gains(name: str) -> dict[str, list[tuple[float, float]]]:
    """Return for each nodule the gain and the weight for each left-out reader."""
    gains = {}
    for nodule, (ct, readers) in deep_lidc.read_nodules().items():
        gains[nodule] = [
            gain(ct, readers[:out] + readers[out + 1 :], readers[out], FUSERS[name]())
            for out in range(len(readers))
        ]
    return gains


def crowd_gains(name: str, every: int = 1) -> dict[str, list[tuple[float, float]]]:
    """Return for each set of images the gain and the weight for each image."""
    gains: dict[str, list[tuple[float, float]]] = {}
    for case in deep_bubil.read_cases()[::every]:
        one = gain(grey(case.image), case.workers, case.gold > 0, FUSERS[name]())
        gains.setdefault(case.name[:2], []).append(one)
    return gains


def grey(image: Any) -> Any:
    """Return the mean of an image's channels."""
    if image.GetNumberOfComponentsPerPixel() == 1:
        return image
    channels = [
        sitk.VectorIndexSelectionCast(image, channel, sitk.sitkFloat32)
        for channel in range(image.GetNumberOfComponentsPerPixel())
    ]
    return sum(channels[1:], channels[0]) / len(channels)


def main() -> None:
    """Print mean gains, by nodule and by set of images."""
    parser = argparse.ArgumentParser(description="What intensities add without training.")
    parser.add_argument("--every", type=int, default=1, help="take every N-th crowd image only")
    every = parser.parse_args().every
    for folder in (deep_lidc.DATA, deep_bubil.DATA):
        if not folder.is_dir():
            parser.exit(1, f"there is no data at {folder}\n")
    print(f"{'fuser':<12}{'cases':<26}{'n':>4}{'Dice gained':>13}{'lowest':>9}{'refined':>9}")
    for name in FUSERS:
        for kind in (nodule_gains(name), crowd_gains(name, every)):
            rows = {**kind, "all": [np.mean(found, axis=0) for found in kind.values()]}
            for cases, found in rows.items():
                gained, powers = np.array(found).T
                print(
                    f"{name:<12}{cases:<26}{len(found):>4}{gained.mean():>+13.4f}"
                    f"{gained.min():>+9.4f}{np.mean(powers > 0):>9.0%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
