"""Random inputs and parameters for every fuser, and what must hold whatever they are.

The fast suite runs some cases; ``python -m tests.fuzzing --cases 5000 --seed 1`` runs as many as
asked for, and command lines, and damaged records and models. Case 17 of seed 1 alone:
``--seed 1 --only 17``.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

sys.path.append(str(Path(__file__).parent))  # pytest does the same for test files
sys.path.append(str(Path(__file__).parent / "filters"))

from contract import FAMILIES, bad_values, capped, good_value, make, to_array, without_chance
from damaged_files import check_damage

from itk_consensus.cli import main
from itk_consensus.errors import ConsensusError, ConsensusWarning
from itk_consensus.filters.constraints import Integer, Kind, OneOf, Real, Reals
from itk_consensus.filters.label_fusion import AUTOMATIC_LABEL, LabelFusionFilter
from itk_consensus.filters.parameters import Parameter, parameters_of
from itk_consensus.filters.registry import FUSERS

#: Work that is asked for by its number: more of it takes longer, as it should.
FEW = {"NumberOfInitializations": 6, "NumberOfSamples": 20, "BurnIn": 20}
#: Given by the case itself, or without effect on the answer.
NOT_DRAWN = {"MaskImage", "RaterMasks", "MissingLabel", "NumberOfThreads", "Debug"}
ITERATIONS = 60
ONE_LARGE_IN = 250
SECONDS_PER_VOXEL = 60 / 1e6
SECONDS_TO_BEGIN = 2.0
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64", "f4", "f8")

ITK_DTYPES = tuple(name for name in DTYPES if name not in ("int8", "int64"))


@dataclass
class Case:
    """One call of a fuser.

    Attributes
    ----------
    fuser : type of LabelFusionFilter
    raters : list of ndarray or None
    family : str
    given : dict
        MaskImage, RaterMasks and MissingLabel, as arrays.
    drawn : dict
        Other parameters.
    """

    fuser: type[LabelFusionFilter]
    raters: list[Any]
    family: str
    given: dict[str, Any] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)

    def filter(self, **more: Any) -> LabelFusionFilter:
        """A filter with the case's parameters."""
        return self.fuser(**self._as_family(self.given), **(self._as_family(self.drawn) | more))

    def images(self) -> list[Any]:
        """The raters in the case's family."""
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
    """A case of any fuser; a large one has about 100,000 voxels."""
    fuser = FUSERS[rng.integers(len(FUSERS))]
    family = FAMILIES[rng.integers(len(FAMILIES))]
    raters = _draw_raters(rng, family, large)
    case = Case(fuser, raters, family, _draw_given(rng, raters))
    parameters = [p for p in parameters_of(fuser) if p.name not in NOT_DRAWN]
    there = [array for array in raters if array is not None]
    for index in rng.permutation(len(parameters))[: rng.integers(0, 4)]:
        parameter = parameters[index]
        case.drawn[parameter.name] = _draw_value(rng, parameter, there)
    case.drawn = capped(fuser, ITERATIONS) | case.drawn
    stops = [case.drawn.get(name, 1.0) for name in ("Tolerance", "TerminationUpdateThreshold")]
    stops = [value for value in stops if isinstance(value, float)]
    if any(0 < value < 1e-7 for value in stops):
        # Independent raters come as close as asked only after millions of iterations.
        case.drawn |= capped(fuser, ITERATIONS)
    elif 0.0 in stops:
        # Without any tolerance, and without a cap, a run must end by itself.
        case.drawn |= capped(fuser, 2**32 - 1)
    return case


def _draw_raters(rng: np.random.Generator, family: str, large: bool) -> list[Any]:
    dimension = int(rng.integers(2, 5))
    # itk turns an array of one row into one of one column, and lacks two types.
    least, dtypes = (2, ITK_DTYPES) if family == "itk" else (1, DTYPES)
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


def wrong_half(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A random half of the voxels."""
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
    except StopIteration:
        return parameter.default


def _draw_number(rng: np.random.Generator, kind: Kind[Any], most: int | None, at_edge: bool) -> Any:
    """A number that the kind accepts, often at its edges; None for a kind without numbers."""
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


# -- what must hold ----------------------------------------------------------------------------


def check_case(case: Case, rng: np.random.Generator) -> str:
    """Run a case and check all that must hold; "refused" or "answered".

    Raises
    ------
    AssertionError
        Something did not hold.
    Exception
        Anything that is not one of the package's own errors.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConsensusWarning)
        # An error while SWIG makes its types would end the process.
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
    shares = [to_array(filter_.GetProbabilityImage(label)) for label in filter_.GetLabels()]
    total = np.sum(shares, axis=0)
    assert np.isfinite(total).all(), "a probability is not finite"
    assert min(p.min() for p in shares) >= 0, "a probability is negative"
    assert max(p.max() for p in shares) <= 1 + 1e-5, "a probability is above 1"
    inside = _annotated(case, labels.shape)
    worst = np.abs(total[inside] - 1).max(initial=0.0)
    assert worst < 1e-4, f"probabilities miss a sum of 1 by {worst:g}"
    str(filter_)
    str(filter_.GetDiagnostics())


def _annotated(case: Case, shape: tuple[int, ...]) -> np.ndarray:
    """Voxels inside the mask that some rater annotated."""
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


def _check_laws(case: Case, rng: np.random.Generator) -> None:
    laws = case.fuser.laws
    plain = {"MaskImage", "MissingLabel"} & set(case.given)
    whole = not case.given and all(array is not None for array in case.raters)
    if "unanimity" in laws and whole and _is_plain(case) and (case.raters[0] == 1).any():
        stack = np.stack(case.raters)
        # EM may overrule raters who agree by chance; where all of them always agree, nobody may.
        agreed = np.full(stack[0].shape, len(stack) > 1 and (stack == stack[0]).all())
        filter_ = case.filter()
        filter_.Execute(case.images())
        fused = to_array(filter_.GetLabelImage())
        wanted = stack[0].astype(fused.dtype)
        if _is_binary(case):
            wanted = (stack[0] == 1).astype(fused.dtype)
        assert np.array_equal(fused[agreed], wanted[agreed]), "raters agree, in vain"
    if "rater permutation" in laws and (whole or plain == set(case.given)):
        order = rng.permutation(len(case.raters))
        calm = without_chance(case.fuser)
        turned = Case(case.fuser, [case.raters[i] for i in order], case.family, case.given)
        calmed = Case(case.fuser, case.raters, case.family, case.given)
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


# -- running many ------------------------------------------------------------------------------


@dataclass
class Tally:
    """What came of many cases."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


def run_cases(seed: int, numbers: range | list[int]) -> Tally:
    """Run the API cases with these numbers."""
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number])
        case = draw_case(rng, large=number % ONE_LARGE_IN == ONE_LARGE_IN - 1)
        voxels = next(array.size for array in case.raters if array is not None)
        began = time.process_time()
        _attempt(
            tally, f"--seed {seed} --only {number}: {case}", lambda c=case, r=rng: check_case(c, r)
        )
        seconds = time.process_time() - began
        # A case runs up to seven times, to compare threads and orders.
        if seconds > 7 * (SECONDS_TO_BEGIN + SECONDS_PER_VOXEL * voxels):
            tally.slow.append(f"--seed {seed} --only {number}: {seconds:.1f} s: {case}")
    return tally


def run_command_lines(seed: int, numbers: range) -> Tally:
    """Run ``itk-consensus fuse`` on files of random cases, some of them cut short."""
    tally = Tally()
    for number in numbers:
        rng = np.random.default_rng([seed, number, 1])
        case = draw_case(rng)
        with tempfile.TemporaryDirectory() as folder:
            words = _command_line(case, rng, Path(folder))
            _attempt(
                tally, f"--seed {seed}, command {number}: {words}", lambda w=words: _command(w)
            )
    return tally


def _command_line(case: Case, rng: np.random.Generator, folder: Path) -> list[str]:
    suffix = str(rng.choice([".nii", ".nii.gz", ".nrrd", ".mha", ".mhd", ".vtk", ".hdr", ".tif"]))
    words = ["fuse", "--method", case.fuser.method, "--output", str(folder / f"out{suffix}")]
    for number, array in enumerate(array for array in case.raters if array is not None):
        path = folder / f"in{number}{suffix}"
        try:
            sitk.WriteImage(make(array, "SimpleITK", metadata=False), str(path), bool(number % 2))
        except RuntimeError:  # the format does not hold this type or dimension
            path = folder / f"in{number}.nrrd"
            sitk.WriteImage(make(array, "SimpleITK", metadata=False), str(path))
        if rng.random() < 0.1:
            content = bytearray(path.read_bytes())
            path.write_bytes(content[: rng.integers(len(content))])
        words.append(str(path))
    options = {p.name: p for p in parameters_of(case.fuser) if p.in_cli}
    for name, value in case.drawn.items():
        if name in options and not isinstance(value, np.ndarray):
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{options[name].snake_case.replace('_', '-')}={text}")
    if rng.random() < 0.5:
        words += ["--probability", str(folder / "probability.nrrd"), "--label", "1"]
    return words + (["--json", str(folder / "report.json")] if rng.random() < 0.5 else [])


def _command(words: list[str]) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main(words)
    assert code in (0, 2), f"exit code {code}"
    assert code == 0 or said.getvalue().strip(), "failed without a word"
    return "refused" if code else "answered"


def run_damage(seed: int, numbers: range) -> Tally:
    """Read records and models that were damaged or forged."""
    tally = Tally()
    for number in numbers:
        damage = 1000 * (seed % 1_000_000) + number
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConsensusWarning)
            _attempt(tally, f"check_damage({damage})", lambda d=damage: check_damage(d))
    return tally


def _attempt(tally: Tally, what: str, action: Callable[[], str]) -> None:
    try:
        tally.outcomes[action()] += 1
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = " ".join(str(error).split())[:200]
        where = f"{Path(place.filename).name}:{place.lineno}"
        tally.failures.append(f"{what}\n    {type(error).__name__} at {where}: {reason}")


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--commands", type=int, default=500)
    parser.add_argument("--files", type=int, default=1000, help="damaged records and models")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="one API case")
    arguments = parser.parse_args()
    seed = arguments.seed
    print(f"seed {seed}")
    if arguments.only is not None:
        parts = {"API": run_cases(seed, [arguments.only])}
    else:
        parts = {
            "API": run_cases(seed, range(arguments.cases)),
            "command line": run_command_lines(seed, range(arguments.commands)),
            "records and models": run_damage(seed, range(arguments.files)),
        }
    for name, tally in parts.items():
        print(
            f"{name}: {dict(tally.outcomes)}, {len(tally.failures)} failed, {len(tally.slow)} slow"
        )
        print("\n".join(tally.failures + tally.slow))
    return int(any(tally.failures or tally.slow for tally in parts.values()))


if __name__ == "__main__":
    sys.exit(_main())
