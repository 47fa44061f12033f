"""Agreement study: compute every measure of agreement for one case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.chance import (
    Ratings,
    Region,
    fleiss_kappa,
    krippendorff_alpha,
)
from itk_consensus.assessment.agreement.result import AgreementResult, LabelAgreement
from itk_consensus.assessment.agreement.surfaces import Surface, distances_between
from itk_consensus.core.array_types import length_unit
from itk_consensus.core.work import in_threads, report
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts

REGIONS: tuple[Region, ...] = ("grid", "union")


@dataclass(frozen=True)
class AgreementSettings:
    """Selection of the measures to compute."""

    surfaces: bool = True  #: Whether to compute distances between contours
    #: Distance in mm up to which contours are considered to agree, for the surface Dice
    tolerance: float = 1.0
    chance: bool = True  #: Whether to compute kappa and alpha


def study_agreement(
    patterns: DecisionPatterns,
    spacing: Sequence[float],
    raters: Sequence[str],
    settings: AgreementSettings,
    *,
    reference: str | None = None,
) -> AgreementResult:
    """Compare all pairs of raters, label by label, without the background 0.

    Parameters
    ----------
    patterns : DecisionPatterns
        Votes; must have codes if surfaces are requested.
    spacing : sequence of float
        Voxel size per array axis.
    raters : sequence of str
        Names; the last one is the consensus if `reference` is given.
    reference : str, optional
        Name of the consensus, which is compared with each rater but left out of kappa, alpha,
        conformity and every mean over pairs.
    """
    among_raters = patterns if reference is None else _without_last_rater(patterns)
    pairs = PairCounts.of(patterns)
    ratings = Ratings.of(among_raters) if settings.chance else None
    report(0.0)
    voxel, unit = voxel_volume(spacing)
    sizes, dice, jaccard = pairs.sizes, pairs.dice, pairs.jaccard
    # The counts of a pair do not depend on the other raters, so those of `patterns` can be reused.
    own_pairs = pairs.among(range(among_raters.number_of_raters))
    conformity, specific = own_pairs.conformity, own_pairs.specific_agreement

    def compare_label(index: int) -> LabelAgreement:
        by_region: dict[str, Ratings] = {}
        if ratings is not None:
            by_region = {r: ratings.against_the_rest(index, r) for r in REGIONS}
        agreement = LabelAgreement(
            int(patterns.labels[index]),
            among_raters.number_of_raters,
            sizes[index] * voxel,
            dice[index],
            jaccard[index],
            float(conformity[index]),
            float(specific[index]),
            {region: fleiss_kappa(rated) for region, rated in by_region.items()},
            {region: krippendorff_alpha(rated) for region, rated in by_region.items()},
            length_unit=length_unit(spacing),
        )
        if settings.surfaces:
            agreement = _add_surfaces(agreement, patterns, index, spacing, settings.tolerance)
        return agreement

    labels = list(in_threads(compare_label, np.flatnonzero(patterns.labels != 0).tolist()))
    return AgreementResult(
        tuple(raters),
        tuple(labels),
        math.nan if ratings is None else fleiss_kappa(ratings),
        math.nan if ratings is None else krippendorff_alpha(ratings),
        unit,
        settings.tolerance,
        reference,
        length_unit(spacing),
    )


def _without_last_rater(patterns: DecisionPatterns) -> DecisionPatterns:
    """Return the votes without the last rater; equal rows need not be merged, since counts
    add up.
    """
    return DecisionPatterns(patterns.patterns[:, :-1], patterns.counts, patterns.labels)


def _add_surfaces(
    agreement: LabelAgreement,
    patterns: DecisionPatterns,
    label: int,
    spacing: Sequence[float],
    tolerance: float,
) -> LabelAgreement:
    surfaces = _surfaces(patterns, label, len(spacing))
    compared = distances_between(surfaces, spacing, tolerance)
    shape = (4, len(surfaces), len(surfaces))
    found = np.empty(shape)
    for i, surface in enumerate(surfaces):
        empty = surface.places.size == 0
        found[:, i, i] = [np.nan] * 4 if empty else [0.0, 0.0, 0.0, 1.0]
    for (i, j), distances in compared.items():
        found[:, i, j] = found[:, j, i] = distances
    return replace(
        agreement,
        hausdorff=found[0],
        hausdorff95=found[1],
        mean_distance=found[2],
        surface_dice=found[3],
    )


def _surfaces(patterns: DecisionPatterns, label: int, axes: int) -> list[Surface]:
    """Return each rater's surface of a label, within the common bounding box."""
    said: NDArray[np.bool_] = patterns.patterns == label
    region = patterns.region(np.asarray(said.any(axis=1)), [0] * axes)
    cropped = patterns.crop(region)
    masks = (cropped.expand(np.ascontiguousarray(said[:, j])) for j in range(said.shape[1]))
    return [Surface.of(mask) for mask in masks]
