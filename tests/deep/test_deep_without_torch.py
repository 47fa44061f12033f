"""Without torch, everything else works, and the deep filter raises a clear error."""

from __future__ import annotations

import json
import sys

import pytest
from cohort_lists import image_list, label_lists

from itk_consensus.cli import main
from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter


@pytest.mark.parametrize("library", ["torch", "safetensors"])
def test_without_torch_or_its_file_format_the_error_names_the_extra(cohort, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    wanted = rf"DeepConsensusFilter needs {library}: pip install 'itk-consensus\[deep\]'"
    with pytest.raises(MissingDependencyError, match=wanted):
        DeepConsensusFilter().Fit(image_list(cohort), label_lists(cohort))
    with pytest.raises(MissingDependencyError, match=wanted):
        DeepConsensusFilter.Load("anything")


def test_importing_the_filter_and_parsing_a_command_line_load_no_torch(run_python):
    script = """
        import argparse, sys
        import itk_consensus.methods.registry
        from itk_consensus.cli.deep import configure
        parser = argparse.ArgumentParser()
        configure(parser, [])
        parser.parse_args(["fit", "cases.json", "--model", "m", "--mode", "joint"])
        assert "torch" not in sys.modules
    """
    finished = run_python(script)
    assert finished.returncode == 0, finished.stderr


def test_without_torch_the_command_line_says_so_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([{"image": "image.nrrd", "labels": ["label.nrrd"]}]))
    assert main(["deep", "fit", str(cases), "--model", str(tmp_path / "model")]) != 0
    error = capsys.readouterr().err
    assert "pip install 'itk-consensus[deep]'" in error
    assert "Traceback" not in error
