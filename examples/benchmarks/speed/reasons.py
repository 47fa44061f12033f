"""Reasons why time limits are exceeded, based on single-threaded profiles."""

from __future__ import annotations

from typing import Any

#: Why each benchmark exceeds its time limit, by benchmark name. Times are in seconds, for 15
#: atlases with 100 labels on 160 x 192 x 160 voxels, unless the name or the unit says otherwise.
WHY_NOT = {
    "fuse --method vote": "reading and writing files alone takes one Execute; findings about "
    "raters, which are always reported, need the table of patterns (.25 s), a check of packed "
    "files (.09 s), surfaces (.08 s), near-copies (.07 s) and overlaps (.06 s)",
    "batch, a case by vote": "the same findings, and the tables of the study",
    "Consensus, atlases": "of 3.4 s, the band powers of all raters take .9, cuts .5, packing .3, "
    "and encoding, gains and pairs of raters .2 each",
    "Consensus, crowd": "noise causes disputes everywhere; of .87 s, band powers take .20, the "
    "bound on harm .15, cuts .14 and gains .09",
    "resolution": "differences between half-resolution grids, in NumPy, take 1.5 of 3.8 s",
    "ShapeBasedAveraging": "of 3.4 s, distances take 2.2, a third of which is searching; the rest "
    "is filling, copying and looking up rows",
    "Agreement with surfaces": "of 4.5 s, distances in double precision take 1.6 and tables of "
    "pairs 1.0",
    "joint fusion, patch 2, no search": "because tiles overlap, weights are computed 1.25 times "
    "per voxel; with larger tiles it takes 13.7 T, but 26 bytes per voxel",
    "Consensus, 512 x 512, 4 readers": "the bound on harm takes 3.7 ms, sums in NumPy 1.7, "
    "smoothing 1.4, contours of pairs 1.2, bands 1.1 and cuts .9",
    "Consensus, 16 x 16, 4 readers": "there are 4,000 calls in Python; no kernel takes more than "
    ".2 ms",
    "Consensus, raters 20 to 40": "band powers and gains take four fifths of the time for "
    "40 raters",
    "Consensus, labels 50 to 200": "band powers and gains take two thirds of the time for 200 "
    "labels; each label takes twice as long as with 50 labels",
    "DirectInference, labels 50 to 200": "the search for moves is repeated 2.3 times as often, and "
    "each takes 2.3 times as long; there are 1.7 times as many EM steps, each of which takes 3.8 "
    "times as long",
    "InstanceConsensus, labels 50 to 200": "the likelihood of detection takes three quarters of "
    "the time; it is evaluated 2.8 times as often, and takes 6 times as long",
    "a case of batch, 512 x 512, vote": "reading files takes 2.5 ms, unpacking them for their hash "
    "2, packing 1.3, writing .6 and near-copies 1.4; the rest is Python",
    "COLLATE, labels 50 to 200": "EM converges slowly; its steps take nine tenths of the time, and "
    "the first thirty of them take 5 times as long",
    "STAPLE, raters 20 to 40": "the number of patterns increases from 295 to 1286",
    "HybridFusion, raters 20 to 40": "it runs Consensus",
    "HybridFusion, labels 50 to 200": "it runs Consensus",
    "CorrectedVote, labels 50 to 200": "most of the time is spent on deciding the voxels of tiles",
    **{
        f"vote, {what}, {form}": "masks were read three times: to find their labels, to vote and "
        "to store them; now they are read once, which takes 3.2 ms: 1.4 to read and pack (reading "
        "alone takes 1.2), .45 to count bits, and the rest in Python"
        for what in ("clean masks", "voxel noise")
        for form in ("arrays", "SimpleITK images")
    },
    "vote of one slice, SimpleITK images": "parameters and geometry are checked, and views of five "
    "images take a tenth of a millisecond",
    "import of fuse": "the package's own modules take seven tenths of the time of NumPy and "
    "SimpleITK; a tenth of that is for DICOM structures, which fusing images does not need",
    "page, 15 atlases of 100 labels": "contours of 15 atlases in six slices take .45 s, kappa and "
    "alpha of 100 labels .15 s, and finding where raters differ .15 s",
    "vote of one slice, arrays": "parameters, results and checks take .25 ms, regardless of "
    "the size",
    "page, one organ": "of 3.3 s on a busy machine, matrix products took 1.0 in two threads of "
    "BLAS, which wait for each other; in one thread they take .04. Distances take .3, bias by "
    "direction .3, margins .3, disputed slices .4 and the scrollable slices .4",
}


def reason(row: dict[str, Any]) -> str:
    """Return why the limit of a row is exceeded, and other notes; empty if there are none."""
    why = WHY_NOT.get(row["what"], "") if row["met"] is False else ""
    return "; ".join(part for part in (why, row.get("note", "")) if part)
