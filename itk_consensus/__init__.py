"""Label fusion for SimpleITK and ITK: several segmentations in, one that can be trusted out.

>>> import itk_consensus
>>> fused = itk_consensus.STAPLE(images)          # drop-in for sitk.STAPLE

Names are loaded when first used; importing the package is quick and loads neither itk, torch nor
matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: What is no filter, no form of one and no error, and where it lives.
_OTHERS = (
    ("filters.accumulators", "MajorityVoteAccumulator"),
    ("filters.accumulators", "PatternAccumulator"),
    ("filters.agreement", "Agreement"),
    ("filters.fuse_structures", "FuseStructures"),
    ("filters.held_out_rater", "HeldOutCohort"),
    ("filters.held_out_rater", "hold_out_raters"),
    ("images.dicom_contours", "read_dicom_contours"),
    ("images.dicom_segmentation", "read_dicom_segmentation"),
    ("images.dicom_series", "read_dicom_series"),
    ("images.dicom_writing", "band_structures"),
    ("images.dicom_writing", "write_dicom_segmentation"),
    ("images.slicer_segmentation", "read_slicer_segmentation"),
    ("images.slicer_segmentation", "write_slicer_segmentation"),
    ("images.structures", "Structure"),
    ("images.structures", "match_structures"),
    ("images.structures", "separate_undecided"),
    ("labels.overlap", "dice"),
    ("pipeline.ensembled", "ConsensusEnsembled"),
    ("report.page", "report"),
    ("samples", "SampleAtlases"),
    ("samples", "SampleCase"),
    ("samples", "sample_atlases"),
    ("samples", "sample_case"),
    ("samples", "sample_cohort"),
)


def _public() -> dict[str, Any]:
    """Every public name and what it stands for."""
    errors = import_module("itk_consensus.errors")
    registry = import_module("itk_consensus.filters.registry")
    procedural = import_module("itk_consensus.filters.procedural")
    process_object = import_module("itk_consensus.filters.process_object")
    label_fusion = import_module("itk_consensus.filters.label_fusion")
    names = {name: member for name, member in vars(errors).items() if isinstance(member, type)}
    names["ProcessObject"] = process_object.ProcessObject
    names["LabelFusionFilter"] = label_fusion.LabelFusionFilter
    names |= {cls.__name__: cls for cls in (*registry.FUSERS, *registry.OTHER_FILTERS)}
    names |= procedural.FUNCTIONS
    for module, name in _OTHERS:
        names[name] = getattr(import_module(f"itk_consensus.{module}"), name)
    return names


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'itk_consensus' has no attribute '{name}'")
    public = _public()
    if name == "__all__":
        return sorted(public)
    if name not in public:
        raise AttributeError(f"module 'itk_consensus' has no attribute '{name}'")
    globals().update(public)
    return public[name]


def __dir__() -> list[str]:
    return sorted([*_public(), "__version__"])
