"""Prices, clicks, churn, nights, machines."""

import gzip

from work import Timed, Work, curve, held_out, table


def frames(work: Work, frame):
    """Rows to learn and rows to test, also as CSV files."""
    frame = frame[: work.rows] if work.rows else frame
    test = [held_out(place) for place in range(len(frame))]
    parts = frame[[not one for one in test]], frame[test]
    for name, part in zip(("train.csv", "test.csv"), parts, strict=True):
        part.to_csv(work.folder / name, index=False)
    return parts


def encoded(train, test, label: str, pairs: bool = False):
    """scikit-learn's matrices: names one-hot, numbers standardised."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

    numbers = make_column_selector(dtype_include="number")
    names = make_column_selector(dtype_exclude="number")
    encoder = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), names), sparse_threshold=0
    )
    steps = [encoder, PolynomialFeatures(2, interaction_only=True, include_bias=False)] if pairs else [encoder]
    pipeline = make_pipeline(*steps)
    return pipeline.fit_transform(train.drop(columns=label)), pipeline.transform(test.drop(columns=label))


def prices(work: Work) -> dict:
    from sklearn.linear_model import Ridge
    from sklearn.metrics import root_mean_squared_error

    frame = table("ggplot2", "diamonds")
    frame = frame.drop(columns=[name for name in frame if name in ("rownames", "Unnamed: 0")])
    train, test = frames(work, frame.sample(frac=1, random_state=1))
    learn = "train train.csv --columns 'label=price'"
    work.vwlite(f"{learn} -f linear --json linear.json --quiet")
    work.vwlite(f"{learn} -q :: --passes 10 -f model --json run.json --quiet")
    metric = "test.csv --metric rmse,r2 --quiet"
    linear, ours = (work.measured(f"evaluate -i {name} {metric}") for name in ("linear", "model"))
    with Timed() as timed:
        errors = {}
        for pairs in (False, True):
            x, other = encoded(train, test, "price", pairs)
            predicted = Ridge().fit(x, train["price"]).predict(other)
            errors[pairs] = root_mean_squared_error(test["price"], predicted)
    mean = root_mean_squared_error(test["price"], [train["price"].mean()] * len(test))
    return {
        "counts": [len(train), len(test)],
        "metric": "RMSE",
        "rows": [
            ["the mean price", mean],
            ["vwlite, one pass", linear["rmse"]],
            ["Ridge (scikit-learn)", errors[False]],
            ["vwlite, pairs of columns", ours["rmse"]],
            ["Ridge, pairs of columns", errors[True]],
        ],
        "peer_seconds": timed.seconds,
        "chart": {
            "title": "Held-out loss by pass", "x": "pass", "y": "squared error",
            "lines": [{"name": "pairs of columns",
                       "points": sorted({one["pass"]: one["holdout"] for one in work.run("run.json")["history"]
                                         if one.get("holdout") is not None}.items())}],
        },
    }  # fmt: skip


def clicks(work: Work) -> dict:
    import pandas
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss, roc_auc_score

    names = ["ip", "app", "device", "os", "channel", "hour"]
    with gzip.open(work.source("talkingdata/train_sample.csv.gz"), "rt", encoding="utf-8-sig") as text:
        frame = pandas.read_csv(text, encoding_errors="replace", nrows=work.rows)
    frame = frame.rename(columns={name: name.lstrip(".\ufeff") for name in frame}).sort_values("click_time")
    frame["hour"] = frame["click_time"].str.slice(11, 13)
    frame["label"] = frame["is_attributed"] * 2 - 1
    frame = frame[["label", *names]].astype({name: str for name in names})
    cut = len(frame) * 4 // 5
    train, test = frame[:cut], frame[cut:]
    train.to_csv(work.folder / "train.csv", index=False)
    test.to_csv(work.folder / "test.csv", index=False)
    columns = "label=label " + " ".join(f"{name[0]}={name}:text" for name in names)
    learn = f"train train.csv --columns '{columns}' --loss_function logistic"
    work.vwlite(f"{learn} -f model --json run.json --quiet")
    ours = work.measured("evaluate -i model test.csv --metric auc,log_loss --quiet")
    work.vwlite(f"{learn} --l2 1 --bfgs --passes 30 --holdout_off -f batch --quiet")
    batch = work.measured("evaluate -i batch test.csv --metric auc,log_loss --quiet")
    with Timed() as timed:
        encoder = DictVectorizer()
        x = encoder.fit_transform(train[names].to_dict("records"))
        peer = LogisticRegression(max_iter=1000).fit(x, train["label"])
        predicted = peer.predict_proba(encoder.transform(test[names].to_dict("records")))[:, 1]
    positive = test["label"] > 0
    return {
        "counts": [len(train), len(test)],
        "metric": "AUC",
        "rows": [
            ["vwlite, one pass", ours["auc"], ours["log_loss"]],
            ["vwlite, L-BFGS", batch["auc"], batch["log_loss"]],
            ["LogisticRegression (scikit-learn)", roc_auc_score(positive, predicted), log_loss(positive, predicted)],
        ],
        "more": ["log loss"],
        "peer_seconds": timed.seconds,
        "chart": {"title": "Loss since the row before", "x": "examples", "y": "log loss",
                  "lines": [curve("vwlite", work.run("run.json"), "since_last")]},
    }  # fmt: skip


def churn(work: Work) -> dict:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss, roc_auc_score

    frame = table("modeldata", "mlc_churn")
    frame = frame.drop(columns=[name for name in frame if name in ("rownames", "Unnamed: 0")])
    frame["churn"] = frame["churn"].map({"yes": 1, "no": -1}).astype(int)
    train, test = frames(work, frame.sample(frac=1, random_state=1))
    learn = "train train.csv --columns 'label=churn' --loss_function logistic"
    work.vwlite(f"{learn} --passes 20 -f linear --json linear.json --quiet")
    work.vwlite(f"{learn} --passes 20 -q :: -f model --json run.json --quiet")
    linear, ours = (work.measured(f"evaluate -i {name} test.csv --quiet") for name in ("linear", "model"))
    with Timed() as timed:
        x, other = encoded(train, test, "churn")
        predicted = LogisticRegression(max_iter=1000).fit(x, train["churn"]).predict_proba(other)[:, 1]
    positive = test["churn"] > 0
    return {
        "counts": [len(train), len(test)],
        "metric": "AUC",
        "rows": [
            ["vwlite", linear["auc"], linear["log_loss"]],
            ["LogisticRegression (scikit-learn)", roc_auc_score(positive, predicted), log_loss(positive, predicted)],
            ["vwlite, pairs of columns", ours["auc"], ours["log_loss"]],
        ],
        "more": ["log loss"],
        "peer_seconds": timed.seconds,
        "chart": {"title": "Calibration", "x": "mean prediction", "y": "share that left", "diagonal": True,
                  "lines": [{"name": name, "points": [[one["mean_prediction"], one["observed_rate"]]
                                                      for one in curve["calibration_bins"]]}
                            for name, curve in (("linear", linear), ("pairs of columns", ours))]},
    }  # fmt: skip


def flights():
    import pandas

    frame = table("nycflights13", "flights").dropna(subset=["arr_delay"])
    frame["label"] = (frame["arr_delay"] > 15) * 2 - 1
    frame["weekday"] = pandas.to_datetime(frame[["year", "month", "day"]]).dt.day_name()
    frame = frame.sort_values(["month", "day", "sched_dep_time"], kind="stable")
    return frame[["label", "month", "carrier", "origin", "dest", "hour", "weekday", "distance"]]


FLIGHTS = "label=label c=carrier o=origin d=dest h=hour:text w=weekday n=distance ignore=month"


def nights(work: Work) -> dict:
    """Every month is one night: the candidate replaces the model only where it is no worse on the month's last days."""
    from sklearn.feature_extraction import FeatureHasher
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import log_loss

    frame = flights()
    peer, hasher = SGDClassifier(loss="log_loss", random_state=1), FeatureHasher(2**18)
    kinds = {"kept learning": "current", "without the gate": "free", "January's model": "january"}
    losses: dict[str, list] = {name: [] for name in (*kinds, "SGDClassifier.partial_fit")}
    learned = accepted = 0
    seconds = 0.0
    for month in range(1, 5 if work.rows else 13):
        part = frame[frame["month"] == month][: work.rows]
        name = f"{month:02}.csv"
        part.to_csv(work.folder / name, index=False)
        words = part[["carrier", "origin", "dest", "hour", "weekday"]].astype(str).to_dict("records")
        if month > 1:
            for name_of, model in kinds.items():
                listed = month == 2 and model == "current"
                now = work.measured(f"evaluate -i {model} {name} --metric log_loss --quiet", listed)
                losses[name_of].append([month, now["log_loss"]])
            shares = peer.predict_proba(hasher.transform(words))[:, 1]
            losses["SGDClassifier.partial_fit"].append([month, log_loss(part["label"] > 0, shares)])
        cut = len(part) * 4 // 5
        part[:cut].to_csv(work.folder / "night.csv", index=False)
        part[cut:].to_csv(work.folder / "gate.csv", index=False)
        if month == 1:
            work.vwlite(f"train {name} --columns '{FLIGHTS}' --loss_function logistic -q cd -q wh -f current --quiet")
            for model in ("january", "free"):
                (work.folder / model).write_bytes((work.folder / "current").read_bytes())
        else:
            work.vwlite(f"train {name} -i free -f free --quiet", listed=False)
            work.vwlite("train night.csv -i current -f candidate --quiet", month == 2)
            gate = "gate.csv --metric log_loss --quiet"
            old, new = (work.measured(f"evaluate -i {one} {gate}", month == 2) for one in ("current", "candidate"))
            learned += 1
            if new["log_loss"] <= old["log_loss"]:
                accepted += 1
                work.vwlite("train gate.csv -i candidate -f current --quiet", month == 2)
        with Timed() as timed:
            peer.partial_fit(hasher.transform(words), part["label"], classes=[-1, 1])
        seconds += timed.seconds

    def mean(name: str) -> float:
        return sum(value for _, value in losses[name]) / len(losses[name])

    return {
        "counts": [len(frame), 11],
        "metric": "log loss",
        "rows": [["vwlite, kept learning behind the gate", mean("kept learning")],
                 ["vwlite, kept learning without it", mean("without the gate")],
                 ["vwlite, January's model for the whole year", mean("January's model")],
                 ["SGDClassifier.partial_fit (scikit-learn)", mean("SGDClassifier.partial_fit")]],
        "note": f"The gate accepted {accepted} of {learned} candidates.",
        "peer_seconds": seconds,
        "chart": {"title": "Log loss of each month, before it is learned", "x": "month", "y": "log loss",
                  "lines": [{"name": name, "points": points} for name, points in losses.items()]},
    }  # fmt: skip


def machines(work: Work) -> dict:
    frame = flights()
    frame = frame[: work.rows] if work.rows else frame
    train, test = frames(work, frame.sample(frac=1, random_state=1))
    for part in ("train", "test"):
        work.vwlite(f"convert csv {part}.csv --columns '{FLIGHTS}' -o {part}.vw")
    options = "--loss_function logistic -q cd -q wh"
    work.vwlite(f"train train.vw {options} -f one --quiet")
    rows = [["one process", work.measured("evaluate -i one test.vw --metric log_loss --quiet")["log_loss"]]]
    points = []
    for count in (2, 4, 8, 16):
        for part in range(1, count + 1):
            work.vwlite(f"train train.vw --shard {part}/{count} {options} -f {part}.delta --quiet", count == 2)
        deltas = " ".join(f"{part}.delta" for part in range(1, count + 1))
        work.vwlite(f"merge {deltas} -f merged", count == 2)
        loss = work.measured("evaluate -i merged test.vw --metric log_loss --quiet", count == 2)["log_loss"]
        rows.append([f"{count} shards, merged once", loss])
        points.append([count, loss])
    return {
        "counts": [len(train), len(test)],
        "metric": "log loss",
        "rows": rows,
        "chart": {"title": "Loss by the number of shards", "x": "shards", "y": "log loss",
                  "lines": [{"name": "one process", "points": [[2, rows[0][1]], [16, rows[0][1]]]},
                            {"name": "merged once", "points": points}]},
    }  # fmt: skip
