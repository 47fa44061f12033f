"""``itk_consensus.review``: review a case in Slicer's views in the browser, from Python."""

from __future__ import annotations

import asyncio
import contextlib
import os
import webbrowser
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from itk_consensus.core.errors import MissingDependencyError, ParameterError
from itk_consensus.fusing.fusion_result import makes_results, result_of
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.review.case import case_of_result
from itk_consensus.review.record import default_record_path
from itk_consensus.review.session import CaseToOpen, ReviewSession, SeenImage
from itk_consensus.storage.locking import exclusive_lock

PathLike = str | os.PathLike[str]


def review(
    fused: Any,
    image: Any = None,
    names: Sequence[str] | None = None,
    *,
    files: Sequence[PathLike] | None = None,
    output: PathLike | None = None,
    reviewer: str | None = None,
    blinded: bool = False,
    ready: Callable[[str], None] | None = None,
    port: int = 0,
) -> Any:
    """Review a consensus in the browser: inspect disputes, decide or paint, undo and redo.

    The application runs until the reviewer ends it or presses Ctrl-C. It is served only on this
    machine, to the one browser that opens its address. Requires ``pip install
    'itk-consensus[review]'``.

    Parameters
    ----------
    fused : LabelFusionFilter, or list of images
        A fuser after Execute, or images to fuse by ConsensusFilter.
    image : image, optional
        The image that the raters annotated, on their grid.
    names : sequence of str, optional
        Names of the raters; by default those of their files, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        The file of each rater, used for hashing; without files, voxels are hashed.
    output : str or path, optional
        Where to write the adjudicated map; the record of decisions is written beside it. An
        unfinished review found there is resumed.
    reviewer : str, optional
        The reviewer's name; by default the page asks for it before the first decision.
    blinded : bool
        Whether to hide the readers' names, including in the record.
    ready : callable, optional
        Called with the address; by default it is printed and opened in the browser.
    port : int
        0 selects a free port.

    Returns
    -------
    image
        The adjudicated label map, of the same type as the raters' images.
    """
    require_application()
    _require_own_loop()
    if isinstance(fused, (str, bytes, os.PathLike)):
        raise ParameterError("review: needs a fuser after Execute or images, got a path")
    place = None if output is None else Path(output)
    paths = None if files is None else [Path(file) for file in files]
    record = None if place is None else default_record_path(place)
    made = result_of(fused) if makes_results(fused) else None
    like = convert.load(fused, owner="review") if made is None else made.like
    seen = None
    if image is not None:
        voxels = convert.load_one(image, like, owner="review", parameter="image")
        seen = SeenImage(voxels, like.geometry)

    @cache
    def session() -> ReviewSession:
        result = ConsensusFilter().fuse(fused) if made is None else made
        case = case_of_result(result.with_rater_names(names), paths, record)
        return ReviewSession(case, place, blinded=blinded, raters=tuple(paths or ()))

    from itk_consensus.review.application.serving import serve

    opened = CaseToOpen("Review" if place is None else place.name, session, lambda: seen)
    with contextlib.nullcontext() if record is None else exclusive_lock(record, wait=1.0):
        serve([opened], ready or announced, who=reviewer or "", port=port)
    return session().result()


def require_application() -> None:
    """Raise a `MissingDependencyError` that names the extra if Slicer's views are not installed."""
    lacking = [name for name in ("trame", "trame_slicer", "slicer") if find_spec(name) is None]
    if lacking:
        raise MissingDependencyError(
            f"review needs {lacking[0]}: pip install 'itk-consensus[review]'"
        )


def _require_own_loop() -> None:
    """Raise if an event loop is already running, since the application runs its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ParameterError(
        "review: cannot be called while an event loop runs, as in a notebook; call it from a "
        "script, or use itk-consensus review"
    )


def announced(address: str) -> None:
    """Print the address, and open it if there is a browser."""
    print(f"Review: {address}\nCtrl-C ends it; every decision is kept.", flush=True)
    webbrowser.open(address)
