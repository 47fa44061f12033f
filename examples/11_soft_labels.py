"""Turn the labels of several raters into training targets: an nnU-Net folder, and soft labels.

Voxels on which readers differ get nnU-Net's ignore label; the soft labels are for custom losses.

python examples/11_soft_labels.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic

IGNORE = 2  # the first unused label value, as nnU-Net requires
UNSURE = (0.4, 0.6)  # voxels with probabilities in this range are ignored


def targets(raters: list[sitk.Image]) -> tuple[sitk.Image, sitk.Image]:
    """Return a label map with uncertain voxels ignored, and the underlying probabilities."""
    fuser = ic.ConsensusFilter()
    labels = sitk.Cast(fuser.Execute(raters), sitk.sitkUInt8)
    soft = sitk.Cast(fuser.GetProbabilityImage(1), sitk.sitkFloat32)
    unsure = sitk.And(soft > UNSURE[0], soft < UNSURE[1])
    return sitk.Mask(labels, unsure == 0, IGNORE), soft


def main() -> dict[str, float]:
    """Write twenty simulated cases, and compare the targets with the known true segmentations."""
    folder = Path(tempfile.mkdtemp()) / "Dataset501_Readers"
    for name in ("imagesTr", "labelsTr", "softTr"):
        (folder / name).mkdir(parents=True)
    rows = []
    for number, case in enumerate(ic.sample_cohort(20, seed=1)):
        name = f"case{number:02d}"
        hard, soft = targets(case.raters)
        sitk.WriteImage(case.image, str(folder / "imagesTr" / f"{name}_0000.nii.gz"))
        sitk.WriteImage(hard, str(folder / "labelsTr" / f"{name}.nii.gz"))
        sitk.WriteImage(soft, str(folder / "softTr" / f"{name}.nii.gz"))
        truth, codes = map(sitk.GetArrayFromImage, (case.truth, hard))
        vote = sitk.GetArrayFromImage(ic.MajorityVote(case.raters))
        lost, organ = codes == IGNORE, truth != 0
        rows.append([np.mean(vote != truth), np.mean((codes != truth)[~lost]), lost[organ].mean()])
    labels = {"background": 0, "organ": 1, "ignore": IGNORE}
    about = {"channel_names": {"0": "MR"}, "labels": labels, "numTraining": 20}
    (folder / "dataset.json").write_text(json.dumps(about | {"file_ending": ".nii.gz"}, indent=1))
    names = ("the vote is wrong", "wrong where not ignored", "ignored, of the organ")
    shares = dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))
    for name, share in shares.items():
        print(f"{name:26s}{share:6.1%}")
    return shares


if __name__ == "__main__":
    main()
