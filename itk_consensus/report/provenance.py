"""What was fused, by what, into what: hashes, parameters, versions and links."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import parameters_of
from itk_consensus.filters.printing import holds_image
from itk_consensus.images.content import image_hashes
from itk_consensus.report.fusion_report import parameter_text, to_plain
from itk_consensus.report.markup import Markup, data_table, tag

_LIBRARIES = ("numpy", "scipy", "SimpleITK")


def image_hash(image: NDArray[Any]) -> str:
    """SHA-256 of an image's voxels in C order, in the image's own type."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def file_hashes(
    names: Sequence[str], files: Sequence[str | os.PathLike[str]]
) -> list[tuple[str, str]]:
    """Each rater with the hash of its file; one that keeps its voxels apart has several."""
    rows = []
    for name, path in zip(names, files, strict=True):
        hashes = image_hashes(path)
        several = len(hashes) > 1
        rows += [(f"{name} ({file.name})" if several else name, h) for file, h in hashes.items()]
    return rows


def input_table(hashes: Sequence[tuple[str, str]], what: str) -> Markup:
    """Each input with its hash."""
    rows = [[name, tag("code", digest)] for name, digest in hashes]
    return data_table(f"Inputs, and SHA-256 of {what}.", ["input", "SHA-256"], rows)


def parameter_table(filter_: LabelFusionFilter) -> Markup:
    """Every parameter the filter worked with."""
    rows = []
    for parameter in parameters_of(type(filter_)):
        value = parameter.__get__(filter_)
        image = holds_image(value)
        text = "(image)" if image else parameter_text(parameter, to_plain(value))
        rows.append([parameter.name, text])
    return data_table(f"Parameters of {filter_.GetName()}.", ["parameter", "value"], rows)


def versions() -> dict[str, str]:
    """What made the result."""
    found = {"itk-consensus": itk_consensus.__version__, "Python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:  # a library that is there but not installed
            continue
    return found


def version_table() -> Markup:
    """`versions` as a table."""
    return data_table("Versions.", ["software", "version"], list(versions().items()))


def output_links(outputs: Mapping[str, str | os.PathLike[str]], page: Path) -> Markup:
    """A link to each file that was written, relative to the page."""
    links = []
    for what, path in outputs.items():
        relative = os.path.relpath(Path(path).resolve(), page.resolve().parent)
        target = Path(relative).as_posix()
        links.append(tag("li", tag("a", str(target), href=quote(target)), f" – {what}"))
    return tag("ul", *links)
