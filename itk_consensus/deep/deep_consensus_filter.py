"""DeepConsensusFilter: fuse labels with a network that also uses the image."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.core.constraints import (
    LENGTH,
    Boolean,
    Choice,
    Integer,
    Integers,
    Kind,
    OneOf,
    Real,
    is_integer,
    optional,
)
from itk_consensus.core.errors import InputError, NotExecutedError, ParameterError, TrainingError
from itk_consensus.core.global_defaults import Threads
from itk_consensus.core.parameters import Parameter, settings_from
from itk_consensus.core.process_object import (
    ITERATION_EVENT,
    PROGRESS_EVENT,
    ProcessObject,
    on_class_or_instance,
)
from itk_consensus.core.runs import Latest
from itk_consensus.core.work import report
from itk_consensus.deep.augmentation import (
    BuiltInAugmentation,
    Transform,
    augmentation_from_transform,
    unoriented_axes,
)
from itk_consensus.deep.case_store import CaseStore
from itk_consensus.deep.cases import MISSING, Augmentation, Case
from itk_consensus.deep.deep_gain import (
    findings,
    fuse_raters,
    gain_of,
    gain_or_unknown,
    gain_over,
    unlike_finding,
)
from itk_consensus.deep.deep_inputs import (
    CaseSource,
    CaseSummary,
    DeepInput,
    RaterId,
    RaterIds,
    case_sources,
    class_labels,
    known_raters,
    load_input,
    reject_other_labels,
    summaries_of,
)
from itk_consensus.deep.runtime import require_torch, torch_threads
from itk_consensus.deep.worth import Interval, Likeness
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult, MadeBy, common_type
from itk_consensus.fusing.inner_fusers import ImageFuser
from itk_consensus.storage.files import PathLike, read_bytes, require_writable, write_bytes
from itk_consensus.votes.fusions import LabelShares, VolumeFusion

if TYPE_CHECKING:
    from itk_consensus.deep.inference import Prediction
    from itk_consensus.deep.model import ConsensusModel
    from itk_consensus.deep.training import Trainer, TrainingSettings


#: Maximum number of held-out cases on which the trained model is evaluated.
_CHECKED_CASES = 16


@dataclass(frozen=True)
class DeviceName(Kind[str]):
    """Constraint: name of a torch device; a number selects a GPU."""

    annotation = "str"
    wanted = "auto, cpu, cuda, cuda:0, cuda:1, ... or mps"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        name = value.strip().lower()
        if not re.fullmatch(r"auto|cpu|mps|cuda(:[0-9]{1,3})?", name):
            raise ValueError
        return name


@dataclass(frozen=True)
class DeepEstimate(Estimate):
    """Comparison of the image with the images of Fit."""

    unlike: tuple[str, ...]  #: Properties in which the image differs from the images of Fit


class DeepConsensusFilter(ImageFuser):
    """A network trained on images and lists of label maps, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # truths are optional
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it is better than the vote
    """

    NumberOfClasses = Parameter(
        optional(Integer(low=2, high=MISSING)),
        None,
        "Number of classes, labelled 0, 1, ...; by default every label that "
        "occurs in Fit is a class.",
        default_doc="the labels that occur",
    )
    Mode = Parameter(
        Choice(("auto", "truth", "joint", "set")),
        "auto",
        "Target of the training: known truths (truth); the likelihood of the raters given the "
        "image (joint); or held-out raters, predicted from the image and the others (set). auto is "
        "truth if truths are given, else set.",
    )
    RaterWeight = Parameter(
        optional(Real(low=0.0, high=1000.0)),
        None,
        "Joint mode: exponent of the raters' likelihood at disputed voxels; 0 uses the image "
        "alone. By default Fit chooses it by the prediction of held-out raters.",
        default_doc="chosen by Fit",
    )
    EdgeWeight = Parameter(
        Real(low=0.0, high=1e6),
        1.0,
        "Joint mode: weight of the loss that aligns labels with edges of the image; 0: none.",
    )
    Region = Parameter(
        Choice(("disputed", "full")),
        "disputed",
        "Where Execute runs the network; elsewhere the unanimous label is kept.",
    )
    RegionMargin = Parameter(
        LENGTH,
        5.0,
        "Millimetres by which disputed regions grow if unanimous voxels are not locked.",
    )
    LockUnanimousVoxels = Parameter(
        optional(Boolean()),
        None,
        "Whether voxels on which all raters agree keep their label. By default they do, unless "
        "the truths of held-out cases show in Fit that the network is better there.",
        default_doc="chosen by Fit",
    )
    WithoutGain = Parameter(
        Choice(("raters", "network")),
        "raters",
        "What Execute uses if Fit could not show on held-out cases that the network is better than "
        "fusing the raters alone: raters (the vote, or joint fusion of atlases with images) or "
        "network.",
    )
    WindowSize = Parameter(
        OneOf((Integer(low=8), Integers(low=8, length=2), Integers(low=8, length=3))),
        (64, 64, 64),
        "Largest patch of training and inference: one number, or one per axis x, y, z; "
        "2D uses the first two.",
        default_doc="64,64,64",
    )
    WindowOverlap = Parameter(
        Real(low=0.0, high=0.9),
        0.25,
        "Overlap of neighbouring windows, as a fraction of the window.",
    )
    NumberOfIterations = Parameter(
        optional(Integer(low=1)),
        None,
        "Number of training batches, increased if NumberOfEpochs needs more. By default Fit stops "
        "when the loss on held-out cases no longer improves.",
        default_doc="until it converges",
    )
    TimeBudget = Parameter(
        Real(low=0.0, exclusive=True),
        1800.0,
        "Seconds after which Fit stops, if NumberOfIterations is not set; the best weights so far "
        "are kept, and diagnostics report if the loss was still improving.",
    )
    NumberOfEpochs = Parameter(Real(low=0.0), 0.0, "Minimum number of passes over the cases.")
    CacheSize = Parameter(
        Integer(low=0, high=2**30),
        4096,
        "Megabytes of cases that Fit keeps in memory; other files are read again when needed.",
    )
    BatchSize = Parameter(
        optional(Integer(low=1)), None, "Patches per batch.", default_doc="8 in 2D, 2 in 3D"
    )
    LearningRate = Parameter(
        Real(low=0.0, high=1.0, exclusive=True), 0.01, "Peak learning rate of the optimiser."
    )
    KLWeight = Parameter(
        Real(low=0.0, high=1e6),
        0.05,
        "Weight of the Kullback-Leibler divergence of misleading evidence from the uniform "
        "distribution, lambda of evidential learning; reached at half of the training.",
    )
    NumberOfChannels = Parameter(
        optional(Integer(low=1, high=1024)),
        None,
        "Features of the image stream at full resolution.",
        default_doc="16 in 2D, 8 in 3D",
    )
    ValidationFraction = Parameter(
        Real(low=0.0, high=0.9),
        0.1,
        "Fraction of the cases that is held out for early stopping and for estimating the gain; at "
        "least three of twelve or more. 0: none, and the gain is unknown.",
    )
    Patience = Parameter(
        Integer(low=1),
        5,
        "Number of evaluations without improvement after which training stops; those before the "
        "peak of the learning rate do not count. There are ten evaluations in NumberOfIterations. "
        "If that is not set, there is one in fifty iterations, and training continues for at least "
        "a third of all evaluations so far.",
    )
    MissingLabel = Parameter(
        optional(Integer()), None, "The label that means 'not annotated here'."
    )
    Device = Parameter(
        DeviceName(), "auto", "cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU."
    )
    NumberOfThreads = Threads(
        ProcessObject.NumberOfThreads.kind,
        lambda _: ProcessObject.GlobalDefaultNumberOfThreads,
        "Threads of torch and the kernels; the last digits of trained weights depend on it.",
        default_doc="all cores",
    )
    MixedPrecision = Parameter(
        Choice(("cuda", "off")), "cuda", "bfloat16 networks on CUDA; float32 elsewhere or if off."
    )
    RandomSeed = Parameter(
        Integer(low=0, high=2**63 - 1),
        0,
        "The same seed gives the same weights on one CPU with the same NumberOfThreads.",
    )

    _model: ConsensusModel | None = None

    # -- training -----------------------------------------------------------------------------

    def Fit(
        self,
        images: Sequence[Any],
        label_lists: Sequence[Any],
        truths: Sequence[Any] | None = None,
        rater_ids: RaterIds | Sequence[RaterIds] | None = None,
        *,
        atlas_images: Sequence[Any] | None = None,
        checkpoint: PathLike | None = None,
        image_stream: Any = None,
        transform: Transform | None = None,
        warm_start: bool = False,
    ) -> None:
        """Train on several cases.

        Parameters
        ----------
        images : sequence of images
            Each component is a channel. Images, labels and truths may be paths of files, which are
            read case by case and cached within CacheSize.
        label_lists : sequence of lists of images
            The label maps of each image's raters; None stands for a missing rater.
        truths : sequence of images, optional
        rater_ids : sequence, optional
            Ids (int or str) of the raters, either one list for all cases or a list per
            case; None or 0 stands for an unknown rater. By default a position in the lists
            identifies a rater.
        atlas_images : sequence of lists of images, optional
            If the raters are atlases, their images, warped in the same way as their labels.
            The network then starts from the result of joint fusion, and each atlas is used
            as an additional training case, labelled by the others. Requires truths.
        checkpoint : path, optional
            Written after each evaluation; if it exists, training resumes from it.
        image_stream : torch module, optional
            Used instead of the built-in U-Net: maps (N, channels of the image, \\*S) to
            (N, NumberOfChannels, \\*S), e.g. one of MONAI's networks. A copy of it is
            trained. Its stride is determined by trial, unless it has attributes `stride`
            and `least_size`.
        transform : callable, optional
            Used instead of the built-in augmentation (mirroring of axes without orientation,
            rotation, scaling, deformation, brightness, contrast, gamma and noise), e.g. one of
            MONAI's dictionary transforms. It maps a dict to a dict of patches: "image" (channels
            first), "labels" (raters first), with truths "truth" (one channel) and with atlas images
            "prior" (a probability for each class). Sizes must not change; labels are class indices,
            255 where missing.
        warm_start : bool
            Continue training the filter's model, from Fit or Load, instead of a new one.
            Labels, channels and mode must be the same; raters may be new.
        """
        require_torch(self.GetName())
        with self._running(), self._torch_threads():
            sources = case_sources(
                images, label_lists, truths, rater_ids, atlas_images, **self._loading_keywords()
            )
            summaries = summaries_of(sources, self.GetName())
            report(0.05)
            mode = self._choose_mode(truths, summaries)
            if warm_start:
                if self.Mode == "auto" and truths is None and self._trained_model().mode == "joint":
                    mode = "joint"
                model = self._known_model(summaries, mode, image_stream)
            else:
                model = self._new_model(summaries, mode, image_stream)
            model.has_prior = atlas_images is not None
            if mode == "truth" and not warm_start:
                model.network.start_from_raters()
            numbers = {name: number for number, name in enumerate(model.rater_ids, start=1)}
            makers = [partial(source.case, model.labels, numbers) for source in sources]
            cases = CaseStore(makers, self.CacheSize * 2**20)
            if transform is None:
                spacing = tuple(np.median([one.spacing for one in summaries], axis=0))
                axes = unoriented_axes(cases, len(model.labels))
                augment: Augmentation = BuiltInAugmentation(axes, spacing)
            else:
                augment = augmentation_from_transform(transform, self.GetName())
            stand_ins = [] if atlas_images is None else self._stand_ins(sources, model, numbers)
            trainer = self._train(model, cases, checkpoint, augment, stand_ins)
            model.likeness = Likeness.of(
                (one.figures for one in summaries), len(summaries[0].shape)
            )
            model.improving = trainer.state.improving
            self._judge(model, trainer, sources)
            self._model = model
            self._warn_of_concerns()

    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Return each rater's estimated probability of the true class, by rater id.

        If Fit had no truths, this is one accuracy for all classes. The id 0, present if Fit had
        raters without an id, represents an average rater.
        """
        return self._trained_model().reliability()

    def GetChosenRaterWeight(self) -> float:
        """Return the RaterWeight that Fit chose; Execute uses it unless the parameter is set."""
        return self._trained_model().rater_weight

    def GetChosenLock(self) -> bool:
        """Return whether Fit locked unanimous voxels; LockUnanimousVoxels overrides this."""
        return self._trained_model().locks

    def GetTrainingHistory(self) -> tuple[dict[str, float], ...]:
        """Return iteration and validation loss for each evaluation of the last Fit; not saved."""
        return tuple(dict(entry) for entry in self._trained_model().history)

    def _stand_ins(
        self, sources: Sequence[CaseSource], model: ConsensusModel, numbers: dict[RaterId, int]
    ) -> list[CaseStore]:
        """Return, for each case, lazy cases in which one atlas replaces image and truth."""

        def make_case(source: CaseSource, atlas: int) -> Case:
            return source.with_atlas_as_truth(atlas).case(model.labels, numbers)

        budget = self.CacheSize * 2**20 // len(sources)
        return [
            CaseStore(
                [partial(make_case, source, atlas) for atlas in source.present_atlases()], budget
            )
            for source in sources
        ]

    def _choose_mode(self, truths: Any, inputs: Sequence[CaseSummary]) -> str:
        if self.Mode == "truth" and truths is None:
            raise self._parameter_error("Mode", "truth needs truths, got none")
        if self.Mode != "auto":
            return self.Mode
        if truths is not None:
            return "truth"
        # A single rater cannot be used to predict another one.
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
        """Return a copy of the filter's model to continue training."""
        from itk_consensus.deep.model import find_device

        before = self._trained_model()
        shape = before.network.shape
        here = (len(inputs[0].shape), inputs[0].number_of_channels, mode)
        there = (shape.dimension, shape.inputs, before.mode)
        if here != there:
            raise InputError(
                f"warm_start needs images of the same dimension and channels, and the same mode, "
                f"as the model: {there}, got {here}",
                owner=self.GetName(),
            )
        if image_stream is not None:
            raise ParameterError(
                "warm_start uses the image stream of the model; image_stream must be None",
                owner=self.GetName(),
            )
        for number, one in enumerate(inputs):
            reject_other_labels(one, before.labels, f"{self.GetName()}: case {number}")
        model = before.with_new_raters(known_raters(inputs))
        model.network.to(find_device(self.Device, self.GetName()))
        return model

    def _settings(self, dimension: int, number_of_cases: int) -> TrainingSettings:
        from itk_consensus.deep.training import TrainingSettings

        batch_size = self.BatchSize or (8 if dimension == 2 else 2)
        passes = math.ceil(self.NumberOfEpochs * number_of_cases / batch_size)
        return settings_from(
            self,
            TrainingSettings,
            iterations=max(self.NumberOfIterations or 0, passes) or None,
            batch_size=batch_size,
            window=self._window(dimension),
            seed=self.RandomSeed,
            mixed_precision=self.MixedPrecision == "cuda",
        )

    def _window(self, dimension: int) -> tuple[int, ...]:
        """Return the window size in array axis order."""
        size = self.WindowSize
        sides = (size,) * dimension if isinstance(size, int) else size[:dimension]
        if len(sides) < dimension:
            raise self._parameter_error(
                "WindowSize", f"must be {dimension} integers for {dimension}D images, got {size}"
            )
        return sides[::-1]

    def _train(
        self,
        model: ConsensusModel,
        cases: Sequence[Case],
        checkpoint: PathLike | None,
        augment: Augmentation,
        stand_ins: Sequence[Sequence[Case]],
    ) -> Trainer:
        from itk_consensus.deep.persistence import pack_checkpoint, resume
        from itk_consensus.deep.training import Trainer

        settings = self._settings(len(cases[0].shape), len(cases))
        trainer = Trainer(model, cases, settings, augment, stand_ins)

        def keep() -> None:
            if checkpoint is not None:
                write_bytes(checkpoint, pack_checkpoint(trainer))

        if checkpoint is not None:
            require_writable(checkpoint)
        if checkpoint is not None and Path(checkpoint).exists():
            resume(trainer, read_bytes(checkpoint), str(checkpoint))
        with self._name_errors():
            trainer.run(self._after_step, keep)
        return trainer

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        """Add the filter's name to training errors."""
        try:
            yield
        except TrainingError as error:
            raise error.about(owner=self.GetName()) from None

    def _after_step(self, share: float) -> bool:
        """Report progress to observers, and return whether to continue."""
        run = self._run
        assert run is not None
        run.progress = 0.05 + 0.9 * share
        self._invoke(PROGRESS_EVENT)
        self._invoke(ITERATION_EVENT)
        return self._should_continue(run)

    def _judge(
        self, model: ConsensusModel, trainer: Trainer, sources: Sequence[CaseSource]
    ) -> None:
        """Choose the rater weight and the lock, and estimate the gain over other fusers, on
        held-out cases.
        """
        from itk_consensus.deep.held_out import choose_rater_weight

        if model.mode == "joint":
            model.rater_weight = choose_rater_weight(model, trainer.judged_patches(_CHECKED_CASES))

        def network(locks: bool, given: DeepInput) -> NDArray[np.uint8]:
            return self._network_answer(model, given, locks)[0].decision

        held_out = [sources[number] for number in trainer.held_out[:_CHECKED_CASES]]
        if model.mode == "truth":
            locked, free = (partial(network, locks) for locks in (True, False))
            cases = (source.load() for source in held_out)
            model.locks = not gain_over(free, locked, cases, model.labels).low > 0
        model.gain = gain_of(
            partial(network, self._locks(model)),
            (source.load() for source in held_out),
            model.labels,
            by_truth=model.mode == "truth",
            with_atlases=model.has_prior,
        )

    def _warn_of_concerns(self) -> None:
        """Issue a warning for each concern in the diagnostics."""
        for finding in self.GetDiagnostics().concerns:
            self._warn(finding.sentence)

    def GetHeldOutGain(self) -> dict[str, Interval]:
        """Return the gain in Dice over other fusers on held-out cases, with 90 % intervals.

        The other fusers are the vote, Consensus and, with atlas images, joint fusion. With truths,
        Dice is computed against the truth; otherwise against raters held out from all fusers, and
        ties of the vote are broken in favour of the network's label. The gain is NaN if no case was
        held out, for example because there were fewer than five.
        """
        over = gain_or_unknown(self._trained_model()).over
        return {name.removeprefix("the "): Interval.of(values) for name, values in over.items()}

    def GetDiagnostics(self) -> Diagnostics:
        """Return findings on the model of Fit or Load, and on the image of the last Execute."""
        result = self._result
        unlike = None if result is None else result.estimate.unlike
        return Diagnostics(tuple(findings(self._trained_model(), self.WithoutGain, unlike)))

    def _locks(self, model: ConsensusModel) -> bool:
        return model.locks if self.LockUnanimousVoxels is None else self.LockUnanimousVoxels

    def _rater_weight(self, model: ConsensusModel) -> float:
        return model.rater_weight if self.RaterWeight is None else self.RaterWeight

    def _loading_keywords(self) -> dict[str, Any]:
        """Return the keywords of `load_input` that depend on the filter."""
        return {
            "missing_label": self.MissingLabel,
            "owner": self.GetName(),
            "tolerances": self._tolerances(),
            "of_labels": {"keep": self.KeepMetaData, **self._label_options()},
        }

    def _trained_model(self) -> ConsensusModel:
        if self._model is None:
            raise NotExecutedError(
                "is not trained; call Fit or Load first. Without training, "
                "itk_consensus.LabelVoting(labels) fuses labels by voting",
                owner=self.GetName(),
            )
        return self._model

    def _torch_threads(self) -> AbstractContextManager[None]:
        return torch_threads(self.NumberOfThreads)

    # -- inference --------------------------------------------------------------------------

    def Execute(
        self,
        image: Any,
        labels: Any,
        rater_ids: RaterIds | None = None,
        *,
        atlas_images: Any = None,
    ) -> Any:
        """Fuse the labels of one image.

        Parameters
        ----------
        image : image
        labels : list of images
            On the image's grid; None stands for a missing rater; in a vector image, each
            component is a rater.
        rater_ids : sequence of int, str or None
            As in Fit; raters not present in Fit are treated as average raters.
        atlas_images : list of images
            Images of the atlases from which the labels were propagated, if Fit had atlas
            images.

        Returns
        -------
        image
            Fused label map, with the family, type and geometry of the labels.
        """
        return self._fuse_input(image, labels, rater_ids, atlas_images).label_image()

    def fuse_with(self, image: Any, labels: Any) -> FusionResult[DeepEstimate]:
        """Run Execute and return the result object instead of an image."""
        return self._fuse_input(image, labels, None, None)

    def _fuse_input(
        self, image: Any, labels: Any, rater_ids: RaterIds | None, atlas_images: Any
    ) -> FusionResult[DeepEstimate]:
        require_torch(self.GetName())
        model = self._trained_model()
        with self._running() as run, self._torch_threads():
            given = load_input(
                image,
                labels,
                rater_ids=rater_ids,
                atlas_images=atlas_images,
                **self._loading_keywords(),
            )
            wanted = (model.network.shape.dimension, model.network.shape.inputs)
            found = (len(given.shape), len(given.channels))
            if found != wanted:
                raise InputError(
                    f"was trained on {wanted[0]}D images{_channel_phrase(wanted[1])}, "
                    f"got {found[0]}D{_channel_phrase(found[1])}",
                    owner=self.GetName(),
                )
            if model.has_prior is (given.shares is None):
                raise InputError(
                    "was trained with atlas_images; pass them to Execute, too"
                    if model.has_prior
                    else "was trained without atlas_images; pass none to Execute",
                    owner=self.GetName(),
                )
            reject_other_labels(given.summary(), model.labels, self.GetName())
            report(0.1)
            run.result = result = self._answer(model, given)
            return result

    def GetLabelImage(self) -> Any:
        """Return the fused label map of the last Execute."""
        return self.GetResult().label_image()

    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Return the probability of a label as float64; 0 or 1 at voxels decided by the raters."""
        fused = self.GetResult()
        if not is_integer(label) or label not in fused.labels:
            raise ParameterError(
                f"GetProbabilityImage's label must be one of {fused.labels}, got {label!r}",
                owner=self.GetName(),
            )
        return fused.probability_image(label)

    def GetEvidenceImage(self) -> Any:
        """Return the network's total Dirichlet evidence as float64; 0 where it was not run."""
        result = self.GetResult()
        return result.image(result.extras["write evidence"])

    def GetResult(self) -> FusionResult[DeepEstimate]:
        """Return the immutable result of the last Execute."""
        result: FusionResult[DeepEstimate] = super().GetResult()
        return result

    def _answer(self, model: ConsensusModel, given: DeepInput) -> FusionResult[DeepEstimate]:
        """Fuse by the network, or without it if it showed no gain (see WithoutGain)."""
        from itk_consensus.deep.model import find_device

        model = model.on(find_device(self.Device, self.GetName()))
        if gain_or_unknown(model).is_shown or self.WithoutGain == "network":
            fusion, write_evidence = self._network_answer(model, given, self._locks(model))
        else:
            fusion, write_evidence = fuse_raters(given, model.labels), _no_evidence
        unlike = (
            ()
            if model.likeness is None
            else model.likeness.unlike(given.figures(), len(given.shape))
        )
        if unlike:
            self._warn(unlike_finding(unlike).what)
        # Use all labels of the model, even those that do not occur in this case.
        stack = replace(given.stack, labels=np.array(model.labels))
        result = FusionResult(
            FusionCase(given.loaded, stack, stack),
            Fused(fusion, DeepEstimate(unlike), {"write evidence": write_evidence}),
            model.labels,
            common_type(given.stack.arrays, model.labels),
            0,
            MadeBy.of(self),
        )
        return result.detach()

    def _network_answer(
        self, model: ConsensusModel, given: DeepInput, locks: bool
    ) -> tuple[VolumeFusion, Callable[[NDArray[Any]], None]]:
        """Return the network's fusion, and a function that writes its evidence."""
        from itk_consensus.deep.inference import predict, requested_voxels

        case = given.as_case(model.labels, model.rater_numbers)
        decision = given.agreed_classes(model.labels)
        disputed = decision == MISSING
        margin = 0.0 if locks else self.RegionMargin
        spacing = given.loaded.geometry.array_spacing
        asked = requested_voxels(disputed, spacing, None if self.Region == "full" else margin)
        answered = asked & disputed if locks else asked
        with self._name_errors():
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
        return _overwrite_with_prediction(decision, answered, prediction), WriteEvidence(
            prediction, asked
        )

    # -- files ------------------------------------------------------------------------------

    def Save(self, path: PathLike) -> None:
        """Save the trained model as a safetensors file, a format that cannot contain code."""
        model = self._trained_model()
        from itk_consensus.deep.persistence import pack_model

        write_bytes(path, pack_model(model))

    @on_class_or_instance
    def Load(self, path: PathLike, image_stream: Any = None) -> DeepConsensusFilter:
        """Load the model from a file; pass the image stream if Fit had one.

        If called on the class, this creates a new filter. The file holds only the trained model;
        parameters of Execute are not changed.
        """
        require_torch(self.GetName())
        from itk_consensus.deep.persistence import unpack_model

        self._model = unpack_model(read_bytes(path), str(path), image_stream)
        self._latest = Latest()
        return self

    # -- state ------------------------------------------------------------------------------

    def GetLabels(self) -> tuple[int, ...]:
        """Return the label of each class of the trained model."""
        return self._trained_model().labels

    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """Return the ids of the raters in Fit."""
        return self._trained_model().rater_ids

    def _clone_sharing_runs(self, *terms: Any) -> DeepConsensusFilter:
        worker = super()._clone_sharing_runs(*terms)
        worker._model = self._model
        return worker

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._model = state["model"]


def _no_evidence(out: NDArray[Any]) -> None:
    out[...] = 0


@dataclass(frozen=True)
class WriteEvidence:
    """Function that writes the network's evidence (0 where it was not run); picklable."""

    prediction: Prediction
    asked: NDArray[np.bool_]

    def __call__(self, out: NDArray[Any]) -> None:
        out[...] = 0
        _fill(out, self.prediction, self.prediction.evidence, self.asked)


def _overwrite_with_prediction(
    decision: NDArray[np.uint8], answered: NDArray[np.bool_], prediction: Prediction
) -> VolumeFusion:
    """Replace the raters' decision by the network's at the `answered` voxels.

    At all other voxels probabilities are 0 or 1.
    """
    _fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)
    return VolumeFusion(decision, NetworkShares(decision, answered, prediction))


@dataclass(frozen=True)
class NetworkShares(LabelShares):
    """The network's probabilities at the `answered` voxels; elsewhere 0 or 1."""

    decision: NDArray[np.uint8]
    answered: NDArray[np.bool_]
    prediction: Prediction

    def of_label(self, label: int) -> NDArray[np.float64]:
        volume: NDArray[np.float64] = (self.decision == label).astype(np.float64)
        _fill(volume, self.prediction, self.prediction.probability[label], self.answered)
        return volume


def _fill(
    volume: NDArray[Any], prediction: Prediction, inside: NDArray[Any], where: NDArray[np.bool_]
) -> None:
    """Copy values inside the prediction's box to the volume, at the voxels in `where`."""
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])


def _channel_phrase(number: int) -> str:
    return "" if number == 1 else f" with {number} channels"
