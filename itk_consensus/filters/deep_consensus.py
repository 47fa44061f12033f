"""DeepConsensusFilter: fuse labels with the help of the image they were drawn on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.deep.cases import MISSING
from itk_consensus.deep.runtime import require_torch
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.constraints import is_integer
from itk_consensus.filters.deep_inputs import (
    DeepInput,
    RaterId,
    RaterIds,
    load_input,
    reject_other_labels,
)
from itk_consensus.filters.deep_training import DeepTraining
from itk_consensus.filters.fused_images import FusedImages, common_type
from itk_consensus.filters.loading import on_class_or_instance
from itk_consensus.filters.parameters import Output
from itk_consensus.filters.runs import Run
from itk_consensus.images.files import PathLike, read_bytes, write_bytes
from itk_consensus.votes.fusions import VolumeFusion
from itk_consensus.work import report

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction
    from itk_consensus.deep.model import ConsensusModel


class DeepConsensusFilter(DeepTraining):
    """A network that is trained on images and label lists, with or without known truths.

    >>> deep = DeepConsensusFilter(NumberOfIterations=200)
    >>> deep.Fit(images, label_lists)              # no truth: raters and image teach each other
    >>> fused = deep.Execute(image, labels)
    """

    _fused = Output[FusedImages | None](None)
    _write_evidence = Output[Callable[[NDArray[Any]], None] | None](None)

    # -- inference --------------------------------------------------------------------------

    def Execute(self, image: Any, labels: Any, rater_ids: RaterIds | None = None) -> Any:
        """Fuse the labels of one image.

        Parameters
        ----------
        image : image
        labels : list of images
            On the image's grid; None is a missing rater, a vector image one rater per component.
        rater_ids : sequence of int, str or None
            As in Fit; raters that Fit did not meet are unknown, and count as average ones.

        Returns
        -------
        image
            Of the labels' family and type, with their geometry.
        """
        require_torch(self.GetName())
        model = self._trained()
        with self._running(), self._torch_threads():
            given = load_input(
                image, labels, rater_ids=rater_ids, keep=self._kept(), **self._reading()
            )
            wanted = (model.network.shape.dimension, model.network.shape.inputs)
            found = (len(given.shape), len(given.channels))
            if found != wanted:
                raise InputError(
                    f"{self.GetName()}: was trained on {wanted[0]}D images{_channels(wanted[1])}, "
                    f"got {found[0]}D{_channels(found[1])}"
                )
            reject_other_labels(given.summary(), model.labels, self.GetName())
            report(0.1)
            self._predict(model, given)
            return self.GetLabelImage()

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self._made(self._fused).label_image()

    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Probability, as float64, that the truth is this label; 0 or 1 where raters decided."""
        fused = self._made(self._fused)
        if not is_integer(label) or label not in fused.labels:
            raise ParameterError(
                f"{self.GetName()}: GetProbabilityImage's label must be one of {fused.labels}, "
                f"got {label!r}"
            )
        return fused.probability_image(label)

    def GetEvidenceImage(self) -> Any:
        """Total Dirichlet evidence of the network, as float64; 0 where it was not asked."""
        return self._made(self._fused).image(self._made(self._write_evidence))

    def _predict(self, model: ConsensusModel, given: DeepInput) -> None:
        from itk_consensus.deep.inference import predict, voxels_to_ask
        from itk_consensus.deep.model import find_device

        model.network.to(find_device(self.Device, self.GetName()))
        case = given.as_case(model.labels, model.rater_numbers)
        decision = given.agreed_classes(model.labels)
        disputed = decision == MISSING
        margin = 0.0 if self.LockUnanimousVoxels else self.RegionMargin
        spacing = given.loaded.geometry.array_spacing
        asked = voxels_to_ask(disputed, spacing, None if self.Region == "full" else margin)
        answered = asked & disputed if self.LockUnanimousVoxels else asked
        with self._named():
            prediction = predict(
                model,
                case,
                asked,
                window=self._window(len(case.shape)),
                overlap=self.WindowOverlap,
                rater_weight=self._rater_weight(model),
                mixed_precision=self.MixedPrecision == "cuda",
                progress=lambda share: report(0.1 + 0.85 * share),
            )

        def write_evidence(out: NDArray[Any]) -> None:
            out[...] = 0
            _fill(out, prediction, prediction.evidence, asked)

        fusion = _fused_with(decision, answered, prediction)
        dtype = common_type(given.stack.arrays, model.labels)
        self._fused = FusedImages(given.loaded.without_inputs(), fusion, model.labels, dtype)
        self._write_evidence = write_evidence

    # -- files ------------------------------------------------------------------------------

    def Save(self, path: PathLike) -> None:
        """Write the trained model: tensors and JSON in safetensors' layout, never code."""
        model = self._trained()
        from itk_consensus.deep.persistence import pack_model

        write_bytes(path, pack_model(model))

    @on_class_or_instance
    def Load(self, path: PathLike, image_stream: Any = None) -> DeepConsensusFilter:
        """Take the model of a file; pass the image stream if Fit was given one.

        Of the class it makes a new filter. The file keeps what was learned, not the parameters of
        Execute: those stay what they are.
        """
        require_torch(self.GetName())
        from itk_consensus.deep.persistence import unpack_model

        self._model = unpack_model(read_bytes(path), str(path), image_stream)
        self._last = Run()
        return self

    # -- state ------------------------------------------------------------------------------

    def GetLabels(self) -> tuple[int, ...]:
        """The label of each class of the trained model."""
        return self._trained().labels

    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """The ids of the raters Fit met."""
        return self._trained().rater_ids

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._model = state["model"]


def _fused_with(
    decision: NDArray[np.uint8], answered: NDArray[np.bool_], prediction: Prediction
) -> VolumeFusion:
    """The raters' classes, overwritten by the network's where its answer counts.

    Elsewhere probabilities are 0 or 1.
    """
    _fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)

    def probability(label: int) -> NDArray[np.float64]:
        volume: NDArray[np.float64] = (decision == label).astype(np.float64)
        _fill(volume, prediction, prediction.probability[label], answered)
        return volume

    return VolumeFusion(decision, probability)


def _fill(
    volume: NDArray[Any], prediction: Prediction, inside: NDArray[Any], where: NDArray[np.bool_]
) -> None:
    """Copy what holds inside the prediction's box to the volume, at the voxels of `where`."""
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])


def _channels(number: int) -> str:
    return "" if number == 1 else f" with {number} channels"
