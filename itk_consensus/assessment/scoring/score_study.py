"""score_study: score submissions against several readers, over the cases of a study."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.directions import attach_directions
from itk_consensus.assessment.scoring.case_scores import (
    CaseScores,
    ScoreSettings,
    Submission,
    score_case,
)
from itk_consensus.assessment.scoring.measures import RULES
from itk_consensus.assessment.scoring.study_scores import StudyScores, shared_labels
from itk_consensus.core.array_types import length_unit
from itk_consensus.core.errors import (
    ConsensusError,
    ConsensusWarning,
    InputError,
    ParameterError,
    name_inputs,
)
from itk_consensus.fusing.label_inputs import labels_only
from itk_consensus.images import convert
from itk_consensus.images.files import read_image
from itk_consensus.images.geometry import check_same_space
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.class_probabilities import has_fractions

_OWNER = "score_study"

ReadersByCase = Mapping[str, Mapping[str, Any] | Sequence[Any]]
Submissions = Mapping[str, Mapping[str, Any]]


class _LoadedCase(NamedTuple):
    readers: dict[str, NDArray[Any]]
    submissions: dict[str, Submission | None]
    like: convert.LoadedImages  #: The readers' images
    refused: dict[str, str]  #: Submissions that cannot be compared, and why


def score_study(
    readers: ReadersByCase,
    submissions: Submissions,
    *,
    structures: Mapping[int, str] | None = None,
    rules: Sequence[str] = ScoreSettings.rules,
    surfaces: bool = False,
    surfaceTolerance: float = ScoreSettings.tolerance,
    lesions: bool = False,
    inputsAreLabels: bool = False,
    afterCase: Callable[[str], None] | None = None,
) -> StudyScores:
    """Score submissions against several readers, none of whom is the ground truth.

    Parameters
    ----------
    readers : mapping
        For each case the readers' label images or file paths: a list, or a mapping by name.
    submissions : mapping
        For each submission, an image or path by case: a label image, a probability map of one
        structure (fractions), a vector image with the probabilities of all labels, background
        first, or a list of label images as samples. A missing case, None, or an image that cannot
        be compared with the readers is scored as an empty segmentation, with a warning.
    structures : mapping of int to str, optional
        Labels to score and their names; by default all labels that two readers of a case drew.
    rules : sequence of str
        Any of soft-dice, qubiq, curvas2024 and samples.
    surfaces : bool
        Whether to measure distances between contours.
    surfaceTolerance : float
        Tolerance of the surface Dice, in mm.
    lesions : bool
        Whether to match connected components.
    inputsAreLabels : bool
        Accept readers and submissions as label images even if one looks like an intensity image.
    afterCase : callable, optional
        Called with the name of each finished case.

    Returns
    -------
    StudyScores
        Has ``.summary()``, ``.of_cases()``, ``.all_comparisons()``, ``.ranks()``,
        ``.to_markdown()``, ``.to_latex()``, ``.to_csv()``, ``.to_json()``; ``.notes`` contains the
        warnings, ``.findings()`` lists readers' files that may be wrong.
    """
    settings = make_settings(rules, surfaces, surfaceTolerance, lesions)
    if not readers:
        raise InputError("readers must hold at least one case", owner=_OWNER)
    _require_known_cases(readers, submissions)
    found, failed = [], {}
    units = ("ml", "mm")
    for case, images in readers.items():
        try:
            scores, units = score_images(case, images, submissions, settings, inputsAreLabels)
            found.append(scores)
        except ConsensusError as error:  # continue with the other cases
            failed[case] = str(error)
        if afterCase is not None:
            afterCase(case)
    refused = {one.case: why for one in found for why in one.refused.values()}
    if not found or (refused and all(len(one.missing) == len(submissions) for one in found)):
        case, why = next(iter((failed | refused).items()))
        raise InputError(f"no case could be scored: case {case}: {why}", owner=_OWNER)
    study = combine_cases(found, tuple(submissions), settings, structures, units, failed)
    for note in study.notes:
        warnings.warn(note, ConsensusWarning, stacklevel=2)
    return study


def combine_cases(
    cases: Sequence[CaseScores],
    submissions: tuple[str, ...],
    settings: ScoreSettings,
    structures: Mapping[int, str] | None,
    units: tuple[str, str],
    failed: Mapping[str, str],
) -> StudyScores:
    """Combine scores of cases; by default structures are the labels that two readers share.

    A label used by only one reader of a case is often a misnumbered structure. Its scores, which
    are those of nearly always empty masks, would raise every mean.
    """
    drawn = {label for one in cases for label in one.drawn}
    if not (structures or drawn):
        raise InputError("no reader marked anything in any case", owner=_OWNER)
    labels = sorted(shared_labels(cases) or drawn)
    names = dict(structures) if structures else {label: f"label {label}" for label in labels}
    return StudyScores(tuple(cases), submissions, names, settings, *units, failed)


def make_settings(
    rules: Sequence[str], surfaces: bool, tolerance: float, lesions: bool
) -> ScoreSettings:
    """Validate the parameters that select measures."""
    unknown = [one for one in rules if one not in RULES]
    if unknown:
        raise ParameterError(
            f"must be among {', '.join(RULES)}, got {unknown[0]!r}",
            owner=_OWNER,
            parameter="rules",
        )
    if not tolerance >= 0:
        raise ParameterError(
            f"must be >= 0, got {tolerance}", owner=_OWNER, parameter="surfaceTolerance"
        )
    return ScoreSettings(tuple(dict.fromkeys(rules)), surfaces, tolerance, lesions)


def score_images(
    case: str,
    readers: Mapping[str, Any] | Sequence[Any],
    submissions: Submissions,
    settings: ScoreSettings,
    insist: bool = False,
) -> tuple[CaseScores, tuple[str, str]]:
    """Load and score one case; returns its scores and the units of volumes and lengths."""
    given = {name: one.get(case) for name, one in submissions.items()}
    loaded = _load(readers, given, labels_only(insist))
    spacing = loaded.like.geometry.array_spacing
    scores = score_case(case, loaded.readers, loaded.submissions, spacing, settings)
    findings = attach_directions(scores.findings, loaded.like)
    scores = replace(scores, refused=loaded.refused, findings=findings)
    return scores, (voxel_volume(spacing)[1], length_unit(spacing))


def _require_known_cases(readers: ReadersByCase, submissions: Submissions) -> None:
    for name, cases in submissions.items():
        if not set(cases) & set(readers):
            first, other = next(iter(readers)), next(iter(cases), "nothing")
            raise InputError(
                f"submission {name!r} has none of the readers' cases; the readers have {first!r}, "
                f"the submission {other!r}: use the same names",
                owner=_OWNER,
            )


def _load_readers(images: Any, of_labels: dict[str, Any]) -> tuple[list[str], convert.LoadedImages]:
    named = images if isinstance(images, Mapping) else None
    listed = list(named.values()) if named is not None else list(images)
    try:
        views = convert.load(
            [_read_if_path(one) for one in listed], owner="readers", keep=Keep.NOTHING, **of_labels
        )
    except ConsensusError as error:
        names = list(named or map("reader {}".format, range(len(listed))))
        names = [
            str(one) if _is_path(one) else name for name, one in zip(names, listed, strict=True)
        ]
        raise InputError(name_inputs(str(error), names)) from error
    if named is not None:
        return list(named), views
    return [f"reader {number}" for number in range(len(views.arrays))], views


def _load(readers: Any, submissions: Mapping[str, Any], of_labels: dict[str, Any]) -> _LoadedCase:
    names, views = _load_readers(readers, of_labels)
    if len(names) != len(views.arrays):
        raise InputError("a named reader must have one component")
    maps = {
        name: np.asarray(array)
        for name, array in zip(names, views.arrays, strict=True)
        if array is not None
    }
    for name, array in maps.items():
        if has_fractions(array):
            raise InputError(f"reader {name!r} must hold labels, got fractions")
    given: dict[str, Submission | None] = {}
    refused: dict[str, str] = {}
    for name, one in submissions.items():
        try:
            given[name] = None if one is None else _make_submission(name, one, views, of_labels)
        # an unusable file of one team must not exclude the case for the others
        except ConsensusError as error:
            given[name] = None
            # Lines after the first give advice on fusing the images, which does not apply here.
            refused[name] = str(error).splitlines()[0]
    return _LoadedCase(maps, given, views, refused)


def _make_submission(
    name: str, image: Any, readers: convert.LoadedImages, of_labels: dict[str, Any]
) -> Submission:
    owner = f"submission {name!r}"
    several = isinstance(image, list | tuple)
    listed = [_read_if_path(one) for one in image] if several else [_read_if_path(image)]
    views = convert.load(listed, owner=owner, keep=Keep.NOTHING, **of_labels)
    check_same_space(
        [readers.geometry, views.geometry], owner=owner, names=["the readers", "its file"]
    )
    arrays = [np.asarray(array) for array in views.arrays if array is not None]
    fractions = [has_fractions(array) for array in arrays]
    if several:
        if any(fractions):
            raise InputError("samples must hold labels, got fractions", owner=owner)
        return Submission.of_samples(arrays)
    if len(arrays) == 1 and not fractions[0]:
        return Submission(arrays[0])
    if any(array.min() < 0 or array.max() > 1 for array in arrays):
        raise InputError("must hold labels, or probabilities from 0 to 1", owner=owner)
    if len(arrays) == 1:
        return Submission(np.asarray(arrays[0] >= 0.5).view(np.uint8), {1: arrays[0]})
    likeliest = np.argmax(np.stack(arrays), axis=0).astype(np.uint16)
    return Submission(likeliest, dict(enumerate(arrays[1:], start=1)))


def _read_if_path(image: Any) -> Any:
    return read_image(image) if _is_path(image) else image


def _is_path(image: Any) -> bool:
    return isinstance(image, str | os.PathLike)
