"""Runs the notebook from beginning to end."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def test_the_tour_runs(tmp_path):
    notebook = nbformat.read(Path(__file__).parents[1] / "docs" / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
