"""Values of every filter that has none of its own: ours if they were set, SimpleITK's otherwise."""

from __future__ import annotations

from typing import Any, ClassVar

from itk_consensus.filters.constraints import Boolean, Integer, Kind, Real
from itk_consensus.filters.parameters import Parameter
from itk_consensus.images.simpleitk_family import simpleitk_default

TOLERANCE = Real(low=0.0)
THREADS = Integer(1, 1024)


class GlobalDefaults:
    """SimpleITK's static functions.

    ``sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-3)`` holds for filters of this
    package too; the function of the same name here holds for them alone, and wins.
    """

    _global_defaults: ClassVar[dict[str, Any]] = {}

    @staticmethod
    def SetGlobalDefaultCoordinateTolerance(tolerance: float) -> None:
        """Set the CoordinateTolerance of every filter that has none of its own."""
        _set("GlobalDefaultCoordinateTolerance", TOLERANCE, tolerance)

    @staticmethod
    def GetGlobalDefaultCoordinateTolerance() -> float:
        """The CoordinateTolerance of filters that have none of their own."""
        return float(_get("GlobalDefaultCoordinateTolerance"))

    @staticmethod
    def SetGlobalDefaultDirectionTolerance(tolerance: float) -> None:
        """Set the DirectionTolerance of every filter that has none of its own."""
        _set("GlobalDefaultDirectionTolerance", TOLERANCE, tolerance)

    @staticmethod
    def GetGlobalDefaultDirectionTolerance() -> float:
        """The DirectionTolerance of filters that have none of their own."""
        return float(_get("GlobalDefaultDirectionTolerance"))

    @staticmethod
    def SetGlobalDefaultNumberOfThreads(threads: int) -> None:
        """Set the NumberOfThreads of every filter that has none of its own."""
        _set("GlobalDefaultNumberOfThreads", THREADS, threads)

    @staticmethod
    def GetGlobalDefaultNumberOfThreads() -> int:
        """The NumberOfThreads of filters that have none of their own."""
        return int(_get("GlobalDefaultNumberOfThreads"))

    @staticmethod
    def SetGlobalDefaultDebug(debug: bool) -> None:
        """Set the Debug of every filter that has none of its own."""
        _set("GlobalDefaultDebug", Boolean(), debug)

    @staticmethod
    def GetGlobalDefaultDebug() -> bool:
        """The Debug of filters that have none of their own."""
        return bool(_get("GlobalDefaultDebug"))

    @staticmethod
    def GlobalDefaultDebugOn() -> None:
        """Print every filter before each Execute."""
        GlobalDefaults.SetGlobalDefaultDebug(True)

    @staticmethod
    def GlobalDefaultDebugOff() -> None:
        """Print no filter that was not asked to."""
        GlobalDefaults.SetGlobalDefaultDebug(False)

    @staticmethod
    def SetGlobalWarningDisplay(display: bool) -> None:
        """Set whether filters warn; what they would say is in GetDiagnostics() all the same."""
        _set("GlobalWarningDisplay", Boolean(), display)

    @staticmethod
    def GetGlobalWarningDisplay() -> bool:
        """Whether filters warn."""
        return bool(_get("GlobalWarningDisplay"))

    @staticmethod
    def GlobalWarningDisplayOn() -> None:
        """Let filters warn."""
        GlobalDefaults.SetGlobalWarningDisplay(True)

    @staticmethod
    def GlobalWarningDisplayOff() -> None:
        """Keep filters from warning."""
        GlobalDefaults.SetGlobalWarningDisplay(False)


def _get(name: str) -> Any:
    ours = GlobalDefaults._global_defaults
    return ours[name] if name in ours else simpleitk_default(name)


def _set(name: str, kind: Kind[Any], value: Any) -> None:
    named = Parameter(kind, value, "")
    named.name = name.removeprefix("GlobalDefault")
    GlobalDefaults._global_defaults[name] = named.check("ProcessObject", value)
