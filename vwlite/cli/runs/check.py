"""What ``vwlite check`` does."""

from contextlib import ExitStack, closing
from typing import Any

from vwlite.badlines import BadLines
from vwlite.census import LARGEST, SMALLEST, Census
from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.errors import DataError, UsageError
from vwlite.escapes import escaped
from vwlite.expand import FeatureConfig
from vwlite.inputs import Inputs
from vwlite.training import BadLinesConfig, say
from vwlite.traps import Traps

SHOWN = 20  # namespaces in the table


def run(arguments: dict[str, Any]) -> int:
    bits = arguments["bits"]
    if not SMALLEST <= bits <= LARGEST:
        raise UsageError(f"-b takes {SMALLEST} to {LARGEST} bits here, not {bits}")
    tolerance = build.bad_lines_config(arguments)
    census, traps, tell = Census(), Traps(), None if arguments["quiet"] else say
    manners = BadLines(None, tell, max_ratio=tolerance.max_ratio, strict=tolerance.strict, to_the_end=True)
    read((census, traps), manners, arguments, tolerance)
    report = {"lines": manners.lines, "bad_lines": manners.bad, **census.report()}
    report["warnings"] = traps.sentences(report)
    for sentence in report["warnings"] if tell else ():
        tell(f"warning: {sentence}")
    if arguments["json_path"] != "-":
        print("\n".join(table(report, bits)))
    if arguments["json_path"]:
        write_json(arguments["json_path"], report)
    manners.check_ratio(manners.lines)
    if census.examples == census.unlabelled:
        raise DataError("there is no labelled example to learn from")
    return 0


def read(
    readers: tuple[Census, Traps], manners: BadLines, arguments: dict[str, Any], tolerance: BadLinesConfig
) -> None:
    """Show the readers all of the input; malformed lines where they are wanted."""
    features = FeatureConfig(**build.feature_changes(build.typed()))
    inputs = Inputs(build.input_config(arguments), features.text_format(strict=True, names=True))
    with ExitStack() as held:
        held.enter_context(manners.keeping(tolerance.keep))
        for part in held.enter_context(closing(inputs.texts())):
            batch = manners.examine(part)
            for reader in readers:
                reader.add(batch)
            batch.release()


def table(report: dict[str, Any], bits: int) -> list[str]:
    """The report for people."""
    shares = report["share_of_features_that_share_a_slot"]
    values = report["values"]
    at_least = "at least " if report["distinct_features_is_a_lower_bound"] else ""
    advice = f"-b {report['bits']} is enough" if report["bits"] != bits else "which is enough"
    rows = [
        ("lines", f"{report['lines']} ({report['bad_lines']} malformed, {report['blank_lines']} empty)"),
        ("examples", f"{report['examples']} ({report['unlabelled']} without label, {report['tagged']} with tag)"),
        ("importance", f"{report['total_importance']:g} in all, {report['importance_not_1']} examples not of 1"),
        ("labels", labels(report)),
        ("losses", ", ".join(report["losses"]) or "none"),
        ("features", extent(report["features_per_example"], "an example")),
        ("values", f"{extent(values, '')}, {values['ones']} of 1"),
        ("distinct", f"{at_least}{report['distinct_features']} features"),
        ("collisions", f"{shares[str(bits)]:.2%} of them share a slot at -b {bits}; {advice}"),
    ]
    lines = [f"{name:<12}{value}" for name, value in rows]
    lines += [f"{'namespace':<24}{'lines':>12}{'features':>12}"]
    for space in report["namespaces"][:SHOWN]:
        lines.append(f"{escaped(space['name']) or '(no name)':<24}{space['lines']:>12}{space['features']:>12}")
    left = len(report["namespaces"]) - SHOWN
    if left > 0 or report["further_namespaces"]:
        lines.append(f"and {max(left, 0)} more{' and many others' if report['further_namespaces'] else ''}")
    return lines


def labels(report: dict[str, Any]) -> str:
    if report["label_min"] is None:
        return "none"
    if report["labels"] is not None:
        return ", ".join(f"{label}: {count}" for label, count in report["labels"].items())
    return f"{report['label_min']:g} to {report['label_max']:g}, mean {report['label_mean']:g}"


def extent(found: dict[str, Any], of: str) -> str:
    if not found["count"]:
        return "none"
    return f"{found['min']:g} to {found['max']:g}{f' {of}' if of else ''}, mean {found['mean']:g}"
