"""What ``vwlite pca`` and ``vwlite project`` do, and ``vwlite inspect`` with their models."""

from contextlib import ExitStack

from vwlite.cli.build import refuse_options
from vwlite.cli.output import show_report
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.solve import feature_values, open_model_rows, solve
from vwlite.errors import UsageError
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
            if writer.broken:
                break
    source.policy.check_ratio(source.policy.lines)
    return 141 if writer.broken else 0


def predict(arguments: OptionValues) -> int:
    raise UsageError(f"{arguments['initial']} is a model of principal components: use 'vwlite project'")


evaluate = predict


def inspect(arguments: OptionValues) -> int:
    refuse_options(model=ELSEWHERE[PcaModel.learner].what)
    model = PcaModel.load(arguments["model"])
    facts, features = model.facts(), top_features(model, arguments["top"])
    facts.pop("singular_values")
    lines = [inspection_text({"learner": PcaModel.learner, **facts}, [])]
    lines.append(f"\n{'value':>12}  component's strongest features")
    lines += [f"{row['singular_value']:12.6g}  {feature_values(row['features'])}" for row in features]
    return show_report(arguments["json_path"], {**facts, "components": features}, "\n".join(lines))
