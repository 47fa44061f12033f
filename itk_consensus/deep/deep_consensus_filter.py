"""DeepConsensusFilter: fuse labels with the help of the image they were drawn on."""

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
    by_transform,
    unoriented_axes,
)
from itk_consensus.deep.case_store import CaseStore
from itk_consensus.deep.cases import MISSING, Augmentation, Case
from itk_consensus.deep.deep_gain import (
    findings,
    gain_of,
    gain_over,
    known_gain,
    raters_answer,
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


#: Cases on which the trained model is judged by held-out raters.
_CHECKED_CASES = 16


@dataclass(frozen=True)
class DeviceName(Kind[str]):
    """The device that torch uses; a number selects a GPU."""

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
    """What the filter noticed of the image."""

    unlike: tuple[str, ...]  #: How it differs from the images of Fit


class DeepConsensusFilter(ImageFuser):
    """A network that is trained on images and label lists, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # no truth: raters and image teach each other
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it was worth it
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
        "What Fit learns from: known truths; image and raters jointly; or predicting held-out "
        "raters from the image and the others. auto is truth if truths are given, else set.",
    )
    RaterWeight = Parameter(
        optional(Real(low=0.0, high=1000.0)),
        None,
        "Joint mode: power of the raters' likelihood at disputed voxels; 0 uses the image alone. "
        "Fit chooses it by how well it predicts held-out raters.",
        default_doc="chosen by Fit",
    )
    EdgeWeight = Parameter(
        Real(low=0.0, high=1e6),
        1.0,
        "Joint mode: how strongly Fit ties labels to the edges of the image; 0: not at all.",
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
        "Whether voxels on which all raters agree keep their label. Fit lets them go only if "
        "truths of held-out cases show that the network knows better there.",
        default_doc="chosen by Fit",
    )
    WithoutGain = Parameter(
        Choice(("raters", "network")),
        "raters",
        "Who answers in Execute if Fit could not show on held-out cases that the network is better "
        "than the raters by themselves: their vote, or joint fusion of atlases that have images.",
    )
    WindowSize = Parameter(
        OneOf((Integer(low=8), Integers(low=8, length=2), Integers(low=8, length=3))),
        (64, 64, 64),
        "Largest patch of training and inference: one number, or one per axis x, y, z; "
        "2D uses the first two.",
        default_doc="64,64,64",
    )
    WindowOverlap = Parameter(
        Real(low=0.0, high=0.9), 0.25, "Overlap of neighbouring windows, as a share of the window."
    )
    NumberOfIterations = Parameter(
        optional(Integer(low=1)),
        None,
        "Training batches; NumberOfEpochs may ask for more. By default Fit goes on until held-out "
        "cases are predicted no better.",
        default_doc="until it has learnt",
    )
    TimeBudget = Parameter(
        Real(low=0.0, exclusive=True),
        1800.0,
        "Seconds after which Fit ends, if NumberOfIterations does not say when; what was learnt "
        "by then is kept, and diagnostics say if there was more to learn.",
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
        Real(low=0.0, high=1.0, exclusive=True), 0.01, "Of the optimiser, at its peak."
    )
    KLWeight = Parameter(
        Real(low=0.0, high=1e6),
        0.05,
        "Weight of misleading evidence's divergence from none, reached at half of the training: "
        "the lambda of evidential learning.",
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
        "Share of the cases that only decide when to stop and judge what was gained; three at "
        "least, of twelve or more. 0: none, and nothing is known of the gain.",
    )
    Patience = Parameter(
        Integer(low=1),
        5,
        "Evaluations without improvement before training ends: one in a tenth of "
        "NumberOfIterations or, without such a number, in fifty iterations, and then a third of "
        "all so far if that is more. Those before the peak of the learning rate do not count.",
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
            With one or more components, each of which is a channel. Images, labels and truths may
            be paths of files, which are read case by case and kept within CacheSize.
        label_lists : sequence of lists of images
            For each image what its raters drew; None is a missing rater.
        truths : sequence of images, optional
        rater_ids : sequence, optional
            Ids (int or str) of the raters, for all cases alike or a list per case; None or 0 is a
            rater without a name. By default a position in the lists is a person.
        atlas_images : sequence of lists of images, optional
            If the raters are atlases: their images, warped as their labels were. Joint fusion looks
            at them, the network starts from what it says, and each atlas is a case to learn from
            that the others label. Needs truths.
        checkpoint : path, optional
            Written after each evaluation; if it exists, training goes on where it was written.
        image_stream : torch module, optional
            Used instead of the built-in U-Net: (N, channels of the image, \\\\*S) to
            (N, NumberOfChannels, \\\\*S), MONAI's networks for example. A copy of it is trained.
            Its stride is found by trying, unless it has attributes `stride` and `least_size`.
        transform : callable, optional
            Used instead of the built-in augmentation (mirroring where the cases show no side,
            rotation, scaling, bending, brightness, contrast, gamma and noise), such as MONAI's
            dictionary transforms: from a dict to a dict of patches "image" (channels first),
            "labels" (raters first), with truths "truth" (one channel) and with atlas images "prior"
            (a probability for each class). Sizes must stay; labels are class numbers, 255 where
            there is none.
        warm_start : bool
            Go on from the model that the filter has, by Fit or Load, instead of a new one. Labels,
            channels and mode must be the same; raters may be new.
        """
        require_torch(self.GetName())
        with self._running(), self._torch_threads():
            sources = case_sources(
                images, label_lists, truths, rater_ids, atlas_images, **self._reading()
            )
            summaries = summaries_of(sources, self.GetName())
            report(0.05)
            mode = self._chosen_mode(truths, summaries)
            if warm_start:
                if self.Mode == "auto" and truths is None and self._trained().mode == "joint":
                    mode = "joint"
                model = self._known_model(summaries, mode, image_stream)
            else:
                model = self._new_model(summaries, mode, image_stream)
            model.has_prior = atlas_images is not None
            if mode == "truth" and not warm_start:
                model.network.begin_with_raters()
            numbers = {name: number for number, name in enumerate(model.rater_ids, start=1)}
            makers = [partial(source.case, model.labels, numbers) for source in sources]
            cases = CaseStore(makers, self.CacheSize * 2**20)
            if transform is None:
                spacing = tuple(np.median([one.spacing for one in summaries], axis=0))
                axes = unoriented_axes(cases, len(model.labels))
                augment: Augmentation = BuiltInAugmentation(axes, spacing)
            else:
                augment = by_transform(transform, self.GetName())
            stand_ins = [] if atlas_images is None else self._stand_ins(sources, model, numbers)
            trainer = self._train(model, cases, checkpoint, augment, stand_ins)
            model.likeness = Likeness.of(
                (one.figures for one in summaries), len(summaries[0].shape)
            )
            model.improving = trainer.state.improving
            self._judge(model, trainer, sources)
            self._model = model
            self._say()

    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Each rater's estimated probability of drawing the true class.

        Without a truth it is one accuracy for all classes. 0, given if raters without an id were
        met, is an average rater.
        """
        return self._trained().reliability()

    def GetChosenRaterWeight(self) -> float:
        """The RaterWeight that Fit chose; Execute uses it unless another one is set."""
        return self._trained().rater_weight

    def GetChosenLock(self) -> bool:
        """Whether unanimous voxels keep their label; so Execute does, unless told otherwise."""
        return self._trained().locks

    def GetTrainingHistory(self) -> tuple[dict[str, float], ...]:
        """Iteration and validation loss of each evaluation of the last Fit; not kept by Save."""
        return tuple(dict(entry) for entry in self._trained().history)

    def _stand_ins(
        self, sources: Sequence[CaseSource], model: ConsensusModel, numbers: dict[RaterId, int]
    ) -> list[CaseStore]:
        """For each case its atlases, each in the place of image and truth; made when drawn."""

        def made(source: CaseSource, atlas: int) -> Case:
            return source.with_atlas_as_truth(atlas).case(model.labels, numbers)

        budget = self.CacheSize * 2**20 // len(sources)
        return [
            CaseStore([partial(made, source, atlas) for atlas in source.present_atlases()], budget)
            for source in sources
        ]

    def _chosen_mode(self, truths: Any, inputs: Sequence[CaseSummary]) -> str:
        if self.Mode == "truth" and truths is None:
            raise self._wrong("Mode", "truth needs truths, got none")
        if self.Mode != "auto":
            return self.Mode
        if truths is not None:
            return "truth"
        # One rater alone cannot predict another.
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
        """The filter's model, to continue with."""
        from itk_consensus.deep.model import find_device

        before = self._trained()
        shape = before.network.shape
        here = (len(inputs[0].shape), inputs[0].number_of_channels, mode)
        there = (shape.dimension, shape.inputs, before.mode)
        if here != there:
            raise InputError(
                f"warm_start goes on with images of the same dimension and "
                f"channels in the same mode, {there}, got {here}",
                owner=self.GetName(),
            )
        if image_stream is not None:
            raise ParameterError(
                "warm_start goes on with the image stream of the model; image_stream must be None",
                owner=self.GetName(),
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
            iterations=max(self.NumberOfIterations or 0, passes) or None,
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
            raise self._wrong(
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
        with self._named():
            trainer.run(self._after_step, keep)
        return trainer

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the filter's name before what deep/ has to say about its model."""
        try:
            yield
        except TrainingError as error:
            raise error.about(owner=self.GetName()) from None

    def _after_step(self, share: float) -> bool:
        """Observer of the training: tells the commands, and whether to go on."""
        run = self._run
        assert run is not None
        run.progress = 0.05 + 0.9 * share
        self._invoke(PROGRESS_EVENT)
        self._invoke(ITERATION_EVENT)
        return self._goes_on(run)

    def _judge(
        self, model: ConsensusModel, trainer: Trainer, sources: Sequence[CaseSource]
    ) -> None:
        """Choose the rater weight, and compare with the vote, where training did not look."""
        from itk_consensus.deep.held_out import chosen_rater_weight

        if model.mode == "joint":
            model.rater_weight = chosen_rater_weight(model, trainer.checked_cases(_CHECKED_CASES))

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

    def _say(self) -> None:
        """Warn of what speaks against the model."""
        for finding in self.GetDiagnostics().concerns:
            self._warn(finding.sentence)

    def GetHeldOutGain(self) -> dict[str, Interval]:
        """Dice beyond the vote, Consensus and, with atlas images, joint fusion of held-out cases.

        Each with the ends of its 90 % interval: with truths Dice is that with the truth, else with
        raters of these cases whom neither the network nor the others' vote was shown, and ties of
        the vote are broken as the network does. NaN if no case was held out, as of fewer than five.
        """
        over = known_gain(self._trained()).over
        return {name.removeprefix("the "): Interval.of(values) for name, values in over.items()}

    def GetDiagnostics(self) -> Diagnostics:
        """What speaks against the model of Fit or Load, and against the last Execute's image."""
        result = self._result
        unlike = None if result is None else result.estimate.unlike
        return Diagnostics(tuple(findings(self._trained(), self.WithoutGain, unlike)))

    def _locks(self, model: ConsensusModel) -> bool:
        return model.locks if self.LockUnanimousVoxels is None else self.LockUnanimousVoxels

    def _rater_weight(self, model: ConsensusModel) -> float:
        return model.rater_weight if self.RaterWeight is None else self.RaterWeight

    def _reading(self) -> dict[str, Any]:
        """How inputs are read, by keyword."""
        return {
            "missing_label": self.MissingLabel,
            "owner": self.GetName(),
            "tolerances": self._tolerances(),
            "of_labels": {"keep": self.KeepMetaData, **self._of_labels()},
        }

    def _trained(self) -> ConsensusModel:
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
            On the image's grid; None is a missing rater, a vector image one rater per component.
        rater_ids : sequence of int, str or None
            As in Fit; raters that Fit did not meet are unknown, and count as average ones.
        atlas_images : list of images
            Of the atlases that drew the labels, if Fit was given theirs.

        Returns
        -------
        image
            Of the labels' family and type, with their geometry.
        """
        return self._fused(image, labels, rater_ids, atlas_images).label_image()

    def fuse_with(self, image: Any, labels: Any) -> FusionResult[DeepEstimate]:
        """Execute, for other parts of the package that want the result and no image."""
        return self._fused(image, labels, None, None)

    def _fused(
        self, image: Any, labels: Any, rater_ids: RaterIds | None, atlas_images: Any
    ) -> FusionResult[DeepEstimate]:
        require_torch(self.GetName())
        model = self._trained()
        with self._running() as run, self._torch_threads():
            given = load_input(
                image,
                labels,
                rater_ids=rater_ids,
                atlas_images=atlas_images,
                **self._reading(),
            )
            wanted = (model.network.shape.dimension, model.network.shape.inputs)
            found = (len(given.shape), len(given.channels))
            if found != wanted:
                raise InputError(
                    f"was trained on {wanted[0]}D images{_channels(wanted[1])}, "
                    f"got {found[0]}D{_channels(found[1])}",
                    owner=self.GetName(),
                )
            if model.has_prior is (given.shares is None):
                raise InputError(
                    "needs atlas_images, as Fit had them"
                    if model.has_prior
                    else "was trained without atlas_images and takes none",
                    owner=self.GetName(),
                )
            reject_other_labels(given.summary(), model.labels, self.GetName())
            report(0.1)
            run.result = result = self._answered(model, given)
            return result

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self.GetResult().label_image()

    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Probability, as float64, that the truth is this label; 0 or 1 where raters decided."""
        fused = self.GetResult()
        if not is_integer(label) or label not in fused.labels:
            raise ParameterError(
                f"GetProbabilityImage's label must be one of {fused.labels}, got {label!r}",
                owner=self.GetName(),
            )
        return fused.probability_image(label)

    def GetEvidenceImage(self) -> Any:
        """Total Dirichlet evidence of the network, as float64; 0 where it was not run."""
        result = self.GetResult()
        return result.image(result.extras["write evidence"])

    def GetResult(self) -> FusionResult[DeepEstimate]:
        """What the last Execute made: a value that later ones do not change."""
        result: FusionResult[DeepEstimate] = super().GetResult()
        return result

    def _answered(self, model: ConsensusModel, given: DeepInput) -> FusionResult[DeepEstimate]:
        """Ask the network, or the raters by themselves where no gain was shown."""
        from itk_consensus.deep.model import find_device

        model = model.on(find_device(self.Device, self.GetName()))
        if known_gain(model).is_shown or self.WithoutGain == "network":
            fusion, write_evidence = self._network_answer(model, given, self._locks(model))
        else:
            fusion, write_evidence = raters_answer(given, model.labels), _no_evidence
        unlike = (
            ()
            if model.likeness is None
            else model.likeness.unlike(given.figures(), len(given.shape))
        )
        if unlike:
            self._warn(unlike_finding(unlike).what)
        # The votes' labels are those of the model, whichever of them occur here.
        stack = replace(given.stack, labels=np.array(model.labels))
        result = FusionResult(
            FusionCase(given.loaded, stack, stack),
            Fused(fusion, DeepEstimate(unlike), {"write evidence": write_evidence}),
            model.labels,
            common_type(given.stack.arrays, model.labels),
            0,
            MadeBy.of(self),
        )
        return result.detached()

    def _network_answer(
        self, model: ConsensusModel, given: DeepInput, locks: bool
    ) -> tuple[VolumeFusion, Callable[[NDArray[Any]], None]]:
        """The network's fusion, and what writes its evidence."""
        from itk_consensus.deep.inference import predict, voxels_to_ask

        case = given.as_case(model.labels, model.rater_numbers)
        decision = given.agreed_classes(model.labels)
        disputed = decision == MISSING
        margin = 0.0 if locks else self.RegionMargin
        spacing = given.loaded.geometry.array_spacing
        asked = voxels_to_ask(disputed, spacing, None if self.Region == "full" else margin)
        answered = asked & disputed if locks else asked
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
        return _fused_with(decision, answered, prediction), WriteEvidence(prediction, asked)

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
        self._latest = Latest()
        return self

    # -- state ------------------------------------------------------------------------------

    def GetLabels(self) -> tuple[int, ...]:
        """The label of each class of the trained model."""
        return self._trained().labels

    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """The ids of the raters Fit met."""
        return self._trained().rater_ids

    def _lent(self, *terms: Any) -> DeepConsensusFilter:
        worker = super()._lent(*terms)
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
    """Writes the network's evidence; 0 where it was not run."""

    prediction: Prediction
    asked: NDArray[np.bool_]

    def __call__(self, out: NDArray[Any]) -> None:
        out[...] = 0
        _fill(out, self.prediction, self.prediction.evidence, self.asked)


def _fused_with(
    decision: NDArray[np.uint8], answered: NDArray[np.bool_], prediction: Prediction
) -> VolumeFusion:
    """The raters' classes, overwritten by the network's where its answer counts.

    Elsewhere probabilities are 0 or 1.
    """
    _fill(decision, prediction, prediction.probability.argmax(0).astype(np.uint8), answered)
    return VolumeFusion(decision, NetworkShares(decision, answered, prediction))


@dataclass(frozen=True)
class NetworkShares(LabelShares):
    """The network's probabilities where its answer counts; elsewhere 0 or 1."""

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
    """Copy what holds inside the prediction's box to the volume, at the voxels of `where`."""
    box = prediction.box
    np.copyto(volume[box], inside, where=where[box])


def _channels(number: int) -> str:
    return "" if number == 1 else f" with {number} channels"
