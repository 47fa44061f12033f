"""Slips of single raters: a mask that is empty, mirrored, moved, of another extent or case.

A rater who is farther from the others than they are from each other is asked why, and the first
reason that explains it is given: nothing drawn, other numbers for labels, a mirror, a shift,
another volume. Who stays unexplained drew something else, or is the only one right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.displacement import Fit, Placed, best_mirror, best_shift
from itk_consensus.assessment.agreement.label_swaps import Renamed, renamed_labels
from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.assessment.readers import Readers, about_raters, listed, sentence
from itk_consensus.core.array_types import Floats, length_unit
from itk_consensus.fusing.deviating_rater import farthest_rater

#: So many raters, the farthest ones, are tried mirrored and moved, each with so many labels.
MOST_RATERS_TRIED = 4
MOST_LABELS_TRIED = 3

#: Fewer voxels fit anything.
LEAST_VOXELS = 8

#: A mirror has no number to choose and wins over a shift that fits no better than this.
MIRROR_FIRST = 0.05

Known = set[tuple[int, int]]  #: (label index, rater) whose distance is explained


def slips(readers: Readers) -> Iterator[Finding]:
    """Apply the rules, from the plainest reason to none."""
    explained: Known = set()
    yield empty_masks(readers, explained)
    yield lone_labels(readers)
    yield swapped_labels(readers, explained)
    suspects = [one for one in _suspects(readers) if (one.label, one.rater) not in explained]
    has_voxels = readers.patterns.codes is not None and len(readers.spacing) <= 3
    if has_voxels and readers.is_complete:
        yield from displaced(readers, suspects, explained)
    if readers.is_complete:
        yield other_volume(readers, explained)
    yield deviating_rater(readers, suspects, explained)


def empty_masks(readers: Readers, explained: Known) -> Finding:
    """Nothing, or nearly nothing, of what most others drew."""
    sizes = readers.pairs.sizes
    # Where this rater annotated, too.
    usual = _medians_of_others(readers.pairs.marked.transpose(2, 0, 1))
    is_far = sizes < readers.limits.nearly_empty * usual
    is_far &= (2 * readers.drawers > len(readers.annotating))[:, None]
    told = []
    for label, rater in np.argwhere(is_far):
        explained.add((int(label), int(rater)))
        drew = sizes[label, rater]
        what = readers.volume(drew) if drew else "nothing"
        told.append(
            f"{readers.name(label)}rater {rater} drew {what}, "
            f"the others a median of {readers.volume(usual[label, rater])}"
        )
    message = sentence(told) or "Nobody left out what most drew."
    advice = "Was it overlooked, or the wrong file given? As None it would be a missing rater."
    return about_raters("empty mask", len(told), "caution" if told else None, message, advice)


def _medians_of_others(drawn: NDArray[np.int64]) -> Floats:
    """(K, J) median of what others drew, those who drew nothing left out; 0 if nobody drew it.

    Parameters
    ----------
    drawn : (J, K, J) ndarray
        As each rater sees all of them.
    """
    others = np.where(drawn > 0, drawn, np.inf)
    every = np.arange(len(drawn))
    others[every, :, every] = np.inf
    others.sort(axis=2)
    number = np.isfinite(others).sum(axis=2, keepdims=True)
    # Of an even number the middle is that of two.
    middle = np.concatenate([np.maximum(number - 1, 0) // 2, number // 2], axis=2)
    medians = np.take_along_axis(others, middle, axis=2).mean(axis=2)
    return np.where(number[..., 0] > 0, medians, 0.0).T


def lone_labels(readers: Readers) -> Finding:
    """Labels that one of three raters or more uses alone."""
    sizes = readers.pairs.sizes
    alone = np.flatnonzero(readers.drawers == 1)
    told = [
        f"only rater {int(sizes[label].argmax())} uses label {readers.patterns.labels[label]} "
        f"({readers.volume(sizes[label].max())})"
        for label in alone
    ]
    message = sentence(told) or "No label is used by one rater alone."
    advice = "Is it another number for the same structure, or a finding of one rater?"
    return about_raters("lone label", len(told), "caution" if told else None, message, advice)


def swapped_labels(readers: Readers, explained: Known) -> Finding:
    """Labels that a rater calls otherwise than the others."""
    found = renamed_labels(readers.patterns)
    index = {int(value): place for place, value in enumerate(readers.patterns.labels)}
    for one in found:
        explained |= {(index[one.used], one.rater), (index[one.meant], one.rater)}
    once = [one for one in found if not one.is_swap or one.used < one.meant]
    message = sentence([_renaming(one) for one in once]) or "All raters number labels alike."
    advice = "Put the numbers right, or match labels before fusing."
    severity: Severity = "caution" if once else None
    return about_raters("swapped labels", len(once), severity, message, advice)


def _renaming(one: Renamed) -> str:
    if one.is_swap:
        return f"rater {one.rater} has labels {one.used} and {one.meant} the other way round"
    return f"rater {one.rater} says {one.used} where others say {one.meant} (Dice {one.dice:.2f})"


@dataclass(frozen=True)
class Suspect:
    """A mask that is farther from the others' than these are from each other."""

    label: int
    rater: int
    dice: float  #: Mean to the others
    others_dice: float  #: Mean among them; of two raters what good agreement would be

    @cached_property
    def loss(self) -> float:
        """Dice that is missing."""
        return self.others_dice - self.dice


def _suspects(readers: Readers) -> list[Suspect]:
    """Farthest first; masks that are empty are not compared."""
    labels, limits = readers.shared_labels, readers.limits
    own, among = _own_and_others(readers.dice[labels], readers.pairs.sizes[labels] > 0)
    # Two raters cannot say which of them is far, nor how far is far: the first stands for both.
    two = readers.drawers[labels] == 2
    among[two] = limits.good_dice
    lost = among - own
    far = (1 - own > limits.suspect_times * (1 - among)) & (lost > limits.suspect_dice)
    far[two] &= (np.cumsum(np.isfinite(own[two]), axis=1) == 1) & np.isfinite(own[two])
    far &= readers.pairs.sizes[labels] >= LEAST_VOXELS
    found = [
        Suspect(int(labels[k]), int(j), float(own[k, j]), float(among[k, j]))
        for k, j in np.argwhere(far)
    ]
    return sorted(found, key=lambda one: -one.loss)


def _own_and_others(dice: Floats, drew: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(K, J) mean Dice of each rater to others who drew the label, and of these to each other."""
    both = drew[:, :, None] & drew[:, None, :] & np.isfinite(dice)
    overlap = np.where(both, dice, 0.0)
    own, number = overlap.sum(axis=2), both.sum(axis=2)
    rest = overlap.sum(axis=(1, 2))[:, None] - 2 * own
    with np.errstate(invalid="ignore", divide="ignore"):
        return own / number, rest / (both.sum(axis=(1, 2))[:, None] - 2 * number)


def displaced(readers: Readers, suspects: Sequence[Suspect], explained: Known) -> Iterator[Finding]:
    """Raters who would fit if they were mirrored about the middle of the image, or moved.

    A file is mirrored or moved as a whole: it takes most of the rater's labels.
    """
    told: dict[str, list[str]] = {"mirrored mask": [], "shifted mask": []}
    for masks in _by_rater(readers, suspects):
        tried = [(one, *_displacement(readers, one)) for one in masks[:MOST_LABELS_TRIED]]
        for rule, words in told.items():
            fitting = [(one, text) for one, found, text in tried if found == rule]
            if 2 * len(fitting) > len(tried):
                words.append(fitting[0][1])
                explained |= {(one.label, one.rater) for one in masks}
    fine = {
        "mirrored mask": "Mirroring no mask would bring it to the others.",
        "shifted mask": "Moving no mask would bring it to the others.",
    }
    for rule, words in told.items():
        advice = "Compare its header (origin, direction, spacing) with the others'."
        message = sentence(words) or fine[rule]
        severity: Severity = "caution" if words else None
        yield about_raters(rule, len(words), severity, message, advice)


def _by_rater(readers: Readers, suspects: Sequence[Suspect]) -> list[list[Suspect]]:
    """The farthest raters, if most of their labels are suspect, each with the largest first."""
    sizes = readers.pairs.sizes
    grouped: dict[int, list[Suspect]] = {}
    for one in suspects:
        if one.others_dice >= readers.limits.poor_dice:
            grouped.setdefault(one.rater, []).append(one)
    chosen = [
        sorted(masks, key=lambda one: -sizes[one.label, one.rater])
        for rater, masks in grouped.items()
        if 2 * len(masks) > np.count_nonzero(sizes[readers.shared_labels, rater])
    ]
    return chosen[:MOST_RATERS_TRIED]


def _displacement(readers: Readers, suspect: Suspect) -> tuple[str, str]:
    """The rule that explains a mask, and what it says; two empty texts if none does."""
    placed = _placed(readers, suspect)
    if placed is None:
        return "", ""
    mine, others = placed
    before = mine.dice(others)
    flip = best_mirror(mine, others, _shape(readers))
    move = best_shift(mine, others)
    times = readers.limits.explained_times if readers.drawers[suspect.label] > 2 else 1.0
    is_mirror = flip.dice + MIRROR_FIRST >= move.dice
    if is_mirror and _explains(readers, suspect, before, flip, times):
        return "mirrored mask", _told(readers, suspect, before, flip)
    is_far = _length(readers, move) >= readers.limits.least_shift
    # Any two blobs fit somehow: without any overlap a shift must fit as the others do.
    if is_far and _explains(readers, suspect, before, move, times if before else 1.0):
        return "shifted mask", _told(readers, suspect, before, move)
    return "", ""


def _placed(readers: Readers, suspect: Suspect) -> tuple[Placed, Placed] | None:
    """The mask, and the share of the others who have the label at each voxel."""
    patterns = readers.patterns
    said: NDArray[np.bool_] = patterns.patterns == suspect.label
    mine = said[:, suspect.rater]
    others = [
        rater
        for rater in np.flatnonzero(readers.pairs.sizes[suspect.label])
        if rater != suspect.rater
    ]
    share = said[:, others].mean(axis=1)
    found = []
    for values in (mine.astype(float), share):
        box = patterns.region(values >= 0.5, [0] * len(readers.spacing))
        found.append(Placed.of(patterns.crop(box).expand(values), box))
    if found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _shape(readers: Readers) -> tuple[int, ...]:
    codes = readers.patterns.codes
    assert codes is not None
    return codes.shape


def _explains(readers: Readers, suspect: Suspect, before: float, fit: Fit, times: float) -> bool:
    """Whether a mask is then about as near to the others as these to each other, and was not."""
    limits = readers.limits
    is_near = 1 - fit.dice <= times * (1 - suspect.others_dice)
    gain = max(limits.least_gain, limits.explained_share * suspect.loss)
    return is_near and fit.dice - before >= gain


def _length(readers: Readers, fit: Fit) -> float:
    """Of a shift, in mm."""
    return float(np.linalg.norm(np.multiply(fit.shift, readers.spacing)))


def _told(readers: Readers, suspect: Suspect, before: float, fit: Fit) -> str:
    names = "xyz"[: len(readers.spacing)]
    if fit.axes:
        how = f"mirrored along {listed(sorted(names[-1 - axis] for axis in fit.axes))}"
    else:
        steps = np.multiply(fit.shift, readers.spacing)[::-1]
        away = ", ".join(f"{step:+.1f}" for step in steps)
        how = f"moved by ({away}) {length_unit(readers.spacing)} along {', '.join(names)}"
    return (
        f"{readers.name(suspect.label)}rater {suspect.rater} would fit if it were {how}: "
        f"Dice {before:.2f} to the others would become {fit.dice:.2f}"
    )


def other_volume(readers: Readers, explained: Known) -> Finding:
    """Far more or less than the others in the same place, who are closer to each other."""
    told = []
    sizes = readers.pairs.sizes
    usual = _medians_of_others(np.broadcast_to(sizes, (sizes.shape[1], *sizes.shape)))
    compared = (readers.drawers > 2)[:, None] & (sizes > 0)
    ratios = np.divide(sizes, usual, out=np.ones(sizes.shape), where=compared)
    is_far = np.maximum(ratios, 1 / ratios) * readers.limits.other_volume > 1
    for label, rater in np.argwhere(is_far):
        others = np.delete(sizes[label], rater)
        others = others[others > 0]
        ratio = ratios[label, rater]
        if (int(label), int(rater)) in explained or not _is_other_extent(
            readers, ratio, others, _contained(readers, label, rater)
        ):
            continue
        explained.add((int(label), int(rater)))
        told.append(
            f"{readers.name(label)}rater {rater} drew {readers.volume(sizes[label, rater])}, the "
            f"others {readers.volume(others.min(), others.max())} ({ratio:.2f} times their median)"
        )
    message = sentence(told) or "Nobody drew far more or less than the others."
    advice = "Was another part, or only some slices, drawn?"
    return about_raters("volume apart", len(told), "caution" if told else None, message, advice)


def _is_other_extent(
    readers: Readers, ratio: float, others: NDArray[np.int64], contained: float
) -> bool:
    """Whether a volume lies far beyond the others' own spread, one mask within the other."""
    limits = readers.limits
    factor, spread = max(ratio, 1 / ratio), others.max() / others.min()
    is_apart = np.log(factor) > limits.times_the_spread * np.log(spread)
    return bool(is_apart and contained >= limits.contained)


def _contained(readers: Readers, label: np.intp, rater: np.intp) -> float:
    """How much of the smaller mask lies in the larger one, mean over the others who drew it."""
    shared, sizes = readers.pairs.shared[label, rater], readers.pairs.sizes[label]
    smaller = np.minimum(sizes[rater], sizes)
    others = (smaller > 0) & (np.arange(len(sizes)) != rater)
    return float((shared[others] / smaller[others]).mean())


def deviating_rater(readers: Readers, suspects: Sequence[Suspect], explained: Known) -> Finding:
    """A rater far from others who are close to each other is wrong, or the only one right."""
    rule = "deviating rater"
    apart = [
        one
        for one in suspects
        if readers.drawers[one.label] > 2
        and _is_apart(readers, one)
        and (one.label, one.rater) not in explained
    ]
    advice = "Look at this mask: another structure or another case? It counts as much as any other."
    if apart:
        message = sentence([_distance(readers, one) for one in apart])
        return about_raters(rule, apart[0].dice, "caution", message, advice)
    far = farthest_rater(readers.patterns, readers.pairs)
    if far is None:
        return about_raters(rule, None, None, "Fewer than three raters overlap.")
    message = (
        f"Rater {far.rater} has a mean Dice of {far.dice:.2f} to the others, who have "
        f"{far.others_dice:.2f} among themselves"
    )
    # Others who marked nothing have no volume to compare with.
    if np.isfinite(far.volume_ratio):
        message += f", and marked {far.volume_ratio:.2f} times their mean volume"
    if any(rater == far.rater for _, rater in explained):
        advice = "Why is said in another finding."
    return about_raters(rule, far.dice, "note" if far.deviates else None, f"{message}.", advice)


def _is_apart(readers: Readers, one: Suspect) -> bool:
    """Whether a mask shows something else."""
    limits = readers.limits
    only = len(readers.shared_labels) == 1
    share = limits.apart_dice if only else limits.apart_in_one_label
    return one.dice < share * one.others_dice


def _distance(readers: Readers, one: Suspect) -> str:
    return (
        f"{readers.name(one.label)}rater {one.rater} has a mean Dice of {one.dice:.2f} to the "
        f"others, who have {one.others_dice:.2f} among themselves"
    )
