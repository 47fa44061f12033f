"""Image-aware consensus of lung nodules on CT, trained without any truth (LIDC-IDRI).

Two to four radiologists outlined each nodule; who they were differs from scan to scan. Each nodule
is left out in turn, fused by a model of the others, and compared with the vote. With so few
nodules this shows how to work with 3D images and raters without names, not how well it works.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

from itk_consensus import MajorityVoteFilter
from itk_consensus.errors import ConsensusWarning
from itk_consensus.filters.deep_consensus import DeepConsensusFilter
from itk_consensus.votes.overlap import dice

DATA = Path(__file__).resolve().parents[2] / "../shared/data/lidc_ct"
#: Lung and soft tissue, in Hounsfield units: what lies beyond tells nodules from nothing.
WINDOW = (-1000.0, 400.0)


def read_nodules(folder: Path = DATA) -> dict[str, tuple[Any, list[Any]]]:
    """CT and readers of every nodule."""
    nodules = {}
    for path in sorted(folder.glob("*_ct.nrrd")):
        readers = sitk.ReadImage(folder / path.name.replace("_ct", "_readers"))
        masks = [
            sitk.VectorIndexSelectionCast(readers, reader, sitk.sitkUInt8)
            for reader in range(readers.GetNumberOfComponentsPerPixel())
        ]
        ct = sitk.Clamp(sitk.ReadImage(path), sitk.sitkFloat32, *WINDOW)
        nodules[path.name.removesuffix("_ct.nrrd")] = ct, masks
    return nodules


def leave_one_out(nodules: dict[str, tuple[Any, list[Any]]], name: str, **parameters: Any) -> Any:
    """A filter trained on all nodules but one."""
    others = [nodule for other, nodule in nodules.items() if other != name]
    filter_ = DeepConsensusFilter(
        **{"NumberOfClasses": 2, "WindowSize": (48, 48, 16), "NumberOfIterations": 60, **parameters}
    )
    with warnings.catch_warnings():
        # Five nodules are too few to be better than the vote, and the filter says so.
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Fit(
            [ct for ct, _ in others],
            [masks for _, masks in others],
            rater_ids=[[None] * len(masks) for _, masks in others],
        )
    return filter_


def main() -> None:
    """Print, for each nodule, volumes and agreement of vote and deep consensus."""
    if not DATA.is_dir():
        raise SystemExit(f"the LIDC data is not at {DATA}")
    nodules = read_nodules()
    print(f"{'nodule':<24}{'readers':>8}{'vote mm3':>10}{'deep mm3':>10}{'Dice':>8}")
    for name, (ct, masks) in nodules.items():
        filter_ = leave_one_out(nodules, name)
        fused = filter_.Execute(ct, masks, [None] * len(masks))
        vote = MajorityVoteFilter().Execute(masks)
        deep_mask, vote_mask = (sitk.GetArrayViewFromImage(image) == 1 for image in (fused, vote))
        voxel = np.prod(ct.GetSpacing())
        print(
            f"{name:<24}{len(masks):>8}{voxel * vote_mask.sum():>10.0f}"
            f"{voxel * deep_mask.sum():>10.0f}{dice(deep_mask, vote_mask):>8.3f}"
        )


if __name__ == "__main__":
    main()
