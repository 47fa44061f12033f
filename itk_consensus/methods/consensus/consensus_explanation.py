"""Explain a consensus in text, using the values measured for the case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import length_unit
from itk_consensus.core.work import in_threads
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.methods.consensus.components import (
    ChangedComponents,
    Component,
    changed_components,
    count_lone_components,
)
from itk_consensus.methods.consensus.curve import Resolution
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus
from itk_consensus.space.boxes import Box, enclosing_box


class ListedComponent(NamedTuple):
    """A connected component of a label, with at least two voxels."""

    label: int
    voxels: int
    millilitres: float  #: Volume in ml; in 2D the slice is assumed to be 1 mm thick
    #: Position of the voxel nearest to the component's centroid, in mm and ITK's order (x, y, z).
    position: tuple[float, ...]
    unit: str = "mm"  #: Unit of lengths; "voxels" for arrays, whose volumes in ml are NaN

    def __str__(self) -> str:
        place = ", ".join(f"{value:.4g}" for value in self.position)
        volume = f" ({self.millilitres:.3g} ml)" if self.unit == "mm" else ""
        size = f"{self.voxels} voxels{volume}"
        return f"{size} of label {self.label} at ({place})"


class ListedComponents(NamedTuple):
    """Lost components that most raters marked, and gained components that no rater marked."""

    lost: tuple[ListedComponent, ...]
    gained: tuple[ListedComponent, ...]


def listed_components(
    raters: RaterMasks, decision: NDArray[Any], labels: Sequence[int], geometry: ImageGeometry
) -> ListedComponents:
    """Return the changed components of each foreground label, the largest first."""
    spacing = geometry.array_spacing
    unit = length_unit(spacing)
    chosen_boxes = dict(enumerate(scipy.ndimage.find_objects(decision), start=1))

    def changed(index: int) -> tuple[Box, ChangedComponents]:
        # If the label is neither marked nor chosen anywhere, there is nothing to compare.
        box = enclosing_box(raters.marked_box(index), chosen_boxes.get(index))
        if box is None:
            return (), ChangedComponents([], [])
        share = raters.share(index, box)
        return box, changed_components(decision[box] == index, share, spacing)

    def listed(index: int, box: Box, found: list[Component]) -> Iterator[ListedComponent]:
        for voxels, millilitres, place in found:
            position = geometry.position(
                [p + part.start for p, part in zip(place, box, strict=True)]
            )
            known = millilitres if unit == "mm" else nan
            yield ListedComponent(labels[index], voxels, known, position, unit)

    indices = range(1, len(labels))
    found = dict(zip(indices, in_threads(changed, indices), strict=True))
    return ListedComponents(
        tuple(row for i, (box, one) in found.items() for row in listed(i, box, one.lost)),
        tuple(row for i, (box, one) in found.items() for row in listed(i, box, one.gained)),
    )


def lone_components(raters: RaterMasks) -> tuple[int, int]:
    """Count foreground components marked by only one rater, and all foreground components."""

    def count(index: int) -> tuple[int, int]:
        box = raters.marked_box(index)
        if box is None:
            return 0, 0
        return count_lone_components(raters.marks(index, box))

    counts = list(in_threads(count, range(1, raters.number_of_labels)))
    return sum(lone for lone, _ in counts), sum(number for _, number in counts)


#: Maximum number of components that the explanation lists.
NAMED_COMPONENTS = 3


def explain(
    choice: str,
    found: SharedConsensus,
    resolution: Mapping[int, Resolution] | None,
    lone: tuple[int, int],
    changed: ListedComponents,
    labels: Sequence[int],
) -> str:
    """Explain a consensus in one paragraph.

    Parameters
    ----------
    resolution : mapping of int to Resolution, optional
        Resolution by label; omitted from the text if None.
    lone : (int, int)
        Number of components marked by one rater only, and number of all components.
    labels : sequence of int
        Label value of each index.
    """
    raters = found.raters.number_of_raters
    if raters == 1:
        return "One rater annotated, and the answer is that rater's labels."
    sentences = [
        f"The {choice} of {raters} raters was used.",
        *_copies(found),
        *_absent(found, labels),
        *_not_asked(found, labels),
        *(() if resolution is None else _agreement(resolution)),
        *_lone(lone),
        *_rescued(found, labels),
        *_bounds(found),
        *_changed("that more than half of the raters marked", "lost", changed.lost),
        *_changed("that nobody marked", "gained", changed.gained),
    ]
    return " ".join(sentences)


def _copies(found: SharedConsensus) -> Iterator[str]:
    for group in found.groups:
        if len(group) > 1:
            yield f"{_raters(group)} are nearly copies of each other and count once."


def _agreement(resolution: Mapping[int, Resolution]) -> Iterator[str]:
    if not resolution:
        yield "Raters differ nowhere."
    elif len(resolution) == 1:
        (value,) = resolution.values()
        yield f"Raters agree on {_words(value)}; {_SMOOTHED[value.bound]}."
    else:
        finest = min(resolution, key=lambda label: resolution[label].millimetres)
        coarsest = max(resolution, key=lambda label: resolution[label].millimetres)
        yield (
            f"Raters agree on {_words(resolution[finest])} at best (label {finest}), and on "
            f"{_words(resolution[coarsest])} at worst (label {coarsest}); finer detail was "
            "smoothed."
        )


#: Phrases that describe the smoothing, keyed by the bound of the resolution.
_SMOOTHED = {
    "=": "finer detail was smoothed",
    "<=": "hardly anything was smoothed",
    ">=": "all detail was smoothed",
}


def _words(resolution: Resolution) -> str:
    size = f"{resolution.millimetres:.2g} {resolution.unit}"
    return {
        "=": f"features larger than about {size}",
        "<=": f"features down to {size} or finer",
        ">=": f"no features up to {size}",
    }[resolution.bound]


def _lone(lone: tuple[int, int]) -> Iterator[str]:
    one, number = lone
    if number == 1 and one:
        yield "The only component was marked by one rater only."
    elif number > 1:
        were = "was" if one == 1 else "were"
        yield f"{one or 'None'} of {number} components {were} marked by one rater only."


def _absent(found: SharedConsensus, labels: Sequence[int]) -> Iterator[str]:
    for label, asked in found.voters.items():
        if asked.absent:
            members = [len(group) for group in found.groups]
            drew = sum(n for n, did in zip(members, asked.drew, strict=True) if did)
            of = sum(n for n, did in zip(members, asked.annotated, strict=True) if did)
            yield f"Label {labels[label]} is absent: {of - drew} of {of} raters left it empty."


def _not_asked(found: SharedConsensus, labels: Sequence[int]) -> Iterator[str]:
    for label, asked in found.voters.items():
        away = [rater for group in asked.elsewhere for rater in found.groups[group]]
        if away:
            yield (
                f"{_raters(away)} marked a lot that no other rater did, and {_were(len(away))} "
                f"left out of the outline of label {labels[label]}."
            )


def _raters(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Rater {numbers[0]}"
    return f"Raters {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _rescued(found: SharedConsensus, labels: Sequence[int]) -> Iterator[str]:
    for label, asked in found.voters.items():
        if asked.rescued:
            number = len(asked.rescued)
            least = min(one.there for one in asked.rescued)
            yield (
                f"{_count(number, 'lesion')} of label {labels[label]} that no majority found "
                f"{_were(number)} added: from how much these raters overlook of the others, the "
                f"probability of being there is {least:.2f} or more."
            )


def _bounds(found: SharedConsensus) -> Iterator[str]:
    bounds = found.bounds.values()
    restored = sum(one.restored for one in bounds)
    if restored:
        yield f"{_count(restored, 'component')} that a majority marked {_were(restored)} kept."
    removed = sum(one.removed for one in bounds)
    if removed:
        yield f"{_count(removed, 'component')} that no majority found {_were(removed)} left out."
    untied = sum(one.untied for one in bounds)
    if untied:
        yield (
            f"Raters share what they leave out inside: {_count(untied, 'voxel')} that half of them "
            f"marked {_were(untied)} left out."
        )
    small = sum(one.given_up > 0 for one in bounds)
    if small:
        yield (
            f"{_count(small, 'small label')} among others {_were(small)} held to the size that "
            "most of its raters drew."
        )
    regained = sum(one.regained for one in bounds)
    if regained:
        yield f"{_count(regained, 'voxel')} went back to the label that most raters gave them."
    returned = sum(one.returned for one in bounds)
    if returned:
        yield (
            f"In {_count(returned, 'region')} the outline is the vote's: by the other one a reader "
            "would lose more than the readers' own spread explains."
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _changed(which: str, what: str, listed: Sequence[ListedComponent]) -> Iterator[str]:
    if not listed:
        return
    named = "; ".join(map(str, listed[:NAMED_COMPONENTS]))
    more = "" if len(listed) <= NAMED_COMPONENTS else f"; and {len(listed) - NAMED_COMPONENTS} more"
    number = "1 component" if len(listed) == 1 else f"{len(listed)} components"
    yield f"{number} {which} {_were(len(listed))} {what}: {named}{more}."
