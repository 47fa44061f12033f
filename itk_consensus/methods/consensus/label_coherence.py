"""Coherence vote for one label, computed in blocks of the label's box.

Bands and windows depend on a limited neighbourhood, and quantities over the box (shared power, the
maximum, votes on both sides of the contour) are sums of integers or maxima. The result computed in
blocks is therefore bitwise identical to that computed on the whole box, which is the only block if
the volume is in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.work import report
from itk_consensus.methods.consensus.cut import (
    CUT_ROUNDS,
    LEAST_COMMON,
    TIE_TOLERANCE,
    Cut,
    contour_reach,
    counted_voxels,
    cut_levels,
    levels,
)
from itk_consensus.methods.consensus.scale_bands import (
    TRUNCATE,
    Coherence,
    Scales,
    coherence,
    common_share,
)
from itk_consensus.space.band_gains import KeptShares
from itk_consensus.space.blocks import Blocked, Blocks, Shelf
from itk_consensus.space.blocks import kept as kept_small
from itk_consensus.space.boxes import Box, relative_to
from itk_consensus.space.contour_cut import CutCounts, count_cut, cut_answer
from itk_consensus.space.gaussian import Singles
from itk_consensus.space.rater_field import RaterField


class _BlockAnswer(NamedTuple):
    """Intermediate result for one block."""

    answer: Singles
    detail: Singles  #: Weight of the unsmoothed votes at the grid points


@dataclass(frozen=True)
class LabelField:
    """The raters' masks of one label in its box, which may extend beyond the volume."""

    blocks: Blocks  #: Blocks of the box, whose coordinates begin at 0
    read: Callable[[Box], RaterField]
    weights: Floats
    scales: Scales

    def answer(self, pack: Callable[[Singles], Any]) -> tuple[Blocked, Cut]:
        """Return the probability of each voxel, with blocks compressed by `pack`, and the cut."""
        return _AnswerBuilder(self).answer(pack)


class _AnswerBuilder:
    """Computes the result for one label step by step."""

    def __init__(self, field: LabelField) -> None:
        self.field, self.boxes = field, field.blocks.boxes()
        #: `_BlockAnswer` and gains around each block, stored on the shelf if there are several
        #: blocks; None for blocks without marks.
        self.found: list[tuple[Any, Any] | None] = []
        self.shelf = Shelf() if len(self.boxes) > 1 else None
        #: Masks of a single block, which is read only once.
        self._whole: RaterField | None = None
        self._counted: Mask | None = None

    def answer(self, pack: Callable[[Singles], Any]) -> tuple[Blocked, Cut]:
        """Return the probabilities and the cut, as `LabelField.answer` does."""
        base, strongest = (0, 0), list[float]()
        for number, box in enumerate(self.boxes):
            one = self._coherence(box)
            if one is None:
                self.found.append(None)
                strongest.append(0.0)
            else:
                base = base[0] + one.base[0], base[1] + one.base[1]
                strongest.append(float(one.answer.max()))
                scales = self.field.scales
                own = scales.points(box, scales.around_bands(box), and_next=True)
                detail = np.ascontiguousarray(one.kept.detail[own])
                answer = _BlockAnswer(one.answer, detail)
                self.found.append((self._store(answer), self._store(one.kept)))
            report(0.5 * (number + 1) / len(self.boxes))
        cut = self._find_cut(common_share(base), max(strongest))
        parts = [self._probability(number, cut, pack) for number in range(len(self.boxes))]
        return Blocked(self.field.blocks, np.dtype(np.float32), parts), cut

    def _read(self, box: Box) -> RaterField:
        if self.shelf is not None:
            return self.field.read(box)
        if self._whole is None:
            self._whole = self.field.read(box)
        return self._whole

    def _store(self, value: Any) -> Any:
        return value if self.shelf is None else self.shelf.put(value)

    def _load(self, number: int) -> _BlockAnswer | None:
        found = self.found[number]
        if found is None:
            return None
        answer: _BlockAnswer = found[0].value() if self.shelf else found[0]
        return answer

    def _coherence(self, box: Box) -> Coherence | None:
        """Return gains and votes of a block; None if there is no mark in its neighbourhood."""
        scales = self.field.scales
        raters = self._read(scales.around_power(scales.around_windows(box)))
        if self.shelf is not None and not raters.masks.any():
            return None
        return coherence(raters, box, self.field.weights, scales)

    def _find_cut(self, common: float, strongest: float) -> Cut:
        """Threshold the result, then iterate: compute cut levels from the previous regions."""
        # Starting at 1/2 would lose structures that most raters miss, so start at half of the
        # maximum, but only if raters share enough power.
        begin = min(0.5, strongest / 2) if common >= LEAST_COMMON else 0.5
        # Vote fractions often lie exactly at the threshold; rounding must not decide on which side
        # they fall.
        chosen = self._choose(lambda one, _: one.answer > begin + TIE_TOLERANCE)
        cut = Cut(0.0, 1.0, 0.5)
        for _ in range(CUT_ROUNDS):
            counts = [self._count(number, chosen) for number in range(len(self.boxes))]
            cut = cut_levels(reduce(add, (one for one in counts if one is not None)))
            chosen = self._choose(self._above(cut))
            if not chosen.any():
                break
        return cut

    def _above(self, cut: Cut) -> Callable[[_BlockAnswer, Mask], Mask]:
        def above(one: _BlockAnswer, chosen: Mask) -> Mask:
            cut_answer(one.answer, self._detail(one), levels(cut), chosen)
            return chosen

        return above

    def _choose(self, above: Callable[[_BlockAnswer, Mask], Mask]) -> Blocked:
        """Return the voxels that `above` selects in each block."""
        parts: list[Any] = []
        for number in range(len(self.boxes)):
            one = self._load(number)
            if one is None:
                parts.append(np.array(False))
                continue
            chosen = above(one, np.empty(one.answer.shape, bool))
            parts.append(chosen if self.shelf is None else kept_small(chosen))
        return Blocked(self.field.blocks, np.dtype(bool), parts)

    def _count(self, number: int, chosen: Blocked) -> CutCounts | None:
        found, box, scales = self.found[number], self.boxes[number], self.field.scales
        if found is None:
            return None
        kept: KeptShares = found[1].value() if self.shelf else found[1]
        around = scales.around_bands(box)
        raters = self._read(around)
        return count_cut(
            raters,
            self.field.weights,
            np.ascontiguousarray(chosen.read(around)),
            self._counted_in(raters, box, around),
            contour_reach(scales.sides),
            kept,
            scales.of_bands,
            truncate=TRUNCATE,
        )

    def _counted_in(self, raters: RaterField, box: Box, around: Box) -> Mask:
        if self._counted is not None:
            return self._counted
        counted = counted_voxels(raters, self.field.scales.sides)
        if self.shelf is None:
            self._counted = counted
            return counted
        own = np.zeros_like(counted)
        here = relative_to(box, around)
        own[here] = counted[here]
        return own

    def _detail(self, one: _BlockAnswer) -> KeptShares:
        """Return the shares required by `cut_answer`."""
        return KeptShares(one.detail[:0], one.detail, self.field.scales.steps)

    def _probability(self, number: int, cut: Cut, pack: Callable[[Singles], Any]) -> Any:
        one = self._load(number)
        if one is None:
            return np.zeros((), np.float32)
        self.found[number] = None
        cut_answer(one.answer, self._detail(one), levels(cut))
        packed = pack(one.answer)
        return packed if self.shelf is None else self.shelf.put(packed)._replace(dtype=packed.dtype)
