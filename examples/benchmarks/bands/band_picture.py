"""Draw the README's picture: a nodule, its four readers, the consensus of three, and its band.

The band is calibrated on 97 other nodules (lidc_band.json, made by lidc_bands.py): in nine out of
ten nodules it contains the contour of a reader who was left out of the consensus.

    python -m examples.benchmarks.bands.band_picture [--nodule LIDC-IDRI-0023] [--output band.png]
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.scores import AMBIGUOUS, FOREGROUND
from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.images import convert
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.report.pictures import (
    PANEL_INCHES,
    RATER_COLORS,
    TEXT_COLOR,
    Window,
    draw_scale_bar,
    figure_class,
    outline,
    save_figure,
    slices_to_show,
)
from itk_consensus.samples import SAMPLE_NODULES, sample_case

RECORD = Path(__file__).with_name("lidc_band.json")
HELD_OUT = 1
NODULE = "LIDC-IDRI-0023"

_CONSENSUS_COLOR = "#111111"
_FINE, _BOLD = 1.0, 2.2

# Colours of background, foreground, ambiguous voxels and voxels with empty sets.
_COLORS = np.array(
    [[255, 255, 255], [201, 205, 210], [250, 236, 160], [250, 236, 160]], dtype=np.uint8
)


def draw(nodule: str, output: Path) -> str:
    """Draw one nodule, and return a description of the picture."""
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


def draw_band(
    path: Path,
    raters: Mapping[str, Mask],
    consensus: Mask,
    band: NDArray[Any],
    spacing: Sequence[float],
    title: str,
    emphasised: str | None = None,
) -> None:
    """Draw certain and ambiguous voxels, and all contours.

    Parameters
    ----------
    path : Path
        PNG file, replaced atomically.
    raters : mapping of str to (Z, Y, X) ndarray of bool
        Contours by name.
    consensus : (Z, Y, X) ndarray of bool
    band : (Z, Y, X) ndarray of uint8
        Result of ConformalBandFilter.
    spacing : (3,) sequence of float
        Voxel size in mm, in the order of the axes.
    emphasised : str, optional
        The rater drawn with a bold line, e.g. one who was left out of the consensus.
    """
    window = Window.around((band != 0) | np.any(list(raters.values()), axis=0), spacing)
    slices = slices_to_show(consensus)
    columns = (len(slices) + 1) // 2 if len(slices) > 4 else len(slices)
    rows = -(-len(slices) // columns)
    size = (1.6 * PANEL_INCHES * columns, 1.6 * PANEL_INCHES * rows * window.aspect + 1.1)
    figure = figure_class()(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    styles = {
        name: (color, _BOLD if name == emphasised else _FINE)
        for name, color in zip(raters, itertools.cycle(RATER_COLORS), strict=False)
    }
    for panel in panels:
        panel.set_axis_off()
    for panel, index in zip(panels, slices, strict=False):
        panel.set_title(f"slice {index}", fontsize=8, color=TEXT_COLOR)
        panel.imshow(_COLORS[window.cut(band[index])], extent=window.extent)
        outline(panel, window, consensus[index], _CONSENSUS_COLOR, width=_BOLD)
        for name, mask in raters.items():
            color, width = styles[name]
            outline(panel, window, mask[index], color, width=width)
    draw_scale_bar(panels[0], window)
    figure.suptitle(title, fontsize=10)
    _draw_legend(figure, styles)
    save_figure(figure, path)


def _draw_legend(figure: Any, styles: Mapping[str, tuple[str, float]]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], color=color, linewidth=width, label=name)
        for name, (color, width) in styles.items()
    ]
    handles += [
        Line2D([], [], color=_CONSENSUS_COLOR, linewidth=_BOLD, label="consensus"),
        Patch(facecolor=_COLORS[FOREGROUND] / 255, label="foreground"),
        Patch(facecolor=_COLORS[AMBIGUOUS] / 255, label="ambiguous"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)


def main() -> None:
    """Draw the picture, and print the guarantee."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodule", choices=SAMPLE_NODULES, default=NODULE)
    parser.add_argument("--output", type=Path, default=Path("band.png"))
    arguments = parser.parse_args()
    print(draw(arguments.nodule, arguments.output))


if __name__ == "__main__":
    main()
