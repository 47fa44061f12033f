"""The README's picture: a nodule, its four readers, the consensus of three and its band.

The band comes from a calibration on 97 other nodules (examples/benchmarks/lidc_band.json, made by
lidc_bands.py): in nine of ten nodules it holds a reader who had no part in the consensus.

    python examples/benchmarks/band_picture.py [--nodule LIDC-IDRI-0023] [--output band.png]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import ConsensusWarning
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.filters.majority_vote import MajorityVoteFilter
from itk_consensus.images import convert
from itk_consensus.report.band_picture import draw_band
from itk_consensus.samples import SAMPLE_NODULES, sample_case

RECORD = Path(__file__).with_name("lidc_band.json")
HELD_OUT = 1
NODULE = "LIDC-IDRI-0023"


def draw(nodule: str, output: Path) -> str:
    """Draw one nodule and return what can be said about it."""
    readers = sample_case(nodule)
    others = [image for index, image in enumerate(readers) if index != HELD_OUT]
    vote = MajorityVoteFilter()
    consensus = vote.Execute(others)
    band_filter = ConformalBandFilter.Load(RECORD)
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always", ConsensusWarning)
        band = band_filter.Execute(vote.GetProbabilityImage(1), others)
    names = [
        f"reader {index + 1}" + (", who had no part in the consensus" if index == HELD_OUT else "")
        for index in range(len(readers))
    ]
    draw_band(
        output,
        {name: _array(image) != 0 for name, image in zip(names, readers, strict=True)},
        _array(consensus) != 0,
        _array(band),
        convert.load(consensus, owner="band_picture").geometry.array_spacing,
        f"{nodule}: consensus of three readers and its band "
        f"({band_filter.BandThickness:.1f} mm thick on average)",
        emphasised=names[HELD_OUT],
    )
    return "\n".join([band_filter.GetGuarantee(), *(str(doubt.message) for doubt in doubts)])


def _array(image: Any) -> NDArray[Any]:
    return np.asarray(convert.load(image, owner="band_picture").arrays[0])


def main() -> None:
    """Draw, and say what is promised."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodule", choices=SAMPLE_NODULES, default=NODULE)
    parser.add_argument("--output", type=Path, default=Path("band.png"))
    arguments = parser.parse_args()
    print(draw(arguments.nodule, arguments.output))


if __name__ == "__main__":
    main()
