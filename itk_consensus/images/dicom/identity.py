"""Protection of patient identity: the parts of a DICOM file that may be copied or printed.

Errors, warnings, log lines and representations never quote values of a data set. A SEG or an
RTSTRUCT belongs to a patient, a study and a series, so it contains `PATIENT_AND_STUDY` and
references to slices and to the readers' objects, but no other identifying data.
"""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any

from itk_consensus.core.errors import MissingDependencyError

#: Attributes that the standard requires in every object of a patient's study (types 1 and 2 of the
#: modules Patient and General Study), so that an archive can file it; empty if the source has none.
PATIENT_AND_STUDY = (
    "PatientName", "PatientID", "PatientBirthDate", "PatientSex", "StudyInstanceUID", "StudyDate",
    "StudyTime", "StudyID", "AccessionNumber", "ReferringPhysicianName",
)  # fmt: skip

#: Value formats of some of these attributes; values of another format are dropped, since they may
#: be free text in the wrong attribute.
_FORMATS = {
    "PatientSex": "M|F|O",
    "PatientBirthDate": r"\d{8}",
    "StudyDate": r"\d{8}",
    "StudyTime": r"\d\d(\d\d(\d\d(\.\d{1,6})?)?)?",
}

_one_at_a_time = threading.RLock()


def dicom_library(owner: str, name: str = "pydicom") -> Any:
    """Import pydicom or highdicom; if it is missing, raise an error that names the extra."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{owner} needs {name}: pip install 'itk-consensus[dicom]'"
        ) from error


def patient_and_study(dataset: Any) -> dict[str, Any]:
    """Return the attributes that another object of the same study must have, by keyword."""
    values = {keyword: dataset.get(keyword, "") for keyword in PATIENT_AND_STUDY}
    malformed = [
        key for key, pattern in _FORMATS.items() if not re.fullmatch(pattern, str(values[key]))
    ]
    return values | dict.fromkeys(malformed, "")


def identity_of(dataset: Any) -> dict[str, str]:
    """Return the patient and study attributes to show on a page, keyed by their captions.

    This is only used at the user's request.
    """
    words = {"PatientName": "patient", "PatientID": "patient ID", "PatientBirthDate": "born",
             "StudyDate": "study of"}  # fmt: skip
    return {word: str(dataset.get(key)) for key, word in words.items() if dataset.get(key)}


def modality_of(dataset: Any) -> str | None:
    """Return the modality if it is a defined term of the standard; None for any other text."""
    found = dataset.get("Modality")
    return found if isinstance(found, str) and found in _modalities() else None


@cache
def _modalities() -> frozenset[str]:
    """Return the modalities of DICOM's context group 33."""
    collection = import_module("pydicom.sr.codedict").Collection("CID33")
    return frozenset(concept.value for concept in collection.concepts.values())


def describe_without_values(error: Exception) -> str:
    """Describe a parsing error without the values of the data set that its message may quote."""
    if isinstance(error, AttributeError):  # its message names only a tag
        return str(error)
    if isinstance(error, LookupError):
        return "it refers to an item that it does not contain"
    return type(error).__name__


@contextmanager
def silence_dicom_libraries() -> Iterator[None]:
    """Silence pydicom and highdicom: their warnings and log lines quote values of data sets.

    Only log lines of this thread are dropped. Warning filters are global to the process, so a lock
    ensures that only one thread at a time changes and restores them.
    """
    own = threading.get_ident()

    def is_of_another_thread(_record: logging.LogRecord) -> bool:
        return threading.get_ident() != own

    with suppress(ImportError):
        import_module("pydicom")  # creates its loggers
    names = [name for name in tuple(logging.root.manager.loggerDict) if _is_of_dicom(name)]
    loggers = [logging.getLogger(name) for name in names]
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.addFilter(is_of_another_thread)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(is_of_another_thread)


def _is_of_dicom(logger: str) -> bool:
    return logger.partition(".")[0] in ("pydicom", "highdicom")
