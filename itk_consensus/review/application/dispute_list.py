"""The list of disputes: selection, one row per dispute, and disputes too small to be listed."""

from __future__ import annotations

from typing import Any

import numpy as np

from itk_consensus.review.application.words import DecisionWords, markers
from itk_consensus.review.disputes import Dispute
from itk_consensus.review.listing import Listing
from itk_consensus.review.rater_colors import rater_color
from itk_consensus.review.session import ReviewSession
from itk_consensus.review.thickness import RegionSize

#: Maximum number of rows on one page of the list; more rows would slow down the browser.
_MOST_ROWS = 1000
#: With more readers than this, a row shows the number of readers who marked the dispute instead of
#: one dot per reader.
_MOST_DOTS = 5


class DisputeList:
    """Listed disputes of a session; call `tell` after each change of the session."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.listing = Listing()
        self._session: ReviewSession | None = None
        self._current, self._page = 0, 0
        self.state.update(
            {"rows": [], "parts": [], "part": "", "least_ml": 0, "least_mm": 0}
            | {"one_slice": False, "small": {}, "listed": 0, "before": 0}
        )

    def open(self, session: ReviewSession, words: dict[str, DecisionWords]) -> None:
        """Show a case, listing the disputes that exceed the usual spread of its readers."""
        self._session, self._words = session, words
        case = session.case
        depth = (1, 1, 1, *case.geometry.shape)[-3]
        plane = int(np.prod(case.geometry.shape[-2:]))
        self._slices = {
            one.number: range(
                int(one.places[0]) // plane % depth, int(one.places[-1]) // plane % depth + 1
            )
            for one in case.disputes
        }
        self._colors = {
            (name, label): color
            for name, one in words.items()
            for label, color in one.colors.items()
        }
        self.listing = Listing.beyond_spread(case.sizes)
        several = len(self._colors) > 1
        self.state.parts = (
            [
                {"value": f"{label} {name}", "text": words[name].name(label)}
                for name, label in self._colors
            ]
            if several
            else []
        )
        self.state.several_parts = several
        self.state.part, self.state.one_slice = "", False
        self._rows = {one.number: self._row(one) for one in case.disputes}
        self.tell()

    def _row(self, one: Dispute) -> dict[str, Any]:
        assert self._session is not None
        case, words = self._session.case, self._words[one.structure]
        size, shares = case.sizes[one.number], one.marked_by()
        dots = [
            {"color": rater_color(n), "how": "all" if share > 0.5 else "some"}
            for n, share in enumerate(shares)
            if share > 0.005
        ]
        label = next((label for label in one.labels if label), 0)
        return {
            "number": one.number,
            "name": words.claimed(one),
            "color": self._colors.get((one.structure, label), ""),
            "ml": f"{size.ml:.1f}" if size.ml >= 10 else f"{size.ml:.{2 + (size.ml < 0.1)}f}",
            "mm": f"{size.mm:.1f}",
            "dots": dots if len(shares) <= _MOST_DOTS else [],
            "marked": markers(one, case.names),
            "few": f"{len(dots)}/{len(shares)}" if len(shares) > _MOST_DOTS else "",
        }

    # -- selection ---------------------------------------------------------------------------------

    @property
    def numbers(self) -> list[int]:
        """Numbers of the listed disputes, the largest first."""
        if self._session is None:
            return []
        case, lists = self._session.case, self.listing.lists
        return [
            one.number
            for one in case.disputes
            if lists(one, case.sizes[one.number], self._slices[one.number])
        ]

    @property
    def small(self) -> list[int]:
        """Open disputes below the smallest listed size, except those that were painted in."""
        if self._session is None:
            return []
        review, sizes = self._session.review, self._session.case.sizes
        return [
            number
            for number in review.undecided
            if self.listing.is_small(sizes[number]) and not review.draft(number)
        ]

    def set_least(self, ml: Any, mm: Any) -> None:
        """Set the smallest size to list."""
        try:
            least = RegionSize(max(0.0, float(ml)), max(0.0, float(mm)))
        except (TypeError, ValueError):
            return
        self._set(Listing(least, self.listing.part, self.listing.slice_))

    def set_part(self, value: Any) -> None:
        """List only the disputes of one structure or label; an empty string lists all."""
        label, _, name = str(value or "").partition(" ")
        part = (name, int(label)) if label else None
        self.state.part = str(value or "")
        self._set(Listing(self.listing.least, part, self.listing.slice_))

    def set_slice(self, slice_: int | None) -> None:
        """List only the disputes that intersect a slice; None lists all."""
        self.state.one_slice = slice_ is not None
        self._set(Listing(self.listing.least, self.listing.part, slice_))

    def _set(self, listing: Listing) -> None:
        self.listing = listing
        self.tell()

    # -- rows --------------------------------------------------------------------------------------

    def tell(self) -> None:
        """Update the rows of the list."""
        if self._session is None:
            return
        numbers, state = self.numbers, self.state
        self._page = self._page_of(self._current, numbers)
        first = _MOST_ROWS * self._page
        state.rows = [self._rows[number] for number in numbers[first : first + _MOST_ROWS]]
        state.listed, state.before = len(numbers), first
        state.least_ml = float(f"{self.listing.least.ml:.3g}")
        state.least_mm = float(f"{self.listing.least.mm:.3g}")
        self.tell_decisions()

    def show(self, number: int) -> None:
        """Go to the page of the list that contains a row."""
        self._current = number
        if self._page_of(number, self.numbers) != self._page:
            self.tell()

    @staticmethod
    def _page_of(number: int, numbers: list[int]) -> int:
        return numbers.index(number) // _MOST_ROWS if number in numbers else 0

    def tell_decisions(self) -> None:
        """Update the decisions and the number of open disputes."""
        if self._session is None:
            return
        review, case, state = self._session.review, self._session.case, self.state
        state.decided = {
            str(row["number"]): self.said(row["number"])
            for row in state.rows
            if review.decision(row["number"]) is not None
        }
        state.drafts = {str(number): review.drafted_voxels(number) for number in review.drafts}
        state.total = len(case.disputes)
        state.undecided = len(review.undecided)
        small = self.small
        every = sum(map(self.listing.is_small, case.sizes.values()))
        ml = sum(case.sizes[number].ml for number in small)
        state.small = {"all": every, "open": len(small), "ml": f"{ml:.2g}"}

    def said(self, number: int) -> str:
        """Describe the decision on a dispute."""
        assert self._session is not None
        review = self._session.review
        return self._words[review.disputes[number].structure].decision(review.decision(number))

    def after(self, number: int, by: int) -> int:
        """Return the listed dispute after (or before) another one."""
        numbers = self.numbers
        if not numbers:
            return number
        if number not in numbers:
            return numbers[0]
        return numbers[(numbers.index(number) + by) % len(numbers)]

    def next_open(self, number: int) -> int | None:
        """Return the first open listed dispute, starting at the given one and wrapping around."""
        assert self._session is not None
        review = self._session.review
        left = [one for one in self.numbers if review.decision(one) is None]
        return next((one for one in left if one > number), left[0] if left else None)
