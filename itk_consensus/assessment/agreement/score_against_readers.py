"""score_against_readers: a probability, or samples, beside several readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.plural_truth import PluralTruth, plural_truth
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_inputs import load_labels, require_drawn
from itk_consensus.images import convert
from itk_consensus.images.geometry import check_same_space

_OWNER = "score_against_readers"


def score_against_readers(
    probability: Any,
    readers: Any,
    samples: Iterable[Any] = (),
    label: int = 1,
    *,
    inputs_are_labels: bool = False,
) -> PluralTruth:
    """How well a probability tells what several readers draw.

    Parameters
    ----------
    probability : image
        Of the structure, from 0 to 1.
    readers : list of label images
        On the same grid.
    samples : iterable of label images, optional
        Plausible contours, as of SampleSegmentations; without them there is no energy distance
        and no score of volumes.
    label : int
        The structure's label in readers and samples.
    inputs_are_labels : bool
        Take readers and samples for label images although one looks like an image.

    Returns
    -------
    PluralTruth
        Threshold-averaged Dice (QUBIQ), expected calibration error, generalised energy distance
        and the CRPS of the volume in voxels.
    """
    loaded = convert.load([probability], owner=f"{_OWNER}: probability")
    if len(loaded.arrays) != 1:
        raise InputError(
            f"probability must have one component, got {len(loaded.arrays)}", owner=_OWNER
        )
    (values,) = loaded.arrays
    if values is None or not (values.min() >= 0 and values.max() <= 1):
        raise InputError("probability must lie in [0, 1]", owner=_OWNER)

    def masks(images: Any, name: str) -> list[NDArray[np.bool_]]:
        owner = f"{_OWNER}: {name}"
        views, stack = load_labels(
            images, owner=owner, insist=inputs_are_labels, name="inputs_are_labels"
        )
        require_drawn(label, stack, owner, "label")
        check_same_space(
            [loaded.geometry, views.geometry], owner=_OWNER, names=["probability", name]
        )
        return [np.asarray(view == label) for view in views.arrays if view is not None]

    drawn = list(samples)
    return plural_truth(values, masks(readers, "readers"), masks(drawn, "samples") if drawn else ())
