"""The cases of Fit: images or files, looked at once, then read whenever training asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itk_consensus.deep.cases import Case
from itk_consensus.errors import InputError
from itk_consensus.filters.deep_inputs import (
    CaseSummary,
    DeepInput,
    RaterId,
    RaterIds,
    as_list,
    ids_per_case,
    load_input,
)
from itk_consensus.images.files import read_image


@dataclass(frozen=True)
class CaseSource:
    """One case as it was given to Fit; images may be paths of files."""

    image: Any  #: As `load_input` takes them
    labels: Any
    truth: Any
    rater_ids: RaterIds | None
    reading: Mapping[str, Any]  #: The other keywords of `load_input`

    def load(self) -> DeepInput:
        """Read what is a file, and check that all of it shares one space."""
        return load_input(
            _opened(self.image),
            _opened(self.labels),
            truth=_opened(self.truth),
            rater_ids=self.rater_ids,
            **self.reading,
        )

    def case(self, labels: Sequence[int], raters: Mapping[RaterId, int]) -> Case:
        """What training sees of it; made anew at every call."""
        return self.load().as_case(labels, raters)


def case_sources(
    images: Iterable[Any],
    label_lists: Iterable[Any],
    truths: Iterable[Any] | None,
    rater_ids: RaterIds | Sequence[RaterIds] | None,
    *,
    owner: str,
    **reading: Any,
) -> list[CaseSource]:
    """The cases of Fit, none of them read yet."""
    images = as_list(images, f"{owner}: Fit needs a list of images")
    label_lists = as_list(label_lists, f"{owner}: Fit needs a list of label lists")
    known = [None] * len(images)
    if truths is not None:
        known = as_list(truths, f"{owner}: Fit needs a list of truths, or None")
    if not images or not len(images) == len(label_lists) == len(known):
        raise InputError(
            f"Fit needs as many label lists (and truths) as images, "
            f"got {len(images)} images, {len(label_lists)} label lists and {len(known)} truths",
            owner=owner,
        )
    without = [number for number, truth in enumerate(known) if truth is None]
    if truths is not None and without:
        raise InputError(
            f"truths must be given for all cases, case {without[0]} has none", owner=owner
        )
    ids = ids_per_case(rater_ids, len(images), owner)
    return [
        CaseSource(
            image,
            # A case is read more than once.
            list(labels) if isinstance(labels, Iterator) else labels,
            truth,
            who,
            {**reading, "owner": f"{owner}: case {number}"},
        )
        for number, (image, labels, truth, who) in enumerate(
            zip(images, label_lists, known, ids, strict=True)
        )
    ]


def summaries_of(sources: Sequence[CaseSource], owner: str) -> list[CaseSummary]:
    """Look at every case, one at a time, and check that they are of one kind."""
    found = [source.load().summary() for source in sources]
    if len({len(one.shape) for one in found}) > 1:
        raise InputError("Fit needs cases of one dimension, got 2D and 3D", owner=owner)
    numbers = {one.number_of_channels for one in found}
    if len(numbers) > 1:
        raise InputError(f"Fit needs images of one number of channels, got {numbers}", owner=owner)
    return found


def _opened(given: Any) -> Any:
    """What files hold, in place of their paths."""
    if isinstance(given, (str, os.PathLike)):
        return read_image(given)
    if isinstance(given, (list, tuple)):
        return [_opened(one) for one in given]
    return given
