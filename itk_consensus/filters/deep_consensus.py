"""DeepConsensusFilter: fuse labels with the help of the image they were drawn on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from itk_consensus.deep.cases import MISSING, Case
from itk_consensus.deep.runtime import torch_is_installed, torch_threads
from itk_consensus.errors import (
    ConsensusWarning,
    FileError,
    InputError,
    MissingDependencyError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.filters.deep_inputs import (
    DeepInput,
    RaterId,
    RaterIds,
    ids_per_case,
    known_raters,
    load_input,
)
from itk_consensus.filters.deep_parameters import DeepConsensusParameters
from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.images import convert
from itk_consensus.images.files import PathLike, replacing
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_types import common_type

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction
    from itk_consensus.deep.model import ConsensusModel
    from itk_consensus.deep.training import Trainer, TrainingSettings

#: Cases on which the trained model is compared with the vote.
_CHECKED_CASES = 6


@dataclass(frozen=True)
class _Result:
    """What the outputs of one Execute are made from."""

    loaded: LoadedImages
    dtype: np.dtype[Any]
    labels: tuple[int, ...]
    decision: NDArray[np.uint8]
    asked: NDArray[np.bool_]
    answered: NDArray[np.bool_]
    prediction: Prediction


class DeepConsensusFilter(DeepConsensusParameters):
    """A network that is trained on images and label lists, with or without known truths.

    >>> deep = DeepConsensusFilter(NumberOfIterations=200)
    >>> deep.Fit(images, label_lists)              # no truth: raters and image teach each other
    >>> fused = deep.Execute(image, labels)
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._model: ConsensusModel | None = None
        self._result: _Result | None = None

    # -- training ---------------------------------------------------------------------------

    def Fit(
        self,
        images: Sequence[Any],
        label_lists: Sequence[Any],
        truths: Sequence[Any] | None = None,
        rater_ids: RaterIds | Sequence[RaterIds] | None = None,
        *,
        checkpoint: PathLike | None = None,
        image_stream: Any = None,
    ) -> None:
        """Train on several cases.

        Parameters
        ----------
        images : sequence of images
        label_lists : sequence of lists of images
            For each image what its raters drew; None is a missing rater.
        truths : sequence of images, optional
        rater_ids : sequence, optional
            Ids (int or str) of the raters, for all cases alike or a list per case; None or 0 is a
            rater without a name. By default a position in the lists is a person.
        checkpoint : path, optional
            Written after each evaluation; if it exists, training goes on where it was written.
        image_stream : torch module, optional
            Used instead of the built-in U-Net: (N, 1, \\\\*S) to (N, NumberOfChannels, \\\\*S).
        """
        self._require_torch()
        self._result = None
        with self._running(), self._torch_threads():
            inputs = self._load_cases(images, label_lists, truths, rater_ids)
            self._report(0.05)
            mode = self._chosen_mode(truths)
            model = self._new_model(inputs, mode, image_stream)
            raters = {name: index for index, name in enumerate(model.rater_ids, start=1)}
            cases = [one.as_case(model.labels, raters) for one in inputs]
            trainer = self._train(model, cases, checkpoint)
            self._model = model
            self._compare_with_vote(trainer.checked_cases(_CHECKED_CASES))

    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Each rater's estimated probability of drawing the true class; 0 is raters without id."""
        return self._trained().reliability()

    def _load_cases(
        self, images: Any, label_lists: Any, truths: Any, rater_ids: Any
    ) -> list[DeepInput]:
        images, label_lists = list(images), list(label_lists)
        known = [None] * len(images) if truths is None else list(truths)
        if not images or not len(images) == len(label_lists) == len(known):
            raise InputError(
                f"{self.GetName()}: Fit needs as many label lists (and truths) as images, "
                f"got {len(images)} images, {len(label_lists)} label lists and {len(known)} truths"
            )
        ids = ids_per_case(rater_ids, len(images), self.GetName())
        inputs = [
            self._load(*case, owner=f"{self.GetName()}: case {number}")
            for number, case in enumerate(zip(images, label_lists, known, ids, strict=True))
        ]
        dimensions = {one.image.ndim for one in inputs}
        if len(dimensions) > 1:
            raise InputError(f"{self.GetName()}: Fit needs cases of one dimension, got 2D and 3D")
        return inputs

    def _load(self, image: Any, labels: Any, truth: Any, ids: Any, *, owner: str) -> DeepInput:
        return load_input(
            image,
            labels,
            truth=truth,
            rater_ids=ids,
            missing_label=self.MissingLabel,
            owner=owner,
            tolerances={
                "coordinate_tolerance": self.CoordinateTolerance,
                "direction_tolerance": self.DirectionTolerance,
            },
        )

    def _chosen_mode(self, truths: Any) -> str:
        if self.Mode == "truth" and truths is None:
            raise ParameterError(f"{self.GetName()}: Mode truth needs truths, got none")
        if self.Mode == "auto":
            return "joint" if truths is None else "truth"
        return self.Mode

    def _class_labels(self, inputs: Sequence[DeepInput]) -> tuple[int, ...]:
        found = sorted(set().union(*(one.label_values for one in inputs)))
        if self.NumberOfClasses is None:
            if not 2 <= len(found) <= MISSING:
                raise InputError(
                    f"{self.GetName()}: Fit needs 2 to {MISSING} labels, the cases have {found}"
                )
            return tuple(found)
        labels = tuple(range(self.NumberOfClasses))
        self._refuse_unknown(found, labels, self.GetName())
        return labels

    @staticmethod
    def _refuse_unknown(found: Sequence[int], labels: tuple[int, ...], owner: str) -> None:
        unknown = [label for label in found if label not in labels]
        if unknown:
            raise InputError(f"{owner}: labels must be among {labels}, got {unknown}")

    def _new_model(
        self, inputs: Sequence[DeepInput], mode: str, image_stream: Any
    ) -> ConsensusModel:
        from itk_consensus.deep.model import ConsensusModel, RaterModel, find_device, new_network
        from itk_consensus.deep.network import NetworkShape

        labels, names = self._class_labels(inputs), known_raters(inputs)
        dimension = inputs[0].image.ndim
        channels = self.NumberOfChannels or (16 if dimension == 2 else 8)
        shape = NetworkShape(dimension, len(labels), len(names), channels, mode != "joint")
        network = new_network(shape, self.RandomSeed, image_stream)
        rater_model = RaterModel.blank(len(names), len(labels), symmetric=mode != "truth")
        network.to(find_device(self.Device))
        return ConsensusModel(network, mode, labels, names, rater_model)

    def _settings(self, dimension: int) -> TrainingSettings:
        from itk_consensus.deep.training import TrainingSettings

        return TrainingSettings(
            iterations=self.NumberOfIterations,
            batch_size=self.BatchSize or (8 if dimension == 2 else 2),
            learning_rate=self.LearningRate,
            window=self._window(dimension),
            validation_fraction=self.ValidationFraction,
            patience=self.Patience,
            seed=self.RandomSeed,
            edge_weight=self.EdgeWeight,
            mixed_precision=self.MixedPrecision == "cuda",
        )

    def _window(self, dimension: int) -> tuple[int, ...]:
        """The window in the order of the array axes."""
        return self.WindowSize[:dimension][::-1]

    def _train(
        self, model: ConsensusModel, cases: Sequence[Case], checkpoint: PathLike | None
    ) -> Trainer:
        from itk_consensus.deep.persistence import pack_checkpoint, resume
        from itk_consensus.deep.training import Trainer

        trainer = Trainer(model, cases, self._settings(cases[0].image.ndim))

        def keep() -> None:
            if checkpoint is not None:
                _write(checkpoint, pack_checkpoint(trainer))

        if checkpoint is not None and Path(checkpoint).exists():
            resume(trainer, _read(checkpoint), str(checkpoint))
        trainer.run(self._after_iteration, keep)
        return trainer

    def _after_iteration(self, share: float) -> bool:
        self._progress = 0.05 + 0.9 * share
        self._invoke(PROGRESS_EVENT)
        self._invoke(ITERATION_EVENT)
        return not self._aborting

    def _compare_with_vote(self, cases: Sequence[Case]) -> None:
        from itk_consensus.deep.held_out_rater import held_out_log_likelihood

        ours, vote = held_out_log_likelihood(self._trained(), cases)
        if ours < vote:
            warnings.warn(
                f"{self.GetName()}: foresees a held-out rater worse than the other raters' vote "
                f"does (mean log-likelihood {ours:.3f} and {vote:.3f}); train longer or on more "
                "cases, or fuse by voting",
                ConsensusWarning,
                stacklevel=3,
            )

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
            Of the labels' family and type, with their geometry and metadata.
        """
        self._require_torch()
        model = self._trained()
        self._result = None
        with self._running(), self._torch_threads():
            given = self._load(image, labels, None, rater_ids, owner=self.GetName())
            dimension = model.network.shape.dimension
            if given.image.ndim != dimension:
                raise InputError(
                    f"{self.GetName()}: was trained on {dimension}D images, got {given.image.ndim}D"
                )
            values = sorted(given.label_values)
            self._refuse_unknown(values, model.labels, f"{self.GetName()}: Execute")
            self._report(0.1)
            self._result = self._predict(model, given)
            return self.GetLabelImage()

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        result = self._done()
        output = convert.allocate(result.dtype, result.loaded)
        np.take(np.array(result.labels, result.dtype), result.decision, out=output.array)
        return output.image()

    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Probability, as float64, that the truth is this label; 0 or 1 where raters decided."""
        result = self._done()
        if label not in result.labels:
            raise ParameterError(
                f"{self.GetName()}: GetProbabilityImage's label must be one of {result.labels}, "
                f"got {label!r}"
            )
        index = result.labels.index(label)
        output = convert.allocate(np.float64, result.loaded)
        output.array[...] = result.decision == index
        _fill(
            output.array, result.prediction, result.prediction.probability[index], result.answered
        )
        return output.image()

    def GetEvidenceImage(self) -> Any:
        """Total Dirichlet evidence of the network, as float64; 0 where it was not asked."""
        result = self._done()
        output = convert.allocate(np.float64, result.loaded)
        output.array[...] = 0
        _fill(output.array, result.prediction, result.prediction.evidence, result.asked)
        return output.image()

    def _predict(self, model: ConsensusModel, given: DeepInput) -> _Result:
        from itk_consensus.deep.inference import predict
        from itk_consensus.deep.model import find_device

        model.network.to(find_device(self.Device))
        raters = {name: index for index, name in enumerate(model.rater_ids, start=1)}
        case = given.as_case(model.labels, raters)
        decision = self._agreed_classes(given, model.labels)
        disputed = decision == MISSING
        asked = self._asked(disputed, given.loaded.geometry.array_spacing)
        answered = asked & disputed if self.LockUnanimousVoxels else asked
        prediction = predict(
            model,
            case,
            asked,
            window=self._window(case.image.ndim),
            overlap=self.WindowOverlap,
            rater_weight=self.RaterWeight,
            mixed_precision=self.MixedPrecision == "cuda",
            progress=lambda share: self._report(0.1 + 0.85 * share),
        )
        _fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)
        dtype = common_type(given.stack.arrays, model.labels)
        loaded = replace(given.loaded, arrays=(), owners=())
        return _Result(loaded, dtype, model.labels, decision, asked, answered, prediction)

    def _agreed_classes(self, given: DeepInput, labels: tuple[int, ...]) -> NDArray[np.uint8]:
        """The class all raters chose at each voxel, or `MISSING` where they dispute it."""
        patterns = DecisionPatterns.from_stack(given.stack, threads=self.NumberOfThreads)
        chosen = patterns.votes().argmax(1)
        classes = np.array([labels.index(int(value)) for value in patterns.labels], np.uint8)
        return patterns.expand(
            np.where(patterns.unanimous, classes[chosen], MISSING).astype(np.uint8)
        )

    def _asked(self, disputed: NDArray[np.bool_], spacing: tuple[float, ...]) -> NDArray[np.bool_]:
        """The voxels the network is asked about."""
        if self.Region == "full":
            return np.ones_like(disputed)
        if self.LockUnanimousVoxels or not disputed.any():
            return disputed
        distance = distance_transform_edt(~disputed, sampling=spacing)
        return np.asarray(distance <= self.RegionMargin)

    # -- files ------------------------------------------------------------------------------

    def Save(self, path: PathLike) -> None:
        """Write the trained model: tensors and JSON in safetensors' layout, never code."""
        model = self._trained()
        from itk_consensus.deep.persistence import pack_model

        _write(path, pack_model(model))

    @classmethod
    def Load(cls, path: PathLike, image_stream: Any = None) -> DeepConsensusFilter:
        """A filter with the model of a file; pass the image stream if Fit was given one."""
        filter_ = cls()
        filter_._require_torch()
        from itk_consensus.deep.persistence import unpack_model

        filter_._model = unpack_model(_read(path), str(path), image_stream)
        return filter_

    # -- state ------------------------------------------------------------------------------

    def GetLabels(self) -> tuple[int, ...]:
        """The label of each class of the trained model."""
        return self._trained().labels

    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """The ids of the raters Fit met."""
        return self._trained().rater_ids

    def _trained(self) -> ConsensusModel:
        if self._model is None:
            raise NotExecutedError(
                f"{self.GetName()}: is not trained; call Fit or Load first. Without training, "
                "itk_consensus.LabelVoting(labels) fuses labels by voting"
            )
        return self._model

    def _done(self) -> _Result:
        if self._result is None:
            raise NotExecutedError(f"{self.GetName()}: outputs are known only after Execute")
        return self._result

    def _require_torch(self) -> None:
        if not torch_is_installed():
            raise MissingDependencyError(
                f"{self.GetName()} needs torch: pip install 'itk-consensus[deep]'"
            )

    def _torch_threads(self) -> AbstractContextManager[None]:
        return torch_threads(self.NumberOfThreads)


def _fill(
    volume: NDArray[Any], prediction: Prediction, inside: NDArray[Any], where: NDArray[np.bool_]
) -> None:
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])


def _write(path: PathLike, contents: bytes) -> None:
    with replacing(Path(path)) as draft:
        draft.write_bytes(contents)


def _read(path: PathLike) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
