"""AtlasSelectionFilter: select the atlases most similar to the target, as weights for a fuser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from itk_consensus.core.constraints import Choice, ImageLike, Integer, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.results import Memo, Result
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.images import convert
from itk_consensus.methods.atlas.atlas_images import (
    SIMILARITIES,
    most_similar,
    region_similarities,
)


@dataclass(frozen=True, eq=False)
class SelectedAtlases(Result):
    """Similarities on which the selection is based."""

    similarities: tuple[float, ...]  #: Similarity of each atlas
    memo: Memo = field(default_factory=Memo, repr=False)


class AtlasSelectionFilter(LabelInputs):
    """Assigns weight 1 to the atlases whose images are most similar to the target, 0 to the others.

    Execute(target, images) takes images on one grid, None for a missing atlas, and returns weights
    that fusers accept as RaterWeights. Intensities are first matched to the target's.
    """

    NumberOfAtlases = Parameter(Integer(1), 5, "How many atlases are chosen.")
    Similarity = Parameter(Choice(SIMILARITIES), "squared difference", "How images are compared.")
    MaskImage = Parameter(
        optional(ImageLike()),
        None,
        "Region (non-zero) in which images are compared; None: everywhere.",
        in_cli=False,
    )

    Similarities = Measurement(
        tuple[float, ...],
        "Similarity of each atlas, higher is better: the correlation, or minus the mean squared "
        "difference in units of the target's spread; NaN for a missing atlas.",
        "similarities",
    )

    def Execute(self, target: Any, images: Sequence[Any]) -> tuple[float, ...]:
        """Return the weights of the atlases.

        Parameters
        ----------
        target : image
        images : list of images
            One per atlas, on the target's grid; None for a missing atlas.

        Returns
        -------
        tuple of float
            Weight of each atlas.
        """
        name = self.GetName()
        with self._running() as run:
            given = convert.as_list(images, name)
            loaded = convert.load([target, *given], owner=name, **self._tolerances())
            if target is None or len(loaded.arrays) != len(given) + 1:
                raise InputError(
                    f"{name}: target and images must be scalar images, and the target not None"
                )
            for index, array in enumerate(loaded.arrays):
                if array is not None and not np.isfinite(array).all():
                    raise InputError(
                        f"{name}: input {index} must hold finite numbers, found NaN or inf"
                    )
            region = None
            if self.MaskImage is not None:
                mask = convert.load_one(
                    self.MaskImage,
                    loaded,
                    owner=name,
                    parameter="MaskImage",
                    **self._tolerances(),
                    **self._label_options(),
                )
                region = np.asarray(mask != 0)
                if not region.any():
                    raise InputError(
                        "must mark some voxels, it is empty", owner=name, parameter="MaskImage"
                    )
            first, *atlases = loaded.arrays
            assert first is not None
            found = region_similarities(first, atlases, region, self.Similarity)
            run.result = SelectedAtlases(tuple(found.tolist()))
            return tuple(most_similar(found, self.NumberOfAtlases).tolist())
