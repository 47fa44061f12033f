"""Conversion of 3D Slicer's flags, which contain underscores and name one input each."""

from __future__ import annotations

import re

#: Prefix of input names in the module description, followed by a number.
RATER = "rater_"
_FLAG = re.compile(r"--[a-z]+(_[a-z0-9]+)+")


def restore_option_spelling(words: list[str]) -> list[str]:
    """Replace --tie_rule by --tie-rule, and ``--rater_3 FILE`` by an input, in a command line.

    Words after a separate ``--`` are left unchanged.
    """
    end = words.index("--") if "--" in words else len(words)
    raters, others = [], []
    rest = iter(words[:end])
    for word in rest:
        flag, equals, value = word.partition("=")
        if not _FLAG.fullmatch(flag):
            others.append(word)
        elif re.fullmatch(rf"--{RATER}\d+", flag):
            raters.append(value if equals else next(rest, word))
        else:
            others.append(flag.replace("_", "-") + equals + value)
    return [*others[:1], *raters, *others[1:], *words[end:]]
