from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
import SimpleITK as sitk
from cohorts import array, cohort, columns

from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.calibration.conformal_margin_filter import ConformalMarginFilter
from itk_consensus.calibration.cut_calibration_filter import CutCalibrationFilter
from itk_consensus.cli import band, calibrate
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.core.errors import FileError, InputError, ParameterError

NUMBER = 12


def run(*words):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for module in (calibrate, band):
        name = module.__name__.split(".")[-1]
        module.configure(commands.add_parser(name), [str(word) for word in words])
    arguments = parser.parse_args([str(word) for word in words])
    arguments.run(arguments, Console())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write twelve cases as files, with one CSV file that lists probabilities and one that does
    not.
    """
    folder = tmp_path_factory.mktemp("cases")
    rows = ["case,probability,reference,raters"]
    for number, case in enumerate(cohort(NUMBER)):
        sitk.WriteImage(case.fraction, folder / f"p{number}.nrrd", True)
        sitk.WriteImage(case.truth, folder / f"t{number}.nrrd", True)
        sitk.WriteImage(sitk.Compose(case.raters), folder / f"r{number}.nrrd", True)
        rows.append(f"patient {number},p{number}.nrrd,t{number}.nrrd,r{number}.nrrd")
    (folder / "cases.csv").write_text("\n".join(rows) + "\n")
    bare = ["case,raters", *(f"{n},r{n}.nrrd" for n in range(NUMBER))]
    (folder / "raters.csv").write_text("\n".join(bare) + "\n")
    return folder


def test_calibrate_writes_the_record_of_the_filter(folder, tmp_path, capsys):
    run("calibrate", folder / "cases.csv", "--output", tmp_path / "cal.json", "--alpha", 0.2)
    filter_ = ConformalBandFilter(Alpha=0.2)
    names = [f"patient {n}" for n in range(NUMBER)]
    filter_.Calibrate(*columns(cohort(NUMBER)), case_ids=names)
    assert ConformalBandFilter.Load(tmp_path / "cal.json").GetRecord() == filter_.GetRecord()
    printed = capsys.readouterr().out
    assert printed.startswith("calibrated on 12 cases")
    assert " ".join(printed.split()).endswith(filter_.GetGuarantee())


def test_raters_alone_calibrate_for_a_new_rater(folder, tmp_path, capsys):
    options = ["--hold-out-rater", "--method", "staple", "--output", tmp_path / "cal.json"]
    run("calibrate", folder / "raters.csv", *options)
    record = ConformalBandFilter.Load(tmp_path / "cal.json").GetRecord()
    assert (record.reference_kind, record.fusion_method) == ("held-out rater", "staple")
    assert "covers a new rater, not the truth" in " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def record(folder):
    path = folder / "cal.json"
    run("calibrate", folder / "cases.csv", "--output", path)
    return path


def test_band_writes_the_label_map_of_the_filter(folder, record, tmp_path, capsys):
    out, report = tmp_path / "band.nii.gz", tmp_path / "band.json"
    capsys.readouterr()
    inputs = [folder / "p0.nrrd", "--raters", folder / "r0.nrrd"]
    run("band", *inputs, "--calibration", record, "--output", out, "--json", report)
    filter_ = ConformalBandFilter.Load(record)
    case = cohort(1)[0]
    np.testing.assert_array_equal(
        array(sitk.ReadImage(str(out))), array(filter_.Execute(case.fraction, case.raters))
    )
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told["guarantee"] == filter_.GetGuarantee()
    assert told["band_thickness"] == pytest.approx(filter_.GetBandThickness())
    printed = capsys.readouterr().out
    assert f"{filter_.GetBandThickness():.2f} mm thick" in printed
    assert " ".join(printed.split()).endswith(filter_.GetGuarantee())


def test_band_takes_its_options_from_the_calibration(record, folder, tmp_path):
    words = ["band", folder / "p0.nrrd", "--calibration", record, "--output", tmp_path / "b.nrrd"]
    with pytest.raises(SystemExit):
        run(*words, "--alpha", 0.2)
    with pytest.raises(ParameterError, match="needs the raters' images"):
        run(*words)
    assert not (tmp_path / "b.nrrd").exists()


def test_band_says_that_nothing_is_promised_for_a_mask(record, folder, tmp_path, capsys):
    mask = folder / "mask.nrrd"
    sitk.WriteImage(sitk.ReadImage(str(folder / "p0.nrrd")) >= 0.5, mask, True)
    words = ["band", mask, "--raters", folder / "r0.nrrd", "--calibration", record]
    words += ["--output", tmp_path / "b.nrrd", "--json", tmp_path / "b.json"]
    with pytest.raises(ParameterError, match="made on vote fractions, this holds binary masks"):
        run(*words)
    run(*words, "--without-promise", "yes")
    assert "Nothing is guaranteed" in capsys.readouterr().out
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["guarantee"].startswith(
        "Nothing is"
    )


def test_a_margin_is_calibrated_beside_the_width_of_a_band_and_drawn(folder, tmp_path, capsys):
    record, out = tmp_path / "margin.json", tmp_path / "margin.nii.gz"
    options = ["--kind", "margin", "--alpha", 0.2, "--covered-share", 0.99, "--output", record]
    run("calibrate", folder / "cases.csv", *options)
    filter_ = ConformalMarginFilter.Load(record)
    printed = " ".join(capsys.readouterr().out.split())
    (mm,), widths = filter_.GetRecord().tau, filter_.GetRecord().band_widths()
    assert f"margin {round(mm, 2)} mm" in printed
    assert f"a band instead {widths.mean:.2f} mm on average" in printed
    assert printed.endswith(filter_.GetGuarantee())
    run("band", folder / "p0.nrrd", "--calibration", record, "--output", out)
    assert " ".join(capsys.readouterr().out.split()).endswith(filter_.GetGuarantee())
    case = cohort(1)[0]
    np.testing.assert_array_equal(
        array(sitk.ReadImage(str(out))), array(filter_.Execute(case.fraction))
    )


def test_a_cut_is_learned_and_applied(folder, tmp_path, capsys):
    record, out = tmp_path / "cut.json", tmp_path / "labels.nii.gz"
    run("calibrate", folder / "cases.csv", "--kind=cut", "--output", record)
    filter_ = CutCalibrationFilter.Load(record)
    assert " ".join(capsys.readouterr().out.split()).endswith(filter_.GetMeaning())
    words = ["band", folder / "p0.nrrd", "--calibration", record, "--output", out]
    run(*words, "--json", tmp_path / "cut.json.txt")
    assert (
        json.loads((tmp_path / "cut.json.txt").read_text(encoding="utf-8"))["meaning"]
        == filter_.GetMeaning()
    )
    np.testing.assert_array_equal(
        array(sitk.ReadImage(str(out))), array(filter_.Execute(cohort(1)[0].fraction))
    )
    run(
        "calibrate",
        folder / "raters.csv",
        "--kind",
        "cut",
        "--hold-out-rater",
        "-o",
        record,
        "--overwrite",
    )
    assert CutCalibrationFilter.Load(record).GetRecord().fusion_method == "vote"
    assert CutCalibrationFilter.Load(record).GetRecord().rater_count == 4


def test_options_of_another_kind_are_refused(folder, record, tmp_path):
    words = ["calibrate", folder / "cases.csv", "--output", tmp_path / "x.json"]
    with pytest.raises(SystemExit):
        run(*words, "--kind", "margin", "--mondrian", "yes")
    with pytest.raises(SystemExit):
        run(*words, "--kind", "nothing")
    run(*words, "--kind", "margin")
    words = ["band", folder / "p0.nrrd", "--calibration", tmp_path / "x.json"]
    with pytest.raises(SystemExit):
        run(*words, "--output", tmp_path / "b.nrrd", "--empty-policy", "keep")
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(FileError, match="is not a record of one of the kinds"):
        run(*words, "--output", tmp_path / "b.nrrd")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,probability\na,p0.nrrd\n", "has no column reference"),
        ("case,probability,reference\na,p0.nrrd,\n", "line 2 names no file in column reference"),
        ("", r"has no column probability, reference; its first line has the columns \(none\)"),
        (
            "case;probability;reference\n",
            "has no column .* the columns 'case;probability;reference'",
        ),
        ("id,p,ref\n", "has no column .* the columns 'id', 'p', 'ref', separated by commas"),
        ("case,probability,reference\n", "must hold a list of cases"),
        (
            "case,probability,reference\na,p0.nrrd,p0.nrrd,p0.nrrd\n",
            "line 2 has more cells than the 3 columns of the first line",
        ),
        ("case,probability,reference\n\xff", "cannot be read as CSV"),
    ],
)
def test_a_csv_file_that_lacks_something_is_named(tmp_path, text, message):
    path = tmp_path / "cases.csv"
    path.write_text(text, encoding="latin-1")
    (tmp_path / "p0.nrrd").touch()
    with pytest.raises(FileError, match=f"cases.csv: {message}"):
        read_case_list(path, (Column("probability", True), Column("reference", True)))


def test_missing_files_and_cases_are_named(folder, tmp_path):
    out = ["--output", tmp_path / "cal.json"]
    with pytest.raises(FileError, match=r"none.csv: cannot be read: No such file"):
        run("calibrate", tmp_path / "none.csv", *out)
    (tmp_path / "cases.csv").write_text("case,probability,reference\na,nowhere.nrrd,t.nrrd\n")
    with pytest.raises(FileError, match=r"nowhere.nrrd: No such file"):
        run("calibrate", tmp_path / "cases.csv", *out)
    few = (folder / "cases.csv").read_text(encoding="utf-8").splitlines()[:5]
    (folder / "few.csv").write_text("\n".join(few))
    with pytest.raises(InputError, match="needs at least 9 calibration cases, got 4"):
        run("calibrate", folder / "few.csv", *out)
    with pytest.raises(FileError, match=r"would overwrite the input .*cases.csv"):
        run("calibrate", folder / "cases.csv", "--output", folder / "cases.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cases.csv", "case,raters\n a , x.nrrd; sub/y.nrrd \n,z.nrrd\n"),
        ("cases.json", '[{"case": "a", "raters": ["x.nrrd", "sub/y.nrrd"]}, {"raters": "z.nrrd"}]'),
    ],
)
def test_csv_and_json_say_the_same(tmp_path, name, text):
    (tmp_path / "sub").mkdir()
    for file in ("x.nrrd", "sub/y.nrrd", "z.nrrd"):
        (tmp_path / file).touch()
    (tmp_path / name).write_text(text)
    first, second = read_case_list(tmp_path / name, (Column("raters", required=True),))
    assert first.name == "a"
    assert first["raters"] == (tmp_path / "x.nrrd", tmp_path / "sub/y.nrrd")
    assert second["raters"] == (tmp_path / "z.nrrd",)
    assert second.name == {"cases.csv": "3", "cases.json": "1"}[name]  # position in the file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", "labels,ids\nx.nrrd;,1;\n"),
        ("c.json", '[{"labels":["x.nrrd",null],"ids":["1",null]}]'),
    ],
)
def test_a_missing_rater_is_an_empty_member(tmp_path, name, text):
    (tmp_path / "x.nrrd").touch()
    (tmp_path / name).write_text(text)
    columns = (Column("labels", may_lack=True), Column("ids", holds_files=False))
    (case,) = read_case_list(tmp_path / name, columns)
    assert case["labels"] == (tmp_path / "x.nrrd", None)
    assert case["ids"] == ("1", None)
    assert case.files == [tmp_path / "x.nrrd"]
