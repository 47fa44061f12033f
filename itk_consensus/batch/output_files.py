"""Names of the files that a batch writes: those of the whole batch and those of each case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from itk_consensus.batch import bids
from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.plan import Plan

TABLE = "summary.csv"
INDEX = "index.html"
BATCH_RECORD = "batch.json"
#: List of the fused cases, which `itk-consensus batch` and `review` accept as input.
CASES = "cases.json"
#: Tables of the study, with their descriptions.
STUDY = {
    "pairs.csv": "every two raters of every case",
    "raters.csv": "each rater over all cases",
    "cases.csv": "every structure of every case",
    "next_readings.csv": "which case to read again first: what one more reading would change",
    "reliability.csv": "intraclass correlation, kappa and repeatability of each structure",
}
WORKBOOK = "study.xlsx"

CASE_RECORD = "case.json"
PAGE = "report.html"
AGREEMENT = "agreement.json"
THUMBNAIL = "thumbnail.png"


class CaseFiles(NamedTuple):
    """Paths of the results of a case."""

    output: Path  #: The batch's folder
    record: Path  #: A `FolderRecord`
    consensus: Path
    agreement: Path  #: A `CaseStudy`
    thumbnail: Path
    page: Path | None = None
    probability: Path | None = None  #: Probabilities of all labels, for BIDS derivatives only
    sidecar: Path | None = None  #: JSON that describes the volumes of `probability`

    @classmethod
    def of(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        """Return the files of a case, by default in its own folder."""
        if plan.bids:
            return cls._of_bids(case, plan)
        if plan.nnunet:
            return cls._of_nnunet(case, plan)
        folder = plan.output / case.folder
        return cls(
            plan.output,
            folder / CASE_RECORD,
            folder / f"consensus{plan.suffix}",
            folder / AGREEMENT,
            folder / THUMBNAIL,
            folder / PAGE if plan.reports else None,
        )

    @classmethod
    def _of_nnunet(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        """Return files in a folder shared by all cases; each label map is named after its case."""

        def path_of(suffix: str) -> Path:
            return plan.output / f"{case.folder}{suffix}"

        return cls(
            plan.output,
            path_of(f".{CASE_RECORD}"),
            path_of(plan.suffix),
            path_of(f".{AGREEMENT}"),
            path_of(f".{THUMBNAIL}"),
            path_of(f".{PAGE}") if plan.reports else None,
        )

    @classmethod
    def _of_bids(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        folder = plan.output / bids.folder_of(case.name)

        def path_of(suffix: str) -> Path:
            return folder / bids.name_of(case.name, suffix)

        return cls(
            plan.output,
            path_of(CASE_RECORD),
            path_of(f"dseg{plan.suffix}"),
            path_of(AGREEMENT),
            path_of(THUMBNAIL),
            path_of(PAGE) if plan.reports else None,
            path_of(f"probseg{plan.suffix}"),
            path_of("probseg.json"),
        )

    @property
    def results(self) -> list[Path]:
        """All files except the record."""
        optional = (self.page, self.probability, self.sidecar)
        known = [file for file in optional if file is not None]
        return [self.consensus, self.agreement, self.thumbnail, *known]

    def columns(self) -> dict[str, Any]:
        """Return the columns of the summary table: paths relative to the batch's folder."""
        folder = self.output
        return {
            "consensus": self.consensus.relative_to(folder).as_posix(),
            "page": "" if self.page is None else self.page.relative_to(folder).as_posix(),
        }
