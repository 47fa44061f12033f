"""``itk-consensus agreement``: tables of inter-rater agreement."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from itk_consensus.assessment.agreement.agreement_filter import AgreementFilter
from itk_consensus.assessment.agreement.plan_agreement import (
    PlanAgreement,
    plan_agreement,
    surface_tolerances,
)
from itk_consensus.assessment.agreement.result import AgreementResult, Cell
from itk_consensus.cli.against_readers import (
    add_probability_options,
    probability_files,
    require_no_probability,
    score_fields,
    score_lines,
    score_probability,
)
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import add_input_files
from itk_consensus.cli.inputs import (
    rater_names,
    read_files,
    require_label_maps,
    require_one_space,
    require_readers,
    warn_of_copies,
)
from itk_consensus.cli.options import (
    add_file,
    add_options,
    given_parameters,
    is_file_name,
    use_option_names,
)
from itk_consensus.cli.outputs import (
    Output,
    add_overwrite_option,
    check_outputs,
    given_outputs,
    lock_outputs,
)
from itk_consensus.cli.structure_inputs import (
    ReadStructures,
    add_structure_options,
    read_readers,
    require_no_structure_options,
)
from itk_consensus.core.escaping import csv_text
from itk_consensus.fusing.agreement_limits import AgreementLimits
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.structure_names import words_with
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.text import pairs, section, table, wrap_lines
from itk_consensus.storage.files import write_text

_MEANING = (
    "Kappa and alpha over the grid are inflated by background, over the union (voxels that any "
    "rater marked) deflated; the truth lies between. Means are over pairs of raters."
)

#: Measures printed by default, with explanations; with `-v`, and in files, all measures are
#: included.
_EXPLAINED = {
    "mean_dice": "overlap of two raters, on average; 1 if they drew the same, good from {good:g}, "
    "poor below {poor:g}",
    "mean_surface_dice": "share of two raters' outlines within {tolerance:g} {unit} of each other",
    "volume_variation": "standard deviation of the volumes over their mean; below {spread:g} is "
    "little",
}

_EVERYTHING = (
    "-v, --csv and --json also have Jaccard, distances, conformity, kappa and alpha; "
    "docs/glossary.md says what each is."
)

#: Measures omitted in the terminal, where they would make the table of raters too wide.
_ONLY_IN_FILES = ("jaccard", "hausdorff_", "surface_dice")


#: Formats of a plan's table, by file extension.
_PLAN_TABLES: dict[str, Callable[[PlanAgreement], str]] = {
    ".csv": PlanAgreement.to_csv,
    ".md": PlanAgreement.to_markdown,
    ".tex": PlanAgreement.to_latex,
}


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_agreement, parser=parser)
    parser.epilog = _MEANING
    add_input_files(parser)
    parser.add_argument(
        "--consensus",
        metavar="METHOD|FILE",
        help="reference for each rater: a method of fuse, or a label image",
    )
    add_file(parser, "--csv", help="table of all pairs and labels")
    add_file(parser, "--json", help="all results as JSON")
    add_file(
        parser,
        "--plan-table",
        metavar="FILE",
        help="with --per-structure: structures by measures with mean, range and n, as papers print "
        "them: volume, Dice, surface Dice, distances, added path length, bias (.csv, .md or .tex)",
    )
    add_file(
        parser,
        "--tolerances",
        metavar="FILE",
        help="tolerances of the surface Dice in --plan-table: a CSV with the columns structure and "
        "mm, which overrides the package's own table",
    )
    add_overwrite_option(parser)
    add_probability_options(parser)
    add_structure_options(parser, with_identity=False)
    add_options(parser, AgreementFilter)


def _agreement(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.per_structure:
        _agreement_per_structure(arguments, console)
        return
    require_no_structure_options(arguments)
    filter_ = AgreementFilter(**given_parameters(arguments, AgreementFilter))
    method = METHODS.get(str(arguments.consensus).lower())
    reference = arguments.consensus if method is None else None
    _check_reference(reference, arguments)
    paths = [*arguments.inputs, *([Path(reference)] if reference else [])]
    outputs = given_outputs(arguments, csv=None, json=None)
    files = list(read_files(paths, console, 0.5))
    sources = [*paths, *probability_files(arguments)]
    check_outputs(outputs, sources, files[0].geometry, overwrite=arguments.overwrite)
    require_label_maps(files, arguments)
    require_one_space(files, filter_.CoordinateTolerance, filter_.DirectionTolerance)
    inputs = files[: len(arguments.inputs)]
    require_readers(inputs, arguments)
    if arguments.consensus is None and len(rater_names(inputs)) < 2:
        arguments.parser.error(
            "agreement needs at least two raters; give more INPUT files or --consensus"
        )
    warn_of_copies(inputs, console)
    scores = score_probability(arguments, inputs, filter_, console)
    console.follow(filter_, 0.5, 0.95)
    consensus: Any = method() if method else files[-1].image if reference else None
    with use_option_names(filter_, "agreement"):
        result = filter_.Execute([file.image for file in inputs], consensus, rater_names(inputs))
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        if arguments.csv is not None:
            write_text(arguments.csv, result.to_csv())
        if arguments.json is not None:
            write_text(
                arguments.json, json.dumps(result.to_dict() | score_fields(scores), indent=2) + "\n"
            )
    sections = {"Labels": _label_table(result, console), "Raters": _rater_table(result)}
    if scores is not None:
        sections[str(arguments.probability)] = score_lines(scores)
    _answer(console, sections)


def _answer(console: Console, sections: Mapping[str, Sequence[str]]) -> None:
    for title, lines in sections.items():
        console.answer(section(title, lines))
    console.answer("\n".join(wrap_lines(_MEANING if console.is_verbose else _EVERYTHING)))


def _label_table(result: AgreementResult, console: Console) -> list[str]:
    """Return the table of labels: three measures with explanations, or all measures if verbose."""
    summary = result.summary()
    if console.is_verbose or not summary:
        return result.table().splitlines()
    limits = AgreementLimits()
    known: dict[str, Any] = {"good": limits.good_dice, "poor": limits.poor_dice}
    known |= {"tolerance": result.tolerance, "unit": result.length_unit}
    known["spread"] = limits.good_volume_variation
    shown_names = [name for name in _EXPLAINED if name in summary[0]]
    names = {name: name.replace("_", " ") for name in shown_names}
    rows = [[str(row["label"]), *(_round(row[name]) for name in shown_names)] for row in summary]
    meaning = pairs({names[name]: _EXPLAINED[name].format(**known) for name in shown_names})
    return [*table(["label", *names.values()], rows), *wrap_lines("\n".join(meaning))]


def _agreement_per_structure(arguments: argparse.Namespace, console: Console) -> None:
    """Measure agreement separately for each structure, between the raters who drew it."""
    require_no_probability(arguments)
    filter_ = AgreementFilter(**given_parameters(arguments, AgreementFilter))
    method = METHODS.get(str(arguments.consensus).lower())
    if arguments.consensus is not None and method is None:
        arguments.parser.error("--consensus must be a method of fuse with --per-structure")
    outputs = given_outputs(arguments, csv=None, json=None)
    outputs += _plan_table(arguments)
    folders = [] if arguments.series is None else [arguments.series]
    check_outputs(outputs, [*arguments.inputs, *folders], 3, overwrite=arguments.overwrite)
    readers = read_readers(arguments, arguments.inputs)
    for sentence in [*readers.swapped, *readers.doubts]:
        console.warn(sentence)
    results = _by_structure(readers, filter_, method, console)
    if not results:
        arguments.parser.error("agreement needs a structure that two raters drew")
    plan = _plan_of(arguments, readers, method)
    rows = [
        {"structure": name, **row} for name, result in results.items() for row in result.pairs()
    ]
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        if arguments.csv is not None:
            write_text(arguments.csv, csv_text(list(rows[0]), rows) if rows else "")
        if arguments.json is not None:
            content = {name: result.to_dict() for name, result in results.items()}
            write_text(arguments.json, json.dumps({"structures": content}, indent=2) + "\n")
        if plan is not None:
            write_text(arguments.plan_table, plan)
    console.answer(str(readers.matched))
    tables = ([*_label_table(one, console), "", *_rater_table(one)] for one in results.values())
    _answer(console, dict(zip(results, tables, strict=True)))


def _by_structure(
    readers: ReadStructures,
    filter_: AgreementFilter,
    method: type[LabelFusionFilter] | None,
    console: Console,
) -> dict[str, AgreementResult]:
    """Return the agreement of the raters for each structure drawn by at least two of them."""
    results, drawn = {}, list(readers.masks_by_structure())
    for number, (name, who) in enumerate(drawn):
        console.progress(number / len(drawn), name)
        if len(who) < 2 and method is None:
            continue
        with use_option_names(filter_, "agreement"):
            results[name] = filter_.Execute(
                [one.mask for one in who.values()],
                method() if method else None,
                [readers.matched.readers[number] for number in who],
            )
    return results


def _plan_table(arguments: argparse.Namespace) -> list[Output]:
    """Return the output specified by ``--plan-table``; [] if it is not given."""
    path = arguments.plan_table
    if path is None:
        if arguments.tolerances is not None:
            arguments.parser.error("--tolerances needs --plan-table; give both")
        return []
    if path.suffix.lower() not in _PLAN_TABLES:
        arguments.parser.error(f"--plan-table must end in {', '.join(_PLAN_TABLES)}")
    return [Output("--plan-table", path)]


def _plan_of(
    arguments: argparse.Namespace, readers: ReadStructures, method: type[LabelFusionFilter] | None
) -> str | None:
    """Return the table for ``--plan-table`` as text; None if it is not given."""
    if arguments.plan_table is None:
        return None
    masks = {name: [one.mask for one in who.values()] for name, who in readers.masks_by_structure()}
    words = words_with(arguments.synonyms)
    tolerances = surface_tolerances(masks, arguments.tolerances, words)
    plan = plan_agreement(masks, tolerances, fuser=None if method is None else method())
    return _PLAN_TABLES[arguments.plan_table.suffix.lower()](plan)


def _rater_table(result: AgreementResult) -> list[str]:
    rows = list(result.of_raters())
    header = [name for name in rows[0] if not any(word in name for word in _ONLY_IN_FILES)]
    cells = [[_round(row[name]) for name in header] for row in rows]
    return table([name.replace("_", " ") for name in header], cells)


def _round(value: Cell) -> Cell:
    return f"{value:.3f}" if isinstance(value, float) else value


def _check_reference(reference: str | None, arguments: argparse.Namespace) -> None:
    if reference is not None and not (is_file_name(reference) and os.path.exists(reference)):
        names = ", ".join(METHODS)
        arguments.parser.error(f"--consensus must be a file or one of {names}, got {reference!a}")
