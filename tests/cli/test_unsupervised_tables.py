"""pca and cluster on tables: models keep what columns are, and labels may be words, as in text."""

import pytest

from vwlite.storage.model_file import load, save

TABLE = "l,id,t\ncat,1,a b c\ndog,2,x y z\ncat,3,a b d\ndog,4,x y w\n"
LINES = "".join(
    f'{{"l": "{label}", "id": {n}, "t": "{words}"}}\n'
    for n, (label, words) in enumerate((("cat", "a b c"), ("dog", "x y z"), ("cat", "a b d"), ("dog", "x y w")), 1)
)
COLUMNS = ("--columns", "label=l tag=id t=t:words")


@pytest.fixture(params=[("data.csv", TABLE), ("data.jsonl", LINES)], ids=["csv", "jsonl"])
def table(request, write):
    name, text = request.param
    write(name, text)
    return name


def test_clusters_of_a_table_keep_its_columns_and_agree_with_labels_that_are_words(table, vwlite):
    vwlite("cluster", table, *COLUMNS, "-k", "2", "-f", "m", "--quiet")
    predicted = vwlite("predict", "-i", "m", table).stdout
    assert predicted == vwlite("predict", "-i", "m", table, *COLUMNS).stdout
    first, second, third, fourth = (line.split() for line in predicted.splitlines())
    assert first[0] == third[0] != second[0] == fourth[0] and [first[1], fourth[1]] == ["1", "4"]
    assert vwlite("evaluate", "-i", "m", table, "--metric", "nmi,purity").stdout == "nmi     1\npurity  1\n"


def test_clusters_go_on_with_the_columns_of_the_model(table, vwlite):
    vwlite("cluster", table, *COLUMNS, "-k", "2", "-f", "m", "--quiet")
    vwlite("cluster", table, "-i", "m", "-f", "n", "--quiet")
    assert vwlite("evaluate", "-i", "n", table, "--metric", "nmi").stdout == "nmi  1\n"


def test_components_of_a_table_keep_its_columns(table, vwlite):
    vwlite("pca", table, *COLUMNS, "--dim", "1", "-f", "m", "--quiet")
    projected = vwlite("project", "-i", "m", table).stdout
    assert projected == vwlite("project", "-i", "m", table, *COLUMNS).stdout
    values = [float(line.rpartition(":")[2]) for line in projected.splitlines()]
    assert abs(values[0] - values[2]) < 1e-5 < abs(values[0] - values[1])
    vwlite("pca", table, "-i", "m", "-f", "n", "--quiet")
    assert len(vwlite("project", "-i", "n", table).stdout.splitlines()) == 4


def test_columns_that_are_none_are_refused(vwlite, write, tmp_path):
    write("data.csv", TABLE)
    vwlite("cluster", "data.csv", *COLUMNS, "-k", "2", "-f", "m", "--quiet")
    model = load(tmp_path / "m")
    save(tmp_path / "m", {**model.header, "columns": 7}, dict(model.arrays))
    assert "columns" in vwlite("predict", "-i", "m", "data.csv", status=76).stderr
