"""Find slips of individual raters: masks that are empty, mirrored, shifted, or of another
structure.

For a rater whose masks are farther from the others' than these are from each other, explanations
are tried in this order: empty mask, swapped labels, mirrored or shifted mask, different volume. A
rater without an explanation drew something else, or is the only one who is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.displacement import Fit, MaskInBox, best_mirror, best_shift
from itk_consensus.assessment.agreement.label_swaps import label_swaps
from itk_consensus.assessment.directions import along_axes
from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.assessment.readers import Readers, about_raters, about_swap, or_fine
from itk_consensus.assessment.sentences import join_items
from itk_consensus.core.array_types import Floats, length_unit
from itk_consensus.fusing.deviating_rater import ROUNDING, farthest_rater

#: Mirroring and shifts are tried for at most this many raters, starting with the one farthest from
#: the others, and for this many labels of each.
MOST_RATERS_TRIED = 4
MOST_LABELS_TRIED = 3

#: Smaller masks are not compared, since they would fit anywhere.
LEAST_VOXELS = 8

#: Mirroring, which has no free parameter, is preferred unless a shift increases the Dice by more
#: than this over mirroring.
MIRROR_FIRST = 0.05

#: A mask is considered wrong if it covers more than this share of the image and is larger than the
#: others' masks by this factor.
MOST_OF_IMAGE = 0.5
TIMES_THE_OTHERS = 4.0

Known = set[tuple[int, int]]  #: (label index, rater) whose distance is already explained


def slips(readers: Readers, swapped: Iterable[int] = ()) -> Iterator[Finding]:
    """Apply all rules, from the most specific explanation to none.

    Parameters
    ----------
    swapped : iterable of int
        Raters whose mask is known to show another structure.
    """
    labels = range(len(readers.patterns.labels))
    explained: Known = {(label, rater) for rater in swapped for label in labels}
    yield from no_segmentation(readers, explained)
    yield from empty_masks(readers, explained)
    yield from lone_labels(readers)
    yield from swapped_labels(readers, explained)
    suspects = [one for one in find_suspects(readers) if (one.label, one.rater) not in explained]
    has_voxels = readers.patterns.codes is not None and len(readers.spacing) <= 3
    if has_voxels and readers.is_complete:
        yield from displaced_masks(readers, suspects, explained)
    yield from masks_apart(readers, explained)
    if readers.is_complete:
        yield from other_volume(readers, explained)
    yield from deviating_rater(readers, suspects, explained)


def no_segmentation(readers: Readers, explained: Known) -> Iterator[Finding]:
    """Find masks that cover most of the image although the others marked little, e.g.
    inverted masks.
    """
    pairs, found = readers.pairs, list[Finding]()
    annotated = np.maximum(pairs.marked.sum(axis=0).diagonal(), 1)
    usual = _medians_of_others(pairs.marked.transpose(2, 0, 1))
    far = (pairs.sizes > MOST_OF_IMAGE * annotated) & (usual > 0)
    far &= (pairs.sizes > TIMES_THE_OTHERS * usual) & (readers.drawers > 0)[:, None]
    for label, rater in np.argwhere(far):
        explained.add((int(label), int(rater)))
        facts: dict[str, Any] = {"share": pairs.sizes[label, rater] / annotated[rater]}
        facts["usual"] = usual[label, rater] / annotated[rater]
        found.append(_mask_finding("no segmentation", readers, label, rater, "do not use", **facts))
    yield from or_fine(found, "no segmentation")


def empty_masks(readers: Readers, explained: Known) -> Iterator[Finding]:
    """Find (nearly) empty masks of labels that most other raters drew."""
    sizes = readers.pairs.sizes
    # Volumes of the others include only voxels that this rater annotated.
    usual = _medians_of_others(readers.pairs.marked.transpose(2, 0, 1))
    is_far = sizes < readers.limits.nearly_empty * usual
    is_far &= (2 * readers.drawers > len(readers.annotating))[:, None]
    found = []
    for label, rater in np.argwhere(is_far):
        explained.add((int(label), int(rater)))
        drew = sizes[label, rater]
        facts: dict[str, Any] = {"drew": readers.volume(drew) if drew else "nothing"}
        facts["usual"] = readers.volume(usual[label, rater])
        found.append(_mask_finding("empty mask", readers, label, rater, **facts))
    yield from or_fine(found, "empty mask")


def _mask_finding(
    rule: str,
    readers: Readers,
    label: np.integer[Any] | int,
    rater: np.integer[Any] | int,
    severity: Severity = "look",
    **facts: Any,
) -> Finding:
    """Return a finding about one rater's mask of one label."""
    value = float(readers.pairs.sizes[label, rater])
    return about_raters(rule, value, severity, "", [int(rater)], readers.label(label), **facts)


def _medians_of_others(drawn: NDArray[np.int64]) -> Floats:
    """Return the (K, J) median volume among the other raters who drew a label; 0 if nobody did.

    Parameters
    ----------
    drawn : (J, K, J) ndarray
        Voxels given each label by each rater (last axis), within the part annotated by the rater on
        the first axis.
    """
    others = np.where(drawn > 0, drawn, np.inf)
    every = np.arange(len(drawn))
    others[every, :, every] = np.inf
    others.sort(axis=2)
    number = np.isfinite(others).sum(axis=2, keepdims=True)
    # For an even number, the median is the mean of the two middle values.
    middle = np.concatenate([np.maximum(number - 1, 0) // 2, number // 2], axis=2)
    medians = np.take_along_axis(others, middle, axis=2).mean(axis=2)
    return np.where(number[..., 0] > 0, medians, 0.0).T


def lone_labels(readers: Readers) -> Iterator[Finding]:
    """Find labels that only one rater uses."""
    sizes, found = readers.pairs.sizes, []
    for label in np.flatnonzero(readers.drawers == 1):
        rater, volume = int(sizes[label].argmax()), readers.volume(sizes[label].max())
        found.append(_mask_finding("lone label", readers, label, rater, volume=volume))
    yield from or_fine(found, "lone label")


def swapped_labels(readers: Readers, explained: Known) -> Iterator[Finding]:
    """Find raters who use other label values for structures than the rest do."""
    index = {int(value): place for place, value in enumerate(readers.patterns.labels)}
    found = []
    for one in label_swaps(readers.patterns):
        of_two = one.is_closed and readers.patterns.number_of_raters == 2
        who = [0, 1] if of_two else [one.rater]
        explained |= {(index[label], rater) for label in (*one.used, *one.meant) for rater in who}
        found.append(about_swap("swapped labels", who, one))
    yield from or_fine(found, "swapped labels")


@dataclass(frozen=True)
class Suspect:
    """A mask that is farther from the others' masks than these are from each other."""

    label: int  #: Index of the label
    rater: int
    dice: float  #: Mean Dice with the others
    #: Mean Dice among the others; if there is only one other, the limit for good agreement
    others_dice: float

    @cached_property
    def loss(self) -> float:
        """Dice among the others minus the Dice with them."""
        return self.others_dice - self.dice


def find_suspects(readers: Readers) -> list[Suspect]:
    """Return masks farther from the others' than these are from each other, the farthest first.

    Empty masks are not compared.
    """
    labels, limits = readers.shared_labels, readers.limits
    own, among = _own_and_others(readers.dice[labels], _weights(readers, labels))
    # With two raters it is unknown which one deviates: the first one is reported, and compared with
    # the limit for good agreement.
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


def _weights(readers: Readers, labels: NDArray[np.intp]) -> Floats:
    """Return (K, J, J) weights of the pairs' Dice: 1 if both raters drew the label, else 0.

    If raters annotated only parts of the image, the weight is the volume that they marked in the
    part annotated by both, since a Dice computed on a small overlap is meaningless.
    """
    drew = readers.pairs.sizes[labels] > 0
    both = (drew[:, :, None] & drew[:, None, :]).astype(float)
    if readers.is_complete:
        return both
    marked = readers.pairs.marked[labels]
    return np.asarray(both * (marked + marked.transpose(0, 2, 1)))


def _own_and_others(dice: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the (K, J) weighted mean Dice of each rater with the others, and that among
    the others.
    """
    weights = np.where(np.isfinite(dice), weights, 0.0)
    overlap = np.where(weights > 0, dice * weights, 0.0)
    own, total = overlap.sum(axis=2), weights.sum(axis=2)
    rest = overlap.sum(axis=(1, 2))[:, None] - 2 * own
    with np.errstate(invalid="ignore", divide="ignore"):
        return own / total, rest / (weights.sum(axis=(1, 2))[:, None] - 2 * total)


def displaced_masks(
    readers: Readers, suspects: Sequence[Suspect], explained: Known
) -> Iterator[Finding]:
    """Find raters whose masks fit the others' after mirroring about the image centre or a shift.

    Since a file is mirrored or shifted as a whole, most of the rater's labels must fit.
    """
    found: dict[str, list[Finding]] = {"mirrored mask": [], "shifted mask": []}
    for masks in _suspects_by_rater(readers, suspects):
        tried = [(one, _displacement(readers, one)) for one in masks[:MOST_LABELS_TRIED]]
        for rule, findings in found.items():
            fitting = [(one, facts) for one, (why, facts) in tried if why == rule]
            if 2 * len(fitting) > len(tried):
                one, facts = fitting[0]
                # The finding concerns all labels, since the whole file is displaced.
                after = facts["after"]
                findings.append(about_raters(rule, after, "look", "", [one.rater], **facts))
                explained |= {(one.label, one.rater) for one in masks}
    for rule, findings in found.items():
        yield from or_fine(findings, rule)


def _suspects_by_rater(readers: Readers, suspects: Sequence[Suspect]) -> list[list[Suspect]]:
    """Group suspects by rater, for raters most of whose labels are suspect; the largest
    label first.
    """
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


def _displacement(readers: Readers, suspect: Suspect) -> tuple[str, dict[str, Any]]:
    """Return the rule that explains why a mask is far from the others, and its facts; ("",
    {}) if none.
    """
    placed = _place_masks(readers, suspect)
    if placed is None:
        return "", {}
    mine, others = placed
    before = mine.dice(others)
    flip = best_mirror(mine, others, _shape(readers))
    move = best_shift(mine, others)
    times = readers.limits.explained_times if readers.drawers[suspect.label] > 2 else 1.0
    is_mirror = flip.dice + MIRROR_FIRST >= move.dice
    if is_mirror and _explains(readers, suspect, before, flip, times):
        return "mirrored mask", _displacement_facts(readers, suspect, before, flip)
    is_far = _shift_length(readers, move) >= readers.limits.least_shift
    # Any two blobs overlap after some shift; masks without initial overlap must therefore fit
    # better.
    if is_far and _explains(readers, suspect, before, move, times if before else 1.0):
        return "shifted mask", _displacement_facts(readers, suspect, before, move)
    return "", {}


def _place_masks(readers: Readers, suspect: Suspect) -> tuple[MaskInBox, MaskInBox] | None:
    """Return a suspect's mask, and the share of the other raters who gave the label at each
    voxel.
    """
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
        found.append(MaskInBox.of(patterns.crop(box).expand(values), box))
    if found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _shape(readers: Readers) -> tuple[int, ...]:
    codes = readers.patterns.codes
    assert codes is not None
    return codes.shape


def _explains(readers: Readers, suspect: Suspect, before: float, fit: Fit, times: float) -> bool:
    """Return whether an alignment brings a mask about as close to the others as these are
    to each other.
    """
    limits = readers.limits
    is_near = 1 - fit.dice <= times * (1 - suspect.others_dice) + ROUNDING
    gain = max(limits.least_gain, limits.explained_share * suspect.loss)
    # A mask that is wrong for another reason also fits somewhat better elsewhere; the alignment
    # must therefore remove most of the difference between its Dice and 1.
    is_most = fit.dice - before >= limits.displaced_share * (1 - before)
    return is_near and is_most and fit.dice - before >= gain


def _shift_length(readers: Readers, fit: Fit) -> float:
    """Return the physical length of a shift in mm."""
    return float(np.linalg.norm(np.multiply(fit.shift, readers.spacing)))


def _displacement_facts(
    readers: Readers, suspect: Suspect, before: float, fit: Fit
) -> dict[str, Any]:
    facts: dict[str, Any] = {"before": before, "after": fit.dice}
    if fit.axes:
        names = "xyz"[: len(readers.spacing)]
        axes = sorted(names[-1 - axis] for axis in fit.axes)
        return facts | {"axes": axes, "way": f"along {join_items(axes)}"}
    unit = length_unit(readers.spacing)
    # The shift corrects the mask, so the displacement is its opposite.
    error = (-np.multiply(fit.shift, readers.spacing)[::-1]).tolist()
    return facts | {"off": along_axes(error, unit), "error": error, "unit": unit}


def masks_apart(readers: Readers, explained: Known) -> Iterator[Finding]:
    """Find raters whose masks do not overlap: different structures, or different patients.

    If more than half of the raters drew in one place, each of the others is reported; otherwise no
    consensus is possible.
    """
    found = []
    for label in np.flatnonzero(readers.drawers > 1):
        large = readers.pairs.sizes[label] >= LEAST_VOXELS
        known = [j for j in np.flatnonzero(large).tolist() if (int(label), j) not in explained]
        if len(known) < 2:
            continue
        some = np.ix_(known, known)
        # Two raters are compared only if each annotated voxels that the other one marked.
        met = np.minimum(readers.pairs.marked[label], readers.pairs.marked[label].T) >= LEAST_VOXELS
        touching = (readers.pairs.shared[label][some] > 0) | ~met[some]
        _, group = scipy.sparse.csgraph.connected_components(touching)
        most = np.bincount(group).max()
        main = np.flatnonzero(np.bincount(group) == most)[0]
        first = tuple(int(rater) for rater, own in zip(known, group, strict=True) if own == main)
        second = tuple(int(rater) for rater in known if rater not in first)
        if second and 2 * most <= len(known):
            facts: dict[str, Any] = {
                "most": most,
                "number": len(known),
                "first": first,
                "second": second,
            }
            about = readers.label(label)
            found.append(about_raters("apart", float(most), "do not use", "", (), about, **facts))
            explained |= {(int(label), rater) for rater in second}
        elif len(known) > 2:
            for rater in second:
                explained.add((int(label), rater))
                found.append(replace(_mask_finding("apart", readers, label, rater), kind="some"))
    yield from or_fine(found, "apart")


def other_volume(readers: Readers, explained: Known) -> Iterator[Finding]:
    """Find masks that are far larger or smaller than the others' masks in the same place."""
    found = []
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
            readers, ratio, others, _contained_share(readers, label, rater)
        ):
            continue
        explained.add((int(label), int(rater)))
        facts: dict[str, Any] = {"drew": readers.volume(sizes[label, rater]), "ratio": ratio}
        facts["usual"] = readers.volume(others.min(), others.max())
        kind = "more" if ratio > 1 else "less"
        found.append(
            replace(_mask_finding("volume apart", readers, label, rater, **facts), kind=kind)
        )
    yield from or_fine(found, "volume apart")


def _is_other_extent(
    readers: Readers, ratio: float, others: NDArray[np.int64], contained: float
) -> bool:
    """Return whether a volume is far outside the others' range, with one mask contained in
    the other.
    """
    limits = readers.limits
    factor, spread = max(ratio, 1 / ratio), others.max() / others.min()
    is_apart = np.log(factor) > limits.times_the_spread * np.log(spread)
    return bool(is_apart and contained >= limits.contained)


def _contained_share(readers: Readers, label: np.intp, rater: np.intp) -> float:
    """Return the share of the smaller mask inside the larger one, averaged over other raters."""
    shared, sizes = readers.pairs.shared[label, rater], readers.pairs.sizes[label]
    smaller = np.minimum(sizes[rater], sizes)
    others = (smaller > 0) & (np.arange(len(sizes)) != rater)
    return float((shared[others] / smaller[others]).mean())


def deviating_rater(
    readers: Readers, suspects: Sequence[Suspect], explained: Known
) -> Iterator[Finding]:
    """Find raters far from others who agree with each other; they may be the only ones right."""
    rule = "deviating rater"
    found = []
    for one in suspects:
        is_known = (one.label, one.rater) in explained
        if not is_known and readers.drawers[one.label] > 2 and _is_apart(readers, one):
            facts: dict[str, Any] = {"own": one.dice, "among": one.others_dice}
            about = readers.label(one.label)
            found.append(about_raters(rule, one.dice, "look", "", [one.rater], about, **facts))
    if found:
        yield from found
        return
    far = farthest_rater(readers.patterns, readers.pairs)
    if far is None:
        yield about_raters(rule, None, None, "unknown")
        return
    facts = {"own": far.dice, "among": far.others_dice, "ratio": far.volume_ratio}
    # The ratio is infinite or NaN if the others marked nothing.
    kind = "volume" if np.isfinite(far.volume_ratio) else ""
    note: Severity = "note" if far.deviates else None
    yield about_raters(rule, far.dice, note, kind if note else "fine", [far.rater], **facts)


def _is_apart(readers: Readers, one: Suspect) -> bool:
    """Return whether a mask is so far from the others that it may depict something else."""
    limits = readers.limits
    only = len(readers.shared_labels) == 1
    share = limits.apart_dice if only else limits.apart_in_one_label
    return one.dice < share * one.others_dice
