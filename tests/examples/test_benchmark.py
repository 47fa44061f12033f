from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from itk_consensus.methods.registry import FUSER_MODULES, short_name

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture(scope="module")
def benchmark_script():
    return importlib.import_module("examples.benchmarks.speed.benchmark")


@pytest.fixture(scope="module")
def quick_run(benchmark_script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    kept = folder / "kept" / "results.json"
    arguments = ["--quick", "--only", "first", "--output", str(folder), "--save", str(kept)]
    benchmark_script.main(arguments)
    return folder, kept


@pytest.fixture(scope="module")
def results(quick_run):
    folder, _ = quick_run
    return json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_clinical_parts_run_by_themselves_and_have_a_plot_of_growth(benchmark_script, tmp_path):
    parts = ["atlases", "crowd", "growth"]
    benchmark_script.main(["--quick", "--only", *parts, "--output", str(tmp_path)])
    results = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))
    assert set(results) == {"environment", "runs", *parts}
    for row in [*results["atlases"], *results["crowd"]]:
        assert row["ratio"] == pytest.approx(row["ours_seconds"] / row["reference_seconds"])
        limit = row["limit"]
        assert row["met"] == (None if limit is None else row["ratio"] <= limit)
    assert {row["axis"] for row in results["growth"]} == {"labels", "atlases"}
    picture = tmp_path / "benchmark_growth.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_what_is_waited_for_is_measured_and_held_to_its_limits(benchmark_script, tmp_path, capsys):
    benchmark_script.main(["--quick", "--only", "waiting", "--output", str(tmp_path)])
    rows = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))["waiting"]
    said = capsys.readouterr().out
    for row in rows:
        assert row["what"] in said
        if row["processor_seconds"] is not None:
            assert row["ratio"] == pytest.approx(row["processor_seconds"] / row["unit_seconds"])
        limit = row["limit"]
        assert row["met"] == (None if limit is None else row["ratio"] <= limit)
    assert {"fuse --method vote", "import of the command line"} <= {row["what"] for row in rows}


@pytest.mark.slow
def test_what_is_waited_for_is_a_table_where_it_was_measured(benchmark_script, results):
    row = {"what": "fuse", "unit": "Execute", "ratio": 2.5, "limit": 2, "met": False}
    timed = row | {"processor_seconds": 5.0, "unit_seconds": 2.0, "before": 96}
    counted = row | {"processor_seconds": None, "unit": "%", "before": 78, "met": True}
    assert "waiting for" not in benchmark_script.render_markdown(results)
    page = benchmark_script.render_markdown(results | {"waiting": [timed, counted]})
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    assert "| fuse | 5.00 s | 2.5 Execute | **2** | 96.00 s |" in page
    assert "| fuse |  | 2.5 % | 2 | 78 |" in page


@pytest.mark.slow
def test_growth_of_every_fuser_is_measured_and_held_to_its_limits(benchmark_script, tmp_path):
    benchmark_script.main(["--quick", "--only", "fusers", "--output", str(tmp_path)])
    rows = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))["fusers"]
    measured = {row["what"].split(", ")[0] for row in rows}
    assert measured >= {short_name(name) for name in FUSER_MODULES}
    assert all(row["met"] == (row["ratio"] <= row["limit"]) for row in rows)


@pytest.mark.slow
def test_results_and_plot_are_written_to_both_places(quick_run):
    folder, kept = quick_run
    assert kept.read_bytes() == (folder / "benchmark.json").read_bytes()
    assert kept.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "benchmark.png").exists()


@pytest.mark.slow
def test_every_promised_comparison_is_made_once_with_its_limit(results):
    promised = {
        ("STAPLE, SimpleITK images", "sitk.STAPLE"): ("at least", 30),
        ("STAPLE, itk images", "sitk.STAPLE"): ("at least", 100),
        ("STAPLE, arrays", "sitk.STAPLE"): ("at least", 100),
        ("STAPLE, arrays, 20 starts", "STAPLE, arrays"): ("at most", 1.15),
        ("MultiLabelSTAPLE, SimpleITK images", "sitk.MultiLabelSTAPLE"): ("at least", 40),
        ("MultiLabelSTAPLE, SimpleITK images, 20 starts", "sitk.MultiLabelSTAPLE"): (
            "at least",
            40,
        ),
        ("LabelVoting, SimpleITK images", "sitk.LabelVoting"): ("at least", 4),
        ("STAPLE, arrays", "read inputs, fill output"): ("at most", 2.5),
    }
    made = [(row["ours"], row["reference"]) for row in results["comparisons"]]
    assert sorted(made) == sorted(promised)
    for row in results["comparisons"]:
        assert (row["wanted"], row["limit"]) == promised[row["ours"], row["reference"]]


@pytest.mark.slow
def test_ratios_and_verdicts_follow_from_the_times(results):
    for row in results["comparisons"]:
        ours, reference = row["ours_seconds"], row["reference_seconds"]
        faster = row["wanted"] == "at least"
        assert row["ratio"] == pytest.approx(reference / ours if faster else ours / reference)
        assert row["met"] == (
            row["ratio"] >= row["limit"] if faster else row["ratio"] <= row["limit"]
        )


@pytest.mark.slow
def test_answers_compared_with_simpleitk_are_the_same_answers(results):
    compared = [row for row in results["comparisons"] if row["reference"].startswith("sitk.")]
    one_start = [row for row in compared if "starts" not in row["ours"]]
    assert len(one_start) == 5
    for row in one_start:
        assert row["largest_difference"] <= 1e-9


@pytest.mark.slow
def test_memory_is_measured_wherever_the_kernel_can_forget_its_peak(results):
    measured = [row["bytes_per_voxel"] is not None for row in results["extra_memory"]]
    measured += [row["ours_peak_bytes"] is not None for row in results["comparisons"]]
    assert set(measured) == {Path("/proc/self/clear_refs").exists()}


@pytest.mark.slow
def test_curves_grow_in_voxels_and_raters_for_both_kinds_of_raters(results):
    for curve, x in (("voxel_scaling", "voxels"), ("rater_scaling", "raters")):
        for kind in ("contour-error", "noisy"):
            points = [
                row[x]
                for row in results[curve]
                if row["kind"] == kind and not row["operation"].startswith("sitk.")
            ]
            assert len(points) >= 3
            assert points == sorted(set(points))


@pytest.mark.slow
def test_readme_mode_replaces_only_what_stands_between_the_markers(
    benchmark_script, quick_run, results, tmp_path, monkeypatch
):
    def refuse(*_):
        raise AssertionError("readme mode must not time anything")

    monkeypatch.setattr(benchmark_script, "run", refuse)
    readme = tmp_path / "README.md"
    readme.write_text("above\n<!-- benchmark:begin -->\nold\n<!-- benchmark:end -->\nbelow\n")
    _, kept = quick_run
    for _ in range(2):
        benchmark_script.main(["--readme", str(readme), "--results", str(kept)])
        section = benchmark_script.render_markdown(results)
        assert readme.read_text(encoding="utf-8") == (
            f"above\n<!-- benchmark:begin -->\n{section}\n<!-- benchmark:end -->\nbelow\n"
        )


@pytest.mark.slow
def test_readme_without_markers_is_refused_and_left_alone(benchmark_script, quick_run, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("no markers\n")
    _, kept = quick_run
    with pytest.raises(SystemExit, match="must hold the lines"):
        benchmark_script.main(["--readme", str(readme), "--results", str(kept)])
    assert readme.read_text() == "no markers\n"


@pytest.mark.slow
def test_markdown_tables_have_one_row_per_result_and_even_columns(benchmark_script, results):
    lines = benchmark_script.render_markdown(results).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    headers = 2 * 2
    assert len(rows) == headers + len(results["comparisons"]) + len(results["extra_memory"])
    assert len({line.count("|") for line in rows}) == 2


@pytest.mark.slow
def test_peers_are_measured_beside_ours_and_held_to_limits(benchmark_script, tmp_path, capsys):
    benchmark_script.main(["--quick", "--only", "peers", "--output", str(tmp_path)])
    rows = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))["peers"]
    said = capsys.readouterr().out
    for row in rows:
        assert row["what"] in said
        assert row["ratio"] == pytest.approx(row["processor_seconds"] / row["unit_seconds"])
        assert row["met"] == (row["ratio"] <= row["limit"])
    assert {"import of fuse", "vote, voxel noise, arrays"} <= {row["what"] for row in rows}


def test_the_vote_in_plain_numpy_is_ours():
    import itk_consensus as ic
    from examples.benchmarks.speed.peers import added, lesion_masks

    masks = lesion_masks((20, 30, 30), 5, readers=3)
    np.testing.assert_array_equal(added(masks), ic.MajorityVoteFilter().Execute(masks))
    assert added(masks).any()
