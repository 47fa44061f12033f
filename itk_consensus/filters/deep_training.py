"""How DeepConsensusFilter learns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itk_consensus.deep.augmentation import Transform, augmented, by_transform
from itk_consensus.deep.case_store import CaseStore
from itk_consensus.deep.cases import Augmentation, Case
from itk_consensus.deep.runtime import require_torch, torch_threads
from itk_consensus.errors import InputError, NotExecutedError, ParameterError, TrainingError
from itk_consensus.filters.deep_cases import case_sources, summaries_of
from itk_consensus.filters.deep_inputs import (
    CaseSummary,
    RaterId,
    RaterIds,
    class_labels,
    known_raters,
    reject_other_labels,
)
from itk_consensus.filters.deep_parameters import DeepConsensusParameters
from itk_consensus.filters.parameters import settings_from
from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.images.files import PathLike, read_bytes, require_writable, write_bytes
from itk_consensus.work import report

if TYPE_CHECKING:
    from itk_consensus.deep.model import ConsensusModel
    from itk_consensus.deep.training import Trainer, TrainingSettings

#: Cases on which the trained model is judged by held-out raters.
_CHECKED_CASES = 16


class DeepTraining(DeepConsensusParameters):
    """A model, and Fit, which makes it."""

    _model: ConsensusModel | None = None

    def Fit(
        self,
        images: Sequence[Any],
        label_lists: Sequence[Any],
        truths: Sequence[Any] | None = None,
        rater_ids: RaterIds | Sequence[RaterIds] | None = None,
        *,
        checkpoint: PathLike | None = None,
        image_stream: Any = None,
        transform: Transform | None = None,
        warm_start: bool = False,
    ) -> None:
        """Train on several cases.

        Parameters
        ----------
        images : sequence of images
            With one or more components, each of which is a channel. Images, labels and truths may
            be paths of files, which are read case by case and kept within CacheSize.
        label_lists : sequence of lists of images
            For each image what its raters drew; None is a missing rater.
        truths : sequence of images, optional
        rater_ids : sequence, optional
            Ids (int or str) of the raters, for all cases alike or a list per case; None or 0 is a
            rater without a name. By default a position in the lists is a person.
        checkpoint : path, optional
            Written after each evaluation; if it exists, training goes on where it was written.
        image_stream : torch module, optional
            Used instead of the built-in U-Net: (N, channels of the image, \\\\*S) to
            (N, NumberOfChannels, \\\\*S), MONAI's networks for example. A copy of it is trained.
            Its stride is found by trying, unless it has attributes `stride` and `least_size`.
        transform : callable, optional
            Used instead of the built-in augmentation (flips, quarter turns in the plane, brightness
            and contrast), such as MONAI's dictionary transforms: from a dict to a dict of patches
            "image" (channels first), "labels" (raters first) and, with truths, "truth" (one
            channel). Sizes must stay; labels are class numbers, 255 where there is none.
        warm_start : bool
            Go on from the model that the filter has, by Fit or Load, instead of a new one. Labels,
            channels and mode must be the same; raters may be new.
        """
        require_torch(self.GetName())
        augment = augmented if transform is None else by_transform(transform, self.GetName())
        with self._running(), self._torch_threads():
            sources = case_sources(images, label_lists, truths, rater_ids, **self._reading())
            summaries = summaries_of(sources, self.GetName())
            report(0.05)
            mode = self._chosen_mode(truths, summaries)
            if warm_start:
                if self.Mode == "auto" and truths is None and self._trained().mode == "joint":
                    mode = "joint"
                model = self._known_model(summaries, mode, image_stream)
            else:
                model = self._new_model(summaries, mode, image_stream)
            numbers = {name: number for number, name in enumerate(model.rater_ids, start=1)}
            makers = [partial(source.case, model.labels, numbers) for source in sources]
            cases = CaseStore(makers, self.CacheSize * 2**20)
            trainer = self._train(model, cases, checkpoint, augment)
            self._model = model
            self._judge(model, trainer)

    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Each rater's estimated probability of drawing the true class.

        Without a truth it is one accuracy for all classes. 0, given if raters without an id were
        met, is an average rater.
        """
        return self._trained().reliability()

    def GetChosenRaterWeight(self) -> float:
        """The RaterWeight that Fit chose; Execute uses it unless another one is set."""
        return self._trained().rater_weight

    def GetTrainingHistory(self) -> tuple[dict[str, float], ...]:
        """Iteration and validation loss of each evaluation of the last Fit; not kept by Save."""
        return tuple(dict(entry) for entry in self._trained().history)

    def _chosen_mode(self, truths: Any, inputs: Sequence[CaseSummary]) -> str:
        if self.Mode == "truth" and truths is None:
            raise ParameterError(f"{self.GetName()}: Mode truth needs truths, got none")
        if self.Mode != "auto":
            return self.Mode
        if truths is not None:
            return "truth"
        # A rater alone can foresee nobody.
        return "set" if any(len(one.rater_ids) > 1 for one in inputs) else "joint"

    def _new_model(
        self, inputs: Sequence[CaseSummary], mode: str, image_stream: Any
    ) -> ConsensusModel:
        from itk_consensus.deep.model import ConsensusModel, find_device
        from itk_consensus.deep.network import OWN_SIDES, NetworkShape, check_image_stream

        labels = class_labels(inputs, self.NumberOfClasses, self.GetName())
        names = known_raters(inputs)
        dimension, seen = len(inputs[0].shape), inputs[0].number_of_channels
        channels = self.NumberOfChannels or (16 if dimension == 2 else 8)
        shape = NetworkShape(dimension, len(labels), len(names), channels, mode != "joint", seen)
        sides = OWN_SIDES
        if image_stream is not None:
            sides = check_image_stream(image_stream, shape, self.GetName())
        model = ConsensusModel.untrained(
            shape, mode, labels, names, self.RandomSeed, image_stream, sides
        )
        model.network.to(find_device(self.Device, self.GetName()))
        return model

    def _known_model(
        self, inputs: Sequence[CaseSummary], mode: str, image_stream: Any
    ) -> ConsensusModel:
        """The model the filter has, to go on with."""
        from itk_consensus.deep.model import find_device

        before = self._trained()
        shape = before.network.shape
        here = (len(inputs[0].shape), inputs[0].number_of_channels, mode)
        there = (shape.dimension, shape.inputs, before.mode)
        if here != there:
            raise InputError(
                f"{self.GetName()}: warm_start goes on with images of the same dimension and "
                f"channels in the same mode, {there}, got {here}"
            )
        if image_stream is not None:
            raise ParameterError(
                f"{self.GetName()}: warm_start goes on with the image stream of the model; "
                "image_stream must be None"
            )
        for number, one in enumerate(inputs):
            reject_other_labels(one, before.labels, f"{self.GetName()}: case {number}")
        model = before.meeting(known_raters(inputs))
        model.network.to(find_device(self.Device, self.GetName()))
        return model

    def _settings(self, dimension: int, number_of_cases: int) -> TrainingSettings:
        from itk_consensus.deep.training import TrainingSettings

        batch_size = self.BatchSize or (8 if dimension == 2 else 2)
        passes = math.ceil(self.NumberOfEpochs * number_of_cases / batch_size)
        return settings_from(
            self,
            TrainingSettings,
            iterations=max(self.NumberOfIterations, passes),
            batch_size=batch_size,
            window=self._window(dimension),
            seed=self.RandomSeed,
            mixed_precision=self.MixedPrecision == "cuda",
        )

    def _window(self, dimension: int) -> tuple[int, ...]:
        """The window in the order of the array axes."""
        size = self.WindowSize
        sides = (size,) * dimension if isinstance(size, int) else size[:dimension]
        if len(sides) < dimension:
            raise ParameterError(
                f"{self.GetName()}: WindowSize must be {dimension} integers for {dimension}D "
                f"images, got {size}"
            )
        return sides[::-1]

    def _train(
        self,
        model: ConsensusModel,
        cases: Sequence[Case],
        checkpoint: PathLike | None,
        augment: Augmentation,
    ) -> Trainer:
        from itk_consensus.deep.persistence import pack_checkpoint, resume
        from itk_consensus.deep.training import Trainer

        settings = self._settings(len(cases[0].shape), len(cases))
        trainer = Trainer(model, cases, settings, augment)

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

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the filter's name before what deep/ has to say about its model."""
        try:
            yield
        except TrainingError as error:
            raise TrainingError(f"{self.GetName()}: {error}") from None

    def _after_iteration(self, share: float) -> bool:
        self._run.progress = 0.05 + 0.9 * share
        self._invoke(PROGRESS_EVENT)
        self._invoke(ITERATION_EVENT)
        return self._goes_on()

    def _judge(self, model: ConsensusModel, trainer: Trainer) -> None:
        """Choose the rater weight, and compare with the vote, by held-out raters."""
        from itk_consensus.deep.held_out import chosen_rater_weight, held_out_log_likelihood

        if model.mode == "joint":
            model.rater_weight = chosen_rater_weight(model, trainer.checked_cases(_CHECKED_CASES))
        cases = trainer.checked_cases(_CHECKED_CASES)
        ours, vote = held_out_log_likelihood(model, cases, self._rater_weight(model))
        if ours < vote:
            self._warn(
                "foresees a held-out rater worse than the other raters' vote does (mean "
                f"log-likelihood {ours:.3f} and {vote:.3f}); train longer or on more cases, or "
                "fuse by voting"
            )

    def _rater_weight(self, model: ConsensusModel) -> float:
        return model.rater_weight if self.RaterWeight is None else self.RaterWeight

    def _reading(self) -> dict[str, Any]:
        """How inputs are read, by keyword."""
        return {
            "missing_label": self.MissingLabel,
            "owner": self.GetName(),
            "tolerances": self._tolerances(),
        }

    def _trained(self) -> ConsensusModel:
        if self._model is None:
            raise NotExecutedError(
                f"{self.GetName()}: is not trained; call Fit or Load first. Without training, "
                "itk_consensus.LabelVoting(labels) fuses labels by voting"
            )
        return self._model

    def _torch_threads(self) -> AbstractContextManager[None]:
        return torch_threads(self.NumberOfThreads)
