"""Take a smaller, repeatable benchmark out of a large one."""

from __future__ import annotations

import hashlib

from harness.datasets.base import Dataset, DatasetError, DatasetQuery


def sample_queries(dataset: Dataset, count: int, seed: int) -> Dataset:
    """Keep ``count`` queries that have relevant documents, and the scopes they ask in, whole.

    Tasks keep their shares (at least one query each while ``count`` allows), because scores are
    means over tasks. Which queries are taken depends on their ids and the seed alone, so a larger
    sample contains a smaller one's queries of every task.

    Parameters
    ----------
    dataset : Dataset
        Left as it is.
    count : int
        At least 1; a count at or above the number of judged queries keeps all of those.
    seed : int
        Any integer.

    Returns
    -------
    Dataset
        Rows of scopes that no kept query asks in are gone.

    Raises
    ------
    DatasetError
        ``count`` is below 1.
    """
    if count < 1:
        raise DatasetError(
            f"dataset {dataset.name!r}: sample_queries is {count}, at least 1 is needed"
        )
    judged = [query for query in dataset.queries if query.query_id in dataset.qrels]
    groups: dict[str, list[DatasetQuery]] = {}
    for query in sorted(judged, key=lambda query: _draw(query.query_id, seed)):
        groups.setdefault(query.task, []).append(query)
    shares = _shares({task: len(found) for task, found in groups.items()}, count)
    kept = {query.query_id for task, found in groups.items() for query in found[: shares[task]]}
    queries = [query for query in dataset.queries if query.query_id in kept]
    scopes = {query.scope_id for query in queries}
    note = (
        f"a sample of {len(queries):,} of {len(judged):,} judged queries, "
        f"{len(scopes):,} of {len(dataset.scope_ids):,} scopes, seed {seed}"
    )
    return Dataset(
        dataset.name,
        [row for row in dataset.rows if row.scope_id in scopes],
        queries,
        {query_id: docs for query_id, docs in dataset.qrels.items() if query_id in kept},
        [*dataset.notes, note],
    )


def _draw(query_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{query_id}".encode()).digest()


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Split ``count`` over tasks: one each first, then always where the share lags most."""
    shares = dict.fromkeys(sizes, 0)
    for _ in range(min(count, sum(sizes.values()))):
        open_tasks = [task for task in sorted(sizes) if shares[task] < sizes[task]]
        # Highest averages (D'Hondt with a first seat for all): growing the count never takes
        # a seat away, which is what nests samples.
        task = min(
            open_tasks, key=lambda task: (shares[task] > 0, (shares[task] + 1) / sizes[task])
        )
        shares[task] += 1
    return shares
