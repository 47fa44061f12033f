"""CutCalibrationFilter: learns thresholds ("cuts") for probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from itk_consensus.calibration.calibration_filter import OneKindFilter
from itk_consensus.calibration.conformal_record import check_alike
from itk_consensus.calibration.cuts import (
    FEWEST_CASES,
    MEASURES,
    CutCase,
    CutRecord,
    LabelCut,
    cut_case,
    cut_labels,
)
from itk_consensus.calibration.record import library_versions
from itk_consensus.core.constraints import Choice
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Parameter
from itk_consensus.core.work import report
from itk_consensus.images import convert


class CutCalibrationFilter(OneKindFilter[CutRecord]):
    """Learns cuts (thresholds) of probabilities from at least ten cases, and applies them.

    For networks that under-segment, or raters whose masks are all too small, a cut below one half
    is better. Cuts are learned per label. Their gain over one half is measured by leave-one-out
    cross-validation, and a cut remains one half if the interval of its gain includes 0. A label's
    mask consists of the voxels at which its probability reaches its cut; with several labels, each
    label's probability is divided by the odds of its cut, and the largest quotient wins.
    GetMeaning() describes the result.
    """

    record_class = CutRecord

    Measure = Parameter(
        Choice(MEASURES),
        "dice",
        "The measure to maximise: the Dice, or the ratio of the smaller to the larger volume.",
    )

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
    ) -> None:
        """Learn the cuts from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            Probabilities by any method, such as vote fractions or means of networks.
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each probability image; Execute requires the same number.
        """
        with self._running():
            self._record = None
            cases = [
                cut_case(case, self.Measure)
                for case in self._calibration_cases(probabilities, references, raters)
            ]
            self._record = self._learn(cases)
            self._tell(self._record.doubts())

    def _learn(self, cases: Sequence[CutCase]) -> CutRecord:
        if len(cases) < FEWEST_CASES:
            raise InputError(
                f"Calibrate needs at least {FEWEST_CASES} cases, got {len(cases)}",
                owner=self.GetName(),
            )
        check_alike(
            self.GetName(),
            labels={len(case.scores) + 1 for case in cases},
            raters={case.rater_count or 0 for case in cases},
        )
        scores = np.stack([case.scores for case in cases], axis=1)
        return CutRecord(
            cuts=tuple(LabelCut.learn(of_label) for of_label in scores),
            measure=self.Measure,
            number=len(cases),
            labels=len(scores) + 1,
            rater_count=cases[0].rater_count,
            fusion_method=self.FusionMethod,
            probability_kinds=tuple(sorted({case.kind for case in cases if case.kind is not None})),
            versions=library_versions(),
        )

    def GetMeaning(self) -> str:
        """Describe the learned cuts in a sentence."""
        return self.GetRecord().meaning

    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Threshold a probability image, or a list with one image per label.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into the probability, as many as in Calibrate.

        Returns
        -------
        image
            The label map: uint8, or uint16 if there are more than 256 labels.
        """
        record = self.GetRecord()
        with self._running():
            case, loaded = self._load_case(probability, raters)
            given = {"labels": case.labels, "rater_count": case.rater_count}
            made_with = {name: getattr(record, name) for name in given}
            self._reject_other(
                {"measure": record.measure, **made_with}, {"measure": self.Measure, **given}
            )
            if other := "; ".join(self._differences(record, case)):
                raise ParameterError(f"{other}; calibrate again for it", owner=self.GetName())
            report(0.3)
            labels = cut_labels(case.probabilities, [one.cut for one in record.cuts])
            dtype = np.uint8 if case.labels <= 256 else np.uint16
            return convert.to_image(labels.astype(dtype), loaded)
