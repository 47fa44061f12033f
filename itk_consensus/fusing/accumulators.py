"""Fuse hundreds of images exactly while holding only one of them in memory.

>>> votes = PatternAccumulator()
>>> for path in candidates:
...     votes.add(sitk.ReadImage(path))
>>> fused = votes.fuse(MajorityVoteFilter(TieRule="lowest"))
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import InputError, NotExecutedError
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_inputs import labels_only
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.growing_patterns import GrowingPatterns
from itk_consensus.votes.label_stack import LabelStack, label_array


class PatternAccumulator:
    """Decision patterns of any number of label images, which are added one at a time.

    `fuse` then runs any filter that only requires patterns, any number of times, with the same
    result as for all images together. Memory is needed for one code per voxel and the table of
    patterns.

    Parameters
    ----------
    inputs_are_labels : bool
        Whether to accept inputs as labels although they resemble intensity images.
    """

    def __init__(self, *, inputs_are_labels: bool = False) -> None:
        self._label_options = labels_only(inputs_are_labels, "inputs_are_labels")
        self._like: LoadedImages | None = None
        self._grown = GrowingPatterns()
        #: Labels used by each rater, in increasing order and in the dtype of the rater's image.
        self._tables: list[NDArray[Any]] = []

    @property
    def NumberOfRaters(self) -> int:
        """Number of raters added so far."""
        return len(self._tables)

    def add(self, image: Any) -> None:
        """Add a rater; the image is not kept."""
        owner = type(self).__name__
        if self._like is None:
            loaded = convert.load([image], owner=owner, **self._label_options)
            if len(loaded.arrays) != 1:
                raise InputError("add takes one rater at a time, got a vector image", owner=owner)
            given, like = loaded.arrays[0], loaded.without_inputs()
        else:
            like, parameter = self._like, f"input {self.NumberOfRaters}"
            given = convert.load_one(
                image, like, owner=owner, parameter=parameter, **self._label_options
            )
        stack = LabelStack.multilabel([given], owner=owner)
        (array,) = stack.arrays
        assert array is not None
        table = stack.labels.astype(array.dtype)
        self._grown.add(array, table)
        self._like = like
        self._tables.append(table)

    def patterns(self, foreground: float | None = None) -> DecisionPatterns:
        """Return the patterns of all raters added so far, with codes.

        Parameters
        ----------
        foreground : float, optional
            If given, only this label is distinguished from all others, as in binary filters.
        """
        self._reference()
        if foreground is None:
            values = {int(value) for table in self._tables for value in table}
            labels = label_array(values, type(self).__name__)
            digits = [np.searchsorted(labels, t.astype(labels.dtype)) for t in self._tables]
        else:
            labels = np.array([0, 1])
            digits = [(table == foreground).astype(np.int64) for table in self._tables]
        return self._grown.table(labels, digits)

    def fuse(self, filter_: Any) -> Any:
        """Run a filter and return what its Execute would return for all images together.

        Parameters
        ----------
        filter_ : LabelFusionFilter
            The fuser, annotated as Any, since users' type checkers take filters from the stub.

        Raises
        ------
        InputError
            If the filter requires more than the votes, or has masks.
        """
        like = replace(self._reference(), arrays=tuple(self._tables))
        filter_.require_chunks(like.geometry.shape, [table.dtype for table in self._tables])
        if filter_.chunking != "patterns":
            raise InputError(
                "an accumulator has votes only, no neighbours: fuse the images by Execute",
                owner=filter_.GetName(),
            )
        if filter_.MaskImage is not None or filter_.RaterMasks is not None:
            raise InputError(
                "an accumulator takes no masks: fuse the images by Execute", owner=filter_.GetName()
            )
        patterns = self.patterns(filter_.foreground)
        return filter_.primary_output(filter_.fuse_case(FusionCase(like, patterns)))

    def _reference(self) -> LoadedImages:
        if self._like is None:
            raise NotExecutedError(f"{type(self).__name__}: add a rater first")
        return self._like
