"""The measures of a study of submissions: what each is called, its unit, and which way is better.

Tables, pages and the glossary read this list; what a measure means is said here and nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Measure:
    """One column of the tables."""

    name: str
    title: str
    better: Better
    meaning: str
    unit: str = ""  #: Of lengths and volumes, where images have a spacing
    source: str = ""
    #: Whether it is one number for all structures together.
    of_case: bool = False

    @property
    def of_nothing(self) -> float:
        """The score of a structure that neither readers nor the submission drew in a case."""
        if self.name.startswith("curvas"):
            return math.nan
        return 1.0 if self.better == "higher" else 0.0


def _all(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


#: What every study has.
ALWAYS = _all(
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
        "Volume less the mean volume of the readers.",
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
        "where a reader marks it or the probability is at least .01; a mask has probabilities of 0 "
        "and 1.",
    ),
)

#: Distances between contours, which take longer.
SURFACES = _all(
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

#: Objects found, which take longer.
LESIONS = _all(
    Measure(
        "lesion_f1",
        "lesion F1",
        "higher",
        "F1 of connected pieces beside those of the readers' vote, paired from an intersection "
        "over union of .1 on; 1 where there is none in either.",
    ),
)

#: Rules of challenges and papers, by name, and the columns each of them gives.
RULES = {
    "soft-dice": _all(
        Measure(
            "soft_dice",
            "soft Dice",
            "higher",
            "2 sum(p s) / sum(p + s) of the probability p and the share s of readers.",
        )
    ),
    "qubiq": _all(
        Measure(
            "qubiq_dice",
            "QUBIQ Dice",
            "higher",
            "Dice of probability and share of readers, both cut at .1, .2, ... .9, mean over cuts.",
            source="Menze et al., QUBIQ, MICCAI 2020",
        )
    ),
    "curvas2024": _all(
        Measure(
            "curvas_dice",
            "CURVAS Dice",
            "higher",
            "Dice on voxels about which all readers agree; a case where they agree about none of "
            "the structure is left out.",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
        ),
        Measure(
            "curvas_confidence",
            "CURVAS confidence",
            "higher",
            "Mean of two means: the probability where all readers mark the structure, and one "
            "minus it where none does.",
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
            "Continuous ranked probability score of the volume (the sum of the probability) beside "
            "the normal distribution of the readers' volumes, over their mean +- 3 standard "
            "deviations.",
            "volume",
            source="Riera-Marin et al., CURVAS, MICCAI 2024, arXiv:2505.08685",
        ),
    ),
    "samples": _all(
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
            "Mean Dice of samples and readers paired one to one in the best way.",
            source="Wu et al., CVPR 2024",
        ),
        Measure(
            "matched_iou",
            "matched IoU",
            "higher",
            "Mean intersection over union of samples and readers paired one to one in the best "
            "way.",
            source="Kohl et al., arXiv:1905.13077, 2019",
        ),
    ),
}  # fmt: skip


def measures(rules: tuple[str, ...], *, surfaces: bool, lesions: bool) -> dict[str, Measure]:
    """The columns of a study, in order."""
    chosen = dict(ALWAYS)
    if surfaces:
        chosen |= SURFACES
    if lesions:
        chosen |= LESIONS
    for rule in rules:
        chosen |= RULES[rule]
    return chosen
