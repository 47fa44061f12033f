"""Write report pages, and take pictures of them for the README and the documentation.

python -m examples.benchmarks.pictures.report_pictures FOLDER        writes pages and a notebook
jupyter nbconvert --to html --execute FOLDER/notebook.ipynb   runs the notebook (needs Jupyter)
node report_in_browser.mjs FOLDER/*.html                    takes pictures next to them
python -m examples.benchmarks.pictures.report_pictures FOLDER --cut  crops some of these into docs/

Pages with real images need ../shared/data, and are left out without it.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.batch.batch import run_batch
from itk_consensus.batch.cases import find_cases
from itk_consensus.batch.plan import Plan
from itk_consensus.cli import main as main_of_the_command

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
DATA = ROOT.parent / "shared" / "data"
READERS = ("anna", "ben", "chris", "dora", "emil")
NODULE = "LIDC-IDRI-0265_n2049"

NOTEBOOK = (
    "import itk_consensus as ic\n\nimages = ic.sample_case()\nconsensus = ic.ConsensusFilter()\n"
    "labels = consensus.Execute(images)\nconsensus",
    "agreement = ic.agreement(images)\nagreement.pairs().to_frame().round(3)",
)


def raters_of(path: Path) -> list[Any]:
    """Return each component of an image as one rater."""
    image = sitk.ReadImage(str(path))
    number = image.GetNumberOfComponentsPerPixel()
    return [sitk.VectorIndexSelectionCast(image, n, sitk.sitkUInt8) for n in range(number)]


def write_ct(folder: Path) -> None:
    """Write the page of a lung nodule by four readers on CT, with all disputed slices."""
    consensus = ic.ConsensusFilter()
    consensus.Execute(raters_of(DATA / "lidc_ct" / f"{NODULE}_readers.nrrd"))
    image = sitk.ReadImage(str(DATA / "lidc_ct" / f"{NODULE}_ct.nrrd"))
    names = {1: "nodule"}
    ic.report(consensus, folder / "ct.html", image, READERS[:4], label_names=names)
    sheet = {"label_names": names, "contact_sheet": True}
    ic.report(consensus, folder / "ct-sheet.html", image, READERS[:4], **sheet)


def write_mr(folder: Path) -> None:
    """Write the page of the hippocampus by twelve atlases on MR."""
    vote = ic.MajorityVoteFilter()
    vote.Execute(raters_of(DATA / "hippocampus" / "t011_atlas_labels.nrrd")[:12])
    image = sitk.ReadImage(str(DATA / "hippocampus" / "t011_image.nrrd"))
    ic.report(vote, folder / "mr.html", image, label_names={1: "anterior", 2: "posterior"})


def write_organs(folder: Path) -> None:
    """Write the page of twenty-one organs by two readers, without a background image."""
    people = ("oncologist", "radiographer")
    vote = ic.MajorityVoteFilter()
    images = [sitk.ReadImage(str(DATA / "headneck" / f"0522c0017_{who}.nrrd")) for who in people]
    vote.Execute(images)
    with (DATA / "headneck" / "labels.csv").open() as stream:
        names = {int(row["label"]): row["organ"] for row in csv.DictReader(stream)}
    ic.report(vote, folder / "organs.html", names=people, label_names=names)


def write_nodule(folder: Path) -> None:
    """Write the page of the sample nodule, without a background image."""
    consensus = ic.ConsensusFilter()
    consensus.Execute(ic.sample_case())
    ic.report(consensus, folder / "nodule.html", names=READERS[:4], label_names={1: "nodule"})


#: Centres and radii of eight structures, in voxels of a grid of 30 x 90 x 100.
ORGANS = {
    "Heart": ((14, 45, 55), (8, 14, 16)),
    "Lung_L": ((15, 45, 82), (12, 22, 11)),
    "Lung_R": ((15, 45, 22), (12, 22, 11)),
    "Esophagus": ((15, 68, 50), (13, 4, 4)),
    "SpinalCord": ((15, 80, 50), (14, 3, 3)),
    "Trachea": ((23, 60, 50), (6, 4, 5)),
    "GTVp": ((12, 30, 26), (4, 5, 5)),
    "Aorta": ((15, 66, 62), (12, 5, 5)),
}


def write_structures(folder: Path) -> None:
    """Write the page of eight structures by five readers, one with swapped lungs and one
    mirrored.
    """
    rng = np.random.default_rng(4)
    shape, files = (30, 90, 100), []
    places = np.indices(shape).T
    for number, reader in enumerate(READERS):
        structures = []
        for name, (middle, radii) in ORGANS.items():
            moved = np.add(middle, rng.normal(0, 0.4, 3))
            own = np.multiply(radii, 1 + rng.normal(0, 0.03, 3))
            inside = ((((places - moved) / own) ** 2).sum(axis=-1).T <= 1).astype(np.uint8)
            if number == 2 and name == "GTVp":
                inside = inside[:, :, ::-1]
            mask = sitk.GetImageFromArray(np.ascontiguousarray(inside))
            mask.SetSpacing((2.0, 2.0, 3.0))
            swapped = {"Lung_L": "Lung_R", "Lung_R": "Lung_L"} if number == 4 else {}
            structures.append(ic.Structure(swapped.get(name, name), mask))
        files.append(str(folder / f"{reader}.seg.nrrd"))
        ic.write_slicer_segmentation(structures, files[-1])
    output = str(folder / "structures.seg.nrrd")
    page = str(folder / "structures.html")
    words = ["fuse", *files, "--per-structure", "-o", output, "--report", page, "--overwrite", "-q"]
    main_of_the_command(words)


def write_study(folder: Path) -> None:
    """Write a batch of forty simulated cases with a damaged file and gross errors of two
    readers.
    """
    inputs = folder / "study-in"
    for number, case in enumerate(ic.sample_cohort(40, seed=3)):
        here = inputs / f"case-{number:02d}"
        here.mkdir(parents=True, exist_ok=True)
        sitk.WriteImage(case.image, str(here / "mr.nii.gz"))
        for reader, image in zip(READERS, case.raters, strict=True):
            mirrored = sitk.Flip(image, (True, False, False))
            if (number, reader) == (17, "chris"):
                image = sitk.GetImageFromArray(sitk.GetArrayFromImage(mirrored))
                image.CopyInformation(case.raters[0])
            if (number, reader) == (23, "emil"):
                image = 0 * image
            sitk.WriteImage(image, str(here / f"{reader}.nii.gz"))
    (inputs / "case-04" / "dora.nii.gz").unlink()
    (inputs / "case-09" / "ben.nii.gz").write_bytes(b"no image")
    cases = find_cases(f"{inputs}/{{case}}/{{rater}}.nii.gz", f"{inputs}/{{case}}/mr.nii.gz")
    look = {"label_names": {1: "organ"}}
    output = folder / "study-out"
    run_batch(cases, Plan("consensus", output, reports=True, overwrite=True, look=look))
    text = (output / "index.html").read_text(encoding="utf-8")
    # Remove paths on this machine from pictures for the documentation.
    text = text.replace(f"{folder.absolute()}/", "")
    (folder / "study.html").write_text(text, encoding="utf-8")


def write_notebook(folder: Path) -> None:
    """Write a notebook to be executed, and a page with the output of its cells."""
    cells = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "execution_count": None,
         "outputs": [], "source": text}
        for n, text in enumerate(NOTEBOOK)
    ]  # fmt: skip
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "notebook.ipynb").write_text(json.dumps(content))
    consensus = ic.ConsensusFilter()
    images = ic.sample_case()
    consensus.Execute(images)
    shown = (consensus, consensus.GetDiagnostics(), ic.agreement(images))
    boxes = "".join(f"<section>{ic.html_of(thing)}</section>" for thing in shown)
    text = f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Cells</title><main>{boxes}"
    (folder / "cells.html").write_text(text + "<h1>Cells</h1></main></html>")


#: Pages, and whether they need the data next to the repository.
PAGES: dict[Callable[[Path], None], bool] = {
    write_nodule: False,
    write_study: False,
    write_structures: False,
    write_notebook: False,
    write_ct: True,
    write_mr: True,
    write_organs: True,
}


def write_pages(folder: Path) -> None:
    """Write all pages for which data are available."""
    folder.mkdir(parents=True, exist_ok=True)
    for write, needs_data in PAGES.items():
        if needs_data and not DATA.is_dir():
            print(f"left out, {DATA.name} is absent: {write.__doc__}")
        else:
            write(folder)


#: Name in docs/, the picture from which it is cropped, and width, height and scale of the crop.
CUTS = (
    ("report-desktop.png", "ct-1280-light.png", 1280, 1500, 0.7),
    ("report-phone-dark.png", "nodule-390-dark.png", 390, 1700, 1.0),
    ("study-index.png", "study-1280-light.png", 1280, 1000, 0.7),
    ("study-raters.png", "study-1280-light.png", 1280, -1500, 0.6),
    ("notebook.png", "notebook-1280-light.png", 1280, 1500, 0.6),
)


def cut_pictures(folder: Path, names: Sequence[str] | None = None) -> None:
    """Crop the top (or the end) of each picture; reduce its size and number of colours."""
    from PIL import Image

    for name, source, width, height, scale in CUTS:
        if names is not None and name not in names:
            continue
        if not (folder / source).is_file():
            print(f"left out, {source} is absent")
            continue
        with Image.open(folder / source) as whole:
            top, bottom = (0, height) if height > 0 else (whole.height + height, whole.height)
            part = whole.convert("RGB").crop((0, top, width, min(bottom, whole.height)))
            sides = tuple(round(scale * side) for side in part.size)
            small = part.resize(sides, Image.Resampling.LANCZOS)
            small.quantize(256, kmeans=4).save(DOCS / name, optimize=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write pages, or crop their pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cut", action="store_true", help="cut the pictures in the folder")
    options = parser.parse_args(arguments)
    (cut_pictures if options.cut else write_pages)(options.folder)


if __name__ == "__main__":
    main()
