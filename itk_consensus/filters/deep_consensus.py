"""DeepConsensusFilter: fuse labels with the help of the image they were drawn on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from itk_consensus.deep.cases import MISSING, Case
from itk_consensus.deep.runtime import require_torch
from itk_consensus.errors import (
    ConsensusWarning,
    InputError,
    NotExecutedError,
    TrainingError,
)
from itk_consensus.filters.deep_inputs import (
    DeepInput,
    RaterId,
    RaterIds,
    class_labels,
    known_raters,
    load_input,
    load_inputs,
    refuse_other_labels,
)
from itk_consensus.filters.deep_outputs import DeepOutputs, fill
from itk_consensus.filters.deep_parameters import DeepConsensusParameters
from itk_consensus.filters.loading import on_class_or_instance
from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.images.files import PathLike, read_bytes, require_writable, write_bytes
from itk_consensus.labels.label_types import common_type

if TYPE_CHECKING:
    from itk_consensus.deep.model import ConsensusModel
    from itk_consensus.deep.training import Trainer

#: Cases on which the trained model is compared with the vote.
_CHECKED_CASES = 6


class DeepConsensusFilter(DeepConsensusParameters):
    """A network that is trained on images and label lists, with or without known truths.

    >>> deep = DeepConsensusFilter(NumberOfIterations=200)
    >>> deep.Fit(images, label_lists)              # no truth: raters and image teach each other
    >>> fused = deep.Execute(image, labels)
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._model: ConsensusModel | None = None
        self._outputs: DeepOutputs | None = None

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
            Used instead of the built-in U-Net: (N, 1, \\\\*S) to (N, NumberOfChannels, \\\\*S). A
            copy of it is trained.
        """
        require_torch(self.GetName())
        self._outputs = None
        with self._running(), self._torch_threads():
            inputs = load_inputs(images, label_lists, truths, rater_ids, **self._reading())
            self._report(0.05)
            mode = self._chosen_mode(truths)
            model = self._new_model(inputs, mode, image_stream)
            numbers = {name: number for number, name in enumerate(model.rater_ids, start=1)}
            cases = [one.as_case(model.labels, numbers) for one in inputs]
            trainer = self._train(model, cases, checkpoint)
            self._model = model
            self._compare_with_vote(trainer.checked_cases(_CHECKED_CASES))

    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Each rater's estimated probability of drawing the true class.

        Without a truth it is one accuracy for all classes. 0, given if raters without an id were
        met, is an average rater.
        """
        return self._trained().reliability()

    def _new_model(
        self, inputs: Sequence[DeepInput], mode: str, image_stream: Any
    ) -> ConsensusModel:
        from itk_consensus.deep.model import ConsensusModel, find_device
        from itk_consensus.deep.network import NetworkShape, check_image_stream

        labels = class_labels(inputs, self.NumberOfClasses, self.GetName())
        names = known_raters(inputs)
        dimension = inputs[0].image.ndim
        channels = self.NumberOfChannels or (16 if dimension == 2 else 8)
        shape = NetworkShape(dimension, len(labels), len(names), channels, mode != "joint")
        if image_stream is not None:
            check_image_stream(image_stream, shape, self.GetName())
        model = ConsensusModel.untrained(shape, mode, labels, names, self.RandomSeed, image_stream)
        model.network.to(find_device(self.Device, self.GetName()))
        return model

    def _train(
        self, model: ConsensusModel, cases: Sequence[Case], checkpoint: PathLike | None
    ) -> Trainer:
        from itk_consensus.deep.persistence import pack_checkpoint, resume
        from itk_consensus.deep.training import Trainer

        trainer = Trainer(model, cases, self._settings(cases[0].image.ndim))

        def keep() -> None:
            if checkpoint is not None:
                write_bytes(checkpoint, pack_checkpoint(trainer))

        if checkpoint is not None:
            require_writable(checkpoint)
        if checkpoint is not None and Path(checkpoint).exists():
            resume(trainer, read_bytes(checkpoint), str(checkpoint))
        with self._named():
            trainer.run(self._after_iteration, keep)
        return trainer

    def _after_iteration(self, share: float) -> bool:
        self._progress = 0.05 + 0.9 * share
        self._invoke(PROGRESS_EVENT)
        self._invoke(ITERATION_EVENT)
        return not self._aborting

    def _compare_with_vote(self, cases: Sequence[Case]) -> None:
        from itk_consensus.deep.objective import held_out_log_likelihood

        ours, vote = held_out_log_likelihood(self._trained(), cases, self.RaterWeight)
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
        require_torch(self.GetName())
        model = self._trained()
        self._outputs = None
        with self._running(), self._torch_threads():
            given = load_input(image, labels, rater_ids=rater_ids, **self._reading())
            dimension = model.network.shape.dimension
            if given.image.ndim != dimension:
                raise InputError(
                    f"{self.GetName()}: was trained on {dimension}D images, got {given.image.ndim}D"
                )
            refuse_other_labels(given, model.labels, self.GetName())
            self._report(0.1)
            self._outputs = self._predict(model, given)
            return self.GetLabelImage()

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self._done().label_image()

    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Probability, as float64, that the truth is this label; 0 or 1 where raters decided."""
        return self._done().probability_image(label, self.GetName())

    def GetEvidenceImage(self) -> Any:
        """Total Dirichlet evidence of the network, as float64; 0 where it was not asked."""
        return self._done().evidence_image()

    def _predict(self, model: ConsensusModel, given: DeepInput) -> DeepOutputs:
        from itk_consensus.deep.inference import predict, voxels_to_ask
        from itk_consensus.deep.model import find_device

        model.network.to(find_device(self.Device, self.GetName()))
        case = given.as_case(model.labels, model.rater_numbers)
        decision = given.agreed_classes(model.labels, self.NumberOfThreads)
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
                window=self._window(case.image.ndim),
                overlap=self.WindowOverlap,
                rater_weight=self.RaterWeight,
                mixed_precision=self.MixedPrecision == "cuda",
                progress=lambda share: self._report(0.1 + 0.85 * share),
            )
        fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)
        dtype = common_type(given.stack.arrays, model.labels)
        loaded = replace(given.loaded, arrays=(), owners=())
        return DeepOutputs(loaded, dtype, model.labels, decision, asked, answered, prediction)

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
        self._outputs = None
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

    def _trained(self) -> ConsensusModel:
        if self._model is None:
            raise NotExecutedError(
                f"{self.GetName()}: is not trained; call Fit or Load first. Without training, "
                "itk_consensus.LabelVoting(labels) fuses labels by voting"
            )
        return self._model

    def _done(self) -> DeepOutputs:
        if self._outputs is None:
            raise NotExecutedError(f"{self.GetName()}: outputs are known only after Execute")
        return self._outputs

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the filter's name before what deep/ has to say about its model."""
        try:
            yield
        except TrainingError as error:
            raise TrainingError(f"{self.GetName()}: {error}") from None
