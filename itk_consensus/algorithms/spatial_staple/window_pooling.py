"""Counts pooled over a window around every voxel: what Spatial STAPLE's M-step is made of.

Unanimous voxels are certain, so their share of every sum is computed once; what changes between
iterations is the disputed voxels' share, and it needs no more than their bounding box.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects

from itk_consensus.algorithms.spatial_staple.performance_field import FieldSettings, scale_factors
from itk_consensus.array_types import Floats32
from itk_consensus.labels.box_sum import box_sum
from itk_consensus.labels.boxes import Box, grown, intersection
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import DisputedVoxels

#: Sums that do not change are kept for at most this many times the voxels of the region.
_VOLUMES_KEPT = 2


class WindowPool:
    """Window sums, seen from the N disputed voxels.

    Parameters
    ----------
    patterns : DecisionPatterns
    settings : FieldSettings
    """

    def __init__(self, patterns: DecisionPatterns, settings: FieldSettings) -> None:
        self.patterns = patterns
        self.radii = settings.radii
        self.kappa = settings.kappa
        self.voxels = DisputedVoxels(patterns, patterns.disputed_region([0] * len(self.radii)))
        self._around = DisputedVoxels(patterns, patterns.disputed_region(self.radii))
        self._scratch = np.zeros(self.voxels.shape, np.float32)
        self._kept: dict[Hashable, Floats32] = {}
        self._room = _VOLUMES_KEPT * self._scratch.dtype.itemsize * int(np.prod(self._around.shape))

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger[Any]]:
        """(N,) pattern of each disputed voxel."""
        number = len(self.patterns.counts)
        return self.voxels.of_pattern(np.arange(number, dtype=np.min_scalar_type(number)))

    @cached_property
    def certain(self) -> NDArray[np.bool_]:
        """(P, K): which patterns unanimously say which label."""
        # Whoever is present says it, and the digit of whoever is absent is higher than any label.
        said = self.patterns.patterns.min(axis=1)
        labels = np.arange(self.patterns.number_of_labels)
        return np.asarray(self.patterns.unanimous[:, None] & (said[:, None] == labels))

    def always_present(self, rater: int) -> bool:
        """Whether the rater annotated every voxel that anybody annotated."""
        somebody = self.patterns.present.any(axis=1)
        return bool(self.patterns.present[somebody, rater].all())

    def scale_factors(self, rater: int) -> Floats32:
        """(K, N) eq. 2.5.4's sigma for the rater."""
        said = self.patterns.patterns[:, rater]

        def make() -> Floats32:
            return scale_factors(self._fixed(lambda label: said == label), self.kappa)

        return self._keep(("sigma", rater), make)

    def agreed(self, rater: int | None) -> Floats32:
        """(K, N) unanimous voxels of each label in the window that the rater annotated.

        None, or a rater who was never missing, stands for all annotated voxels.
        """
        if rater is not None and self.always_present(rater):
            rater = None
        present = self.patterns.present
        annotated = present.any(axis=1) if rater is None else present[:, rater]
        certain = self.certain & np.asarray(annotated)[:, None]
        return self._keep(("agreed", rater), lambda: self._fixed(lambda label: certain[:, label]))

    def disputed(self, weights: Floats32, reach: Box) -> Floats32:
        """(N,) sum of the disputed voxels' (N,) weights in the window; `reach` is the weights'."""
        whole = tuple(slice(0, size) for size in self.voxels.shape)
        return self._pool(weights, self.voxels.places, whole, reach)

    def disputed_among(
        self, weights: Floats32, reach: Box, members: NDArray[np.intp], box: Box
    ) -> Floats32:
        """The same for some disputed voxels, which all lie in `box`, and seen from these."""
        return self._pool(weights[members], self.voxels.places[members], box, reach)

    def reach(self, weights: Floats32) -> Box:
        """The box of voxels whose window can hold a disputed voxel of weight > 0."""
        weighty = np.zeros(self.voxels.shape, np.uint8)
        weighty.reshape(-1)[self.voxels.places] = weights > 0
        (box,) = find_objects(weighty, 1)
        if box is None:
            return (slice(0, 0),) * weighty.ndim
        return grown(box, self.radii, weighty.shape)

    def boxes(self, rater: int) -> list[Box | None]:
        """Per label the bounding box of the disputed voxels that the rater gave it."""
        said = self.patterns.patterns[:, rater].astype(np.int32) + 1
        volume = self.voxels.expand(np.where(self.voxels.flags, said, 0))
        labels = self.patterns.number_of_labels
        found: list[Box | None] = find_objects(volume, labels)
        return found

    def _fixed(self, of_label: Callable[[int], NDArray[np.bool_]]) -> Floats32:
        """(K, N) window sums of a quantity that each pattern has or has not."""
        mask = self._around.mask
        sums = np.empty((self.patterns.number_of_labels, len(self.voxels.places)), np.float32)
        for label, row in enumerate(sums):
            volume = self._around.expand(of_label(label).astype(np.float32))
            row[...] = self._summed(volume)[mask]
        return sums

    def _pool(self, weights: Floats32, places: NDArray[np.intp], box: Box, reach: Box) -> Floats32:
        if not weights.any():
            return np.zeros(len(places), np.float32)
        flat = self._scratch.reshape(-1)
        self._scratch[box].fill(0)
        flat[places] = weights
        view = self._scratch[intersection(box, reach)]
        part = np.ascontiguousarray(view)
        self._summed(part)
        if part is not view:
            view[...] = part
        return np.asarray(flat[places])

    def _summed(self, volume: Floats32) -> Floats32:
        return box_sum(volume, self.radii, threads=self.patterns.threads)

    def _keep(self, key: Hashable, make: Callable[[], Floats32]) -> Floats32:
        if key in self._kept:
            return self._kept[key]
        value = make()
        if value.nbytes <= self._room:
            self._kept[key] = value
            self._room -= value.nbytes
        return value
