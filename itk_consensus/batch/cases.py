"""Cases of a cohort, found by the way their files are named."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.images.files import distinct_names, split_image_name

#: How BIDS derivatives name the segmentation of one rater; some datasets have an entity for it.
_BIDS = re.compile(r"(?P<case>.+)_(?:desc|rater)-(?P<rater>[A-Za-z0-9]+)_dseg\.nii(\.gz)?")
_PLACEHOLDER = re.compile(r"\{(case|rater)\}|(\*)")


@dataclass(frozen=True)
class BatchCase:
    """One case of a cohort."""

    name: str
    raters: tuple[Path, ...]  #: A label image for each rater, or one with a rater per component
    rater_names: tuple[str, ...]
    image: Path | None = None  #: What the raters looked at

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
        image = None if self.image is None else self.image.absolute()
        return replace(self, raters=tuple(path.absolute() for path in self.raters), image=image)

    @property
    def folder(self) -> str:
        """The name as one that every file system takes."""
        return re.sub(r"[^\w.+-]+", "_", self.name).strip(".") or "_"


def find_cases(pattern: str, images: str | None = None) -> list[BatchCase]:
    """Cases and raters named by a pattern, in alphabetical order.

    Parameters
    ----------
    pattern : str
        Such as ``{case}/{rater}.nii.gz``, where ``*`` stands for anything within a name; or a
        folder, in which BIDS segmentations ``*_desc-<rater>_dseg.nii.gz`` or
        ``*_rater-<rater>_dseg.nii.gz`` are looked for, also in its folders ``sub-*``.
    images : str, optional
        Where the image of each case lies, such as ``{case}/ct.nii.gz``; it is no rater.

    Raises
    ------
    FileError
        No file fits, or a pattern lacks its placeholders.
    """
    if images is not None and "{case}" not in images:
        raise FileError(f"{images}: must hold {{case}}, the name of the case")
    pictures = {} if images is None else {case: path for case, _, path in _matches(images)}
    found: dict[str, list[tuple[str, Path]]] = {}
    known = set(pictures.values())
    for case, rater, path in _bids(pattern) if os.path.isdir(pattern) else _matches(pattern):
        if path not in known:
            found.setdefault(case, []).append((rater, path))
    if not found and os.path.isdir(pattern):
        raise FileError(
            f"{pattern}: holds no BIDS segmentations *_desc-<rater>_dseg.nii.gz or "
            "*_rater-<rater>_dseg.nii.gz; of other names give the pattern, such as "
            "{case}/{rater}.nii.gz"
        )
    if not found:
        raise FileError(f"{pattern}: no file is named like this")
    return [
        BatchCase.of_files(
            case, [path for _, path in raters], pictures.get(case), [name for name, _ in raters]
        )
        for case, raters in sorted(found.items())
    ]


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


def _bids(folder: str) -> list[tuple[str, str, Path]]:
    files = [
        file
        for places in ("*_dseg.nii*", "sub-*/**/*_dseg.nii*")
        for file in sorted(Path(folder).glob(places))
    ]
    named = [(file, _BIDS.fullmatch(file.name)) for file in files]
    return [(match["case"], match["rater"], file) for file, match in named if match]


def _matches(pattern: str) -> list[tuple[str, str, Path]]:
    """Case, rater (the file's name if the pattern has none) and path of every file that fits."""
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
            rater = match.groupdict().get("rater", split_image_name(name)[0])
            found.append((match["case"], rater, Path(name)))
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
