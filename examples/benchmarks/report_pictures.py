"""The two pictures of report pages that README and documentation show.

python examples/benchmarks/report_pictures.py FOLDER             writes the pages into a folder
node report_in_browser.mjs FOLDER/atlases.html FOLDER/nodule.html   takes pictures beside them
python examples/benchmarks/report_pictures.py FOLDER --cut       cuts these into docs/
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import itk_consensus as ic
from itk_consensus.simulation.atlas_phantoms import atlas_case

DOCS = Path(__file__).resolve().parents[2] / "docs"
ATLAS_SHAPE = (80, 96, 80)


def write_pages(folder: Path) -> None:
    """Five atlases under MultiLabelSTAPLE, with their target, and the sample nodule."""
    case = atlas_case(0, ATLAS_SHAPE, 12, 5)
    staple = ic.MultiLabelSTAPLEImageFilter()
    staple.Execute(case.maps)
    ic.report(staple, folder / "atlases.html", image=case.target)
    consensus = ic.ConsensusFilter()
    consensus.Execute(ic.sample_case())
    ic.report(consensus, folder / "nodule.html")


def cut_pictures(folder: Path) -> None:
    """The top of each picture, the desk's at seven tenths of its size."""
    from PIL import Image

    with Image.open(folder / "atlases-1280-light.png") as desk:
        top = desk.convert("RGB").crop((0, 0, 1280, 1560))
        small = top.resize((896, 1092), Image.Resampling.LANCZOS)
        small.quantize(256, kmeans=4).save(DOCS / "report-desktop.png", optimize=True)
    with Image.open(folder / "nodule-390-dark.png") as phone:
        top = phone.convert("RGB").crop((0, 0, 390, 1700))
        top.quantize(256, kmeans=4).save(DOCS / "report-phone-dark.png", optimize=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write pages, or cut what a browser made of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cut", action="store_true", help="cut the pictures in the folder")
    options = parser.parse_args(arguments)
    (cut_pictures if options.cut else write_pages)(options.folder)


if __name__ == "__main__":
    main()
