"""plot: a matplotlib figure of raters and consensus in three planes through the largest dispute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import InputError
from itk_consensus.fusing.fusion_result import makes_results, result_of
from itk_consensus.images import convert
from itk_consensus.report.dispute_figures import PLANES
from itk_consensus.report.pictures import Window, figure_class, outline, rater_style

_INCHES = 3.4
_MARGIN_MM = 15.0
_CONSENSUS = {True: "#FFFFFF", False: "#111111"}  # colours on an image and on white paper


def plot(
    images: Sequence[Any],
    consensus: Any,
    image: Any = None,
    names: Sequence[str] | None = None,
    label: int | None = None,
) -> Any:
    """Draw the outlines of all raters and of the consensus at the place where raters differ most.

    Requires matplotlib: ``pip install 'itk-consensus[plot]'``.

    Parameters
    ----------
    images : sequence of images
        The raters' segmentations on one grid, 2D or 3D.
    consensus : image, FusionResult, or a filter after Execute
        Their fusion.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the outlines.
    names : sequence of str, optional
        Names of the raters.
    label : int, optional
        Label whose outlines are drawn; by default the union of all foreground labels.

    Returns
    -------
    matplotlib.figure.Figure
        Three planes of a volume through the most disputed place, or the 2D image. Notebooks display
        the figure; ``figure.savefig`` writes it.
    """
    figure_class()  # raises early if matplotlib is missing
    given, made = list(images), makes_results(consensus)
    loaded = convert.load(given if made else [*given, consensus], owner="plot")
    spacing = tuple(loaded.geometry.array_spacing)
    if len(spacing) not in (2, 3):
        raise InputError(f"images must be 2D or 3D, got {len(spacing)}D", owner="plot")
    arrays = [np.asarray(array) for array in loaded.arrays]
    if made:
        arrays.append(np.asarray(result_of(consensus).settled_labels()))
    *masks, fused = ((a != 0) if label is None else (a == label) for a in arrays)
    under = None if image is None else np.asarray(convert.load([image], owner="plot").arrays[0])
    if under is not None and under.shape != fused.shape:
        raise InputError(
            f"image must have the raters' grid {fused.shape[::-1]}, got {under.shape[::-1]}",
            owner="plot",
        )
    named = list(names) if names is not None else [f"reader {n}" for n in range(len(masks))]
    return _figure([*masks, fused], under, spacing, named)


def _figure(
    masks: Sequence[NDArray[np.bool_]],
    image: NDArray[Any] | None,
    spacing: Sequence[float],
    names: Sequence[str],
) -> Any:
    """Draw the figure; the last mask is the consensus."""
    solid = [mask.reshape((1,) * (3 - mask.ndim) + mask.shape) for mask in masks]
    under = None if image is None else image.reshape(solid[0].shape)
    steps = (1.0, *spacing)[-3:]
    place = _most_disputed(solid)
    planes = PLANES if len(spacing) == 3 else {"axial": PLANES["axial"]}
    figure = figure_class()(figsize=(_INCHES * len(planes), _INCHES + 0.7), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(planes)))
    for panel, (name, axes) in zip(panels, planes.items(), strict=True):
        hung = [mask.transpose(axes) for mask in solid]
        window = Window.around(
            np.any(hung, axis=0), [steps[axis] for axis in axes], margin_mm=_MARGIN_MM
        )
        index = place[axes[0]]
        if under is not None:
            cut = window.cut(under.transpose(axes)[index])
            panel.imshow(cut, cmap="gray", extent=window.extent, interpolation="nearest")
        for number, mask in enumerate(hung[:-1]):
            color, dashes = rater_style(number)
            outline(panel, window, mask[index], color, dashes)
        outline(panel, window, hung[-1][index], _CONSENSUS[under is not None], width=2.2)
        left, right, bottom, top = window.extent
        # In coronal and sagittal slices, the head is at the top.
        ends = (bottom, top) if name == "axial" else (top, bottom)
        panel.set(xlim=(left, right), ylim=ends, aspect="equal", xticks=[], yticks=[])
        if under is not None:
            panel.set_facecolor("#101317")
        panel.set_title(f"{name} slice {index}" if len(planes) > 1 else "", fontsize=9)
    _legend(figure, names, under is not None)
    return figure


def _most_disputed(masks: Sequence[NDArray[np.bool_]]) -> tuple[int, ...]:
    """Return a central voxel of the most disputed region or, if nothing is disputed, of the
    masks.
    """
    share = np.mean(masks[:-1], axis=0)
    dissent = np.minimum(share, 1 - share)
    weight = dissent if dissent.any() else np.any(masks, axis=0).astype(float)
    index = int(weight.sum(axis=(1, 2)).argmax())
    plane = weight[index]
    where = np.argwhere(plane == plane.max())
    middle = where[np.abs(where - where.mean(axis=0)).sum(axis=1).argmin()]
    return (index, *middle.tolist())


def _legend(figure: Any, names: Sequence[str], on_image: bool) -> None:
    from matplotlib.lines import Line2D

    styles = [rater_style(number) for number in range(len(names))]
    lines = [
        Line2D([], [], color=color, linestyle=dashes, linewidth=1.6, label=name)
        for name, (color, dashes) in zip(names, styles, strict=True)
    ]
    edge = "#888888" if on_image else _CONSENSUS[False]
    lines.append(Line2D([], [], color=edge, linewidth=2.6, label="consensus"))
    figure.legend(handles=lines, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
