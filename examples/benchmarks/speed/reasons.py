"""Reasons why limits of waiting times are exceeded, from profiles of one thread."""

from __future__ import annotations

from typing import Any

#: Reason for each wait, by name. Seconds are for 15 atlases with 100 labels, 160 x 192 x 160.
WHY_NOT = {
    "fuse --method vote": "files alone take an Execute; findings about raters need the table of "
    "patterns (.25 s), packed files checked (.09), surfaces (.08), near copies (.07), overlaps "
    "(.06), and are always told",
    "batch, a case by vote": "the same findings, and the tables of the study",
    "Consensus, atlases": "of 3.4 s band powers of every rater .9, cuts .5, packing .3, encoding, "
    "gains and pairs of raters .2 each",
    "Consensus, crowd": "noise is disputed everywhere; of .87 s band powers .20, the bound of "
    "harm .15, cuts .14, gains .09",
    "resolution": "differences of half grids in NumPy are 1.5 of 3.8 s",
    "ShapeBasedAveraging": "of 3.4 s 2.2 are distances, a third of them searched, the rest rows "
    "filled, copied and looked up",
    "Agreement with surfaces": "of 4.5 s distances in double precision 1.6, tables of pairs 1.0",
    "joint fusion, patch 2, no search": "weights of the tiles' halos are made 1.25 times; larger "
    "tiles take 13.7 T but 26 bytes a voxel",
    "Consensus, 512 x 512, 4 readers": "the bound of harm 3.7 ms, NumPy's sums 1.7, "
    "smoothing 1.4, contours of pairs 1.2, bands 1.1, cuts .9",
    "Consensus, 16 x 16, 4 readers": "4,000 calls of Python, no kernel above .2 ms",
    "Consensus, raters 20 to 40": "band powers and gains are four fifths of 40 raters' time",
    "Consensus, labels 50 to 200": "band powers and gains are two thirds of 200 labels' time; "
    "each label takes twice as long as among 50",
    "DirectInference, labels 50 to 200": "the search asks 2.3 times as often for moves, which take "
    "2.3 times as long; steps of EM, of which there are 1.7 times as many, 3.8 times",
    "InstanceConsensus, labels 50 to 200": "three quarters are the likelihood of detection, asked "
    "for 2.8 times as often, 6 times as long",
    "a case of batch, 512 x 512, vote": "files are read 2.5 ms, unpacked for their hash 2, packed "
    "1.3, written .6; near copies 1.4; the rest is Python",
    "COLLATE, labels 50 to 200": "EM crawls; nine tenths are its steps, of which the first thirty "
    "take 5 times as long",
    "STAPLE, raters 20 to 40": "295 patterns become 1286",
    "HybridFusion, raters 20 to 40": "it asks Consensus",
    "HybridFusion, labels 50 to 200": "it asks Consensus",
    "CorrectedVote, labels 50 to 200": "most of it in the decision of tiles",
    **{
        f"vote, {what}, {form}": "masks were read three times, to find their labels, to vote and "
        "to keep them; since then they are read once, 3.2 ms: 1.4 to read and pack (reading alone "
        "takes 1.2), .45 to count bits, the rest Python"
        for what in ("clean masks", "voxel noise")
        for form in ("arrays", "SimpleITK images")
    },
    "vote of one slice, SimpleITK images": "checks of parameters and geometry, a tenth of a "
    "millisecond for views of five images",
    "import of fuse": "modules of our own take seven tenths of what numpy and SimpleITK do; a "
    "tenth of that reads and writes DICOM structures, which a fuse of images does not need",
    "page, 15 atlases of 100 labels": "contours of 15 atlases in six slices take .45 s, kappa and "
    "alpha of 100 labels .15, where raters differ .15",
    "vote of one slice, arrays": "parameters, results and checks take .25 ms whatever the size",
    "page, one organ": "of 3.3 s on a busy machine products of matrices in two threads of BLAS, "
    "which wait for each other, were 1.0 and take .04 in one; distances are .3, bias by direction "
    ".3, margins .3, disputed slices .4, slices to go through .4",
}


def reason(row: dict[str, Any]) -> str:
    """Return why the limit of a row is exceeded, and other notes; empty if there are none."""
    why = WHY_NOT.get(row["what"], "") if row["met"] is False else ""
    return "; ".join(part for part in (why, row.get("note", "")) if part)
