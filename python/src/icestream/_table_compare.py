"""Tests of whether photon tables have the same light: icestream.tables.compare() and permutation_test()."""
from __future__ import annotations

import itertools
import math
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._commands import Path
from ._convert import needed
from ._library import Error, InputError, usage
from ._table_file import fault

if TYPE_CHECKING:
    from .tables import Table

UNIT = 2.0 ** -32      # what one unit of a sum is worth, as a weight
_TABLES_MOST = 200     # in both groups together
_SPLITS_MOST = 100000  # that are tried


class Comparison(NamedTuple):
    """Two tables. identical: sums, squares, photons and weights are equal. bins: bins in which one of them has light.
    probability: of such a chi-square by chance. largest: the largest difference in standard deviations, which is in `cell`
    of the sums."""

    identical: bool
    chi_square: float
    bins: int
    probability: float
    largest: float
    cell: Tuple[int, ...]


class PermutationTest(NamedTuple):
    """Two groups of tables. probability: as_large / splits, the share of splits whose statistic is at least as large as that of
    the real groups. smallest: the smallest probability for groups of these sizes. is_sampled: there are too many splits, and a
    sample was tried. bins: bins in which not all tables are equal, which is the mean of the statistic over all splits. largest:
    the largest difference of the means of both groups, in standard deviations over all splits, which is in `cell` of the sums."""

    statistic: float
    probability: float
    as_large: int
    splits: int
    smallest: float
    is_sampled: bool
    bins: int
    largest: float
    cell: Tuple[int, ...]


AnyTable = Union["Table", Path]


def _input(table: "Table", text: str, *values: Any) -> Error:
    return fault(InputError, "%s: %s" % (table.name, text % values))


def _opened(table: AnyTable) -> "Table":
    from .tables import Table
    return table if isinstance(table, Table) else Table(table)


def _pieces(cells: int, most: int) -> Iterator[slice]:
    """Parts of all cells, so that few cells are in memory as floats."""
    return (slice(first, min(first + most, cells)) for first in range(0, cells, most))


def _cell(table: "Table", cell: int) -> Tuple[int, ...]:
    return tuple(int(index) for index in np.unravel_index(cell, table.sums.shape))


def _check_bins(a: "Table", b: "Table") -> None:
    """Both tables need the same bins, and photons."""
    for i, (one, other) in enumerate(itertools.zip_longest(a.axes, b.axes)):
        if one is None or other is None or one.name != other.name or not np.array_equal(one.edges, other.edges):
            texts = ["no axis" if axis is None else "%s with %d bins from %.9g to %.9g" % (
                axis.name, len(axis.edges) - 1, axis.edges[0], axis.edges[-1]) for axis in (other, one)]
            raise _input(b, "axis %d: found %s, expected the bins of %s: %s", i + 1, texts[0], a.name, texts[1])
    for table in (a, b):
        if not table.weight > 0:
            raise _input(table, "found a weight of photons of 0, expected more, because sums are divided by it")


def compare(first: AnyTable, second: AnyTable) -> Comparison:
    """Chi-square of two tables: each is divided by the weight of its photons, and (a - b)^2 / variance is added up over all cells
    with light. The variance comes from the squared weights; without them each sum is its own variance, which is right for weights
    of 1. The probability holds only if a photon adds to one cell at most; otherwise use permutation_test(). Needs SciPy.
    Raises InputError."""
    chi_square_above = needed("scipy.special", "compare").chdtrc
    a, b = _opened(first), _opened(second)
    _check_bins(a, b)
    sums = [table.sums.reshape(-1) for table in (a, b)]
    squares = [(table.sums if table.squares is None else table.squares).reshape(-1) for table in (a, b)]
    chi_square, bins, largest, cell = 0.0, 0, 0.0, 0
    for some in _pieces(sums[0].size, 1 << 20):
        variance = squares[0][some] * UNIT / (a.weight * a.weight) + squares[1][some] * UNIT / (b.weight * b.weight)
        difference = (sums[0][some] / a.weight - sums[1][some] / b.weight) * UNIT
        squared = np.divide(difference * difference, variance, out=np.zeros(len(variance)), where=variance > 0)
        chi_square += float(squared.sum())
        bins += int((variance > 0).sum())
        if squared.max() > largest * largest:
            largest, cell = math.sqrt(squared.max()), some.start + int(squared.argmax())
    identical = all(a.metadata[key] == b.metadata[key] for key in ("photons", "weight", "has_squares")) and all(
        np.array_equal(one, other) for one, other in (sums, squares))
    return Comparison(identical, chi_square, bins, float(chi_square_above(bins, chi_square)) if bins else 1.0, largest, _cell(a, cell))


def _smallest(first: int, second: int) -> float:
    """The smallest probability of a test. Groups of equal size can be exchanged, so two splits are as large then."""
    splits = math.comb(first + second, first)
    return 1 / _SPLITS_MOST if splits > _SPLITS_MOST else (2 if first == second else 1) / splits


def _check_groups(tables: List["Table"], first: int) -> None:
    """Whether the tables can be exchanged, and those of each group were made in the same way with different random numbers."""
    owners: Dict[str, str] = {}
    base = tables[0]
    for i, table in enumerate(tables):
        about, wanted, group = table.metadata, base.metadata, tables[0 if i < first else first]
        _check_bins(base, table)
        for key in ("geometry", "step_length"):
            if about[key] != wanted[key]:
                raise _input(table, "%s: found %s, expected %s as in %s", key, about[key], wanted[key], base.name)
        if abs(table.photons - base.photons) > 0.05 * base.photons:
            raise _input(table, "found %d photons, expected as many as in %s, %d (within 5 %%), because only tables of equal "
                         "size can be exchanged", table.photons, base.name, base.photons)
        for what, digest in about["digests"].items():
            if digest != group.metadata["digests"][what]:
                raise _input(table, "the digest of the %s differs from that of %s; expected tables of one group that differ "
                             "in run.seed only", what, group.name)
        if not about["parts"]:
            raise _input(table, "found a table without parts, expected the digests of its parts, which show that tables are "
                         "independent")
        for part in about["parts"]:
            if part in owners:
                raise _input(table, "found the part %.16s..., which %s has, too; expected tables whose photons have different "
                             "random numbers: each table needs another run.seed", part, owners[part])
            owners[part] = table.name


def _sample(count: int, size: int) -> npt.NDArray[np.int64]:
    """_SPLITS_MOST - 1 groups: the last objects of a random order, which goes on from split to split. The random words are
    those of splitmix64 with the seed 1. None of them is so large that its remainder would prefer small numbers."""
    words = np.arange(1, (_SPLITS_MOST - 1) * size + 1, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15) + np.uint64(1)
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
    words = words ^ words >> np.uint64(31)
    lasts = range(count - 1, count - 1 - size, -1)
    drawn = words.reshape(-1, size) % np.array([last + 1 for last in lasts], np.uint64)
    order, groups = list(range(count)), []
    for row in drawn.tolist():
        for last, other in zip(lasts, row):
            order[last], order[other] = order[other], order[last]
        groups.append(order[count - size:])
    return np.array(groups)


def _products(tables: List["Table"], first: int) -> Tuple[npt.NDArray[np.float64], int, float, int]:
    """The inner products of the tables, of whose bins each is divided by its standard deviation over all tables; the number of
    bins that differ; the largest difference of the groups and its cell."""
    count = len(tables)
    scale = math.sqrt(1 / first + 1 / (count - first))
    products, bins, largest, cell = np.zeros((count, count)), 0, 0.0, 0
    rows = [table.sums.reshape(-1) for table in tables]
    for some in _pieces(rows[0].size, 1 << 16):
        values = np.stack([row[some] * (UNIT / table.weight) for row, table in zip(rows, tables)])
        differs = np.nonzero(values.min(axis=0) < values.max(axis=0))[0]
        values = values.take(differs, axis=1)
        values -= values.mean(axis=0)
        values /= np.sqrt((values * values).sum(axis=0) / (count - 1))
        found = np.abs(values[:first].sum(axis=0)) * scale
        products += values @ values.T
        bins += len(found)
        if found.max(initial=0.0) > largest:
            largest, cell = float(found.max()), some.start + int(differs[found.argmax()])
    return products, bins, largest, cell


def permutation_test(first: Sequence[AnyTable], second: Sequence[AnyTable]) -> PermutationTest:
    """Tests whether two groups of tables show the same light (docs/tables.md 3.1): two lists of tables or paths, each table with
    another run.seed. Raises InputError if tables cannot be exchanged, UsageError if there are too few or too many."""
    for group in (first, second):
        if not isinstance(group, (list, tuple)):
            raise usage("permutation_test: found %r, expected a list of tables or paths" % (group,))
    m, n, count = len(first), len(second), len(first) + len(second)
    if min(m, n) < 1 or _smallest(m, n) >= 1 or count > _TABLES_MOST:
        raise usage("permutation_test: found %d against %d tables, expected at least 1 against 2, and at most %d in both groups "
                    "together" % (m, n, _TABLES_MOST))
    tables = [_opened(table) for table in (*first, *second)]
    _check_groups(tables, m)
    products, bins, largest, cell = _products(tables, m)

    def squared(groups: Any) -> npt.NDArray[np.float64]:
        """The squared length of the sum of the vectors of each group. That of the other group is the same."""
        has = np.zeros((len(groups), count))
        np.put_along_axis(has, np.asarray(groups), 1.0, axis=1)
        lengths: npt.NDArray[np.float64] = ((has @ products) * has).sum(axis=1)
        return lengths
    size = min(m, n)    # the smaller group is followed
    real = float(squared([range(m) if m <= n else range(m, count)])[0])
    is_sampled = math.comb(count, m) > _SPLITS_MOST
    groups = _sample(count, size) if is_sampled else np.array(list(itertools.combinations(range(count), size)))
    least = real - 1e-9 * float(np.trace(products))    # smaller differences are rounding
    as_large = is_sampled + sum(int((squared(groups[some]) >= least).sum()) for some in _pieces(len(groups), 4096))
    splits = is_sampled + len(groups)    # the real split belongs to a sample
    return PermutationTest(real * (1 / m + 1 / n), as_large / splits, as_large, splits, _smallest(m, n), is_sampled, bins,
                           largest, _cell(tables[0], cell))
