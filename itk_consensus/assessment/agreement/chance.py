"""Agreement beyond chance: Fleiss' kappa, Krippendorff's alpha and Gwet's AC1, from patterns.

Background inflates these coefficients: the larger its share of an image, the better raters seem to
agree. They are therefore computed over all voxels and over the union, that is, the voxels to which
at least one rater gave the label. The union deflates them, since its voxels are selected for being
marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns

Region = Literal["grid", "union"]


@dataclass(frozen=True)
class Ratings:
    """Numbers of raters by pattern and category, for patterns annotated by at least two raters."""

    votes: scipy.sparse.csc_matrix  #: (P, C) number of raters who assigned the category
    voxels: Floats  #: (P,) number of voxels with the pattern

    @classmethod
    def of(cls, patterns: DecisionPatterns) -> Ratings:
        """Count the ratings of vote patterns; every label is a category."""
        annotators = patterns.present.sum(axis=1)
        rated = annotators > 1
        said = patterns.patterns[rated][patterns.present[rated]]
        shape = (int(np.count_nonzero(rated)), patterns.number_of_labels)
        rows = np.repeat(np.arange(shape[0], dtype=np.int32), annotators[rated])
        once = np.ones(len(rows), np.min_scalar_type(patterns.number_of_raters))
        votes = scipy.sparse.coo_matrix((once, (rows, said)), shape).tocsc()
        return cls(votes.astype(np.float64), patterns.counts[rated].astype(np.float64))

    def against_the_rest(self, label: int, region: Region) -> Ratings:
        """Reduce to two categories: a label (by index) against all others.

        With region "union", only voxels to which any rater gave the label are kept. Patterns
        without the label are merged by their number of raters, since they are then identical.
        """
        column = slice(*self.votes.indptr[label : label + 2])
        rows, given = self.votes.indices[column], self.votes.data[column]
        number, voxels = self.number[rows], self.voxels[rows]
        if region == "grid":
            sizes = np.arange(len(self._voxels_by_number))
            silent = self._voxels_by_number - np.bincount(
                number.astype(np.intp), voxels, minlength=len(sizes)
            )
            rated = silent > 0
            number = np.append(number, sizes[rated])
            voxels = np.append(voxels, silent[rated])
            given = np.append(given, np.zeros(np.count_nonzero(rated)))
        two = scipy.sparse.csc_matrix(np.stack([number - given, given], axis=1))
        return Ratings(two, voxels)

    @cached_property
    def number(self) -> Floats:
        """(P,) number of raters who annotated each pattern."""
        return np.asarray(self.votes.sum(axis=1), dtype=np.float64)[:, 0]

    @cached_property
    def _voxels_by_number(self) -> Floats:
        """Number of voxels, indexed by the number of raters who annotated them."""
        return np.asarray(np.bincount(self.number.astype(np.intp), self.voxels), np.float64)

    @property
    def agreeing_pairs(self) -> Floats:
        """(P,) number of ordered pairs of raters who agree on each pattern."""
        squares = self.votes.multiply(self.votes).sum(axis=1)
        return np.asarray(squares, dtype=np.float64)[:, 0] - self.number


@dataclass(frozen=True)
class ChanceTerms:
    """Sufficient statistics of agreement beyond chance, which can be summed over cases.

    Fields may have leading axes, e.g. for bootstrap samples; the coefficients then have the same
    axes.
    """

    voxels: Floats  #: (...) number of voxels annotated by at least two raters
    agreeing: Floats  #: (...) sum over voxels of the share of pairs of raters who agree
    shares: Floats  #: (..., C) sum over voxels of the share of raters who gave each category
    values: Floats  #: (..., C) votes for each category
    agreeing_values: Floats  #: (...) votes that agree with those of other raters

    @classmethod
    def of(cls, ratings: Ratings) -> ChanceTerms:
        """Compute the terms of a table of ratings."""
        number, voxels, agreeing = ratings.number, ratings.voxels, ratings.agreeing_pairs
        return cls(
            np.asarray(voxels.sum()),
            np.asarray(voxels @ (agreeing / (number * (number - 1)))),
            np.asarray(ratings.votes.T @ (voxels / number)),
            np.asarray(ratings.votes.T @ voxels),
            np.asarray(voxels @ (agreeing / (number - 1))),
        )

    @property
    def numbers(self) -> Floats:
        """(..., 3 + 2 C) all terms concatenated along the last axis, for storage.

        Like the terms, these arrays can be summed over cases.
        """
        parts = (
            self.voxels[..., None], self.agreeing[..., None], self.shares, self.values,
            self.agreeing_values[..., None],
        )  # fmt: skip
        return np.concatenate(parts, axis=-1)

    @classmethod
    def of_numbers(cls, numbers: ArrayLike) -> ChanceTerms:
        """Restore the terms from `numbers`, or from the sum of several such arrays."""
        row = np.asarray(numbers, np.float64)
        shares, values = np.split(row[..., 2:-1], 2, axis=-1)
        return cls(row[..., 0], row[..., 1], shares, values, row[..., -1])

    @property
    def kappa(self) -> Floats:
        """Fleiss' kappa (1971); NaN if only one category was used.

        If raters are missing, the agreement at a voxel is that of its available pairs, and the
        frequency of a category is its mean share over voxels (Gwet, Handbook of Inter-Rater
        Reliability).
        """
        expected = np.square(self._frequencies).sum(axis=-1)
        return _beyond_chance(self._observed, expected)

    @property
    def ac1(self) -> Floats:
        """Gwet's AC1 (Br J Math Stat Psychol 61:29-48, 2008); NaN without voxels.

        Chance agreement is limited to ratings about which raters are uncertain, so that a rare
        category does not make good agreement look poor, as it does with kappa.
        """
        frequencies = self._frequencies
        unsure = (frequencies * (1 - frequencies)).sum(axis=-1)
        return _beyond_chance(self._observed, unsure / max(frequencies.shape[-1] - 1, 1))

    @property
    def alpha(self) -> Floats:
        """Krippendorff's alpha for nominal data (2011); NaN if only one category was used."""
        number = self.values.sum(axis=-1)
        expected = np.square(number) - np.square(self.values).sum(axis=-1)
        apart = (number - 1) * (number - self.agreeing_values)
        return np.asarray(1 - _ratio(apart, expected))

    @property
    def _observed(self) -> Floats:
        return _ratio(self.agreeing, self.voxels)

    @property
    def _frequencies(self) -> Floats:
        return _ratio(self.shares, self.voxels[..., None])


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    return _ratio(observed - expected, 1 - expected)


def _ratio(part: Floats, whole: Floats) -> Floats:
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


def fleiss_kappa(ratings: Ratings) -> float:
    """Return Fleiss' kappa for many raters; see `ChanceTerms.kappa`."""
    return float(ChanceTerms.of(ratings).kappa)


def krippendorff_alpha(ratings: Ratings) -> float:
    """Return Krippendorff's alpha for nominal data; see `ChanceTerms.alpha`."""
    return float(ChanceTerms.of(ratings).alpha)
