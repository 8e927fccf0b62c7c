"""What ``vwlite pca`` and ``vwlite project`` do, and ``vwlite inspect`` with their models."""

from contextlib import ExitStack

from vwlite.cli.build import refuse_options
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.solve import open_model_rows, solve
from vwlite.errors import UsageError, escaped
from vwlite.learners import ELSEWHERE
from vwlite.options import OptionValues
from vwlite.solvers.pca.solver import Pca, PcaModel, Projection, lines_of, top_features
from vwlite.training.prediction_writer import PredictionWriter


def run(arguments: OptionValues) -> int:
    return solve(arguments, Pca)


def project(arguments: OptionValues) -> int:
    model = PcaModel.load(arguments["initial"])
    with ExitStack() as closing:
        source, kind = closing.enter_context(open_model_rows(arguments, model, predicting=True))
        writer = closing.enter_context(PredictionWriter(arguments["predictions"]))
        for lines in lines_of(Projection(model, arguments["scale"] == "left"), source, kind):
            writer.write_bytes(lines)
    source.policy.check_ratio(source.policy.lines)
    return 141 if writer.broken else 0


def predict(arguments: OptionValues) -> int:
    raise UsageError(f"{arguments['initial']} is a model of principal components: use 'vwlite project'")


evaluate = predict


def inspect(arguments: OptionValues) -> int:
    refuse_options(model=ELSEWHERE[PcaModel.learner].what)
    model = PcaModel.load(arguments["model"])
    facts, found = model.facts(), top_features(model, arguments["top"])
    facts.pop("singular_values")
    if arguments["json_path"] != "-":
        print(inspection_text({"learner": PcaModel.learner, **facts}, []))
        print(f"\n{'value':>12}  component's strongest features")
        for one in found:
            words = (
                f"{escaped(str(entry['slot'] if entry['name'] is None else entry['name']))}:{entry['value']:.3g}"
                for entry in one["features"]
            )
            print(f"{one['singular_value']:12.6g}  {' '.join(words)}")
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "components": found})
    return 0
