"""Why the consensus is what it is, in numbers of the case at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from itk_consensus.algorithms.coherence_curve import Resolution
from itk_consensus.algorithms.shared_consensus import SharedConsensus
from itk_consensus.filters.listed_components import ListedComponent, ListedComponents

#: Components that the explanation names; all of them are listed elsewhere.
NAMED_COMPONENTS = 3


def explain(
    choice: str,
    found: SharedConsensus,
    resolution: Mapping[int, Resolution],
    lone: tuple[int, int],
    changed: ListedComponents,
    labels: Sequence[int],
) -> str:
    """One paragraph.

    Parameters
    ----------
    resolution : mapping of int to Resolution
        By label.
    lone : (int, int)
        Components that one rater only marked, and all components.
    labels : sequence of int
        The label value behind each index.
    """
    raters = found.raters.number_of_raters
    if raters == 1:
        return "One rater annotated, and the answer is that rater's labels."
    sentences = [
        f"The {choice} of {raters} raters was taken: detail that raters share is kept, the rest "
        "is smoothed.",
        *_copies(found),
        *_agreement(resolution),
        *_lone(lone),
        *_missed(found, labels),
        *_changed("that more than half of the raters marked", "lost", changed.lost),
        *_changed("that nobody marked", "gained", changed.gained),
    ]
    return " ".join(sentences)


def _copies(found: SharedConsensus) -> Iterator[str]:
    for group in found.groups:
        if len(group) > 1:
            names = ", ".join(map(str, group[:-1])) + f" and {group[-1]}"
            yield f"Raters {names} are nearly copies of each other and count once."


def _agreement(resolution: Mapping[int, Resolution]) -> Iterator[str]:
    if not resolution:
        yield "Raters differ nowhere."
    elif len(resolution) == 1:
        (value,) = resolution.values()
        yield f"Raters share {_words(value)}."
    else:
        finest = min(resolution, key=lambda label: resolution[label].millimetres)
        coarsest = max(resolution, key=lambda label: resolution[label].millimetres)
        yield (
            f"Raters share {_words(resolution[finest])} at best (label {finest}), and "
            f"{_words(resolution[coarsest])} at worst (label {coarsest})."
        )


def _words(resolution: Resolution) -> str:
    size = f"{resolution.millimetres:.2g} mm"
    return {
        "=": f"detail down to {size}",
        "<=": f"detail down to {size} or finer",
        ">=": f"no detail up to {size}",
    }[resolution.bound]


def _lone(lone: tuple[int, int]) -> Iterator[str]:
    one, number = lone
    if number == 1 and one:
        yield "The only component was marked by one rater only."
    elif number > 1:
        were = "was" if one == 1 else "were"
        yield f"{one or 'None'} of {number} components {were} marked by one rater only."


def _missed(found: SharedConsensus, labels: Sequence[int]) -> Iterator[str]:
    for label, lesions in found.missed.items():
        value = labels[label]
        yield (
            f"{lesions.number} lesion{'s' * (lesions.number != 1)} of label {value} that few "
            f"raters found, but found alike, {'was' if lesions.number == 1 else 'were'} added: a "
            f"rater finds {lesions.detection:.0%} of what two or more found, and more than "
            f"{max(lesions.threshold, 1):.1f} finders are enough."
        )


def _changed(which: str, what: str, listed: Sequence[ListedComponent]) -> Iterator[str]:
    if not listed:
        return
    named = "; ".join(map(str, listed[:NAMED_COMPONENTS]))
    more = "" if len(listed) <= NAMED_COMPONENTS else f"; and {len(listed) - NAMED_COMPONENTS} more"
    one = len(listed) == 1
    yield (
        f"{len(listed)} component{'s' * (not one)} {which} {'was' if one else 'were'} {what}: "
        f"{named}{more}."
    )
