"""Writing to a value that a filter returned does not change the filter."""

from __future__ import annotations

import copy
import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import contract
import numpy as np
import pytest
from cohorts import cohort, columns

from itk_consensus import (
    AgreementFilter,
    CohortSTAPLEFilter,
    ConformalBandFilter,
    ConformalMarginFilter,
    CutCalibrationFilter,
    HybridFusionFilter,
    IntensityRefinementFilter,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
    MultiLabelSTAPLEImageFilter,
    TemperatureScalingFilter,
)
from itk_consensus.calibration.calibration_filter import CalibrationFilter
from itk_consensus.core.errors import ConsensusError
from itk_consensus.core.results import Result
from itk_consensus.methods.registry import FUSERS

#: Arguments of getters that need them.
ARGUMENTS = {"rater": 0, "observed": 0, "true": 1, "label": 1, "level": 0}


def members(value: Any) -> list[Any]:
    """Return the values that a container or an object directly contains."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return []


def scribble(value: Any) -> None:
    """Overwrite all writable parts of a value."""
    for member in members(value):
        scribble(member)
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value.fill(77)
    elif isinstance(value, (dict, list)):
        value.clear()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if not members(one):
        return bool(one == other) or one != one
    return len(members(one)) == len(members(other)) and all(
        same(*pair) for pair in zip(members(one), members(other), strict=True)
    )


def getters(filter_: Any) -> dict[str, Any]:
    """Yield every Get method, with its arguments."""
    found = {}
    for name, method in inspect.getmembers(filter_, callable):
        if name.startswith("Get") and not name.startswith("GetGlobal"):
            asked = dict(ARGUMENTS)
            if hasattr(filter_, "GetCandidateNames"):
                asked["name"] = filter_.GetCandidateNames()[0]
            wanted = [
                parameter.name
                for parameter in inspect.signature(method).parameters.values()
                if parameter.default is parameter.empty
            ]
            found[name] = lambda m=method, w=wanted, a=asked: m(**{key: a[key] for key in w})
    return found


def executed(kind: Any) -> Any:
    """Return a filter after Execute; the images that some filters need are noise."""
    images = contract.raters((8, 9, 10))
    rng = np.random.default_rng(0)
    looked_at = {
        "Image": rng.standard_normal((8, 9, 10)).astype("f4"),
        "AtlasImages": [rng.standard_normal((8, 9, 10)).astype("f4") for _ in images],
    }
    # HybridFusion takes an image only for a network in its interior.
    takes_images = kind is not HybridFusionFilter
    known = {n: value for n, value in looked_at.items() if hasattr(kind, n) and takes_images}
    filter_ = kind(**known)
    if issubclass(kind, CalibrationFilter):
        probabilities, references, raters = columns(cohort(24))
        filter_.Calibrate(probabilities, references, raters)
        if kind in (ConformalBandFilter, ConformalMarginFilter):
            filter_.Execute(probabilities[0], raters[0])
    else:
        filter_.Execute([images, images] if kind is CohortSTAPLEFilter else images)
    return filter_


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
@pytest.mark.parametrize(
    "kind",
    [
        *FUSERS,
        AgreementFilter,
        CohortSTAPLEFilter,
        ConformalBandFilter,
        ConformalMarginFilter,
        CutCalibrationFilter,
        IntensityRefinementFilter,
        JointLabelFusionFilter,
        LocallyWeightedVoteFilter,
        TemperatureScalingFilter,
    ],
    ids=lambda kind: kind.__name__,
)
def test_writing_into_what_was_handed_out_changes_nothing(kind: Any) -> None:
    filter_ = executed(kind)
    asked = {}
    for name, get in getters(filter_).items():
        try:
            if isinstance(get(), Result):  # a value that is shared, not copied
                continue
            asked[name] = copy.deepcopy(get())
        except ConsensusError:  # there is no such field, e.g. with more labels
            continue
    for name in asked.keys() - {"GetImage", "GetAtlasImages"}:  # these objects belong to the caller
        scribble(getters(filter_)[name]())
    changed = [
        name
        for name, get in getters(filter_).items()
        if name in asked and not same(get(), asked[name])
    ]
    assert not changed


def test_writing_into_confusion_tables_changes_no_other_answer() -> None:
    filter_ = MultiLabelSTAPLEImageFilter()
    filter_.Execute(contract.raters((8, 9, 10)))
    before, printed = str(filter_.GetDiagnostics()), filter_.GetConfusionMatrix(0)
    filter_.GetConfusionTables()[:] = 0
    assert str(filter_.GetDiagnostics()) == before
    assert filter_.GetConfusionMatrix(0) == printed


def test_a_table_among_the_parameters_is_handed_out_as_a_copy() -> None:
    filter_ = MultiLabelSTAPLEImageFilter(PriorProbabilities={0: 0.75, 1: 0.25})
    filter_.GetPriorProbabilities().clear()
    assert filter_.GetPriorProbabilities() == {0: 0.75, 1: 0.25}
