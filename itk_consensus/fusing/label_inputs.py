"""Inputs that must be label maps: reject intensity images among them, or warn about them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from itk_consensus.core.constraints import Boolean
from itk_consensus.core.errors import InputError, Where
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.intensities import MANY, intensity_reason
from itk_consensus.votes.label_stack import LabelStack

#: Exceeds the number of structures in any atlas: such inputs are instance maps or intensity images.
_LABELS_OF_STRUCTURES = 1024


def labels_only(insist: bool, name: str = "inputsAreLabels") -> dict[str, Any]:
    """Return options for `convert.load` that reject intensity images among a function's inputs.

    Parameters
    ----------
    insist : bool
        Whether the caller insists that inputs are labels although they resemble an intensity image.
    name : str
        Name of the corresponding argument, for the error message.
    """

    def refuse(where: Where, why: str) -> None:
        raise _image_error(where, why, name)

    return {} if insist else {"suspect": refuse}


def load_labels(
    images: Any, *, owner: str, insist: bool = False, name: str = "inputsAreLabels"
) -> tuple[LoadedImages, LabelStack]:
    """Load inputs of a function that must be label maps; parameters are those of `labels_only`."""
    loaded = convert.load(images, owner=owner, **labels_only(insist, name))
    return loaded, LabelStack.multilabel(loaded.arrays, owner=owner)


def require_label(label: int, stack: LabelStack, owner: str, parameter: str) -> None:
    """Raise if a label occurs in no input, unless all inputs are background only."""
    others = [int(value) for value in stack.labels if value]
    if others and label not in others:
        shown = ", ".join(map(str, others[:5])) + (" ..." if len(others) > 5 else "")
        raise InputError(
            f"{label} occurs in no input; the inputs hold {shown}", owner=owner, parameter=parameter
        )


def _image_error(where: Where, why: str, name: str, mentions: tuple[str, ...] = ()) -> InputError:
    wanted, remedy = "a rater's labels", "leave it out of the inputs"
    if parameter := where.get("parameter"):
        wanted = "a mask" if "mask" in parameter.lower() else "labels"
        remedy = f"give {wanted}"
    return InputError(
        f"looks like an image, not like {wanted} ({why}): {remedy}, or set {name} if it does hold "
        "labels",
        mentions=mentions,
        **where,
    )


class LabelInputs(ProcessObject):
    """Base class of filters whose inputs are label maps."""

    #: Whether intensity images are fused with a warning (SimpleITK fuses them without a warning).
    fuses_images: ClassVar[bool] = False

    InputsAreLabels = Parameter(
        Boolean(),
        False,
        "Take inputs and masks for labels although they look like images: many values, of which "
        "neighbours have different ones.",
    )

    def _label_options(self) -> dict[str, Any]:
        """Return options for loading inputs that must be labels."""
        return {} if self.InputsAreLabels else {"suspect": self._suspect}

    def _check_for_intensities(self, loaded: LoadedImages, labels: int) -> None:
        """Test more voxels for intensities if the labels outnumber the structures of any atlas."""
        if labels <= _LABELS_OF_STRUCTURES or self.InputsAreLabels:
            return
        numbers = np.repeat(np.arange(len(loaded.components)), loaded.components)
        for index, array in zip(numbers.tolist(), loaded.arrays, strict=True):
            if array is None or intensity_reason(array):  # already reported
                continue
            if why := intensity_reason(array, MANY):
                self._suspect(Where(owner=self.GetName(), input_index=index), why)

    def _suspect(self, where: Where, why: str) -> None:
        """Reject an input that resembles an intensity image, or warn about it."""
        error = _image_error(where, why, "{InputsAreLabels}", ("InputsAreLabels",))
        if not self.fuses_images:
            raise error
        self._warn(str(error.about(owner="")))
