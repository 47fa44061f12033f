# Made by `make docs` from the filters' parameter tables; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from numpy import float64
from numpy.typing import ArrayLike, NDArray

from itk_consensus.assessment.agreement.lesions import LesionAgreements
from itk_consensus.assessment.agreement.plan_agreement import PlanAgreement
from itk_consensus.assessment.agreement.rater_number import Interval
from itk_consensus.assessment.agreement.rater_number import RaterNumberCurve
from itk_consensus.assessment.agreement.reader_bias import ReaderBias
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.assessment.scoring.score_against_readers import PluralTruth
from itk_consensus.assessment.scoring.score_study import ReadersByCase
from itk_consensus.assessment.scoring.score_study import Submissions
from itk_consensus.assessment.scoring.study_scores import StudyScores
from itk_consensus.calibration.held_out_rater import HeldOutCohort as HeldOutCohort
from itk_consensus.calibration.learned.learned_fusion_filter import RaterWeight as _RaterWeight
from itk_consensus.calibration.learned.learned_record import LearnedRecord
from itk_consensus.calibration.reliability import ScalingComparison
from itk_consensus.calibration.reliability import ScalingReport
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
from itk_consensus.deep.augmentation import Transform
from itk_consensus.deep.deep_inputs import RaterId
from itk_consensus.deep.deep_inputs import RaterIds
from itk_consensus.fusing.accumulators import PatternAccumulator as PatternAccumulator
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.paired_gain import Gain
from itk_consensus.images.dicom.series import DicomSeries
from itk_consensus.images.structure_matching import MatchedStructures
from itk_consensus.images.structure_matching import Renamings
from itk_consensus.images.structure_names import StructureWords
from itk_consensus.images.structures import Structure as Structure
from itk_consensus.methods.consensus.consensus_explanation import ListedComponent
from itk_consensus.methods.consensus.curve import CoherenceCurve
from itk_consensus.methods.consensus.curve import Resolution as _Resolution
from itk_consensus.methods.lesions.objects import ObjectKind
from itk_consensus.methods.lesions.table import LesionTable
from itk_consensus.methods.lesions.table import ReaderDetection
from itk_consensus.methods.staple.staple_result import StartSummary
from itk_consensus.pipeline.ensembled import ConsensusEnsembled as ConsensusEnsembled
from itk_consensus.report.notebook import Shown
from itk_consensus.report.page import PathLike
from itk_consensus.samples import SampleAtlases as SampleAtlases
from itk_consensus.samples import SampleCase as SampleCase
from itk_consensus.votes.uncertainty import UncertaintyKind

__version__: str

_Image = Any
_ImageT = TypeVar("_ImageT")

class ProcessObject:
    """Base class of all filters. Several threads may call Execute of one object concurrently."""
    def __init__(self, *, CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    CoordinateTolerance: float
    def SetCoordinateTolerance(self, value: float) -> None:
        """Largest difference of origin or spacing between inputs, as a fraction of the spacing. Default: 1e-06."""
    def GetCoordinateTolerance(self) -> float:
        """Largest difference of origin or spacing between inputs, as a fraction of the spacing."""
    DirectionTolerance: float
    def SetDirectionTolerance(self, value: float) -> None:
        """Largest difference between elements of the inputs' direction matrices. Default: 1e-06."""
    def GetDirectionTolerance(self) -> float:
        """Largest difference between elements of the inputs' direction matrices."""
    NumberOfThreads: int
    def SetNumberOfThreads(self, value: int) -> None:
        """Threads of the compiled kernels, 0 being the default; results never depend on it. Default: all cores."""
    def GetNumberOfThreads(self) -> int:
        """Threads of the compiled kernels, 0 being the default; results never depend on it."""
    NumberOfWorkUnits: int
    def SetNumberOfWorkUnits(self, value: int) -> None:
        """Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split. Default: 0."""
    def GetNumberOfWorkUnits(self) -> int:
        """Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split."""
    KeepMetaData: str
    def SetKeepMetaData(self, value: str) -> None:
        """What outputs keep of the first input's metadata: nothing, what describes the grid, all but what can identify a person, or everything, patients' names included; geometry is always kept. Default: all_but_identity."""
    def GetKeepMetaData(self) -> str:
        """What outputs keep of the first input's metadata: nothing, what describes the grid, all but what can identify a person, or everything, patients' names included; geometry is always kept."""
    Debug: bool
    def SetDebug(self, value: bool) -> None:
        """Print the filter before each Execute. Default: False."""
    def GetDebug(self) -> bool:
        """Print the filter before each Execute."""
    def Abort(self) -> None:
        """Stop as soon as possible; during iterations, the current estimate is still returned.

        If called from a command, this stops the Execute of that command, otherwise all running
        ones. Outputs that are computed later can also be aborted, without losing the result.
        """
    def AddCommand(self, event: int, command: Any) -> int:
        """Register a command, a callable or a SimpleITK Command, to be called at this event."""
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
        """Return the name of the filter's class."""
    def GetProgress(self) -> float:
        """Return the progress of Execute, from 0 to 1.

        If several threads are running, this is the progress of the latest one.
        """
    def GetResult(self) -> Any:
        """Return the immutable result of the last Execute."""
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
        """Return whether a command is registered for this event."""
    def RemoveAllCommands(self) -> None:
        """Remove all commands."""
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
    """Base class of the fusers, which take label images and return one image of the same kind."""
    def __init__(self, *, AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    AgreementLimits: Mapping[str, float] | None
    def SetAgreementLimits(self, value: Mapping[str, float] | None) -> None:
        """Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; docs/howto/findings.md lists them. Default: None."""
    def GetAgreementLimits(self) -> Mapping[str, float] | None:
        """Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; docs/howto/findings.md lists them."""
    MaskImage: _Image | None
    def SetMaskImage(self, value: _Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> _Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    MissingLabel: int | None
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    RaterMasks: Sequence[_Image | None] | None
    def SetRaterMasks(self, value: Sequence[_Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[_Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @overload
    def Execute(self, images: Sequence[NDArray[Any] | None], /) -> NDArray[Any]: ...
    @overload
    def Execute(self, images: Sequence[_ImageT | None], /) -> _ImageT: ...
    @overload
    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
            torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
            masked voxel a missing vote; a vector image contains one rater per component. Dask
            arrays are not computed.

        Returns
        -------
        image
            Image of the first input's type, with its geometry and device, and its metadata except
            for data that can identify a person (see KeepMetaData). For dask arrays, a lazy dask
            array that is computed chunk by chunk, with the same result as in memory.
        """
    def GetDiagnostics(self, full: bool = True) -> Diagnostics:
        """Return the findings about the last Execute, with their values; computed on demand.

        Findings about the fusion (``.fusion``) indicate whether the result is reliable; findings
        about the raters (``.raters``) indicate how well they agree and which of them may have made
        a gross error. For dask arrays, findings that need voxels are left out, and the votes are
        computed.

        Parameters
        ----------
        full : bool
            Whether to also compare the result with that of Consensus, which takes as long as
            running it.
        """
    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """Return the mask of a label that maximizes the expected Dice under its probability.

        The mask may differ from the label map, which contains the most probable label at each
        voxel, where probabilities are far from 0 and 1. By default the largest label that occurs is
        used.
        """
    def GetLabelImage(self) -> Any:
        """Return the fused label map of the last Execute."""
    def GetLabels(self) -> tuple[int, ...]:
        """Return the labels that occur in the inputs of the last Execute, in increasing order."""
    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Return the float64 probability of a label at each voxel, from the last Execute.

        By default the largest label that occurs is used, i.e. the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
    def GetUncertaintyImage(self, kind: UncertaintyKind = 'entropy') -> Any:
        """Return the float32 uncertainty of each voxel from the probabilities; 0 is certain.

        Parameters
        ----------
        kind : "entropy", "disagreement" or "variance"
            Minus the sum of p ln p; 1 - largest p; or sum p (1 - p) / 2, which for two labels is
            the variance p (1 - p) of each.
        """

class ConsensusFilter(LabelFusionFilter):
    """The recommended fuser: keeps shared detail by explicit rules, and explains the result.

    The rules are as follows; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table
    on which they are based:

    1. If there is one rater, that rater's labels are returned.
    2. Raters whose contours coincide where other raters' contours differ are copies and count once.
    3. A label that more than half of the raters left empty is absent. The outline of an object is
       fused from the raters who found it, excluding outliers if the other raters agree. An object
       that no majority found is added if the raters miss the other objects often enough to make
       this plausible.
    4. The coherence vote keeps the detail that raters share and smooths the rest.
    5. Other deviations from the majority vote are reverted: components that a majority marked are
       kept, no others are added, and no rater loses more Dice than the spread between raters
       explains.

    GetCandidateImage computes other fusions of the same raters on demand.
    """
    def __init__(self, *, AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    @property
    def Choice(self) -> str:
        """The rule that made the label map."""
    def GetChoice(self) -> str:
        """The rule that made the label map."""
    @property
    def Explanation(self) -> str:
        """One paragraph: how the result was made and why, with the numbers of this case."""
    def GetExplanation(self) -> str:
        """One paragraph: how the result was made and why, with the numbers of this case."""
    @property
    def CopiedRaters(self) -> tuple[tuple[int, ...], ...]:
        """Groups of raters who are near copies of each other; each group counts once."""
    def GetCopiedRaters(self) -> tuple[tuple[int, ...], ...]:
        """Groups of raters who are near copies of each other; each group counts once."""
    @property
    def VoteDice(self) -> float:
        """Dice of the result with the plain vote, in which ties are background."""
    def GetVoteDice(self) -> float:
        """Dice of the result with the plain vote, in which ties are background."""
    @property
    def VoteIsNoise(self) -> bool:
        """Whether the vote has specks that the result does not have."""
    def GetVoteIsNoise(self) -> bool:
        """Whether the vote has specks that the result does not have."""
    @property
    def ComponentsLost(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that more than half of the raters marked and the result lacks: label, voxels, ml, and position in mm."""
    def GetComponentsLost(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that more than half of the raters marked and the result lacks: label, voxels, ml, and position in mm."""
    @property
    def ComponentsGained(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that the result has and no rater marked: label, voxels, ml, and position in mm."""
    def GetComponentsGained(self) -> tuple[ListedComponent, ...]:
        """Components of two or more voxels that the result has and no rater marked: label, voxels, ml, and position in mm."""
    @property
    def CoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    def GetCoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    @property
    def Resolution(self) -> dict[int, _Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""
    def GetResolution(self) -> dict[int, _Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""
    def GetCandidateImage(self, name: str) -> Any:
        """Return the label map of a candidate of the last Execute, computed on demand."""
    def GetCandidateNames(self) -> tuple[str, ...]:
        """Return the names of the candidates of the last Execute."""

class CoherenceVoteFilter(LabelFusionFilter):
    """Majority vote smoothed only where raters do not share its detail.

    Every rater's mask is decomposed into scale bands. Bands are kept where those of different
    raters correlate, and removed elsewhere; the threshold for the contour lies between the mean
    vote shares inside and outside. GetResolution returns the finest scale, in mm, at which the
    raters agree. The scales are multiples of the smallest voxel side, so there are no parameters to
    tune. Probability inputs are treated as masks with values between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` compares this filter with other fusers.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    @property
    def CoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    def GetCoherenceCurves(self) -> dict[int, CoherenceCurve]:
        """For each disputed label: the share of detail that raters have in common, and the scales in mm at which it was measured."""
    @property
    def Resolution(self) -> dict[int, _Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""
    def GetResolution(self) -> dict[int, _Resolution]:
        """For each disputed label: the scale in mm at which raters share half of their detail; '<=' if they do so at the finest scale measured, '>=' if not even at the coarsest."""

class STAPLEImageFilter(LabelFusionFilter):
    """Foreground probability and each rater's sensitivity and specificity, estimated by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and results. Execute returns the
    float64 foreground probability; GetLabelImage() returns the label map (probability >= 0.5).
    Probability images among the inputs count as fractional votes; EM then runs from a single start.
    """
    def __init__(self, *, Prior: float | _Image | None = ..., prior: float | _Image | None = ..., ConfidenceWeight: float = ..., confidenceWeight: float = ..., confidence_weight: float = ..., ForegroundValue: float = ..., foregroundValue: float = ..., foreground_value: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., SensitivityPrior: Sequence[float] = ..., sensitivityPrior: Sequence[float] = ..., sensitivity_prior: Sequence[float] = ..., SpecificityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., SmoothnessWeight: float | str = ..., smoothnessWeight: float | str = ..., smoothness_weight: float | str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Prior: float | _Image | None
    def SetPrior(self, value: float | _Image | None) -> None:
        """Foreground prior: a number, or a probability image on the inputs' grid. Default: mean of the masks."""
    def GetPrior(self) -> float | _Image | None:
        """Foreground prior: a number, or a probability image on the inputs' grid."""
    ConfidenceWeight: float
    def SetConfidenceWeight(self, value: float) -> None:
        """Scales the prior, which is the mean of the masks. Default: 1.0."""
    def GetConfidenceWeight(self) -> float:
        """Scales the prior, which is the mean of the masks."""
    ForegroundValue: float
    def SetForegroundValue(self, value: float) -> None:
        """The pixel value that is foreground; every other value is background. Default: 1.0."""
    def GetForegroundValue(self) -> float:
        """The pixel value that is foreground; every other value is background."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-07."""
    def GetTolerance(self) -> float:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    SensitivityPrior: Sequence[float]
    def SetSensitivityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts. Default: from Variant."""
    def GetSensitivityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts."""
    SpecificityPrior: Sequence[float]
    def SetSpecificityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the specificities. Default: from Variant."""
    def GetSpecificityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the specificities."""
    Initialization: str
    def SetInitialization(self, value: str) -> None:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance). Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance)."""
    SmoothnessWeight: float | str
    def SetSmoothnessWeight(self, value: float | str) -> None:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field. Default: 0.0."""
    def GetSmoothnessWeight(self) -> float | str:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field."""
    Variant: str
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    ExcludeConsensusVoxels: bool
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    EstimatePrior: bool
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    PriorPseudoCounts: float | Sequence[float]
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first)."""
    StopCriterion: str
    def SetStopCriterion(self, value: str) -> None:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats). Default: parameters."""
    def GetStopCriterion(self) -> str:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats)."""
    InitialPerformance: float
    def SetInitialPerformance(self, value: float) -> None:
        """Initial probability of the right label with Initialization theta. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Initial probability of the right label with Initialization theta."""
    Damping: float
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    NumberOfInitializations: int
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    RandomSeed: int
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    InitializationRange: Sequence[float]
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    @property
    def EstimatedPrior(self) -> float:
        """Foreground prior at the end."""
    def GetEstimatedPrior(self) -> float:
        """Foreground prior at the end."""
    @property
    def Sensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @overload
    def GetSensitivity(self, rater: int) -> float: ...
    @overload
    def GetSensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @property
    def Specificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    @overload
    def GetSpecificity(self, rater: int) -> float: ...
    @overload
    def GetSpecificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    @property
    def PositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    def GetPositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    @property
    def NegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    def GetNegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    @property
    def EstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    def GetEstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    @property
    def ElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    @property
    def Converged(self) -> bool:
        """Whether the stop rule was met."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    @property
    def LogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    @property
    def LogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    @property
    def LogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    @property
    def Starts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""

class MultiLabelSTAPLEImageFilter(LabelFusionFilter):
    """Label map, label probabilities and each rater's confusion matrix, estimated by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``; where the released wheels have a bug, it
    follows ITK's main branch.
    """
    def __init__(self, *, TerminationUpdateThreshold: float = ..., terminationUpdateThreshold: float = ..., termination_update_threshold: float = ..., MaximumNumberOfIterations: int = ..., maximumNumberOfIterations: int = ..., maximum_number_of_iterations: int = ..., PriorProbabilities: Mapping[int, float] | Sequence[float] = ..., priorProbabilities: Mapping[int, float] | Sequence[float] = ..., prior_probabilities: Mapping[int, float] | Sequence[float] = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., SmoothnessWeight: float | str = ..., smoothnessWeight: float | str = ..., smoothness_weight: float | str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    TerminationUpdateThreshold: float
    def SetTerminationUpdateThreshold(self, value: float) -> None:
        """EM stops when no element of a confusion matrix changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-05."""
    def GetTerminationUpdateThreshold(self) -> float:
        """EM stops when no element of a confusion matrix changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    MaximumNumberOfIterations: int
    def SetMaximumNumberOfIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumNumberOfIterations(self) -> int:
        """Maximum number of EM iterations."""
    def UnsetMaximumNumberOfIterations(self) -> None:
        """Take MaximumNumberOfIterations back to its default."""
    def GetHasMaximumNumberOfIterations(self) -> bool:
        """Whether MaximumNumberOfIterations was set."""
    PriorProbabilities: Mapping[int, float] | Sequence[float]
    def SetPriorProbabilities(self, value: Mapping[int, float] | Sequence[float]) -> None:
        """Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is ignored), or {label: probability}. Default: label frequencies."""
    def GetPriorProbabilities(self) -> Mapping[int, float] | Sequence[float]:
        """Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is ignored), or {label: probability}."""
    def UnsetPriorProbabilities(self) -> None:
        """Take PriorProbabilities back to its default."""
    def GetHasPriorProbabilities(self) -> bool:
        """Whether PriorProbabilities was set."""
    PseudoCounts: Sequence[float]
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: from Variant."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    Initialization: str
    def SetInitialization(self, value: str) -> None:
        """First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the last one matches SimpleITK 2.5 on tied voxels, too. Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta; the last one matches SimpleITK 2.5 on tied voxels, too."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    SmoothnessWeight: float | str
    def SetSmoothnessWeight(self, value: float | str) -> None:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field. Default: 0.0."""
    def GetSmoothnessWeight(self) -> float | str:
        """Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field in place of the prior); 2 is recommended, with Variant advanced; 0: no field."""
    Variant: str
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    ExcludeConsensusVoxels: bool
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    EstimatePrior: bool
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    PriorPseudoCounts: float | Sequence[float]
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first)."""
    StopCriterion: str
    def SetStopCriterion(self, value: str) -> None:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats). Default: parameters."""
    def GetStopCriterion(self) -> str:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats)."""
    InitialPerformance: float
    def SetInitialPerformance(self, value: float) -> None:
        """Initial probability of the right label with Initialization theta. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Initial probability of the right label with Initialization theta."""
    Damping: float
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    NumberOfInitializations: int
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    RandomSeed: int
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    InitializationRange: Sequence[float]
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    @property
    def EstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    @property
    def ConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true], as GetLabels()."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true], as GetLabels()."""
    @property
    def EstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    def GetEstimatedSmoothnessWeight(self) -> float:
        """Weight of the Potts field at the end; 0 without one."""
    @property
    def ElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    @property
    def Converged(self) -> bool:
        """Whether the stop rule was met."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    @property
    def LogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    @property
    def LogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    @property
    def LogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    @property
    def Starts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def GetConfusionMatrix(self, rater: int) -> tuple[float, ...]:
        """Return a rater's flat (L+1) x L matrix [observed][true], as in SimpleITK.

        L is the largest label + 1.

        With labels above 255 or negative labels this size is not meaningful; the flattened
        GetConfusionTable is returned instead.
        """
    def GetConfusionTable(self, rater: int) -> NDArray[float64]:
        """Return a rater's confusion matrix [observed, true], in the order of GetLabels()."""

class LabelVotingImageFilter(LabelFusionFilter):
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.
    """
    def __init__(self, *, LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""

class MajorityVoteFilter(LabelFusionFilter):
    """Majority vote with optional threshold, weights, tie rule and smoothing.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian before the decision, which is
    the strongest simple baseline known to us. Probability inputs count as fractional votes; without
    smoothing their vote share is their mean.
    """
    def __init__(self, *, Threshold: float | None = ..., threshold: float | None = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., SmoothingSigma: float = ..., smoothingSigma: float = ..., smoothing_sigma: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Threshold: float | None
    def SetThreshold(self, value: float | None) -> None:
        """A label needs more than this share of the votes; None: more votes than any other label. Default: none."""
    def GetThreshold(self) -> float | None:
        """A label needs more than this share of the votes; None: more votes than any other label."""
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    SmoothingSigma: float
    def SetSmoothingSigma(self, value: float) -> None:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none. Default: 0.0."""
    def GetSmoothingSigma(self) -> float:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    @property
    def SmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""
    def GetSmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""

class CorrectedVoteFilter(LabelFusionFilter):
    """Smoothed vote shares, corrected for the raters' mean sensitivity and specificity.

    For noisy raters its contours are closer to the truth than those of the smoothed vote. Like the
    smoothed vote, it erodes thin structures, except for unanimous voxels.
    ``examples/benchmarks/methods/evidence_table.py`` compares both in every setting. Probabilities
    are vote shares.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., SmoothingSigma: float = ..., smoothingSigma: float = ..., smoothing_sigma: float = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    SmoothingSigma: float
    def SetSmoothingSigma(self, value: float) -> None:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none. Default: 1.0."""
    def GetSmoothingSigma(self) -> float:
        """Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    @property
    def VoteShares(self) -> NDArray[float64]:
        """(labels, labels): mean share of votes for the row's label where the smoothed vote is the column's, away from contours; NaN if it never is."""
    def GetVoteShares(self) -> NDArray[float64]:
        """(labels, labels): mean share of votes for the row's label where the smoothed vote is the column's, away from contours; NaN if it never is."""
    @property
    def SmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""
    def GetSmoothingSigmaInMillimetres(self) -> float:
        """Standard deviation of the smoothing of the votes in mm, the same on every axis."""

class COLLATEFilter(LabelFusionFilter):
    """Joint estimation of consensus level, labeler accuracy and truth (COLLATE), by EM.

    A voxel is either easy, so that raters rarely err there, or hard, so that each rater errs
    according to a confusion matrix. The filter estimates which voxels are easy, so the matrices
    describe only hard voxels, however large the easy background is. If raters err often, even a
    unanimous vote may be overruled.
    """
    def __init__(self, *, ConsensusLevels: Sequence[float] = ..., consensusLevels: Sequence[float] = ..., consensus_levels: Sequence[float] = ..., ErrorRate: float = ..., errorRate: float = ..., error_rate: float = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., Tolerance: float = ..., tolerance: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    ConsensusLevels: Sequence[float]
    def SetConsensusLevels(self, value: Sequence[float]) -> None:
        """How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior. Default: (0.0, 1.0)."""
    def GetConsensusLevels(self) -> Sequence[float]:
        """How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1 only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior."""
    ErrorRate: float
    def SetErrorRate(self, value: float) -> None:
        """Probability that a rater errs where a voxel is easy. Default: 0.0001."""
    def GetErrorRate(self) -> float:
        """Probability that a rater errs where a voxel is easy."""
    PseudoCounts: Sequence[float]
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: (2.0, 0.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    Prior: float | Mapping[int, float] | None
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: estimated."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """EM stops when no element of a confusion matrix changes by more than this. Default: 1e-10."""
    def GetTolerance(self) -> float:
        """EM stops when no element of a confusion matrix changes by more than this."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: 10000."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def ElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    def GetElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    @property
    def Converged(self) -> bool:
        """Whether EM converged."""
    def GetConverged(self) -> bool:
        """Whether EM converged."""
    @property
    def LogPosteriorTrace(self) -> tuple[float, ...]:
        """Log posterior after each iteration."""
    def GetLogPosteriorTrace(self) -> tuple[float, ...]:
        """Log posterior after each iteration."""
    @property
    def LevelShares(self) -> tuple[float, ...]:
        """Estimated share of the voxels at each of ConsensusLevels."""
    def GetLevelShares(self) -> tuple[float, ...]:
        """Estimated share of the voxels at each of ConsensusLevels."""
    @property
    def EstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Label prior at the end, in the order of GetLabels()."""
    @property
    def ConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] at hard voxels."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] at hard voxels."""
    def GetLevelImage(self, level: int = 0) -> Any:
        """Return the probability image (float64) of a voxel being at ConsensusLevels[level]."""

class DirectInferenceFilter(LabelFusionFilter):
    """Find the label map with the highest evidence p(t, D), with rater confusions integrated out.

    Accepts label images with arbitrary label values. GetProbabilityImage returns a voxel's marginal
    posterior if NumberOfSamples is set, otherwise its conditional posterior given the rest of the
    map; the label map is the map with the highest evidence in both cases.
    """
    def __init__(self, *, PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., NumberOfSamples: int = ..., numberOfSamples: int = ..., number_of_samples: int = ..., BurnIn: int = ..., burnIn: int = ..., burn_in: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    PseudoCounts: Sequence[float]
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared by the other labels) in each column. Default: (4.0, 2.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it (shared by the other labels) in each column."""
    PriorPseudoCounts: float | Sequence[float]
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of the label prior: counts added to every label, or one number per label in ascending order (background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of the label prior: counts added to every label, or one number per label in ascending order (background first)."""
    NumberOfInitializations: int
    def SetNumberOfInitializations(self, value: int) -> None:
        """EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are always tried. Default: 5."""
    def GetNumberOfInitializations(self) -> int:
        """EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds are always tried."""
    NumberOfSamples: int
    def SetNumberOfSamples(self, value: int) -> None:
        """Gibbs samples, for marginal probabilities and performance; 0: none. Default: 0."""
    def GetNumberOfSamples(self) -> int:
        """Gibbs samples, for marginal probabilities and performance; 0: none."""
    BurnIn: int
    def SetBurnIn(self, value: int) -> None:
        """Gibbs samples discarded at the beginning. Default: 100."""
    def GetBurnIn(self) -> int:
        """Gibbs samples discarded at the beginning."""
    RandomSeed: int
    def SetRandomSeed(self, value: int) -> None:
        """Seed of EM's random starts and of the samples. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of EM's random starts and of the samples."""
    @property
    def LogEvidence(self) -> float:
        """log p(t, D) of the label map."""
    def GetLogEvidence(self) -> float:
        """log p(t, D) of the label map."""
    @property
    def LogEvidences(self) -> tuple[float, ...]:
        """Log evidence that each start reached."""
    def GetLogEvidences(self) -> tuple[float, ...]:
        """Log evidence that each start reached."""
    @property
    def StartNames(self) -> tuple[str, ...]:
        """Name of each start: a vote, or the variant and number of an EM start."""
    def GetStartNames(self) -> tuple[str, ...]:
        """Name of each start: a vote, or the variant and number of an EM start."""
    @property
    def WinningStart(self) -> str:
        """The start that led to the label map."""
    def GetWinningStart(self) -> str:
        """The start that led to the label map."""
    @property
    def ExactOptimum(self) -> bool:
        """Whether all maps were tried, so that none can have a higher evidence."""
    def GetExactOptimum(self) -> bool:
        """Whether all maps were tried, so that none can have a higher evidence."""
    @property
    def Starts(self) -> StartSummary:
        """Evidence, rounds, trace and overlap with the others, for each start."""
    def GetStarts(self) -> StartSummary:
        """Evidence, rounds, trace and overlap with the others, for each start."""
    @property
    def ConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): posterior mean of [rater, observed, true], as GetLabels()."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): posterior mean of [rater, observed, true], as GetLabels()."""
    @property
    def PerformanceDeviations(self) -> NDArray[float64]:
        """(raters, labels): posterior standard deviation of the confusions' diagonal; without samples it is conditional on the label map, and so too small."""
    def GetPerformanceDeviations(self) -> NDArray[float64]:
        """(raters, labels): posterior standard deviation of the confusions' diagonal; without samples it is conditional on the label map, and so too small."""
    @property
    def PerformanceQuantiles(self) -> NDArray[float64]:
        """(raters, labels, 3): posterior quantiles .025, .5 and .975 of the confusions' diagonal."""
    def GetPerformanceQuantiles(self) -> NDArray[float64]:
        """(raters, labels, 3): posterior quantiles .025, .5 and .975 of the confusions' diagonal."""
    @property
    def EstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Posterior mean of the label prior, in the order of GetLabels()."""
    def GetEstimatedPriorProbabilities(self) -> tuple[float, ...]:
        """Posterior mean of the label prior, in the order of GetLabels()."""
    @property
    def SamplingError(self) -> float:
        """Largest Monte-Carlo standard error of the probabilities; NaN unless sampled."""
    def GetSamplingError(self) -> float:
        """Largest Monte-Carlo standard error of the probabilities; NaN unless sampled."""

class SpatialSTAPLEFilter(LabelFusionFilter):
    """Label map, and each rater's confusion matrix at every voxel, estimated by EM over windows.

    Accepts label images with arbitrary label values. Performance is estimated in a box with a half
    width of `WindowRadius` mm around each voxel. Voxels at which all raters agree keep their label.
    """
    def __init__(self, *, WindowRadius: float = ..., windowRadius: float = ..., window_radius: float = ..., Kappa: float = ..., kappa: float = ..., RegularizationTarget: str = ..., regularizationTarget: str = ..., regularization_target: str = ..., DiagonalTarget: float = ..., diagonalTarget: float = ..., diagonal_target: float = ..., PseudoCounts: Sequence[float] = ..., pseudoCounts: Sequence[float] = ..., pseudo_counts: Sequence[float] = ..., PriorMode: str = ..., priorMode: str = ..., prior_mode: str = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    WindowRadius: float
    def SetWindowRadius(self, value: float) -> None:
        """Half width, in mm, of the box over which performance is pooled. Default: 20.0."""
    def GetWindowRadius(self) -> float:
        """Half width, in mm, of the box over which performance is pooled."""
    Kappa: float
    def SetKappa(self, value: float) -> None:
        """Strength of the regularisation where a rater rarely used a label: 0 uses the window alone, a very large value the target alone. Default: 0.01."""
    def GetKappa(self) -> float:
        """Strength of the regularisation where a rater rarely used a label: 0 uses the window alone, a very large value the target alone."""
    RegularizationTarget: str
    def SetRegularizationTarget(self, value: str) -> None:
        """Performance that sparse data are pulled towards: global (the rater's over all voxels; diagonal if the mean rater is below chance there), uniform (chance) or diagonal (DiagonalTarget). Default: diagonal."""
    def GetRegularizationTarget(self) -> str:
        """Performance that sparse data are pulled towards: global (the rater's over all voxels; diagonal if the mean rater is below chance there), uniform (chance) or diagonal (DiagonalTarget)."""
    DiagonalTarget: float
    def SetDiagonalTarget(self, value: float) -> None:
        """Probability of the right label in the regularisation target diagonal. Default: 0.9."""
    def GetDiagonalTarget(self) -> float:
        """Probability of the right label in the regularisation target diagonal."""
    PseudoCounts: Sequence[float]
    def SetPseudoCounts(self, value: Sequence[float]) -> None:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal. Default: (2.0, 0.0)."""
    def GetPseudoCounts(self) -> Sequence[float]:
        """Dirichlet prior of the confusion matrices: counts added on and off the diagonal."""
    PriorMode: str
    def SetPriorMode(self, value: str) -> None:
        """Label prior: the mean posterior in the window (local), over all voxels (global; may lose small labels), or Prior (fixed). Default: local, or fixed with Prior."""
    def GetPriorMode(self) -> str:
        """Label prior: the mean posterior in the window (local), over all voxels (global; may lose small labels), or Prior (fixed)."""
    Prior: float | Mapping[int, float] | None
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: equal shares."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: 200."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """EM stops when the posterior of disputed voxels changes by less than this on average. Default: 0.0001."""
    def GetTolerance(self) -> float:
        """EM stops when the posterior of disputed voxels changes by less than this on average."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def ElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    def GetElapsedIterations(self) -> int:
        """Iterations of EM that were run."""
    @property
    def Converged(self) -> bool:
        """Whether the tolerance was met."""
    def GetConverged(self) -> bool:
        """Whether the tolerance was met."""
    @property
    def LogLikelihoodTrace(self) -> tuple[float, ...]:
        """Log likelihood of the disputed voxels' votes in each iteration."""
    def GetLogLikelihoodTrace(self) -> tuple[float, ...]:
        """Log likelihood of the disputed voxels' votes in each iteration."""
    @property
    def ChangeTrace(self) -> tuple[float, ...]:
        """Mean change of the disputed voxels' posteriors in each iteration."""
    def GetChangeTrace(self) -> tuple[float, ...]:
        """Mean change of the disputed voxels' posteriors in each iteration."""
    @property
    def RegularizationTargetTaken(self) -> str:
        """RegularizationTarget; diagonal where global was invalid."""
    def GetRegularizationTargetTaken(self) -> str:
        """RegularizationTarget; diagonal where global was invalid."""
    @property
    def ConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] over all voxels, as GetLabels()."""
    def GetConfusionTables(self) -> NDArray[float64]:
        """(raters, labels, labels): [rater, observed, true] over all voxels, as GetLabels()."""
    def GetConfusionField(self, rater: int, observed: int, true: int) -> Any:
        """Return a float32 image of the probability that a rater votes `observed` given `true`."""
    def GetSensitivityField(self, rater: int) -> Any:
        """Return an image of the probability of voting the higher label where it is correct."""
    def GetSpecificityField(self, rater: int) -> Any:
        """Return an image of the probability of voting the lower label where it is correct."""

class ShapeBasedAveragingFilter(LabelFusionFilter):
    """Assigns each voxel to the label with the smallest mean signed distance over the raters.

    Distances are in mm. For a rater who did not draw a label at all, the largest distance of the
    others is used. GetProbabilityImage converts mean distances to log odds: `ProbabilityScale` mm
    correspond to a factor of e. Where all raters agree the probability is 1.
    """
    def __init__(self, *, TrimFraction: float = ..., trimFraction: float = ..., trim_fraction: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., ProbabilityScale: float = ..., probabilityScale: float = ..., probability_scale: float = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    TrimFraction: float
    def SetTrimFraction(self, value: float) -> None:
        """Fraction of the distances that is left out of the average at each end. Default: 0.0."""
    def GetTrimFraction(self) -> float:
        """Fraction of the distances that is left out of the average at each end."""
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do with voxels that are equally far from two labels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with voxels that are equally far from two labels."""
    ProbabilityScale: float
    def SetProbabilityScale(self, value: float) -> None:
        """Difference of mean distances, in mm, that changes the odds of two labels by a factor e. Default: 1.0."""
    def GetProbabilityScale(self) -> float:
        """Difference of mean distances, in mm, that changes the odds of two labels by a factor e."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""

class FrechetConsensusFilter(LabelFusionFilter):
    """The label map closest to all raters at once, as measured by Dice or Jaccard.

    Each label is fused against all others; a voxel in the masks of several labels is assigned to
    the label with the most votes. Voxels with the same votes have the same label. Missing votes are
    replaced by the majority vote of the others. The probability of the assigned label is 1.
    """
    def __init__(self, *, Measure: str = ..., measure: str = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Measure: str
    def SetMeasure(self, value: str) -> None:
        """The overlap to maximise. Default: dice."""
    def GetMeasure(self) -> str:
        """The overlap to maximise."""
    @property
    def MeanOverlaps(self) -> dict[int, float]:
        """Mean overlap of the map with the raters, for every label but the first."""
    def GetMeanOverlaps(self) -> dict[int, float]:
        """Mean overlap of the map with the raters, for every label but the first."""

class SIMPLEFilter(LabelFusionFilter):
    """Iterated vote in which raters are weighted by their overlap with the consensus.

    A rater's weight is the Dice overlap with the vote over the whole image; raters with an overlap
    far below that of the others, or without any overlap, are dropped (Langerak et al. 2010).
    """
    def __init__(self, *, Deviations: float = ..., deviations: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Deviations: float
    def SetDeviations(self, value: float) -> None:
        """Standard deviations below the mean overlap at which a rater is dropped. Default: 2.0."""
    def GetDeviations(self) -> float:
        """Standard deviations below the mean overlap at which a rater is dropped."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of iterations. Default: 10."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of iterations."""
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def Weights(self) -> tuple[float, ...]:
        """Weight of each rater: its Dice overlap with the vote."""
    def GetWeights(self) -> tuple[float, ...]:
        """Weight of each rater: its Dice overlap with the vote."""
    @property
    def DroppedRaters(self) -> tuple[int, ...]:
        """Raters that were dropped, counted from 0."""
    def GetDroppedRaters(self) -> tuple[int, ...]:
        """Raters that were dropped, counted from 0."""
    @property
    def Trace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    def GetTrace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    @property
    def Converged(self) -> bool:
        """Whether the selection became stable."""
    def GetConverged(self) -> bool:
        """Whether the selection became stable."""

class BoundarySIMPLEFilter(LabelFusionFilter):
    """Vote in which raters are weighted at each voxel by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.
    """
    def __init__(self, *, Image: _Image | None = ..., image: _Image | None = ..., PatchRadius: float | None = ..., patchRadius: float | None = ..., patch_radius: float | None = ..., LocalWeight: float = ..., localWeight: float = ..., local_weight: float = ..., EdgeBoost: float = ..., edgeBoost: float = ..., edge_boost: float = ..., EdgeScale: float = ..., edgeScale: float = ..., edge_scale: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Image: _Image | None
    def SetImage(self, value: _Image | None) -> None:
        """Intensity image whose edges raise the weight of raters who follow them. Default: None."""
    def GetImage(self) -> _Image | None:
        """Intensity image whose edges raise the weight of raters who follow them."""
    PatchRadius: float | None
    def SetPatchRadius(self, value: float | None) -> None:
        """Half width, in mm, of the patch in which raters are compared. Default: 3 smallest voxel sides."""
    def GetPatchRadius(self) -> float | None:
        """Half width, in mm, of the patch in which raters are compared."""
    LocalWeight: float
    def SetLocalWeight(self, value: float) -> None:
        """Share of the local agreement in a weight; the rest is the rater's mean agreement. Default: 0.8."""
    def GetLocalWeight(self) -> float:
        """Share of the local agreement in a weight; the rest is the rater's mean agreement."""
    EdgeBoost: float
    def SetEdgeBoost(self, value: float) -> None:
        """Factor on the weight of a rater whose contour follows an edge of the image; 1: off. Default: 5.0."""
    def GetEdgeBoost(self) -> float:
        """Factor on the weight of a rater whose contour follows an edge of the image; 1: off."""
    EdgeScale: float
    def SetEdgeScale(self, value: float) -> None:
        """Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides. Default: 1.0."""
    def GetEdgeScale(self) -> float:
        """Standard deviation of the smoothing of Image before its gradient, in smallest voxel sides."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of iterations. Default: 10."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of iterations."""
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """Stop when label shares of disputed voxels change by less than this on average. Default: 1e-05."""
    def GetTolerance(self) -> float:
        """Stop when label shares of disputed voxels change by less than this on average."""
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do with tied voxels. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do with tied voxels."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def Weights(self) -> tuple[float, ...]:
        """Mean weight of each rater over disputed voxels; they sum to 1."""
    def GetWeights(self) -> tuple[float, ...]:
        """Mean weight of each rater over disputed voxels; they sum to 1."""
    @property
    def Trace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    def GetTrace(self) -> tuple[float, ...]:
        """Mean change of the label shares of disputed voxels per iteration."""
    @property
    def Converged(self) -> bool:
        """Whether the consensus became stable."""
    def GetConverged(self) -> bool:
        """Whether the consensus became stable."""

class LogOpinionPoolFilter(LabelFusionFilter):
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of integer type are label images. If any input has a floating-point type, all inputs are
    foreground probabilities from 0 to 1, and masks among them have values 0 and 1; label images
    stored as floats must be cast. Vector images of floating-point type, lists of one image per
    class, and arrays with `ClassAxis` are class probabilities. Probabilities are clipped according
    to `ErrorRate`. To use a spatially varying prior, add it as another probability image with
    weight T.
    """
    def __init__(self, *, RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., Temperature: float | Sequence[float] = ..., temperature: float | Sequence[float] = ..., Prior: float | Mapping[int, float] | None = ..., prior: float | Mapping[int, float] | None = ..., ErrorRate: float = ..., errorRate: float = ..., error_rate: float = ..., TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Exponent of each rater's opinion. Default: equal, sum 1."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Exponent of each rater's opinion."""
    Temperature: float | Sequence[float]
    def SetTemperature(self, value: float | Sequence[float]) -> None:
        """Divides the exponents; one number, or one per rater. Above 1 the result is less certain. Default: 1.0."""
    def GetTemperature(self) -> float | Sequence[float]:
        """Divides the exponents; one number, or one per rater. Above 1 the result is less certain."""
    Prior: float | Mapping[int, float] | None
    def SetPrior(self, value: float | Mapping[int, float] | None) -> None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}. Default: equal shares."""
    def GetPrior(self) -> float | Mapping[int, float] | None:
        """Fixed label prior: probability of the higher of two labels, or {label: probability}."""
    ErrorRate: float
    def SetErrorRate(self, value: float) -> None:
        """Probability that a label is wrong; probabilities stay this far from 0 and 1. Default: 0.05."""
    def GetErrorRate(self) -> float:
        """Probability that a label is wrong; probabilities stay this far from 0 and 1."""
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do where labels are equally probable. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do where labels are equally probable."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""

class ProbabilityAverageFilter(LabelFusionFilter):
    """Weighted mean of class probabilities, and the label with the highest mean.

    This is the usual way to combine an ensemble. Label images count as probabilities 0 and 1, so
    for label images the result is the majority vote. Inputs are vector images or lists of one image
    per class, whose probabilities sum to 1; arrays with `ClassAxis`; or scalar images of
    floating-point type, which contain the foreground probability.
    """
    def __init__(self, *, TieRule: str = ..., tieRule: str = ..., tie_rule: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    TieRule: str
    def SetTieRule(self, value: str) -> None:
        """What to do where labels are equally probable. Default: undecided."""
    def GetTieRule(self) -> str:
        """What to do where labels are equally probable."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""

class HybridFusionFilter(LabelFusionFilter):
    """Uses one fuser in a band around the contour, and the interior fuser everywhere else.

    Both fusers are filters with their own parameters; GetBoundaryResult() and GetInteriorResult()
    return their results. They receive the same images, and the hybrid's mask, missing label,
    tolerances and threads if set. The interior may also be a given image (InteriorImage), or a
    trained DeepConsensusFilter, which reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())
    """
    def __init__(self, *, InteriorFilter: LabelFusionFilter | None = ..., interiorFilter: LabelFusionFilter | None = ..., interior_filter: LabelFusionFilter | None = ..., InteriorImage: _Image | None = ..., interiorImage: _Image | None = ..., interior_image: _Image | None = ..., Image: _Image | None = ..., image: _Image | None = ..., BoundaryFilter: LabelFusionFilter | None = ..., boundaryFilter: LabelFusionFilter | None = ..., boundary_filter: LabelFusionFilter | None = ..., BandWidth: float | None = ..., bandWidth: float | None = ..., band_width: float | None = ..., BandContour: str = ..., bandContour: str = ..., band_contour: str = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    InteriorFilter: LabelFusionFilter | None
    def SetInteriorFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser used away from the contour. Default: MajorityVoteFilter()."""
    def GetInteriorFilter(self) -> LabelFusionFilter | None:
        """Fuser used away from the contour."""
    InteriorImage: _Image | None
    def SetInteriorImage(self, value: _Image | None) -> None:
        """Image used away from the contour instead of a fuser: a label image or, for two labels, the probability of the higher one, e.g. a network's. Default: None."""
    def GetInteriorImage(self) -> _Image | None:
        """Image used away from the contour instead of a fuser: a label image or, for two labels, the probability of the higher one, e.g. a network's."""
    Image: _Image | None
    def SetImage(self, value: _Image | None) -> None:
        """The image the labels were drawn on, for an InteriorFilter that reads it. Default: None."""
    def GetImage(self) -> _Image | None:
        """The image the labels were drawn on, for an InteriorFilter that reads it."""
    BoundaryFilter: LabelFusionFilter | None
    def SetBoundaryFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser used in the band. Default: ConsensusFilter()."""
    def GetBoundaryFilter(self) -> LabelFusionFilter | None:
        """Fuser used in the band."""
    BandWidth: float | None
    def SetBandWidth(self, value: float | None) -> None:
        """Half width of the band around the contour, in mm. Default: 3 smallest voxel sides."""
    def GetBandWidth(self) -> float | None:
        """Half width of the band around the contour, in mm."""
    BandContour: str
    def SetBandContour(self, value: str) -> None:
        """The contour that the band follows: the majority vote's or the interior fuser's. Default: vote."""
    def GetBandContour(self) -> str:
        """The contour that the band follows: the majority vote's or the interior fuser's."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def BandVoxels(self) -> int:
        """Number of voxels in the band."""
    def GetBandVoxels(self) -> int:
        """Number of voxels in the band."""
    def GetBoundaryResult(self) -> FusionResult[Any]:
        """Return the boundary filter's result of the last Execute."""
    def GetInteriorResult(self) -> FusionResult[Any]:
        """Return the interior filter's result of the last Execute, or the interior image."""

class InstanceConsensusFilter(LabelFusionFilter):
    """Object-by-object fusion: match the raters' marks, test which are real, fuse the outlines.

    Raters of lesions, nodules or cells first find objects and then outline them. Accordingly, marks
    of different raters are matched first; then a detection model estimates the probability that
    each object is real; finally each outline is fused from the raters who found the object. Inputs
    are masks, whose connected components are objects, or instance maps, whose labels need not
    correspond between raters. The output is an instance map, with labels sorted by the number of
    raters who found an object, or a mask. A voxel's probability is the product of the probability
    that its object is real and the probability that the voxel is inside the object, adjusted to
    exceed one half exactly inside the output's objects.
    """
    def __init__(self, *, OutputMap: str = ..., outputMap: str = ..., output_map: str = ..., InputObjects: str = ..., inputObjects: str = ..., input_objects: str = ..., DetectionThreshold: float = ..., detectionThreshold: float = ..., detection_threshold: float = ..., MatchDistance: float | None = ..., matchDistance: float | None = ..., match_distance: float | None = ..., OutlineFilter: LabelFusionFilter | None = ..., outlineFilter: LabelFusionFilter | None = ..., outline_filter: LabelFusionFilter | None = ..., Cohort: Sequence[LesionTable] | None = ..., cohort: Sequence[LesionTable] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    OutputMap: str
    def SetOutputMap(self, value: str) -> None:
        """Whether each object has its own label in the output (instances), or all have label 1. Default: instances."""
    def GetOutputMap(self) -> str:
        """Whether each object has its own label in the output (instances), or all have label 1."""
    InputObjects: str
    def SetInputObjects(self, value: str) -> None:
        """Whether an object of a rater is one connected component of a label, or all voxels with the same label. Default: components."""
    def GetInputObjects(self) -> str:
        """Whether an object of a rater is one connected component of a label, or all voxels with the same label."""
    DetectionThreshold: float
    def SetDetectionThreshold(self, value: float) -> None:
        """Objects are kept if their probability of being real is at least this. Default: 0.5."""
    def GetDetectionThreshold(self) -> float:
        """Objects are kept if their probability of being real is at least this."""
    MatchDistance: float | None
    def SetMatchDistance(self, value: float | None) -> None:
        """Maximum distance in mm at which small marks that share no voxel are matched. Default: diagonal of a voxel."""
    def GetMatchDistance(self) -> float | None:
        """Maximum distance in mm at which small marks that share no voxel are matched."""
    OutlineFilter: LabelFusionFilter | None
    def SetOutlineFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser that draws the outlines, from the masks of each object's finders. Default: CoherenceVoteFilter()."""
    def GetOutlineFilter(self) -> LabelFusionFilter | None:
        """Fuser that draws the outlines, from the masks of each object's finders."""
    Cohort: Sequence[LesionTable] | None
    def SetCohort(self, value: Sequence[LesionTable] | None) -> None:
        """Tables of other cases of the same raters, from match_lesions: detection rates are estimated from all cases. Default: None."""
    def GetCohort(self) -> Sequence[LesionTable] | None:
        """Tables of other cases of the same raters, from match_lesions: detection rates are estimated from all cases."""
    @property
    def Objects(self) -> LesionTable:
        """The objects: the raters who marked each, its probability, position and volumes, and the raters who split or joined it; with to_csv, to_json and to_frame."""
    def GetObjects(self) -> LesionTable:
        """The objects: the raters who marked each, its probability, position and volumes, and the raters who split or joined it; with to_csv, to_json and to_frame."""
    @property
    def Detection(self) -> tuple[ReaderDetection, ...]:
        """For each rater the number of objects it marked, and of those nobody else marked, its sensitivity and its false marks per case, with 95 % intervals."""
    @overload
    def GetDetection(self, rater: int) -> ReaderDetection: ...
    @overload
    def GetDetection(self) -> tuple[ReaderDetection, ...]:
        """For each rater the number of objects it marked, and of those nobody else marked, its sensitivity and its false marks per case, with 95 % intervals."""
    def GetMatchedImages(self) -> list[Any]:
        """Return the raters' maps, relabelled by consensus object; None for a missing rater."""

class IntensityRefinementFilter(LabelFusionFilter):
    """Refines a fuser's result with image intensities where raters disagree, without training data.

    The intensity distribution of each label is learned from voxels on which all raters agree;
    around a disputed voxel it gives the likelihood of the voxel's intensity under each label. The
    exponent of the likelihood is chosen by cross-validation over raters: if intensities do not
    improve the prediction of each rater from the others, the exponent is 0 and the result is that
    of the fuser, which GetFilterResult() returns. At least three raters are needed to hold one out.

    >>> refined = IntensityRefinementFilter(Image=ct).Execute(raters)
    """
    def __init__(self, *, Image: _Image | None = ..., image: _Image | None = ..., Filter: LabelFusionFilter | None = ..., filter: LabelFusionFilter | None = ..., IntensitySigma: float | None = ..., intensitySigma: float | None = ..., intensity_sigma: float | None = ..., LabelForUndecidedPixels: int = ..., labelForUndecidedPixels: int = ..., label_for_undecided_pixels: int = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Image: _Image | None
    def SetImage(self, value: _Image | None) -> None:
        """The image the labels were drawn on. Default: None."""
    def GetImage(self) -> _Image | None:
        """The image the labels were drawn on."""
    Filter: LabelFusionFilter | None
    def SetFilter(self, value: LabelFusionFilter | None) -> None:
        """Fuser whose result is refined. Default: ConsensusFilter()."""
    def GetFilter(self) -> LabelFusionFilter | None:
        """Fuser whose result is refined."""
    IntensitySigma: float | None
    def SetIntensitySigma(self, value: float | None) -> None:
        """Standard deviation, in mm, of the neighbourhood from which intensities are learned. Default: 8 smallest voxel sides."""
    def GetIntensitySigma(self) -> float | None:
        """Standard deviation, in mm, of the neighbourhood from which intensities are learned."""
    LabelForUndecidedPixels: int
    def SetLabelForUndecidedPixels(self, value: int) -> None:
        """Label of tied voxels; by default the largest label + 1. Default: max label + 1."""
    def GetLabelForUndecidedPixels(self) -> int:
        """Label of tied voxels; by default the largest label + 1."""
    def UnsetLabelForUndecidedPixels(self) -> None:
        """Take LabelForUndecidedPixels back to its default."""
    def GetHasLabelForUndecidedPixels(self) -> bool:
        """Whether LabelForUndecidedPixels was set."""
    @property
    def IntensityWeight(self) -> float:
        """Exponent of the intensity likelihood; 0 if held-out raters do not support it."""
    def GetIntensityWeight(self) -> float:
        """Exponent of the intensity likelihood; 0 if held-out raters do not support it."""
    @property
    def HeldOutGains(self) -> tuple[float, ...]:
        """Gain in each held-out rater's mean log likelihood, in nats per disputed voxel, at the exponent with the largest minimum gain over raters; NaN if unknown."""
    def GetHeldOutGains(self) -> tuple[float, ...]:
        """Gain in each held-out rater's mean log likelihood, in nats per disputed voxel, at the exponent with the largest minimum gain over raters; NaN if unknown."""
    def GetFilterResult(self) -> FusionResult[Any]:
        """Return the fuser's result of the last Execute, before refinement."""

class LocallyWeightedVoteFilter(LabelFusionFilter):
    """Vote of atlases, each weighted by the local similarity of its image to the target.

    The weight of an atlas is ``(1 + d / smallest)^-Power``, where d is the mean squared difference
    of the patches, so that in homogeneous regions all atlases have nearly equal weights.
    """
    def __init__(self, *, Power: float = ..., power: float = ..., Image: _Image | Sequence[_Image] | None = ..., image: _Image | Sequence[_Image] | None = ..., AtlasImages: Sequence[_Image | Sequence[_Image] | None] | None = ..., atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = ..., atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = ..., PatchRadius: float | Sequence[float] | None = ..., patchRadius: float | Sequence[float] | None = ..., patch_radius: float | Sequence[float] | None = ..., SearchRadius: float | Sequence[float] | None = ..., searchRadius: float | Sequence[float] | None = ..., search_radius: float | Sequence[float] | None = ..., NormalizePatches: bool = ..., normalizePatches: bool = ..., normalize_patches: bool = ..., ExclusionImages: Mapping[int, _Image] | None = ..., exclusionImages: Mapping[int, _Image] | None = ..., exclusion_images: Mapping[int, _Image] | None = ..., FuseIntensities: bool = ..., fuseIntensities: bool = ..., fuse_intensities: bool = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Power: float
    def SetPower(self, value: float) -> None:
        """Exponent of the inverse mean squared difference. Default: 2.0."""
    def GetPower(self) -> float:
        """Exponent of the inverse mean squared difference."""
    Image: _Image | Sequence[_Image] | None
    def SetImage(self, value: _Image | Sequence[_Image] | None) -> None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities. Default: None."""
    def GetImage(self) -> _Image | Sequence[_Image] | None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities."""
    AtlasImages: Sequence[_Image | Sequence[_Image] | None] | None
    def SetAtlasImages(self, value: Sequence[_Image | Sequence[_Image] | None] | None) -> None:
        """The image of each atlas, on the target's grid, with the target's modalities. Default: None."""
    def GetAtlasImages(self) -> Sequence[_Image | Sequence[_Image] | None] | None:
        """The image of each atlas, on the target's grid, with the target's modalities."""
    PatchRadius: float | Sequence[float] | None
    def SetPatchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the patch in which images are compared, and which votes. Default: smallest voxel side."""
    def GetPatchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the patch in which images are compared, and which votes."""
    SearchRadius: float | Sequence[float] | None
    def SetSearchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the box that is searched for the most similar patch; 0: no search. Default: 2 smallest voxel sides."""
    def GetSearchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the box that is searched for the most similar patch; 0: no search."""
    NormalizePatches: bool
    def SetNormalizePatches(self, value: bool) -> None:
        """Whether patches are normalised to zero mean and unit variance before comparison. Default: True."""
    def GetNormalizePatches(self) -> bool:
        """Whether patches are normalised to zero mean and unit variance before comparison."""
    ExclusionImages: Mapping[int, _Image] | None
    def SetExclusionImages(self, value: Mapping[int, _Image] | None) -> None:
        """For each of some labels, an image that is not zero where the label is impossible. Default: None."""
    def GetExclusionImages(self) -> Mapping[int, _Image] | None:
        """For each of some labels, an image that is not zero where the label is impossible."""
    FuseIntensities: bool
    def SetFuseIntensities(self, value: bool) -> None:
        """Whether the atlases' images are fused too, at every voxel. Default: False."""
    def GetFuseIntensities(self) -> bool:
        """Whether the atlases' images are fused too, at every voxel."""
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    @property
    def MeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetMeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetFusedIntensityImage(self, modality: int = 0) -> Any:
        """Return the atlases' images, fused with the same weights and patches, as float32.

        Requires FuseIntensities; outside a mask the image is 0.
        """

class JointLabelFusionFilter(LabelFusionFilter):
    """Joint label fusion: vote of patches, weighted by the atlases' expected joint errors.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1`` for normalised patches; from each atlas, the
    patch in the search box that is most similar to the target's is used.
    """
    def __init__(self, *, Beta: float = ..., beta: float = ..., Alpha: float = ..., alpha: float = ..., ConstrainWeights: bool = ..., constrainWeights: bool = ..., constrain_weights: bool = ..., Image: _Image | Sequence[_Image] | None = ..., image: _Image | Sequence[_Image] | None = ..., AtlasImages: Sequence[_Image | Sequence[_Image] | None] | None = ..., atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = ..., atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = ..., PatchRadius: float | Sequence[float] | None = ..., patchRadius: float | Sequence[float] | None = ..., patch_radius: float | Sequence[float] | None = ..., SearchRadius: float | Sequence[float] | None = ..., searchRadius: float | Sequence[float] | None = ..., search_radius: float | Sequence[float] | None = ..., NormalizePatches: bool = ..., normalizePatches: bool = ..., normalize_patches: bool = ..., ExclusionImages: Mapping[int, _Image] | None = ..., exclusionImages: Mapping[int, _Image] | None = ..., exclusion_images: Mapping[int, _Image] | None = ..., FuseIntensities: bool = ..., fuseIntensities: bool = ..., fuse_intensities: bool = ..., RaterWeights: Sequence[float] | None = ..., raterWeights: Sequence[float] | None = ..., rater_weights: Sequence[float] | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Beta: float
    def SetBeta(self, value: float) -> None:
        """Exponent of the errors. Default: 2.0."""
    def GetBeta(self) -> float:
        """Exponent of the errors."""
    Alpha: float
    def SetAlpha(self, value: float) -> None:
        """Conditioning, added to the diagonal. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Conditioning, added to the diagonal."""
    ConstrainWeights: bool
    def SetConstrainWeights(self, value: bool) -> None:
        """Whether weights are optimised under the constraint that they are not negative; else negative weights are set to 0. Default: False."""
    def GetConstrainWeights(self) -> bool:
        """Whether weights are optimised under the constraint that they are not negative; else negative weights are set to 0."""
    Image: _Image | Sequence[_Image] | None
    def SetImage(self, value: _Image | Sequence[_Image] | None) -> None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities. Default: None."""
    def GetImage(self) -> _Image | Sequence[_Image] | None:
        """The target that atlases were warped to; a list, or a vector image, of several modalities."""
    AtlasImages: Sequence[_Image | Sequence[_Image] | None] | None
    def SetAtlasImages(self, value: Sequence[_Image | Sequence[_Image] | None] | None) -> None:
        """The image of each atlas, on the target's grid, with the target's modalities. Default: None."""
    def GetAtlasImages(self) -> Sequence[_Image | Sequence[_Image] | None] | None:
        """The image of each atlas, on the target's grid, with the target's modalities."""
    PatchRadius: float | Sequence[float] | None
    def SetPatchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the patch in which images are compared, and which votes. Default: smallest voxel side."""
    def GetPatchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the patch in which images are compared, and which votes."""
    SearchRadius: float | Sequence[float] | None
    def SetSearchRadius(self, value: float | Sequence[float] | None) -> None:
        """Half width, in mm, of the box that is searched for the most similar patch; 0: no search. Default: 2 smallest voxel sides."""
    def GetSearchRadius(self) -> float | Sequence[float] | None:
        """Half width, in mm, of the box that is searched for the most similar patch; 0: no search."""
    NormalizePatches: bool
    def SetNormalizePatches(self, value: bool) -> None:
        """Whether patches are normalised to zero mean and unit variance before comparison. Default: True."""
    def GetNormalizePatches(self) -> bool:
        """Whether patches are normalised to zero mean and unit variance before comparison."""
    ExclusionImages: Mapping[int, _Image] | None
    def SetExclusionImages(self, value: Mapping[int, _Image] | None) -> None:
        """For each of some labels, an image that is not zero where the label is impossible. Default: None."""
    def GetExclusionImages(self) -> Mapping[int, _Image] | None:
        """For each of some labels, an image that is not zero where the label is impossible."""
    FuseIntensities: bool
    def SetFuseIntensities(self, value: bool) -> None:
        """Whether the atlases' images are fused too, at every voxel. Default: False."""
    def GetFuseIntensities(self) -> bool:
        """Whether the atlases' images are fused too, at every voxel."""
    RaterWeights: Sequence[float] | None
    def SetRaterWeights(self, value: Sequence[float] | None) -> None:
        """Weight of each rater's vote. Default: equal."""
    def GetRaterWeights(self) -> Sequence[float] | None:
        """Weight of each rater's vote."""
    @property
    def MeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetMeanWeights(self) -> tuple[float, ...]:
        """Mean weight of each atlas over disputed voxels; they sum to 1."""
    def GetFusedIntensityImage(self, modality: int = 0) -> Any:
        """Return the atlases' images, fused with the same weights and patches, as float32.

        Requires FuseIntensities; outside a mask the image is 0.
        """

class AtlasSelectionFilter(ProcessObject):
    """Assigns weight 1 to the atlases whose images are most similar to the target, 0 to the others.

    Execute(target, images) takes images on one grid, None for a missing atlas, and returns weights
    that fusers accept as RaterWeights. Intensities are first matched to the target's.
    """
    def __init__(self, *, NumberOfAtlases: int = ..., numberOfAtlases: int = ..., number_of_atlases: int = ..., Similarity: str = ..., similarity: str = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    NumberOfAtlases: int
    def SetNumberOfAtlases(self, value: int) -> None:
        """How many atlases are chosen. Default: 5."""
    def GetNumberOfAtlases(self) -> int:
        """How many atlases are chosen."""
    Similarity: str
    def SetSimilarity(self, value: str) -> None:
        """How images are compared. Default: squared difference."""
    def GetSimilarity(self) -> str:
        """How images are compared."""
    MaskImage: _Image | None
    def SetMaskImage(self, value: _Image | None) -> None:
        """Region (non-zero) in which images are compared; None: everywhere. Default: None."""
    def GetMaskImage(self) -> _Image | None:
        """Region (non-zero) in which images are compared; None: everywhere."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @property
    def Similarities(self) -> tuple[float, ...]:
        """Similarity of each atlas, higher is better: the correlation, or minus the mean squared difference in units of the target's spread; NaN for a missing atlas."""
    def GetSimilarities(self) -> tuple[float, ...]:
        """Similarity of each atlas, higher is better: the correlation, or minus the mean squared difference in units of the target's spread; NaN for a missing atlas."""
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

class ConformalBandFilter(ProcessObject):
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus; never the consensus itself. Execute then marks 0 background, 1 foreground, 2
    ambiguous and 3 empty. Given a list of probability images, one per label, bit k of the result is
    set if label k is possible; GetSetSizeImage() returns the number of possible labels.
    GetGuarantee() returns the guarantee in one sentence. No statistic of the raters can reveal an
    error that all of them share.
    """
    def __init__(self, *, Tolerance: float = ..., tolerance: float = ..., Unit: str = ..., unit: str = ..., Risk: str = ..., risk: str = ..., Score: str = ..., score: str = ..., Normalization: str = ..., normalization: str = ..., Mondrian: bool = ..., mondrian: bool = ..., EmptyPolicy: str = ..., emptyPolicy: str = ..., empty_policy: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., ProbabilityIsVoteFraction: bool = ..., probabilityIsVoteFraction: bool = ..., probability_is_vote_fraction: bool = ..., Alpha: float = ..., alpha: float = ..., WithoutPromise: bool = ..., withoutPromise: bool = ..., without_promise: bool = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """Share of the foreground a covered case may miss; a quarter of it for the background. Default: 0.05."""
    def GetTolerance(self) -> float:
        """Share of the foreground a covered case may miss; a quarter of it for the background."""
    Unit: str
    def SetUnit(self, value: str) -> None:
        """The exchangeable unit; voxel is the paper's choice and has no guarantee. Default: case."""
    def GetUnit(self) -> str:
        """The exchangeable unit; voxel is the paper's choice and has no guarantee."""
    Risk: str
    def SetRisk(self, value: str) -> None:
        """The bounded risk: the probability of missing too much, the mean share missed, or the probability of any miss. Default: miscoverage."""
    def GetRisk(self) -> str:
        """The bounded risk: the probability of missing too much, the mean share missed, or the probability of any miss."""
    Score: str
    def SetScore(self, value: str) -> None:
        """Score of a voxel: distance from the consensus contour in mm, or log-odds. Default: distance."""
    def GetScore(self) -> str:
        """Score of a voxel: distance from the consensus contour in mm, or log-odds."""
    Normalization: str
    def SetNormalization(self, value: str) -> None:
        """Whether distances are measured in units of the spread of the case's raters. Default: rater_spread."""
    def GetNormalization(self) -> str:
        """Whether distances are measured in units of the spread of the case's raters."""
    Mondrian: bool
    def SetMondrian(self, value: bool) -> None:
        """One threshold, and one guarantee, per label. Default: False."""
    def GetMondrian(self) -> bool:
        """One threshold, and one guarantee, per label."""
    EmptyPolicy: str
    def SetEmptyPolicy(self, value: str) -> None:
        """What to do with voxels without any possible label: mark them ambiguous, or keep 3. Default: ambiguous."""
    def GetEmptyPolicy(self) -> str:
        """What to do with voxels without any possible label: mark them ambiguous, or keep 3."""
    RegionMargin: float
    def SetRegionMargin(self, value: float) -> None:
        """Width in mm of the region around the structure that is evaluated. Default: 10.0."""
    def GetRegionMargin(self) -> float:
        """Width in mm of the region around the structure that is evaluated."""
    ProbabilityIsVoteFraction: bool
    def SetProbabilityIsVoteFraction(self, value: bool) -> None:
        """Whether the probabilities are vote fractions. Default: False."""
    def GetProbabilityIsVoteFraction(self) -> bool:
        """Whether the probabilities are vote fractions."""
    Alpha: float
    def SetAlpha(self, value: float) -> None:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share."""
    WithoutPromise: bool
    def SetWithoutPromise(self, value: bool) -> None:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee. Default: False."""
    def GetWithoutPromise(self) -> bool:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee."""
    FusionMethod: str | None
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is rejected. Default: unknown."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is rejected."""
    ReferenceLabel: int | None
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @property
    def Spread(self) -> float:
        """Distance between the raters' contours of the foreground, in mm; NaN if not needed."""
    def GetSpread(self) -> float:
        """Distance between the raters' contours of the foreground, in mm; NaN if not needed."""
    @property
    def EmptyFraction(self) -> float:
        """Share of voxels without any possible label, regardless of EmptyPolicy."""
    def GetEmptyFraction(self) -> float:
        """Share of voxels without any possible label, regardless of EmptyPolicy."""
    @property
    def AmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    def GetAmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    @property
    def BandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    def GetBandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    @property
    def Doubts(self) -> tuple[str, ...]:
        """Why the guarantee may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def GetDoubts(self) -> tuple[str, ...]:
        """Why the guarantee may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None, case_ids: Sequence[str] | None = None, provenance: Mapping[str, Any] | None = None) -> None:
        """Determine the threshold from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each consensus; needed for rater_spread unless the probabilities
            are vote fractions.
        case_ids : sequence of str, optional
            Names of the cases; only hashes are stored.
        provenance : mapping, optional
            Stored in the record. Known keys: `reference_kind` ("truth" or "held-out rater"),
            `fusion_method` and `rater_count`.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark which voxels are certain and which are ambiguous.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into this consensus, as in Calibrate.

        Returns
        -------
        image
            uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set if label
            k is possible (uint8 for up to 8 labels, uint16 for up to 16, otherwise a vector image
            with one 0/1 component per label).
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Create a filter with a record and its options, some of which may be overridden."""
    def GetGuarantee(self) -> str:
        """Return, in one sentence, the guarantee for the last Execute or, before it, for
        the next one.
        """
    def GetRecord(self) -> Any:
        """Return the record that was learned or loaded last."""
    def GetSetSizeImage(self) -> Any:
        """Return, as uint16, the number of possible labels at each voxel in the last Execute."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""

class ConformalMarginFilter(ProcessObject):
    """A margin in mm around a consensus, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus. The margin is the smallest one by which the widened consensus covers the reference
    (or the shrunk one lies within it) in enough cases that the next case is covered with
    probability 1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of
    probability images, one per label, each label has its own margin and bit k is set if label k is
    possible. GetRecord().tau contains the margins. Given raters, the record also contains the width
    of a ConformalBandFilter with the same guarantee, which adapts to each case's raters.
    """
    def __init__(self, *, Direction: str = ..., direction: str = ..., CoveredShare: float = ..., coveredShare: float = ..., covered_share: float = ..., CraniocaudalRatio: float = ..., craniocaudalRatio: float = ..., craniocaudal_ratio: float = ..., Alpha: float = ..., alpha: float = ..., WithoutPromise: bool = ..., withoutPromise: bool = ..., without_promise: bool = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Direction: str
    def SetDirection(self, value: str) -> None:
        """Whether the consensus is widened to cover the reference, shrunk to lie within it, or both with one margin. Default: outward."""
    def GetDirection(self) -> str:
        """Whether the consensus is widened to cover the reference, shrunk to lie within it, or both with one margin."""
    CoveredShare: float
    def SetCoveredShare(self, value: float) -> None:
        """Share of the reference's volume that must lie within the margin for a case to count as covered; inward, the share of the consensus that is not certain and wrong. Default: 1.0."""
    def GetCoveredShare(self) -> float:
        """Share of the reference's volume that must lie within the margin for a case to count as covered; inward, the share of the consensus that is not certain and wrong."""
    CraniocaudalRatio: float
    def SetCraniocaudalRatio(self, value: float) -> None:
        """Ratio of the margin along the patient (physical z) to that across; 1: isotropic. Default: 1.0."""
    def GetCraniocaudalRatio(self) -> float:
        """Ratio of the margin along the patient (physical z) to that across; 1: isotropic."""
    Alpha: float
    def SetAlpha(self, value: float) -> None:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share. Default: 0.1."""
    def GetAlpha(self) -> float:
        """Probability that a case is not covered or, where the mean share missed is bounded, that share."""
    WithoutPromise: bool
    def SetWithoutPromise(self, value: bool) -> None:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee. Default: False."""
    def GetWithoutPromise(self) -> bool:
        """Whether to accept probabilities of another kind or FusionMethod than the calibration's, without any guarantee."""
    FusionMethod: str | None
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is rejected. Default: unknown."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is rejected."""
    ReferenceLabel: int | None
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @property
    def AmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    def GetAmbiguousVolume(self) -> float:
        """Volume in mm³ (area in mm², in 2D) with more than one possible label."""
    @property
    def BandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    def GetBandThickness(self) -> float:
        """Ambiguous volume per area of the consensus contour, in mm."""
    @property
    def Doubts(self) -> tuple[str, ...]:
        """Why the guarantee may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def GetDoubts(self) -> tuple[str, ...]:
        """Why the guarantee may not hold for this case, whose raters are closer together or farther apart than those of the calibration; or why its band is of no use."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None, case_ids: Sequence[str] | None = None, provenance: Mapping[str, Any] | None = None) -> None:
        """Determine the margin from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            The consensus is the set of voxels at which they are at least one half, or largest. An
            empty consensus cannot be widened to cover a reference that is not empty.
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each consensus, to compare the margin with a band.
        case_ids : sequence of str, optional
            Names of the cases; only hashes are stored.
        provenance : mapping, optional
            As in ConformalBandFilter.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark inside, margin and outside.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into this consensus, as many as in Calibrate. If raters are given to
            both, Doubts reports whether they are unusually close together or far apart.

        Returns
        -------
        image
            As in ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list, bit k is set if
            label k is possible.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Create a filter with a record and its options, some of which may be overridden."""
    def GetGuarantee(self) -> str:
        """Return, in one sentence, the guarantee for the last Execute or, before it, for
        the next one.
        """
    def GetRecord(self) -> Any:
        """Return the record that was learned or loaded last."""
    def GetSetSizeImage(self) -> Any:
        """Return, as uint16, the number of possible labels at each voxel in the last Execute."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""

class LearnedFusionFilter(LabelFusionFilter):
    """Consensus with rater weights learned from cases with a known truth, if they help.

    Fit learns from at least five cases, label by label, how reliable each rater is at voxels on
    which raters disagree. Execute assigns the most probable label to those voxels; all other voxels
    keep the label of Consensus, as do all voxels if cross-validation shows no gain. Raters must be
    the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)
    """
    def __init__(self, *, ClassAxis: int | None = ..., classAxis: int | None = ..., class_axis: int | None = ..., AgreementLimits: Mapping[str, float] | None = ..., agreementLimits: Mapping[str, float] | None = ..., agreement_limits: Mapping[str, float] | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    ClassAxis: int | None
    def SetClassAxis(self, value: int | None) -> None:
        """Axis of each input array that holds the probabilities of the classes. Default: none."""
    def GetClassAxis(self) -> int | None:
        """Axis of each input array that holds the probabilities of the classes."""
    @property
    def LearnedLabels(self) -> tuple[int, ...]:
        """Labels with a learned rule."""
    def GetLearnedLabels(self) -> tuple[int, ...]:
        """Labels with a learned rule."""
    @property
    def ChangedVoxels(self) -> int:
        """Number of voxels that differ from Consensus."""
    def GetChangedVoxels(self) -> int:
        """Number of voxels that differ from Consensus."""
    def Fit(self, cases: Iterable[Any], truths: Iterable[Any], *, records: Sequence[LearnedRecord | PathLike] = ()) -> None:
        """Learn from cases whose true segmentation is known.

        Parameters
        ----------
        cases : iterable of lists of images
            The raters' images of each case, in the same order, with None for a missing rater; or
            dicts keyed by rater name.
        truths : iterable of label images
            The true segmentations, with the same label values.
        records : sequence of LearnedRecord or paths, optional
            Other records of the same raters, whose cases are added to the given ones.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Create a filter with a record and its options, some of which may be overridden."""
    def GetCalibrationErrors(self) -> dict[int, float]:
        """Return each label's mean cross-validated difference between probabilities and
        frequencies.
        """
    def GetConsensusResult(self) -> FusionResult[Any]:
        """Return the result of Consensus in the last Execute."""
    def GetExplanation(self) -> str:
        """Describe in words the learned rules and whether they help."""
    def GetHeldOutGain(self) -> dict[int, Gain]:
        """Return each label's cross-validated gain in Dice over Consensus for the best rule.

        The gain has a 95 % interval; a rule is used only if this interval is above 0.
        """
    def GetRaterWeights(self) -> dict[int, tuple[_RaterWeight, ...]]:
        """Return the raters' weights for each label, with jackknife intervals over cases."""
    def GetRecord(self) -> Any:
        """Return the record that was learned or loaded last."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""

class CutCalibrationFilter(ProcessObject):
    """Learns cuts (thresholds) of probabilities from at least ten cases, and applies them.

    For networks that under-segment, or raters whose masks are all too small, a cut below one half
    is better. Cuts are learned per label. Their gain over one half is measured by leave-one-out
    cross-validation, and a cut remains one half if the interval of its gain includes 0. A label's
    mask consists of the voxels at which its probability reaches its cut; with several labels, each
    label's probability is divided by the odds of its cut, and the largest quotient wins.
    GetMeaning() describes the result.
    """
    def __init__(self, *, Measure: str = ..., measure: str = ..., FusionMethod: str | None = ..., fusionMethod: str | None = ..., fusion_method: str | None = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Measure: str
    def SetMeasure(self, value: str) -> None:
        """The measure to maximise: the Dice, or the ratio of the smaller to the larger volume. Default: dice."""
    def GetMeasure(self) -> str:
        """The measure to maximise: the Dice, or the ratio of the smaller to the larger volume."""
    FusionMethod: str | None
    def SetFusionMethod(self, value: str | None) -> None:
        """The method that made the probabilities; a record of another method is rejected. Default: unknown."""
    def GetFusionMethod(self) -> str | None:
        """The method that made the probabilities; a record of another method is rejected."""
    ReferenceLabel: int | None
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> None:
        """Learn the cuts from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            Probabilities by any method, such as vote fractions or means of networks.
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each probability image; Execute requires the same number.
        """
    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Threshold a probability image, or a list with one image per label.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into the probability, as many as in Calibrate.

        Returns
        -------
        image
            The label map: uint8, or uint16 if there are more than 256 labels.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Create a filter with a record and its options, some of which may be overridden."""
    def GetMeaning(self) -> str:
        """Describe the learned cuts in a sentence."""
    def GetRecord(self) -> Any:
        """Return the record that was learned or loaded last."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""

class TemperatureScalingFilter(ProcessObject):
    """Calibrates probabilities: fit on cases with a reference, apply to others.

    The fit uses only the region marked by any rater, dilated by RegionMargin. GetReport() compares
    the reliability before and after scaling, in the region and in the whole image. A warning is
    issued if the ECE increases. If scaling does not reduce the cross-validated log loss,
    probabilities are left unchanged, also with a warning. Scaled probabilities are calibrated on
    average, not for each case.
    """
    def __init__(self, *, Method: str = ..., method: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., ProbabilityIsVoteFraction: bool = ..., probabilityIsVoteFraction: bool = ..., probability_is_vote_fraction: bool = ..., ReferenceLabel: int | None = ..., referenceLabel: int | None = ..., reference_label: int | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Method: str
    def SetMethod(self, value: str) -> None:
        """The model: a temperature and a bias per label, a temperature, or a monotonic curve. Default: temperature_bias."""
    def GetMethod(self) -> str:
        """The model: a temperature and a bias per label, a temperature, or a monotonic curve."""
    RegionMargin: float
    def SetRegionMargin(self, value: float) -> None:
        """Width in mm of the region around the structure that is evaluated. Default: 10.0."""
    def GetRegionMargin(self) -> float:
        """Width in mm of the region around the structure that is evaluated."""
    ProbabilityIsVoteFraction: bool
    def SetProbabilityIsVoteFraction(self, value: bool) -> None:
        """Whether the probabilities are vote fractions. Default: False."""
    def GetProbabilityIsVoteFraction(self) -> bool:
        """Whether the probabilities are vote fractions."""
    ReferenceLabel: int | None
    def SetReferenceLabel(self, value: int | None) -> None:
        """Which label of the references is the foreground. Default: the only one."""
    def GetReferenceLabel(self) -> int | None:
        """Which label of the references is the foreground."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Calibrate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> None:
        """Fit the scaling to cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            Their union is the region; without raters, the region is around the consensus. Required
            for vote fractions, whose smoothing depends on the number of raters.
        """
    def Evaluate(self, probabilities: Iterable[Any], references: Iterable[Any], raters: Iterable[Any] | None = None) -> ScalingReport:
        """Compare reliability before and after scaling on cases that were not used in the fit."""
    def Execute(self, probability: Any) -> Any:
        """Scale a probability image, or a list with one image per label.

        Parameters
        ----------
        probability : image, or list of images with one per label

        Returns
        -------
        image or list of images
            As many images as were given, of type float64.
        """
    @classmethod
    def FromRecord(cls, record: Any, **parameters: Any) -> Any:
        """Create a filter with a record and its options, some of which may be overridden."""
    def GetComparison(self) -> ScalingComparison:
        """Return the binned frequencies of the last Calibrate or Evaluate."""
    def GetRecord(self) -> Any:
        """Return the record that was learned or loaded last."""
    def GetReport(self) -> ScalingReport:
        """Return the reliability before and after scaling, on the cases used in the fit."""
    @classmethod
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""

class CohortSTAPLEFilter(ProcessObject):
    """STAPLE that estimates rater performance from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases; each case has its own prior. A
    case is a list of images of the same raters in the same order, with None for a rater who did not
    annotate it; cases need not share a grid. For a single case the result equals that of STAPLE.

    The true segmentations of some cases may be given. They then replace the estimated ones when
    rater performance is estimated, and GetTruthGain() reports whether this improves the other
    cases.
    """
    def __init__(self, *, Prior: float | Sequence[float] | None = ..., prior: float | Sequence[float] | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., ConfidenceWeight: float = ..., confidenceWeight: float = ..., confidence_weight: float = ..., ForegroundValue: float = ..., foregroundValue: float = ..., foreground_value: float = ..., MaximumIterations: int = ..., maximumIterations: int = ..., maximum_iterations: int = ..., Tolerance: float = ..., tolerance: float = ..., SensitivityPrior: Sequence[float] = ..., sensitivityPrior: Sequence[float] = ..., sensitivity_prior: Sequence[float] = ..., SpecificityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., Initialization: str = ..., initialization: str = ..., Variant: str = ..., variant: str = ..., ExcludeConsensusVoxels: bool = ..., excludeConsensusVoxels: bool = ..., exclude_consensus_voxels: bool = ..., EstimatePrior: bool = ..., estimatePrior: bool = ..., estimate_prior: bool = ..., PriorPseudoCounts: float | Sequence[float] = ..., priorPseudoCounts: float | Sequence[float] = ..., prior_pseudo_counts: float | Sequence[float] = ..., StopCriterion: str = ..., stopCriterion: str = ..., stop_criterion: str = ..., InitialPerformance: float = ..., initialPerformance: float = ..., initial_performance: float = ..., Damping: float = ..., damping: float = ..., NumberOfInitializations: int = ..., numberOfInitializations: int = ..., number_of_initializations: int = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InitializationRange: Sequence[float] = ..., initializationRange: Sequence[float] = ..., initialization_range: Sequence[float] = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Prior: float | Sequence[float] | None
    def SetPrior(self, value: float | Sequence[float] | None) -> None:
        """Foreground prior: a number, or one for each case. Default: mean of each case's masks."""
    def GetPrior(self) -> float | Sequence[float] | None:
        """Foreground prior: a number, or one for each case."""
    MissingLabel: int | None
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    ConfidenceWeight: float
    def SetConfidenceWeight(self, value: float) -> None:
        """Scales the prior, which is the mean of the masks. Default: 1.0."""
    def GetConfidenceWeight(self) -> float:
        """Scales the prior, which is the mean of the masks."""
    ForegroundValue: float
    def SetForegroundValue(self, value: float) -> None:
        """The pixel value that is foreground; every other value is background. Default: 1.0."""
    def GetForegroundValue(self) -> float:
        """The pixel value that is foreground; every other value is background."""
    MaximumIterations: int
    def SetMaximumIterations(self, value: int) -> None:
        """Maximum number of EM iterations. Default: no cap."""
    def GetMaximumIterations(self) -> int:
        """Maximum number of EM iterations."""
    Tolerance: float
    def SetTolerance(self, value: float) -> None:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most. Default: 1e-07."""
    def GetTolerance(self) -> float:
        """EM stops when no sensitivity or specificity changes by more than this; 0: until nothing changes, after 10,000 iterations at most."""
    SensitivityPrior: Sequence[float]
    def SetSensitivityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts. Default: from Variant."""
    def GetSensitivityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts."""
    SpecificityPrior: Sequence[float]
    def SetSpecificityPrior(self, value: Sequence[float]) -> None:
        """Beta(a, b) prior of the specificities. Default: from Variant."""
    def GetSpecificityPrior(self) -> Sequence[float]:
        """Beta(a, b) prior of the specificities."""
    Initialization: str
    def SetInitialization(self, value: str) -> None:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance). Default: from Variant."""
    def GetInitialization(self) -> str:
        """First start: mean of the masks, majority_vote, or theta (InitialPerformance)."""
    Variant: str
    def SetVariant(self, value: str) -> None:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it. Default: basic."""
    def GetVariant(self) -> str:
        """basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the prior, expects raters better than chance and starts from the vote; careful is advanced from ten starts. Parameters that are set explicitly override it."""
    ExcludeConsensusVoxels: bool
    def SetExcludeConsensusVoxels(self, value: bool) -> None:
        """Leave voxels where all raters agree out of the estimation; they keep their label. Default: from Variant."""
    def GetExcludeConsensusVoxels(self) -> bool:
        """Leave voxels where all raters agree out of the estimation; they keep their label."""
    EstimatePrior: bool
    def SetEstimatePrior(self, value: bool) -> None:
        """Estimate the label prior in every iteration instead of fixing it. Default: from Variant, unless a prior is given."""
    def GetEstimatePrior(self) -> bool:
        """Estimate the label prior in every iteration instead of fixing it."""
    PriorPseudoCounts: float | Sequence[float]
    def SetPriorPseudoCounts(self, value: float | Sequence[float]) -> None:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first). Default: 0.0."""
    def GetPriorPseudoCounts(self) -> float | Sequence[float]:
        """Dirichlet prior of an estimated label prior: counts added to every label, or one number per label in ascending order (background first)."""
    StopCriterion: str
    def SetStopCriterion(self, value: str) -> None:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats). Default: parameters."""
    def GetStopCriterion(self) -> str:
        """Quantity that the tolerance applies to: parameters (the raters' performance) or likelihood (the log posterior, in nats)."""
    InitialPerformance: float
    def SetInitialPerformance(self, value: float) -> None:
        """Initial probability of the right label with Initialization theta. Default: 0.9999."""
    def GetInitialPerformance(self) -> float:
        """Initial probability of the right label with Initialization theta."""
    Damping: float
    def SetDamping(self, value: float) -> None:
        """Share of the old performance kept in each iteration. Default: 0.0."""
    def GetDamping(self) -> float:
        """Share of the old performance kept in each iteration."""
    NumberOfInitializations: int
    def SetNumberOfInitializations(self, value: int) -> None:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins. Default: 1; 10 with Variant careful."""
    def GetNumberOfInitializations(self) -> int:
        """Starts of EM: first Initialization, then the other of mean and majority_vote, then random ones; the highest log posterior wins."""
    RandomSeed: int
    def SetRandomSeed(self, value: int) -> None:
        """Seed of the random starts. Default: 0."""
    def GetRandomSeed(self) -> int:
        """Seed of the random starts."""
    InitializationRange: Sequence[float]
    def SetInitializationRange(self, value: Sequence[float]) -> None:
        """Range from which random starts draw each rater's performance. Default: (0.5, 1.0)."""
    def GetInitializationRange(self) -> Sequence[float]:
        """Range from which random starts draw each rater's performance."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    @property
    def Priors(self) -> tuple[float, ...]:
        """Foreground prior of each case at the end."""
    def GetPriors(self) -> tuple[float, ...]:
        """Foreground prior of each case at the end."""
    @property
    def TruthGain(self) -> Gain:
        """Gain in Dice from the known truths on cases whose own truth is left out, with its 95 % interval; NaN for fewer than five."""
    def GetTruthGain(self) -> Gain:
        """Gain in Dice from the known truths on cases whose own truth is left out, with its 95 % interval; NaN for fewer than five."""
    @property
    def Sensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @overload
    def GetSensitivity(self, rater: int) -> float: ...
    @overload
    def GetSensitivity(self) -> tuple[float, ...]:
        """Each rater's sensitivity; NaN where undefined."""
    @property
    def Specificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    @overload
    def GetSpecificity(self, rater: int) -> float: ...
    @overload
    def GetSpecificity(self) -> tuple[float, ...]:
        """Each rater's specificity; NaN where undefined."""
    @property
    def PositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    def GetPositivePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's foreground vote is right."""
    @property
    def NegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    def GetNegativePredictiveValue(self) -> tuple[float, ...]:
        """Probability that a rater's background vote is right."""
    @property
    def ElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    def GetElapsedIterations(self) -> int:
        """Index of the last iteration: the one that met the stop rule, or the maximum."""
    @property
    def Converged(self) -> bool:
        """Whether the stop rule was met."""
    def GetConverged(self) -> bool:
        """Whether the stop rule was met."""
    @property
    def LogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    def GetLogLikelihood(self) -> float:
        """Log likelihood of the votes under the estimate."""
    @property
    def LogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    def GetLogPosterior(self) -> float:
        """Log likelihood plus the log prior of the parameters; the start with the highest wins."""
    @property
    def LogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    def GetLogLikelihoods(self) -> tuple[float, ...]:
        """Log likelihood that each start reached."""
    @property
    def Starts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def GetStarts(self) -> StartSummary:
        """Likelihood, iterations, trace and overlap with the others, for each start."""
    def Execute(self, cases: Iterable[Any], truths: Sequence[Any | None] | None = None) -> list[Any]:
        """Fuse every case.

        Parameters
        ----------
        cases : list of cases
            Each case is a list of SimpleITK or ITK images, or of arrays, on one grid; or a vector
            image with one rater per component.
        truths : list of label images, optional
            The true segmentation of each case, or None if it is not known.

        Returns
        -------
        list of images
            The float64 foreground probability of each case, with the family and geometry of its
            first image.
        """
    def GetLabelImages(self) -> list[Any]:
        """Return the label map of each case of the last Execute; foreground: probability >= 0.5."""
    def GetProbabilityImages(self) -> list[Any]:
        """Return the foreground probability of each case of the last Execute."""

class DeepConsensusFilter(ProcessObject):
    """A network trained on images and lists of label maps, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # truths are optional
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it is better than the vote
    """
    def __init__(self, *, NumberOfClasses: int | None = ..., numberOfClasses: int | None = ..., number_of_classes: int | None = ..., Mode: str = ..., mode: str = ..., RaterWeight: float | None = ..., raterWeight: float | None = ..., rater_weight: float | None = ..., EdgeWeight: float = ..., edgeWeight: float = ..., edge_weight: float = ..., Region: str = ..., region: str = ..., RegionMargin: float = ..., regionMargin: float = ..., region_margin: float = ..., LockUnanimousVoxels: bool | None = ..., lockUnanimousVoxels: bool | None = ..., lock_unanimous_voxels: bool | None = ..., WithoutGain: str = ..., withoutGain: str = ..., without_gain: str = ..., WindowSize: int | Sequence[int] = ..., windowSize: int | Sequence[int] = ..., window_size: int | Sequence[int] = ..., WindowOverlap: float = ..., windowOverlap: float = ..., window_overlap: float = ..., NumberOfIterations: int | None = ..., numberOfIterations: int | None = ..., number_of_iterations: int | None = ..., TimeBudget: float = ..., timeBudget: float = ..., time_budget: float = ..., NumberOfEpochs: float = ..., numberOfEpochs: float = ..., number_of_epochs: float = ..., CacheSize: int = ..., cacheSize: int = ..., cache_size: int = ..., BatchSize: int | None = ..., batchSize: int | None = ..., batch_size: int | None = ..., LearningRate: float = ..., learningRate: float = ..., learning_rate: float = ..., KLWeight: float = ..., kLWeight: float = ..., kl_weight: float = ..., NumberOfChannels: int | None = ..., numberOfChannels: int | None = ..., number_of_channels: int | None = ..., ValidationFraction: float = ..., validationFraction: float = ..., validation_fraction: float = ..., Patience: int = ..., patience: int = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., Device: str = ..., device: str = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., MixedPrecision: str = ..., mixedPrecision: str = ..., mixed_precision: str = ..., RandomSeed: int = ..., randomSeed: int = ..., random_seed: int = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    NumberOfClasses: int | None
    def SetNumberOfClasses(self, value: int | None) -> None:
        """Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a class. Default: the labels that occur."""
    def GetNumberOfClasses(self) -> int | None:
        """Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a class."""
    Mode: str
    def SetMode(self, value: str) -> None:
        """Target of the training: known truths (truth); the likelihood of the raters given the image (joint); or held-out raters, predicted from the image and the others (set). auto is truth if truths are given, else set. Default: auto."""
    def GetMode(self) -> str:
        """Target of the training: known truths (truth); the likelihood of the raters given the image (joint); or held-out raters, predicted from the image and the others (set). auto is truth if truths are given, else set."""
    RaterWeight: float | None
    def SetRaterWeight(self, value: float | None) -> None:
        """Joint mode: exponent of the raters' likelihood at disputed voxels; 0 uses the image alone. By default Fit chooses it by the prediction of held-out raters. Default: chosen by Fit."""
    def GetRaterWeight(self) -> float | None:
        """Joint mode: exponent of the raters' likelihood at disputed voxels; 0 uses the image alone. By default Fit chooses it by the prediction of held-out raters."""
    EdgeWeight: float
    def SetEdgeWeight(self, value: float) -> None:
        """Joint mode: weight of the loss that aligns labels with edges of the image; 0: none. Default: 1.0."""
    def GetEdgeWeight(self) -> float:
        """Joint mode: weight of the loss that aligns labels with edges of the image; 0: none."""
    Region: str
    def SetRegion(self, value: str) -> None:
        """Where Execute runs the network; elsewhere the unanimous label is kept. Default: disputed."""
    def GetRegion(self) -> str:
        """Where Execute runs the network; elsewhere the unanimous label is kept."""
    RegionMargin: float
    def SetRegionMargin(self, value: float) -> None:
        """Millimetres by which disputed regions grow if unanimous voxels are not locked. Default: 5.0."""
    def GetRegionMargin(self) -> float:
        """Millimetres by which disputed regions grow if unanimous voxels are not locked."""
    LockUnanimousVoxels: bool | None
    def SetLockUnanimousVoxels(self, value: bool | None) -> None:
        """Whether voxels on which all raters agree keep their label. By default they do, unless the truths of held-out cases show in Fit that the network is better there. Default: chosen by Fit."""
    def GetLockUnanimousVoxels(self) -> bool | None:
        """Whether voxels on which all raters agree keep their label. By default they do, unless the truths of held-out cases show in Fit that the network is better there."""
    WithoutGain: str
    def SetWithoutGain(self, value: str) -> None:
        """What Execute uses if Fit could not show on held-out cases that the network is better than fusing the raters alone: raters (the vote, or joint fusion of atlases with images) or network. Default: raters."""
    def GetWithoutGain(self) -> str:
        """What Execute uses if Fit could not show on held-out cases that the network is better than fusing the raters alone: raters (the vote, or joint fusion of atlases with images) or network."""
    WindowSize: int | Sequence[int]
    def SetWindowSize(self, value: int | Sequence[int]) -> None:
        """Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses the first two. Default: 64,64,64."""
    def GetWindowSize(self) -> int | Sequence[int]:
        """Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses the first two."""
    WindowOverlap: float
    def SetWindowOverlap(self, value: float) -> None:
        """Overlap of neighbouring windows, as a fraction of the window. Default: 0.25."""
    def GetWindowOverlap(self) -> float:
        """Overlap of neighbouring windows, as a fraction of the window."""
    NumberOfIterations: int | None
    def SetNumberOfIterations(self, value: int | None) -> None:
        """Number of training batches, increased if NumberOfEpochs needs more. By default Fit stops when the loss on held-out cases no longer improves. Default: until it converges."""
    def GetNumberOfIterations(self) -> int | None:
        """Number of training batches, increased if NumberOfEpochs needs more. By default Fit stops when the loss on held-out cases no longer improves."""
    TimeBudget: float
    def SetTimeBudget(self, value: float) -> None:
        """Seconds after which Fit stops, if NumberOfIterations is not set; the best weights so far are kept, and diagnostics report if the loss was still improving. Default: 1800.0."""
    def GetTimeBudget(self) -> float:
        """Seconds after which Fit stops, if NumberOfIterations is not set; the best weights so far are kept, and diagnostics report if the loss was still improving."""
    NumberOfEpochs: float
    def SetNumberOfEpochs(self, value: float) -> None:
        """Minimum number of passes over the cases. Default: 0.0."""
    def GetNumberOfEpochs(self) -> float:
        """Minimum number of passes over the cases."""
    CacheSize: int
    def SetCacheSize(self, value: int) -> None:
        """Megabytes of cases that Fit keeps in memory; other files are read again when needed. Default: 4096."""
    def GetCacheSize(self) -> int:
        """Megabytes of cases that Fit keeps in memory; other files are read again when needed."""
    BatchSize: int | None
    def SetBatchSize(self, value: int | None) -> None:
        """Patches per batch. Default: 8 in 2D, 2 in 3D."""
    def GetBatchSize(self) -> int | None:
        """Patches per batch."""
    LearningRate: float
    def SetLearningRate(self, value: float) -> None:
        """Peak learning rate of the optimiser. Default: 0.01."""
    def GetLearningRate(self) -> float:
        """Peak learning rate of the optimiser."""
    KLWeight: float
    def SetKLWeight(self, value: float) -> None:
        """Weight of the Kullback-Leibler divergence of misleading evidence from the uniform distribution, lambda of evidential learning; reached at half of the training. Default: 0.05."""
    def GetKLWeight(self) -> float:
        """Weight of the Kullback-Leibler divergence of misleading evidence from the uniform distribution, lambda of evidential learning; reached at half of the training."""
    NumberOfChannels: int | None
    def SetNumberOfChannels(self, value: int | None) -> None:
        """Features of the image stream at full resolution. Default: 16 in 2D, 8 in 3D."""
    def GetNumberOfChannels(self) -> int | None:
        """Features of the image stream at full resolution."""
    ValidationFraction: float
    def SetValidationFraction(self, value: float) -> None:
        """Fraction of the cases that is held out for early stopping and for estimating the gain; at least three of twelve or more. 0: none, and the gain is unknown. Default: 0.1."""
    def GetValidationFraction(self) -> float:
        """Fraction of the cases that is held out for early stopping and for estimating the gain; at least three of twelve or more. 0: none, and the gain is unknown."""
    Patience: int
    def SetPatience(self, value: int) -> None:
        """Number of evaluations without improvement after which training stops; those before the peak of the learning rate do not count. There are ten evaluations in NumberOfIterations. If that is not set, there is one in fifty iterations, and training continues for at least a third of all evaluations so far. Default: 5."""
    def GetPatience(self) -> int:
        """Number of evaluations without improvement after which training stops; those before the peak of the learning rate do not count. There are ten evaluations in NumberOfIterations. If that is not set, there is one in fifty iterations, and training continues for at least a third of all evaluations so far."""
    MissingLabel: int | None
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    Device: str
    def SetDevice(self, value: str) -> None:
        """cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU. Default: auto."""
    def GetDevice(self) -> str:
        """cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU."""
    MixedPrecision: str
    def SetMixedPrecision(self, value: str) -> None:
        """bfloat16 networks on CUDA; float32 elsewhere or if off. Default: cuda."""
    def GetMixedPrecision(self) -> str:
        """bfloat16 networks on CUDA; float32 elsewhere or if off."""
    RandomSeed: int
    def SetRandomSeed(self, value: int) -> None:
        """The same seed gives the same weights on one CPU with the same NumberOfThreads. Default: 0."""
    def GetRandomSeed(self) -> int:
        """The same seed gives the same weights on one CPU with the same NumberOfThreads."""
    InputsAreLabels: bool
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
    def Fit(self, images: Sequence[Any], label_lists: Sequence[Any], truths: Sequence[Any] | None = None, rater_ids: RaterIds | Sequence[RaterIds] | None = None, *, atlas_images: Sequence[Any] | None = None, checkpoint: PathLike | None = None, image_stream: Any = None, transform: Transform | None = None, warm_start: bool = False) -> None:
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
    def GetChosenLock(self) -> bool:
        """Return whether Fit locked unanimous voxels; LockUnanimousVoxels overrides this."""
    def GetChosenRaterWeight(self) -> float:
        """Return the RaterWeight that Fit chose; Execute uses it unless the parameter is set."""
    def GetDiagnostics(self) -> Diagnostics:
        """Return findings on the model of Fit or Load, and on the image of the last Execute."""
    def GetEvidenceImage(self) -> Any:
        """Return the network's total Dirichlet evidence as float64; 0 where it was not run."""
    def GetHeldOutGain(self) -> dict[str, Interval]:
        """Return the gain in Dice over other fusers on held-out cases, with 90 % intervals.

        The other fusers are the vote, Consensus and, with atlas images, joint fusion. With truths,
        Dice is computed against the truth; otherwise against raters held out from all fusers, and
        ties of the vote are broken in favour of the network's label. The gain is NaN if no case was
        held out, for example because there were fewer than five.
        """
    def GetLabelImage(self) -> Any:
        """Return the fused label map of the last Execute."""
    def GetLabels(self) -> tuple[int, ...]:
        """Return the label of each class of the trained model."""
    def GetProbabilityImage(self, label: int = 1) -> Any:
        """Return the probability of a label as float64; 0 or 1 at voxels decided by the raters."""
    def GetRaterIds(self) -> tuple[RaterId, ...]:
        """Return the ids of the raters in Fit."""
    def GetRaterReliability(self) -> dict[RaterId, float]:
        """Return each rater's estimated probability of the true class, by rater id.

        If Fit had no truths, this is one accuracy for all classes. The id 0, present if Fit had
        raters without an id, represents an average rater.
        """
    def GetTrainingHistory(self) -> tuple[dict[str, float], ...]:
        """Return iteration and validation loss for each evaluation of the last Fit; not saved."""
    @classmethod
    def Load(self, path: PathLike, image_stream: Any = None) -> DeepConsensusFilter:
        """Load the model from a file; pass the image stream if Fit had one.

        If called on the class, this creates a new filter. The file holds only the trained model;
        parameters of Execute are not changed.
        """
    def Save(self, path: PathLike) -> None:
        """Save the trained model as a safetensors file, a format that cannot contain code."""

class AgreementFilter(ProcessObject):
    """Agreement of raters, label by label: overlap, chance-corrected agreement, contour distances.

    Computes Dice, Jaccard, generalised conformity index, specific agreement, volumes and their
    variation. Fleiss' kappa and Krippendorff's alpha are computed over all voxels, where background
    inflates them, and over the voxels that any rater marked, which deflates them. Hausdorff
    distance, its 95th percentile, mean surface distance and surface Dice are computed between
    surface voxel centres, as defined by MONAI. Each pair of raters is compared only over voxels
    that both annotated. If both raters left a label out, Dice is 1 and distances are NaN; if only
    one did, distances are infinite.
    """
    def __init__(self, *, Surfaces: bool = ..., surfaces: bool = ..., SurfaceTolerance: float = ..., surfaceTolerance: float = ..., surface_tolerance: float = ..., VolumeIntervals: bool = ..., volumeIntervals: bool = ..., volume_intervals: bool = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Surfaces: bool
    def SetSurfaces(self, value: bool) -> None:
        """Whether to measure surface distances as well. Default: True."""
    def GetSurfaces(self) -> bool:
        """Whether to measure surface distances as well."""
    SurfaceTolerance: float
    def SetSurfaceTolerance(self, value: float) -> None:
        """Distance in mm up to which contours agree, for the surface Dice. Default: 1.0."""
    def GetSurfaceTolerance(self) -> float:
        """Distance in mm up to which contours agree, for the surface Dice."""
    VolumeIntervals: bool
    def SetVolumeIntervals(self, value: bool) -> None:
        """Whether to estimate which volume another rater would draw, with a 90 % interval, from samples of the consensus; needs a filter as the reference. Default: False."""
    def GetVolumeIntervals(self) -> bool:
        """Whether to estimate which volume another rater would draw, with a 90 % interval, from samples of the consensus; needs a filter as the reference."""
    MaskImage: _Image | None
    def SetMaskImage(self, value: _Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> _Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    MissingLabel: int | None
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    RaterMasks: Sequence[_Image | None] | None
    def SetRaterMasks(self, value: Sequence[_Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[_Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    InputsAreLabels: bool
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
            A consensus with which each rater is compared: a label image, or a filter that fuses
            `images` with this filter's MaskImage, MissingLabel and RaterMasks.
        names : sequence of str, optional
            Names of the raters.

        Returns
        -------
        AgreementResult
            Has ``.table()``, ``.to_csv()``, ``.to_json()``, ``.to_pandas()``.
        """

class ReaderBiasFilter(ProcessObject):
    """Bias of each rater: mean distance outside a consensus in mm, overall and by direction.

    Directions are anatomical: a part of the surface is cranial if its normal points towards the
    head to within 37 degrees. Since each rater contributes to a consensus of all raters, the bias
    is slightly underestimated; to avoid this, compare with a true segmentation or a consensus of
    the other raters.
    """
    def __init__(self, *, Label: int | None = ..., label: int | None = ..., MaskImage: _Image | None = ..., maskImage: _Image | None = ..., mask_image: _Image | None = ..., MissingLabel: int | None = ..., missingLabel: int | None = ..., missing_label: int | None = ..., RaterMasks: Sequence[_Image | None] | None = ..., raterMasks: Sequence[_Image | None] | None = ..., rater_masks: Sequence[_Image | None] | None = ..., InputsAreLabels: bool = ..., inputsAreLabels: bool = ..., inputs_are_labels: bool = ..., CoordinateTolerance: float = ..., coordinateTolerance: float = ..., coordinate_tolerance: float = ..., DirectionTolerance: float = ..., directionTolerance: float = ..., direction_tolerance: float = ..., NumberOfThreads: int = ..., numberOfThreads: int = ..., number_of_threads: int = ..., NumberOfWorkUnits: int = ..., numberOfWorkUnits: int = ..., number_of_work_units: int = ..., KeepMetaData: str = ..., keepMetaData: str = ..., keep_meta_data: str = ..., Debug: bool = ..., debug: bool = ...) -> None: ...
    Label: int | None
    def SetLabel(self, value: int | None) -> None:
        """Label value; by default the largest one that occurs, the foreground of masks. Default: the largest."""
    def GetLabel(self) -> int | None:
        """Label value; by default the largest one that occurs, the foreground of masks."""
    MaskImage: _Image | None
    def SetMaskImage(self, value: _Image | None) -> None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0. Default: None."""
    def GetMaskImage(self) -> _Image | None:
        """Voxels to fuse (non-zero); outside it the output is background with probability 0."""
    MissingLabel: int | None
    def SetMissingLabel(self, value: int | None) -> None:
        """The label that means 'not annotated here'. Default: None."""
    def GetMissingLabel(self) -> int | None:
        """The label that means 'not annotated here'."""
    RaterMasks: Sequence[_Image | None] | None
    def SetRaterMasks(self, value: Sequence[_Image | None] | None) -> None:
        """One image per rater, non-zero where the rater annotated; None: everywhere. Default: None."""
    def GetRaterMasks(self) -> Sequence[_Image | None] | None:
        """One image per rater, non-zero where the rater annotated; None: everywhere."""
    InputsAreLabels: bool
    def SetInputsAreLabels(self, value: bool) -> None:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones. Default: False."""
    def GetInputsAreLabels(self) -> bool:
        """Take inputs and masks for labels although they look like images: many values, of which neighbours have different ones."""
    def Execute(self, images: Any, reference: Any = None, names: Sequence[str] | None = None) -> ReaderBias:
        """Compare the raters' contours with a consensus.

        Parameters
        ----------
        images : list of images
            The raters, on one grid.
        reference : image or LabelFusionFilter, optional
            The consensus, or a filter that computes it; ConsensusFilter by default.
        names : sequence of str, optional
            Names of the raters.

        Returns
        -------
        ReaderBias
            Has ``.table()``, ``.to_csv()`` and ``.sentences()``.
        """
    def GetBiasImage(self, rater: int) -> Any:
        """Return an image of a rater's signed distance from the consensus in mm."""

@overload
def Consensus(images: Sequence[NDArray[Any] | None], *, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The recommended fuser: keeps shared detail by explicit rules, and explains the result.

    The rules are as follows; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table
    on which they are based:

    1. If there is one rater, that rater's labels are returned.
    2. Raters whose contours coincide where other raters' contours differ are copies and count once.
    3. A label that more than half of the raters left empty is absent. The outline of an object is
       fused from the raters who found it, excluding outliers if the other raters agree. An object
       that no majority found is added if the raters miss the other objects often enough to make
       this plausible.
    4. The coherence vote keeps the detail that raters share and smooths the rest.
    5. Other deviations from the majority vote are reverted: components that a majority marked are
       kept, no others are added, and no rater loses more Dice than the spread between raters
       explains.

    GetCandidateImage computes other fusions of the same raters on demand.

    Function form of ConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def Consensus(images: Sequence[_ImageT | None], *, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def Consensus(*images: Any, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def consensus_filter(images: Sequence[NDArray[Any] | None], *, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The recommended fuser: keeps shared detail by explicit rules, and explains the result.

    The rules are as follows; ``examples/benchmarks/methods/consensus_evidence.py`` prints the table
    on which they are based:

    1. If there is one rater, that rater's labels are returned.
    2. Raters whose contours coincide where other raters' contours differ are copies and count once.
    3. A label that more than half of the raters left empty is absent. The outline of an object is
       fused from the raters who found it, excluding outliers if the other raters agree. An object
       that no majority found is added if the raters miss the other objects often enough to make
       this plausible.
    4. The coherence vote keeps the detail that raters share and smooths the rest.
    5. Other deviations from the majority vote are reverted: components that a majority marked are
       kept, no others are added, and no rater loses more Dice than the spread between raters
       explains.

    GetCandidateImage computes other fusions of the same raters on demand.

    Function form of ConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def consensus_filter(images: Sequence[_ImageT | None], *, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def consensus_filter(*images: Any, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def CoherenceVote(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote smoothed only where raters do not share its detail.

    Every rater's mask is decomposed into scale bands. Bands are kept where those of different
    raters correlate, and removed elsewhere; the threshold for the contour lies between the mean
    vote shares inside and outside. GetResolution returns the finest scale, in mm, at which the
    raters agree. The scales are multiples of the smallest voxel side, so there are no parameters to
    tune. Probability inputs are treated as masks with values between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` compares this filter with other fusers.

    Function form of CoherenceVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def CoherenceVote(images: Sequence[_ImageT | None], *, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def CoherenceVote(*images: Any, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def coherence_vote_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote smoothed only where raters do not share its detail.

    Every rater's mask is decomposed into scale bands. Bands are kept where those of different
    raters correlate, and removed elsewhere; the threshold for the contour lies between the mean
    vote shares inside and outside. GetResolution returns the finest scale, in mm, at which the
    raters agree. The scales are multiples of the smallest voxel side, so there are no parameters to
    tune. Probability inputs are treated as masks with values between 0 and 1.
    ``examples/benchmarks/methods/consensus_evidence.py`` compares this filter with other fusers.

    Function form of CoherenceVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def coherence_vote_filter(images: Sequence[_ImageT | None], *, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def coherence_vote_filter(*images: Any, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def STAPLE(images: Sequence[NDArray[Any] | None], confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, *, prior: float | _Image | None = None, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Foreground probability and each rater's sensitivity and specificity, estimated by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and results. Execute returns the
    float64 foreground probability; GetLabelImage() returns the label map (probability >= 0.5).
    Probability images among the inputs count as fractional votes; EM then runs from a single start.

    Function form of STAPLEImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
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
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field
        in place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    excludeConsensusVoxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimatePrior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stopCriterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initialPerformance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    numberOfInitializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    randomSeed : an integer >= 0; default 0
        Seed of the random starts.
    initializationRange : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Probability of the foreground, as float64, of the first input's family, with its geometry.
    """
@overload
def STAPLE(images: Sequence[_ImageT | None], confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, *, prior: float | _Image | None = None, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def STAPLE(*images: Any, prior: float | _Image | None = None, confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def staple_image_filter(images: Sequence[NDArray[Any] | None], *, prior: float | _Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Foreground probability and each rater's sensitivity and specificity, estimated by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and results. Execute returns the
    float64 foreground probability; GetLabelImage() returns the label map (probability >= 0.5).
    Probability images among the inputs count as fractional votes; EM then runs from a single start.

    Function form of STAPLEImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
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
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field
        in place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    exclude_consensus_voxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimate_prior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stop_criterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initial_performance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    number_of_initializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    random_seed : an integer >= 0; default 0
        Seed of the random starts.
    initialization_range : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Probability of the foreground, as float64, of the first input's family, with its geometry.
    """
@overload
def staple_image_filter(images: Sequence[_ImageT | None], *, prior: float | _Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def staple_image_filter(*images: Any, prior: float | _Image | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def MultiLabelSTAPLE(images: Sequence[NDArray[Any] | None], labelForUndecidedPixels: int = 18446744073709551615, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), *, pseudoCounts: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, label probabilities and each rater's confusion matrix, estimated by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``; where the released wheels have a bug, it
    follows ITK's main branch.

    Function form of MultiLabelSTAPLEImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    terminationUpdateThreshold : a number >= 0; default 1e-05
        EM stops when no element of a confusion matrix changes by more than this; 0: until
        nothing changes, after 10,000 iterations at most.
    maximumNumberOfIterations : an integer >= 0 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    priorProbabilities : a {label: probability} dict, or a list of numbers >= 0 and <= 1; default label frequencies
        Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is
        ignored), or {label: probability}.
    pseudoCounts : 2 numbers >= 0; default from Variant
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    initialization : one of label_voting, mean, majority_vote, theta, label_voting_with_the_fault_of_itk_5_4; default from Variant
        First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta;
        the last one matches SimpleITK 2.5 on tied voxels, too.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    smoothnessWeight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field
        in place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    excludeConsensusVoxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimatePrior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stopCriterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initialPerformance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    numberOfInitializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    randomSeed : an integer >= 0; default 0
        Seed of the random starts.
    initializationRange : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def MultiLabelSTAPLE(images: Sequence[_ImageT | None], labelForUndecidedPixels: int = 18446744073709551615, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), *, pseudoCounts: Sequence[float] = ..., initialization: str = ..., smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def MultiLabelSTAPLE(*images: Any, terminationUpdateThreshold: float = 1e-05, maximumNumberOfIterations: int = 4294967295, priorProbabilities: Mapping[int, float] | Sequence[float] = (), pseudoCounts: Sequence[float] = ..., initialization: str = ..., labelForUndecidedPixels: int = 18446744073709551615, smoothnessWeight: float | str = 0.0, variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def multi_label_staple_image_filter(images: Sequence[NDArray[Any] | None], *, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, label probabilities and each rater's confusion matrix, estimated by EM.

    Drop-in for ``sitk.MultiLabelSTAPLEImageFilter``; where the released wheels have a bug, it
    follows ITK's main branch.

    Function form of MultiLabelSTAPLEImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    termination_update_threshold : a number >= 0; default 1e-05
        EM stops when no element of a confusion matrix changes by more than this; 0: until
        nothing changes, after 10,000 iterations at most.
    maximum_number_of_iterations : an integer >= 0 and <= 4294967295; default no cap
        Maximum number of EM iterations.
    prior_probabilities : a {label: probability} dict, or a list of numbers >= 0 and <= 1; default label frequencies
        Label prior: one number per label from 0 to the largest (SimpleITK's extra last entry is
        ignored), or {label: probability}.
    pseudo_counts : 2 numbers >= 0; default from Variant
        Dirichlet prior of the confusion matrices: counts added on and off the diagonal.
    initialization : one of label_voting, mean, majority_vote, theta, label_voting_with_the_fault_of_itk_5_4; default from Variant
        First start: label_voting (ITK's confusion with the vote), mean, majority_vote or theta;
        the last one matches SimpleITK 2.5 on tied voxels, too.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    smoothness_weight : a number >= 0, or one of estimate; default 0.0
        Log odds that the label of a nearest neighbour adds to a disputed voxel's (a Potts field
        in place of the prior); 2 is recommended, with Variant advanced; 0: no field.
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    exclude_consensus_voxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimate_prior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stop_criterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initial_performance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    number_of_initializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    random_seed : an integer >= 0; default 0
        Seed of the random starts.
    initialization_range : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def multi_label_staple_image_filter(images: Sequence[_ImageT | None], *, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def multi_label_staple_image_filter(*images: Any, termination_update_threshold: float = 1e-05, maximum_number_of_iterations: int = 4294967295, prior_probabilities: Mapping[int, float] | Sequence[float] = (), pseudo_counts: Sequence[float] = ..., initialization: str = ..., label_for_undecided_pixels: int = 18446744073709551615, smoothness_weight: float | str = 0.0, variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def LabelVoting(images: Sequence[NDArray[Any] | None], labelForUndecidedPixels: int = 18446744073709551615, *, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.

    Function form of LabelVotingImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LabelVoting(images: Sequence[_ImageT | None], labelForUndecidedPixels: int = 18446744073709551615, *, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def LabelVoting(*images: Any, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def label_voting_image_filter(images: Sequence[NDArray[Any] | None], *, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.

    Function form of LabelVotingImageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def label_voting_image_filter(images: Sequence[_ImageT | None], *, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def label_voting_image_filter(*images: Any, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def MajorityVote(images: Sequence[NDArray[Any] | None], *, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote with optional threshold, weights, tie rule and smoothing.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian before the decision, which is
    the strongest simple baseline known to us. Probability inputs count as fractional votes; without
    smoothing their vote share is their mean.

    Function form of MajorityVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    threshold : a number >= 0 and <= 1, or None; default none
        A label needs more than this share of the votes; None: more votes than any other label.
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
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def MajorityVote(images: Sequence[_ImageT | None], *, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def MajorityVote(*images: Any, threshold: float | None = None, tieRule: str = 'undecided', smoothingSigma: float = 0.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def majority_vote_filter(images: Sequence[NDArray[Any] | None], *, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Majority vote with optional threshold, weights, tie rule and smoothing.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian before the decision, which is
    the strongest simple baseline known to us. Probability inputs count as fractional votes; without
    smoothing their vote share is their mean.

    Function form of MajorityVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    threshold : a number >= 0 and <= 1, or None; default none
        A label needs more than this share of the votes; None: more votes than any other label.
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
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def majority_vote_filter(images: Sequence[_ImageT | None], *, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def majority_vote_filter(*images: Any, threshold: float | None = None, tie_rule: str = 'undecided', smoothing_sigma: float = 0.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def CorrectedVote(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Smoothed vote shares, corrected for the raters' mean sensitivity and specificity.

    For noisy raters its contours are closer to the truth than those of the smoothed vote. Like the
    smoothed vote, it erodes thin structures, except for unanimous voxels.
    ``examples/benchmarks/methods/evidence_table.py`` compares both in every setting. Probabilities
    are vote shares.

    Function form of CorrectedVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    smoothingSigma : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def CorrectedVote(images: Sequence[_ImageT | None], *, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def CorrectedVote(*images: Any, raterWeights: Sequence[float] | None = None, smoothingSigma: float = 1.0, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def corrected_vote_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Smoothed vote shares, corrected for the raters' mean sensitivity and specificity.

    For noisy raters its contours are closer to the truth than those of the smoothed vote. Like the
    smoothed vote, it erodes thin structures, except for unanimous voxels.
    ``examples/benchmarks/methods/evidence_table.py`` compares both in every setting. Probabilities
    are vote shares.

    Function form of CorrectedVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    smoothing_sigma : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def corrected_vote_filter(images: Sequence[_ImageT | None], *, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def corrected_vote_filter(*images: Any, rater_weights: Sequence[float] | None = None, smoothing_sigma: float = 1.0, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def COLLATE(images: Sequence[NDArray[Any] | None], *, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Joint estimation of consensus level, labeler accuracy and truth (COLLATE), by EM.

    A voxel is either easy, so that raters rarely err there, or hard, so that each rater errs
    according to a confusion matrix. The filter estimates which voxels are easy, so the matrices
    describe only hard voxels, however large the easy background is. If raters err often, even a
    unanimous vote may be overruled.

    Function form of COLLATEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    consensusLevels : a list of numbers >= 0 and <= 1; default (0.0, 1.0)
        How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1
        only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior.
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
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def COLLATE(images: Sequence[_ImageT | None], *, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def COLLATE(*images: Any, consensusLevels: Sequence[float] = (0.0, 1.0), errorRate: float = 0.0001, pseudoCounts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximumIterations: int = 10000, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def collate_filter(images: Sequence[NDArray[Any] | None], *, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Joint estimation of consensus level, labeler accuracy and truth (COLLATE), by EM.

    A voxel is either easy, so that raters rarely err there, or hard, so that each rater errs
    according to a confusion matrix. The filter estimates which voxels are easy, so the matrices
    describe only hard voxels, however large the easy background is. If raters err often, even a
    unanimous vote may be overruled.

    Function form of COLLATEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    consensus_levels : a list of numbers >= 0 and <= 1; default (0.0, 1.0)
        How easy a voxel of each level is: at 0 raters err by their confusion matrices, at 1
        only by ErrorRate. (0) is STAPLE, (1) the vote with ties broken by the label prior.
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
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def collate_filter(images: Sequence[_ImageT | None], *, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def collate_filter(*images: Any, consensus_levels: Sequence[float] = (0.0, 1.0), error_rate: float = 0.0001, pseudo_counts: Sequence[float] = (2.0, 0.0), prior: float | Mapping[int, float] | None = None, tolerance: float = 1e-10, maximum_iterations: int = 10000, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def DirectInference(images: Sequence[NDArray[Any] | None], *, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Find the label map with the highest evidence p(t, D), with rater confusions integrated out.

    Accepts label images with arbitrary label values. GetProbabilityImage returns a voxel's marginal
    posterior if NumberOfSamples is set, otherwise its conditional posterior given the rest of the
    map; the label map is the map with the highest evidence in both cases.

    Function form of DirectInferenceFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    pseudoCounts : 2 numbers >= 0; default (4.0, 2.0)
        Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it
        (shared by the other labels) in each column.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior: counts added to every label, or one number per label
        in ascending order (background first).
    numberOfInitializations : an integer >= 1 and <= 10000; default 5
        EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds
        are always tried.
    numberOfSamples : an integer >= 0 and <= 1000000; default 0
        Gibbs samples, for marginal probabilities and performance; 0: none.
    burnIn : an integer >= 0 and <= 1000000; default 100
        Gibbs samples discarded at the beginning.
    randomSeed : an integer >= 0; default 0
        Seed of EM's random starts and of the samples.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def DirectInference(images: Sequence[_ImageT | None], *, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def DirectInference(*images: Any, pseudoCounts: Sequence[float] = (4.0, 2.0), priorPseudoCounts: float | Sequence[float] = 0.0, numberOfInitializations: int = 5, numberOfSamples: int = 0, burnIn: int = 100, randomSeed: int = 0, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def direct_inference_filter(images: Sequence[NDArray[Any] | None], *, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Find the label map with the highest evidence p(t, D), with rater confusions integrated out.

    Accepts label images with arbitrary label values. GetProbabilityImage returns a voxel's marginal
    posterior if NumberOfSamples is set, otherwise its conditional posterior given the rest of the
    map; the label map is the map with the highest evidence in both cases.

    Function form of DirectInferenceFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    pseudo_counts : 2 numbers >= 0; default (4.0, 2.0)
        Dirichlet prior of the confusion matrices: counts added on the diagonal, and off it
        (shared by the other labels) in each column.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of the label prior: counts added to every label, or one number per label
        in ascending order (background first).
    number_of_initializations : an integer >= 1 and <= 10000; default 5
        EM starts, basic and advanced, whose label maps are tried; the vote and its thresholds
        are always tried.
    number_of_samples : an integer >= 0 and <= 1000000; default 0
        Gibbs samples, for marginal probabilities and performance; 0: none.
    burn_in : an integer >= 0 and <= 1000000; default 100
        Gibbs samples discarded at the beginning.
    random_seed : an integer >= 0; default 0
        Seed of EM's random starts and of the samples.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def direct_inference_filter(images: Sequence[_ImageT | None], *, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def direct_inference_filter(*images: Any, pseudo_counts: Sequence[float] = (4.0, 2.0), prior_pseudo_counts: float | Sequence[float] = 0.0, number_of_initializations: int = 5, number_of_samples: int = 0, burn_in: int = 100, random_seed: int = 0, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def SpatialSTAPLE(images: Sequence[NDArray[Any] | None], *, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, and each rater's confusion matrix at every voxel, estimated by EM over windows.

    Accepts label images with arbitrary label values. Performance is estimated in a box with a half
    width of `WindowRadius` mm around each voxel. Voxels at which all raters agree keep their label.

    Function form of SpatialSTAPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    windowRadius : a number >= 0 and <= 100000; default 20.0
        Half width, in mm, of the box over which performance is pooled.
    kappa : a number >= 0; default 0.01
        Strength of the regularisation where a rater rarely used a label: 0 uses the window
        alone, a very large value the target alone.
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
        EM stops when the posterior of disputed voxels changes by less than this on average.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def SpatialSTAPLE(images: Sequence[_ImageT | None], *, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def SpatialSTAPLE(*images: Any, windowRadius: float = 20.0, kappa: float = 0.01, regularizationTarget: str = 'diagonal', diagonalTarget: float = 0.9, pseudoCounts: Sequence[float] = (2.0, 0.0), priorMode: str = ..., prior: float | Mapping[int, float] | None = None, maximumIterations: int = 200, tolerance: float = 0.0001, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def spatial_staple_filter(images: Sequence[NDArray[Any] | None], *, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Label map, and each rater's confusion matrix at every voxel, estimated by EM over windows.

    Accepts label images with arbitrary label values. Performance is estimated in a box with a half
    width of `WindowRadius` mm around each voxel. Voxels at which all raters agree keep their label.

    Function form of SpatialSTAPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    window_radius : a number >= 0 and <= 100000; default 20.0
        Half width, in mm, of the box over which performance is pooled.
    kappa : a number >= 0; default 0.01
        Strength of the regularisation where a rater rarely used a label: 0 uses the window
        alone, a very large value the target alone.
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
        EM stops when the posterior of disputed voxels changes by less than this on average.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def spatial_staple_filter(images: Sequence[_ImageT | None], *, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def spatial_staple_filter(*images: Any, window_radius: float = 20.0, kappa: float = 0.01, regularization_target: str = 'diagonal', diagonal_target: float = 0.9, pseudo_counts: Sequence[float] = (2.0, 0.0), prior_mode: str = ..., prior: float | Mapping[int, float] | None = None, maximum_iterations: int = 200, tolerance: float = 0.0001, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def ShapeBasedAveraging(images: Sequence[NDArray[Any] | None], *, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Assigns each voxel to the label with the smallest mean signed distance over the raters.

    Distances are in mm. For a rater who did not draw a label at all, the largest distance of the
    others is used. GetProbabilityImage converts mean distances to log odds: `ProbabilityScale` mm
    correspond to a factor of e. Where all raters agree the probability is 1.

    Function form of ShapeBasedAveragingFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    trimFraction : a number >= 0 and <= 0.49; default 0.0
        Fraction of the distances that is left out of the average at each end.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with voxels that are equally far from two labels.
    probabilityScale : a number > 0; default 1.0
        Difference of mean distances, in mm, that changes the odds of two labels by a factor e.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def ShapeBasedAveraging(images: Sequence[_ImageT | None], *, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def ShapeBasedAveraging(*images: Any, trimFraction: float = 0.0, tieRule: str = 'undecided', probabilityScale: float = 1.0, labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def shape_based_averaging_filter(images: Sequence[NDArray[Any] | None], *, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Assigns each voxel to the label with the smallest mean signed distance over the raters.

    Distances are in mm. For a rater who did not draw a label at all, the largest distance of the
    others is used. GetProbabilityImage converts mean distances to log odds: `ProbabilityScale` mm
    correspond to a factor of e. Where all raters agree the probability is 1.

    Function form of ShapeBasedAveragingFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    trim_fraction : a number >= 0 and <= 0.49; default 0.0
        Fraction of the distances that is left out of the average at each end.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with voxels that are equally far from two labels.
    probability_scale : a number > 0; default 1.0
        Difference of mean distances, in mm, that changes the odds of two labels by a factor e.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def shape_based_averaging_filter(images: Sequence[_ImageT | None], *, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def shape_based_averaging_filter(*images: Any, trim_fraction: float = 0.0, tie_rule: str = 'undecided', probability_scale: float = 1.0, label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def FrechetConsensus(images: Sequence[NDArray[Any] | None], *, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The label map closest to all raters at once, as measured by Dice or Jaccard.

    Each label is fused against all others; a voxel in the masks of several labels is assigned to
    the label with the most votes. Voxels with the same votes have the same label. Missing votes are
    replaced by the majority vote of the others. The probability of the assigned label is 1.

    Function form of FrechetConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    measure : one of dice, jaccard; default dice
        The overlap to maximise.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def FrechetConsensus(images: Sequence[_ImageT | None], *, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def FrechetConsensus(*images: Any, measure: str = 'dice', agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def frechet_consensus_filter(images: Sequence[NDArray[Any] | None], *, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """The label map closest to all raters at once, as measured by Dice or Jaccard.

    Each label is fused against all others; a voxel in the masks of several labels is assigned to
    the label with the most votes. Voxels with the same votes have the same label. Missing votes are
    replaced by the majority vote of the others. The probability of the assigned label is 1.

    Function form of FrechetConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    measure : one of dice, jaccard; default dice
        The overlap to maximise.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def frechet_consensus_filter(images: Sequence[_ImageT | None], *, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def frechet_consensus_filter(*images: Any, measure: str = 'dice', agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def SIMPLE(images: Sequence[NDArray[Any] | None], *, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Iterated vote in which raters are weighted by their overlap with the consensus.

    A rater's weight is the Dice overlap with the vote over the whole image; raters with an overlap
    far below that of the others, or without any overlap, are dropped (Langerak et al. 2010).

    Function form of SIMPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    deviations : a number >= 0; default 2.0
        Standard deviations below the mean overlap at which a rater is dropped.
    maximumIterations : an integer >= 1; default 10
        Maximum number of iterations.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def SIMPLE(images: Sequence[_ImageT | None], *, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def SIMPLE(*images: Any, deviations: float = 2.0, maximumIterations: int = 10, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def simple_filter(images: Sequence[NDArray[Any] | None], *, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Iterated vote in which raters are weighted by their overlap with the consensus.

    A rater's weight is the Dice overlap with the vote over the whole image; raters with an overlap
    far below that of the others, or without any overlap, are dropped (Langerak et al. 2010).

    Function form of SIMPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    deviations : a number >= 0; default 2.0
        Standard deviations below the mean overlap at which a rater is dropped.
    maximum_iterations : an integer >= 1; default 10
        Maximum number of iterations.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def simple_filter(images: Sequence[_ImageT | None], *, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def simple_filter(*images: Any, deviations: float = 2.0, maximum_iterations: int = 10, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def BoundarySIMPLE(images: Sequence[NDArray[Any] | None], *, image: _Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters are weighted at each voxel by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.

    Function form of BoundarySIMPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    image : an image, or None; default None
        Intensity image whose edges raise the weight of raters who follow them.
    patchRadius : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width, in mm, of the patch in which raters are compared.
    localWeight : a number > 0 and < 1; default 0.8
        Share of the local agreement in a weight; the rest is the rater's mean agreement.
    edgeBoost : a number >= 1; default 5.0
        Factor on the weight of a rater whose contour follows an edge of the image; 1: off.
    edgeScale : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of Image before its gradient, in smallest voxel
        sides.
    maximumIterations : an integer >= 1; default 10
        Maximum number of iterations.
    tolerance : a number >= 0; default 1e-05
        Stop when label shares of disputed voxels change by less than this on average.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def BoundarySIMPLE(images: Sequence[_ImageT | None], *, image: _Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def BoundarySIMPLE(*images: Any, image: _Image | None = None, patchRadius: float | None = None, localWeight: float = 0.8, edgeBoost: float = 5.0, edgeScale: float = 1.0, maximumIterations: int = 10, tolerance: float = 1e-05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def boundary_simple_filter(images: Sequence[NDArray[Any] | None], *, image: _Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote in which raters are weighted at each voxel by their agreement with the consensus there.

    A rater's weight is the correlation of its labels with the consensus in a patch around the
    voxel and, if `Image` is given, of its contour with the image's edges.

    Function form of BoundarySIMPLEFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    image : an image, or None; default None
        Intensity image whose edges raise the weight of raters who follow them.
    patch_radius : a number >= 0 and <= 100000, or None; default 3 smallest voxel sides
        Half width, in mm, of the patch in which raters are compared.
    local_weight : a number > 0 and < 1; default 0.8
        Share of the local agreement in a weight; the rest is the rater's mean agreement.
    edge_boost : a number >= 1; default 5.0
        Factor on the weight of a rater whose contour follows an edge of the image; 1: off.
    edge_scale : a number >= 0 and <= 100000; default 1.0
        Standard deviation of the smoothing of Image before its gradient, in smallest voxel
        sides.
    maximum_iterations : an integer >= 1; default 10
        Maximum number of iterations.
    tolerance : a number >= 0; default 1e-05
        Stop when label shares of disputed voxels change by less than this on average.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do with tied voxels.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def boundary_simple_filter(images: Sequence[_ImageT | None], *, image: _Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def boundary_simple_filter(*images: Any, image: _Image | None = None, patch_radius: float | None = None, local_weight: float = 0.8, edge_boost: float = 5.0, edge_scale: float = 1.0, maximum_iterations: int = 10, tolerance: float = 1e-05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def LogOpinionPool(images: Sequence[NDArray[Any] | None], *, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of integer type are label images. If any input has a floating-point type, all inputs are
    foreground probabilities from 0 to 1, and masks among them have values 0 and 1; label images
    stored as floats must be cast. Vector images of floating-point type, lists of one image per
    class, and arrays with `ClassAxis` are class probabilities. Probabilities are clipped according
    to `ErrorRate`. To use a spatially varying prior, add it as another probability image with
    weight T.

    Function form of LogOpinionPoolFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    raterWeights : a list of numbers >= 0, or None; default equal, sum 1
        Exponent of each rater's opinion.
    temperature : a number > 0, or a list of numbers >= 1e-06; default 1.0
        Divides the exponents; one number, or one per rater. Above 1 the result is less certain.
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
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LogOpinionPool(images: Sequence[_ImageT | None], *, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def LogOpinionPool(*images: Any, raterWeights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, errorRate: float = 0.05, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def log_opinion_pool_filter(images: Sequence[NDArray[Any] | None], *, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of integer type are label images. If any input has a floating-point type, all inputs are
    foreground probabilities from 0 to 1, and masks among them have values 0 and 1; label images
    stored as floats must be cast. Vector images of floating-point type, lists of one image per
    class, and arrays with `ClassAxis` are class probabilities. Probabilities are clipped according
    to `ErrorRate`. To use a spatially varying prior, add it as another probability image with
    weight T.

    Function form of LogOpinionPoolFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    rater_weights : a list of numbers >= 0, or None; default equal, sum 1
        Exponent of each rater's opinion.
    temperature : a number > 0, or a list of numbers >= 1e-06; default 1.0
        Divides the exponents; one number, or one per rater. Above 1 the result is less certain.
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
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def log_opinion_pool_filter(images: Sequence[_ImageT | None], *, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def log_opinion_pool_filter(*images: Any, rater_weights: Sequence[float] | None = None, temperature: float | Sequence[float] = 1.0, prior: float | Mapping[int, float] | None = None, error_rate: float = 0.05, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def ProbabilityAverage(images: Sequence[NDArray[Any] | None], *, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted mean of class probabilities, and the label with the highest mean.

    This is the usual way to combine an ensemble. Label images count as probabilities 0 and 1, so
    for label images the result is the majority vote. Inputs are vector images or lists of one image
    per class, whose probabilities sum to 1; arrays with `ClassAxis`; or scalar images of
    floating-point type, which contain the foreground probability.

    Function form of ProbabilityAverageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    tieRule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def ProbabilityAverage(images: Sequence[_ImageT | None], *, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def ProbabilityAverage(*images: Any, tieRule: str = 'undecided', labelForUndecidedPixels: int = 18446744073709551615, raterWeights: Sequence[float] | None = None, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def probability_average_filter(images: Sequence[NDArray[Any] | None], *, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Weighted mean of class probabilities, and the label with the highest mean.

    This is the usual way to combine an ensemble. Label images count as probabilities 0 and 1, so
    for label images the result is the majority vote. Inputs are vector images or lists of one image
    per class, whose probabilities sum to 1; arrays with `ClassAxis`; or scalar images of
    floating-point type, which contain the foreground probability.

    Function form of ProbabilityAverageFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    tie_rule : one of undecided, lowest, highest, background, prior; default undecided
        What to do where labels are equally probable.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def probability_average_filter(images: Sequence[_ImageT | None], *, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def probability_average_filter(*images: Any, tie_rule: str = 'undecided', label_for_undecided_pixels: int = 18446744073709551615, rater_weights: Sequence[float] | None = None, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def HybridFusion(images: Sequence[NDArray[Any] | None], *, interiorFilter: LabelFusionFilter | None = None, interiorImage: _Image | None = None, image: _Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Uses one fuser in a band around the contour, and the interior fuser everywhere else.

    Both fusers are filters with their own parameters; GetBoundaryResult() and GetInteriorResult()
    return their results. They receive the same images, and the hybrid's mask, missing label,
    tolerances and threads if set. The interior may also be a given image (InteriorImage), or a
    trained DeepConsensusFilter, which reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())

    Function form of HybridFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    interiorFilter : a label fusion filter, DeepConsensusFilter included, or None; default MajorityVoteFilter()
        Fuser used away from the contour.
    interiorImage : an image, or None; default None
        Image used away from the contour instead of a fuser: a label image or, for two labels,
        the probability of the higher one, e.g. a network's.
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
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def HybridFusion(images: Sequence[_ImageT | None], *, interiorFilter: LabelFusionFilter | None = None, interiorImage: _Image | None = None, image: _Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def HybridFusion(*images: Any, interiorFilter: LabelFusionFilter | None = None, interiorImage: _Image | None = None, image: _Image | None = None, boundaryFilter: LabelFusionFilter | None = None, bandWidth: float | None = None, bandContour: str = 'vote', labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def hybrid_fusion_filter(images: Sequence[NDArray[Any] | None], *, interior_filter: LabelFusionFilter | None = None, interior_image: _Image | None = None, image: _Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Uses one fuser in a band around the contour, and the interior fuser everywhere else.

    Both fusers are filters with their own parameters; GetBoundaryResult() and GetInteriorResult()
    return their results. They receive the same images, and the hybrid's mask, missing label,
    tolerances and threads if set. The interior may also be a given image (InteriorImage), or a
    trained DeepConsensusFilter, which reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())

    Function form of HybridFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    interior_filter : a label fusion filter, DeepConsensusFilter included, or None; default MajorityVoteFilter()
        Fuser used away from the contour.
    interior_image : an image, or None; default None
        Image used away from the contour instead of a fuser: a label image or, for two labels,
        the probability of the higher one, e.g. a network's.
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
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def hybrid_fusion_filter(images: Sequence[_ImageT | None], *, interior_filter: LabelFusionFilter | None = None, interior_image: _Image | None = None, image: _Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def hybrid_fusion_filter(*images: Any, interior_filter: LabelFusionFilter | None = None, interior_image: _Image | None = None, image: _Image | None = None, boundary_filter: LabelFusionFilter | None = None, band_width: float | None = None, band_contour: str = 'vote', label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def InstanceConsensus(images: Sequence[NDArray[Any] | None], *, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Object-by-object fusion: match the raters' marks, test which are real, fuse the outlines.

    Raters of lesions, nodules or cells first find objects and then outline them. Accordingly, marks
    of different raters are matched first; then a detection model estimates the probability that
    each object is real; finally each outline is fused from the raters who found the object. Inputs
    are masks, whose connected components are objects, or instance maps, whose labels need not
    correspond between raters. The output is an instance map, with labels sorted by the number of
    raters who found an object, or a mask. A voxel's probability is the product of the probability
    that its object is real and the probability that the voxel is inside the object, adjusted to
    exceed one half exactly inside the output's objects.

    Function form of InstanceConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    outputMap : one of instances, mask; default instances
        Whether each object has its own label in the output (instances), or all have label 1.
    inputObjects : one of components, labels; default components
        Whether an object of a rater is one connected component of a label, or all voxels with
        the same label.
    detectionThreshold : a number >= 0 and <= 1; default 0.5
        Objects are kept if their probability of being real is at least this.
    matchDistance : a number >= 0 and <= 100000, or None; default diagonal of a voxel
        Maximum distance in mm at which small marks that share no voxel are matched.
    outlineFilter : a label fusion filter, or None; default CoherenceVoteFilter()
        Fuser that draws the outlines, from the masks of each object's finders.
    cohort : a list of tables that match_lesions made, or None; default None
        Tables of other cases of the same raters, from match_lesions: detection rates are
        estimated from all cases.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def InstanceConsensus(images: Sequence[_ImageT | None], *, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def InstanceConsensus(*images: Any, outputMap: str = 'instances', inputObjects: str = 'components', detectionThreshold: float = 0.5, matchDistance: float | None = None, outlineFilter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def instance_consensus_filter(images: Sequence[NDArray[Any] | None], *, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Object-by-object fusion: match the raters' marks, test which are real, fuse the outlines.

    Raters of lesions, nodules or cells first find objects and then outline them. Accordingly, marks
    of different raters are matched first; then a detection model estimates the probability that
    each object is real; finally each outline is fused from the raters who found the object. Inputs
    are masks, whose connected components are objects, or instance maps, whose labels need not
    correspond between raters. The output is an instance map, with labels sorted by the number of
    raters who found an object, or a mask. A voxel's probability is the product of the probability
    that its object is real and the probability that the voxel is inside the object, adjusted to
    exceed one half exactly inside the output's objects.

    Function form of InstanceConsensusFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    output_map : one of instances, mask; default instances
        Whether each object has its own label in the output (instances), or all have label 1.
    input_objects : one of components, labels; default components
        Whether an object of a rater is one connected component of a label, or all voxels with
        the same label.
    detection_threshold : a number >= 0 and <= 1; default 0.5
        Objects are kept if their probability of being real is at least this.
    match_distance : a number >= 0 and <= 100000, or None; default diagonal of a voxel
        Maximum distance in mm at which small marks that share no voxel are matched.
    outline_filter : a label fusion filter, or None; default CoherenceVoteFilter()
        Fuser that draws the outlines, from the masks of each object's finders.
    cohort : a list of tables that match_lesions made, or None; default None
        Tables of other cases of the same raters, from match_lesions: detection rates are
        estimated from all cases.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def instance_consensus_filter(images: Sequence[_ImageT | None], *, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def instance_consensus_filter(*images: Any, output_map: str = 'instances', input_objects: str = 'components', detection_threshold: float = 0.5, match_distance: float | None = None, outline_filter: LabelFusionFilter | None = None, cohort: Sequence[LesionTable] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def IntensityRefinement(images: Sequence[NDArray[Any] | None], *, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensitySigma: float | None = None, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Refines a fuser's result with image intensities where raters disagree, without training data.

    The intensity distribution of each label is learned from voxels on which all raters agree;
    around a disputed voxel it gives the likelihood of the voxel's intensity under each label. The
    exponent of the likelihood is chosen by cross-validation over raters: if intensities do not
    improve the prediction of each rater from the others, the exponent is 0 and the result is that
    of the fuser, which GetFilterResult() returns. At least three raters are needed to hold one out.

    >>> refined = IntensityRefinementFilter(Image=ct).Execute(raters)

    Function form of IntensityRefinementFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    image : an image, or None; default None
        The image the labels were drawn on.
    filter : a label fusion filter, or None; default ConsensusFilter()
        Fuser whose result is refined.
    intensitySigma : a number > 0, or None; default 8 smallest voxel sides
        Standard deviation, in mm, of the neighbourhood from which intensities are learned.
    labelForUndecidedPixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def IntensityRefinement(images: Sequence[_ImageT | None], *, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensitySigma: float | None = None, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def IntensityRefinement(*images: Any, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensitySigma: float | None = None, labelForUndecidedPixels: int = 18446744073709551615, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def intensity_refinement_filter(images: Sequence[NDArray[Any] | None], *, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensity_sigma: float | None = None, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Refines a fuser's result with image intensities where raters disagree, without training data.

    The intensity distribution of each label is learned from voxels on which all raters agree;
    around a disputed voxel it gives the likelihood of the voxel's intensity under each label. The
    exponent of the likelihood is chosen by cross-validation over raters: if intensities do not
    improve the prediction of each rater from the others, the exponent is 0 and the result is that
    of the fuser, which GetFilterResult() returns. At least three raters are needed to hold one out.

    >>> refined = IntensityRefinementFilter(Image=ct).Execute(raters)

    Function form of IntensityRefinementFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    image : an image, or None; default None
        The image the labels were drawn on.
    filter : a label fusion filter, or None; default ConsensusFilter()
        Fuser whose result is refined.
    intensity_sigma : a number > 0, or None; default 8 smallest voxel sides
        Standard deviation, in mm, of the neighbourhood from which intensities are learned.
    label_for_undecided_pixels : an integer; default max label + 1
        Label of tied voxels; by default the largest label + 1.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def intensity_refinement_filter(images: Sequence[_ImageT | None], *, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensity_sigma: float | None = None, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def intensity_refinement_filter(*images: Any, image: _Image | None = None, filter: LabelFusionFilter | None = None, intensity_sigma: float | None = None, label_for_undecided_pixels: int = 18446744073709551615, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def LocallyWeightedVote(images: Sequence[NDArray[Any] | None], *, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote of atlases, each weighted by the local similarity of its image to the target.

    The weight of an atlas is ``(1 + d / smallest)^-Power``, where d is the mean squared difference
    of the patches, so that in homogeneous regions all atlases have nearly equal weights.

    Function form of LocallyWeightedVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    power : a number >= 0 and <= 16; default 2.0
        Exponent of the inverse mean squared difference.
    image : an image, or a list with an image for each modality, or None; default None
        The target that atlases were warped to; a list, or a vector image, of several
        modalities.
    atlasImages : a list that has, for each rater, an image, a list of images (modalities) or None, or None; default None
        The image of each atlas, on the target's grid, with the target's modalities.
    patchRadius : a number >= 0, or a list of numbers >= 0, or None; default smallest voxel side
        Half width, in mm, of the patch in which images are compared, and which votes.
    searchRadius : a number >= 0, or a list of numbers >= 0, or None; default 2 smallest voxel sides
        Half width, in mm, of the box that is searched for the most similar patch; 0: no search.
    normalizePatches : True or False; default True
        Whether patches are normalised to zero mean and unit variance before comparison.
    exclusionImages : a dict with an image for each of some labels, or None; default None
        For each of some labels, an image that is not zero where the label is impossible.
    fuseIntensities : True or False; default False
        Whether the atlases' images are fused too, at every voxel.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LocallyWeightedVote(images: Sequence[_ImageT | None], *, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def LocallyWeightedVote(*images: Any, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def locally_weighted_vote_filter(images: Sequence[NDArray[Any] | None], *, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Vote of atlases, each weighted by the local similarity of its image to the target.

    The weight of an atlas is ``(1 + d / smallest)^-Power``, where d is the mean squared difference
    of the patches, so that in homogeneous regions all atlases have nearly equal weights.

    Function form of LocallyWeightedVoteFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    power : a number >= 0 and <= 16; default 2.0
        Exponent of the inverse mean squared difference.
    image : an image, or a list with an image for each modality, or None; default None
        The target that atlases were warped to; a list, or a vector image, of several
        modalities.
    atlas_images : a list that has, for each rater, an image, a list of images (modalities) or None, or None; default None
        The image of each atlas, on the target's grid, with the target's modalities.
    patch_radius : a number >= 0, or a list of numbers >= 0, or None; default smallest voxel side
        Half width, in mm, of the patch in which images are compared, and which votes.
    search_radius : a number >= 0, or a list of numbers >= 0, or None; default 2 smallest voxel sides
        Half width, in mm, of the box that is searched for the most similar patch; 0: no search.
    normalize_patches : True or False; default True
        Whether patches are normalised to zero mean and unit variance before comparison.
    exclusion_images : a dict with an image for each of some labels, or None; default None
        For each of some labels, an image that is not zero where the label is impossible.
    fuse_intensities : True or False; default False
        Whether the atlases' images are fused too, at every voxel.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def locally_weighted_vote_filter(images: Sequence[_ImageT | None], *, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def locally_weighted_vote_filter(*images: Any, power: float = 2.0, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
@overload
def JointLabelFusion(images: Sequence[NDArray[Any] | None], *, beta: float = 2.0, alpha: float = 0.1, constrainWeights: bool = False, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Joint label fusion: vote of patches, weighted by the atlases' expected joint errors.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1`` for normalised patches; from each atlas, the
    patch in the search box that is most similar to the target's is used.

    Function form of JointLabelFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    beta : a number > 0 and < 16; default 2.0
        Exponent of the errors.
    alpha : a number > 0; default 0.1
        Conditioning, added to the diagonal.
    constrainWeights : True or False; default False
        Whether weights are optimised under the constraint that they are not negative; else
        negative weights are set to 0.
    image : an image, or a list with an image for each modality, or None; default None
        The target that atlases were warped to; a list, or a vector image, of several
        modalities.
    atlasImages : a list that has, for each rater, an image, a list of images (modalities) or None, or None; default None
        The image of each atlas, on the target's grid, with the target's modalities.
    patchRadius : a number >= 0, or a list of numbers >= 0, or None; default smallest voxel side
        Half width, in mm, of the patch in which images are compared, and which votes.
    searchRadius : a number >= 0, or a list of numbers >= 0, or None; default 2 smallest voxel sides
        Half width, in mm, of the box that is searched for the most similar patch; 0: no search.
    normalizePatches : True or False; default True
        Whether patches are normalised to zero mean and unit variance before comparison.
    exclusionImages : a dict with an image for each of some labels, or None; default None
        For each of some labels, an image that is not zero where the label is impossible.
    fuseIntensities : True or False; default False
        Whether the atlases' images are fused too, at every voxel.
    raterWeights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def JointLabelFusion(images: Sequence[_ImageT | None], *, beta: float = 2.0, alpha: float = 0.1, constrainWeights: bool = False, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def JointLabelFusion(*images: Any, beta: float = 2.0, alpha: float = 0.1, constrainWeights: bool = False, image: _Image | Sequence[_Image] | None = None, atlasImages: Sequence[_Image | Sequence[_Image] | None] | None = None, patchRadius: float | Sequence[float] | None = None, searchRadius: float | Sequence[float] | None = None, normalizePatches: bool = True, exclusionImages: Mapping[int, _Image] | None = None, fuseIntensities: bool = False, raterWeights: Sequence[float] | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def joint_label_fusion_filter(images: Sequence[NDArray[Any] | None], *, beta: float = 2.0, alpha: float = 0.1, constrain_weights: bool = False, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Joint label fusion: vote of patches, weighted by the atlases' expected joint errors.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1`` for normalised patches; from each atlas, the
    patch in the search box that is most similar to the target's is used.

    Function form of JointLabelFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    beta : a number > 0 and < 16; default 2.0
        Exponent of the errors.
    alpha : a number > 0; default 0.1
        Conditioning, added to the diagonal.
    constrain_weights : True or False; default False
        Whether weights are optimised under the constraint that they are not negative; else
        negative weights are set to 0.
    image : an image, or a list with an image for each modality, or None; default None
        The target that atlases were warped to; a list, or a vector image, of several
        modalities.
    atlas_images : a list that has, for each rater, an image, a list of images (modalities) or None, or None; default None
        The image of each atlas, on the target's grid, with the target's modalities.
    patch_radius : a number >= 0, or a list of numbers >= 0, or None; default smallest voxel side
        Half width, in mm, of the patch in which images are compared, and which votes.
    search_radius : a number >= 0, or a list of numbers >= 0, or None; default 2 smallest voxel sides
        Half width, in mm, of the box that is searched for the most similar patch; 0: no search.
    normalize_patches : True or False; default True
        Whether patches are normalised to zero mean and unit variance before comparison.
    exclusion_images : a dict with an image for each of some labels, or None; default None
        For each of some labels, an image that is not zero where the label is impossible.
    fuse_intensities : True or False; default False
        Whether the atlases' images are fused too, at every voxel.
    rater_weights : a list of numbers >= 0, or None; default equal
        Weight of each rater's vote.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def joint_label_fusion_filter(images: Sequence[_ImageT | None], *, beta: float = 2.0, alpha: float = 0.1, constrain_weights: bool = False, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def joint_label_fusion_filter(*images: Any, beta: float = 2.0, alpha: float = 0.1, constrain_weights: bool = False, image: _Image | Sequence[_Image] | None = None, atlas_images: Sequence[_Image | Sequence[_Image] | None] | None = None, patch_radius: float | Sequence[float] | None = None, search_radius: float | Sequence[float] | None = None, normalize_patches: bool = True, exclusion_images: Mapping[int, _Image] | None = None, fuse_intensities: bool = False, rater_weights: Sequence[float] | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
def AtlasSelection(target: Any, images: Sequence[Any], *, numberOfAtlases: int = 5, similarity: str = 'squared difference', maskImage: _Image | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> tuple[float, ...]:
    """Assigns weight 1 to the atlases whose images are most similar to the target, 0 to the others.

    Execute(target, images) takes images on one grid, None for a missing atlas, and returns weights
    that fusers accept as RaterWeights. Intensities are first matched to the target's.

    Function form of AtlasSelectionFilter.

    Parameters
    ----------
    target : image
    images : list of images
        One per atlas, on the target's grid; None for a missing atlas.
    numberOfAtlases : an integer >= 1; default 5
        How many atlases are chosen.
    similarity : one of squared difference, normalised correlation; default squared difference
        How images are compared.
    maskImage : an image, or None; default None
        Region (non-zero) in which images are compared; None: everywhere.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    tuple of float
        Weight of each atlas.
    """
def atlas_selection_filter(target: Any, images: Sequence[Any], *, number_of_atlases: int = 5, similarity: str = 'squared difference', mask_image: _Image | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> tuple[float, ...]:
    """Assigns weight 1 to the atlases whose images are most similar to the target, 0 to the others.

    Execute(target, images) takes images on one grid, None for a missing atlas, and returns weights
    that fusers accept as RaterWeights. Intensities are first matched to the target's.

    Function form of AtlasSelectionFilter.

    Parameters
    ----------
    target : image
    images : list of images
        One per atlas, on the target's grid; None for a missing atlas.
    number_of_atlases : an integer >= 1; default 5
        How many atlases are chosen.
    similarity : one of squared difference, normalised correlation; default squared difference
        How images are compared.
    mask_image : an image, or None; default None
        Region (non-zero) in which images are compared; None: everywhere.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    tuple of float
        Weight of each atlas.
    """
def ConformalBand(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, tolerance: float = 0.05, unit: str = 'case', risk: str = 'miscoverage', score: str = 'distance', normalization: str = 'rater_spread', mondrian: bool = False, emptyPolicy: str = 'ambiguous', regionMargin: float = 10.0, probabilityIsVoteFraction: bool = False, alpha: float = 0.1, withoutPromise: bool = False, fusionMethod: str | None = None, referenceLabel: int | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any:
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus; never the consensus itself. Execute then marks 0 background, 1 foreground, 2
    ambiguous and 3 empty. Given a list of probability images, one per label, bit k of the result is
    set if label k is possible; GetSetSizeImage() returns the number of possible labels.
    GetGuarantee() returns the guarantee in one sentence. No statistic of the raters can reveal an
    error that all of them share.

    Function form of ConformalBandFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into this consensus, as in Calibrate.
    record : path
        The file that Save wrote.
    tolerance : a number >= 0 and <= 1; default 0.05
        Share of the foreground a covered case may miss; a quarter of it for the background.
    unit : one of case, voxel; default case
        The exchangeable unit; voxel is the paper's choice and has no guarantee.
    risk : one of miscoverage, fnr, max; default miscoverage
        The bounded risk: the probability of missing too much, the mean share missed, or the
        probability of any miss.
    score : one of distance, probability; default distance
        Score of a voxel: distance from the consensus contour in mm, or log-odds.
    normalization : one of rater_spread, none; default rater_spread
        Whether distances are measured in units of the spread of the case's raters.
    mondrian : True or False; default False
        One threshold, and one guarantee, per label.
    emptyPolicy : one of ambiguous, keep; default ambiguous
        What to do with voxels without any possible label: mark them ambiguous, or keep 3.
    regionMargin : a number >= 0 and <= 100000; default 10.0
        Width in mm of the region around the structure that is evaluated.
    probabilityIsVoteFraction : True or False; default False
        Whether the probabilities are vote fractions.
    alpha : a number > 0 and < 1; default 0.1
        Probability that a case is not covered or, where the mean share missed is bounded, that
        share.
    withoutPromise : True or False; default False
        Whether to accept probabilities of another kind or FusionMethod than the calibration's,
        without any guarantee.
    fusionMethod : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    referenceLabel : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set if label
        k is possible (uint8 for up to 8 labels, uint16 for up to 16, otherwise a vector image
        with one 0/1 component per label).
    """
def conformal_band_filter(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, tolerance: float = 0.05, unit: str = 'case', risk: str = 'miscoverage', score: str = 'distance', normalization: str = 'rater_spread', mondrian: bool = False, empty_policy: str = 'ambiguous', region_margin: float = 10.0, probability_is_vote_fraction: bool = False, alpha: float = 0.1, without_promise: bool = False, fusion_method: str | None = None, reference_label: int | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any:
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus; never the consensus itself. Execute then marks 0 background, 1 foreground, 2
    ambiguous and 3 empty. Given a list of probability images, one per label, bit k of the result is
    set if label k is possible; GetSetSizeImage() returns the number of possible labels.
    GetGuarantee() returns the guarantee in one sentence. No statistic of the raters can reveal an
    error that all of them share.

    Function form of ConformalBandFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into this consensus, as in Calibrate.
    record : path
        The file that Save wrote.
    tolerance : a number >= 0 and <= 1; default 0.05
        Share of the foreground a covered case may miss; a quarter of it for the background.
    unit : one of case, voxel; default case
        The exchangeable unit; voxel is the paper's choice and has no guarantee.
    risk : one of miscoverage, fnr, max; default miscoverage
        The bounded risk: the probability of missing too much, the mean share missed, or the
        probability of any miss.
    score : one of distance, probability; default distance
        Score of a voxel: distance from the consensus contour in mm, or log-odds.
    normalization : one of rater_spread, none; default rater_spread
        Whether distances are measured in units of the spread of the case's raters.
    mondrian : True or False; default False
        One threshold, and one guarantee, per label.
    empty_policy : one of ambiguous, keep; default ambiguous
        What to do with voxels without any possible label: mark them ambiguous, or keep 3.
    region_margin : a number >= 0 and <= 100000; default 10.0
        Width in mm of the region around the structure that is evaluated.
    probability_is_vote_fraction : True or False; default False
        Whether the probabilities are vote fractions.
    alpha : a number > 0 and < 1; default 0.1
        Probability that a case is not covered or, where the mean share missed is bounded, that
        share.
    without_promise : True or False; default False
        Whether to accept probabilities of another kind or FusionMethod than the calibration's,
        without any guarantee.
    fusion_method : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    reference_label : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set if label
        k is possible (uint8 for up to 8 labels, uint16 for up to 16, otherwise a vector image
        with one 0/1 component per label).
    """
def ConformalMargin(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, direction: str = 'outward', coveredShare: float = 1.0, craniocaudalRatio: float = 1.0, alpha: float = 0.1, withoutPromise: bool = False, fusionMethod: str | None = None, referenceLabel: int | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any:
    """A margin in mm around a consensus, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus. The margin is the smallest one by which the widened consensus covers the reference
    (or the shrunk one lies within it) in enough cases that the next case is covered with
    probability 1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of
    probability images, one per label, each label has its own margin and bit k is set if label k is
    possible. GetRecord().tau contains the margins. Given raters, the record also contains the width
    of a ConformalBandFilter with the same guarantee, which adapts to each case's raters.

    Function form of ConformalMarginFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into this consensus, as many as in Calibrate. If raters are given to
        both, Doubts reports whether they are unusually close together or far apart.
    record : path
        The file that Save wrote.
    direction : one of outward, inward, both; default outward
        Whether the consensus is widened to cover the reference, shrunk to lie within it, or
        both with one margin.
    coveredShare : a number >= 0 and <= 1; default 1.0
        Share of the reference's volume that must lie within the margin for a case to count as
        covered; inward, the share of the consensus that is not certain and wrong.
    craniocaudalRatio : a number > 0 and < 1000; default 1.0
        Ratio of the margin along the patient (physical z) to that across; 1: isotropic.
    alpha : a number > 0 and < 1; default 0.1
        Probability that a case is not covered or, where the mean share missed is bounded, that
        share.
    withoutPromise : True or False; default False
        Whether to accept probabilities of another kind or FusionMethod than the calibration's,
        without any guarantee.
    fusionMethod : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    referenceLabel : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        As in ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list, bit k is set if
        label k is possible.
    """
def conformal_margin_filter(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, direction: str = 'outward', covered_share: float = 1.0, craniocaudal_ratio: float = 1.0, alpha: float = 0.1, without_promise: bool = False, fusion_method: str | None = None, reference_label: int | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any:
    """A margin in mm around a consensus, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus. The margin is the smallest one by which the widened consensus covers the reference
    (or the shrunk one lies within it) in enough cases that the next case is covered with
    probability 1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of
    probability images, one per label, each label has its own margin and bit k is set if label k is
    possible. GetRecord().tau contains the margins. Given raters, the record also contains the width
    of a ConformalBandFilter with the same guarantee, which adapts to each case's raters.

    Function form of ConformalMarginFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into this consensus, as many as in Calibrate. If raters are given to
        both, Doubts reports whether they are unusually close together or far apart.
    record : path
        The file that Save wrote.
    direction : one of outward, inward, both; default outward
        Whether the consensus is widened to cover the reference, shrunk to lie within it, or
        both with one margin.
    covered_share : a number >= 0 and <= 1; default 1.0
        Share of the reference's volume that must lie within the margin for a case to count as
        covered; inward, the share of the consensus that is not certain and wrong.
    craniocaudal_ratio : a number > 0 and < 1000; default 1.0
        Ratio of the margin along the patient (physical z) to that across; 1: isotropic.
    alpha : a number > 0 and < 1; default 0.1
        Probability that a case is not covered or, where the mean share missed is bounded, that
        share.
    without_promise : True or False; default False
        Whether to accept probabilities of another kind or FusionMethod than the calibration's,
        without any guarantee.
    fusion_method : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    reference_label : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        As in ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list, bit k is set if
        label k is possible.
    """
@overload
def LearnedFusion(images: Sequence[NDArray[Any] | None], *, record: PathLike, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Consensus with rater weights learned from cases with a known truth, if they help.

    Fit learns from at least five cases, label by label, how reliable each rater is at voxels on
    which raters disagree. Execute assigns the most probable label to those voxels; all other voxels
    keep the label of Consensus, as do all voxels if cross-validation shows no gain. Raters must be
    the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)

    Function form of LearnedFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    record : path
        The file that Save wrote.
    classAxis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreementLimits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def LearnedFusion(images: Sequence[_ImageT | None], *, record: PathLike, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def LearnedFusion(*images: Any, record: PathLike, classAxis: int | None = None, agreementLimits: Mapping[str, float] | None = None, maskImage: _Image | None = None, missingLabel: int | None = None, raterMasks: Sequence[_Image | None] | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any: ...
@overload
def learned_fusion_filter(images: Sequence[NDArray[Any] | None], *, record: PathLike, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> NDArray[Any]:
    """Consensus with rater weights learned from cases with a known truth, if they help.

    Fit learns from at least five cases, label by label, how reliable each rater is at voxels on
    which raters disagree. Execute assigns the most probable label to those voxels; all other voxels
    keep the label of Consensus, as do all voxels if cross-validation shows no gain. Raters must be
    the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)

    Function form of LearnedFusionFilter.

    Parameters
    ----------
    images : list of images, or the images themselves
        Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
        torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
        masked voxel a missing vote; a vector image contains one rater per component. Dask
        arrays are not computed.
    record : path
        The file that Save wrote.
    class_axis : an integer, or None; default none
        Axis of each input array that holds the probabilities of the classes.
    agreement_limits : a {name: number >= 0} dict with names among good_dice, poor_dice, good_surface_dice, ...; default None
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The fused label map, of the first input's family, with its geometry.
    """
@overload
def learned_fusion_filter(images: Sequence[_ImageT | None], *, record: PathLike, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> _ImageT: ...
@overload
def learned_fusion_filter(*images: Any, record: PathLike, class_axis: int | None = None, agreement_limits: Mapping[str, float] | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any: ...
def CutCalibration(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, measure: str = 'dice', fusionMethod: str | None = None, referenceLabel: int | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any:
    """Learns cuts (thresholds) of probabilities from at least ten cases, and applies them.

    For networks that under-segment, or raters whose masks are all too small, a cut below one half
    is better. Cuts are learned per label. Their gain over one half is measured by leave-one-out
    cross-validation, and a cut remains one half if the interval of its gain includes 0. A label's
    mask consists of the voxels at which its probability reaches its cut; with several labels, each
    label's probability is divided by the odds of its cut, and the largest quotient wins.
    GetMeaning() describes the result.

    Function form of CutCalibrationFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into the probability, as many as in Calibrate.
    record : path
        The file that Save wrote.
    measure : one of dice, volume; default dice
        The measure to maximise: the Dice, or the ratio of the smaller to the larger volume.
    fusionMethod : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    referenceLabel : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The label map: uint8, or uint16 if there are more than 256 labels.
    """
def cut_calibration_filter(probability: Any, raters: Sequence[Any] | None = None, *, record: PathLike, measure: str = 'dice', fusion_method: str | None = None, reference_label: int | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any:
    """Learns cuts (thresholds) of probabilities from at least ten cases, and applies them.

    For networks that under-segment, or raters whose masks are all too small, a cut below one half
    is better. Cuts are learned per label. Their gain over one half is measured by leave-one-out
    cross-validation, and a cut remains one half if the interval of its gain includes 0. A label's
    mask consists of the voxels at which its probability reaches its cut; with several labels, each
    label's probability is divided by the odds of its cut, and the largest quotient wins.
    GetMeaning() describes the result.

    Function form of CutCalibrationFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    raters : list of label images, optional
        The raters fused into the probability, as many as in Calibrate.
    record : path
        The file that Save wrote.
    measure : one of dice, volume; default dice
        The measure to maximise: the Dice, or the ratio of the smaller to the larger volume.
    fusion_method : a text, or None; default unknown
        The method that made the probabilities; a record of another method is rejected.
    reference_label : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        The label map: uint8, or uint16 if there are more than 256 labels.
    """
def TemperatureScaling(probability: Any, *, record: PathLike, method: str = 'temperature_bias', regionMargin: float = 10.0, probabilityIsVoteFraction: bool = False, referenceLabel: int | None = None, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any:
    """Calibrates probabilities: fit on cases with a reference, apply to others.

    The fit uses only the region marked by any rater, dilated by RegionMargin. GetReport() compares
    the reliability before and after scaling, in the region and in the whole image. A warning is
    issued if the ECE increases. If scaling does not reduce the cross-validated log loss,
    probabilities are left unchanged, also with a warning. Scaled probabilities are calibrated on
    average, not for each case.

    Function form of TemperatureScalingFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    record : path
        The file that Save wrote.
    method : one of temperature_bias, temperature, isotonic; default temperature_bias
        The model: a temperature and a bias per label, a temperature, or a monotonic curve.
    regionMargin : a number >= 0 and <= 100000; default 10.0
        Width in mm of the region around the structure that is evaluated.
    probabilityIsVoteFraction : True or False; default False
        Whether the probabilities are vote fractions.
    referenceLabel : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image or list of images
        As many images as were given, of type float64.
    """
def temperature_scaling_filter(probability: Any, *, record: PathLike, method: str = 'temperature_bias', region_margin: float = 10.0, probability_is_vote_fraction: bool = False, reference_label: int | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any:
    """Calibrates probabilities: fit on cases with a reference, apply to others.

    The fit uses only the region marked by any rater, dilated by RegionMargin. GetReport() compares
    the reliability before and after scaling, in the region and in the whole image. A warning is
    issued if the ECE increases. If scaling does not reduce the cross-validated log loss,
    probabilities are left unchanged, also with a warning. Scaled probabilities are calibrated on
    average, not for each case.

    Function form of TemperatureScalingFilter.

    Parameters
    ----------
    probability : image, or list of images with one per label
    record : path
        The file that Save wrote.
    method : one of temperature_bias, temperature, isotonic; default temperature_bias
        The model: a temperature and a bias per label, a temperature, or a monotonic curve.
    region_margin : a number >= 0 and <= 100000; default 10.0
        Width in mm of the region around the structure that is evaluated.
    probability_is_vote_fraction : True or False; default False
        Whether the probabilities are vote fractions.
    reference_label : an integer >= 1, or None; default the only one
        Which label of the references is the foreground.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image or list of images
        As many images as were given, of type float64.
    """
def CohortSTAPLE(cases: Iterable[Any], truths: Sequence[Any | None] | None = None, *, prior: float | Sequence[float] | None = None, missingLabel: int | None = None, confidenceWeight: float = 1.0, foregroundValue: float = 1.0, maximumIterations: int = 4294967295, tolerance: float = 1e-07, sensitivityPrior: Sequence[float] = ..., specificityPrior: Sequence[float] = ..., initialization: str = ..., variant: str = 'basic', excludeConsensusVoxels: bool = ..., estimatePrior: bool = ..., priorPseudoCounts: float | Sequence[float] = 0.0, stopCriterion: str = 'parameters', initialPerformance: float = 0.9999, damping: float = 0.0, numberOfInitializations: int = ..., randomSeed: int = 0, initializationRange: Sequence[float] = (0.5, 1.0), inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfThreads: int = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> list[Any]:
    """STAPLE that estimates rater performance from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases; each case has its own prior. A
    case is a list of images of the same raters in the same order, with None for a rater who did not
    annotate it; cases need not share a grid. For a single case the result equals that of STAPLE.

    The true segmentations of some cases may be given. They then replace the estimated ones when
    rater performance is estimated, and GetTruthGain() reports whether this improves the other
    cases.

    Function form of CohortSTAPLEFilter.

    Parameters
    ----------
    cases : list of cases
        Each case is a list of SimpleITK or ITK images, or of arrays, on one grid; or a vector
        image with one rater per component.
    truths : list of label images, optional
        The true segmentation of each case, or None if it is not known.
    prior : a number > 0 and < 1, or a list of numbers >= 0 and <= 1, or None; default mean of each case's masks
        Foreground prior: a number, or one for each case.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
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
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    excludeConsensusVoxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimatePrior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    priorPseudoCounts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stopCriterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initialPerformance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    numberOfInitializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    randomSeed : an integer >= 0; default 0
        Seed of the random starts.
    initializationRange : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    list of images
        The float64 foreground probability of each case, with the family and geometry of its
        first image.
    """
def cohort_staple_filter(cases: Iterable[Any], truths: Sequence[Any | None] | None = None, *, prior: float | Sequence[float] | None = None, missing_label: int | None = None, confidence_weight: float = 1.0, foreground_value: float = 1.0, maximum_iterations: int = 4294967295, tolerance: float = 1e-07, sensitivity_prior: Sequence[float] = ..., specificity_prior: Sequence[float] = ..., initialization: str = ..., variant: str = 'basic', exclude_consensus_voxels: bool = ..., estimate_prior: bool = ..., prior_pseudo_counts: float | Sequence[float] = 0.0, stop_criterion: str = 'parameters', initial_performance: float = 0.9999, damping: float = 0.0, number_of_initializations: int = ..., random_seed: int = 0, initialization_range: Sequence[float] = (0.5, 1.0), inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> list[Any]:
    """STAPLE that estimates rater performance from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases; each case has its own prior. A
    case is a list of images of the same raters in the same order, with None for a rater who did not
    annotate it; cases need not share a grid. For a single case the result equals that of STAPLE.

    The true segmentations of some cases may be given. They then replace the estimated ones when
    rater performance is estimated, and GetTruthGain() reports whether this improves the other
    cases.

    Function form of CohortSTAPLEFilter.

    Parameters
    ----------
    cases : list of cases
        Each case is a list of SimpleITK or ITK images, or of arrays, on one grid; or a vector
        image with one rater per component.
    truths : list of label images, optional
        The true segmentation of each case, or None if it is not known.
    prior : a number > 0 and < 1, or a list of numbers >= 0 and <= 1, or None; default mean of each case's masks
        Foreground prior: a number, or one for each case.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
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
    variant : one of basic, restricted, advanced, careful; default basic
        basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the
        prior, expects raters better than chance and starts from the vote; careful is advanced
        from ten starts. Parameters that are set explicitly override it.
    exclude_consensus_voxels : True or False; default from Variant
        Leave voxels where all raters agree out of the estimation; they keep their label.
    estimate_prior : True or False; default from Variant, unless a prior is given
        Estimate the label prior in every iteration instead of fixing it.
    prior_pseudo_counts : a number >= 0, or a list of numbers >= 0; default 0.0
        Dirichlet prior of an estimated label prior: counts added to every label, or one number
        per label in ascending order (background first).
    stop_criterion : one of parameters, likelihood; default parameters
        Quantity that the tolerance applies to: parameters (the raters' performance) or
        likelihood (the log posterior, in nats).
    initial_performance : a number > 0 and < 1; default 0.9999
        Initial probability of the right label with Initialization theta.
    damping : a number >= 0 and <= 0.9; default 0.0
        Share of the old performance kept in each iteration.
    number_of_initializations : an integer >= 1 and <= 10000; default 1; 10 with Variant careful
        Starts of EM: first Initialization, then the other of mean and majority_vote, then
        random ones; the highest log posterior wins.
    random_seed : an integer >= 0; default 0
        Seed of the random starts.
    initialization_range : 2 numbers >= 0 and <= 1 in increasing order; default (0.5, 1.0)
        Range from which random starts draw each rater's performance.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    list of images
        The float64 foreground probability of each case, with the family and geometry of its
        first image.
    """
def DeepConsensus(image: Any, labels: Any, rater_ids: RaterIds | None = None, *, atlas_images: Any = None, record: PathLike, numberOfClasses: int | None = None, mode: str = 'auto', raterWeight: float | None = None, edgeWeight: float = 1.0, region: str = 'disputed', regionMargin: float = 5.0, lockUnanimousVoxels: bool | None = None, withoutGain: str = 'raters', windowSize: int | Sequence[int] = (64, 64, 64), windowOverlap: float = 0.25, numberOfIterations: int | None = None, timeBudget: float = 1800.0, numberOfEpochs: float = 0.0, cacheSize: int = 4096, batchSize: int | None = None, learningRate: float = 0.01, kLWeight: float = 0.05, numberOfChannels: int | None = None, validationFraction: float = 0.1, patience: int = 5, missingLabel: int | None = None, device: str = 'auto', numberOfThreads: int = ..., mixedPrecision: str = 'cuda', randomSeed: int = 0, inputsAreLabels: bool = False, coordinateTolerance: float = ..., directionTolerance: float = ..., numberOfWorkUnits: int = 0, keepMetaData: str = ..., debug: bool = ...) -> Any:
    """A network trained on images and lists of label maps, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # truths are optional
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it is better than the vote

    Function form of DeepConsensusFilter.

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
    record : path
        The file that Save wrote.
    numberOfClasses : an integer >= 2 and <= 255, or None; default the labels that occur
        Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a
        class.
    mode : one of auto, truth, joint, set; default auto
        Target of the training: known truths (truth); the likelihood of the raters given the
        image (joint); or held-out raters, predicted from the image and the others (set). auto
        is truth if truths are given, else set.
    raterWeight : a number >= 0 and <= 1000, or None; default chosen by Fit
        Joint mode: exponent of the raters' likelihood at disputed voxels; 0 uses the image
        alone. By default Fit chooses it by the prediction of held-out raters.
    edgeWeight : a number >= 0 and <= 1e+06; default 1.0
        Joint mode: weight of the loss that aligns labels with edges of the image; 0: none.
    region : one of disputed, full; default disputed
        Where Execute runs the network; elsewhere the unanimous label is kept.
    regionMargin : a number >= 0 and <= 100000; default 5.0
        Millimetres by which disputed regions grow if unanimous voxels are not locked.
    lockUnanimousVoxels : True or False, or None; default chosen by Fit
        Whether voxels on which all raters agree keep their label. By default they do, unless
        the truths of held-out cases show in Fit that the network is better there.
    withoutGain : one of raters, network; default raters
        What Execute uses if Fit could not show on held-out cases that the network is better
        than fusing the raters alone: raters (the vote, or joint fusion of atlases with images)
        or network.
    windowSize : an integer >= 8, or 2 integers >= 8, or 3 integers >= 8; default 64,64,64
        Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses
        the first two.
    windowOverlap : a number >= 0 and <= 0.9; default 0.25
        Overlap of neighbouring windows, as a fraction of the window.
    numberOfIterations : an integer >= 1, or None; default until it converges
        Number of training batches, increased if NumberOfEpochs needs more. By default Fit stops
        when the loss on held-out cases no longer improves.
    timeBudget : a number > 0; default 1800.0
        Seconds after which Fit stops, if NumberOfIterations is not set; the best weights so far
        are kept, and diagnostics report if the loss was still improving.
    numberOfEpochs : a number >= 0; default 0.0
        Minimum number of passes over the cases.
    cacheSize : an integer >= 0 and <= 1073741824; default 4096
        Megabytes of cases that Fit keeps in memory; other files are read again when needed.
    batchSize : an integer >= 1, or None; default 8 in 2D, 2 in 3D
        Patches per batch.
    learningRate : a number > 0 and < 1; default 0.01
        Peak learning rate of the optimiser.
    kLWeight : a number >= 0 and <= 1e+06; default 0.05
        Weight of the Kullback-Leibler divergence of misleading evidence from the uniform
        distribution, lambda of evidential learning; reached at half of the training.
    numberOfChannels : an integer >= 1 and <= 1024, or None; default 16 in 2D, 8 in 3D
        Features of the image stream at full resolution.
    validationFraction : a number >= 0 and <= 0.9; default 0.1
        Fraction of the cases that is held out for early stopping and for estimating the gain;
        at least three of twelve or more. 0: none, and the gain is unknown.
    patience : an integer >= 1; default 5
        Number of evaluations without improvement after which training stops; those before the
        peak of the learning rate do not count. There are ten evaluations in NumberOfIterations.
        If that is not set, there is one in fifty iterations, and training continues for at
        least a third of all evaluations so far.
    missingLabel : an integer, or None; default None
        The label that means 'not annotated here'.
    device : auto, cpu, cuda, cuda:0, cuda:1, ... or mps; default auto
        cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU.
    numberOfThreads : an integer >= 0 and <= 1024; default all cores
        Threads of torch and the kernels; the last digits of trained weights depend on it.
    mixedPrecision : one of cuda, off; default cuda
        bfloat16 networks on CUDA; float32 elsewhere or if off.
    randomSeed : an integer >= 0 and <= 9223372036854775807; default 0
        The same seed gives the same weights on one CPU with the same NumberOfThreads.
    inputsAreLabels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinateTolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    directionTolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    numberOfWorkUnits : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keepMetaData : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Fused label map, with the family, type and geometry of the labels.
    """
def deep_consensus_filter(image: Any, labels: Any, rater_ids: RaterIds | None = None, *, atlas_images: Any = None, record: PathLike, number_of_classes: int | None = None, mode: str = 'auto', rater_weight: float | None = None, edge_weight: float = 1.0, region: str = 'disputed', region_margin: float = 5.0, lock_unanimous_voxels: bool | None = None, without_gain: str = 'raters', window_size: int | Sequence[int] = (64, 64, 64), window_overlap: float = 0.25, number_of_iterations: int | None = None, time_budget: float = 1800.0, number_of_epochs: float = 0.0, cache_size: int = 4096, batch_size: int | None = None, learning_rate: float = 0.01, kl_weight: float = 0.05, number_of_channels: int | None = None, validation_fraction: float = 0.1, patience: int = 5, missing_label: int | None = None, device: str = 'auto', number_of_threads: int = ..., mixed_precision: str = 'cuda', random_seed: int = 0, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> Any:
    """A network trained on images and lists of label maps, with or without known truths.

    >>> deep = DeepConsensusFilter()
    >>> deep.Fit(images, label_lists)              # truths are optional
    >>> fused = deep.Execute(image, labels)
    >>> print(deep.GetDiagnostics())               # whether it is better than the vote

    Function form of DeepConsensusFilter.

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
    record : path
        The file that Save wrote.
    number_of_classes : an integer >= 2 and <= 255, or None; default the labels that occur
        Number of classes, labelled 0, 1, ...; by default every label that occurs in Fit is a
        class.
    mode : one of auto, truth, joint, set; default auto
        Target of the training: known truths (truth); the likelihood of the raters given the
        image (joint); or held-out raters, predicted from the image and the others (set). auto
        is truth if truths are given, else set.
    rater_weight : a number >= 0 and <= 1000, or None; default chosen by Fit
        Joint mode: exponent of the raters' likelihood at disputed voxels; 0 uses the image
        alone. By default Fit chooses it by the prediction of held-out raters.
    edge_weight : a number >= 0 and <= 1e+06; default 1.0
        Joint mode: weight of the loss that aligns labels with edges of the image; 0: none.
    region : one of disputed, full; default disputed
        Where Execute runs the network; elsewhere the unanimous label is kept.
    region_margin : a number >= 0 and <= 100000; default 5.0
        Millimetres by which disputed regions grow if unanimous voxels are not locked.
    lock_unanimous_voxels : True or False, or None; default chosen by Fit
        Whether voxels on which all raters agree keep their label. By default they do, unless
        the truths of held-out cases show in Fit that the network is better there.
    without_gain : one of raters, network; default raters
        What Execute uses if Fit could not show on held-out cases that the network is better
        than fusing the raters alone: raters (the vote, or joint fusion of atlases with images)
        or network.
    window_size : an integer >= 8, or 2 integers >= 8, or 3 integers >= 8; default 64,64,64
        Largest patch of training and inference: one number, or one per axis x, y, z; 2D uses
        the first two.
    window_overlap : a number >= 0 and <= 0.9; default 0.25
        Overlap of neighbouring windows, as a fraction of the window.
    number_of_iterations : an integer >= 1, or None; default until it converges
        Number of training batches, increased if NumberOfEpochs needs more. By default Fit stops
        when the loss on held-out cases no longer improves.
    time_budget : a number > 0; default 1800.0
        Seconds after which Fit stops, if NumberOfIterations is not set; the best weights so far
        are kept, and diagnostics report if the loss was still improving.
    number_of_epochs : a number >= 0; default 0.0
        Minimum number of passes over the cases.
    cache_size : an integer >= 0 and <= 1073741824; default 4096
        Megabytes of cases that Fit keeps in memory; other files are read again when needed.
    batch_size : an integer >= 1, or None; default 8 in 2D, 2 in 3D
        Patches per batch.
    learning_rate : a number > 0 and < 1; default 0.01
        Peak learning rate of the optimiser.
    kl_weight : a number >= 0 and <= 1e+06; default 0.05
        Weight of the Kullback-Leibler divergence of misleading evidence from the uniform
        distribution, lambda of evidential learning; reached at half of the training.
    number_of_channels : an integer >= 1 and <= 1024, or None; default 16 in 2D, 8 in 3D
        Features of the image stream at full resolution.
    validation_fraction : a number >= 0 and <= 0.9; default 0.1
        Fraction of the cases that is held out for early stopping and for estimating the gain;
        at least three of twelve or more. 0: none, and the gain is unknown.
    patience : an integer >= 1; default 5
        Number of evaluations without improvement after which training stops; those before the
        peak of the learning rate do not count. There are ten evaluations in NumberOfIterations.
        If that is not set, there is one in fifty iterations, and training continues for at
        least a third of all evaluations so far.
    missing_label : an integer, or None; default None
        The label that means 'not annotated here'.
    device : auto, cpu, cuda, cuda:0, cuda:1, ... or mps; default auto
        cpu, cuda, cuda:1, mps; auto takes CUDA, then MPS, then the CPU.
    number_of_threads : an integer >= 0 and <= 1024; default all cores
        Threads of torch and the kernels; the last digits of trained weights depend on it.
    mixed_precision : one of cuda, off; default cuda
        bfloat16 networks on CUDA; float32 elsewhere or if off.
    random_seed : an integer >= 0 and <= 9223372036854775807; default 0
        The same seed gives the same weights on one CPU with the same NumberOfThreads.
    inputs_are_labels : True or False; default False
        Take inputs and masks for labels although they look like images: many values, of which
        neighbours have different ones.
    coordinate_tolerance : a number >= 0; default 1e-06
        Largest difference of origin or spacing between inputs, as a fraction of the spacing.
    direction_tolerance : a number >= 0; default 1e-06
        Largest difference between elements of the inputs' direction matrices.
    number_of_work_units : an integer >= 0 and <= 4294967295; default 0
        Accepted for compatibility with SimpleITK; NumberOfThreads decides how work is split.
    keep_meta_data : one of nothing, description, all_but_identity, everything; default all_but_identity
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    image
        Fused label map, with the family, type and geometry of the labels.
    """
def agreement_filter(images: Any, reference: Any = None, names: Sequence[str] | None = None, *, surfaces: bool = True, surface_tolerance: float = 1.0, volume_intervals: bool = False, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> AgreementResult:
    """Agreement of raters, label by label: overlap, chance-corrected agreement, contour distances.

    Computes Dice, Jaccard, generalised conformity index, specific agreement, volumes and their
    variation. Fleiss' kappa and Krippendorff's alpha are computed over all voxels, where background
    inflates them, and over the voxels that any rater marked, which deflates them. Hausdorff
    distance, its 95th percentile, mean surface distance and surface Dice are computed between
    surface voxel centres, as defined by MONAI. Each pair of raters is compared only over voxels
    that both annotated. If both raters left a label out, Dice is 1 and distances are NaN; if only
    one did, distances are infinite.

    Function form of AgreementFilter.

    Parameters
    ----------
    images : list of images
        SimpleITK or itk images, or NumPy arrays, on one grid. None stands for a missing rater;
        a vector image holds one rater per component.
    reference : image or LabelFusionFilter, optional
        A consensus with which each rater is compared: a label image, or a filter that fuses
        `images` with this filter's MaskImage, MissingLabel and RaterMasks.
    names : sequence of str, optional
        Names of the raters.
    surfaces : True or False; default True
        Whether to measure surface distances as well.
    surface_tolerance : a number >= 0; default 1.0
        Distance in mm up to which contours agree, for the surface Dice.
    volume_intervals : True or False; default False
        Whether to estimate which volume another rater would draw, with a 90 % interval, from
        samples of the consensus; needs a filter as the reference.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    AgreementResult
        Has ``.table()``, ``.to_csv()``, ``.to_json()``, ``.to_pandas()``.
    """
def reader_bias_filter(images: Any, reference: Any = None, names: Sequence[str] | None = None, *, label: int | None = None, mask_image: _Image | None = None, missing_label: int | None = None, rater_masks: Sequence[_Image | None] | None = None, inputs_are_labels: bool = False, coordinate_tolerance: float = ..., direction_tolerance: float = ..., number_of_threads: int = ..., number_of_work_units: int = 0, keep_meta_data: str = ..., debug: bool = ...) -> ReaderBias:
    """Bias of each rater: mean distance outside a consensus in mm, overall and by direction.

    Directions are anatomical: a part of the surface is cranial if its normal points towards the
    head to within 37 degrees. Since each rater contributes to a consensus of all raters, the bias
    is slightly underestimated; to avoid this, compare with a true segmentation or a consensus of
    the other raters.

    Function form of ReaderBiasFilter.

    Parameters
    ----------
    images : list of images
        The raters, on one grid.
    reference : image or LabelFusionFilter, optional
        The consensus, or a filter that computes it; ConsensusFilter by default.
    names : sequence of str, optional
        Names of the raters.
    label : an integer, or None; default the largest
        Label value; by default the largest one that occurs, the foreground of masks.
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
        What outputs keep of the first input's metadata: nothing, what describes the grid, all
        but what can identify a person, or everything, patients' names included; geometry is
        always kept.
    debug : True or False; default False
        Print the filter before each Execute.

    Returns
    -------
    ReaderBias
        Has ``.table()``, ``.to_csv()`` and ``.sentences()``.
    """
def agreement(images: Any, reference: Any = None, names: Sequence[str] | None = None, **parameters: Any) -> AgreementResult:
    """Measure the agreement between raters; function form of AgreementFilter with the same
    parameters.

    Parameters
    ----------
    images : list of images
        SimpleITK or itk images, or NumPy arrays, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus with which each rater is compared, or a filter that computes it.
    names : sequence of str, optional
        Names of the raters.
    """
def band_structures(name: str, band: Any) -> list[Structure]:
    """Split a band of ConformalBandFilter into two structures: certainly inside, and ambiguous."""
def dice(first: ArrayLike, second: ArrayLike) -> float:
    """Compute the Dice coefficient ``2 |A and B| / (|A| + |B|)`` of two masks.

    Parameters
    ----------
    first, second : array_like, same shape
        Masks; non-zero voxels are foreground. For a single label of a label map, pass
        ``labels == value``.

    Returns
    -------
    float
        Value in [0, 1]. Two empty masks agree perfectly: 1.0. (The paper's notebook assigns 0 to
        them; the case does not occur in its Tables 1-3.)
    """
def draw_rater_number(curve: RaterNumberCurve, path: PathLike) -> None:
    """Plot the quality of the consensus against the number of raters, extrapolated to twice that
    number.

    Parameters
    ----------
    curve : RaterNumberCurve
        Result of rater_number_curve.
    path : str or path
        PNG file, replaced atomically.
    """
def fuse_structures(structures: Mapping[str, Sequence[Any]], fuser: LabelFusionFilter, output: Callable[[LabelFusionFilter], Any] | None = None) -> dict[str, Any]:
    """Fuse structures, which may overlap, each one separately.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader, with 1 inside; None if a reader did not draw the structure.
    fuser : LabelFusionFilter
        Any fuser, with its parameters.
    output : callable, optional
        Called with the fuser after each structure; its return value is used as the result, by
        default the fused mask. With ``lambda fuser: fuser.GetProbabilityImage(1)`` the result is
        the probability.

    Returns
    -------
    dict of name to image
        Fused masks; undecided voxels, if any, have the fuser's label for undecided voxels.
    """
def hold_out_raters(cases: Iterable[Sequence[Any]], fuser: LabelFusionFilter, foreground: int | None = None, case_ids: Sequence[str] | None = None) -> HeldOutCohort:
    """Hold out one rater in each case and fuse the others.

    The index of the rater held out is the position of the case modulo the number of raters.

    Parameters
    ----------
    cases : iterable of lists of label images
        Each case has at least two raters, the same number in all cases.
    fuser : LabelFusionFilter
        Fuses the other raters; its probability of `foreground` is used for calibration.
    foreground : int, optional
        The label to calibrate; all others count as background. By default the only label.
    case_ids : sequence of str, optional
        Name of each case for error messages; by default its number.

    Returns
    -------
    HeldOutCohort
        Its references are the held-out raters, its raters the fused ones. A band calibrated on it
        applies to a consensus of as many raters, and covers a new rater, not the true segmentation.
    """
def html_of(thing: Any) -> str | None:
    """Return the HTML of an object for notebooks; None if only its text should be shown."""
def joint_label_fusion(target_image: Any, target_image_mask: Any, atlas_list: Sequence[Any], beta: float = 4, rad: int | Sequence[int] = 2, label_list: Sequence[Any] | None = None, rho: float = 0.01, usecor: bool = False, r_search: int | Sequence[int] = 3, nonnegative: bool = False, no_zeroes: bool = False, max_lab_plus_one: bool = False, output_prefix: str | None = None, verbose: bool = False, *, inputs_are_labels: bool = False) -> Any:
    """Fuse atlases as ``ants.joint_label_fusion`` does, but for SimpleITK, ITK or NumPy images.

    Differences from ANTs: the background is a label that can win; `usecor` and `verbose` have no
    effect, since patches are always normalised before comparison; the input images are not changed;
    voxels to which all atlases assign the same label keep it.

    Parameters
    ----------
    target_image, target_image_mask : image
    atlas_list : list of images
        Atlas images on the target's grid.
    beta, rho : float
        Exponent of the errors, and regularisation term added to the diagonal.
    rad, r_search : int, or one int per axis
        Radii of the patch and of the search region in voxels.
    label_list : list of images, optional
        Label images of the atlases; without them only intensities are fused.
    nonnegative : bool
        Whether weights are constrained to be non-negative.
    no_zeroes : bool
        Whether to exclude voxels that any atlas labels 0.
    max_lab_plus_one : bool
        Whether to also return the label map without background.
    output_prefix : str, optional
        If given, probabilities are also written to ``<output_prefix>prob01.nii.gz`` etc.
    inputs_are_labels : bool
        Whether to accept labels and mask even if one resembles an intensity image.

    Returns
    -------
    dict, or image
        "segmentation", "intensity", "probabilityimages" and their labels, "segmentation_numbers";
        with `max_lab_plus_one` also "segmentation_raw" and "background_prob". Without labels, the
        image of fused intensities.
    """
def lesion_agreement(images: Any, reference: Any = None, names: Sequence[str] | None = None, *, inputObjects: ObjectKind = 'components', leastOverlap: float = 0.5, sizeLimits: Sequence[float] = (5.0, 10.0), inputsAreLabels: bool = False) -> LesionAgreements:
    """Compare raters by objects: detection F1, panoptic quality, Dice and volumes, by object size.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with arbitrary instance labels, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus with which each rater is compared, or a filter that fuses `images`.
    names : sequence of str, optional
        Names of the raters.
    inputObjects : "components" or "labels"
        Definition of an object: a connected component of one label, or all voxels of one label.
    leastOverlap : float
        Minimum intersection over union of two objects that match.
    sizeLimits : sequence of float
        Boundaries between size classes, as equivalent sphere diameters in mm.
    inputsAreLabels : bool
        Accept inputs as label images even if one looks like an intensity image.

    Returns
    -------
    LesionAgreements
        Has ``.rows``, ``.to_csv()``, ``.to_pandas()``: a row for each pair and size class.
    """
def match_lesions(images: Any, **parameters: Any) -> LesionTable:
    """Match the marks of different raters, and estimate which objects are real.

    Parameters
    ----------
    images : list of images
        Masks or instance maps on one grid, as for InstanceConsensusFilter.
    parameters
        Parameters of InstanceConsensusFilter.

    Returns
    -------
    LesionTable
        Has ``.lesions``, ``.rows()``, ``.to_csv()``, ``.to_json()``, ``.to_frame()``.
    """
def match_structures(readers: Mapping[str, Sequence[Structure]], mapping: Renamings | None = None, *, words: StructureWords | None = None, accept: float | None = None) -> MatchedStructures:
    """Match the structures of several raters.

    Structures match if their names mean the same organ, side and numbers, in any spelling.
    Structures without a match are matched by their codes, if a code is specific and occurs once per
    rater. For the remaining ones there may be `proposals`. Structures without any voxel are
    ignored, since their rater did not draw them.

    Parameters
    ----------
    readers : mapping of reader to structures
    mapping : mapping of name to name, or of (reader, name) to name, optional
        New names of structures, for all raters or for one; they override names and codes.
    words : StructureWords, optional
        Table of organ names; by default the package's own.
    accept : float, optional
        Accept proposals whose Dice is at least this value.
    """
def plan_agreement(structures: Mapping[str, Sequence[Any]], tolerances: Mapping[str, float] | None = None, *, fuser: LabelFusionFilter | None = None, names: Sequence[str] | None = None) -> PlanAgreement:
    """Measure the agreement between readers on each structure that at least two of them drew.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader; None if the reader did not draw the structure.
    tolerances : mapping of name to float, optional
        Tolerance of the surface Dice in mm; by default `surface_tolerances` of the names.
    fuser : LabelFusionFilter, optional
        Filter that computes the consensus; ConsensusFilter by default.
    names : sequence of str, optional
        Has no effect, since readers are not named in the table.
    """
def plot(images: Sequence[Any], consensus: Any, image: Any = None, names: Sequence[str] | None = None, label: int | None = None) -> Any:
    """Draw the outlines of all raters and of the consensus at the place where raters differ most.

    Requires matplotlib: ``pip install 'itk-consensus[plot]'``.

    Parameters
    ----------
    images : sequence of images
        The raters' segmentations on one grid, 2D or 3D.
    consensus : image, FusionResult, or a filter after Execute
        Their fusion.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the outlines.
    names : sequence of str, optional
        Names of the raters.
    label : int, optional
        Label whose outlines are drawn; by default the union of all foreground labels.

    Returns
    -------
    matplotlib.figure.Figure
        Three planes of a volume through the most disputed place, or the 2D image. Notebooks display
        the figure; ``figure.savefig`` writes it.
    """
def rater_number_curve(images: Any, label: int | None = None) -> RaterNumberCurve:
    """Measure the quality of the vote of k raters for every possible k; extrapolate to more raters.

    Parameters
    ----------
    images : list of label images, or list of such lists
        One case of at least three raters, or a cohort of cases with the same number of raters.
    label : int, optional
        Label value; by default the largest one of each case.

    Returns
    -------
    RaterNumberCurve
        ``.answer`` is a sentence, ``.table()`` returns the curve, ``.dice_with_another(k)`` and
        ``.moved_by_another(k)`` extrapolate it to any number of raters.
    """
def read_dicom_contours(path: PathLike, series: DicomSeries) -> list[Structure]:
    """Read every structure with contours from an RTSTRUCT.

    A voxel is inside if about half of it lies within an odd number of the contours of its slice, so
    a contour inside another one is a hole; the volume of a mask equals that of its contours,
    rounded to whole voxels (see `rasterise`). A contour that is stored twice counts once. Open
    contours (OPEN_PLANAR), points (POINT) and contours of one or two points enclose no area; the
    voxels through which they pass are marked. Contours that extend beyond the image are clipped,
    with a warning.
    """
def read_dicom_segmentation(path: PathLike, series: DicomSeries, *, absent_frames: str = 'background') -> list[Structure]:
    """Read one rater's SEG of a series, each segment as a structure on the grid of the series.

    Parameters
    ----------
    absent_frames : {"background", "missing"}
        How to read slices for which no segment has a frame: as background, or as not annotated
        (`NOT_ANNOTATED` in every mask).
    """
def read_dicom_series(source: PathLike | Sequence[PathLike], *, number: int | None = None) -> DicomSeries:
    """Read the slices of one series, from a folder or from a list of files.

    Parameters
    ----------
    number : int, optional
        Number (from 1) of the series to read if there are several, in the order of their file
        names. ``itk-consensus info FOLDER`` lists them.
    """
def read_slicer_segmentation(path: PathLike, *, like: Any = None) -> list[Structure]:
    """Read all segments with name, colour and terminology.

    Parameters
    ----------
    like : SimpleITK image, optional
        The segmented image; masks are extended to its grid, since Slicer may save only the
        segmented part.
    """
def reader_bias(images: Any, reference: Any = None, names: Sequence[str] | None = None, label: int | None = None) -> ReaderBias:
    """Measure the bias of raters relative to a consensus; function form of ReaderBiasFilter.

    Parameters
    ----------
    images : list of images
        The raters, on one grid.
    reference : image or LabelFusionFilter, optional
        The consensus, or a filter that computes it; ConsensusFilter by default.
    names : sequence of str, optional
        Names of the raters.
    label : int, optional
        Label value; by default the largest one that occurs.
    """
def report(made: Any, path: PathLike, image: Any = None, names: Sequence[str] | None = None, *, files: Sequence[PathLike] | None = None, outputs: Mapping[str, PathLike] | None = None, window: tuple[float, float] | str | None = None, label_names: Mapping[int, str] | None = None, contact_sheet: bool = False) -> None:
    """Write one self-contained HTML page about a fusion.

    The page shows disputed slices with each rater's contour, pairwise Dice, a table of the raters,
    the findings, and the information needed to reproduce the fusion. It works offline and can be
    printed. It contains a viewer for all slices, in which decisions about disputes can be made and
    exported as the record of a review. Of large cases, only a part is included; the page then
    states this.

    Parameters
    ----------
    made : FusionResult, or a filter after Execute
        The fusion to show.
    path : str or path
        Path of the page; replaced atomically.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the contours.
    names : sequence of str, optional
        Names of the raters; by default their file names, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        Files of the raters, whose hashes are shown; by default their voxels are hashed.
    outputs : mapping of str to path, optional
        Other files that were written, by description; the page links to them.
    window : (center, width) or str, optional
        Grey-value window of the image, or the name of a CT window, such as "lung"; by default one
        that suits modality and structure.
    label_names : mapping of int to str, optional
        Names of the labels, such as ``{1: "liver"}``.
    contact_sheet : bool
        Whether to show all disputed slices as well.
    """
def review(fused: Any, image: Any = None, names: Sequence[str] | None = None, *, files: Sequence[PathLike] | None = None, output: PathLike | None = None, reviewer: str | None = None, blinded: bool = False, ready: Callable[[str], None] | None = None, port: int = 0) -> Any:
    """Review a consensus in the browser: inspect disputes, decide or paint, undo and redo.

    The application runs until the reviewer ends it or presses Ctrl-C. It is served only on this
    machine, to the one browser that opens its address. Requires ``pip install
    'itk-consensus[review]'``.

    Parameters
    ----------
    fused : LabelFusionFilter, or list of images
        A fuser after Execute, or images to fuse by ConsensusFilter.
    image : image, optional
        The image that the raters annotated, on their grid.
    names : sequence of str, optional
        Names of the raters; by default those of their files, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        The file of each rater, used for hashing; without files, voxels are hashed.
    output : str or path, optional
        Where to write the adjudicated map; the record of decisions is written beside it. An
        unfinished review found there is resumed.
    reviewer : str, optional
        The reviewer's name; by default the page asks for it before the first decision.
    blinded : bool
        Whether to hide the readers' names, including in the record.
    ready : callable, optional
        Called with the address; by default it is printed and opened in the browser.
    port : int
        0 selects a free port.

    Returns
    -------
    image
        The adjudicated label map, of the same type as the raters' images.
    """
def sample_atlases(number: int = 6, seed: int = 0) -> SampleAtlases:
    """A target of 40 x 48 x 40 voxels of 1 mm, and atlases of it.

    Parameters
    ----------
    number : int
        Number of atlases.
    seed : int
        Seed of the organ and the atlases.
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
        One 0/1 mask per radiologist, all on the same grid.
    """
def sample_cohort(number: int = 20, seed: int = 0) -> list[SampleCase]:
    """Simulated organs on textured images, all drawn by the same five raters.

    The first rater is accurate, the second over-segments, the third under-segments, the last two
    are careless.

    Parameters
    ----------
    number : int
        Number of cases, 64 x 64 pixels each.
    seed : int
        Seed of the cases; the raters are always the same.
    """
def score_against_readers(probability: Any, readers: Any, samples: Iterable[Any] = (), label: int = 1, *, inputs_are_labels: bool = False) -> PluralTruth:
    """Score how well a probability map predicts the segmentations of several readers.

    Parameters
    ----------
    probability : image
        Probability of the structure, from 0 to 1.
    readers : list of label images
        Segmentations on the same grid.
    samples : iterable of label images, optional
        Plausible segmentations, e.g. from SampleSegmentations, required for the energy distance,
        the matched scores and the score of volumes.
    label : int
        The structure's label in readers and samples.
    inputs_are_labels : bool
        Accept readers and samples as label images even if one looks like an intensity image.

    Returns
    -------
    PluralTruth
        Threshold-averaged Dice (QUBIQ), soft Dice and expected calibration error; with samples
        also the generalised energy distance, D_max, D_match, Hungarian-matched IoU and the CRPS of
        the volume in voxels.
    """
def score_study(readers: ReadersByCase, submissions: Submissions, *, structures: Mapping[int, str] | None = None, rules: Sequence[str] = ('soft-dice', 'qubiq'), surfaces: bool = False, surfaceTolerance: float = 1.0, lesions: bool = False, inputsAreLabels: bool = False, afterCase: Callable[[str], None] | None = None) -> StudyScores:
    """Score submissions against several readers, none of whom is the ground truth.

    Parameters
    ----------
    readers : mapping
        For each case the readers' label images or file paths: a list, or a mapping by name.
    submissions : mapping
        For each submission, an image or path by case: a label image, a probability map of one
        structure (fractions), a vector image with the probabilities of all labels, background
        first, or a list of label images as samples. A missing case, None, or an image that cannot
        be compared with the readers is scored as an empty segmentation, with a warning.
    structures : mapping of int to str, optional
        Labels to score and their names; by default all labels that two readers of a case drew.
    rules : sequence of str
        Any of soft-dice, qubiq, curvas2024 and samples.
    surfaces : bool
        Whether to measure distances between contours.
    surfaceTolerance : float
        Tolerance of the surface Dice, in mm.
    lesions : bool
        Whether to match connected components.
    inputsAreLabels : bool
        Accept readers and submissions as label images even if one looks like an intensity image.
    afterCase : callable, optional
        Called with the name of each finished case.

    Returns
    -------
    StudyScores
        Has ``.summary()``, ``.of_cases()``, ``.all_comparisons()``, ``.ranks()``,
        ``.to_markdown()``, ``.to_latex()``, ``.to_csv()``, ``.to_json()``; ``.notes`` contains the
        warnings, ``.findings()`` lists readers' files that may be wrong.
    """
def separate_undecided(structures: Sequence[Structure]) -> list[Structure]:
    """Move voxels that are neither 0 nor 1 to separate structures, which follow their originals.

    These are voxels that a filter left undecided or a rater did not annotate; they become
    a structure such as "liver undecided", so that a file preserves them.
    """
def show(thing: Any, image: Any = None, names: Sequence[str] | None = None, *, window: tuple[float, float] | str | None = None, label_names: Mapping[int, str] | None = None, contact_sheet: bool = False) -> Shown:
    """Show a fusion in a notebook, with the contents of its page: findings, slices, raters.

    Parameters
    ----------
    thing : FusionResult, or a filter after Execute
        The object to show. Agreement, diagnostics and matched structures are shown as tables or
        lists.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the contours.
    names : sequence of str, optional
        Names of the raters.
    window : (center, width) or str, optional
        Grey-value window of the image, or the name of a CT window.
    label_names : mapping of int to str, optional
        Names of the labels.
    contact_sheet : bool
        Whether to show all disputed slices as well.
    """
def show_progress(filter_: ProcessObject) -> None:
    """Show a progress bar in notebooks and terminals whenever a filter runs.

    tqdm is used if it is installed (``pip install 'itk-consensus[notebook]'``).
    """
def write_dicom_contours(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike, series: DicomSeries, *, method: str, raters: Sequence[PathLike] = (), description: str = 'Consensus of several readers', origin: str = 'AUTOMATIC', smooth: float | None = None, holes: str = 'keyhole') -> None:
    """Write structures, which may overlap, as contours of one DICOM RTSTRUCT.

    Contours follow the edges of voxels, so that `read_dicom_contours`, or any program that tests
    which voxel centres a contour encloses, restores exactly the same voxels. Contours lie in the
    planes of the slices, at exactly their positions.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Binary masks (0 and 1) on the grid of the series; use `separate_undecided` to obtain them
        from a consensus with undecided voxels.
    method : str
        The fusion method, e.g. ``filter.GetName()``.
    raters : sequence of paths
        The raters' DICOM objects; the file references those that are structure sets.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        How the contours were made; use "SEMIAUTOMATIC" if a person made any of the decisions.
    description : str
        Description of the file, in the field displayed by planning systems; a structure's
        description is its detail `ROI_DESCRIPTION`.
    smooth : float, optional
        Smooth contours, for easy editing, to at most this distance in mm from the voxels' edges.
    holes : "keyhole" or "separate"
        Join holes to the contour around them by a channel of zero width, or write them as separate
        contours, for systems that invert the area inside two contours.
    """
def write_dicom_segmentation(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike, series: DicomSeries, *, method: str, raters: Sequence[PathLike] = (), fractional: bool = False, description: str = 'Consensus of several readers', origin: str = 'AUTOMATIC') -> None:
    """Write structures, which may overlap, as segments of one DICOM SEG.

    Parameters
    ----------
    structures : sequence of Structure, or mapping of name to image
        Binary masks (0 and 1) on the grid of the series (use `separate_undecided` to obtain them
        from a consensus with undecided voxels); or, if `fractional`, probabilities from 0 to 1.
    method : str
        The fusion method, e.g. ``filter.GetName()``; stored in the algorithm's name, together with
        the version of this package.
    raters : sequence of paths
        The raters' SEG objects, which the file references.
    origin : "AUTOMATIC", "SEMIAUTOMATIC" or "MANUAL"
        How the segments were made; use "SEMIAUTOMATIC" if a person made any of the decisions.
    """
def write_slicer_segmentation(structures: Sequence[Structure] | Mapping[str, Any], path: PathLike) -> None:
    """Write structures, or a mapping of name to mask, as a segmentation for 3D Slicer.

    Overlapping structures are written to different layers. Masks must be binary (0 and 1); use
    `separate_undecided` to obtain them from a consensus with undecided voxels.
    """
