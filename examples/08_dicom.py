"""Fuse three readers' DICOM SEG objects into one (needs itk-consensus[dicom])."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def write_series(folder: Path) -> None:
    """Write twelve oblique slices, 2.5 mm apart, like those of a scanner."""
    common = {"0008|0060": "CT", "0008|0016": "1.2.840.10008.5.1.4.1.1.2", "0018|0050": "2.5"}
    common |= {"0020|000d": "2.25.1", "0020|000e": "2.25.2", "0020|0052": "2.25.3"}
    writer = sitk.ImageFileWriter()
    writer.KeepOriginalImageUIDOn()
    for number in range(12):
        image = sitk.Image(48, 40, sitk.sitkInt16)
        place = {"0020|0032": f"0\\{1.5 * number}\\{2 * number}", "0008|0018": f"2.25.4.{number}"}
        for key, value in {**common, **place, "0020|0037": r"1\0\0\0\0.8\-0.6"}.items():
            image.SetMetaData(key, value)
        writer.Execute(image, str(folder / f"slice{number}.dcm"), False, -1)


def outline(grid: sitk.Image, reader: int) -> dict[str, sitk.Image]:
    """Return two overlapping structures as outlined by one reader."""
    z, y, x = np.indices((12, 40, 48))
    masks = {}
    for name, radius, middle in (("organ", 13 + reader, 20), ("lesion", 6 - reader, 30)):
        inside = (x - middle) ** 2 + (y - 20) ** 2 + 6 * (z - 6) ** 2 < radius**2
        masks[name] = sitk.GetImageFromArray(inside.astype(np.uint8))
        masks[name].CopyInformation(grid)
    return masks


def main(folder: Path) -> None:
    """Write a series and three readers' objects, and fuse each structure separately."""
    write_series(folder)
    series = ic.read_dicom_series(sorted(folder.glob("slice*.dcm")))
    files = [folder / f"reader{number}.dcm" for number in range(3)]
    for number, file in enumerate(files):
        ic.write_dicom_segmentation(outline(series.grid(), number), file, series, method="by hand")

    readers = {file.stem: ic.read_dicom_segmentation(file, series) for file in files}
    matched = ic.match_structures(readers)
    fused = ic.fuse_structures(matched.masks(), ic.MajorityVoteFilter())
    out = folder / "consensus.dcm"
    ic.write_dicom_segmentation(fused, out, series, method="MajorityVoteFilter", raters=files)
    print(matched)
    for name, mask in fused.items():
        print(f"{name}: {np.count_nonzero(sitk.GetArrayViewFromImage(mask) == 1)} voxels")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
