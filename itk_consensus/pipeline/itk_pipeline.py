"""All fusion filters as filters of ITK pipelines, based on ``itk.PyImageFilter``.

>>> from itk_consensus.pipeline import STAPLEImageFilter
>>> staple = STAPLEImageFilter.New(reader_1, reader_2, reader_3, foreground_value=1)
>>> mask = itk.binary_threshold_image_filter(staple, lower_threshold=0.5)
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

import itk

from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import find_parameter, parameters_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import FUSERS
from itk_consensus.pipeline.itk_node import ItkNode, upstream_of

#: ITK filters whose Python object has been deleted, but whose output is still referenced.
_OUTLIVING: list[Any] = []


class Instantiation(NamedTuple):
    """A filter class with its two image types, like an instantiated itk template."""

    filter: type[PipelineFilter]
    types: tuple[Any, ...]

    def New(self, *inputs: Any, **parameters: Any) -> Any:
        """Make a filter with these types."""
        return self.filter.New(*inputs, ttype=self.types, **parameters)


class Template(type):
    """Metaclass for itk's type notation: ``STAPLEImageFilter[T, T].New()``, ``.IF3IF3.New()``."""

    def __getitem__(cls: Any, types: Any) -> Instantiation:
        return Instantiation(cls, types if isinstance(types, tuple) else (types, None))

    def __getattr__(cls: Any, name: str) -> Instantiation:
        match = re.fullmatch(r"I([A-Z]+)(\d)I([A-Z]+)(\d)", name)
        if match is None:
            raise AttributeError(f"{cls.__name__} has no attribute '{name}'")
        pairs = ((match[1], match[2]), (match[3], match[4]))
        types = tuple(itk.Image[getattr(itk, pixel), int(size)] for pixel, size in pairs)
        return Instantiation(cls, types)


class PipelineFilter(metaclass=Template):
    """A fusion filter with ITK's interface: New, SetInput, Update, GetOutput, Modified, observers.

    Parameters have setters and getters as usual; changing one makes the next Update run again. An
    image that is passed as a parameter is not an input of the pipeline: call Modified() after
    changing it. All other methods are delegated to the fusion filter or to ITK's filter.
    """

    fuser: ClassVar[type[LabelFusionFilter]]

    @classmethod
    def New(
        cls,
        *inputs: Any,
        ttype: tuple[Any, ...] | None = None,
        Input: Any = None,
        **parameters: Any,
    ) -> Any:
        """Make a filter as in itk: inputs are positional, parameters are keywords in any spelling.

        Parameters
        ----------
        Input : image or filter, optional
            The first input, named as in itk.
        ttype : (input type, output type), optional
            Types of itk.Image; by default determined by the first input.
        """
        filter_ = cls(**parameters)
        if ttype is not None:
            filter_._make(*ttype)
        for index, image in enumerate(inputs if Input is None else (Input, *inputs)):
            filter_.SetInput(index, image)
        return filter_

    def __init__(self, **parameters: Any) -> None:
        _sweep()
        self._fuser = self.fuser(**parameters)
        self._node: ItkNode | None = None
        self._itk: Any = None

    def __del__(self) -> None:
        filter_ = self.__dict__.get("_itk")
        if filter_ is not None and _is_held(filter_):
            _OUTLIVING.append(filter_)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(self._fuser, name) and name not in ("GetProgress", "GetName", "AddCommand"):
            return getattr(self._fuser, name)
        if self._itk is None:
            if name != "GetOutput" and not hasattr(itk.ProcessObject, name):
                raise AttributeError(f"{self._fuser.GetName()} has no attribute '{name}'")
            raise InputError(
                f"{name} needs an input first, which determines the type of the filter; "
                "call SetInput, or New(ttype=(InputType, OutputType))",
                owner=self._fuser.GetName(),
            )
        return getattr(self._itk, name)

    def GetNameOfClass(self) -> str:
        """Return the name of the fusion filter."""
        return self._fuser.GetName()

    # -- inputs -----------------------------------------------------------------------------

    def SetInput(self, *arguments: Any) -> None:
        """Set an input by SetInput(image) or SetInput(index, image); None is a missing rater."""
        index, image = arguments if len(arguments) == 2 else (0, *arguments)
        if not isinstance(index, int) or index < 0:
            raise InputError(
                f"inputs are numbered from 0, got {index!r}", owner=self._fuser.GetName()
            )
        image = itk.output(image)
        if image is None and self._itk is None:
            raise InputError(
                "the first input that is set must be an image, got None",
                owner=self._fuser.GetName(),
            )
        if image is not None and not isinstance(image, itk.ImageBase):
            raise InputError(
                f"must be an itk image, or a filter that makes one, got {type(image).__name__}",
                owner=self._fuser.GetName(),
                input_index=index,
            )
        if self._itk is None:
            self._make(type(image), None)
        node = cast(ItkNode, self._node)
        if image is not None and type(image) is not self._input_type:
            raise InputError(
                f"must be of {self._input_type.__name__} "
                f"like the first, got {type(image).__name__}; use itk.cast_image_filter",
                owner=self._fuser.GetName(),
                input_index=index,
            )
        node.sources[index] = list(upstream_of(image, itk))
        self._itk.SetInput(index, image)

    def PushBackInput(self, image: Any) -> None:
        """Add an input after the last one."""
        self.SetInput(0 if self._itk is None else self._itk.GetNumberOfIndexedInputs(), image)

    def PushFrontInput(self, image: Any) -> None:
        """Add an input before the first one."""
        others = [] if self._node is None else self._node.inputs()
        for index, one in enumerate([image, *others]):
            self.SetInput(index, one)

    def SetPrimaryInput(self, image: Any) -> None:
        """Set input 0."""
        self.SetInput(0, image)

    def _make(self, input_type: Any, output_type: Any = None) -> None:
        self._input_type = input_type
        template = _template(input_type, output_type, self._fuser)
        self._itk = template.New()
        self._node = ItkNode(self._fuser, self._itk, itk)

    # -- execution --------------------------------------------------------------------------

    def Update(self) -> None:
        """Update the output; raise the errors of the fusion filter."""
        self._run("Update")

    def UpdateLargestPossibleRegion(self) -> None:
        """Do the same as Update, since the whole image is always computed."""
        self._run("UpdateLargestPossibleRegion")

    def _run(self, update: str) -> None:
        if self._node is None:
            raise InputError("there is no input; call SetInput", owner=self._fuser.GetName())
        self._node.error, self._node.is_quiet = None, True
        try:
            # The proxy's own Update would make ITK call a proxy that may already have been deleted.
            getattr(itk.ProcessObject, update)(self._itk)
        except RuntimeError:
            if self._node.error is not None:
                raise self._node.error from None
            raise
        finally:
            self._node.is_quiet = False


def _setter(name: str) -> Any:
    def set_parameter(self: PipelineFilter, value: Any) -> None:
        parameter = find_parameter(self.fuser, name, self.fuser.__name__)
        before = parameter.__get__(self._fuser)
        parameter.__set__(self._fuser, value)
        after = parameter.__get__(self._fuser)
        # As in ITK, setting the current value again does not modify the filter.
        is_same = after is before or (type(after) in (int, float, str, bool) and after == before)
        if self._itk is not None and not is_same:
            self._itk.Modified()

    set_parameter.__name__ = f"Set{name}"
    return set_parameter


def _getter(name: str) -> Any:
    def get_parameter(self: PipelineFilter) -> Any:
        return getattr(self._fuser, f"Get{name}")()

    get_parameter.__name__ = f"Get{name}"
    return get_parameter


def _unsetter(name: str) -> Any:
    def unset_parameter(self: PipelineFilter) -> None:
        getattr(self._fuser, f"Unset{name}")()
        if self._itk is not None:
            self._itk.Modified()

    unset_parameter.__name__ = f"Unset{name}"
    unset_parameter.__doc__ = f"Reset {name} to its default."
    return unset_parameter


def _class_of(fuser: type[LabelFusionFilter]) -> type[PipelineFilter]:
    members: dict[str, Any] = {}
    for parameter in parameters_of(fuser):
        setter, getter = _setter(parameter.name), _getter(parameter.name)
        setter.__doc__ = getter.__doc__ = parameter.doc
        members[setter.__name__], members[getter.__name__] = setter, getter
        members[parameter.snake_case] = property(getter, setter, doc=parameter.doc)
        if parameter.can_be_unset:
            members[f"Unset{parameter.name}"] = _unsetter(parameter.name)
    members |= {"fuser": fuser, "__doc__": fuser.__doc__, "__module__": "itk_consensus.pipeline"}
    return cast(type[PipelineFilter], Template(fuser.__name__, (PipelineFilter,), members))


@cache
def _wrapped_types() -> dict[tuple[Any, Any], Any]:
    return dict(itk.PyImageFilter.items())


def _template(input_type: Any, output_type: Any, fuser: LabelFusionFilter) -> Any:
    """Return the ``itk.PyImageFilter`` for two types; by default labels keep the input type."""
    if output_type is None:
        pixel, dimension = itk.template(input_type)[1][:2]
        if fuser.foreground is not None:
            pixel = itk.D
        elif pixel in (itk.F, itk.D):
            pixel = itk.UC
        wrapped = [types[1] for types in _wrapped_types() if types[0] is input_type]
        output_type = next((t for t in wrapped if itk.template(t)[1] == (pixel, dimension)), None)
    if (input_type, output_type) not in _wrapped_types():
        known = sorted({types[0].__name__ for types in _wrapped_types()})
        raise InputError(
            f"the installed itk does not wrap PyImageFilter for {input_type.__name__}, "
            f"only for {', '.join(known)}: use itk.cast_image_filter",
            owner=fuser.GetName(),
        )
    return _wrapped_types()[input_type, output_type]


def _is_held(filter_: Any) -> bool:
    """Whether the output has references besides the filter's own and that of the proxy here."""
    return bool(filter_.GetOutput().GetReferenceCount() > 2)


def _sweep() -> None:
    """Release filters whose output is no longer referenced."""
    _OUTLIVING[:] = [filter_ for filter_ in _OUTLIVING if _is_held(filter_)]


PIPELINE_FILTERS = {fuser.__name__: _class_of(fuser) for fuser in FUSERS}
