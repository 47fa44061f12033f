"""Cases of a cohort, found by the way their files are named."""

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
    """A further reading of a rater: it tells how well he repeats himself, and is not fused."""

    rater: str
    reading: str  #: "2", or what it is called
    path: Path


@dataclass(frozen=True)
class BatchCase:
    """One case of a cohort."""

    name: str
    raters: tuple[Path, ...]  #: A label image for each rater, or one with a rater per component
    rater_names: tuple[str, ...]
    image: Path | None = None  #: What the raters looked at
    repeats: tuple[Repeat, ...] = ()  #: Readings after the first

    @classmethod
    def of_files(
        cls,
        name: str,
        raters: Iterable[Path],
        image: Path | None = None,
        called: Iterable[str | None] | None = None,
    ) -> BatchCase:
        """A case whose raters have names of their own, or else are called like their files.

        Of several with one name each has the folder before it in which they differ.
        """
        files = tuple(raters)
        names = [None] * len(files) if called is None else called
        wanted = [
            split_image_name(file)[0] if one is None else one
            for file, one in zip(files, names, strict=True)
        ]
        return cls(name, files, distinct_names(wanted, files), image)

    def absolute(self) -> BatchCase:
        """The same case for a process that works in another folder."""
        return replace(
            self,
            raters=tuple(path.absolute() for path in self.raters),
            image=None if self.image is None else self.image.absolute(),
            repeats=tuple(one._replace(path=one.path.absolute()) for one in self.repeats),
        )

    @property
    def folder(self) -> str:
        """The name as one that every file system takes."""
        return re.sub(r"[^\w.+-]+", "_", self.name).strip(".") or "_"


def find_cases(pattern: str, images: str | None = None) -> list[BatchCase]:
    """Cases and raters named by a pattern, in alphabetical order.

    Parameters
    ----------
    pattern : str
        Such as ``{case}/{rater}.nii.gz``, where ``*`` stands for anything within a name and
        ``{reading}`` for which of several readings it is; or a folder, in which BIDS segmentations
        ``*_dseg.nii.gz`` and ``*_mask.nii.gz`` with an entity rater- or desc- are looked for, also
        in its folders ``sub-*``.
    images : str, optional
        Where the image of each case lies, such as ``{case}/ct.nii.gz``; it is no rater.

    Raises
    ------
    FileError
        No file fits, or a pattern lacks its placeholders.
    """
    if images is not None and "{case}" not in images:
        raise FileError(f"{images}: must hold {{case}}, the name of the case")
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
        return "no file is named like this"
    others = sorted(Path(pattern).glob("**/*.nii*"))
    why = next((f"; {one.name} {lack}" for one in others if (lack := lacking_entity(one.name))), "")
    return (
        "holds no BIDS segmentations of raters, such as *_desc-<rater>_dseg.nii.gz or "
        f"*_rater-<rater>_mask.nii.gz{why}; of other names give the pattern, such as "
        "{case}/{rater}.nii.gz"
    )


def _case(name: str, files: Sequence[_Named], image: Path | None) -> BatchCase:
    """A case of its files; of several readings of a rater the first is fused."""
    first: dict[str, list[_Named]] = {}
    for one in sorted(files, key=lambda one: one.reading):
        first.setdefault(one.rater if one.reading else str(one.path), []).append(one)
    fused = [readings[0] for readings in first.values()]
    fused.sort(key=files.index)
    case = BatchCase.of_files(
        name, [one.path for one in fused], image, [one.rater for one in fused]
    )
    called = {one.path: rater for one, rater in zip(fused, case.rater_names, strict=True)}
    repeats = (
        Repeat(called[readings[0].path], one.reading, one.path)
        for readings in first.values()
        for one in readings[1:]
    )
    return replace(case, repeats=tuple(repeats))


def with_readings(rows: Sequence[tuple[str, BatchCase]]) -> list[BatchCase]:
    """Cases of rows with a reading each: of rows of one case the first reading is fused.

    Raises
    ------
    FileError
        A later reading is of a rater who has no first one.
    """
    cases: dict[str, list[tuple[str, BatchCase]]] = {}
    for number, row in enumerate(rows):
        # Without readings rows are cases, and two of one name an error of its own.
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


def only(cases: Sequence[BatchCase], names: Sequence[str]) -> list[BatchCase]:
    """Cases of some names, or whose names begin with one of them and _; all if none is given.

    Raises
    ------
    FileError
        No case has one of the names.
    """
    if not names:
        return list(cases)
    belongs = {name: [c for c in cases if f"{c.name}_".startswith(f"{name}_")] for name in names}
    missing = [name for name, found in belongs.items() if not found]
    if missing:
        raise FileError(f"no case is named {', '.join(missing)}; the first is {cases[0].name}")
    return [case for case in cases if any(case in found for found in belongs.values())]


def require_distinct(cases: Sequence[BatchCase]) -> None:
    """Raise a `FileError` if two cases would write into one folder."""
    folders: dict[str, str] = {}
    for case in cases:
        folder = case.folder.lower()  # some file systems do not tell them apart
        if folder in folders:
            raise FileError(
                f"the cases {folders[folder]!a} and {case.name!a} must have different names"
            )
        folders[folder] = case.name


def require_apart(cases: Sequence[BatchCase], folders: Mapping[str, Path], output: Path) -> None:
    """Raise a `FileError` if results would lie among raters: a next run would take them for one.

    Parameters
    ----------
    folders : mapping of str to Path
        Where the results of each case go, by its name.
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
    """A file, and what its name says."""

    case: str
    rater: str
    reading: str  #: "" where a name does not tell several apart
    path: Path


def _bids(folder: str) -> list[_Named]:
    told = ((segmentation_of(file.name), file) for file in segmentations_in(folder))
    return [_Named(one.case, one.rater, one.reading, file) for one, file in told if one]


def _matches(pattern: str) -> list[_Named]:
    """Every file that fits; a rater is called like the file if the pattern has no name for him."""
    if "{case}" not in pattern:
        raise FileError(
            f"{pattern}: must be a list of cases, a folder, or a pattern with {{case}} and "
            "{rater}"
        )
    expression = re.compile(_expression(pattern))
    # Each placeholder splits off three parts: the text before it, its name, its star.
    wild = "*".join(glob.escape(text) for text in _PLACEHOLDER.split(pattern)[::3])
    found = []
    for name in sorted(glob.glob(wild)):
        match = expression.fullmatch(name)
        if match and os.path.isfile(name):
            told = match.groupdict()
            rater = told.get("rater", split_image_name(name)[0])
            found.append(_Named(told["case"], rater, told.get("reading", ""), Path(name)))
    return found


def _expression(pattern: str) -> str:
    """A regular expression in which a placeholder that comes again repeats itself."""
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
