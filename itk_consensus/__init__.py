"""Label fusion for SimpleITK and ITK: several segmentations in, one that can be trusted out.

>>> import itk_consensus as ic
>>> images = ic.sample_case()                  # four radiologists' masks of one nodule
>>> fused = ic.Consensus(images)               # an image of their kind, on their grid
>>> consensus = ic.ConsensusFilter()           # the same, with what is to be known of it
>>> fused = consensus.Execute(images)
>>> print(consensus.GetDiagnostics())          # who deviates, where, and what to do
...
>>> ic.report(consensus, "page.html")

help(itk_consensus.ConsensusFilter) tells the inputs, outputs, parameters and measurements of a
filter. Each has a function, without Filter or ImageFilter in its name: STAPLE(images) is
STAPLEImageFilter().Execute(images); itk's spelling, staple_image_filter, works too.

Fusing label images: each returns one
    ConsensusFilter              recommended: keeps what raters share, by explicit rules
    CoherenceVoteFilter          the vote, smoothed only where raters do not share its detail
    STAPLEImageFilter            each rater's sensitivity and specificity, by EM; SimpleITK's
    MultiLabelSTAPLEImageFilter  each rater's confusion matrix, by EM; SimpleITK's
    LabelVotingImageFilter       plurality vote; SimpleITK's
    MajorityVoteFilter           vote with a threshold, weights, tie rule and smoothing
    CorrectedVoteFilter          smoothed vote, corrected for what raters miss and add
    COLLATEFilter                STAPLE in which some voxels are harder than others
    DirectInferenceFilter        the label map of highest evidence, confusions integrated out
    SpatialSTAPLEFilter          STAPLE with a confusion matrix at every voxel
    ShapeBasedAveragingFilter    the label whose mean signed distance is smallest
    FrechetConsensusFilter       the label map closest to all raters, by Dice or Jaccard
    SIMPLEFilter                 vote by overlap with the consensus, found by iteration
    BoundarySIMPLEFilter         the same, voxel by voxel
    LogOpinionPoolFilter         weighted geometric mean of opinions
    ProbabilityAverageFilter     weighted mean of class probabilities
    HybridFusionFilter           one fuser inside, another one around the contour
    InstanceConsensusFilter      lesions one by one: matched, judged and drawn

With images, atlases, many cases or cases with a truth
    IntensityRefinementFilter, JointLabelFusionFilter, LocallyWeightedVoteFilter,
    AtlasSelectionFilter, CohortSTAPLEFilter, LearnedFusionFilter, DeepConsensusFilter;
    joint_label_fusion is called as ANTs's function is

What a probability is worth
    ConformalBandFilter, ConformalMarginFilter, CutCalibrationFilter, TemperatureScalingFilter,
    SampleSegmentations, hold_out_raters, HeldOutCohort

How well raters agree
    agreement (AgreementFilter), lesion_agreement, plan_agreement, reader_bias (ReaderBiasFilter),
    rater_number_curve, dice, match_lesions, score_against_readers, score_study

Structures, and files of DICOM and Slicer
    Structure, fuse_structures, match_structures, separate_undecided, band_structures,
    read_dicom_series, read_dicom_segmentation, read_dicom_contours, write_dicom_segmentation,
    write_dicom_contours, read_slicer_segmentation, write_slicer_segmentation

Showing and deciding
    report, review, show, plot, html_of, show_progress, draw_rater_number

Data to try it on
    sample_case, sample_cohort, sample_atlases, SampleCase, SampleAtlases

Writing filters, large inputs, MONAI
    ProcessObject, LabelFusionFilter, PatternAccumulator, ConsensusEnsembled

Errors and the warning
    ConsensusError: InputError, GeometryError, ParameterError, NotExecutedError, FileError,
    MissingDependencyError, ProcessAborted, TrainingError; ConsensusWarning

Names are loaded when first used; importing the package is quick and loads neither itk, torch nor
matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

__version__ = "1.0.0rc1"

#: Public names that are not filters, function forms or errors, and their modules.
_OTHERS = (
    ("fusing.accumulators", "PatternAccumulator"),
    ("assessment.agreement.agreement_filter", "agreement"),
    ("methods.atlas.ants_joint_fusion", "joint_label_fusion"),
    ("fusing.fuse_structures", "fuse_structures"),
    ("calibration.held_out_rater", "HeldOutCohort"),
    ("calibration.held_out_rater", "hold_out_raters"),
    ("methods.lesions.instance_consensus_filter", "match_lesions"),
    ("fusing.label_fusion", "LabelFusionFilter"),
    ("assessment.agreement.lesion_agreement", "lesion_agreement"),
    ("core.process_object", "ProcessObject"),
    ("assessment.scoring.score_against_readers", "score_against_readers"),
    ("assessment.scoring.score_study", "score_study"),
    ("assessment.agreement.rater_number_curve", "rater_number_curve"),
    ("assessment.agreement.plan_agreement", "plan_agreement"),
    ("assessment.agreement.reader_bias_filter", "reader_bias"),
    ("calibration.sample_segmentations", "SampleSegmentations"),
    ("images.dicom.rtstruct_writing", "write_dicom_contours"),
    ("images.dicom.rtstruct_reading", "read_dicom_contours"),
    ("images.dicom.seg_reading", "read_dicom_segmentation"),
    ("images.dicom.series", "read_dicom_series"),
    ("images.dicom.seg_writing", "band_structures"),
    ("images.dicom.seg_writing", "write_dicom_segmentation"),
    ("images.slicer_segmentation", "read_slicer_segmentation"),
    ("images.slicer_segmentation", "write_slicer_segmentation"),
    ("images.structures", "Structure"),
    ("images.structure_matching", "match_structures"),
    ("images.structures", "separate_undecided"),
    ("votes.overlap", "dice"),
    ("pipeline.ensembled", "ConsensusEnsembled"),
    ("report.notebook", "html_of"),
    ("report.notebook", "show"),
    ("report.pictures", "draw_rater_number"),
    ("report.plot", "plot"),
    ("report.progress", "show_progress"),
    ("samples", "SampleAtlases"),
    ("samples", "SampleCase"),
    ("samples", "sample_atlases"),
    ("samples", "sample_case"),
    ("samples", "sample_cohort"),
)

#: Packages with the name of their main function (core/callable_modules.py).
_CALLABLE_ROOMS = ("report", "review")


def _loaders() -> dict[str, Callable[[], Any]]:
    """Map every public name to a function that loads it, and only what it needs."""
    registry = import_module("itk_consensus.methods.registry")
    errors = vars(import_module("itk_consensus.core.errors"))
    kinds = {name: member for name, member in errors.items() if isinstance(member, type)}
    names = [name for name, kind in kinds.items() if issubclass(kind, Exception)]
    loaders = {name: partial(_member, "core.errors", name) for name in names}
    loaders |= {name: partial(_member, module, name) for module, name in _OTHERS}
    loaders |= {name: partial(import_module, f"itk_consensus.{name}") for name in _CALLABLE_ROOMS}
    for name in (*registry.FUSER_MODULES, *registry.OTHER_FILTER_MODULES):
        loaders[name] = partial(registry.load_filter, name)
        if name not in registry.MEASURING_FILTERS:
            loaders[registry.short_name(name)] = partial(_function, "simpleitk_function", name)
    return loaders


def _itk_loaders() -> dict[str, Callable[[], Any]]:
    """Functions in itk's spelling, such as staple_image_filter, which dir() does not list."""
    registry = import_module("itk_consensus.methods.registry")
    snake_case = import_module("itk_consensus.core.parameters").snake_case
    return {
        snake_case(name): partial(_function, "itk_function", name)
        for name in (*registry.FUSER_MODULES, *registry.OTHER_FILTER_MODULES)
    }


def _member(module: str, name: str) -> Any:
    return getattr(import_module(f"itk_consensus.{module}"), name)


def _function(form: str, filter_name: str) -> Any:
    return getattr(import_module("itk_consensus.methods.procedural"), form)(filter_name)


class _StarNames(list[str]):
    """The names of ``import *``.

    pydoc asks whether each name is among them and would write all their pages one after another
    (16,000 lines) where it is: help(itk_consensus) lists them in this module's docstring instead.
    """

    def __contains__(self, name: object) -> bool:
        return False


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _StarNames(sorted(_loaders()))
    loaders = {} if name.startswith("_") else _loaders()
    if name not in loaders and name == name.lower() and not name.startswith("_"):
        loaders = _itk_loaders()
    if name not in loaders:
        raise AttributeError(f"module 'itk_consensus' has no attribute '{name}'")
    globals()[name] = loaders[name]()
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*_loaders(), "__version__"])
