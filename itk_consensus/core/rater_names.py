"""Raters by their names in sentences that know them by number."""

from __future__ import annotations

import re
from collections.abc import Sequence


def naming_raters(text: str, names: Sequence[str]) -> str:
    """Replace numbers of raters in a sentence by their names: Rater 1, raters 0, 2 and 3."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number >= len(names) for number in numbers):
            return found[0]
        every = [names[number] for number in numbers]
        text = " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)
        # A name is spelled as it is, but our own "rater 3" may begin a sentence.
        begins = found[0][0].isupper() and re.match(r"rater \d", text)
        return text.capitalize() if begins else text

    return re.sub(r"\b[Rr]aters? \d+(, \d+)*( and \d+)?", named, text)


def numbered(raters: int) -> tuple[str, ...]:
    """What raters are called who have no names."""
    return tuple(f"rater {index}" for index in range(raters))
