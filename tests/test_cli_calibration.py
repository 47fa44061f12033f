from __future__ import annotations

import argparse
import json

import numpy as np
import pytest
import SimpleITK as sitk
from cohorts import array, cohort, columns

from itk_consensus.cli_calibration import add_band_parser, add_calibrate_parser, read_cases
from itk_consensus.errors import FileError, InputError, ParameterError
from itk_consensus.filters.conformal_band import ConformalBandFilter
from itk_consensus.report.console import Console

NUMBER = 12


def run(*words):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    add_calibrate_parser(commands)
    add_band_parser(commands)
    arguments = parser.parse_args([str(word) for word in words])
    arguments.run(arguments, Console())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve cases as files, with one CSV file that names probabilities and one that does not."""
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
    band = ConformalBandFilter(Alpha=0.2)
    names = [f"patient {n}" for n in range(NUMBER)]
    band.Calibrate(*columns(cohort(NUMBER)), case_ids=names)
    assert ConformalBandFilter.Load(tmp_path / "cal.json").GetRecord() == band.GetRecord()
    printed = capsys.readouterr().out
    assert printed.startswith("calibrated on 12 cases")
    assert " ".join(printed.split()).endswith(band.GetGuarantee())


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
    band = ConformalBandFilter.Load(record)
    case = cohort(1)[0]
    np.testing.assert_array_equal(
        array(sitk.ReadImage(str(out))), array(band.Execute(case.fraction, case.raters))
    )
    told = json.loads(report.read_text())
    assert told["guarantee"] == band.GetGuarantee()
    assert told["band_thickness"] == pytest.approx(band.GetBandThickness())
    printed = capsys.readouterr().out
    assert f"{band.GetBandThickness():.2f} mm thick" in printed
    assert " ".join(printed.split()).endswith(band.GetGuarantee())


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
    assert "Nothing is promised" in capsys.readouterr().out
    assert json.loads((tmp_path / "b.json").read_text())["guarantee"].startswith("Nothing is")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,probability\na,p0.nrrd\n", "has no column reference"),
        ("case,probability,reference\na,p0.nrrd,\n", "line 2 names no file in column reference"),
        ("", "has no column case, probability, reference"),
        ("case,probability,reference\n\xff", "cannot be read as CSV"),
    ],
)
def test_a_csv_file_that_lacks_something_is_named(tmp_path, text, message):
    path = tmp_path / "cases.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(FileError, match=f"cases.csv: {message}"):
        read_cases(path, ("probability", "reference"))


def test_missing_files_and_cases_are_named(folder, tmp_path):
    out = ["--output", tmp_path / "cal.json"]
    with pytest.raises(FileError, match=r"none.csv: No such file"):
        run("calibrate", tmp_path / "none.csv", *out)
    (tmp_path / "cases.csv").write_text("case,probability,reference\na,nowhere.nrrd,t.nrrd\n")
    with pytest.raises(FileError, match=r"nowhere.nrrd: No such file"):
        run("calibrate", tmp_path / "cases.csv", *out)
    few = (folder / "cases.csv").read_text().splitlines()[:5]
    (folder / "few.csv").write_text("\n".join(few))
    with pytest.raises(InputError, match="needs at least 9 calibration cases, got 4"):
        run("calibrate", folder / "few.csv", *out)
    with pytest.raises(FileError, match=r"would overwrite the input .*cases.csv"):
        run("calibrate", folder / "cases.csv", "--output", folder / "cases.csv")


def test_several_files_share_a_field(tmp_path):
    (tmp_path / "cases.csv").write_text("case,raters\n a , x.nrrd; sub/y.nrrd \n,z.nrrd\n")
    first, second = read_cases(tmp_path / "cases.csv", ("raters",))
    assert first.name == "a"
    assert first.files["raters"] == (tmp_path / "x.nrrd", tmp_path / "sub/y.nrrd")
    assert second.name == "3"  # a case without a name is called by its line
