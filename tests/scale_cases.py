"""A tiny dataset of two scopes, as Parquet columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_dataset(folder: Path, seen: str, held: str) -> list[str]:
    """Write a scope that may be seen and one that is held out; return the texts of the first, as
    they are embedded.
    """
    folder.mkdir()
    texts = ["Biscuit is a good name for a dog.", "子犬の名前を考えている。", "It rained all day."]
    corpus = {
        "doc_id": [f"{scope}/{number}" for scope in (seen, held) for number in range(3)],
        "text": [*texts, "Not to be seen.", *texts[:2]],
        "timestamp": ["2024-05-01T10:00:00"] * 6,
        "session_id": [f"{scope} 1" for scope in (seen, held) for _ in range(3)],
        "speaker": ["Ada"] * 6,
        "scope_id": [seen] * 3 + [held] * 3,
    }
    queries = {
        "query_id": ["q1", "q2"],
        "text": ["What is the dog called?", "What is held out?"],
        "timestamp": pa.array([None, None], pa.string()),
        "scope_id": [seen, held],
        "task": ["single_hop"] * 2,
        "answer": pa.array([None, None], pa.string()),
    }
    qrels = {
        "query_id": ["q1", "q2"],
        "doc_id": [f"{seen}/0", f"{held}/0"],
        "score": pa.array([1, 1], pa.int32()),
    }
    for name, columns in (("corpus", corpus), ("queries", queries), ("qrels", qrels)):
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return [*(f"Ada: {text}" for text in texts), "What is the dog called?"]
