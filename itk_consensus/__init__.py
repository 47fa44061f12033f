"""Label fusion for SimpleITK and ITK: several segmentations in, one that can be trusted out.

>>> import itk_consensus
>>> fused = itk_consensus.STAPLE(images)          # drop-in for sitk.STAPLE

Names are loaded when first used; importing the package is quick and loads neither itk, torch nor
matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

#: What is no filter, no form of one and no error, and where it lives.
_OTHERS = (
    ("fusing.accumulators", "PatternAccumulator"),
    ("assessment.agreement.agreement_filter", "Agreement"),
    ("methods.atlas.ants_joint_fusion", "joint_label_fusion"),
    ("fusing.fuse_structures", "FuseStructures"),
    ("calibration.held_out_rater", "HeldOutCohort"),
    ("calibration.held_out_rater", "hold_out_raters"),
    ("methods.lesions.instance_consensus_filter", "match_lesions"),
    ("fusing.label_fusion", "LabelFusionFilter"),
    ("assessment.agreement.lesion_agreement", "LesionAgreement"),
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
    ("report.progress", "show_progress"),
    ("samples", "SampleAtlases"),
    ("samples", "SampleCase"),
    ("samples", "sample_atlases"),
    ("samples", "sample_case"),
    ("samples", "sample_cohort"),
)

#: Rooms that are called like their main function (core/callable_rooms.py).
_CALLABLE_ROOMS = ("report", "review")


def _loaders() -> dict[str, Callable[[], Any]]:
    """Every public name, and what loads it and no more than it needs."""
    registry = import_module("itk_consensus.methods.registry")
    snake_case = import_module("itk_consensus.core.parameters").snake_case
    errors = vars(import_module("itk_consensus.core.errors"))
    kinds = {name: member for name, member in errors.items() if isinstance(member, type)}
    names = [name for name, kind in kinds.items() if issubclass(kind, Exception)]
    loaders = {name: partial(_member, "core.errors", name) for name in names}
    loaders |= {name: partial(_member, module, name) for module, name in _OTHERS}
    loaders |= {name: partial(import_module, f"itk_consensus.{name}") for name in _CALLABLE_ROOMS}
    for name in (*registry.FUSER_MODULES, *registry.OTHER_FILTER_MODULES):
        loaders[name] = partial(registry.load_filter, name)
    for name in registry.FUSER_MODULES:
        loaders[registry.short_name(name)] = partial(_function, name, 0)
        loaders[snake_case(name)] = partial(_function, name, 1)
    return loaders


def _member(module: str, name: str) -> Any:
    return getattr(import_module(f"itk_consensus.{module}"), name)


def _function(filter_name: str, form: int) -> Any:
    procedural = import_module("itk_consensus.methods.procedural")
    return procedural.function_forms(filter_name)[form]


def __getattr__(name: str) -> Any:
    loaders = {} if name.startswith("_") and name != "__all__" else _loaders()
    if name == "__all__":
        return sorted(loaders)
    if name not in loaders:
        raise AttributeError(f"module 'itk_consensus' has no attribute '{name}'")
    globals()[name] = loaders[name]()
    return globals()[name]


def __dir__() -> list[str]:
    return sorted([*_loaders(), "__version__"])
