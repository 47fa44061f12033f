"""ConsensusEnsembled: a fusion filter as a dictionary transform, like MONAI's VoteEnsembled.

It does not derive from MONAI's classes: MONAI's Compose accepts any callable, so MONAI need not be
imported here, and any dictionary can be used.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.pooling.probability_average_filter import ProbabilityAverageFilter
from itk_consensus.votes.uncertainty import UncertaintyKind


class ConsensusEnsembled:
    """Fuse the predictions in a dictionary.

    Parameters
    ----------
    keys : key or sequence of keys
        Keys of the predictions. A single key refers to all predictions: a list, or an array whose
        first axis enumerates them.
    fuser : LabelFusionFilter, optional
        The filter; by default the mean of probabilities, or the vote for labels. MetaTensors have
        their classes as channels; plain tensors require the filter's ClassAxis.
    output_key : key, optional
        Key of the label map; by default the first of `keys`.
    uncertainty_key : key, optional
        Key of an uncertainty image; by default there is none.
    uncertainty : str
        Kind of uncertainty; see GetUncertaintyImage.
    allow_missing_keys : bool
        Whether a prediction may be absent; it is then treated as a missing rater.
    """

    def __init__(
        self,
        keys: Hashable | Sequence[Hashable],
        fuser: LabelFusionFilter | None = None,
        output_key: Hashable | None = None,
        *,
        uncertainty_key: Hashable | None = None,
        uncertainty: UncertaintyKind = "entropy",
        allow_missing_keys: bool = False,
    ) -> None:
        several = isinstance(keys, Sequence) and not isinstance(keys, (str, bytes))
        self.keys: tuple[Hashable, ...] = tuple(keys) if several else (keys,)  # type: ignore[arg-type]
        self.fuser = ProbabilityAverageFilter() if fuser is None else fuser
        self.output_key = self.keys[0] if output_key is None else output_key
        self.uncertainty_key = uncertainty_key
        self.uncertainty: UncertaintyKind = uncertainty
        self.allow_missing_keys = allow_missing_keys

    def __call__(self, data: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        """Return a copy of the dictionary with the consensus added."""
        fused = dict(data)
        fused[self.output_key] = self.fuser.Execute(self._predictions(data))
        if self.uncertainty_key is not None:
            fused[self.uncertainty_key] = self.fuser.GetUncertaintyImage(self.uncertainty)
        return fused

    def _predictions(self, data: Mapping[Hashable, Any]) -> list[Any]:
        missing = [key for key in self.keys if key not in data]
        if missing and not self.allow_missing_keys:
            raise InputError(
                f"ConsensusEnsembled: data must have the keys {list(self.keys)}, lacks {missing}"
            )
        if len(self.keys) == 1 and not missing:
            return list(data[self.keys[0]])
        return [data.get(key) for key in self.keys]
