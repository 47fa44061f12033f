"""Base classes of the calibrating filters: loading and checking of cases."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.band_record import BandRecord
from itk_consensus.calibration.cuts import CutRecord
from itk_consensus.calibration.margins import MarginRecord
from itk_consensus.calibration.probabilities import ProbabilityCase
from itk_consensus.calibration.record_keeper import RecordKeeper, text_of
from itk_consensus.calibration.scaling import ScalingRecord
from itk_consensus.core.constraints import LENGTH, Boolean, Integer, Text, optional
from itk_consensus.core.errors import FileError, InputError
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.process_object import ITERATION_EVENT, ProcessObject
from itk_consensus.core.work import report
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.images.geometry import check_same_space
from itk_consensus.storage.files import PathLike
from itk_consensus.votes.class_probabilities import has_fractions
from itk_consensus.votes.label_stack import LabelStack

Record = TypeVar("Record", BandRecord, CutRecord, MarginRecord, ScalingRecord)
Kindred = TypeVar("Kindred", BandRecord, CutRecord, MarginRecord)

_SUM_TOLERANCE = 1e-3
_MISSING = object()


class RegionMixin(ProcessObject):
    """Parameters for the region around a structure and for the type of probabilities."""

    RegionMargin = Parameter(
        LENGTH, 10.0, "Width in mm of the region around the structure that is evaluated."
    )
    ProbabilityIsVoteFraction = Parameter(
        Boolean(), False, "Whether the probabilities are vote fractions."
    )


class CalibrationFilter(RecordKeeper[Record], LabelInputs):
    """Base class: learns a record from probability images with references, for use on other
    images.
    """

    ReferenceLabel = Parameter(
        optional(Integer(1)),
        None,
        "Which label of the references is the foreground.",
        default_doc="the only one",
    )

    # -- cases --------------------------------------------------------------------------------

    def _calibration_cases(
        self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None
    ) -> Iterator[ProbabilityCase]:
        """Load the cases one by one, so that only one is in memory at a time."""
        columns = {"probabilities": probabilities, "references": references}
        if raters is not None:
            columns["raters"] = raters
        known: dict[bytes, int] = {}
        empty: list[int] = []
        for number, members in enumerate(zip_longest(*columns.values(), fillvalue=_MISSING)):
            row = dict(zip(columns, members, strict=True))
            ended = [name for name, member in row.items() if member is _MISSING]
            if ended:
                raise InputError(
                    f"Calibrate needs equally many {', '.join(columns)}; "
                    f"there are only {number} {ended[0]}",
                    owner=self.GetName(),
                )
            case, _ = self._load_case(
                row["probabilities"], row.get("raters"), row["references"], f" of case {number}"
            )
            self._require_new(case, number, known)
            if not case.reference_labels().any():
                empty.append(number)
            yield case
            self._invoke(ITERATION_EVENT)
            report(0.0)  # the number of cases is unknown; this checks for Abort
        if known and len(empty) == len(known):
            raise InputError(
                "every reference is empty: calibrate on cases with foreground", owner=self.GetName()
            )
        if empty:
            self._warn(f"{of_cases('the reference', empty)} empty")

    def _require_new(self, case: ProbabilityCase, number: int, known: dict[bytes, int]) -> None:
        """Raise if a case occurred before: the guarantee counts independent cases."""
        content = hashlib.blake2b(digest_size=16)
        for array in (*case.probabilities, case.reference_labels()):
            content.update(f"{array.dtype} {array.shape}".encode())
            content.update(np.ascontiguousarray(array).data)
        other = known.setdefault(content.digest(), number)
        if other != number:
            raise InputError(
                f"case {number} is a copy of case {other}, probability and reference; "
                "give each case once",
                owner=self.GetName(),
            )

    def _load_case(
        self, probability: Any, raters: Any = None, reference: Any = None, which: str = ""
    ) -> tuple[ProbabilityCase, LoadedImages]:
        """Wrap the arrays of one case and check their values; outputs get the geometry of the case.

        `which` identifies the case in messages, such as " of case 3".
        """
        owner = f"{self.GetName()}: probability{which}"
        images = probability if isinstance(probability, (list, tuple)) else [probability]
        loaded = convert.load(images, owner=owner, **self._loading_options())
        probabilities = tuple(array for array in loaded.arrays if array is not None)
        _check_probabilities(probabilities, loaded, owner)
        labels = max(len(probabilities), 2)
        case = ProbabilityCase(
            probabilities,
            loaded.geometry.array_spacing,
            None if raters is None else self._load_raters(raters, loaded, which),
            None
            if reference is None
            else self._load_labels(reference, loaded, f"reference{which}", labels),
            loaded.geometry.craniocaudal_axis,
        )
        return case, loaded

    def _load_raters(
        self, raters: Any, loaded: LoadedImages, which: str
    ) -> tuple[NDArray[Any], ...]:
        owner = f"{self.GetName()}: raters{which}"
        views = convert.load(raters, owner=owner, **self._tolerances(), **self._label_options())
        present = tuple(array for array in views.arrays if array is not None)
        if len(present) < 2:
            raise InputError(f"{owner} must be at least 2 images, got {len(present)}")
        check_same_space(
            [loaded.geometry, views.geometry],
            owner=self.GetName(),
            names=[f"probability{which}", f"raters{which}"],
            **self._tolerances(),
        )
        return present

    def _load_labels(
        self, image: Any, loaded: LoadedImages, name: str, labels: int
    ) -> NDArray[np.uint16]:
        array = convert.load_one(
            image, loaded, owner=self.GetName(), parameter=name, **self._tolerances()
        )
        owner = f"{self.GetName()}: {name}"
        self._require_labels(array, owner)
        if labels == 2:
            return self._foreground(array, owner)
        if self.ReferenceLabel is not None:
            raise self._parameter_error(
                "ReferenceLabel",
                f"applies to a single probability image, got those of {labels} labels",
            )
        if not np.isin(array, np.arange(labels)).all():
            raise InputError(
                f"{name} must hold the labels 0 to {labels - 1} of the "
                f"{labels} probability images, got values from {array.min():g} to {array.max():g}",
                owner=self.GetName(),
            )
        return array.astype(np.uint16)

    def _require_labels(self, array: NDArray[Any], owner: str) -> None:
        if has_fractions(array):  # also true for NaN
            what = "NaN" if np.isnan(array).any() else "values between the whole numbers"
            is_probability = array.min() >= 0 and array.max() <= 1
            advice = (
                "it looks like a probability: are probabilities and references swapped?"
                if is_probability
                else "give label images"
            )
            raise InputError(f"must hold labels, got {what}; {advice}", owner=owner)

    def _foreground(self, array: NDArray[Any], owner: str) -> NDArray[np.uint16]:
        """Return a mask of the reference label that corresponds to the probability image."""
        found = [int(label) for label in LabelStack.multilabel([array], owner=owner).labels]
        if found[0] < 0:
            raise InputError(f"must hold labels from 0 on, got {found[0]}", owner=owner)
        wanted = self.ReferenceLabel
        drawn = [label for label in found if label]
        if wanted is None and len(drawn) > 1:
            shown = ", ".join(map(str, drawn[:5])) + (" ..." if len(drawn) > 5 else "")
            raise InputError(
                f"holds labels {shown}; which is the foreground? Set {{ReferenceLabel}}, or give "
                "one probability image per label",
                owner=owner,
                mentions=("ReferenceLabel",),
            )
        return np.asarray(array == wanted if wanted else array != 0).astype(np.uint16)


def of_cases(what: str, numbers: Sequence[int]) -> str:
    """Return subject and verb for a sentence about cases: "the references of cases 1, 2 are"."""
    named = ", ".join(map(str, numbers[:5])) + (" ..." if len(numbers) > 5 else "")
    return f"{what} of case {named} is" if len(numbers) == 1 else f"{what}s of cases {named} are"


class OneKindFilter(CalibrationFilter[Kindred]):
    """Base class: a calibration that applies only to probabilities of the same kind and method."""

    FusionMethod = Parameter(
        optional(Text()),
        None,
        "The method that made the probabilities; a record of another method is rejected.",
        default_doc="unknown",
    )

    def _differences(self, record: Kindred, case: ProbabilityCase) -> Iterator[str]:
        """Yield sentences that state how a case differs from the calibration cases."""
        kinds: tuple[str, ...] = record.probability_kinds
        if (kind := case.kind) not in (None, *kinds):
            made_on = " and ".join(kinds) or "raters who all agree"
            yield f"the calibration was made on {made_on}, this holds {kind}"
        methods = (record.fusion_method, self.FusionMethod)
        if None not in methods and len(set(methods)) > 1:
            yield "the calibration was made with fusion_method {}, this is {}".format(*methods)


def kind_of_calibration(
    path: PathLike, kinds: Collection[type[CalibrationFilter[Any]]]
) -> type[CalibrationFilter[Any]]:
    """Return the filter class among `kinds` whose record is stored in a file."""
    text = text_of(path)
    found = next((one for one in kinds if f'"{one.record_class.schema}"' in text[:1000]), None)
    if found is None:
        known = ", ".join(f"'{one.record_class.schema}'" for one in kinds)
        raise FileError(f"is not a record of one of the kinds {known}", path=path)
    return found


def _check_probabilities(
    probabilities: Sequence[NDArray[Any]], loaded: LoadedImages, owner: str
) -> None:
    if loaded.geometry.dimension not in (2, 3):
        raise InputError(
            f"{owner} must be a 2D or 3D image, got {loaded.geometry.dimension}D; "
            "take the volumes of a series one by one"
        )
    for array in probabilities:
        low, high = array.min(), array.max()
        if not (low >= 0 and high <= 1):  # also false for NaN
            raise InputError(f"{owner} must lie in [0, 1], got values from {low:g} to {high:g}")
    if len(probabilities) > 1:
        total = np.sum(probabilities, axis=0, dtype=np.float64)
        if np.abs(total - 1).max() > _SUM_TOLERANCE:
            raise InputError(
                f"the labels' probabilities must sum to 1, "
                f"got sums from {total.min():g} to {total.max():g}",
                owner=owner,
            )
