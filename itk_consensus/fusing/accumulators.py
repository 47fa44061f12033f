"""Raters one at a time: hundreds of candidates are fused exactly, and none of them is held.

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
    """The decision patterns of any number of label images, added one at a time.

    Whatever needs patterns only is then fused by `fuse`, as often as wanted, with the result that
    all images together would give. Memory is a code per voxel and the table of patterns.

    Parameters
    ----------
    inputs_are_labels : bool
        Take images for labels although they look like an image.
    """

    def __init__(self, *, inputs_are_labels: bool = False) -> None:
        self._of_labels = labels_only(inputs_are_labels, "inputs_are_labels")
        self._like: LoadedImages | None = None
        self._grown = GrowingPatterns()
        #: The labels that each rater used, in increasing order and in the rater's type.
        self._tables: list[NDArray[Any]] = []

    @property
    def NumberOfRaters(self) -> int:
        """How many were added."""
        return len(self._tables)

    def add(self, image: Any) -> None:
        """Tell voxels apart by one more rater; the image is not kept."""
        owner = type(self).__name__
        if self._like is None:
            loaded = convert.load([image], owner=owner, **self._of_labels)
            if len(loaded.arrays) != 1:
                raise InputError("add takes one rater at a time, got a vector image", owner=owner)
            given, like = loaded.arrays[0], loaded.without_inputs()
        else:
            like, parameter = self._like, f"input {self.NumberOfRaters}"
            given = convert.load_one(
                image, like, owner=owner, parameter=parameter, **self._of_labels
            )
        stack = LabelStack.multilabel([given], owner=owner)
        (array,) = stack.arrays
        assert array is not None
        table = stack.labels.astype(array.dtype)
        self._grown.add(array, table)
        self._like = like
        self._tables.append(table)

    def patterns(self, foreground: float | None = None) -> DecisionPatterns:
        """The patterns of all raters so far, with codes.

        Parameters
        ----------
        foreground : float, optional
            Tell only this label from all others, as binary filters do.
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
        """What the filter's Execute would return for all images together.

        Parameters
        ----------
        filter_ : LabelFusionFilter
            Annotated Any, since users' type checkers know filters from the stub.

        Raises
        ------
        InputError
            The filter looks at more than votes, or has masks.
        """
        like = replace(self._reference(), arrays=tuple(self._tables))
        filter_.require_chunks(like.geometry.shape, [table.dtype for table in self._tables])
        if filter_.chunking != "patterns":
            raise InputError(
                "an accumulator has votes only, no neighbours", owner=filter_.GetName()
            )
        if filter_.MaskImage is not None or filter_.RaterMasks is not None:
            raise InputError("an accumulator takes no masks", owner=filter_.GetName())
        patterns = self.patterns(filter_.foreground)
        return filter_.primary_output(filter_.fuse_case(FusionCase(like, patterns)))

    def _reference(self) -> LoadedImages:
        if self._like is None:
            raise NotExecutedError(f"{type(self).__name__}: outputs are known after the first add")
        return self._like
