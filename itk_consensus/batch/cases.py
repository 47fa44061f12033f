"""Cases of a cohort, found by a pattern of file names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from itk_consensus.batch.bids_names import lacking_entity, segmentation_of, segmentations_in
from itk_consensus.core.errors import FileError
from itk_consensus.images.files import distinct_names, split_image_name

_PLACEHOLDER = re.compile(r"\{(case|rater|reading)\}|(\*)")


class Repeat(NamedTuple):
    """A repeated reading by a rater, used for intra-rater agreement but not fused."""

    rater: str
    reading: str  #: Its name, such as "2"
    path: Path


@dataclass(frozen=True)
class BatchCase:
    """One case of a cohort."""

    name: str
    raters: tuple[Path, ...]  #: One label image per rater, or one image with a component per rater
    rater_names: tuple[str, ...]
    image: Path | None = None  #: The image that the raters segmented
    repeats: tuple[Repeat, ...] = ()  #: Readings after the first

    @classmethod
    def of_files(
        cls,
        name: str,
        raters: Iterable[Path],
        image: Path | None = None,
        names: Iterable[str | None] | None = None,
    ) -> BatchCase:
        """Create a case whose raters have the given names or, if these are None, the names of their
        files.

        Duplicate names are prefixed with the folders in which the files differ.
        """
        files = tuple(raters)
        given = [None] * len(files) if names is None else names
        filled = [
            split_image_name(file)[0] if one is None else one
            for file, one in zip(files, given, strict=True)
        ]
        return cls(name, files, distinct_names(filled, files), image)

    def absolute(self) -> BatchCase:
        """Return the same case with absolute paths, for processes in another working directory."""
        return replace(
            self,
            raters=tuple(path.absolute() for path in self.raters),
            image=None if self.image is None else self.image.absolute(),
            repeats=tuple(one._replace(path=one.path.absolute()) for one in self.repeats),
        )

    @property
    def folder(self) -> str:
        """Folder name of the case: the case name, made safe for all file systems."""
        return re.sub(r"[^\w.+-]+", "_", self.name).strip(".") or "_"


def find_cases(pattern: str, images: str | None = None) -> list[BatchCase]:
    """Find cases and raters by a pattern, in alphabetical order.

    Parameters
    ----------
    pattern : str
        For example ``{case}/{rater}.nii.gz``, in which ``*`` matches anything within a name and
        ``{reading}`` the number of a repeated reading; or a folder, which is searched, including
        its folders ``sub-*``, for BIDS segmentations ``*_dseg.nii.gz`` and ``*_mask.nii.gz`` that
        have an entity rater- or desc-.
    images : str, optional
        Pattern of the cases' images, e.g. ``{case}/ct.nii.gz``, which are not used as raters.

    Raises
    ------
    FileError
        No file matches, or a pattern lacks a placeholder.
    """
    if images is not None and "{case}" not in images:
        raise FileError(f"{images}: must contain {{case}}, the name of the case")
    pictures = {} if images is None else {one.case: one.path for one in _matches(images)}
    known = set(pictures.values())
    is_folder = os.path.isdir(pattern)
    found = [one for one in (_bids(pattern) if is_folder else _matches(pattern))
             if one.path not in known]  # fmt: skip
    if not found:
        raise FileError(f"{pattern}: {_nothing_found(pattern, is_folder)}")
    cases: dict[str, list[_Named]] = {}
    for one in found:
        cases.setdefault(one.case, []).append(one)
    return [_case(name, cases[name], pictures.get(name)) for name in sorted(cases)]


def _nothing_found(pattern: str, is_folder: bool) -> str:
    if not is_folder:
        strange = [one for one in re.findall(r"\{\w*\}", pattern) if not _PLACEHOLDER.match(one)]
        hint = (
            f"; {strange[0]} is no placeholder: write {{rater}} for the reader" if strange else ""
        )
        return f"no file matches this pattern{hint}"
    others = sorted(Path(pattern).glob("**/*.nii*"))
    why = next((f"; {one.name} {lack}" for one in others if (lack := lacking_entity(one.name))), "")
    return (
        "holds no BIDS segmentations of raters, such as *_desc-<rater>_dseg.nii.gz or "
        f"*_rater-<rater>_mask.nii.gz{why}; for other names give a pattern, such as "
        "{case}/{rater}.nii.gz"
    )


def _case(name: str, files: Sequence[_Named], image: Path | None) -> BatchCase:
    """Create a case from its files; only the first reading of each rater is fused."""
    first: dict[str, list[_Named]] = {}
    for one in sorted(files, key=lambda one: one.reading):
        first.setdefault(one.rater if one.reading else str(one.path), []).append(one)
    fused = [readings[0] for readings in first.values()]
    fused.sort(key=files.index)
    case = BatchCase.of_files(
        name, [one.path for one in fused], image, [one.rater for one in fused]
    )
    rater_names = {one.path: rater for one, rater in zip(fused, case.rater_names, strict=True)}
    repeats = (
        Repeat(rater_names[readings[0].path], one.reading, one.path)
        for readings in first.values()
        for one in readings[1:]
    )
    return replace(case, repeats=tuple(repeats))


def with_readings(rows: Sequence[tuple[str, BatchCase]]) -> list[BatchCase]:
    """Merge rows of the same case with different readings; only the first reading is fused.

    Raises
    ------
    FileError
        A rater of a later reading is missing from the first.
    """
    cases: dict[str, list[tuple[str, BatchCase]]] = {}
    for number, row in enumerate(rows):
        # Rows without a reading are separate cases; duplicate names are rejected elsewhere.
        cases.setdefault(row[1].name if row[0] else f"{row[1].name}\0{number}", []).append(row)
    found = []
    for readings in cases.values():
        (_, first), *later = sorted(readings, key=lambda row: (len(row[0]), row[0]))
        repeats = []
        for reading, case in later:
            for name, path in zip(case.rater_names, case.raters, strict=True):
                if name not in first.rater_names:
                    raise FileError(
                        f"case {case.name!a}: reading {reading} is of {name!a}, who has no first "
                        f"reading; raters are {', '.join(map(ascii, first.rater_names))} (name "
                        "them as NAME=FILE)"
                    )
                repeats.append(Repeat(name, reading, path))
        found.append(replace(first, repeats=tuple(repeats)))
    return found


def select_cases(cases: Sequence[BatchCase], names: Sequence[str]) -> list[BatchCase]:
    """Return the cases with these names, or whose names start with one of them and _; without
    names, all.

    Raises
    ------
    FileError
        A name does not match any case.
    """
    if not names:
        return list(cases)
    belongs = {name: [c for c in cases if f"{c.name}_".startswith(f"{name}_")] for name in names}
    missing = [name for name, found in belongs.items() if not found]
    if missing:
        raise FileError(f"no case is named {', '.join(missing)}; the first is {cases[0].name}")
    return [case for case in cases if any(case in found for found in belongs.values())]


def require_distinct(cases: Sequence[BatchCase]) -> None:
    """Raise a `FileError` if two cases would write into the same folder."""
    folders: dict[str, str] = {}
    for case in cases:
        folder = case.folder.lower()  # some file systems are case-insensitive
        if folder in folders:
            raise FileError(
                f"the cases {folders[folder]!a} and {case.name!a} must have different names"
            )
        folders[folder] = case.name


def require_apart(cases: Sequence[BatchCase], folders: Mapping[str, Path], output: Path) -> None:
    """Raise a `FileError` if results would be in a raters' folder, from which the next run would
    read them.

    Parameters
    ----------
    folders : mapping of str to Path
        Folder of each case's results, by case name.
    """
    read_from = {
        os.path.realpath(folder): case.name
        for case in cases
        for folder in {rater.parent for rater in case.raters}
    }
    for case in cases:
        folder = os.path.realpath(folders[case.name])
        if folder in read_from:
            other = read_from[folder]
            whose = "its raters" if other == case.name else f"the raters of case {other!a}"
            raise FileError(
                f"the results of case {case.name!a} would lie among {whose} in "
                f"{folder}; give another folder",
                path=output,
            )


class _Named(NamedTuple):
    """A file and the parts of its name."""

    case: str
    rater: str
    reading: str  #: "" if the name contains no reading
    path: Path


def _bids(folder: str) -> list[_Named]:
    parsed = ((segmentation_of(file.name), file) for file in segmentations_in(folder))
    return [_Named(one.case, one.rater, one.reading, file) for one, file in parsed if one]


def _matches(pattern: str) -> list[_Named]:
    """Return every matching file; if the pattern lacks {rater}, raters are named after
    their files.
    """
    if "{case}" not in pattern:
        raise FileError(
            f"{pattern}: must be a list of cases, a folder, or a pattern with {{case}} and "
            "{rater}"
        )
    expression = re.compile(_expression(pattern))
    # Splitting gives three parts per placeholder: the text before it, its name, and its star.
    wild = "*".join(glob.escape(text) for text in _PLACEHOLDER.split(pattern)[::3])
    found = []
    for name in sorted(glob.glob(wild)):
        match = expression.fullmatch(name)
        if match and os.path.isfile(name):
            parts = match.groupdict()
            rater = parts.get("rater", split_image_name(name)[0])
            found.append(_Named(parts["case"], rater, parts.get("reading", ""), Path(name)))
    return found


def _expression(pattern: str) -> str:
    """Convert a pattern to a regular expression; repeated placeholders must match the same text."""
    seen: set[str] = set()
    pieces, end = [], 0
    for match in _PLACEHOLDER.finditer(pattern):
        pieces.append(re.escape(pattern[end : match.start()]))
        name, end = match[1], match.end()
        if name is None:
            pieces.append("[^/]*")
        else:
            pieces.append(f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+)")
            seen.add(name)
    return "".join([*pieces, re.escape(pattern[end:])])
