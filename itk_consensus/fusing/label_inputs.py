"""What filters do about an image among the labels they are given."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from itk_consensus.core.constraints import Boolean
from itk_consensus.core.errors import InputError, Where
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.intensities import MANY, intensities

#: So many structures have names in no atlas; instances, and intensities, are more.
_LABELS_OF_STRUCTURES = 1024


class LabelInputs(ProcessObject):
    """Base of filters to whom raters give labels."""

    #: Whether an image is fused with a warning, as SimpleITK fuses it without one.
    fuses_images: ClassVar[bool] = False

    InputsAreLabels = Parameter(
        Boolean(),
        False,
        "Take inputs and masks for labels although they look like images: many values, of which "
        "neighbours have different ones.",
    )

    def _of_labels(self) -> dict[str, Any]:
        """How inputs are read that must hold labels."""
        return {} if self.InputsAreLabels else {"suspect": self._suspect}

    def _look_closer(self, loaded: LoadedImages, labels: int) -> None:
        """Look at more voxels if there are more labels than maps of structures have."""
        if labels <= _LABELS_OF_STRUCTURES or self.InputsAreLabels:
            return
        numbers = np.repeat(np.arange(len(loaded.components)), loaded.components)
        for index, array in zip(numbers.tolist(), loaded.arrays, strict=True):
            if array is None or intensities(array):  # of which was said
                continue
            if why := intensities(array, MANY):
                self._suspect(Where(owner=self.GetName(), input_index=index), why)

    def _suspect(self, where: Where, why: str) -> None:
        """Refuse what looks like an image, or warn of it."""
        is_mask = "parameter" in where
        wanted = "a mask" if is_mask else "a rater's labels"
        error = InputError(
            f"looks like an image, not like {wanted} ({why}): "
            f"{'give a mask' if is_mask else 'leave it out of the inputs'}, or set "
            "{InputsAreLabels} if it holds labels all the same",
            mentions=("InputsAreLabels",),
            **where,
        )
        if not self.fuses_images:
            raise error
        self._warn(str(error.about(owner="")))
