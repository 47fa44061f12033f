"""Selection of the listed disputes: those larger than the readers' usual spread, or than a
set size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from itk_consensus.review.disputes import Dispute
from itk_consensus.review.thickness import RegionSize, usual_spread

#: Lists of up to this length are shown in full.
_SHORT = 60
#: Disputes that reach both values (ml and mm) are always listed, however large the spread of the
#: readers.
_NEVER_SMALL = RegionSize(0.5, 5.0)
EVERY_SIZE = RegionSize(0.0, 0.0)


@dataclass(frozen=True)
class Listing:
    """The smallest listed size, and further conditions on listed disputes."""

    least: RegionSize = EVERY_SIZE
    #: Structure, or label of a label map, as name and number; None for all.
    part: tuple[str, int] | None = None
    slice_: int | None = None  #: Only disputes in this slice, along the third axis from the end

    @classmethod
    def beyond_spread(cls, sizes: Mapping[int, RegionSize]) -> Listing:
        """List disputes thicker than the readers' usual spread; a short list is shown in full."""
        if len(sizes) <= _SHORT:
            return cls()
        spread = usual_spread(list(sizes.values()))
        thicker = [one.mm for one in sizes.values() if one.mm > spread.mm and one.ml >= spread.ml]
        if not thicker:
            return cls()
        ml, mm = _NEVER_SMALL
        return cls(RegionSize(min(spread.ml, ml), min(*thicker, mm)))

    def is_small(self, size: RegionSize) -> bool:
        """Return whether a size is below the smallest listed size."""
        # A person typed the limit, with only the digits that were displayed.
        return size.ml < 0.999 * self.least.ml or size.mm < 0.999 * self.least.mm

    def lists(self, dispute: Dispute, size: RegionSize, slices: range) -> bool:
        """Return whether a dispute that extends over the given slices is listed."""
        if self.is_small(size):
            return False
        if self.part is not None:
            structure, label = self.part
            if dispute.structure != structure or label not in dispute.labels:
                return False
        return self.slice_ is None or self.slice_ in slices

    @property
    def words(self) -> str:
        """Describe the unlisted disputes, as the reason for a decision on all of them."""
        return f"smaller than {self.least.ml:.3g} ml or thinner than {self.least.mm:.3g} mm"
