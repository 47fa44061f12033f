"""The Python callbacks of a pipeline filter, called by ITK during an update."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from itk_consensus.core.errors import InputError, ProcessAborted
from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.fusing.label_fusion import LabelFusionFilter


class ItkNode:
    """A fusion filter behind an ``itk.PyImageFilter``, which owns it and calls `generate_data`.

    ITK holds a reference to the callable, and thereby to this object, but passes only a plain
    pointer to callables: the argument of `_SetSelf` must live as long as the filter. A Python proxy
    does not, but this object does. It refers to the filter by a borrowed proxy, since an owning one
    would create a reference cycle that the garbage collector cannot detect.
    """

    def __init__(self, fuser: LabelFusionFilter, filter_: Any, events: Any) -> None:
        self.fuser = fuser
        self.filter = borrow(filter_)
        self.events = events
        self.error: BaseException | None = None
        self.is_quiet = False
        self.sources: dict[int, list[Any]] = {}
        filter_._SetSelf(self)
        filter_.SetPyGenerateData(self.generate_data)
        # ITK never releases these two callables, so they must not reference any object.
        filter_.SetPyEnlargeOutputRequestedRegion(_enlarge_output)
        filter_.SetPyGenerateInputRequestedRegion(_request_inputs)
        # The fusion filter checks the geometry, since its message states which properties differ.
        filter_.SetCoordinateTolerance(sys.float_info.max)
        filter_.SetDirectionTolerance(sys.float_info.max)

    def GetOutput(self) -> Any:
        """Return the output; ITK calls this on the object of `_SetSelf`."""
        return self.filter.GetOutput()

    def inputs(self) -> list[Any]:
        """Return every indexed input; None if a rater is missing."""
        return [self.filter.GetInput(i) for i in range(self.filter.GetNumberOfIndexedInputs())]

    def generate_data(self, _: Any) -> None:
        """Fuse the inputs into the output; store an exception so that `Update` can raise it."""
        self.error = None
        try:
            self._fuse()
        except BaseException as error:
            self.error = error
            if isinstance(error, ProcessAborted):
                self.filter.InvokeEvent(self.events.AbortEvent())
            if self.is_quiet:
                _suppress_next_traceback()
            # A SystemExit inside ITK would end the process.
            raise RuntimeError(str(error)) from error

    def _fuse(self) -> None:
        commands = list(self.fuser._commands)
        self.fuser.AddCommand(PROGRESS_EVENT, self._on_progress)
        self.fuser.AddCommand(ITERATION_EVENT, self._on_iteration)
        try:
            fused = self.fuser.Execute(self.inputs())
        finally:
            self.fuser._commands[:] = commands
        output = self.filter.GetOutput()
        if type(fused) is not type(output):
            fused = self._cast(fused, type(output))
        self.filter.GraftOutput(fused)
        output.SetMetaDataDictionary(fused.GetMetaDataDictionary())

    def _cast(self, fused: Any, output_type: Any) -> Any:
        """Cast the result to the output type requested by ttype; raise if labels would overflow."""
        itk = self.events
        dtype = np.dtype(itk.template(output_type)[1][0].dtype)
        values = itk.array_view_from_image(fused)
        cast = values.astype(dtype)
        if values.dtype.kind in "ui" and not np.array_equal(cast, values):
            raise InputError(
                f"the labels {values.min()} to {values.max()} do not fit "
                f"{output_type.__name__}; request a wider type by New(ttype=(InputType, "
                "OutputType))",
                owner=self.fuser.GetName(),
            )
        image = itk.image_from_array(cast, ttype=output_type)
        image.SetRegions(fused.GetLargestPossibleRegion())
        image.CopyInformation(fused)
        image.SetMetaDataDictionary(fused.GetMetaDataDictionary())
        return image

    def _on_progress(self) -> None:
        self.filter.UpdateProgress(self.fuser.GetProgress())
        self._forward_abort()

    def _on_iteration(self) -> None:
        self.filter.InvokeEvent(self.events.IterationEvent())
        self._forward_abort()

    def _forward_abort(self) -> None:
        if self.filter.GetAbortGenerateData():
            self.fuser.Abort()


def borrow(filter_: Any) -> Any:
    """Return a second proxy of an ITK object that does not keep the object alive."""
    proxy = type(filter_).cast(filter_)
    type(filter_).__swig_destroy__(proxy)
    return proxy


def upstream_of(image: Any, itk: Any) -> Iterator[Any]:
    """Yield all filters upstream of an image, since images hold only weak references to them."""
    source = image.GetSource() if image is not None else None
    if source is None:
        return
    source = itk.down_cast(source)
    yield source
    if not hasattr(source, "GetInput"):
        return
    for index in range(source.GetNumberOfIndexedInputs()):
        # Some sources, such as readers, inherit GetInput although they have no image inputs.
        feeding = source.GetInput(index)
        if isinstance(feeding, itk.DataObject):
            yield from upstream_of(feeding, itk)


def _enlarge_output(node: ItkNode, output: Any) -> None:
    """Enlarge any requested region to the whole image, since fusion requires every voxel."""
    output.SetRequestedRegionToLargestPossibleRegion()


def _request_inputs(node: ItkNode) -> None:
    for image in node.inputs():
        if image is not None:
            image.SetRequestedRegionToLargestPossibleRegion()


def _suppress_next_traceback() -> None:
    """Prevent ITK from printing the exception that is about to be raised anyway."""
    original = sys.excepthook

    def restore(*_: Any) -> None:
        sys.excepthook = original

    sys.excepthook = restore
