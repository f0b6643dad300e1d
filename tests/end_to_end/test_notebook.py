"""The example notebook runs as it stands, and shows what it says it shows."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def outputs(notebook):
    """The MIME types of what each code cell shows, by its source."""
    return {
        cell.source: [kind for output in cell.outputs for kind in output.get("data", {})]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_its_outputs(path):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None
               for cell in notebook.cells if cell.cell_type == "code")  # fmt: skip


@pytest.mark.filterwarnings("default")  # of the kernel's own libraries
def test_the_first_release_runs_from_top_to_bottom(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples/first_release.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources=resources
    ).execute()
    shown = outputs(notebook)
    cards = [source for source, kinds in shown.items() if "text/html" in kinds]
    assert len(cards) >= 3  # the universe, the release and the certificate
    charts = [source for source, kinds in shown.items() if "image/svg+xml" in kinds]
    kinds = [source.split(".")[-1].split("(")[0] for source in charts]
    assert kinds == ["visits", "flows", "tree", "lengths"]
    assert (tmp_path / "first-release" / "report.html").is_file()
