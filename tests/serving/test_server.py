"""``vwlite.serving``: what clients get, and a model that is replaced meanwhile."""

import http.client
import json
import os
import threading
import time

import pytest
from http_clients import LINES, ask, asked, train

import vwlite


def expected(model):
    return [float(value) for value in vwlite.load(model).predict(LINES)]


def test_lines_are_answered_as_by_predict(serve, model):
    status, body = ask(serve())
    words = [line.split() for line in body.decode().splitlines()]
    assert status == 200 and [word[1:] for word in words] == [["a"], [], ["b"]]
    assert [float(word[0]) for word in words] == pytest.approx(expected(model), abs=1e-6)


def test_json_of_lines_and_rows(serve, model):
    server = serve()
    status, actual = asked(server, {"lines": LINES.decode().splitlines()})
    assert status == 200 and [prediction.get("tag") for prediction in actual["predictions"]] == ["a", None, "b"]
    assert [prediction["prediction"] for prediction in actual["predictions"]] == pytest.approx(expected(model))
    rows = [{"w": {"x": 0.5, "y": True}}, {"w": {"y": True}}, {"w": {"z": True}}]
    status, actual = asked(server, {"rows": rows})
    assert [prediction["prediction"] for prediction in actual["predictions"]] == pytest.approx(expected(model))
    assert asked(server, {"lines": []}) == (200, {"predictions": []})


def test_malformed_lines_have_answers(serve):
    server = serve()
    assert ask(server, body=b"|w x:nan\n\n|w y\n")[1].split(b"\n")[0] == b"nan"
    predictions = asked(server, {"lines": ["|w x:nan", "|w y"]})[1]["predictions"]
    assert [prediction["prediction"] is None for prediction in predictions] == [True, False]


def test_a_connection_is_kept(serve):
    server = serve()
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    for _ in range(3):
        connection.request("POST", "/predict", LINES)
        assert connection.getresponse().read().count(b"\n") == 3
        assert connection.sock is not None
    connection.close()


def test_health_shows_the_model_and_counts(serve, model):
    server = serve()
    ask(server)
    status, body = ask(server, "GET", "/health", None)
    facts = json.loads(body)
    assert status == 200 and facts["status"] == "ok" and facts["model"] == model and facts["learner"] == "gd"
    assert facts["requests"] == 1 and facts["models_loaded"] == 1 and facts["failure"] is None


def test_a_replaced_model_answers_and_no_request_is_lost(serve, model):
    server = serve()
    before = ask(server)[1]
    train(f"{model}.other", b"1 |w x y z\n" * 50)
    answers, failures, stop = [], [], threading.Event()

    def client():
        while not stop.is_set():
            status, body = ask(server)
            (answers if status == 200 else failures).append(body)

    clients = [threading.Thread(target=client) for _ in range(3)]
    for thread in clients:
        thread.start()
    for count in range(2, 7):
        train(model, b"1 |w x y z\n" * count)
        while server.source.loaded < count:
            time.sleep(0.01)
    os.replace(f"{model}.other", model)
    while server.source.loaded < 7:
        time.sleep(0.01)
    after = ask(server)[1]
    stop.set()
    for thread in clients:
        thread.join()
    assert failures == [] and len(answers) > 5 and after != before
    assert server.source.loaded == 7


def test_a_model_that_cannot_be_loaded_leaves_the_one_before(serve, model):
    server = serve()
    before = ask(server)[1]
    with open(f"{model}.bad", "wb") as file:
        file.write(b"no model")
    os.replace(f"{model}.bad", model)
    while not server.source.failure:
        time.sleep(0.01)
    os.unlink(model)
    time.sleep(0.1)
    assert ask(server)[1] == before
    assert json.loads(ask(server, "GET", "/health", None)[1])["failure"]
    train(model, b"1 |w x y z\n" * 9)
    while server.source.loaded < 2:
        time.sleep(0.01)
    assert ask(server)[1] != before and server.source.failure == ""
    assert [said.startswith("the previous model stays") for said in server.said] == [True, True, False]


def test_groups_of_lines_are_text(serve, model):
    train(model, b"1:1 |w x\n2:0 |w y\n\n", loss_function="squared", csoaa_ldf="multiline")
    server = serve()
    assert ask(server, body=b"1 |w x\n2 |w y\n\n")[1].count(b"\n") == 3
    status, said = asked(server, {"lines": ["1 |w x"]})
    assert (status, json.loads(said)) == (400, {"error": "a model of groups of lines answers to text only"})


def test_a_model_of_a_table_reads_tables(tmp_path, serve, model):
    table = tmp_path / "table.csv"
    table.write_text("click,city,age\n1,oslo,.5\n-1,rome,2\n1,oslo,1\n-1,rome,1\n")
    vwlite.train(table, columns="label=click user=city,age", kind="csv").save(model)
    server = serve()
    named = b"city,age\noslo,.5\nrome,2\noslo,x\n"
    status, body = ask(server, body=named)
    first, second, third = (float(line) for line in body.split())
    assert status == 200 and first > 0 > second and third != third
    assert ask(server, body=named, kind="text/csv") == (200, body)
    assert ask(server, body=named.replace(b",", b"\t"), kind="text/tab-separated-values") == (200, body)
    lines = b'{"city": "oslo", "age": 0.5}\n{"age": 2, "city": "rome"}\n'
    assert ask(server, body=lines, kind="application/x-ndjson") == (200, body[: body.index(b"nan")])
    actual = asked(server, {"rows": [json.loads(line) for line in lines.splitlines()]})[1]["predictions"]
    assert [answer["prediction"] for answer in actual] == pytest.approx([first, second], abs=1e-6)
    status, said = ask(server, body=b"town,age\noslo,.5\n")
    assert status == 400 and b"city" in said


def test_a_model_of_text_has_no_columns(serve):
    status, said = ask(serve(), body=b"a,b\n1,2\n", kind="text/csv")
    assert status == 400 and b"not from a table" in said


@pytest.fixture
def of_table(tmp_path, serve, model):
    """A server of a model of a CSV with city, age and a column that may be missing."""
    table = tmp_path / "table.csv"
    table.write_text("click,city,age,zip\n1,oslo,.5,7\n-1,rome,2,8\n1,oslo,1,9\n")
    vwlite.train(table, columns="label=click user=city,age,zip:text?", kind="csv").save(model)
    return serve()


def test_rows_that_lack_columns_are_told(of_table):
    whole = {"city": "oslo", "age": 0.5, "zip": "7"}
    first = asked(of_table, {"rows": [whole, {**whole, "more": 1}]})[1]
    assert set(first) == {"predictions"}
    for lacking in ({"city": "oslo", "zip": "7"}, {"city": "oslo", "age": None}):
        status, actual = asked(of_table, {"rows": [whole, lacking]})
        assert status == 200 and len(actual["predictions"]) == 2
        assert actual.get("warnings", []) == (
            [] if "age" in lacking else ["no column 'age' in rows[1]: predicted without it"]
        )
    rows = [{"city": "oslo", "aeg": 1}] * 5
    assert asked(of_table, {"rows": rows})[1]["warnings"] == [
        "no column 'age' in rows[0], rows[1], rows[2] and 2 more: predicted without it (is it 'aeg'?)"
    ]


def test_rows_without_any_known_column_are_refused(of_table):
    why = "rows[1] has no column that the model knows: it has town, zap; the model has learned city, age, zip"
    status, said = asked(of_table, {"rows": [{"city": "oslo", "age": 1}, {"town": "oslo", "zap": 1}]})
    assert status == 400 and json.loads(said) == {"error": why}
    assert asked(of_table, {"rows": [{}]})[0] == 400
    lines = b'{"city": "oslo", "age": 1}\n{"town": "oslo", "zap": 1}\n'
    status, said = ask(of_table, body=lines, kind="application/x-ndjson")
    assert (status, said.decode()) == (400, why.replace("rows[1]", "line 2") + "\n")
    assert ask(of_table, body=lines[:27] + b"{odd\n", kind="application/x-ndjson")[1].split()[1] == b"nan"


def header_of(server, body, kind):
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    connection.request("POST", "/predict", body, {"Content-Type": kind})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("X-Warning")


def test_warnings_of_text_stand_in_a_header(of_table):
    assert header_of(of_table, b'{"city": "oslo", "age": 1}\n', "application/x-ndjson") == (200, None)
    assert header_of(of_table, '{"city": "oslo", "åge": 1}\n'.encode(), "application/x-ndjson") == (
        200, "no column 'age' in line 1: predicted without it (is it '\\xe5ge'?)"
    )  # fmt: skip
    assert header_of(of_table, b"city,age\noslo,1\n", "text/csv") == (200, None)
    assert header_of(of_table, b"city,aeg\noslo,1\n", "text/csv")[0] == 400


def test_features_that_the_model_does_not_know_are_told(serve):
    server = serve()
    warned = "changed a prediction: it is that of a row without features"
    (said,) = asked(server, {"lines": ["|v q", "|v z"]})[1]["warnings"]
    assert said.startswith(f"no feature of the data {warned}")
    assert "warnings" not in asked(server, {"lines": ["|w x", "|v z"]})[1]  # as one may not know all users
    (said,) = asked(server, {"rows": [{"w": {"x": 1}}, {"v": {"x": 1}}]})[1]["warnings"]
    assert said.startswith(f"no feature of rows[1] {warned}")
    assert header_of(server, b"|v q\n", "text/plain")[1].startswith("no feature of the data")
    assert header_of(server, LINES, "text/plain")[1] is None


def test_policies_answer_with_all_actions(serve, model):
    """A name of an event draws an action, the same one for the same name; of groups as of the same actions."""
    train(model, b"1:0:0.5 |a b\n2:1:0.5 |a b\n" * 9, loss_function="squared", cb_explore=2, epsilon=0.8)
    server = serve()
    first = asked(server, {"lines": ["'x |a b"]})[1]["predictions"][0]
    assert (first["action"], first["tag"]) == (1, "x") and first["probability"] == pytest.approx(0.6)
    assert [action["probability"] for action in first["actions"]] == [pytest.approx(0.6), pytest.approx(0.4)]
    names = [f"event {number}" for number in range(200)]
    drawn = asked(server, {"lines": ["|a b"] * 200, "event_id": names})[1]["predictions"]
    assert sum(choice["action"] == 2 for choice in drawn) == pytest.approx(80, abs=25)
    event = {"lines": ["|a b"], "event_id": "event 7"}
    assert asked(server, event)[1]["predictions"] == [drawn[7]]
    assert asked(server, {"lines": ["3:x:1 |a", "|a b"], "event_id": names[6:8]})[1]["predictions"] == [
        {"action": None}, drawn[7],
    ]
    for request, said in (
        ({"lines": ["|a b"], "event_id": names}, "event_id: 200 for 1 events; each has its own"),
        ({"lines": ["|a b"] * 2, "event_id": "e"}, "event_id: 1 for 2 events; each has its own"),
        ({"lines": ["|a b"], "event_id": 3}, "event_id is a text, or an array with a text for each event"),
    ):
        status, error = asked(server, request)
        assert (status, json.loads(error)["error"]) == (400, said)
    seeds = [asked(serve(sample=seed), event)[1]["predictions"][0]["action"] for seed in range(12)]
    assert set(seeds) == {1, 2}
    train(model, b"0:-1:0.5 |a b\n|a c\n\n" * 9, loss_function="squared", cb_adf=True)
    group = ["|a c", "'b |a b", "", "|a b"]
    actual = asked(serve(), {"lines": group, "event_id": ["p", "q"]})[1]["predictions"]
    shown = [(choice["action"], choice["probability"], len(choice["actions"])) for choice in actual]
    assert shown == [(1, 1, 2), (0, 1, 1)]


def test_a_name_of_an_event_draws_nothing_of_other_models(serve):
    status, error = asked(serve(), {"lines": ["|w x"], "event_id": "e"})
    message = "event_id is for models of logged decisions: nothing is drawn here"
    assert (status, json.loads(error)["error"]) == (400, message)


def test_decisions_as_json(serve, model):
    """Of a model that has learned the same as text, or as JSON, which takes lines of text as well."""
    text = b"shared |u age:3\n|i a\n0:-1:0.5 |i b\n\n"
    event = {"c": {"u": {"age": 3}, "_multi": [{"i": {"a": True}}, {"i": {"b": True}}]}}
    logged = {**event, "_label_cost": -1, "_label_probability": 0.5, "_labelIndex": 1}
    lines = {"lines": ["shared |u age:3", "|i a", "|i b"]}
    for data, kind in ((text, "vw"), (json.dumps(logged).encode() + b"\n", "dsjson")):
        train(model, data * 9, kind=kind, loss_function="squared", cb_explore_adf=True)
        server = serve()
        told = asked(server, lines)[1]["predictions"]
        assert told[0]["action"] == 1 and told == asked(server, {"events": [event]})[1]["predictions"]
        answers = asked(server, {"events": [{}, event], "event_id": ["e", "f"]})[1]["predictions"]
        assert answers[0] == {"action": None} and answers[1]["actions"] == told[0]["actions"]
        status, error = asked(server, {"events": ["|u a"]})
        assert (status, json.loads(error)["error"]) == (400, "events are objects in an array")
    assert asked(server, {"lines": [json.dumps(event)]})[1]["predictions"] == told
    train(model, b"1:0:0.5 |a b\n", loss_function="squared", cb=2)
    status, error = asked(serve(), {"events": [event]})
    assert json.loads(error)["error"] == "events are for models of --cb_adf and --cb_explore_adf" and status == 400
