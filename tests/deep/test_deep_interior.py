"""A network in the interior, another fuser at the contour: the paper's section 4.5."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from cohort_lists import image_list, label_lists
from scipy.ndimage import distance_transform_edt

from itk_consensus import HybridFusionFilter, MajorityVoteFilter, SIMPLEFilter
from itk_consensus.core.errors import NotExecutedError, ParameterError
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import Cohort


def one_case(cohort: Cohort) -> tuple[np.ndarray, list[np.ndarray]]:
    return image_list(cohort)[0], label_lists(cohort)[0]


def band_of(labels: np.ndarray, width: float) -> np.ndarray:
    band = np.zeros(labels.shape, bool)
    for label in np.unique(labels):
        inside = labels == label
        band |= inside & (distance_transform_edt(inside) <= width)
    return band


def test_a_network_inside_and_simple_at_the_boundary(
    trained: DeepConsensusFilter, cohort: Cohort
) -> None:
    image, masks = one_case(cohort)
    deep, simple = copy.copy(trained), SIMPLEFilter(TieRule="background")
    hybrid = HybridFusionFilter(
        InteriorFilter=trained, Image=image, BoundaryFilter=simple, BandWidth=2.0
    )
    hybrid.Execute(masks)
    deep.Execute(image, masks)
    simple.Execute(masks)
    vote = MajorityVoteFilter(TieRule="background").Execute(masks)
    band = band_of(vote, 2.0)
    assert band.any()
    assert not band.all()
    for output in ("GetLabelImage", "GetProbabilityImage"):
        wanted = np.where(band, getattr(simple, output)(), getattr(deep, output)())
        np.testing.assert_array_equal(getattr(hybrid, output)(), wanted)
    inside = hybrid.GetInteriorResult()
    np.testing.assert_array_equal(inside.label_image(), deep.GetLabelImage())
    assert trained.GetNumberOfThreads() == 1
    with pytest.raises(NotExecutedError):
        trained.GetLabelImage()


def test_the_hybrids_mask_and_missing_label_hold_for_the_network(
    trained: DeepConsensusFilter, cohort: Cohort
) -> None:
    image, masks = one_case(cohort)
    mask = np.zeros(image.shape, np.uint8)
    mask[3:-3, 3:-3] = 1
    gappy = [m.copy() for m in masks]
    gappy[0][:8] = 9
    hybrid = HybridFusionFilter(
        InteriorFilter=trained, Image=image, MaskImage=mask, MissingLabel=9, BandWidth=1.0
    )
    fused = hybrid.Execute(gappy)
    assert not fused[mask == 0].any()
    deep = copy.copy(trained)
    deep.SetMissingLabel(9)
    deep.Execute(image, gappy)
    vote = MajorityVoteFilter(MissingLabel=9, MaskImage=mask).Execute(gappy)
    away = ~band_of(vote, 1.0) & (mask != 0)
    np.testing.assert_array_equal(fused[away], deep.GetLabelImage()[away])
    assert trained.GetMissingLabel() is None


def test_a_network_without_its_image_is_refused(trained: DeepConsensusFilter, cohort) -> None:
    _, masks = one_case(cohort)
    with pytest.raises(ParameterError, match="Image must be set: DeepConsensusFilter reads it"):
        HybridFusionFilter(InteriorFilter=trained).Execute(masks)
    with pytest.raises(ParameterError, match="BoundaryFilter must be a label fusion filter"):
        HybridFusionFilter(BoundaryFilter=trained)
