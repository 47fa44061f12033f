"""Random inputs and parameters for every fuser, and properties that must always hold."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent))  # pytest does the same for test files
sys.path.append(str(Path(__file__).parent / "filters"))

import contract
from contract import FAMILIES, GUESTS, bad_values, capped, good_value, without_chance

from itk_consensus import (
    IntensityRefinementFilter,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
)
from itk_consensus.core.constraints import Integer, Kind, OneOf, Real, Reals
from itk_consensus.core.errors import ConsensusError, ConsensusWarning, InputError
from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.fusing.label_fusion import AUTOMATIC_LABEL, LabelFusionFilter
from itk_consensus.methods.registry import FUSERS

#: Fusers, and similar filters that require images.
FUZZED = (
    *FUSERS,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
    IntensityRefinementFilter,
)
#: Parameters that set the amount of work; limited to keep the run time low.
FEW = {"NumberOfInitializations": 6, "NumberOfSamples": 20, "BurnIn": 20}
#: Images that some filters require.
LOOKED_AT = {"Image", "AtlasImages"}
#: Parameters that are set by the case itself, or that have no effect on the result.
NOT_DRAWN = {"MaskImage", "RaterMasks", "MissingLabel", "NumberOfThreads", "Debug"} | LOOKED_AT
ITERATIONS = 60
#: Ways to copy a filter.
COPIES = (copy.copy, copy.deepcopy, lambda filter_: pickle.loads(pickle.dumps(filter_)))
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64", "f4", "f8")
#: Types supported by each library; itk also turns an array of one row into an image of one column.
DTYPES_OF = {
    "itk": tuple(name for name in DTYPES if name not in ("int8", "int64")),
    **dict.fromkeys(GUESTS, ("uint8", "int16", "int32", "f4", "f8")),
}


def make(array: np.ndarray, family: str) -> Any:
    """Create an image of a family, or of a supported library."""
    return (contract.make_guest if family in GUESTS else contract.make)(array, family)


def to_array(image: Any) -> np.ndarray:
    """Return the voxels as an array."""
    is_known = isinstance(image, np.ndarray) or hasattr(image, "GetSpacing")
    return contract.to_array(image) if is_known else contract.guest_array(image)


@dataclass
class Case:
    """One call of a fuser.

    Attributes
    ----------
    fuser : type of LabelFusionFilter
    raters : list of ndarray or None
    family : str
    given : dict
        MaskImage, RaterMasks, MissingLabel and the images seen by the raters, as arrays.
    drawn : dict
        Other parameters.
    """

    fuser: type[LabelFusionFilter]
    raters: list[Any]
    family: str
    given: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)

    def filter(self, **more: Any) -> LabelFusionFilter:
        """Return a filter with the case's parameters."""
        return self.fuser(**self._as_family(self.given), **(self._as_family(self.drawn) | more))

    def images(self) -> list[Any]:
        """Return the raters in the case's family."""
        return [None if array is None else make(array, self.family) for array in self.raters]

    def _as_family(self, parameters: dict[str, Any]) -> dict[str, Any]:
        def convert(value: Any) -> Any:
            if isinstance(value, np.ndarray) and value.ndim > 1:
                return make(value, self.family)
            if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
                return tuple(convert(v) for v in value)
            return value

        return {name: convert(value) for name, value in parameters.items()}

    def __str__(self) -> str:
        shape = next(a.shape for a in self.raters if a is not None)
        kinds = ",".join("None" if a is None else str(a.dtype) for a in self.raters)
        given = {n: v if np.isscalar(v) else "..." for n, v in self.given.items()}
        drawn = {n: "..." if isinstance(v, np.ndarray) else v for n, v in self.drawn.items()}
        return f"{self.fuser.__name__} {self.family} {shape} [{kinds}] {given} {drawn}"


# -- drawing -----------------------------------------------------------------------------------


def draw_case(rng: np.random.Generator, *, large: bool = False) -> Case:
    """Draw a case of any fuser; a large one has about 100,000 voxels."""
    fuser = FUZZED[rng.integers(len(FUZZED))]
    family = str(rng.choice(FAMILIES if rng.random() < 0.8 else GUESTS))
    raters = _draw_raters(rng, family, large)
    if rng.random() < (0.3 if fuser.soft_inputs else 0.05):
        raters = [_softened(rng, array) for array in raters]
    case = Case(fuser, raters, family, _draw_given(rng, raters))
    case.given |= _draw_looked_at(rng, fuser, raters)
    parameters = [p for p in parameters_of(fuser) if p.name not in NOT_DRAWN]
    there = [array for array in raters if array is not None]
    for index in rng.permutation(len(parameters))[: rng.integers(0, 4)]:
        parameter = parameters[index]
        case.drawn[parameter.name] = _draw_value(rng, parameter, there)
    case.drawn = capped(fuser, ITERATIONS) | case.drawn
    stops = [case.drawn.get(name, 1.0) for name in ("Tolerance", "TerminationUpdateThreshold")]
    stops = [value for value in stops if isinstance(value, float)]
    if any(0 < value < 1e-7 for value in stops):
        # With independent raters, convergence may take millions of iterations.
        case.drawn |= capped(fuser, ITERATIONS)
    elif 0.0 in stops:
        # Even without a tolerance or a limit on iterations, a run must terminate.
        case.drawn |= capped(fuser, 2**32 - 1)
    return case


def _draw_raters(rng: np.random.Generator, family: str, large: bool) -> list[Any]:
    dimension = 3 if family in GUESTS else int(rng.integers(2, 5))
    least, dtypes = 1 if family in FAMILIES[::2] else 2, DTYPES_OF.get(family, DTYPES)
    shape = tuple(int(n) for n in rng.integers(least, {2: 18, 3: 9, 4: 6}[dimension], dimension))
    if large:
        shape = {2: (310, 320), 3: (40, 50, 50), 4: (2, 36, 37, 38)}[dimension]
    number, labels = int(rng.integers(1, 7)), int(rng.choice([2, 2, 2, 3, 5]))
    values = np.arange(labels)
    if rng.random() < 0.2:
        values = np.sort(rng.choice(120, labels, replace=False))
    kind = rng.choice(["noise", "object", "object", "identical", "empty", "constant"])
    truth = np.zeros(shape, int)
    truth[tuple(slice(n // 4, n // 4 + (n + 1) // 2) for n in shape)] = labels - 1
    raters: list[Any] = []
    for _ in range(number):
        if kind == "noise":
            indices = rng.integers(0, labels, shape)
        else:
            wrong = rng.random(shape) < (0.0 if kind == "identical" else rng.uniform(0, 0.3))
            indices = np.where(wrong, rng.integers(0, labels, shape), truth)
        indices = {"empty": np.zeros_like(truth), "constant": np.full_like(truth, labels - 1)}.get(
            str(kind), indices
        )
        raters.append(values[indices])
    common = rng.choice(dtypes)
    raters = [array.astype(common) for array in raters]
    if rng.random() < 0.05:
        raters[0] = (
            raters[0] + 0.5 if rng.random() < 0.5 else np.where(wrong_half(rng, shape), np.nan, 1.0)
        )
    if number > 1 and rng.random() < 0.15:
        raters[rng.integers(number)] = None
    return raters


def _softened(rng: np.random.Generator, array: Any) -> Any:
    """Return probabilities that are usually highest for the rater's label; some are 0 or 1."""
    if array is None:
        return None
    sure = rng.choice([0.5, 0.6, 0.9, 1.0], array.shape)
    return np.where(array != array.flat[0], sure, 1 - sure).astype(rng.choice(["f4", "f8"]))


def _draw_looked_at(
    rng: np.random.Generator, fuser: type[LabelFusionFilter], raters: list[Any]
) -> dict[str, Any]:
    """Draw the images that a filter requires, sometimes invalid or missing."""
    shape = next(array.shape for array in raters if array is not None)
    names = LOOKED_AT & {parameter.name for parameter in parameters_of(fuser)}
    if not names or rng.random() < 0.05:
        return {}
    kind = rng.choice(["noise", "noise", "flat", "huge", "nan"], p=[0.4, 0.4, 0.1, 0.05, 0.05])
    scale = {"noise": 1.0, "flat": 0.0, "huge": 1e30, "nan": np.nan}[str(kind)]
    image = (scale * rng.standard_normal(shape)).astype("f4")
    if "AtlasImages" not in names:
        return {"Image": image}
    others = [image + rng.standard_normal(shape).astype("f4") for _ in raters]
    return {"Image": image, "AtlasImages": tuple(others)}


def wrong_half(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Return a random half of the voxels."""
    return rng.random(shape) < 0.5


def _draw_given(rng: np.random.Generator, raters: list[Any]) -> dict[str, Any]:
    shape = next(array.shape for array in raters if array is not None)
    given: dict[str, Any] = {}
    if rng.random() < 0.25:
        given["MaskImage"] = (rng.random(shape) < rng.uniform(0, 1)).astype(np.uint8)
    if rng.random() < 0.15:
        masks = [wrong_half(rng, shape).astype(np.uint8) for _ in raters]
        given["RaterMasks"] = tuple(None if rng.random() < 0.3 else mask for mask in masks)
    if rng.random() < 0.15:
        given["MissingLabel"] = int(rng.integers(-1, 4))
    return given


def _draw_value(rng: np.random.Generator, parameter: Parameter[Any], images: list[Any]) -> Any:
    chance = rng.random()
    if chance < 0.15:
        bad = bad_values(parameter.kind)
        return bad[rng.integers(len(bad))] if bad else good_value(parameter, images)
    kind = parameter.kind
    if isinstance(kind, OneOf):
        kind = kind.kinds[rng.integers(len(kind.kinds))]
    number = _draw_number(rng, kind, FEW.get(parameter.name), chance < 0.4)
    if number is not None:
        return number
    try:
        return good_value(parameter, images)
    except (StopIteration, InputError):  # e.g. a table of lesions is requested for soft inputs
        return parameter.default


def _draw_number(rng: np.random.Generator, kind: Kind[Any], most: int | None, at_edge: bool) -> Any:
    """Draw a number that the kind accepts, often at its limits; None for a kind without numbers."""
    if isinstance(kind, Integer):
        low = 0 if kind.low is None else kind.low
        high = min(most or 2**32, 2**32 if kind.high is None else kind.high)
        return int(rng.choice([low, high])) if at_edge else low + int((high - low) ** rng.random())
    if isinstance(kind, Real):
        return _draw_real(rng, kind, at_edge)
    if isinstance(kind, Reals):
        length = kind.length or int(rng.integers(1, 6))
        values = [_draw_real(rng, Real(kind.low, kind.high), at_edge) for _ in range(length)]
        return tuple(sorted(values)) if kind.increasing else tuple(values)
    return None


def _draw_real(rng: np.random.Generator, kind: Real, at_edge: bool) -> float:
    low = -1e3 if kind.low is None else kind.low
    high = 1e15 if kind.high is None else kind.high
    if at_edge and not kind.exclusive:
        return float(rng.choice([low, high]))
    if kind.high is not None and kind.high <= 1.0:
        return float(rng.uniform(low, high))
    return float(min(high, low + 10 ** rng.uniform(-12, 15 if at_edge else 3)))


# -- required properties -------------------------------------------------------------------------


def check_case(case: Case, rng: np.random.Generator) -> str:
    """Run a case and check all required properties; return "refused" or "answered".

    Raises
    ------
    AssertionError
        A required property does not hold.
    Exception
        Anything that is not one of the package's own errors.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConsensusWarning)
        # An error while SWIG creates its types would terminate the process.
        warnings.filterwarnings("ignore", "builtin type", DeprecationWarning)
        try:
            filter_ = case.filter()
            images = case.images()
            output = filter_.Execute(images)
        except ConsensusError:
            return "refused"
        for image, array in zip(images, case.raters, strict=True):
            assert array is None or np.array_equal(to_array(image), array, equal_nan=True)
        _check_outputs(case, filter_)
        if rng.random() < 0.2:
            _check_threads(case, to_array(output))
        if rng.random() < 0.2:
            _check_copy(filter_, case, to_array(output), rng)
        if not set(case.drawn) - set(capped(case.fuser, 1)):
            _check_laws(case, rng)
    return "answered"


def _check_outputs(case: Case, filter_: LabelFusionFilter) -> None:
    labels = to_array(filter_.GetLabelImage())
    undecided = getattr(filter_, "LabelForUndecidedPixels", AUTOMATIC_LABEL)
    if undecided == AUTOMATIC_LABEL:
        undecided = max(filter_.GetLabels()) + 1
    known = {*filter_.GetLabels(), 0, undecided}
    assert set(np.unique(labels).tolist()) <= known, "labels that no rater used"
    total = np.zeros(labels.shape)
    for label in filter_.GetLabels():  # one at a time, since noise may have thousands of instances
        share = to_array(filter_.GetProbabilityImage(label))
        assert np.isfinite(share).all(), "a probability is not finite"
        assert share.min() >= 0, "a probability is negative"
        assert share.max() <= 1 + 1e-5, "a probability is above 1"
        total += share
    inside = _annotated(case, labels.shape)
    if "ExclusionImages" in case.drawn:
        inside &= total != 0  # all labels given at these voxels are excluded
    worst = np.abs(total[inside] - 1).max(initial=0.0)
    assert worst < 1e-4, f"probabilities miss a sum of 1 by {worst:g}"
    str(filter_)
    str(filter_.GetDiagnostics())


def _annotated(case: Case, shape: tuple[int, ...]) -> np.ndarray:
    """Return the voxels inside the mask that at least one rater annotated."""
    annotated = np.zeros(shape, bool)
    masks = case.given.get("RaterMasks") or (None,) * len(case.raters)
    for array, mask in zip(case.raters, masks, strict=True):
        if array is not None:
            there = np.ones(shape, bool) if mask is None else mask != 0
            annotated |= there & (array != case.given.get("MissingLabel", np.inf))
    mask = case.given.get("MaskImage")
    return annotated if mask is None else annotated & (mask != 0)


def _check_threads(case: Case, output: np.ndarray) -> None:
    for threads in (1, 2, 7):
        other = to_array(case.filter(NumberOfThreads=threads).Execute(case.images()))
        assert np.array_equal(output, other), f"{threads} threads give another answer"


def _check_copy(
    filter_: LabelFusionFilter, case: Case, output: np.ndarray, rng: np.random.Generator
) -> None:
    """Check that a copy of a filter is equivalent to it, whatever its parameters, including
    images.
    """
    twin = COPIES[rng.integers(len(COPIES))](filter_)
    assert np.array_equal(to_array(twin.Execute(case.images())), output), "a copy answers otherwise"


def _check_laws(case: Case, rng: np.random.Generator) -> None:
    laws = case.fuser.laws
    plain = {"MaskImage", "MissingLabel"} & set(case.given)
    given = set(case.given) - LOOKED_AT
    whole = not given and all(array is not None for array in case.raters)
    if "unanimity" in laws and whole and _is_plain(case) and (case.raters[0] == 1).any():
        stack = np.stack(case.raters)
        # EM may overrule raters who agree by chance, but if all raters agree everywhere, no method
        # may do so.
        agreed = np.full(stack[0].shape, len(stack) > 1 and (stack == stack[0]).all())
        filter_ = case.filter()
        filter_.Execute(case.images())
        fused = to_array(filter_.GetLabelImage())
        wanted = stack[0].astype(fused.dtype)
        if _is_binary(case):
            wanted = (stack[0] == 1).astype(fused.dtype)
        assert np.array_equal(fused[agreed], wanted[agreed]), "raters agree, in vain"
    if "rater permutation" in laws and (whole or plain == given):
        order = rng.permutation(len(case.raters))
        calm = without_chance(case.fuser)
        calmed = replace(case, drawn={})
        turned = replace(calmed, raters=[case.raters[i] for i in order], given=dict(case.given))
        if "AtlasImages" in turned.given:
            turned.given["AtlasImages"] = tuple(case.given["AtlasImages"][i] for i in order)
        one, other = calmed.filter(**calm), turned.filter(**calm)
        one.Execute(calmed.images())
        other.Execute(turned.images())
        for label in one.GetLabels():
            np.testing.assert_allclose(
                to_array(one.GetProbabilityImage(label)),
                to_array(other.GetProbabilityImage(label)),
                atol=1e-4,
                err_msg="the order of the raters matters",
            )


def _is_binary(case: Case) -> bool:
    return hasattr(case.fuser, "ForegroundValue")


def _is_plain(case: Case) -> bool:
    return all(np.issubdtype(array.dtype, np.integer) for array in case.raters)
