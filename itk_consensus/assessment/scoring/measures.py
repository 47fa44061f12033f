"""Definitions of all measures of a scoring study: title, unit, meaning, and direction.

Tables, pages and the glossary are generated from this list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Measure:
    """Definition of a measure, which is a column of the tables."""

    name: str
    title: str
    better: Better
    meaning: str
    unit: str = ""  #: "length", "volume" or none
    source: str = ""  #: Publication
    #: Whether it is a single value for all structures together.
    of_case: bool = False

    @property
    def score_if_absent(self) -> float:
        """Score of a structure drawn neither by the readers nor by the submission."""
        if self.name.startswith("curvas"):
            return math.nan
        return 1.0 if self.better == "higher" else 0.0


def _by_name(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


#: Measures of every study.
ALWAYS = _by_name(
    Measure(
        "dice",
        "Dice to the readers",
        "higher",
        "Dice coefficient with each reader, mean over the readers; 1 where both are empty.",
    ),
    Measure(
        "consensus_dice",
        "Dice to the readers' vote",
        "higher",
        "Dice coefficient with the majority of the readers; their ties are background.",
    ),
    Measure(
        "volume_bias",
        "volume bias",
        "neither",
        "Volume minus the mean volume of the readers.",
        "volume",
    ),
    Measure(
        "volume_error",
        "volume error",
        "lower",
        "Absolute difference between the volume and the mean volume of the readers.",
        "volume",
    ),
    Measure(
        "calibration_error",
        "calibration error",
        "lower",
        "Mean absolute difference between the probability and the share of readers over ten bins, "
        "where a reader marks it or the probability is at least one percent; a mask has "
        "probabilities of 0 and 1.",
    ),
)

#: Distances between contours; optional, since they are slower.
SURFACES = _by_name(
    Measure(
        "surface_dice",
        "surface Dice",
        "higher",
        "Share of both contours that lies within the tolerance of the other, mean over the "
        "readers; 1 where both are empty, 0 where one is.",
        source="Nikolov et al., J Med Internet Res 23:e26151, 2021",
    ),
    Measure(
        "hausdorff95",
        "95 % Hausdorff distance",
        "lower",
        "95th percentile of the distances between contours, the larger of both ways, mean over the "
        "readers; 0 where both are empty, the diagonal of the image where one is.",
        "length",
    ),
)

#: Detection of objects; optional, since it is slower.
LESIONS = _by_name(
    Measure(
        "lesion_f1",
        "lesion F1",
        "higher",
        "Detection F1 of connected components against those of the readers' vote, paired at an "
        "intersection over union of at least 0.1; 1 where neither has any.",
    ),
)

#: Rules of challenges and papers by name, with their columns.
RULES = {
    "soft-dice": _by_name(
        Measure(
            "soft_dice",
            "soft Dice",
            "higher",
            "2 sum(p s) / sum(p + s) of the probability p and the share s of readers.",
        )
    ),
    "qubiq": _by_name(
        Measure(
            "qubiq_dice",
            "QUBIQ Dice",
            "higher",
            "Dice of probability and share of readers, both thresholded at 0.1, 0.2, ... 0.9, mean "
            "over thresholds.",
            source="Menze et al., QUBIQ, MICCAI 2020",
        )
    ),
    "curvas2024": _by_name(
        Measure(
            "curvas_dice",
            "CURVAS Dice",
            "higher",
            "Dice over the voxels on which all readers agree; cases without such a voxel of the "
            "structure are left out.",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
        ),
        Measure(
            "curvas_confidence",
            "CURVAS confidence",
            "higher",
            "Mean of two means: the probability where all readers mark the structure, and 1 minus "
            "the probability where none does.",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
        ),
        Measure(
            "curvas_ece",
            "CURVAS calibration error",
            "lower",
            "Expected calibration error of the likeliest class, background included, over all "
            "voxels in 50 bins, against each reader, mean over readers.",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
            of_case=True,
        ),
        Measure(
            "curvas_crps",
            "CURVAS volume score",
            "lower",
            "Continuous ranked probability score of the volume (the sum of the probability) "
            "against the normal distribution of the readers' volumes, over their mean +- 3 "
            "standard deviations.",
            "volume",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
        ),
    ),
    "samples": _by_name(
        Measure(
            "energy_distance",
            "energy distance",
            "lower",
            "Generalised energy distance between samples and readers by 1 - IoU; a single "
            "segmentation is one sample.",
            source="Kohl et al., NeurIPS 2018",
        ),
        Measure(
            "dice_max",
            "D_max",
            "higher",
            "Dice of each reader with the closest sample, mean over readers.",
            source="Wu et al., CVPR 2024",
        ),
        Measure(
            "dice_match",
            "D_match",
            "higher",
            "Mean Dice of samples and readers under the best one-to-one matching.",
            source="Wu et al., CVPR 2024",
        ),
        Measure(
            "matched_iou",
            "matched IoU",
            "higher",
            "Mean intersection over union of samples and readers under the best one-to-one "
            "matching.",
            source="Kohl et al., arXiv:1905.13077, 2019",
        ),
    ),
}  # fmt: skip


def measures(rules: tuple[str, ...], *, surfaces: bool, lesions: bool) -> dict[str, Measure]:
    """Return the columns of a study, in order."""
    chosen = dict(ALWAYS)
    if surfaces:
        chosen |= SURFACES
    if lesions:
        chosen |= LESIONS
    for rule in rules:
        chosen |= RULES[rule]
    return chosen
