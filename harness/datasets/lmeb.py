"""Read a dataset of LMEB, the Long-horizon Memory Embedding Benchmark.

Layout as of https://github.com/KaLM-Embedding/LMEB (``src/abstasks``: LocalRetrieval and
SubsetRetrieval), data at Hugging Face ``KaLM-Embedding/LMEB`` under ``<memory type>/<dataset>``:

* every task is a folder with ``queries.jsonl`` ({id, text}) and ``qrels.tsv`` (query id, document
  id, score, no header); a dataset with one task has them in its own folder;
* ``corpus.jsonl`` ({id, title, text}) lies beside them or in a folder above (LoCoMo: one corpus
  for all tasks; KnowMeBench: one per narrative);
* ``candidates.jsonl`` ({scene_id, candidate_doc_ids}), where present, restricts what a query may
  retrieve. The scene is the query's id itself or its first two parts (``conv_26`` of
  ``conv_26_q_3``). A query without a scene searches the whole corpus.

``_id`` of BEIR is read where ``id`` is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.datasets.base import Dataset, DatasetError, DatasetQuery, DatasetRow
from harness.datasets.build import build_dataset
from harness.datasets.checks import Places
from harness.datasets.jsonl import read_jsonl, read_qrels, text_field

_ID = ("id", "_id")


def is_lmeb_folder(folder: Path) -> bool:
    """Whether tasks in LMEB's layout lie in this folder."""
    return next(folder.rglob("queries.jsonl"), None) is not None


def load_lmeb(folder: Path | str, *, name: str | None = None) -> Dataset:
    """Load one dataset of LMEB with all its tasks.

    Parameters
    ----------
    folder : Path or str
        The dataset's folder, for example ``Dialogue/LoCoMo``.
    name : str, optional
        Default: the folder's name.

    Returns
    -------
    Dataset
        A scope is a set of candidates (scenes with the same candidates share one) or a whole
        corpus; a document that several scopes may retrieve is a row in each. A task is named by
        its path below the folder, a query ``<task>/<id>``, since tasks may number alike.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or judgements dangle; file and line are named.
    """
    folder = Path(folder)
    reader = _Reader(folder, name or folder.name)
    for path in sorted(folder.rglob("queries.jsonl")):
        reader.read_task(path.parent)
    if not reader.queries:
        raise DatasetError(f"{folder}: no task with a queries.jsonl is found")
    return reader.finish()


@dataclass(slots=True)
class _Corpus:
    """One corpus.jsonl: title and text joined, and the line of each document."""

    key: str
    texts: dict[str, str] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Collects tasks; corpora and candidates are read once though many tasks share them."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name
        self.queries: list[DatasetQuery] = []
        self.notes: list[str] = []
        self._qrels: list[tuple[str, str, int]] = []
        self._row_places: list[str] = []
        self._query_places: list[str] = []
        self._qrel_places: list[str] = []
        self._corpora: dict[Path, _Corpus] = {}
        self._candidates: dict[Path, dict[str, frozenset[str]]] = {}
        # (corpus, candidates or None for all of it) -> scope id
        self._scopes: dict[tuple[str, frozenset[str] | None], str] = {}

    def read_task(self, task_folder: Path) -> None:
        """Read the queries and judgements of one task folder."""
        task = task_folder.relative_to(self.root).as_posix()
        prefix = "" if task == "." else task + "/"
        corpus = self._corpus(self._nearest(task_folder, "corpus.jsonl"))
        candidates = self._scene_candidates(self._nearest(task_folder, "candidates.jsonl"))
        scope_of: dict[str, frozenset[str] | None] = {}
        for place, record in _placed(task_folder / "queries.jsonl"):
            query_id = text_field(record, _ID, place)
            scene = _scene(query_id, candidates)
            scope_of[query_id] = candidates.get(scene)
            self.queries.append(
                DatasetQuery(
                    prefix + query_id,
                    text_field(record, ("text",), place),
                    None,
                    self._scope_id(corpus, scene, scope_of[query_id]),
                    self.name if task == "." else task,
                    None,
                )
            )
            self._query_places.append(place)
        self._read_qrels(task_folder / "qrels.tsv", prefix, corpus, scope_of)

    def finish(self) -> Dataset:
        """Lay out the rows of every scope and check the whole."""
        corpora = {corpus.key: corpus for corpus in self._corpora.values()}
        rows = []
        for (key, allowed), scope_id in self._scopes.items():
            corpus = corpora[key]
            stale = [] if allowed is None else sorted(allowed - corpus.texts.keys())
            if stale:
                self.notes.append(
                    f"scope {scope_id}: {len(stale)} candidate(s) not in the corpus ({stale[0]})"
                )
            for doc_id, text in corpus.texts.items():
                if allowed is None or doc_id in allowed:
                    rows.append(DatasetRow(doc_id, text, None, None, None, scope_id))
                    self._row_places.append(corpus.lines[doc_id])
        places = Places(
            *(
                lambda index, found=found: found[index] if found else str(self.root)
                for found in (self._row_places, self._query_places, self._qrel_places)
            )
        )
        return build_dataset(
            self.name, rows, self.queries, self._qrels, places=places, notes=self.notes
        )

    def _read_qrels(
        self,
        path: Path,
        prefix: str,
        corpus: _Corpus,
        scope_of: dict[str, frozenset[str] | None],
    ) -> None:
        outside = []
        for number, (query_id, doc_id, grade) in read_qrels(path):
            allowed = scope_of.get(query_id)
            if allowed is not None and doc_id in corpus.texts and doc_id not in allowed:
                outside.append(f"{query_id} -> {doc_id}, line {number}")
                continue
            self._qrels.append((prefix + query_id, doc_id, grade))
            self._qrel_places.append(f"{path}, line {number}")
        if outside:
            # LMEB itself can never retrieve these; counting them would only cap every score.
            self.notes.append(
                f"{path.relative_to(self.root)}: {len(outside)} judgement(s) lie outside their "
                f"query's candidates and were dropped ({outside[0]})"
            )

    def _nearest(self, folder: Path, file: str) -> Path | None:
        """The file in this folder or the closest one above, not above the dataset."""
        while True:
            if (folder / file).is_file():
                return folder / file
            if folder == self.root:
                return None
            folder = folder.parent

    def _corpus(self, path: Path | None) -> _Corpus:
        if path is None:
            raise DatasetError(f"{self.root}: there is no corpus.jsonl beside or above a task")
        if path not in self._corpora:
            key = path.parent.relative_to(self.root).as_posix()
            corpus = _Corpus(self.name if key == "." else key)
            for place, record in _placed(path):
                doc_id = text_field(record, _ID, place)
                if doc_id in corpus.texts:
                    raise DatasetError(
                        f"{place}: doc id {doc_id!r} occurs twice, first in {corpus.lines[doc_id]}"
                    )
                title, text = record.get("title") or "", record.get("text") or ""
                if not isinstance(title, str) or not isinstance(text, str):
                    raise DatasetError(f"{place}: title and text must be text")
                corpus.texts[doc_id] = f"{title} {text}".strip()
                corpus.lines[doc_id] = place
            self._corpora[path] = corpus
        return self._corpora[path]

    def _scene_candidates(self, path: Path | None) -> dict[str, frozenset[str]]:
        if path is None:
            return {}
        if path not in self._candidates:
            scenes = {}
            for place, record in _placed(path):
                found = record.get("candidate_doc_ids")
                if not isinstance(found, list):
                    raise DatasetError(f"{place}: candidate_doc_ids must be a list")
                scenes[text_field(record, ("scene_id",), place)] = frozenset(map(str, found))
            self._candidates[path] = scenes
        return self._candidates[path]

    def _scope_id(self, corpus: _Corpus, scene: str, allowed: frozenset[str] | None) -> str:
        scope_id = corpus.key if allowed is None else f"{corpus.key}/{scene}"
        return self._scopes.setdefault((corpus.key, allowed), scope_id)


def _placed(path: Path) -> Iterator[tuple[str, dict]]:
    return ((f"{path}, line {number}", record) for number, record in read_jsonl(path))


def _scene(query_id: str, candidates: dict[str, frozenset[str]]) -> str:
    return query_id if query_id in candidates else "_".join(query_id.split("_")[:2])
