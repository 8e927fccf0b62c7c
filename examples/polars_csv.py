"""Learn from a CSV file, by way of polars: who earns more? Trains, measures, and explains a prediction.

    python examples/polars_csv.py [FILE.csv]

Needs polars and the extra 'arrow': pip install polars 'vwlite[arrow]'. FILE.csv has a column "label" of 1 and -1; any
other column is a feature: numbers, truth values and texts, empty where they are not known. Without a FILE a table of
2,000 people is made up, and written to people.csv. Every fifth row is kept for measuring.
"""

import sys

import numpy as np
import polars

import vwlite

JOBS = {"nurse": 0.4, "smith": -0.3, "clerk": -0.8, "pilot": 1.2, "": 0.0}


def make_up(path: str, rows: int = 2000, seed: int = 1) -> None:
    """People whose income depends on their job, their schooling and their age; some of it is not known."""
    draw = np.random.default_rng(seed)
    jobs = draw.choice(list(JOBS), rows)
    age, years = draw.integers(18, 70, rows), draw.integers(8, 19, rows)
    score = np.array([JOBS[job] for job in jobs]) + (years - 13) / 3 + (age - 40) / 30 + draw.normal(0, 0.5, rows)
    table = polars.DataFrame({"job": jobs, "age": age, "school": years, "label": np.where(score > 0, 1, -1)})
    known = polars.Series(draw.uniform(size=rows) < 0.9)
    table.with_columns(age=polars.when(known).then("age"), job=polars.col("job").replace("", None)).write_csv(path)


def categories(table: polars.DataFrame) -> polars.DataFrame:
    """Texts as categories, of which each is hashed once."""
    return table.with_columns(polars.selectors.string().cast(polars.Categorical))


def main(paths: list[str]) -> None:
    path = paths[0] if paths else "people.csv"
    if not paths:
        make_up(path)
    table = categories(polars.read_csv(path)).with_row_index("row")
    kept = polars.col("row") % 5 == 4
    train, test = table.filter(~kept).drop("row"), table.filter(kept).drop("row")

    model = vwlite.Model("--loss_function logistic --names")
    learned = model.learn(train, y="label", passes=3, shuffle=True)
    print(f"learned {learned.examples} examples in {learned.passes} passes, every tenth row held out")

    measured = model.evaluate(test, y="label", metrics="accuracy,auc,log_loss")
    for name in ("accuracy", "auc", "log_loss"):
        print(f"{name:9} {measured[name]:.3f}")

    row = test.drop("label").head(1)
    print(f"\n{row.to_dicts()[0]}: probability {model.predict(row)[0]:.3f}, because of")
    for term in model.explain(row)[0]:
        print(f"{term.product:+8.3f}  {term.name} ({term.value:g} times {term.weight:+.4f})")


if __name__ == "__main__":
    main(sys.argv[1:])
