"""score_against_readers: score a probability map, or samples, against several readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.scoring import rules
from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_inputs import load_labels, require_label
from itk_consensus.images import convert
from itk_consensus.images.geometry import check_same_space

_OWNER = "score_against_readers"


@dataclass(frozen=True)
class PluralTruth:
    """Scores of a probability map, and of samples, against several readers."""

    threshold_dice: float  #: Dice with the share of readers, averaged over thresholds (QUBIQ)
    soft_dice: float  #: Dice with the share of readers, without any threshold
    calibration_error: float  #: Expected calibration error against the share of readers
    #: Generalised energy distance between samples and readers, based on 1 - IoU; this and all
    #: scores below are NaN if there are no samples.
    energy_distance: float = np.nan
    dice_max: float = np.nan  #: Dice of each reader with the most similar sample, mean over readers
    dice_match: float = np.nan  #: Mean Dice of samples and readers paired one to one
    matched_iou: float = np.nan  #: Mean intersection over union of the same pairs
    #: Continuous ranked probability score of the volume, mean over readers, in voxels.
    volume_crps: float = np.nan


def plural_truth(
    probability: NDArray[Any], readers: Sequence[Mask], samples: Sequence[Mask] = ()
) -> PluralTruth:
    """Compute all scores; those that require samples are NaN if there are none.

    Parameters
    ----------
    probability : ndarray
        Probability of the structure at each voxel.
    readers, samples : sequences of bool ndarrays
        Masks on the same grid.
    """
    share = np.mean(np.stack(readers), axis=0)
    scores = PluralTruth(
        rules.threshold_averaged_dice(probability, share),
        rules.soft_dice(probability, share),
        rules.plural_calibration_error(probability, share),
    )
    if not len(samples):
        return scores
    volumes = [np.count_nonzero(sample) for sample in samples]
    crps = [rules.crps(volumes, float(np.count_nonzero(reader))) for reader in readers]
    return replace(
        scores,
        energy_distance=rules.energy_distance(samples, readers),
        dice_max=rules.dice_max(samples, readers),
        dice_match=rules.dice_match(samples, readers),
        matched_iou=rules.matched_iou(samples, readers),
        volume_crps=float(np.mean(crps)),
    )


def score_against_readers(
    probability: Any,
    readers: Any,
    samples: Iterable[Any] = (),
    label: int = 1,
    *,
    inputs_are_labels: bool = False,
) -> PluralTruth:
    """Score how well a probability map predicts the segmentations of several readers.

    Parameters
    ----------
    probability : image
        Probability of the structure, from 0 to 1.
    readers : list of label images
        Segmentations on the same grid.
    samples : iterable of label images, optional
        Plausible segmentations, e.g. from SampleSegmentations, required for the energy distance,
        the matched scores and the score of volumes.
    label : int
        The structure's label in readers and samples.
    inputs_are_labels : bool
        Accept readers and samples as label images even if one looks like an intensity image.

    Returns
    -------
    PluralTruth
        Threshold-averaged Dice (QUBIQ), soft Dice and expected calibration error; with samples
        also the generalised energy distance, D_max, D_match, Hungarian-matched IoU and the CRPS of
        the volume in voxels.
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
        if name == "readers":
            require_label(label, stack, owner, "label")
        check_same_space(
            [loaded.geometry, views.geometry], owner=_OWNER, names=["probability", name]
        )
        return [np.asarray(view == label) for view in views.arrays if view is not None]

    drawn = list(samples)
    return plural_truth(values, masks(readers, "readers"), masks(drawn, "samples") if drawn else ())
