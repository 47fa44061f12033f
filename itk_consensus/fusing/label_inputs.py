"""What filters do about an image among the labels they are given."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from itk_consensus.core.constraints import Boolean
from itk_consensus.core.errors import InputError, Where
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.intensities import MANY, intensities
from itk_consensus.votes.label_stack import LabelStack

#: So many structures have names in no atlas; instances, and intensities, are more.
_LABELS_OF_STRUCTURES = 1024


def labels_only(insist: bool, name: str = "inputsAreLabels") -> dict[str, Any]:
    """How `convert.load` reads inputs of a function: an image among them is refused.

    Parameters
    ----------
    insist : bool
        Whether the caller says that they are labels although they look like an image.
    name : str
        The argument by which he does.
    """

    def refuse(where: Where, why: str) -> None:
        raise _image_error(where, why, name)

    return {} if insist else {"suspect": refuse}


def load_labels(
    images: Any, *, owner: str, insist: bool = False, name: str = "inputsAreLabels"
) -> tuple[LoadedImages, LabelStack]:
    """Read inputs of a function that must hold whole-number labels; `labels_only` has the rest."""
    loaded = convert.load(images, owner=owner, **labels_only(insist, name))
    return loaded, LabelStack.multilabel(loaded.arrays, owner=owner)


def require_drawn(label: int, stack: LabelStack, owner: str, parameter: str) -> None:
    """Raise if a label occurs in no input, unless there is nothing but background."""
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
        f"looks like an image, not like {wanted} ({why}): {remedy}, or set {name} if it holds "
        "labels all the same",
        mentions=mentions,
        **where,
    )


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
        error = _image_error(where, why, "{InputsAreLabels}", ("InputsAreLabels",))
        if not self.fuses_images:
            raise error
        self._warn(str(error.about(owner="")))
