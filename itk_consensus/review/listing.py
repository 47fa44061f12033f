"""Which disputes are listed: those that are larger than readers' usual spread, or as one asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from itk_consensus.review.disputes import Dispute
from itk_consensus.review.thickness import RegionSize, usual_spread

#: A list this short is shown whole.
_SHORT = 60
#: What reaches both of these is never left out by itself, however far readers are apart.
_NEVER_SMALL = RegionSize(0.5, 5.0)
EVERY_SIZE = RegionSize(0.0, 0.0)


@dataclass(frozen=True)
class Listing:
    """Smallest size that is listed, and what else a dispute must have."""

    least: RegionSize = EVERY_SIZE
    #: Of which structure, or label of a label map: its name and number; None of all.
    part: tuple[str, int] | None = None
    slice_: int | None = None  #: Through which slice, of the third axis from the end

    @classmethod
    def beyond_spread(cls, sizes: Mapping[int, RegionSize]) -> Listing:
        """What is thicker than readers' usual spread; a short list whole."""
        if len(sizes) <= _SHORT:
            return cls()
        spread = usual_spread(list(sizes.values()))
        thicker = [one.mm for one in sizes.values() if one.mm > spread.mm and one.ml >= spread.ml]
        if not thicker:
            return cls()
        ml, mm = _NEVER_SMALL
        return cls(RegionSize(min(spread.ml, ml), min(*thicker, mm)))

    def is_small(self, size: RegionSize) -> bool:
        """Whether a size is below the smallest that is listed."""
        # Typed by a person, with the digits that were shown.
        return size.ml < 0.999 * self.least.ml or size.mm < 0.999 * self.least.mm

    def lists(self, dispute: Dispute, size: RegionSize, slices: range) -> bool:
        """Whether a dispute, which goes through some slices, is listed."""
        if self.is_small(size):
            return False
        if self.part is not None:
            structure, label = self.part
            if dispute.structure != structure or label not in dispute.labels:
                return False
        return self.slice_ is None or self.slice_ in slices

    @property
    def words(self) -> str:
        """What is not listed, as the reason of a decision about all of that."""
        return f"smaller than {self.least.ml:.3g} ml or thinner than {self.least.mm:.3g} mm"
