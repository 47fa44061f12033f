# Made by `make docs` from the filters' parameter tables; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

from itk_consensus.assessment.agreement.lesions import LesionAgreements as LesionAgreements
from itk_consensus.assessment.agreement.plan_agreement import PlanAgreement as PlanAgreement
from itk_consensus.assessment.agreement.rater_number import Interval as Interval
from itk_consensus.assessment.agreement.rater_number import RaterNumberCurve as RaterNumberCurve
from itk_consensus.assessment.agreement.reader_bias import ReaderBias as ReaderBias
from itk_consensus.assessment.agreement.result import AgreementResult as AgreementResult
from itk_consensus.assessment.findings import Diagnostics as Diagnostics
from itk_consensus.assessment.readers import Readers as Readers
from itk_consensus.assessment.scoring.score_against_readers import PluralTruth as PluralTruth
from itk_consensus.assessment.scoring.score_study import Submissions as Submissions
from itk_consensus.assessment.scoring.study_scores import StudyScores as StudyScores
from itk_consensus.calibration.held_out_rater import HeldOutCohort as HeldOutCohort
from itk_consensus.calibration.learned.learned_fusion_filter import RaterWeight as RaterWeight
from itk_consensus.calibration.learned.learned_record import LearnedRecord as LearnedRecord
from itk_consensus.calibration.reliability import ScalingComparison as ScalingComparison
from itk_consensus.calibration.reliability import ScalingReport as ScalingReport
from itk_consensus.calibration.sample_segmentations import SampleSegmentations as SampleSegmentations
from itk_consensus.core.errors import ConsensusError as ConsensusError
from itk_consensus.core.errors import ConsensusWarning as ConsensusWarning
from itk_consensus.core.errors import FileError as FileError
from itk_consensus.core.errors import GeometryError as GeometryError
from itk_consensus.core.errors import InputError as InputError
from itk_consensus.core.errors import MissingDependencyError as MissingDependencyError
from itk_consensus.core.errors import NotExecutedError as NotExecutedError
from itk_consensus.core.errors import ParameterError as ParameterError
from itk_consensus.core.errors import ProcessAborted as ProcessAborted
from itk_consensus.core.errors import TrainingError as TrainingError
from itk_consensus.deep.augmentation import Transform as Transform
from itk_consensus.deep.deep_inputs import RaterId as RaterId
from itk_consensus.deep.deep_inputs import RaterIds as RaterIds
from itk_consensus.fusing.accumulators import PatternAccumulator as PatternAccumulator
from itk_consensus.fusing.fusion_result import FusionResult as FusionResult
from itk_consensus.images.dicom.series import DicomSeries as DicomSeries
from itk_consensus.images.structure_matching import MatchedStructures as MatchedStructures
from itk_consensus.images.structure_matching import Renamings as Renamings
from itk_consensus.images.structure_names import StructureWords as StructureWords
from itk_consensus.images.structures import Structure as Structure
from itk_consensus.methods.consensus.consensus_explanation import ListedComponent as ListedComponent
from itk_consensus.methods.consensus.curve import CoherenceCurve as CoherenceCurve
from itk_consensus.methods.consensus.curve import Resolution as Resolution
from itk_consensus.methods.lesions.objects import ObjectKind as ObjectKind
from itk_consensus.methods.lesions.table import LesionTable as LesionTable
from itk_consensus.methods.lesions.table import ReaderDetection as ReaderDetection
from itk_consensus.methods.staple.staple_result import StartSummary as StartSummary
from itk_consensus.pipeline.ensembled import ConsensusEnsembled as ConsensusEnsembled
from itk_consensus.report.notebook import Shown as Shown
from itk_consensus.report.page import PathLike as PathLike
from itk_consensus.samples import SampleAtlases as SampleAtlases
from itk_consensus.samples import SampleCase as SampleCase
from itk_consensus.votes.gains import Gain as Gain
from itk_consensus.votes.uncertainty import UncertaintyKind as UncertaintyKind

__version__: str

Image = Any
ImageT = TypeVar("ImageT")

class ProcessObject:
    """Base of every filter. Many threads may call Execute of one object at the same time."""
    def __init__(self, *, CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetCoordinateTolerance(self, value: float) -> None:
        """Largest difference of origin or spacing between inputs, as a fraction of the spacing. Default: 1e-06."""
    def GetCoordinateTolerance(self) -> float:
        """Largest difference of origin or spacing between inputs, as a fraction of the spacing."""
    def SetDirectionTolerance(self, value: float) -> None:
        """Largest difference between elements of the inputs' direction matrices. Default: 1e-06."""
    def GetDirectionTolerance(self) -> float:
        """Largest difference between elements of the inputs' direction matrices."""
    def SetNumberOfThreads(self, value: int) -> None:
        """Threads of the compiled kernels, 0 being the default; results never depend on it. Default: all cores."""
    def GetNumberOfThreads(self) -> int:
        """Threads of the compiled kernels, 0 being the default; results never depend on it."""
    def SetNumberOfWorkUnits(self, value: int) -> None:
        """Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split. Default: 0."""
    def GetNumberOfWorkUnits(self) -> int:
        """Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split."""
    def SetKeepMetaData(self, value: str) -> None:
        """What outputs keep of the first input's metadata: nothing, what describes the grid, all but what can identify a person, or everything, patients' names included; geometry is always kept. Default: all_but_identity."""
    def GetKeepMetaData(self) -> str:
        """What outputs keep of the first input's metadata: nothing, what describes the grid, all but what can identify a person, or everything, patients' names included; geometry is always kept."""
    def SetDebug(self, value: bool) -> None:
        """Print the filter before each Execute. Default: False."""
    def GetDebug(self) -> bool:
        """Print the filter before each Execute."""
    def Abort(self) -> None:
        """Stop at the next chance. During iterations the current estimate is still returned.

        From a command it stops the Execute that called it, otherwise every running one. Outputs
        that are made later can be aborted, too; the Execute's other results stay.
        """
    def AddCommand(self, event: int, command: Any) -> int:
        """Call `command`, a callable or a SimpleITK Command, at each such event."""
    def DebugOff(self) -> None:
        """Set Debug to False."""
    def DebugOn(self) -> None:
        """Set Debug to True."""
    @staticmethod
    def GetGlobalDefaultCoordinateTolerance() -> float:
        """The CoordinateTolerance of filters that have none of their own."""
    @staticmethod
    def GetGlobalDefaultDebug() -> bool:
        """The Debug of filters that have none of their own."""
    @staticmethod
    def GetGlobalDefaultDirectionTolerance() -> float:
        """The DirectionTolerance of filters that have none of their own."""
    @staticmethod
    def GetGlobalDefaultKeepMetaData() -> str:
        """The KeepMetaData of filters that have none of their own."""
    @staticmethod
    def GetGlobalDefaultNumberOfThreads() -> int:
        """The NumberOfThreads of filters that have none of their own."""
    @staticmethod
    def GetGlobalDefaultThreader() -> str:
        """ITK's multi-threader, for scripts that set it; filters of this package have threads of their own, and their answers depend on neither."""
    @staticmethod
    def GetGlobalWarningDisplay() -> bool:
        """Whether filters warn; GetDiagnostics() has it all in any case."""
    def GetName(self) -> str:
        """The name of the filter's class."""
    def GetProgress(self) -> float:
        """How much of Execute is done, from 0 to 1; the youngest, if threads are at several."""
    def GetResult(self) -> Any:
        """What the last Execute made: a value that later ones do not change."""
    @staticmethod
    def GlobalDefaultDebugOff() -> None:
        """SetGlobalDefaultDebug(False)."""
    @staticmethod
    def GlobalDefaultDebugOn() -> None:
        """SetGlobalDefaultDebug(True)."""
    @staticmethod
    def GlobalWarningDisplayOff() -> None:
        """SetGlobalWarningDisplay(False)."""
    @staticmethod
    def GlobalWarningDisplayOn() -> None:
        """SetGlobalWarningDisplay(True)."""
    def HasCommand(self, event: int) -> bool:
        """Whether a command waits for this event."""
    def RemoveAllCommands(self) -> None:
        """Forget every command."""
    @staticmethod
    def SetGlobalDefaultCoordinateTolerance(value: float) -> None:
        """The CoordinateTolerance of filters that have none of their own."""
    @staticmethod
    def SetGlobalDefaultDebug(value: bool) -> None:
        """The Debug of filters that have none of their own."""
    @staticmethod
    def SetGlobalDefaultDirectionTolerance(value: float) -> None:
        """The DirectionTolerance of filters that have none of their own."""
    @staticmethod
    def SetGlobalDefaultKeepMetaData(value: str) -> None:
        """The KeepMetaData of filters that have none of their own."""
    @staticmethod
    def SetGlobalDefaultNumberOfThreads(value: int) -> None:
        """The NumberOfThreads of filters that have none of their own."""
    @staticmethod
    def SetGlobalDefaultThreader(value: str) -> None:
        """ITK's multi-threader, for scripts that set it; filters of this package have threads of their own, and their answers depend on neither."""
    @staticmethod
    def SetGlobalWarningDisplay(value: bool) -> None:
        """Whether filters warn; GetDiagnostics() has it all in any case."""

class LabelFusionFilter(ProcessObject):
    """Base of the fusers: a list of label images in, one image of the same kind out."""
    def __init__(self, *, AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetAgreementLimits(self, value: Mapping[str, float] | None) -> None:
        """Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; docs/howto/findings.md lists them. Default: None."""
    def GetAgreementLimits(self) -> Mapping[str, float] | None:
        """Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; docs/howto/findings.md lists them."""
    def SetMaskImage(self, value: Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    def SetRaterMasks(self, value: Sequence[Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @overload
    def Execute(self, images: Sequence[NDArray[Any] | None], /) -> NDArray[Any]: ...
    @overload
    def Execute(self, images: Sequence[ImageT | None], /) -> ImageT: ...
    @overload
    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            On one grid: images of SimpleITK, itk, nibabel or xarray, MONAI's MetaTensors, torch
            tensors, NumPy arrays or whatever can be seen as one. None stands for a missing rater, a
            masked voxel for a missing vote; a vector image holds one rater per component. Dask
            arrays are not computed.

        Returns
        -------
        image
            Of the first input's family, with its geometry, on its device; of its metadata
            all but what can identify a person, unless KeepMetaData says otherwise. A dask
            array, if inputs are dask arrays: lazy, made chunk by chunk, and exact.
        """
    def GetDiagnostics(self, full: bool = True) -> Diagnostics:
        """Checks of the last Execute, each with its number; made on demand.

        Those about the fusion (``.fusion``) say whether the result can be believed, those about the
        raters (``.raters``) how far these agree and who of them may have slipped.

        Parameters
        ----------
        full : bool
            Whether to compare the result with Consensus, too, which takes as long as fusing by it.
        """
    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """The map of one label with the highest expected Dice under its probability.

        It may differ from the label map, which takes the most probable label of each voxel, where
        probabilities are far from 0 and 1. Without a label the largest one that occurs is meant.
        """
    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occur in the last Execute's inputs, in increasing order."""
    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Probability, as float64, that the truth is this label, after the last Execute.

        Without a label the largest one that occurs is meant, the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
    def GetUncertaintyImage(self, kind: UncertaintyKind = 'entropy') -> Any:
        """How unsure the last Execute's probabilities leave each voxel, as float32; 0 is certain.

        Parameters
        ----------
        kind : "entropy", "disagreement" or "variance"
            Minus the sum of p ln p; 1 - largest p; sum p (1 - p) / 2, which with two labels is
            the variance p (1 - p) of either.
        """

class ConsensusFilter(LabelFusionFilter):
    """The recommended fuser: keeps what raters share, by explicit rules, and explains the result.

    The rules; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table behind them:

    1. One rater: that rater's labels.
    2. Raters whose contours coincide where those of others do not are copies and count once.
    3. A label that more than half of the raters left empty is absent. About the outline of an
       object those are asked who found it, and not a rater far from others who agree. Objects that
       no majority found are added where these raters overlook that many of the others.
    4. The coherence vote: detail that raters share is kept, the rest smoothed.
    5. What leaves the vote without such a reason returns to it: components that a majority marked
       are kept, others are not invented, and no reader loses more by an outline than the readers'
       own spread explains.

    Other fusions of the same raters are made when GetCandidateImage asks for them.
    """
    def __init__(self, *, AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def GetChoice(self) -> str:
        """The rule that made the label map."""
    def GetExplanation(self) -> str:
        """One paragraph: what was chosen and why, with the numbers of this case."""
    def GetCopiedRaters(self) -> tuple[tuple[int, ...], ...]:
        """Groups of raters who are near copies of each other; each group counts once."""
    def GetVoteDice(self) -> float:
        """Dice of the result with the plain vote, in which ties are background."""
    def GetVoteIsNoise(self) -> bool:
        """Whether the vote has specks that the result does not have."""
    def GetComponentsLost(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that more than half of the raters marked and the result lacks: label, voxels, ml, and position in mm."""
    def GetComponentsGained(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that the result has and no rater marked: label, voxels, ml, and position in mm."""
    def GetCoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    def GetResolution(self) -> dict[int, Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""
    def GetCandidateImage(self, name: str) -> Any:
        """The label map of a candidate of the last Execute, made on demand."""
    def GetCandidateNames(self) -> tuple[str, ...]:
        """The candidates of the last Execute."""

class CoherenceVoteFilter(LabelFusionFilter):
    """The vote, smoothed only where raters do not share its detail.

    Every rater's mask is split into bands of scale. Where the bands of different raters correlate
    they are kept, elsewhere they go, and the contour is drawn midway between what raters mark
    inside and outside. GetResolution tells, in mm, how fine the raters agree. The scales follow
    the smallest voxel side; there is nothing to set. Probabilities are masks between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` prints how it compares.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    def GetCoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    def GetResolution(self) -> dict[int, Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""

class STAPLEImageFilter(LabelFusionFilter):
    """Foreground probability and each rater's sensitivity and specificity, by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and answers. Execute returns the
    float64 foreground probability; GetLabelImage() the label map (probability >= 0.5). Inputs
    that are probabilities count as fractions of a vote, from one start.
    """
    def __init__(self, *, Prior: float | Image | None = ..., prior: float | Image | None = ..., ConfidenceWeight: float = ..., confidenceWeight: float = ..., confidence_weight: float = ..., ForegroundValue: float = ..., foregroundValue: float = ..., foreground_value: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., SensitivityPrior: Sequence[float] = ..., sensitivityPrior: Sequence[float] = ..., sensitivity_prior: Sequence[float] = ..., SpecificityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., SmoothnessWeight: float | str = ..., smoothnessWeight: float | str = ..., smoothness_weight: float | str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetPrior(self, value: float | Image | None) -> None:
        """Foreground prior: a number, or a probability image on the inputs' grid. Default: mean of the masks."""
    def GetPrior(self) -> float | Image | None:
        """Foreground prior: a number, or a probability image on the inputs' grid."""
    def SetConfidenceWeight(self, value: float) -> None:
        """Scales the prior, which is the mean of the masks. Default: 1.0."""
    def GetConfidenceWeight(self) -> float:
        """Scales the prior, which is the mean of the masks."""
    def SetForegroundValue(self, value: float) -> None:
        """The pixel value that is foreground; every other value is background. Default: 1.0."""
    def GetForegroundValue(self) -> float:
        """The pixel value that is foreground; every other value is background."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    def SetTolerance(self, value: float) -> None:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-07."""
    def GetTolerance(self) -> float:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    def SetSensitivityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts. Default: from Variant."""
    def GetSensitivityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts."""
    def SetSpecificityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the specificities. Default: from Variant."""
    def GetSpecificityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the specificities."""
    def SetInitialization(self, value: str) -> None:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance). Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance)."""
    def SetSmoothnessWeight(self, value: float | str) -> None:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field. Default: 0.0."""
    def GetSmoothnessWeight(self) -> float | str:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field."""
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first)."""
    def SetStopCriterion(self, value: str) -> None:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats. Default: parameters."""
    def GetStopCriterion(self) -> str:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats."""
    def SetInitialPerformance(self, value: float) -> None:
        """Probability of the right label with which Initialization theta begins. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Probability of the right label with which Initialization theta begins."""
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    def GetEstimatedPrior(self) -> float:
        """Foreground prior at the end."""
    @overload
    def GetSensitivity(self, rater: int) -> float: ...
    @overload
    def GetSensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @overload
    def GetSpecificity(self, rater: int) -> float: ...
    @overload
    def GetSpecificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    def GetPositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    def GetNegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    def GetEstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""

class MultiLabelSTAPLEImageFilter(LabelFusionFilter):
    """Label map, label probabilities and each rater's confusion matrix, by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``, following ITK's main branch where the
    released wheels are at fault.
    """
    def __init__(self, *, TerminationUpdateThreshold: float = ..., terminationUpdateThreshold: float = ..., termination_update_threshold: float = ..., MaximumNumberOfIterations: int = ..., maximumNumberOfIterations: int = ..., maximum_number_of_iterations: int = ..., PriorProbabilities: Mapping[int, float] | Sequence[float] = ..., priorProbabilities: Mapping[int, float] | Sequence[float] = ..., prior_probabilities: Mapping[int, float] | Sequence[float] = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., SmoothnessWeight: float | str = ..., smoothnessWeight: float | str = ..., smoothness_weight: float | str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetTerminationUpdateThreshold(self, value: float) -> None:
        """EM stops when no element of a confusion matrix changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-05."""
    def GetTerminationUpdateThreshold(self) -> float:
        """EM stops when no element of a confusion matrix changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    def SetMaximumNumberOfIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumNumberOfIterations(self) -> int:
        """Maximum number of EM iterations."""
    def UnsetMaximumNumberOfIterations(self) -> None:
        """Take MaximumNumberOfIterations back to its default."""
    def GetHasMaximumNumberOfIterations(self) -> bool:
        """Whether MaximumNumberOfIterations was set."""
    def SetPriorProbabilities(self, value: Mapping[int, float] | Sequence[float]) -> None:
        """Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is ignored), or {label: probability}. Default: label frequencies."""
    def GetPriorProbabilities(self) -> Mapping[int, float] | Sequence[float]:
        """Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is ignored), or {label: probability}."""
    def UnsetPriorProbabilities(self) -> None:
        """Take PriorProbabilities back to its default."""
    def GetHasPriorProbabilities(self) -> bool:
        """Whether PriorProbabilities was set."""
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: from Variant."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    def SetInitialization(self, value: str) -> None:
        """First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the last one matches SimpleITK 2.5 on tied voxels, too. Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the last one matches SimpleITK 2.5 on tied voxels, too."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def SetSmoothnessWeight(self, value: float | str) -> None:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field. Default: 0.0."""
    def GetSmoothnessWeight(self) -> float | str:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field."""
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first)."""
    def SetStopCriterion(self, value: str) -> None:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats. Default: parameters."""
    def GetStopCriterion(self) -> str:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats."""
    def SetInitialPerformance(self, value: float) -> None:
        """Probability of the right label with which Initialization theta begins. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Probability of the right label with which Initialization theta begins."""
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true], as GetLabels()."""
    def GetEstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def GetConfusionMatrix(self, rater: int) -> tuple[float, ...]:
        """SimpleITK's flat (L+1) x L matrix of a rater, [observed][true], L = largest label + 1.

        Beyond label 255, or with negative labels, that size makes no sense: the dense
        GetConfusionTable, flattened, is returned.
        """
    def GetConfusionTable(self, rater: int) -> NDArray[float64]:
        """Confusion matrix [observed, true] of a rater, rows and columns as in GetLabels()."""

class LabelVotingImageFilter(LabelFusionFilter):
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.
    """
    def __init__(self, *, LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""

class MajorityVoteFilter(LabelFusionFilter):
    """Majority vote with a threshold, weights, tie rule and smoothing of your choice.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian, of so many smallest voxel
    sides, before the decision: the strongest simple baseline known to us. Probabilities are shares
    of a vote: the plain vote is then their mean.
    """
    def __init__(self, *, Threshold: float | None = ..., threshold: float | None = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., SmoothingSigma: float = ..., smoothingSigma: float = ..., smoothing_sigma: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetThreshold(self, value: float | None) -> None:
        """A label needs more than this share of the votes; None: more than any other label. Default: none."""
    def GetThreshold(self) -> float | None:
        """A label needs more than this share of the votes; None: more than any other label."""
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    def SetSmoothingSigma(self, value: float) -> None:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none. Default: 0.0."""
    def GetSmoothingSigma(self) -> float:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    def GetSmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""

class CorrectedVoteFilter(LabelFusionFilter):
    """Smoothed vote shares, corrected for what raters miss and add on average.

    Where raters are noisy it finds the contour that the smoothed vote misses; what is thin it
    erodes as much. ``examples/benchmarks/methods/evidence_table.py`` prints both in every setting.
    Probabilities are shares of a vote.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., SmoothingSigma: float = ..., smoothingSigma: float = ..., smoothing_sigma: float = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def SetSmoothingSigma(self, value: float) -> None:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none. Default: 1.0."""
    def GetSmoothingSigma(self) -> float:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    def GetVoteShares(self) -> NDArray[float64]:
        """(labels, labels): mean share of votes for one label (row) where the smoothed vote gives another (column), away from contours; NaN if it never does."""
    def GetSmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""

class COLLATEFilter(LabelFusionFilter):
    """Consensus level, labeler accuracy and truth, estimated together by EM.

    Each voxel is easy, so that raters hardly err there, or hard, so that each rater has a confusion
    matrix. What is easy is estimated; matrices then speak of hard voxels only, however much easy
    background there is. Where raters err a lot, unanimous voxels may be overruled.
    """
    def __init__(self, *, ConsensusLevels: Sequence[float] = ..., consensusLevels: Sequence[float] = ..., consensus_levels: Sequence[float] = ..., ErrorRate: float = ..., errorRate: float = ..., error_rate: float = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., Tolerance: float = ..., tolerance: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetConsensusLevels(self, value: Sequence[float]) -> None:
        """How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior. Default: (0.0, 1.0)."""
    def GetConsensusLevels(self) -> Sequence[float]:
        """How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior."""
    def SetErrorRate(self, value: float) -> None:
        """Probability that a rater errs where a voxel is easy. Default: 0.0001."""
    def GetErrorRate(self) -> float:
        """Probability that a rater errs where a voxel is easy."""
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: (2.0, 0.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: estimated."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    def SetTolerance(self, value: float) -> None:
        """EM stops when no element of a confusion matrix changes by more than this. Default: 1e-10."""
    def GetTolerance(self) -> float:
        """EM stops when no element of a confusion matrix changes by more than this."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: 10000."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    def GetConverged(self) -> bool:
        """Whether EM converged."""
    def GetLogPosteriorTrace(self) -> tuple[float, ...]:
        """Log posterior after each iteration."""
    def GetLevelShares(self) -> tuple[float, ...]:
        """Estimated share of the voxels at each of ConsensusLevels."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] where it is hard."""
    def GetLevelImage(self, level: int = 0) -> Any:
        """Probability, as float64, that a voxel is at one of ConsensusLevels, counted from 0."""

class DirectInferenceFilter(LabelFusionFilter):
    """Label map of highest evidence p(t, D), the raters' confusions being integrated out.

    Works on label images of any labels. GetProbabilityImage gives a voxel's marginal posterior if
    NumberOfSamples is set, else its conditional posterior given the rest of the map; the label map
    is the map of highest evidence in both cases.
    """
    def __init__(self, *, PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., NumberOfSamples: int = ..., numberOfSamples: int = ..., number_of_samples: int = ..., BurnIn: int = ..., burnIn: int = ..., burn_in: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared by the other labels) in each column. Default: (4.0, 2.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared by the other labels) in each column."""
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of the label prior: counts added to every label, or one number for each in their order (the background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of the label prior: counts added to every label, or one number for each in their order (the background first)."""
    def SetNumberOfInitializations(self, value: int) -> None:
        """EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are always tried. Default: 5."""
    def GetNumberOfInitializations(self) -> int:
        """EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are always tried."""
    def SetNumberOfSamples(self, value: int) -> None:
        """Gibbs samples, for marginal probabilities and performance; 0: none. Default: 0."""
    def GetNumberOfSamples(self) -> int:
        """Gibbs samples, for marginal probabilities and performance; 0: none."""
    def SetBurnIn(self, value: int) -> None:
        """Gibbs samples discarded at the beginning. Default: 100."""
    def GetBurnIn(self) -> int:
        """Gibbs samples discarded at the beginning."""
    def SetRandomSeed(self, value: int) -> None:
        """Seed of EM's random starts and of the samples. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of EM's random starts and of the samples."""
    def GetLogEvidence(self) -> float:
        """log p(t, D) of the label map."""
    def GetLogEvidences(self) -> tuple[float, ...]:
        """Log evidence that each start reached."""
    def GetStartNames(self) -> tuple[str, ...]:
        """What each start was: a vote, or the variant and number of an EM start."""
    def GetWinningStart(self) -> str:
        """The start that led to the label map."""
    def GetExactOptimum(self) -> bool:
        """Whether all maps were tried, so that none can have a higher evidence."""
    def GetStarts(self) -> StartSummary:
        """Evidence, rounds, trace and overlap with the others, for each start."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): posterior mean of [rater, observed, true], as GetLabels()."""
    def GetPerformanceDeviations(self) -> NDArray[float64]:
        """(raters, labels): posterior standard deviation of the confusions' diagonal; without samples it is conditional on the label map, and so too small."""
    def GetPerformanceQuantiles(self) -> NDArray[float64]:
        """(raters, labels, 3): posterior quantiles .025, .5 and .975 of the confusions' diagonal."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Posterior mean of the label prior, in the order of GetLabels()."""
    def GetSamplingError(self) -> float:
        """Largest Monte-Carlo standard error of the probabilities; NaN unless sampled."""

class SpatialSTAPLEFilter(LabelFusionFilter):
    """Label map, and each rater's confusion matrix at every voxel, by EM over windows.

    Works on label images of any labels. Performance is estimated in a box of `WindowRadius` mm
    around each voxel. Voxels that all raters give to one label keep it.
    """
    def __init__(self, *, WindowRadius: float = ..., windowRadius: float = ..., window_radius: float = ..., Kappa: float = ..., kappa: float = ..., RegularizationTarget: str = ..., regularizationTarget: str = ..., regularization_target: str = ..., DiagonalTarget: float = ..., diagonalTarget: float = ..., diagonal_target: float = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., PriorMode: str = ..., priorMode: str = ..., prior_mode: str = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetWindowRadius(self, value: float) -> None:
        """Half width, in mm, of the box over which performance is pooled. Default: 20.0."""
    def GetWindowRadius(self) -> float:
        """Half width, in mm, of the box over which performance is pooled."""
    def SetKappa(self, value: float) -> None:
        """Strength of the regularisation where a rater rarely used a label; 0: the window alone, a very large one: the target alone. Default: 0.01."""
    def GetKappa(self) -> float:
        """Strength of the regularisation where a rater rarely used a label; 0: the window alone, a very large one: the target alone."""
    def SetRegularizationTarget(self, value: str) -> None:
        """Performance that sparse data are pulled towards: global (the rater's over all voxels; diagonal if the mean rater is below chance there), uniform (chance) or diagonal (DiagonalTarget). Default: diagonal."""
    def GetRegularizationTarget(self) -> str:
        """Performance that sparse data are pulled towards: global (the rater's over all voxels; diagonal if the mean rater is below chance there), uniform (chance) or diagonal (DiagonalTarget)."""
    def SetDiagonalTarget(self, value: float) -> None:
        """Probability of the right label in the regularisation target diagonal. Default: 0.9."""
    def GetDiagonalTarget(self) -> float:
        """Probability of the right label in the regularisation target diagonal."""
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: (2.0, 0.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    def SetPriorMode(self, value: str) -> None:
        """Label prior: the mean posterior in the window (local), over all voxels (global; may lose small labels), or Prior (fixed). Default: local, or fixed with Prior."""
    def GetPriorMode(self) -> str:
        """Label prior: the mean posterior in the window (local), over all voxels (global; may lose small labels), or Prior (fixed)."""
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: equal shares."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: 200."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    def SetTolerance(self, value: float) -> None:
        """EM stops when the mean posterior of disputed voxels changes by less than this. Default: 0.0001."""
    def GetTolerance(self) -> float:
        """EM stops when the mean posterior of disputed voxels changes by less than this."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    def GetConverged(self) -> bool:
        """Whether the tolerance was met."""
    def GetLogLikelihoodTrace(self) -> tuple[float, ...]:
        """Log likelihood of the disputed voxels' votes in each iteration."""
    def GetChangeTrace(self) -> tuple[float, ...]:
        """Mean change of the disputed voxels' posteriors in each iteration."""
    def GetRegularizationTargetTaken(self) -> str:
        """RegularizationTarget, or diagonal where global was no prior."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] over all voxels, as GetLabels()."""
    def GetConfusionField(self, rater: int, observed: int, true: int) -> Any:
        """Image (float32) of the probability that a rater says `observed` where `true` is true."""
    def GetSensitivityField(self, rater: int) -> Any:
        """Image of the probability that a rater sees the higher of two labels where it is true."""
    def GetSpecificityField(self, rater: int) -> Any:
        """Image of the probability that a rater sees the lower of two labels where it is true."""

class ShapeBasedAveragingFilter(LabelFusionFilter):
    """Each voxel goes to the label whose signed distance, averaged over the raters, is smallest.

    Distances are in mm. A rater who did not draw a label at all counts as far from it as the
    farthest of the others. GetProbabilityImage reads mean distances as log odds, `ProbabilityScale`
    mm apart for a factor e; where all raters agree it is 1.
    """
    def __init__(self, *, TrimFraction: float = ..., trimFraction: float = ..., trim_fraction: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., ProbabilityScale: float = ..., probabilityScale: float = ..., probability_scale: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetTrimFraction(self, value: float) -> None:
        """Share of the largest, and of the smallest, distances that is left out of the average. Default: 0.0."""
    def GetTrimFraction(self) -> float:
        """Share of the largest, and of the smallest, distances that is left out of the average."""
    def SetTieRule(self, value: str) -> None:
        """What to do with voxels that are equally far from two labels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with voxels that are equally far from two labels."""
    def SetProbabilityScale(self, value: float) -> None:
        """Difference of mean distances, in mm, that changes the odds of two labels by a factor e. Default: 1.0."""
    def GetProbabilityScale(self) -> float:
        """Difference of mean distances, in mm, that changes the odds of two labels by a factor e."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""

class FrechetConsensusFilter(LabelFusionFilter):
    """The label map closest to all raters at once, by Dice or Jaccard.

    Each label is fused against all others; a voxel that several labels claim goes to the one with
    more votes. Voxels with equal votes get one label. Where a rater is missing the vote of the
    others stands in. Probabilities are 1 for the label of the map, since it has no others.
    """
    def __init__(self, *, Measure: str = ..., measure: str = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetMeasure(self, value: str) -> None:
        """The overlap to maximise. Default: dice."""
    def GetMeasure(self) -> str:
        """The overlap to maximise."""
    def GetMeanOverlaps(self) -> dict[int, float]:
        """Mean overlap of the map with the raters, for every label but the first."""

class SIMPLEFilter(LabelFusionFilter):
    """Vote in which raters count by their overlap with the consensus, found by iteration.

    Whole raters are weighed by their Dice overlap with the vote, and those far below the others
    or without any overlap are dropped (Langerak et al. 2010).
    """
    def __init__(self, *, Deviations: float = ..., deviations: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetDeviations(self, value: float) -> None:
        """Standard deviations below the mean overlap at which a rater is dropped. Default: 2.0."""
    def GetDeviations(self) -> float:
        """Standard deviations below the mean overlap at which a rater is dropped."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of iterations. Default: 10."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of iterations."""
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetWeights(self) -> tuple[float, ...]:
        """Weight of each rater: its Dice overlap with the vote."""
    def GetDroppedRaters(self) -> tuple[int, ...]:
        """Raters that were dropped, counted from 0."""
    def GetTrace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    def GetConverged(self) -> bool:
        """Whether the selection became stable."""

class BoundarySIMPLEFilter(LabelFusionFilter):
    """Vote in which raters count, voxel by voxel, by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.
    """
    def __init__(self, *, Image: Image | None = ..., image: Image | None = ..., PatchRadius: float | None = ..., patchRadius: float | None = ..., patch_radius: float | None = ..., LocalWeight: float = ..., localWeight: float = ..., local_weight: float = ..., EdgeBoost: float = ..., edgeBoost: float = ..., edge_boost: float = ..., EdgeScale: float = ..., edgeScale: float = ..., edge_scale: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetImage(self, value: Image | None) -> None:
        """Intensity image whose edges raise the weight of raters who follow them. Default: None."""
    def GetImage(self) -> Image | None:
        """Intensity image whose edges raise the weight of raters who follow them."""
    def SetPatchRadius(self, value: float | None) -> None:
        """Half width, in mm, of the patch in which raters are compared. Default: 3 smallest voxel sides."""
    def GetPatchRadius(self) -> float | None:
        """Half width, in mm, of the patch in which raters are compared."""
    def SetLocalWeight(self, value: float) -> None:
        """Share of the local agreement in a weight; the rest is the rater's mean agreement. Default: 0.8."""
    def GetLocalWeight(self) -> float:
        """Share of the local agreement in a weight; the rest is the rater's mean agreement."""
    def SetEdgeBoost(self, value: float) -> None:
        """Factor on the weight of a rater whose contour follows an edge of the image; 1: off. Default: 5.0."""
    def GetEdgeBoost(self) -> float:
        """Factor on the weight of a rater whose contour follows an edge of the image; 1: off."""
    def SetEdgeScale(self, value: float) -> None:
        """Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides. Default: 1.0."""
    def GetEdgeScale(self) -> float:
        """Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of iterations. Default: 10."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of iterations."""
    def SetTolerance(self, value: float) -> None:
        """Stop when label shares of disputed voxels change by less on average. Default: 1e-05."""
    def GetTolerance(self) -> float:
        """Stop when label shares of disputed voxels change by less on average."""
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetWeights(self) -> tuple[float, ...]:
        """Mean weight of each rater over disputed voxels; they sum to 1."""
    def GetTrace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    def GetConverged(self) -> bool:
        """Whether the consensus became stable."""

class LogOpinionPoolFilter(LabelFusionFilter):
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of an integer type are label images. If any input has a floating type, all are
    foreground probabilities from 0 to 1, and masks among them 0 or 1: cast label images that are
    stored as floats. Vector images of a floating type, lists of one image per class and arrays with
    `ClassAxis` are class probabilities. No opinion is taken as firmer than `ErrorRate` allows. A
    prior that varies in space is one more probability image, with the weight T.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., Temperature: float | Sequence[float] = ..., temperature: float | Sequence[float] = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., ErrorRate: float = ..., errorRate: float = ..., error_rate: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Exponent of each rater's opinion. Default: equal, sum 1."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Exponent of each rater's opinion."""
    def SetTemperature(self, value: float | Sequence[float]) -> None:
        """Divides the exponents, for all raters or for each; above 1 the result is less certain. Default: 1.0."""
    def GetTemperature(self) -> float | Sequence[float]:
        """Divides the exponents, for all raters or for each; above 1 the result is less certain."""
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: equal shares."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    def SetErrorRate(self, value: float) -> None:
        """Probability that a label is wrong; probabilities stay this far from 0 and 1. Default: 0.05."""
    def GetErrorRate(self) -> float:
        """Probability that a label is wrong; probabilities stay this far from 0 and 1."""
    def SetTieRule(self, value: str) -> None:
        """What to do where labels are equally probable. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do where labels are equally probable."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""

class ProbabilityAverageFilter(LabelFusionFilter):
    """Weighted mean of class probabilities, and the label of the highest mean.

    The ensemble's usual answer, and the vote for soft inputs: whoever is sure of a label casts a
    whole vote. Label images count as certain, so that on masks this is the majority vote. Inputs
    are vector images or lists of one image per class, whose probabilities sum to 1; arrays with
    `ClassAxis`; scalar images of a floating type, which hold the foreground's probability.
    """
    def __init__(self, *, TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetTieRule(self, value: str) -> None:
        """What to do where labels are equally probable. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do where labels are equally probable."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""

class HybridFusionFilter(LabelFusionFilter):
    """Uses the interior fuser everywhere but in a band around the contour.

    Both fusers are filters with parameters of their own; GetBoundaryResult() and
    GetInteriorResult() have what each of them made. They see the same images, with the hybrid's
    mask, missing label, tolerances and threads if set. Inside may also be what somebody made
    before (InteriorImage), or a trained DeepConsensusFilter that reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())
    """
    def __init__(self, *, InteriorFilter: LabelFusionFilter | None = ..., interiorFilter: LabelFusionFilter | None = ..., interior_filter: LabelFusionFilter | None = ..., InteriorImage: Image | None = ..., interiorImage: Image | None = ..., interior_image: Image | None = ..., Image: Image | None = ..., image: Image | None = ..., BoundaryFilter: LabelFusionFilter | None = ..., boundaryFilter: LabelFusionFilter | None = ..., boundary_filter: LabelFusionFilter | None = ..., BandWidth: float | None = ..., bandWidth: float | None = ..., band_width: float | None = ..., BandContour: str = ..., bandContour: str = ..., band_contour: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetInteriorFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser used away from the contour. Default: MajorityVoteFilter()."""
    def GetInteriorFilter(self) -> LabelFusionFilter | None:
        """Fuser used away from the contour."""
    def SetInteriorImage(self, value: Image | None) -> None:
        """What is used away from the contour instead of a fuser: labels, or of two labels the probability of the higher one, such as a network's. Default: None."""
    def GetInteriorImage(self) -> Image | None:
        """What is used away from the contour instead of a fuser: labels, or of two labels the probability of the higher one, such as a network's."""
    def SetImage(self, value: Image | None) -> None:
        """The image the labels were drawn on, for an InteriorFilter that reads it. Default: None."""
    def GetImage(self) -> Image | None:
        """The image the labels were drawn on, for an InteriorFilter that reads it."""
    def SetBoundaryFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser used in the band. Default: ConsensusFilter()."""
    def GetBoundaryFilter(self) -> LabelFusionFilter | None:
        """Fuser used in the band."""
    def SetBandWidth(self, value: float | None) -> None:
        """Half width of the band around the contour, in mm. Default: 3 smallest voxel sides."""
    def GetBandWidth(self) -> float | None:
        """Half width of the band around the contour, in mm."""
    def SetBandContour(self, value: str) -> None:
        """The contour that the band follows: the majority vote's or the interior fuser's. Default: vote."""
    def GetBandContour(self) -> str:
        """The contour that the band follows: the majority vote's or the interior fuser's."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetBandVoxels(self) -> int:
        """Number of voxels in the band."""
    def GetBoundaryResult(self) -> FusionResult[Any]:
        """What the boundary filter made in the last Execute."""
    def GetInteriorResult(self) -> FusionResult[Any]:
        """What the interior filter made in the last Execute, or the interior image."""

class InstanceConsensusFilter(LabelFusionFilter):
    """Objects one by one: marks of different readers are matched, judged and drawn.

    Readers of lesions, nodules or cells find, and then outline. So marks are matched first; then
    a model of detection says from who marked what whether each object is there; and about its
    outline only those are asked who found it. Input are masks, whose connected pieces are objects,
    or instance maps, whose numbers mean nothing between readers. Output is an instance map with
    the objects that most readers found first, or a mask. A probability is that of the object
    being there times that of the voxel being inside, and above one half exactly where the map is.
    """
    def __init__(self, *, OutputMap: str = ..., outputMap: str = ..., output_map: str = ..., InputObjects: str = ..., inputObjects: str = ..., input_objects: str = ..., DetectionThreshold: float = ..., detectionThreshold: float = ..., detection_threshold: float = ..., MatchDistance: float | None = ..., matchDistance: float | None = ..., match_distance: float | None = ..., OutlineFilter: LabelFusionFilter | None = ..., outlineFilter: LabelFusionFilter | None = ..., outline_filter: LabelFusionFilter | None = ..., Cohort: Sequence[LesionTable] | None = ..., cohort: Sequence[LesionTable] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetOutputMap(self, value: str) -> None:
        """Whether each object has a number of its own in the output, or all are label 1. Default: instances."""
    def GetOutputMap(self) -> str:
        """Whether each object has a number of its own in the output, or all are label 1."""
    def SetInputObjects(self, value: str) -> None:
        """What is one object of a reader: a connected piece of one label, or all that has one label, in however many pieces. Default: components."""
    def GetInputObjects(self) -> str:
        """What is one object of a reader: a connected piece of one label, or all that has one label, in however many pieces."""
    def SetDetectionThreshold(self, value: float) -> None:
        """Probability of being there from which an object is kept. Default: 0.5."""
    def GetDetectionThreshold(self) -> float:
        """Probability of being there from which an object is kept."""
    def SetMatchDistance(self, value: float | None) -> None:
        """Distance in mm up to which small marks that share no voxel are one object. Default: diagonal of a voxel."""
    def GetMatchDistance(self) -> float | None:
        """Distance in mm up to which small marks that share no voxel are one object."""
    def SetOutlineFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser that draws the outlines, from the masks of each object's finders. Default: CoherenceVoteFilter()."""
    def GetOutlineFilter(self) -> LabelFusionFilter | None:
        """Fuser that draws the outlines, from the masks of each object's finders."""
    def SetCohort(self, value: Sequence[LesionTable] | None) -> None:
        """Tables of other cases of the same readers, by match_lesions: how they find is estimated from all cases. Default: None."""
    def GetCohort(self) -> Sequence[LesionTable] | None:
        """Tables of other cases of the same readers, by match_lesions: how they find is estimated from all cases."""
    def GetObjects(self) -> LesionTable:
        """The objects: who marked each, its probability, position, volumes, and who split or joined it; with to_csv, to_json and to_frame."""
    @overload
    def GetDetection(self, rater: int) -> ReaderDetection: ...
    @overload
    def GetDetection(self) -> tuple[ReaderDetection, ...]:
        """For each reader how many objects it marked, how many alone, its sensitivity and its false finds per case, with 95 % intervals."""
    def GetMatchedImages(self) -> list[Any]:
        """The readers' maps with the consensus's numbers of objects; None for a missing reader."""

class IntensityRefinementFilter(LabelFusionFilter):
    """Refines a fuser's result by the image where raters disagree. Nothing is trained.

    Where all raters agree, each label shows what its intensities are; around a disputed voxel they
    tell how likely its own is under each label. How much that counts is what held-out raters
    support: a power with which each of them is foreseen better from the others, or 0, and then the
    answer is the fuser's; GetFilterResult() has what it made. Three raters at least must have
    drawn, or nobody can be held out.

    >>> refined = IntensityRefinementFilter(Image=ct).Execute(raters)
    """
    def __init__(self, *, Image: Image | None = ..., image: Image | None = ..., Filter: LabelFusionFilter | None = ..., filter: LabelFusionFilter | None = ..., IntensitySigma: float | None = ..., intensitySigma: float | None = ..., intensity_sigma: float | None = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetImage(self, value: Image | None) -> None:
        """The image the labels were drawn on. Default: None."""
    def GetImage(self) -> Image | None:
        """The image the labels were drawn on."""
    def SetFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser whose result is refined. Default: ConsensusFilter()."""
    def GetFilter(self) -> LabelFusionFilter | None:
        """Fuser whose result is refined."""
    def SetIntensitySigma(self, value: float | None) -> None:
        """Standard deviation, in mm, of the neighbourhood from which intensities are learned. Default: 8 smallest voxel sides."""
    def GetIntensitySigma(self) -> float | None:
        """Standard deviation, in mm, of the neighbourhood from which intensities are learned."""
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    def GetIntensityWeight(self) -> float:
        """Power of the intensity likelihood; 0 if held-out raters do not support it."""
    def GetHeldOutGains(self) -> tuple[float, ...]:
        """Gain in each held-out rater's mean log likelihood, in nats per disputed voxel, at the power that is best for the rater it helps least; NaN if unknown."""
    def GetFilterResult(self) -> FusionResult[Any]:
        """What the fuser made in the last Execute, before it was refined."""

class LocallyWeightedVoteFilter(LabelFusionFilter):
    """Vote of atlases, each weighted by how much its image looks like the target nearby.

    A weight is ``(1 + d / smallest)^-Power`` of the mean squared difference d of the patches: where
    images say nothing atlases count alike.
    """
    def __init__(self, *, Power: float = ..., power: float = ..., Image: Image | Sequence[Image] | None = ..., image: Image | Sequence[Image] | None = ..., AtlasImages: Sequence[Image | Sequence[Image] | None] | None = ..., atlasImages: Sequence[Image | Sequence[Image] | None] | None = ..., atlas_images: Sequence[Image | Sequence[Image] | None] | None = ..., PatchRadius: float | Sequence[float] | None = ..., patchRadius: float | Sequence[float] | None = ..., patch_radius: float | Sequence[float] | None = ..., SearchRadius: float | Sequence[float] | None = ..., searchRadius: float | Sequence[float] | None = ..., search_radius: float | Sequence[float] | None = ..., NormalizePatches: bool = ..., normalizePatches: bool = ..., normalize_patches: bool = ..., ExclusionImages: Mapping[int, Image] | None = ..., exclusionImages: Mapping[int, Image] | None = ..., exclusion_images: Mapping[int, Image] | None = ..., FuseIntensities: bool = ..., fuseIntensities: bool = ..., fuse_intensities: bool = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetPower(self, value: float) -> None:
        """Exponent of the inverse mean squared difference. Default: 2.0."""
    def GetPower(self) -> float:
        """Exponent of the inverse mean squared difference."""
    def SetImage(self, value: Image | Sequence[Image] | None) -> None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities. Default: None."""
    def GetImage(self) -> Image | Sequence[Image] | None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities."""
    def SetAtlasImages(self, value: Sequence[Image | Sequence[Image] | None] | None) -> None:
        """The image of each atlas, on the target's grid, with the target's modalities. Default: None."""
    def GetAtlasImages(self) -> Sequence[Image | Sequence[Image] | None] | None:
        """The image of each atlas, on the target's grid, with the target's modalities."""
    def SetPatchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the patch in which images are compared, and that votes. Default: smallest voxel side."""
    def GetPatchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the patch in which images are compared, and that votes."""
    def SetSearchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, in which atlases are searched for a nearer patch; 0: no search. Default: 2 smallest voxel sides."""
    def GetSearchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, in which atlases are searched for a nearer patch; 0: no search."""
    def SetNormalizePatches(self, value: bool) -> None:
        """Whether patches are compared after their mean is taken out and their contrast made one. Default: True."""
    def GetNormalizePatches(self) -> bool:
        """Whether patches are compared after their mean is taken out and their contrast made one."""
    def SetExclusionImages(self, value: Mapping[int, Image] | None) -> None:
        """For some labels an image that is not zero where the label cannot be. Default: None."""
    def GetExclusionImages(self) -> Mapping[int, Image] | None:
        """For some labels an image that is not zero where the label cannot be."""
    def SetFuseIntensities(self, value: bool) -> None:
        """Whether the atlases' images are fused too, at every voxel. Default: False."""
    def GetFuseIntensities(self) -> bool:
        """Whether the atlases' images are fused too, at every voxel."""
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def GetMeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetFusedIntensityImage(self, modality: int = 0) -> Any:
        """The atlases' images fused by the same weights and shifts, as float32, in their units.

        Needs FuseIntensities; outside a mask it is 0.
        """

class JointLabelFusionFilter(LabelFusionFilter):
    """Joint label fusion: weights by the patches' joint errors, which vote for whole patches.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1``, of normalised patches, each atlas at the
    place of the search where it is nearest to the target.
    """
    def __init__(self, *, Beta: float = ..., beta: float = ..., Alpha: float = ..., alpha: float = ..., ConstrainWeights: bool = ..., constrainWeights: bool = ..., constrain_weights: bool = ..., Image: Image | Sequence[Image] | None = ..., image: Image | Sequence[Image] | None = ..., AtlasImages: Sequence[Image | Sequence[Image] | None] | None = ..., atlasImages: Sequence[Image | Sequence[Image] | None] | None = ..., atlas_images: Sequence[Image | Sequence[Image] | None] | None = ..., PatchRadius: float | Sequence[float] | None = ..., patchRadius: float | Sequence[float] | None = ..., patch_radius: float | Sequence[float] | None = ..., SearchRadius: float | Sequence[float] | None = ..., searchRadius: float | Sequence[float] | None = ..., search_radius: float | Sequence[float] | None = ..., NormalizePatches: bool = ..., normalizePatches: bool = ..., normalize_patches: bool = ..., ExclusionImages: Mapping[int, Image] | None = ..., exclusionImages: Mapping[int, Image] | None = ..., exclusion_images: Mapping[int, Image] | None = ..., FuseIntensities: bool = ..., fuseIntensities: bool = ..., fuse_intensities: bool = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetBeta(self, value: float) -> None:
        """Exponent of the errors. Default: 2.0."""
    def GetBeta(self) -> float:
        """Exponent of the errors."""
    def SetAlpha(self, value: float) -> None:
        """Conditioning, added to the diagonal. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Conditioning, added to the diagonal."""
    def SetConstrainWeights(self, value: bool) -> None:
        """Whether weights are the best of those not below 0; else negative ones are taken for 0. Default: False."""
    def GetConstrainWeights(self) -> bool:
        """Whether weights are the best of those not below 0; else negative ones are taken for 0."""
    def SetImage(self, value: Image | Sequence[Image] | None) -> None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities. Default: None."""
    def GetImage(self) -> Image | Sequence[Image] | None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities."""
    def SetAtlasImages(self, value: Sequence[Image | Sequence[Image] | None] | None) -> None:
        """The image of each atlas, on the target's grid, with the target's modalities. Default: None."""
    def GetAtlasImages(self) -> Sequence[Image | Sequence[Image] | None] | None:
        """The image of each atlas, on the target's grid, with the target's modalities."""
    def SetPatchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the patch in which images are compared, and that votes. Default: smallest voxel side."""
    def GetPatchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the patch in which images are compared, and that votes."""
    def SetSearchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, in which atlases are searched for a nearer patch; 0: no search. Default: 2 smallest voxel sides."""
    def GetSearchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, in which atlases are searched for a nearer patch; 0: no search."""
    def SetNormalizePatches(self, value: bool) -> None:
        """Whether patches are compared after their mean is taken out and their contrast made one. Default: True."""
    def GetNormalizePatches(self) -> bool:
        """Whether patches are compared after their mean is taken out and their contrast made one."""
    def SetExclusionImages(self, value: Mapping[int, Image] | None) -> None:
        """For some labels an image that is not zero where the label cannot be. Default: None."""
    def GetExclusionImages(self) -> Mapping[int, Image] | None:
        """For some labels an image that is not zero where the label cannot be."""
    def SetFuseIntensities(self, value: bool) -> None:
        """Whether the atlases' images are fused too, at every voxel. Default: False."""
    def GetFuseIntensities(self) -> bool:
        """Whether the atlases' images are fused too, at every voxel."""
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    def GetMeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetFusedIntensityImage(self, modality: int = 0) -> Any:
        """The atlases' images fused by the same weights and shifts, as float32, in their units.

        Needs FuseIntensities; outside a mask it is 0.
        """

class AtlasSelectionFilter(ProcessObject):
    """Gives weight 1 to the atlases whose images are most similar to the target, 0 to the others.

    Execute(target, images) takes images on one grid, None for a missing atlas, and returns what any
    fuser takes as RaterWeights. Intensities are first matched to the target's.
    """
    def __init__(self, *, NumberOfAtlases: int = ..., numberOfAtlases: int = ..., number_of_atlases: int = ..., Similarity: str = ..., similarity: str = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetNumberOfAtlases(self, value: int) -> None:
        """How many atlases are chosen. Default: 5."""
    def GetNumberOfAtlases(self) -> int:
        """How many atlases are chosen."""
    def SetSimilarity(self, value: str) -> None:
        """How images are compared. Default: squared difference."""
    def GetSimilarity(self) -> str:
        """How images are compared."""
    def SetMaskImage(self, value: Image | None) -> None:
        """Region (non-zero) in which images are compared; None: everywhere. Default: None."""
    def GetMaskImage(self) -> Image | None:
        """Region (non-zero) in which images are compared; None: everywhere."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def GetSimilarities(self) -> tuple[float, ...]:
        """Similarity of each atlas, higher is more alike: the correlation, or minus the mean squared difference in units of the target's variance; NaN for a missing atlas."""
    def Execute(self, target: Any, images: Sequence[Any]) -> tuple[float, ...]:
        """Choose atlases.

        Parameters
        ----------
        target : image
        images : list of images
            One of each atlas, on the target's grid; None for a missing atlas.

        Returns
        -------
        tuple of float
            Weight of each atlas.
        """

class ConformalBandFilter(ProcessObject):
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the truth, or a rater who was held out of the consensus;
    never the consensus itself. Execute then marks 0 background, 1 foreground, 2 ambiguous and
    3 empty. Given a list of probability images, one per label, the result has bit k set where
    label k is possible; GetSetSizeImage() counts them. GetGuarantee() is the promise in one
    sentence. No statistic of the raters can see an error that all of them share.
    """
    def __init__(self, *, Tolerance: float = ..., tolerance: float = ..., Unit: str = ..., unit: str = ..., Risk: str = ..., risk: str = ..., Score: str = ..., score: str = ..., Normalization: str = ..., normalization: str = ..., Mondrian: bool = ..., mondrian: bool = ..., EmptyPolicy: str = ..., emptyPolicy: str = ..., empty_policy: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., ProbabilityIsVoteFraction: bool = ..., probabilityIsVoteFraction: bool = ..., probability_is_vote_fraction: bool = ..., Alpha: float = ..., alpha: float = ..., WithoutPromise: bool = ..., withoutPromise: bool = ..., without_promise: bool = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetTolerance(self, value: float) -> None:
        """Share of the foreground a covered case may miss; a quarter of it for the background. Default: 0.05."""
    def GetTolerance(self) -> float:
        """Share of the foreground a covered case may miss; a quarter of it for the background."""
    def SetUnit(self, value: str) -> None:
        """What is exchangeable; voxel is the paper's choice and carries no guarantee. Default: case."""
    def GetUnit(self) -> str:
        """What is exchangeable; voxel is the paper's choice and carries no guarantee."""
    def SetRisk(self, value: str) -> None:
        """What is bounded: the probability of missing too much, the mean share missed, or the probability of any miss. Default: miscoverage."""
    def GetRisk(self) -> str:
        """What is bounded: the probability of missing too much, the mean share missed, or the probability of any miss."""
    def SetScore(self, value: str) -> None:
        """mm from the consensus contour, or log-odds. Default: distance."""
    def GetScore(self) -> str:
        """mm from the consensus contour, or log-odds."""
    def SetNormalization(self, value: str) -> None:
        """Whether distances are measured in units of the spread of the case's raters. Default: rater_spread."""
    def GetNormalization(self) -> str:
        """Whether distances are measured in units of the spread of the case's raters."""
    def SetMondrian(self, value: bool) -> None:
        """One threshold, and one guarantee, per label. Default: False."""
    def GetMondrian(self) -> bool:
        """One threshold, and one guarantee, per label."""
    def SetEmptyPolicy(self, value: str) -> None:
        """What to do with voxels to which no label fits. Default: ambiguous."""
    def GetEmptyPolicy(self) -> str:
        """What to do with voxels to which no label fits."""
    def SetRegionMargin(self, value: float) -> None:
        """Width in mm of the region around the structure that is evaluated. Default: 10.0."""
    def GetRegionMargin(self) -> float:
        """Width in mm of the region around the structure that is evaluated."""
    def SetProbabilityIsVoteFraction(self, value: bool) -> None:
        """Whether the probabilities are vote fractions. Default: False."""
    def GetProbabilityIsVoteFraction(self) -> bool:
        """Whether the probabilities are vote fractions."""
    def SetAlpha(self, value: float) -> None:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share."""
    def SetWithoutPromise(self, value: bool) -> None:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee. Default: False."""
    def GetWithoutPromise(self) -> bool:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee."""
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is refused. Default: not said."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is refused."""
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def GetSpread(self) -> float:
        """Distance between the raters' contours of the foreground, in mm; NaN if not needed."""
    def GetEmptyFraction(self) -> float:
        """Share of voxels to which no label fits, whatever EmptyPolicy does with them."""
    def GetAmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    def GetBandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    def GetDoubts(self) -> tuple[str, ...]:
        """Why the promise may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None, case_ids: Sequence[str] | None = None, provenance: Mapping[str, Any] | None = None) -> None:
        """Find the threshold from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            The raters behind each consensus; needed for rater_spread unless the probabilities are
            vote fractions.
        case_ids : sequence of str, optional
            Kept as hashes only.
        provenance : mapping, optional
            Kept in the record. Known keys: `reference_kind` ("truth" or "held-out rater"),
            `fusion_method` and `rater_count`.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark what is certain and what is not.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters behind this consensus, as in Calibrate.

        Returns
        -------
        image
            uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set where
            label k is possible (uint8 up to 8 labels, uint16 up to 16, above a vector image with
            one 0/1 component per label).
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Make a filter with a record and the options it was made with, or others given."""
    def GetGuarantee(self) -> str:
        """What the calibration promises for the last Execute, or the next, in one sentence."""
    def GetRecord(self) -> Any:
        """What was learned last, or loaded."""
    def GetSetSizeImage(self) -> Any:
        """How many labels each voxel may have, as uint16, after the last Execute."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""

class ConformalMarginFilter(ProcessObject):
    """A margin in mm around a consensus, with a guarantee for the next case.

    Calibrate on cases with a reference: the truth, or a rater who was held out of the consensus.
    The margin is the smallest with which the widened consensus covers the reference (or lies
    within it, made smaller) in so many of them that the next case is covered with probability
    1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of probability images,
    one per label, each label has a margin of its own and bit k is set where label k is possible.
    GetRecord().tau are the margins. Given raters, the record also says how wide a
    ConformalBandFilter would be, which follows each case's raters, with the same promise.
    """
    def __init__(self, *, Direction: str = ..., direction: str = ..., CoveredShare: float = ..., coveredShare: float = ..., covered_share: float = ..., CraniocaudalRatio: float = ..., craniocaudalRatio: float = ..., craniocaudal_ratio: float = ..., Alpha: float = ..., alpha: float = ..., WithoutPromise: bool = ..., withoutPromise: bool = ..., without_promise: bool = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetDirection(self, value: str) -> None:
        """Whether the consensus is widened to cover the reference, made smaller to lie within it, or both with one margin. Default: outward."""
    def GetDirection(self) -> str:
        """Whether the consensus is widened to cover the reference, made smaller to lie within it, or both with one margin."""
    def SetCoveredShare(self, value: float) -> None:
        """Share of the reference's volume that a covered case has within the margin; inward, the share of the consensus that is not certain and wrong. Default: 1.0."""
    def GetCoveredShare(self) -> float:
        """Share of the reference's volume that a covered case has within the margin; inward, the share of the consensus that is not certain and wrong."""
    def SetCraniocaudalRatio(self, value: float) -> None:
        """The margin along the patient (physical z), in margins across; 1: isotropic. Default: 1.0."""
    def GetCraniocaudalRatio(self) -> float:
        """The margin along the patient (physical z), in margins across; 1: isotropic."""
    def SetAlpha(self, value: float) -> None:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share."""
    def SetWithoutPromise(self, value: bool) -> None:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee. Default: False."""
    def GetWithoutPromise(self) -> bool:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee."""
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is refused. Default: not said."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is refused."""
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def GetAmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    def GetBandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    def GetDoubts(self) -> tuple[str, ...]:
        """Why the promise may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None, case_ids: Sequence[str] | None = None, provenance: Mapping[str, Any] | None = None) -> None:
        """Find the margin from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            The consensus is where they are at least one half, or largest. It may be empty: no
            margin then covers a reference that is not.
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            The raters behind each consensus, to compare the margin with a band.
        case_ids : sequence of str, optional
            Kept as hashes only.
        provenance : mapping, optional
            As of ConformalBandFilter.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark what is inside, what is margin and what is outside.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters behind this consensus: as many as in Calibrate, or the record is refused.
            With raters in both, Doubts says if they are closer together or farther apart here.

        Returns
        -------
        image
            As of ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list bit k set where
            label k is possible.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Make a filter with a record and the options it was made with, or others given."""
    def GetGuarantee(self) -> str:
        """What the calibration promises for the last Execute, or the next, in one sentence."""
    def GetRecord(self) -> Any:
        """What was learned last, or loaded."""
    def GetSetSizeImage(self) -> Any:
        """How many labels each voxel may have, as uint16, after the last Execute."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""

class LearnedFusionFilter(LabelFusionFilter):
    """Consensus, corrected by what cases with a truth say of the raters; or Consensus alone.

    Fit learns from five cases or more, label by label, how far each rater is to be believed where
    raters disagree. Execute gives those voxels the label that has probability; all others
    have Consensus' answer, and so has everything if cases left out of the learning do not show
    that it gains. Raters must be the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)
    """
    def __init__(self, *, ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    def GetLearnedLabels(self) -> tuple[int, ...]:
        """Labels that a learned rule decides."""
    def GetChangedVoxels(self) -> int:
        """Voxels answered otherwise than by Consensus."""
    def Fit(self, cases: Iterable[Any], truths: Iterable[Any], *, records: Sequence[LearnedRecord | PathLike] = ()) -> None:
        """Learn from cases whose truth is known.

        Parameters
        ----------
        cases : iterable of lists of images
            Of each case what the raters drew, the same raters in the same order, None for a missing
            one; or of dicts by the raters' names.
        truths : iterable of label images
            Of the same labels.
        records : sequence of LearnedRecord or paths, optional
            What others, or this filter, learned of the same raters: their cases are added.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Make a filter with a record and the options it was made with, or others given."""
    def GetCalibrationErrors(self) -> dict[int, float]:
        """By label how far probabilities are from frequencies on cases left out, on average."""
    def GetConsensusResult(self) -> FusionResult[Any]:
        """What Consensus made in the last Execute."""
    def GetExplanation(self) -> str:
        """What was learned of the raters, and whether it pays, in words."""
    def GetHeldOutGain(self) -> dict[int, Gain]:
        """By label the gain in Dice over Consensus on cases left out, of the best that was found.

        With its 95 % interval; it is used where that is above 0.
        """
    def GetRaterWeights(self) -> dict[int, tuple[RaterWeight, ...]]:
        """By label how far each rater is believed, with intervals from leaving cases out."""
    def GetRecord(self) -> Any:
        """What was learned last, or loaded."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""

class CutCalibrationFilter(ProcessObject):
    """Learns where to cut probabilities, from ten cases or more, and makes label maps of others.

    Networks that under-segment, and readers who all draw too tight, are cut better below one
    half. The cut is learned label by label; its gain is measured on cases left out of the
    learning, one by one, and where its interval holds 0 the cut stays at one half. A label's mask
    is where its probability reaches its cut; of several labels the most probable one is taken,
    each label's probability divided by the odds of its cut. GetMeaning() says what was found.
    """
    def __init__(self, *, Measure: str = ..., measure: str = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetMeasure(self, value: str) -> None:
        """What a cut is to raise: the Dice, or the ratio of the smaller to the larger volume. Default: dice."""
    def GetMeasure(self) -> str:
        """What a cut is to raise: the Dice, or the ratio of the smaller to the larger volume."""
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is refused. Default: not said."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is refused."""
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> None:
        """Learn from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            Of any fuser: shares of a vote, means of networks.
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            The raters behind each; their number is kept, and other numbers are refused.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Cut a probability image, or a list with one image per label.

        Parameters
        ----------
        raters : list of label images, optional
            The raters behind it: as many as in Calibrate, or the record is refused.

        Returns
        -------
        image
            The label map: uint8, above 256 labels uint16.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Make a filter with a record and the options it was made with, or others given."""
    def GetMeaning(self) -> str:
        """What was learned, in a sentence."""
    def GetRecord(self) -> Any:
        """What was learned last, or loaded."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""

class TemperatureScalingFilter(ProcessObject):
    """Calibrates probabilities: fit on cases with a reference, apply to others.

    The fit sees the region only: what any rater marked, widened by RegionMargin. GetReport()
    compares before and after, in the region and in the whole image; a rising ECE warns. Where the
    log loss of cases left out of the fit does not fall, probabilities are kept as they are, with a
    warning. Scaled probabilities are calibrated on average, not in any single case.
    """
    def __init__(self, *, Method: str = ..., method: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., ProbabilityIsVoteFraction: bool = ..., probabilityIsVoteFraction: bool = ..., probability_is_vote_fraction: bool = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetMethod(self, value: str) -> None:
        """What is fitted: a temperature and a bias per label, a temperature, or a monotonic curve. Default: temperature_bias."""
    def GetMethod(self) -> str:
        """What is fitted: a temperature and a bias per label, a temperature, or a monotonic curve."""
    def SetRegionMargin(self, value: float) -> None:
        """Width in mm of the region around the structure that is evaluated. Default: 10.0."""
    def GetRegionMargin(self) -> float:
        """Width in mm of the region around the structure that is evaluated."""
    def SetProbabilityIsVoteFraction(self, value: bool) -> None:
        """Whether the probabilities are vote fractions. Default: False."""
    def GetProbabilityIsVoteFraction(self) -> bool:
        """Whether the probabilities are vote fractions."""
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> None:
        """Fit to cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            Their union is the region; without them the region is around the consensus. Vote
            fractions need them: the number of raters decides what a vote is worth.
        """
    def Evaluate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> ScalingReport:
        """Compare before and after on other cases than the fitted ones."""
    def Execute(self, probability: Any) -> Any:
        """Scale a probability image, or a list with one image per label.

        Returns
        -------
        image or list of images
            Of float64, as many as were given.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Make a filter with a record and the options it was made with, or others given."""
    def GetComparison(self) -> ScalingComparison:
        """The binned frequencies of the last Calibrate or Evaluate, for reliability diagrams."""
    def GetRecord(self) -> Any:
        """What was learned last, or loaded."""
    def GetReport(self) -> ScalingReport:
        """Reliability before and after, on the cases the scaling was fitted to."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""

class CohortSTAPLEFilter(ProcessObject):
    """STAPLE that estimates the raters from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases, each case its own prior. A
    case is a list of images, the same raters in the same order, None for one who did not see it;
    cases need not share a grid. For one case the answer is STAPLE's.

    The truth of some cases may be known. They are not estimated, so that raters are judged by them,
    and GetTruthGain() says whether that helps the others.
    """
    def __init__(self, *, Prior: float | Sequence[float] | None = ..., prior: float | Sequence[float] | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., ConfidenceWeight: float = ..., confidenceWeight: float = ..., confidence_weight: float = ..., ForegroundValue: float = ..., foregroundValue: float = ..., foreground_value: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., SensitivityPrior: Sequence[float] = ..., sensitivityPrior: Sequence[float] = ..., sensitivity_prior: Sequence[float] = ..., SpecificityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetPrior(self, value: float | Sequence[float] | None) -> None:
        """Foreground prior: a number, or one for each case. Default: mean of each case's masks."""
    def GetPrior(self) -> float | Sequence[float] | None:
        """Foreground prior: a number, or one for each case."""
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    def SetConfidenceWeight(self, value: float) -> None:
        """Scales the prior, which is the mean of the masks. Default: 1.0."""
    def GetConfidenceWeight(self) -> float:
        """Scales the prior, which is the mean of the masks."""
    def SetForegroundValue(self, value: float) -> None:
        """The pixel value that is foreground; every other value is background. Default: 1.0."""
    def GetForegroundValue(self) -> float:
        """The pixel value that is foreground; every other value is background."""
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    def SetTolerance(self, value: float) -> None:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-07."""
    def GetTolerance(self) -> float:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    def SetSensitivityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts. Default: from Variant."""
    def GetSensitivityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts."""
    def SetSpecificityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the specificities. Default: from Variant."""
    def GetSpecificityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the specificities."""
    def SetInitialization(self, value: str) -> None:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance). Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance)."""
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of the label prior where that is estimated: counts added to every label, or one number for each in their order (the background first)."""
    def SetStopCriterion(self, value: str) -> None:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats. Default: parameters."""
    def GetStopCriterion(self) -> str:
        """What the tolerance is about: parameters, the raters' performance; or likelihood, the log posterior in nats."""
    def SetInitialPerformance(self, value: float) -> None:
        """Probability of the right label with which Initialization theta begins. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Probability of the right label with which Initialization theta begins."""
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def GetPriors(self) -> tuple[float, ...]:
        """Foreground prior of each case at the end."""
    def GetTruthGain(self) -> Gain:
        """What the known truths gain in Dice on cases whose own is left out, with its 95 % interval; NaN of fewer than five."""
    @overload
    def GetSensitivity(self, rater: int) -> float: ...
    @overload
    def GetSensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @overload
    def GetSpecificity(self, rater: int) -> float: ...
    @overload
    def GetSpecificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    def GetPositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    def GetNegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def Execute(self, cases: Iterable[Any], truths: Sequence[Any | None] | None = None) -> list[Any]:
        """Fuse every case.

        Parameters
        ----------
        cases : list of cases
            A case is a list of SimpleITK or itk images, or of arrays, on one grid; or a vector
            image with one rater per component.
        truths : list of label images, optional
            As many, None for each case whose truth is not known.

        Returns
        -------
        list of images
            The float64 foreground probability of each case, with the family and geometry of its
            first image.
        """
    def GetLabelImages(self) -> list[Any]:
        """Label map of each case of the last Execute: foreground where its probability >= 0.5."""
    def GetProbabilityImages(self) -> list[Any]:
        """Foreground probability of each case of the last Execute."""

class DeepConsensusFilter(ProcessObject):
    """A network that is trained on images and label lists, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # no truth: raters and image teach each other
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it was worth it
    """
    def __init__(self, *, NumberOfClasses: int | None = ..., numberOfClasses: int | None = ..., number_of_classes: int | None = ..., Mode: str = ..., mode: str = ..., RaterWeight: float | None = ..., raterWeight: float | None = ..., rater_weight: float | None = ..., EdgeWeight: float = ..., edgeWeight: float = ..., edge_weight: float = ..., Region: str = ..., region: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., LockUnanimousVoxels: bool | None = ..., lockUnanimousVoxels: bool | None = ..., lock_unanimous_voxels: bool | None = ..., WithoutGain: str = ..., withoutGain: str = ..., without_gain: str = ..., WindowSize: int | Sequence[int] = ..., windowSize: int | Sequence[int] = ..., window_size: int | Sequence[int] = ..., WindowOverlap: float = ..., windowOverlap: float = ..., window_overlap: float = ..., NumberOfIterations: int | None = ..., numberOfIterations: int | None = ..., number_of_iterations: int | None = ..., TimeBudget: float = ..., timeBudget: float = ..., time_budget: float = ..., NumberOfEpochs: float = ..., numberOfEpochs: float = ..., number_of_epochs: float = ..., CacheSize: int = ..., cacheSize: int = ..., cache_size: int = ..., BatchSize: int | None = ..., batchSize: int | None = ..., batch_size: int | None = ..., LearningRate: float = ..., learningRate: float = ..., learning_rate: float = ..., KLWeight: float = ..., kLWeight: float = ..., kl_weight: float = ..., NumberOfChannels: int | None = ..., numberOfChannels: int | None = ..., number_of_channels: int | None = ..., ValidationFraction: float = ..., validationFraction: float = ..., validation_fraction: float = ..., Patience: int = ..., patience: int = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., Device: str = ..., device: str = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., MixedPrecision: str = ..., mixedPrecision: str = ..., mixed_precision: str = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetNumberOfClasses(self, value: int | None) -> None:
        """Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a class. Default: the labels that occur."""
    def GetNumberOfClasses(self) -> int | None:
        """Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a class."""
    def SetMode(self, value: str) -> None:
        """What Fit learns from: known truths; image and raters jointly; or predicting held-out raters from the image and the others. auto is truth if truths are given, else set. Default: auto."""
    def GetMode(self) -> str:
        """What Fit learns from: known truths; image and raters jointly; or predicting held-out raters from the image and the others. auto is truth if truths are given, else set."""
    def SetRaterWeight(self, value: float | None) -> None:
        """Joint mode: power of the raters' likelihood at disputed voxels; 0 uses the image alone. Fit chooses it by how well it predicts held-out raters. Default: chosen by Fit."""
    def GetRaterWeight(self) -> float | None:
        """Joint mode: power of the raters' likelihood at disputed voxels; 0 uses the image alone. Fit chooses it by how well it predicts held-out raters."""
    def SetEdgeWeight(self, value: float) -> None:
        """Joint mode: how strongly Fit ties labels to the edges of the image; 0: not at all. Default: 1.0."""
    def GetEdgeWeight(self) -> float:
        """Joint mode: how strongly Fit ties labels to the edges of the image; 0: not at all."""
    def SetRegion(self, value: str) -> None:
        """Where Execute runs the network; elsewhere the unanimous label is kept. Default: disputed."""
    def GetRegion(self) -> str:
        """Where Execute runs the network; elsewhere the unanimous label is kept."""
    def SetRegionMargin(self, value: float) -> None:
        """Millimetres by which disputed regions grow if unanimous voxels are not locked. Default: 5.0."""
    def GetRegionMargin(self) -> float:
        """Millimetres by which disputed regions grow if unanimous voxels are not locked."""
    def SetLockUnanimousVoxels(self, value: bool | None) -> None:
        """Whether voxels on which all raters agree keep their label. Fit lets them go only if truths of held-out cases show that the network knows better there. Default: chosen by Fit."""
    def GetLockUnanimousVoxels(self) -> bool | None:
        """Whether voxels on which all raters agree keep their label. Fit lets them go only if truths of held-out cases show that the network knows better there."""
    def SetWithoutGain(self, value: str) -> None:
        """Who answers in Execute if Fit could not show on held-out cases that the network is better than the raters by themselves: their vote, or joint fusion of atlases that have images. Default: raters."""
    def GetWithoutGain(self) -> str:
        """Who answers in Execute if Fit could not show on held-out cases that the network is better than the raters by themselves: their vote, or joint fusion of atlases that have images."""
    def SetWindowSize(self, value: int | Sequence[int]) -> None:
        """Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses the first two. Default: 64,64,64."""
    def GetWindowSize(self) -> int | Sequence[int]:
        """Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses the first two."""
    def SetWindowOverlap(self, value: float) -> None:
        """Overlap of neighbouring windows, as a share of the window. Default: 0.25."""
    def GetWindowOverlap(self) -> float:
        """Overlap of neighbouring windows, as a share of the window."""
    def SetNumberOfIterations(self, value: int | None) -> None:
        """Training batches; NumberOfEpochs may ask for more. By default Fit goes on until held-out cases are predicted no better. Default: until it has learnt."""
    def GetNumberOfIterations(self) -> int | None:
        """Training batches; NumberOfEpochs may ask for more. By default Fit goes on until held-out cases are predicted no better."""
    def SetTimeBudget(self, value: float) -> None:
        """Seconds after which Fit ends, if NumberOfIterations does not say when; what was learnt by then is kept, and diagnostics say if there was more to learn. Default: 1800.0."""
    def GetTimeBudget(self) -> float:
        """Seconds after which Fit ends, if NumberOfIterations does not say when; what was learnt by then is kept, and diagnostics say if there was more to learn."""
    def SetNumberOfEpochs(self, value: float) -> None:
        """Minimum number of passes over the cases. Default: 0.0."""
    def GetNumberOfEpochs(self) -> float:
        """Minimum number of passes over the cases."""
    def SetCacheSize(self, value: int) -> None:
        """Megabytes of cases that Fit keeps in memory; other files are read again when needed. Default: 4096."""
    def GetCacheSize(self) -> int:
        """Megabytes of cases that Fit keeps in memory; other files are read again when needed."""
    def SetBatchSize(self, value: int | None) -> None:
        """Patches per batch. Default: 8 in 2D, 2 in 3D."""
    def GetBatchSize(self) -> int | None:
        """Patches per batch."""
    def SetLearningRate(self, value: float) -> None:
        """Of the optimiser, at its peak. Default: 0.01."""
    def GetLearningRate(self) -> float:
        """Of the optimiser, at its peak."""
    def SetKLWeight(self, value: float) -> None:
        """Weight of misleading evidence's divergence from none, reached at half of the training: the lambda of evidential learning. Default: 0.05."""
    def GetKLWeight(self) -> float:
        """Weight of misleading evidence's divergence from none, reached at half of the training: the lambda of evidential learning."""
    def SetNumberOfChannels(self, value: int | None) -> None:
        """Features of the image stream at full resolution. Default: 16 in 2D, 8 in 3D."""
    def GetNumberOfChannels(self) -> int | None:
        """Features of the image stream at full resolution."""
    def SetValidationFraction(self, value: float) -> None:
        """Share of the cases that only decide when to stop and judge what was gained; three at least, of twelve or more. 0: none, and nothing is known of the gain. Default: 0.1."""
    def GetValidationFraction(self) -> float:
        """Share of the cases that only decide when to stop and judge what was gained; three at least, of twelve or more. 0: none, and nothing is known of the gain."""
    def SetPatience(self, value: int) -> None:
        """Evaluations without improvement before training ends: one in a tenth of NumberOfIterations or, without such a number, in fifty iterations, and then a third of all so far if that is more. Those before the peak of the learning rate do not count. Default: 5."""
    def GetPatience(self) -> int:
        """Evaluations without improvement before training ends: one in a tenth of NumberOfIterations or, without such a number, in fifty iterations, and then a third of all so far if that is more. Those before the peak of the learning rate do not count."""
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    def SetDevice(self, value: str) -> None:
        """cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU. Default: auto."""
    def GetDevice(self) -> str:
        """cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU."""
    def SetMixedPrecision(self, value: str) -> None:
        """bfloat16 networks on CUDA; float32 elsewhere or if off. Default: cuda."""
    def GetMixedPrecision(self) -> str:
        """bfloat16 networks on CUDA; float32 elsewhere or if off."""
    def SetRandomSeed(self, value: int) -> None:
        """The same seed gives the same weights on one CPU with the same NumberOfThreads. Default: 0."""
    def GetRandomSeed(self) -> int:
        """The same seed gives the same weights on one CPU with the same NumberOfThreads."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Execute(self, image: Any, labels: Any, rater_ids: RaterIds | None = None, *, atlas_images: Any = None) -> Any:
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
    def Fit(self, images: Sequence[Any], label_lists: Sequence[Any], truths: Sequence[Any] | None = None, rater_ids: RaterIds | Sequence[RaterIds] | None = None, *, atlas_images: Sequence[Any] | None = None, checkpoint: PathLike | None = None, image_stream: Any = None, transform: Transform | None = None, warm_start: bool = False) -> None:
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
    def GetChosenLock(self) -> bool:
        """Whether unanimous voxels keep their label; so Execute does, unless told otherwise."""
    def GetChosenRaterWeight(self) -> float:
        """The RaterWeight that Fit chose; Execute uses it unless another one is set."""
    def GetDiagnostics(self) -> Diagnostics:
        """What speaks against the model of Fit or Load, and against the last Execute's image."""
    def GetEvidenceImage(self) -> Any:
        """Total Dirichlet evidence of the network, as float64; 0 where it was not run."""
    def GetHeldOutGain(self) -> dict[str, Interval]:
        """Dice beyond the vote, Consensus and, with atlas images, joint fusion of held-out cases.

        Each with the ends of its 90 % interval: with truths Dice is that with the truth, else with
        raters of these cases whom neither the network nor the others' vote was shown, and ties of
        the vote are broken as the network does. NaN if no case was held out, as of fewer than five.
        """
    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
    def GetLabels(self) -> tuple[int, ...]:
        """The label of each class of the trained model."""
    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Probability, as float64, that the truth is this label; 0 or 1 where raters decided."""
    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """The ids of the raters Fit met."""
    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Each rater's estimated probability of drawing the true class.

        Without a truth it is one accuracy for all classes. 0, given if raters without an id were
        met, is an average rater.
        """
    def GetTrainingHistory(self) -> tuple[dict[str, float], ...]:
        """Iteration and validation loss of each evaluation of the last Fit; not kept by Save."""
    @classmethod
    def Load(self, path: PathLike, image_stream: Any = None) -> DeepConsensusFilter:
        """Take the model of a file; pass the image stream if Fit was given one.

        Of the class it makes a new filter. The file keeps what was learned, not the parameters of
        Execute: those stay what they are.
        """
    def Save(self, path: PathLike) -> None:
        """Write the trained model: tensors and JSON in safetensors' layout, never code."""

class AgreementFilter(ProcessObject):
    """Agreement of raters, label by label: overlap, chance-corrected agreement, contour distances.

    Dice, Jaccard, generalised conformity index, specific agreement, volumes and their variation;
    Fleiss' kappa and Krippendorff's alpha over all voxels, which background inflates, and over the
    voxels somebody marked, which deflates them; Hausdorff distance, its 95th percentile, mean
    surface distance and surface Dice, between centres of voxels on the surface, as MONAI defines
    them. Only voxels that both raters of a pair annotated count. Two raters who both left a label
    out have Dice 1 and no distance (NaN); if only one did, distances are infinite.
    """
    def __init__(self, *, Surfaces: bool = ..., surfaces: bool = ..., SurfaceTolerance: float = ..., surfaceTolerance: float = ..., surface_tolerance: float = ..., VolumeIntervals: bool = ..., volumeIntervals: bool = ..., volume_intervals: bool = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetSurfaces(self, value: bool) -> None:
        """Whether to measure surface distances as well. Default: True."""
    def GetSurfaces(self) -> bool:
        """Whether to measure surface distances as well."""
    def SetSurfaceTolerance(self, value: float) -> None:
        """Distance in mm up to which contours agree, for the surface Dice. Default: 1.0."""
    def GetSurfaceTolerance(self) -> float:
        """Distance in mm up to which contours agree, for the surface Dice."""
    def SetVolumeIntervals(self, value: bool) -> None:
        """Whether to say, from samples about a consensus that is made here, which volume another rater would draw, with an interval of 90 %. Default: False."""
    def GetVolumeIntervals(self) -> bool:
        """Whether to say, from samples about a consensus that is made here, which volume another rater would draw, with an interval of 90 %."""
    def SetMaskImage(self, value: Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    def SetRaterMasks(self, value: Sequence[Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Execute(self, images: Any, reference: Any = None, names: Sequence[str] | None = None) -> AgreementResult:
        """Compare label images.

        Parameters
        ----------
        images : list of images
            SimpleITK or itk images, or NumPy arrays, on one grid. None stands for a missing rater;
            a vector image holds one rater per component.
        reference : image or LabelFusionFilter, optional
            A consensus to compare each rater with: a label image, or a filter that makes one of
            `images`, on this filter's MaskImage, MissingLabel and RaterMasks.
        names : sequence of str, optional
            What each rater is called.

        Returns
        -------
        AgreementResult
            Has ``.table()``, ``.to_csv()``, ``.to_json()``, ``.to_pandas()``.
        """

class ReaderBiasFilter(ProcessObject):
    """How far outside a consensus each rater draws, in mm, over the whole surface and by direction.

    Directions are the patient's: a part of the surface is cranial if it faces the head, to 37
    degrees. A rater's own vote is part of a consensus of all, which makes the bias a little
    smaller than it is; compare with a truth, or a consensus of the others, to see all of it.
    """
    def __init__(self, *, Label: int | None = ..., label: int | None = ..., MaskImage: Image | None = ..., maskImage: Image | None = ..., mask_image: Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[Image | None] | None = ..., raterMasks: Sequence[Image | None] | None = ..., rater_masks: Sequence[Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    def SetLabel(self, value: int | None) -> None:
        """Which label; by default the largest one that occurs, the foreground of masks. Default: the largest."""
    def GetLabel(self) -> int | None:
        """Which label; by default the largest one that occurs, the foreground of masks."""
    def SetMaskImage(self, value: Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    def SetRaterMasks(self, value: Sequence[Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Execute(self, images: Any, reference: Any = None, names: Sequence[str] | None = None) -> ReaderBias:
        """Compare contours.

        Parameters
        ----------
        images : list of images
            The raters, on one grid.
        reference : image or LabelFusionFilter, optional
            The consensus, or a filter that makes it; ConsensusFilter by default.
        names : sequence of str, optional
            What each rater is called.

        Returns
        -------
        ReaderBias
            Has ``.table()``, ``.to_csv()`` and ``.sentences()``.
        """
    def GetBiasImage(self, rater: int) -> Any:
        """How far outside the consensus a rater draws, in mm, on the outer of both surfaces."""

@overload
def Consensus(images: Sequence[NDArray[Any] | None], *, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The recommended fuser: keeps what raters share, by explicit rules, and explains the result.

    The rules; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table behind them:

    1. One rater: that rater's labels.
    2. Raters whose contours coincide where those of others do not are copies and count once.
    3. A label that more than half of the raters left empty is absent. About the outline of an
       object those are asked who found it, and not a rater far from others who agree. Objects that
       no majority found are added where these raters overlook that many of the others.
    4. The coherence vote: detail that raters share is kept, the rest smoothed.
    5. What leaves the vote without such a reason returns to it: components that a majority marked
       are kept, others are not invented, and no reader loses more by an outline than the readers'
       own spread explains.

    Other fusions of the same raters are made when GetCandidateImage asks for them.

    Function form of ConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def Consensus(images: Sequence[ImageT | None], *, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def Consensus(*images: Any, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def consensus_filter(images: Sequence[NDArray[Any] | None], *, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The recommended fuser: keeps what raters share, by explicit rules, and explains the result.

    The rules; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table behind them:

    1. One rater: that rater's labels.
    2. Raters whose contours coincide where those of others do not are copies and count once.
    3. A label that more than half of the raters left empty is absent. About the outline of an
       object those are asked who found it, and not a rater far from others who agree. Objects that
       no majority found are added where these raters overlook that many of the others.
    4. The coherence vote: detail that raters share is kept, the rest smoothed.
    5. What leaves the vote without such a reason returns to it: components that a majority marked
       are kept, others are not invented, and no reader loses more by an outline than the readers'
       own spread explains.

    Other fusions of the same raters are made when GetCandidateImage asks for them.

    Function form of ConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def consensus_filter(images: Sequence[ImageT | None], *, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def consensus_filter(*images: Any, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def CoherenceVote(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The vote, smoothed only where raters do not share its detail.

    Every rater's mask is split into bands of scale. Where the bands of different raters correlate
    they are kept, elsewhere they go, and the contour is drawn midway between what raters mark
    inside and outside. GetResolution tells, in mm, how fine the raters agree. The scales follow
    the smallest voxel side; there is nothing to set. Probabilities are masks between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` prints how it compares.

    Function form of CoherenceVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def CoherenceVote(images: Sequence[ImageT | None], *, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def CoherenceVote(*images: Any, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def coherence_vote_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The vote, smoothed only where raters do not share its detail.

    Every rater's mask is split into bands of scale. Where the bands of different raters correlate
    they are kept, elsewhere they go, and the contour is drawn midway between what raters mark
    inside and outside. GetResolution tells, in mm, how fine the raters agree. The scales follow
    the smallest voxel side; there is nothing to set. Probabilities are masks between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` prints how it compares.

    Function form of CoherenceVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def coherence_vote_filter(images: Sequence[ImageT | None], *, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def coherence_vote_filter(*images: Any, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def STAPLE(images: Sequence[NDArray[Any] | None], confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, *, prior: float | Image | None = None, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Foreground probability and each rater's sensitivity and specificity, by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and answers. Execute returns the
    float64 foreground probability; GetLabelImage() the label map (probability >= 0.5). Inputs
    that are probabilities count as fractions of a vote, from one start.

    Function form of STAPLEImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    prior : a number > 0 and < 1, or an image, or None; default mean of the masks
        Foreground prior: a number, or a probability image on the inputs' grid.
    confidenceWeight : a number; default 1.0
        Scales the prior, which is the mean of the masks.
    foregroundValue : a number; default 1.0
        The pixel value that is foreground; every other value is background.
    maximumIterations : an integer >= 1 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    tolerance : a number >= 0; default 1e-07
        EM stops when no sensitivity or specificity changes by more than this; 0: until nothing
        changes, after 10,000 iterations at most.
    sensitivityPrior : 2 numbers >= 1; default from Variant
        Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts.
    specificityPrior : 2 numbers >= 1; default from Variant
        Beta(a, b) prior of the specificities.
    initialization : one of mean, majority_vote, theta; default from Variant
        First start: mean of the masks, majority_vote, or theta (InitialPerformance).
    smoothnessWeight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in
        place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior,
        expects raters better than chance and starts from the vote; careful is advanced from ten
        starts. Parameters that are set explicitly override it.
    excludeConsensusVoxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimatePrior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior where that is estimated: counts added to every label, or
        one number for each in their order (the background first).
    stopCriterion : one of parameters, likelihood; default parameters
        What the tolerance is about: parameters, the raters' performance; or likelihood, the log
        posterior in nats.
    initialPerformance : a number > 0 and < 1; default 0.9999
        Probability of the right label with which Initialization theta begins.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    numberOfInitializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then random
        ones; the highest log posterior wins.
    randomSeed : an integer >= 0; default 0
        Seed of the random starts.
    initializationRange : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Probability of the foreground, as float64, of the first input's family, with its geometry.
    """
@overload
def STAPLE(images: Sequence[ImageT | None], confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, *, prior: float | Image | None = None, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def STAPLE(*images: Any, prior: float | Image | None = None, confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def staple_image_filter(images: Sequence[NDArray[Any] | None], *, prior: float | Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Foreground probability and each rater's sensitivity and specificity, by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and answers. Execute returns the
    float64 foreground probability; GetLabelImage() the label map (probability >= 0.5). Inputs
    that are probabilities count as fractions of a vote, from one start.

    Function form of STAPLEImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    prior : a number > 0 and < 1, or an image, or None; default mean of the masks
        Foreground prior: a number, or a probability image on the inputs' grid.
    confidence_weight : a number; default 1.0
        Scales the prior, which is the mean of the masks.
    foreground_value : a number; default 1.0
        The pixel value that is foreground; every other value is background.
    maximum_iterations : an integer >= 1 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    tolerance : a number >= 0; default 1e-07
        EM stops when no sensitivity or specificity changes by more than this; 0: until nothing
        changes, after 10,000 iterations at most.
    sensitivity_prior : 2 numbers >= 1; default from Variant
        Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts.
    specificity_prior : 2 numbers >= 1; default from Variant
        Beta(a, b) prior of the specificities.
    initialization : one of mean, majority_vote, theta; default from Variant
        First start: mean of the masks, majority_vote, or theta (InitialPerformance).
    smoothness_weight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in
        place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior,
        expects raters better than chance and starts from the vote; careful is advanced from ten
        starts. Parameters that are set explicitly override it.
    exclude_consensus_voxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimate_prior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior where that is estimated: counts added to every label, or
        one number for each in their order (the background first).
    stop_criterion : one of parameters, likelihood; default parameters
        What the tolerance is about: parameters, the raters' performance; or likelihood, the log
        posterior in nats.
    initial_performance : a number > 0 and < 1; default 0.9999
        Probability of the right label with which Initialization theta begins.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    number_of_initializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then random
        ones; the highest log posterior wins.
    random_seed : an integer >= 0; default 0
        Seed of the random starts.
    initialization_range : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Probability of the foreground, as float64, of the first input's family, with its geometry.
    """
@overload
def staple_image_filter(images: Sequence[ImageT | None], *, prior: float | Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def staple_image_filter(*images: Any, prior: float | Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def MultiLabelSTAPLE(images: Sequence[NDArray[Any] | None], labelForUndecidedPixels: int = 18446744073709551615, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), *, pseudoCounts: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, label probabilities and each rater's confusion matrix, by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``, following ITK's main branch where the
    released wheels are at fault.

    Function form of MultiLabelSTAPLEImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    terminationUpdateThreshold : a number >= 0; default 1e-05
        EM stops when no element of a confusion matrix changes by more than this; 0: until nothing
        changes, after 10,000 iterations at most.
    maximumNumberOfIterations : an integer >= 0 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    priorProbabilities : a {label: probability} dict, or a list of numbers >= 0 and <= 1; default label frequencies
        Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is
        ignored), or {label: probability}.
    pseudoCounts : 2 numbers >= 0; default from Variant
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    initialization : one of label_voting, mean, majority_vote, theta, label_voting_with_the_fault_of_itk_5_4; default from Variant
        First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the
        last one matches SimpleITK 2.5 on tied voxels, too.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    smoothnessWeight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in
        place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior,
        expects raters better than chance and starts from the vote; careful is advanced from ten
        starts. Parameters that are set explicitly override it.
    excludeConsensusVoxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimatePrior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior where that is estimated: counts added to every label, or
        one number for each in their order (the background first).
    stopCriterion : one of parameters, likelihood; default parameters
        What the tolerance is about: parameters, the raters' performance; or likelihood, the log
        posterior in nats.
    initialPerformance : a number > 0 and < 1; default 0.9999
        Probability of the right label with which Initialization theta begins.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    numberOfInitializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then random
        ones; the highest log posterior wins.
    randomSeed : an integer >= 0; default 0
        Seed of the random starts.
    initializationRange : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def MultiLabelSTAPLE(images: Sequence[ImageT | None], labelForUndecidedPixels: int = 18446744073709551615, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), *, pseudoCounts: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def MultiLabelSTAPLE(*images: Any, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), pseudoCounts: Sequence[float] = ..., initialization: str = ..., labelForUndecidedPixels: int = 18446744073709551615, smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def multi_label_staple_image_filter(images: Sequence[NDArray[Any] | None], *, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, label probabilities and each rater's confusion matrix, by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``, following ITK's main branch where the
    released wheels are at fault.

    Function form of MultiLabelSTAPLEImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    termination_update_threshold : a number >= 0; default 1e-05
        EM stops when no element of a confusion matrix changes by more than this; 0: until nothing
        changes, after 10,000 iterations at most.
    maximum_number_of_iterations : an integer >= 0 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    prior_probabilities : a {label: probability} dict, or a list of numbers >= 0 and <= 1; default label frequencies
        Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is
        ignored), or {label: probability}.
    pseudo_counts : 2 numbers >= 0; default from Variant
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    initialization : one of label_voting, mean, majority_vote, theta, label_voting_with_the_fault_of_itk_5_4; default from Variant
        First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the
        last one matches SimpleITK 2.5 on tied voxels, too.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    smoothness_weight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in
        place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior,
        expects raters better than chance and starts from the vote; careful is advanced from ten
        starts. Parameters that are set explicitly override it.
    exclude_consensus_voxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimate_prior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior where that is estimated: counts added to every label, or
        one number for each in their order (the background first).
    stop_criterion : one of parameters, likelihood; default parameters
        What the tolerance is about: parameters, the raters' performance; or likelihood, the log
        posterior in nats.
    initial_performance : a number > 0 and < 1; default 0.9999
        Probability of the right label with which Initialization theta begins.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    number_of_initializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then random
        ones; the highest log posterior wins.
    random_seed : an integer >= 0; default 0
        Seed of the random starts.
    initialization_range : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def multi_label_staple_image_filter(images: Sequence[ImageT | None], *, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def multi_label_staple_image_filter(*images: Any, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def LabelVoting(images: Sequence[NDArray[Any] | None], labelForUndecidedPixels: int = 18446744073709551615, *, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.

    Function form of LabelVotingImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LabelVoting(images: Sequence[ImageT | None], labelForUndecidedPixels: int = 18446744073709551615, *, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def LabelVoting(*images: Any, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def label_voting_image_filter(images: Sequence[NDArray[Any] | None], *, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.

    Function form of LabelVotingImageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def label_voting_image_filter(images: Sequence[ImageT | None], *, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def label_voting_image_filter(*images: Any, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def MajorityVote(images: Sequence[NDArray[Any] | None], *, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote with a threshold, weights, tie rule and smoothing of your choice.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian, of so many smallest voxel
    sides, before the decision: the strongest simple baseline known to us. Probabilities are shares
    of a vote: the plain vote is then their mean.

    Function form of MajorityVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    threshold : a number >= 0 and <= 1, or None; default none
        A label needs more than this share of the votes; None: more than any other label.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    smoothingSigma : a number >= 0 and <= 100000; default 0.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def MajorityVote(images: Sequence[ImageT | None], *, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def MajorityVote(*images: Any, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def majority_vote_filter(images: Sequence[NDArray[Any] | None], *, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote with a threshold, weights, tie rule and smoothing of your choice.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian, of so many smallest voxel
    sides, before the decision: the strongest simple baseline known to us. Probabilities are shares
    of a vote: the plain vote is then their mean.

    Function form of MajorityVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    threshold : a number >= 0 and <= 1, or None; default none
        A label needs more than this share of the votes; None: more than any other label.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    smoothing_sigma : a number >= 0 and <= 100000; default 0.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def majority_vote_filter(images: Sequence[ImageT | None], *, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def majority_vote_filter(*images: Any, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def CorrectedVote(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Smoothed vote shares, corrected for what raters miss and add on average.

    Where raters are noisy it finds the contour that the smoothed vote misses; what is thin it
    erodes as much. ``examples/benchmarks/methods/evidence_table.py`` prints both in every setting.
    Probabilities are shares of a vote.

    Function form of CorrectedVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    smoothingSigma : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def CorrectedVote(images: Sequence[ImageT | None], *, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def CorrectedVote(*images: Any, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def corrected_vote_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Smoothed vote shares, corrected for what raters miss and add on average.

    Where raters are noisy it finds the contour that the smoothed vote misses; what is thin it
    erodes as much. ``examples/benchmarks/methods/evidence_table.py`` prints both in every setting.
    Probabilities are shares of a vote.

    Function form of CorrectedVoteFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    smoothing_sigma : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def corrected_vote_filter(images: Sequence[ImageT | None], *, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def corrected_vote_filter(*images: Any, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def COLLATE(images: Sequence[NDArray[Any] | None], *, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Consensus level, labeler accuracy and truth, estimated together by EM.

    Each voxel is easy, so that raters hardly err there, or hard, so that each rater has a confusion
    matrix. What is easy is estimated; matrices then speak of hard voxels only, however much easy
    background there is. Where raters err a lot, unanimous voxels may be overruled.

    Function form of COLLATEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    consensusLevels : a list of numbers >= 0 and <= 1; default (0.0, 1.0)
        How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by
        ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior.
    errorRate : a number > 0 and < 0.5; default 0.0001
        Probability that a rater errs where a voxel is easy.
    pseudoCounts : 2 numbers >= 0; default (2.0, 0.0)
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default estimated
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    tolerance : a number >= 0; default 1e-10
        EM stops when no element of a confusion matrix changes by more than this.
    maximumIterations : an integer >= 1 and <= 4294967295; default 10000
        Maximum number of EM iterations.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def COLLATE(images: Sequence[ImageT | None], *, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def COLLATE(*images: Any, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def collate_filter(images: Sequence[NDArray[Any] | None], *, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Consensus level, labeler accuracy and truth, estimated together by EM.

    Each voxel is easy, so that raters hardly err there, or hard, so that each rater has a confusion
    matrix. What is easy is estimated; matrices then speak of hard voxels only, however much easy
    background there is. Where raters err a lot, unanimous voxels may be overruled.

    Function form of COLLATEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    consensus_levels : a list of numbers >= 0 and <= 1; default (0.0, 1.0)
        How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by
        ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior.
    error_rate : a number > 0 and < 0.5; default 0.0001
        Probability that a rater errs where a voxel is easy.
    pseudo_counts : 2 numbers >= 0; default (2.0, 0.0)
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default estimated
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    tolerance : a number >= 0; default 1e-10
        EM stops when no element of a confusion matrix changes by more than this.
    maximum_iterations : an integer >= 1 and <= 4294967295; default 10000
        Maximum number of EM iterations.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def collate_filter(images: Sequence[ImageT | None], *, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def collate_filter(*images: Any, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def DirectInference(images: Sequence[NDArray[Any] | None], *, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map of highest evidence p(t, D), the raters' confusions being integrated out.

    Works on label images of any labels. GetProbabilityImage gives a voxel's marginal posterior if
    NumberOfSamples is set, else its conditional posterior given the rest of the map; the label map
    is the map of highest evidence in both cases.

    Function form of DirectInferenceFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    pseudoCounts : 2 numbers >= 0; default (4.0, 2.0)
        Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared
        by the other labels) in each column.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior: counts added to every label, or one number for each in
        their order (the background first).
    numberOfInitializations : an integer >= 1 and <= 10000; default 5
        EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are
        always tried.
    numberOfSamples : an integer >= 0 and <= 1000000; default 0
        Gibbs samples, for marginal probabilities and performance; 0: none.
    burnIn : an integer >= 0 and <= 1000000; default 100
        Gibbs samples discarded at the beginning.
    randomSeed : an integer >= 0; default 0
        Seed of EM's random starts and of the samples.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def DirectInference(images: Sequence[ImageT | None], *, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def DirectInference(*images: Any, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def direct_inference_filter(images: Sequence[NDArray[Any] | None], *, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map of highest evidence p(t, D), the raters' confusions being integrated out.

    Works on label images of any labels. GetProbabilityImage gives a voxel's marginal posterior if
    NumberOfSamples is set, else its conditional posterior given the rest of the map; the label map
    is the map of highest evidence in both cases.

    Function form of DirectInferenceFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    pseudo_counts : 2 numbers >= 0; default (4.0, 2.0)
        Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared
        by the other labels) in each column.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior: counts added to every label, or one number for each in
        their order (the background first).
    number_of_initializations : an integer >= 1 and <= 10000; default 5
        EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are
        always tried.
    number_of_samples : an integer >= 0 and <= 1000000; default 0
        Gibbs samples, for marginal probabilities and performance; 0: none.
    burn_in : an integer >= 0 and <= 1000000; default 100
        Gibbs samples discarded at the beginning.
    random_seed : an integer >= 0; default 0
        Seed of EM's random starts and of the samples.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def direct_inference_filter(images: Sequence[ImageT | None], *, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def direct_inference_filter(*images: Any, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def SpatialSTAPLE(images: Sequence[NDArray[Any] | None], *, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, and each rater's confusion matrix at every voxel, by EM over windows.

    Works on label images of any labels. Performance is estimated in a box of `WindowRadius` mm
    around each voxel. Voxels that all raters give to one label keep it.

    Function form of SpatialSTAPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    windowRadius : a number >= 0 and <= 100000; default 20.0
        Half width, in mm, of the box over which performance is pooled.
    kappa : a number >= 0; default 0.01
        Strength of the regularisation where a rater rarely used a label; 0: the window alone, a
        very large one: the target alone.
    regularizationTarget : one of global, uniform, diagonal; default diagonal
        Performance that sparse data are pulled towards: global (the rater's over all voxels;
        diagonal if the mean rater is below chance there), uniform (chance) or diagonal
        (DiagonalTarget).
    diagonalTarget : a number >= 0 and <= 1; default 0.9
        Probability of the right label in the regularisation target diagonal.
    pseudoCounts : 2 numbers >= 0; default (2.0, 0.0)
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    priorMode : one of local, global, fixed; default local, or fixed with Prior
        Label prior: the mean posterior in the window (local), over all voxels (global; may lose
        small labels), or Prior (fixed).
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default equal shares
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    maximumIterations : an integer >= 1; default 200
        Maximum number of EM iterations.
    tolerance : a number >= 0; default 0.0001
        EM stops when the mean posterior of disputed voxels changes by less than this.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def SpatialSTAPLE(images: Sequence[ImageT | None], *, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def SpatialSTAPLE(*images: Any, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def spatial_staple_filter(images: Sequence[NDArray[Any] | None], *, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, and each rater's confusion matrix at every voxel, by EM over windows.

    Works on label images of any labels. Performance is estimated in a box of `WindowRadius` mm
    around each voxel. Voxels that all raters give to one label keep it.

    Function form of SpatialSTAPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    window_radius : a number >= 0 and <= 100000; default 20.0
        Half width, in mm, of the box over which performance is pooled.
    kappa : a number >= 0; default 0.01
        Strength of the regularisation where a rater rarely used a label; 0: the window alone, a
        very large one: the target alone.
    regularization_target : one of global, uniform, diagonal; default diagonal
        Performance that sparse data are pulled towards: global (the rater's over all voxels;
        diagonal if the mean rater is below chance there), uniform (chance) or diagonal
        (DiagonalTarget).
    diagonal_target : a number >= 0 and <= 1; default 0.9
        Probability of the right label in the regularisation target diagonal.
    pseudo_counts : 2 numbers >= 0; default (2.0, 0.0)
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    prior_mode : one of local, global, fixed; default local, or fixed with Prior
        Label prior: the mean posterior in the window (local), over all voxels (global; may lose
        small labels), or Prior (fixed).
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default equal shares
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    maximum_iterations : an integer >= 1; default 200
        Maximum number of EM iterations.
    tolerance : a number >= 0; default 0.0001
        EM stops when the mean posterior of disputed voxels changes by less than this.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def spatial_staple_filter(images: Sequence[ImageT | None], *, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def spatial_staple_filter(*images: Any, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def ShapeBasedAveraging(images: Sequence[NDArray[Any] | None], *, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Each voxel goes to the label whose signed distance, averaged over the raters, is smallest.

    Distances are in mm. A rater who did not draw a label at all counts as far from it as the
    farthest of the others. GetProbabilityImage reads mean distances as log odds, `ProbabilityScale`
    mm apart for a factor e; where all raters agree it is 1.

    Function form of ShapeBasedAveragingFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    trimFraction : a number >= 0 and <= 0.49; default 0.0
        Share of the largest, and of the smallest, distances that is left out of the average.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with voxels that are equally far from two labels.
    probabilityScale : a number > 0; default 1.0
        Difference of mean distances, in mm, that changes the odds of two labels by a factor e.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def ShapeBasedAveraging(images: Sequence[ImageT | None], *, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def ShapeBasedAveraging(*images: Any, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def shape_based_averaging_filter(images: Sequence[NDArray[Any] | None], *, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Each voxel goes to the label whose signed distance, averaged over the raters, is smallest.

    Distances are in mm. A rater who did not draw a label at all counts as far from it as the
    farthest of the others. GetProbabilityImage reads mean distances as log odds, `ProbabilityScale`
    mm apart for a factor e; where all raters agree it is 1.

    Function form of ShapeBasedAveragingFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    trim_fraction : a number >= 0 and <= 0.49; default 0.0
        Share of the largest, and of the smallest, distances that is left out of the average.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with voxels that are equally far from two labels.
    probability_scale : a number > 0; default 1.0
        Difference of mean distances, in mm, that changes the odds of two labels by a factor e.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def shape_based_averaging_filter(images: Sequence[ImageT | None], *, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def shape_based_averaging_filter(*images: Any, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def FrechetConsensus(images: Sequence[NDArray[Any] | None], *, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The label map closest to all raters at once, by Dice or Jaccard.

    Each label is fused against all others; a voxel that several labels claim goes to the one with
    more votes. Voxels with equal votes get one label. Where a rater is missing the vote of the
    others stands in. Probabilities are 1 for the label of the map, since it has no others.

    Function form of FrechetConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    measure : one of dice, jaccard; default dice
        The overlap to maximise.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def FrechetConsensus(images: Sequence[ImageT | None], *, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def FrechetConsensus(*images: Any, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def frechet_consensus_filter(images: Sequence[NDArray[Any] | None], *, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The label map closest to all raters at once, by Dice or Jaccard.

    Each label is fused against all others; a voxel that several labels claim goes to the one with
    more votes. Voxels with equal votes get one label. Where a rater is missing the vote of the
    others stands in. Probabilities are 1 for the label of the map, since it has no others.

    Function form of FrechetConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    measure : one of dice, jaccard; default dice
        The overlap to maximise.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def frechet_consensus_filter(images: Sequence[ImageT | None], *, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def frechet_consensus_filter(*images: Any, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def SIMPLE(images: Sequence[NDArray[Any] | None], *, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters count by their overlap with the consensus, found by iteration.

    Whole raters are weighed by their Dice overlap with the vote, and those far below the others
    or without any overlap are dropped (Langerak et al. 2010).

    Function form of SIMPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    deviations : a number >= 0; default 2.0
        Standard deviations below the mean overlap at which a rater is dropped.
    maximumIterations : an integer >= 1; default 10
        Maximum number of iterations.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def SIMPLE(images: Sequence[ImageT | None], *, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def SIMPLE(*images: Any, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def simple_filter(images: Sequence[NDArray[Any] | None], *, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters count by their overlap with the consensus, found by iteration.

    Whole raters are weighed by their Dice overlap with the vote, and those far below the others
    or without any overlap are dropped (Langerak et al. 2010).

    Function form of SIMPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    deviations : a number >= 0; default 2.0
        Standard deviations below the mean overlap at which a rater is dropped.
    maximum_iterations : an integer >= 1; default 10
        Maximum number of iterations.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def simple_filter(images: Sequence[ImageT | None], *, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def simple_filter(*images: Any, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def BoundarySIMPLE(images: Sequence[NDArray[Any] | None], *, image: Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters count, voxel by voxel, by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.

    Function form of BoundarySIMPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    image : an image, or None; default None
        Intensity image whose edges raise the weight of raters who follow them.
    patchRadius : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width, in mm, of the patch in which raters are compared.
    localWeight : a number > 0 and < 1; default 0.8
        Share of the local agreement in a weight; the rest is the rater's mean agreement.
    edgeBoost : a number >= 1; default 5.0
        Factor on the weight of a rater whose contour follows an edge of the image; 1: off.
    edgeScale : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides.
    maximumIterations : an integer >= 1; default 10
        Maximum number of iterations.
    tolerance : a number >= 0; default 1e-05
        Stop when label shares of disputed voxels change by less on average.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def BoundarySIMPLE(images: Sequence[ImageT | None], *, image: Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def BoundarySIMPLE(*images: Any, image: Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def boundary_simple_filter(images: Sequence[NDArray[Any] | None], *, image: Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters count, voxel by voxel, by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.

    Function form of BoundarySIMPLEFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    image : an image, or None; default None
        Intensity image whose edges raise the weight of raters who follow them.
    patch_radius : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width, in mm, of the patch in which raters are compared.
    local_weight : a number > 0 and < 1; default 0.8
        Share of the local agreement in a weight; the rest is the rater's mean agreement.
    edge_boost : a number >= 1; default 5.0
        Factor on the weight of a rater whose contour follows an edge of the image; 1: off.
    edge_scale : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides.
    maximum_iterations : an integer >= 1; default 10
        Maximum number of iterations.
    tolerance : a number >= 0; default 1e-05
        Stop when label shares of disputed voxels change by less on average.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def boundary_simple_filter(images: Sequence[ImageT | None], *, image: Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def boundary_simple_filter(*images: Any, image: Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def LogOpinionPool(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of an integer type are label images. If any input has a floating type, all are
    foreground probabilities from 0 to 1, and masks among them 0 or 1: cast label images that are
    stored as floats. Vector images of a floating type, lists of one image per class and arrays with
    `ClassAxis` are class probabilities. No opinion is taken as firmer than `ErrorRate` allows. A
    prior that varies in space is one more probability image, with the weight T.

    Function form of LogOpinionPoolFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    raterWeights : a list of numbers >= 0, or None; default equal, sum 1
        Exponent of each rater's opinion.
    temperature : a number > 0, or a list of numbers >= 1e-06; default 1.0
        Divides the exponents, for all raters or for each; above 1 the result is less certain.
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default equal shares
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    errorRate : a number > 0 and < 0.5; default 0.05
        Probability that a label is wrong; probabilities stay this far from 0 and 1.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LogOpinionPool(images: Sequence[ImageT | None], *, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def LogOpinionPool(*images: Any, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def log_opinion_pool_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of an integer type are label images. If any input has a floating type, all are
    foreground probabilities from 0 to 1, and masks among them 0 or 1: cast label images that are
    stored as floats. Vector images of a floating type, lists of one image per class and arrays with
    `ClassAxis` are class probabilities. No opinion is taken as firmer than `ErrorRate` allows. A
    prior that varies in space is one more probability image, with the weight T.

    Function form of LogOpinionPoolFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    rater_weights : a list of numbers >= 0, or None; default equal, sum 1
        Exponent of each rater's opinion.
    temperature : a number > 0, or a list of numbers >= 1e-06; default 1.0
        Divides the exponents, for all raters or for each; above 1 the result is less certain.
    prior : a number > 0 and < 1, or a {label: probability} dict, or None; default equal shares
        Fixed label prior: probability of the higher of two labels, or {label: probability}.
    error_rate : a number > 0 and < 0.5; default 0.05
        Probability that a label is wrong; probabilities stay this far from 0 and 1.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def log_opinion_pool_filter(images: Sequence[ImageT | None], *, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def log_opinion_pool_filter(*images: Any, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def ProbabilityAverage(images: Sequence[NDArray[Any] | None], *, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted mean of class probabilities, and the label of the highest mean.

    The ensemble's usual answer, and the vote for soft inputs: whoever is sure of a label casts a
    whole vote. Label images count as certain, so that on masks this is the majority vote. Inputs
    are vector images or lists of one image per class, whose probabilities sum to 1; arrays with
    `ClassAxis`; scalar images of a floating type, which hold the foreground's probability.

    Function form of ProbabilityAverageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def ProbabilityAverage(images: Sequence[ImageT | None], *, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def ProbabilityAverage(*images: Any, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def probability_average_filter(images: Sequence[NDArray[Any] | None], *, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted mean of class probabilities, and the label of the highest mean.

    The ensemble's usual answer, and the vote for soft inputs: whoever is sure of a label casts a
    whole vote. Label images count as certain, so that on masks this is the majority vote. Inputs
    are vector images or lists of one image per class, whose probabilities sum to 1; arrays with
    `ClassAxis`; scalar images of a floating type, which hold the foreground's probability.

    Function form of ProbabilityAverageFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def probability_average_filter(images: Sequence[ImageT | None], *, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def probability_average_filter(*images: Any, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def HybridFusion(images: Sequence[NDArray[Any] | None], *, interiorFilter: LabelFusionFilter | None = None, interiorImage: Image | None = None, image: Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Uses the interior fuser everywhere but in a band around the contour.

    Both fusers are filters with parameters of their own; GetBoundaryResult() and
    GetInteriorResult() have what each of them made. They see the same images, with the hybrid's
    mask, missing label, tolerances and threads if set. Inside may also be what somebody made
    before (InteriorImage), or a trained DeepConsensusFilter that reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())

    Function form of HybridFusionFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    interiorFilter : a label fusion filter, DeepConsensusFilter included, or None; default MajorityVoteFilter()
        Fuser used away from the contour.
    interiorImage : an image, or None; default None
        What is used away from the contour instead of a fuser: labels, or of two labels the
        probability of the higher one, such as a network's.
    image : an image, or None; default None
        The image the labels were drawn on, for an InteriorFilter that reads it.
    boundaryFilter : a label fusion filter, or None; default ConsensusFilter()
        Fuser used in the band.
    bandWidth : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width of the band around the contour, in mm.
    bandContour : one of vote, interior; default vote
        The contour that the band follows: the majority vote's or the interior fuser's.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def HybridFusion(images: Sequence[ImageT | None], *, interiorFilter: LabelFusionFilter | None = None, interiorImage: Image | None = None, image: Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def HybridFusion(*images: Any, interiorFilter: LabelFusionFilter | None = None, interiorImage: Image | None = None, image: Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def hybrid_fusion_filter(images: Sequence[NDArray[Any] | None], *, interior_filter: LabelFusionFilter | None = None, interior_image: Image | None = None, image: Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Uses the interior fuser everywhere but in a band around the contour.

    Both fusers are filters with parameters of their own; GetBoundaryResult() and
    GetInteriorResult() have what each of them made. They see the same images, with the hybrid's
    mask, missing label, tolerances and threads if set. Inside may also be what somebody made
    before (InteriorImage), or a trained DeepConsensusFilter that reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())

    Function form of HybridFusionFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    interior_filter : a label fusion filter, DeepConsensusFilter included, or None; default MajorityVoteFilter()
        Fuser used away from the contour.
    interior_image : an image, or None; default None
        What is used away from the contour instead of a fuser: labels, or of two labels the
        probability of the higher one, such as a network's.
    image : an image, or None; default None
        The image the labels were drawn on, for an InteriorFilter that reads it.
    boundary_filter : a label fusion filter, or None; default ConsensusFilter()
        Fuser used in the band.
    band_width : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width of the band around the contour, in mm.
    band_contour : one of vote, interior; default vote
        The contour that the band follows: the majority vote's or the interior fuser's.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def hybrid_fusion_filter(images: Sequence[ImageT | None], *, interior_filter: LabelFusionFilter | None = None, interior_image: Image | None = None, image: Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def hybrid_fusion_filter(*images: Any, interior_filter: LabelFusionFilter | None = None, interior_image: Image | None = None, image: Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def InstanceConsensus(images: Sequence[NDArray[Any] | None], *, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Objects one by one: marks of different readers are matched, judged and drawn.

    Readers of lesions, nodules or cells find, and then outline. So marks are matched first; then
    a model of detection says from who marked what whether each object is there; and about its
    outline only those are asked who found it. Input are masks, whose connected pieces are objects,
    or instance maps, whose numbers mean nothing between readers. Output is an instance map with
    the objects that most readers found first, or a mask. A probability is that of the object
    being there times that of the voxel being inside, and above one half exactly where the map is.

    Function form of InstanceConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    outputMap : one of instances, mask; default instances
        Whether each object has a number of its own in the output, or all are label 1.
    inputObjects : one of components, labels; default components
        What is one object of a reader: a connected piece of one label, or all that has one label,
        in however many pieces.
    detectionThreshold : a number >= 0 and <= 1; default 0.5
        Probability of being there from which an object is kept.
    matchDistance : a number >= 0 and <= 100000, or None; default diagonal of a voxel
        Distance in mm up to which small marks that share no voxel are one object.
    outlineFilter : a label fusion filter, or None; default CoherenceVoteFilter()
        Fuser that draws the outlines, from the masks of each object's finders.
    cohort : a list of tables that match_lesions made, or None; default None
        Tables of other cases of the same readers, by match_lesions: how they find is estimated from
        all cases.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    maskImage : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    raterMasks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def InstanceConsensus(images: Sequence[ImageT | None], *, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def InstanceConsensus(*images: Any, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def instance_consensus_filter(images: Sequence[NDArray[Any] | None], *, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Objects one by one: marks of different readers are matched, judged and drawn.

    Readers of lesions, nodules or cells find, and then outline. So marks are matched first; then
    a model of detection says from who marked what whether each object is there; and about its
    outline only those are asked who found it. Input are masks, whose connected pieces are objects,
    or instance maps, whose numbers mean nothing between readers. Output is an instance map with
    the objects that most readers found first, or a mask. A probability is that of the object
    being there times that of the voxel being inside, and above one half exactly where the map is.

    Function form of InstanceConsensusFilter.

    Parameters
    ----------
    *images : list of images, or the images themselves
        On one grid: of SimpleITK, itk, nibabel or xarray, tensors or arrays. None is a
        missing rater, a masked voxel a missing vote; a vector image holds one rater per
        component.
    output_map : one of instances, mask; default instances
        Whether each object has a number of its own in the output, or all are label 1.
    input_objects : one of components, labels; default components
        What is one object of a reader: a connected piece of one label, or all that has one label,
        in however many pieces.
    detection_threshold : a number >= 0 and <= 1; default 0.5
        Probability of being there from which an object is kept.
    match_distance : a number >= 0 and <= 100000, or None; default diagonal of a voxel
        Distance in mm up to which small marks that share no voxel are one object.
    outline_filter : a label fusion filter, or None; default CoherenceVoteFilter()
        Fuser that draws the outlines, from the masks of each object's finders.
    cohort : a list of tables that match_lesions made, or None; default None
        Tables of other cases of the same readers, by match_lesions: how they find is estimated from
        all cases.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, poor_surface_dice, surface_tolerance, good_volume_variation, poor_volume_variation, nearly_empty, other_volume, contained, times_the_spread, apart_dice, apart_in_one_label, suspect_times, suspect_dice, explained_times, explained_share, least_gain, least_shift, or None; default None
        Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice;
        docs/howto/findings.md lists them.
    mask_image : an image, or None; default None
        Voxels to fuse (non-zero); outside it the output is background with probability 0.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    rater_masks : a list with an image or None for each rater, or None; default None
        One image per rater, non-zero where the rater annotated; None: everywhere.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of the compiled kernels, 0 being the default; results never depend on it.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all but
        what can identify a person, or everything, patients' names included; geometry is always
        kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def instance_consensus_filter(images: Sequence[ImageT | None], *, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ImageT: ...
@overload
def instance_consensus_filter(*images: Any, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: Image | None = None, missing_label: int | None = None, rater_masks: Sequence[Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
def Agreement(images: Any, reference: Any = None, names: Sequence[str] | None = None, **parameters: Any) -> AgreementResult:
    """How well raters agree; function form of AgreementFilter, whose parameters it takes.

    Parameters
    ----------
    images : list of images
        SimpleITK or itk images, or NumPy arrays, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus to compare each rater with, or a filter that makes it.
    names : sequence of str, optional
        What each rater is called.
    """
def FuseStructures(structures: Mapping[str, Sequence[Any]], fuser: LabelFusionFilter, output: Callable[[LabelFusionFilter], Any] | None = None) -> dict[str, Any]:
    """Fuse structures, which may overlap, each as a structure of its own.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader, with 1 inside; None where a reader has no such structure.
    fuser : LabelFusionFilter
        Any fuser, with its parameters.
    output : callable, optional
        What to take of the fuser after each structure; by default the fused mask. With
        ``lambda fuser: fuser.GetProbabilityImage(1)`` it is the probability.

    Returns
    -------
    dict of name to image
        Fused masks, with the fuser's label for undecided voxels where it leaves any.
    """
def LesionAgreement(images: Any, reference: Any = None, names: Sequence[str] | None = None, *, inputObjects: ObjectKind = 'components', leastOverlap: float = 0.5, sizeLimits: Sequence[float] = (5.0, 10.0), inputsAreLabels: bool = False) -> LesionAgreements:
    """Detection F1, panoptic quality, and Dice and volumes of what both found, by size.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with any numbers, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus to compare each reader with, or a filter that makes one of `images`.
    names : sequence of str, optional
        What each reader is called.
    inputObjects : "components" or "labels"
        What is one object: a connected piece of one label, or all that has one label.
    leastOverlap : float
        Intersection over union from which two marks are one object.
    sizeLimits : sequence of float
        Diameters of balls in mm, between which objects are of one size.
    inputsAreLabels : bool
        Take inputs for masks although one looks like an image.

    Returns
    -------
    LesionAgreements
        Has ``.rows``, ``.to_csv()``, ``.to_pandas()``: a row for each pair and class of size.
    """
def band_structures(name: str, band: Any) -> list[Structure]:
    """What ConformalBandFilter marks, as structures: certainly inside, and ambiguous."""
def dice(first: ArrayLike, second: ArrayLike) -> float:
    """Dice coefficient ``2 |A and B| / (|A| + |B|)`` of two masks.

    Parameters
    ----------
    first, second : array_like, same shape
        Masks; every non-zero voxel is foreground. For one label of a label map pass
        ``labels == value``.

    Returns
    -------
    float
        In [0, 1]. Two empty masks agree perfectly and score 1.0. (The paper's notebook scores
        them 0; its Tables 1-3 never meet the case.)
    """
def draw_rater_number(curve: RaterNumberCurve, path: PathLike) -> None:
    """Draw what the consensus of k raters is worth, and what that of twice as many would be.

    Parameters
    ----------
    curve : RaterNumberCurve
        As of rater_number_curve.
    path : str or path
        PNG file, replaced in one step.
    """
def hold_out_raters(cases: Iterable[Sequence[Any]], fuser: LabelFusionFilter, foreground: int | None = None, case_ids: Sequence[str] | None = None) -> HeldOutCohort:
    """Hold one rater out of each case and fuse the others.

    Raters take turns: the one at the case's position modulo the number of raters is held out.

    Parameters
    ----------
    cases : iterable of lists of label images
        At least two raters each, and as many as the first.
    fuser : LabelFusionFilter
        Fuses the others; its probability of `foreground` is what will be calibrated.
    foreground : int, optional
        The label to calibrate; all others count as background. By default the only one there is.
    case_ids : sequence of str, optional
        What each case is called in errors; by default its number.

    Returns
    -------
    HeldOutCohort
        Its references are the held-out raters, its raters the fused ones. A band calibrated on
        it fits consensuses of that many raters, and covers a new rater, not the truth.
    """
def html_of(thing: Any) -> str | None:
    """The HTML of anything that notebooks show; None where its text says all there is."""
def joint_label_fusion(target_image: Any, target_image_mask: Any, atlas_list: Sequence[Any], beta: float = 4, rad: int | Sequence[int] = 2, label_list: Sequence[Any] | None = None, rho: float = 0.01, usecor: bool = False, r_search: int | Sequence[int] = 3, nonnegative: bool = False, no_zeroes: bool = False, max_lab_plus_one: bool = False, output_prefix: str | None = None, verbose: bool = False, *, inputs_are_labels: bool = False) -> Any:
    """Do as ``ants.joint_label_fusion`` with images of SimpleITK, itk or NumPy.

    Where it differs: the background is a label that can win; `usecor` and `verbose` change nothing,
    since patches are always normalised before they are compared; the caller's images are not
    changed; voxels that all atlases label alike keep their label.

    Parameters
    ----------
    target_image, target_image_mask : image
    atlas_list : list of images
        On the target's grid.
    beta, rho : float
        Exponent of the errors, and what is added to the diagonal.
    rad, r_search : int, or one for each axis
        Radii of patch and search in voxels.
    label_list : list of images, optional
        Labels of the atlases; without them only intensities are fused.
    nonnegative : bool
        Whether weights are the best of those not below 0.
    no_zeroes : bool
        Whether voxels that any atlas labels 0 are left out.
    max_lab_plus_one : bool
        Whether what the labels would be without background is wanted too.
    output_prefix : str, optional
        Probabilities are also written to ``<output_prefix>prob01.nii.gz`` and so on.
    inputs_are_labels : bool
        Take labels and mask for what they are given as although one looks like an image.

    Returns
    -------
    dict, or image
        "segmentation", "intensity", "probabilityimages" and, the label of each of them,
        "segmentation_numbers"; with `max_lab_plus_one` also "segmentation_raw" and
        "background_prob". Without labels the fused intensities.
    """
def match_lesions(images: Any, **parameters: Any) -> LesionTable:
    """Which marks of different readers are one object, and whether it is there.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with any numbers, on one grid, as InstanceConsensusFilter takes
        them.
    parameters
        Of InstanceConsensusFilter.

    Returns
    -------
    LesionTable
        Has ``.lesions``, ``.rows()``, ``.to_csv()``, ``.to_json()``, ``.to_frame()``.
    """
def match_structures(readers: Mapping[str, Sequence[Structure]], mapping: Renamings | None = None, *, words: StructureWords | None = None, accept: float | None = None) -> MatchedStructures:
    """Find out which structures of several readers are the same.

    Names decide: structures are one if their names say the same organ, side and numbers, however
    they are spelled. What no other reader has by name is compared by its code, if the code is one
    reader's only once and says anything. What is left may be proposed (`proposals`).

    Parameters
    ----------
    readers : mapping of reader to structures
    mapping : mapping of name to name, or of (reader, name) to name, optional
        What a structure is to be called, whoever has it or if this reader has it; it wins over
        names and codes.
    words : StructureWords, optional
        What organs are called; by default the table that comes with the package.
    accept : float, optional
        Take the proposals of structures that overlap from this Dice on.
    """
def plan_agreement(structures: Mapping[str, Sequence[Any]], tolerances: Mapping[str, float] | None = None, *, fuser: LabelFusionFilter | None = None, names: Sequence[str] | None = None) -> PlanAgreement:
    """Measure how far readers agree about each structure that two or more of them drew.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader, None where a reader has no such structure.
    tolerances : mapping of name to float, optional
        Of the surface Dice, in mm; by default `surface_tolerances` of the names.
    fuser : LabelFusionFilter, optional
        What makes the consensus; ConsensusFilter by default.
    """
def rater_number_curve(images: Any, label: int | None = None) -> RaterNumberCurve:
    """What the vote of k raters is worth, for every k, and what more raters would be.

    Parameters
    ----------
    images : list of label images, or list of such lists
        One case of at least three raters, or a cohort of cases with equally many.
    label : int, optional
        Which label; by default the largest one that occurs in a case.

    Returns
    -------
    RaterNumberCurve
        Its `answer` is a sentence, ``.table()`` has the curve, ``.dice_with_another(k)`` and
        ``.moved_by_another(k)`` follow it to any number of raters.
    """
def read_dicom_contours(path: PathLike, series: DicomSeries) -> list[Structure]:
    """Read every structure of an RTSTRUCT that has contours.

    A voxel is inside if about half of it lies within an odd number of the contours of its slice,
    so a contour inside another is a hole; the volume of a structure is that of its contours, as
    nearly as whole voxels can have it (`rasterised` says more). A contour that is stored twice
    counts once. Open contours (OPEN_PLANAR), points (POINT) and contours of one or two points
    enclose nothing; the voxels they pass through are marked. Contours that reach beyond the image
    are cut there, with a warning.
    """
def read_dicom_segmentation(path: PathLike, series: DicomSeries, *, absent_frames: str = 'background') -> list[Structure]:
    """Read one reader's SEG of a series, each segment as a structure on the series' grid.

    Parameters
    ----------
    absent_frames : {"background", "missing"}
        What slices are for which the object has no frame at all: background, or not annotated
        (`NOT_ANNOTATED` in every mask). Where any segment has a frame the reader has been.
    """
def read_dicom_series(source: PathLike | Sequence[PathLike], *, number: int | None = None) -> DicomSeries:
    """Read the slices of one series, from a folder or from a list of files.

    Parameters
    ----------
    number : int, optional
        Which series, from 1 on, where there are several; they are counted by the names of their
        files. ``itk-consensus info FOLDER`` lists them.
    """
def read_slicer_segmentation(path: PathLike, *, like: Any = None) -> list[Structure]:
    """Read every segment with its name, colour and terminology.

    Parameters
    ----------
    like : SimpleITK image, optional
        The image that was segmented; masks are put on its grid, of which Slicer may have saved
        only the part that is segmented.
    """
def reader_bias(images: Any, reference: Any = None, names: Sequence[str] | None = None, label: int | None = None) -> ReaderBias:
    """Who draws generously, and where; function form of ReaderBiasFilter.

    Parameters
    ----------
    images : list of images
        The raters, on one grid.
    reference : image or LabelFusionFilter, optional
        The consensus, or a filter that makes it; ConsensusFilter by default.
    names : sequence of str, optional
        What each rater is called.
    label : int, optional
        The largest one that occurs by default.
    """
def report(made: Any, path: PathLike, image: Any = None, names: Sequence[str] | None = None, *, files: Sequence[PathLike] | None = None, outputs: Mapping[str, PathLike] | None = None, window: tuple[float, float] | str | None = None, label_names: Mapping[int, str] | None = None, contact_sheet: bool = False) -> None:
    """Write one self-contained HTML page about a fusion.

    It shows slices through the dispute with each rater's contour, pairwise Dice, a table of the
    raters, the diagnostics, and what it takes to repeat the fusion. It opens offline and prints.
    Small cases can be gone through slice by slice, and decisions about disputes exported as the
    record of a review; larger ones keep to a size limit, and the page says so.

    Parameters
    ----------
    made : FusionResult, or a filter after Execute
        What is shown.
    path : str or path
        The page; replaced in one step.
    image : image, optional
        What the raters looked at, on their grid, to be drawn below the contours.
    names : sequence of str, optional
        What each rater is called; by default their files, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        Where each rater was read, to be hashed; without it voxels are.
    outputs : mapping of str to path, optional
        What else was written, by what it is; the page links to it.
    window : (center, width) or str, optional
        Grey values of the image that are told apart, or the name of a window of CT, such as
        "lung"; by default what suits modality and structure.
    label_names : mapping of int to str, optional
        What labels are called, such as ``{1: "liver"}``.
    contact_sheet : bool
        Whether all disputed slices are shown too.
    """
def review(fused: Any, image: Any = None, names: Sequence[str] | None = None, *, files: Sequence[PathLike] | None = None, output: PathLike | None = None, reviewer: str | None = None, blinded: bool = False, ready: Callable[[str], None] | None = None, port: int = 0) -> Any:
    """Review a consensus in the browser: go through disputes, decide or paint, and take it back.

    It runs until the reviewer ends it, or Ctrl-C does, on this machine only, for the one browser
    that opens its address. It needs ``pip install 'itk-consensus[review]'``.

    Parameters
    ----------
    fused : LabelFusionFilter, or list of images
        A fuser after Execute; or images, to be fused by ConsensusFilter.
    image : image, optional
        What the raters looked at, on their grid.
    names : sequence of str, optional
        What each rater is called; by default their files, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        Where each rater was read, to be hashed; without it voxels are.
    output : str or path, optional
        Where the adjudicated map goes; the record of decisions lies beside it, and a review that
        was left unfinished there goes on.
    reviewer : str, optional
        Who decides; by default the user of this machine.
    blinded : bool
        Whether readers' names are hidden, also from the record.
    ready : callable, optional
        Told the address; by default it is printed, and opened in the browser.
    port : int
        0 takes one that is free.

    Returns
    -------
    image
        The adjudicated label map, of the raters' kind.
    """
def sample_atlases(number: int = 6, seed: int = 0) -> SampleAtlases:
    """A target of 40 x 48 x 40 voxels of 1 mm, and atlases of it.

    Parameters
    ----------
    number : int
        Of atlases.
    seed : int
        Another seed gives another organ.
    """
def sample_case(name: str = 'LIDC-IDRI-0003') -> list[Any]:
    """Four radiologists' masks of one nodule.

    Parameters
    ----------
    name : str
        One of `SAMPLE_NODULES`.

    Returns
    -------
    list of SimpleITK.Image
        One 0/1 mask per radiologist, on one grid, ready for any filter.
    """
def sample_cohort(number: int = 20, seed: int = 0) -> list[SampleCase]:
    """Simulated organs on textured images, all drawn by the same five raters.

    The first rater is good, the second and third draw too much and too little, the last two are
    careless.

    Parameters
    ----------
    number : int
        Of cases, 64 x 64 pixels each.
    seed : int
        Another seed gives other cases of the same raters.
    """
def score_against_readers(probability: Any, readers: Any, samples: Iterable[Any] = (), label: int = 1, *, inputs_are_labels: bool = False) -> PluralTruth:
    """How well a probability tells what several readers draw.

    Parameters
    ----------
    probability : image
        Of the structure, from 0 to 1.
    readers : list of label images
        On the same grid.
    samples : iterable of label images, optional
        Plausible contours, as of SampleSegmentations; without them there is no energy distance
        and no score of volumes.
    label : int
        The structure's label in readers and samples.
    inputs_are_labels : bool
        Take readers and samples for label images although one looks like an image.

    Returns
    -------
    PluralTruth
        Threshold-averaged Dice (QUBIQ), soft Dice and expected calibration error; of samples the
        generalised energy distance, D_max, D_match, Hungarian-matched IoU and the CRPS of the
        volume in voxels.
    """
def score_study(readers: Readers, submissions: Submissions, *, structures: Mapping[int, str] | None = None, rules: Sequence[str] = ('soft-dice', 'qubiq'), surfaces: bool = False, surfaceTolerance: float = 1.0, lesions: bool = False, inputsAreLabels: bool = False, afterCase: Callable[[str], None] | None = None) -> StudyScores:
    """Score submissions beside several readers, none of whom is the truth.

    Parameters
    ----------
    readers : mapping
        By case the readers' label images, as a mapping from their names or a list; a path stands
        for the file.
    submissions : mapping
        By submission and case an image: a label image, a map of the probability of one structure
        (fractions), a vector image with the probabilities of all labels, background first, or a
        list of label images, which are samples. A case that is missing, or None, is scored as an
        empty segmentation, and said.
    structures : mapping of int to str, optional
        Labels to be scored and their names; by default all that a reader gave.
    rules : sequence of str
        Of soft-dice, qubiq, curvas2024 and samples.
    surfaces : bool
        Whether distances between contours are measured too.
    surfaceTolerance : float
        Of the surface Dice, in mm.
    lesions : bool
        Whether objects are matched too.
    inputsAreLabels : bool
        Take readers and submissions for label images although one looks like an image.
    afterCase : callable, optional
        Called with the name of each case that is done.

    Returns
    -------
    StudyScores
        Has ``.summary()``, ``.of_cases()``, ``.all_comparisons()``, ``.ranks()``,
        ``.to_markdown()``, ``.to_latex()``, ``.to_csv()``, ``.to_json()``.
    """
def separate_undecided(structures: Sequence[Structure]) -> list[Structure]:
    """The same structures, each followed by its voxels that are neither 0 nor 1, if it has any.

    Those are voxels that a fuser left undecided or a reader did not annotate; they become a
    structure of their own, "liver undecided", so that a file keeps them.
    """
def show(thing: Any, image: Any = None, names: Sequence[str] | None = None, *, window: tuple[float, float] | str | None = None, label_names: Mapping[int, str] | None = None, contact_sheet: bool = False) -> Shown:
    """Show a fusion in a notebook, as its page would: findings, slices, raters.

    Parameters
    ----------
    thing : FusionResult, or a filter after Execute
        What is shown. Agreement, diagnostics and matched structures are shown as they are.
    image : image, optional
        What the raters looked at, on their grid, to be drawn below the contours.
    names : sequence of str, optional
        What each rater is called.
    window : (center, width) or str, optional
        Grey values of the image that are told apart, or the name of a window of CT.
    label_names : mapping of int to str, optional
        What labels are called.
    contact_sheet : bool
        Whether all disputed slices are shown too.
    """
def show_progress(filter_: ProcessObject) -> None:
    """Show how far a filter is, in a notebook or a terminal, whenever it executes.

    With tqdm (``pip install 'itk-consensus[notebook]'``) the bar is tqdm's.
    """
def write_dicom_contours(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike, series: DicomSeries, *, method: str, raters: Sequence[PathLike] = (), description: str = 'Consensus of several readers', origin: str = 'AUTOMATIC', smooth: float | None = None, holes: str = 'keyhole') -> None:
    """Write structures, which may overlap, as contours of one DICOM RTSTRUCT.

    Contours follow the edges of voxels, so that `read_dicom_contours`, and every reader that asks
    which centres of voxels a contour encloses, gives back exactly these voxels. Contours lie in
    the planes of the slices, at their very positions.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Masks of 0 and 1 on the grid of the series (`separate_undecided` makes those of a consensus
        so).
    method : str
        How the consensus was found, e.g. ``filter.GetName()``.
    raters : sequence of paths
        The readers' objects; the file refers to those of them that are structure sets.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        Who drew them; what a person decided on is no longer automatic.
    description : str
        What the file is, in the field that planning systems show; that of a structure is
        `ROI_DESCRIPTION` among its details.
    smooth : float, optional
        Contours that are easy to edit, no farther than so many mm from the edges of the voxels.
    holes : "keyhole" or "separate"
        Whether holes are joined to the contour around them by a channel without width, or are
        contours of their own, for systems that invert what lies in two.
    """
def write_dicom_segmentation(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike, series: DicomSeries, *, method: str, raters: Sequence[PathLike] = (), fractional: bool = False, description: str = 'Consensus of several readers', origin: str = 'AUTOMATIC') -> None:
    """Write structures, which may overlap, as segments of one DICOM SEG.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Masks of 0 and 1 on the grid of the series (`separate_undecided` makes those of a consensus
        so); or, if `fractional`, probabilities from 0 to 1.
    method : str
        How the consensus was found, e.g. ``filter.GetName()``; it becomes the name of the
        algorithm, beside the version of this package.
    raters : sequence of paths
        The readers' SEG objects, which the file refers to.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        Who drew them; what a person decided on is no longer automatic.
    """
def write_slicer_segmentation(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike) -> None:
    """Write structures, or a mapping of name to mask, as a segmentation that Slicer opens.

    Structures that overlap go to different layers. Masks must be 0 and 1; `separate_undecided`
    makes those of a consensus so.
    """
