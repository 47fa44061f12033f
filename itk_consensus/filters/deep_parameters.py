"""The parameter table of DeepConsensusFilter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from itk_consensus.constraints import (
    LENGTH,
    Boolean,
    Choice,
    Integer,
    Integers,
    Kind,
    OneOf,
    Real,
    optional,
)
from itk_consensus.deep.cases import MISSING
from itk_consensus.filters.global_defaults import Threads
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.process_object import ProcessObject


@dataclass(frozen=True)
class DeviceName(Kind[str]):
    """Where torch computes; a number tells GPUs apart."""

    annotation = "str"
    wanted = "auto, cpu, cuda, cuda:0, cuda:1, ... or mps"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        name = value.strip().lower()
        if not re.fullmatch(r"auto|cpu|mps|cuda(:[0-9]{1,3})?", name):
            raise ValueError
        return name


class DeepConsensusParameters(ProcessObject):
    """What can be set of Fit and Execute."""

    NumberOfClasses = Parameter(
        optional(Integer(low=2, high=MISSING)),
        None,
        "Classes; their labels are 0, 1, ... Without it, every label that occurs in Fit is one.",
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
        "Joint mode: power of the raters' likelihood where they dispute; 0 asks the image alone. "
        "Fit chooses it by how well held-out raters are foreseen.",
        default_doc="chosen by Fit",
    )
    EdgeWeight = Parameter(
        Real(low=0.0, high=1e6),
        1.0,
        "Joint mode: how much Fit holds labels to the edges of the image; 0 is not at all.",
    )
    Region = Parameter(
        Choice(("disputed", "full")),
        "disputed",
        "Where Execute asks the network; elsewhere the unanimous label is the answer.",
    )
    RegionMargin = Parameter(
        LENGTH,
        5.0,
        "Millimetres by which disputed regions grow if unanimous voxels are not locked.",
    )
    LockUnanimousVoxels = Parameter(
        Boolean(), True, "Whether the network may not overrule raters who all agree."
    )
    WindowSize = Parameter(
        OneOf((Integer(low=8), Integers(low=8, length=2), Integers(low=8, length=3))),
        (64, 64, 64),
        "Largest patch of training and inference along x, y and z, or along each; "
        "2D uses the first two.",
        default_doc="64,64,64",
    )
    WindowOverlap = Parameter(
        Real(low=0.0, high=0.9), 0.25, "Share of a window that its neighbour covers too."
    )
    NumberOfIterations = Parameter(
        Integer(low=1), 200, "Batches that Fit learns from, unless NumberOfEpochs asks for more."
    )
    NumberOfEpochs = Parameter(
        Real(low=0.0), 0.0, "Passes over the cases that Fit makes at least, however many there are."
    )
    CacheSize = Parameter(
        Integer(low=0, high=2**30),
        4096,
        "Megabytes of cases that Fit keeps in memory; files beyond it are read again when needed.",
    )
    BatchSize = Parameter(
        optional(Integer(low=1)), None, "Patches per batch.", default_doc="8 in 2D, 2 in 3D"
    )
    LearningRate = Parameter(
        Real(low=0.0, high=1.0, exclusive=True), 0.01, "Peak of the one-cycle schedule."
    )
    NumberOfChannels = Parameter(
        optional(Integer(low=1, high=1024)),
        None,
        "Features of the image stream at full resolution.",
        default_doc="16 in 2D, 8 in 3D",
    )
    ValidationFraction = Parameter(
        Real(low=0.0, high=0.9), 0.1, "Share of the cases that only decide when to stop."
    )
    Patience = Parameter(
        Integer(low=1),
        5,
        "Evaluations, ten in a full Fit, without improvement before it stops; counted after the "
        "peak of the learning rate.",
    )
    MissingLabel = Parameter(
        optional(Integer()), None, "The value by which a rater says 'not annotated here'."
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
