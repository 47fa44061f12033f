"""What an ITK pipeline calls in Python: the part of a pipeline filter that lives inside ITK."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from itk_consensus.core.errors import InputError, ProcessAborted
from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.fusing.label_fusion import LabelFusionFilter


class ItkNode:
    """A fuser behind an ``itk.PyImageFilter``, which owns it and calls `generate_data`.

    ITK keeps one reference to the callable and with it this object, but hands callables a plain
    pointer: `_SetSelf` must be given something that lives as long as the filter, which a Python
    proxy does not, and this object does. The filter is held as a borrowed proxy; one that owned
    it would be a circle that no garbage collector sees.
    """

    def __init__(self, fuser: LabelFusionFilter, filter_: Any, events: Any) -> None:
        self.fuser = fuser
        self.filter = borrowed(filter_)
        self.events = events
        self.error: BaseException | None = None
        self.is_quiet = False
        self.sources: dict[int, list[Any]] = {}
        filter_._SetSelf(self)
        filter_.SetPyGenerateData(self.generate_data)
        # ITK never releases these two, so they must not hold anything.
        filter_.SetPyEnlargeOutputRequestedRegion(_enlarge_output)
        filter_.SetPyGenerateInputRequestedRegion(_request_inputs)
        # There is one check of space, the fuser's, whose message says what differs.
        filter_.SetCoordinateTolerance(sys.float_info.max)
        filter_.SetDirectionTolerance(sys.float_info.max)

    def GetOutput(self) -> Any:
        """The output; ITK asks the object of `_SetSelf` for it."""
        return self.filter.GetOutput()

    def inputs(self) -> list[Any]:
        """Every indexed input, None where a rater is missing."""
        return [self.filter.GetInput(i) for i in range(self.filter.GetNumberOfIndexedInputs())]

    def generate_data(self, _: Any) -> None:
        """Fuse the inputs into the output; what goes wrong is kept for `Update` to raise."""
        self.error = None
        try:
            self._fuse()
        except BaseException as error:
            self.error = error
            if isinstance(error, ProcessAborted):
                self.filter.InvokeEvent(self.events.AbortEvent())
            if self.is_quiet:
                _print_nothing_once()
            # ITK would leave the whole process for a SystemExit.
            raise RuntimeError(str(error)) from error

    def _fuse(self) -> None:
        commands = list(self.fuser._commands)
        self.fuser.AddCommand(PROGRESS_EVENT, self._progressed)
        self.fuser.AddCommand(ITERATION_EVENT, self._iterated)
        try:
            fused = self.fuser.Execute(self.inputs())
        finally:
            self.fuser._commands[:] = commands
        output = self.filter.GetOutput()
        if type(fused) is not type(output):
            fused = self._cast(fused, type(output))
        self.filter.GraftOutput(fused)
        output.SetMetaDataDictionary(fused.GetMetaDataDictionary())

    def _cast(self, fused: Any, wanted: Any) -> Any:
        """The answer in the type of the output, which ttype asked for; no label must wrap."""
        itk = self.events
        dtype = np.dtype(itk.template(wanted)[1][0].dtype)
        values = itk.array_view_from_image(fused)
        cast = values.astype(dtype)
        if values.dtype.kind in "ui" and not np.array_equal(cast, values):
            raise InputError(
                f"the labels {values.min()} to {values.max()} do not fit "
                f"{wanted.__name__}; ask for a wider one with New(ttype=(InputType, OutputType))",
                owner=self.fuser.GetName(),
            )
        image = itk.image_from_array(cast, ttype=wanted)
        image.SetRegions(fused.GetLargestPossibleRegion())
        image.CopyInformation(fused)
        image.SetMetaDataDictionary(fused.GetMetaDataDictionary())
        return image

    def _progressed(self) -> None:
        self.filter.UpdateProgress(self.fuser.GetProgress())
        self._heed_abort()

    def _iterated(self) -> None:
        self.filter.InvokeEvent(self.events.IterationEvent())
        self._heed_abort()

    def _heed_abort(self) -> None:
        if self.filter.GetAbortGenerateData():
            self.fuser.Abort()


def borrowed(filter_: Any) -> Any:
    """A second proxy of an ITK object, which does not keep it alive."""
    proxy = type(filter_).cast(filter_)
    type(filter_).__swig_destroy__(proxy)
    return proxy


def upstream_of(image: Any, itk: Any) -> Iterator[Any]:
    """The filters behind an image, all the way up: images hold their sources only weakly."""
    source = image.GetSource() if image is not None else None
    if source is None:
        return
    source = itk.down_cast(source)
    yield source
    if not hasattr(source, "GetInput"):
        return
    for index in range(source.GetNumberOfIndexedInputs()):
        # Some sources, such as readers, inherit inputs that they do not have.
        feeding = source.GetInput(index)
        if isinstance(feeding, itk.DataObject):
            yield from upstream_of(feeding, itk)


def _enlarge_output(node: ItkNode, output: Any) -> None:
    """Whatever part is asked for, the whole is made: fusing needs every voxel."""
    output.SetRequestedRegionToLargestPossibleRegion()


def _request_inputs(node: ItkNode) -> None:
    for image in node.inputs():
        if image is not None:
            image.SetRequestedRegionToLargestPossibleRegion()


def _print_nothing_once() -> None:
    """Keep ITK from printing the error that is about to be raised anyway."""
    original = sys.excepthook

    def restore(*_: Any) -> None:
        sys.excepthook = original

    sys.excepthook = restore
