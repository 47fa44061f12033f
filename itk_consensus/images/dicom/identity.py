"""What is said and carried of a DICOM file: never whose it is, unless DICOM asks for it.

Errors, warnings, log lines and representations quote no value of a data set. A SEG or an RTSTRUCT
belongs to a patient, a study and a series: it carries `OF_PATIENT_AND_STUDY` and references to
slices and readers' objects, and no more.
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

#: What the standard wants in every object of a patient's study (types 1 and 2 of the modules
#: Patient and General Study), so that an archive can file it; empty where the source has none.
OF_PATIENT_AND_STUDY = (
    "PatientName", "PatientID", "PatientBirthDate", "PatientSex", "StudyInstanceUID", "StudyDate",
    "StudyTime", "StudyID", "AccessionNumber", "ReferringPhysicianName",
)  # fmt: skip

#: How some of it is spelled; anything else is free text in the wrong place, and is left out.
_SPELLED = {
    "PatientSex": "M|F|O",
    "PatientBirthDate": r"\d{8}",
    "StudyDate": r"\d{8}",
    "StudyTime": r"\d\d(\d\d(\d\d(\.\d{1,6})?)?)?",
}

_one_at_a_time = threading.RLock()


def dicom_library(owner: str, name: str = "pydicom") -> Any:
    """The library, or an error that names the extra."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{owner} needs {name}: pip install 'itk-consensus[dicom]'"
        ) from error


def of_patient_and_study(dataset: Any) -> dict[str, Any]:
    """What an object of the same study must carry, by keyword."""
    carried = {keyword: dataset.get(keyword, "") for keyword in OF_PATIENT_AND_STUDY}
    wrong = [key for key, form in _SPELLED.items() if not re.fullmatch(form, str(carried[key]))]
    return carried | dict.fromkeys(wrong, "")


def identity_of(dataset: Any) -> dict[str, str]:
    """Who the patient is and when it was, in words: only for those who ask for it."""
    words = {"PatientName": "patient", "PatientID": "patient ID", "PatientBirthDate": "born",
             "StudyDate": "study of"}  # fmt: skip
    return {word: str(dataset.get(key)) for key, word in words.items() if dataset.get(key)}


def modality_of(dataset: Any) -> str | None:
    """The modality, if it is a term of the standard; whatever else stands there may be anything."""
    found = dataset.get("Modality")
    return found if isinstance(found, str) and found in _modalities() else None


@cache
def _modalities() -> frozenset[str]:
    """Context group 33, as pydicom has it."""
    collection = import_module("pydicom.sr.codedict").Collection("CID33")
    return frozenset(concept.value for concept in collection.concepts.values())


def without_values(error: Exception) -> str:
    """What went wrong with a data set, without what is in it: messages of values quote them."""
    if isinstance(error, AttributeError):  # which names a tag
        return str(error)
    return "it refers to what it lacks" if isinstance(error, LookupError) else type(error).__name__


@contextmanager
def without_remarks() -> Iterator[None]:
    """Keep pydicom and highdicom silent: their warnings and log lines quote what is in a data set.

    Only lines of this thread are held back. The filters of warnings are the process's, so that one
    thread at a time may change them, or they would be restored in the wrong order.
    """
    own = threading.get_ident()

    def is_of_another_thread(_record: logging.LogRecord) -> bool:
        return threading.get_ident() != own

    with suppress(ImportError):
        import_module("pydicom")  # whose loggers are made then
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
