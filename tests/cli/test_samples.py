"""``vwlite samples``: the data files of the pages."""

from vwlite.cli.samples import FILES


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_files_are_the_same_every_time(vwlite, tmp_path):
    done = vwlite("samples", "one")
    assert (done.stdout, done.stderr) == ("", "vwlite: the data files of the pages are in one\n")
    vwlite("samples", "two/deeper")
    written = files_of(tmp_path / "one")
    assert set(written) == set(FILES) and len(written) > 15
    assert written == files_of(tmp_path / "two" / "deeper")


def test_without_a_folder_they_go_into_the_current_one(vwlite, tmp_path):
    vwlite("samples")
    assert (tmp_path / "clicks.vw").read_bytes().startswith(b"-1 'view-0 |user oslo ")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    vwlite("samples")  # once more: nothing is written
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    assert vwlite("check", "clicks.vw").status == 0


def test_files_of_others_are_not_overwritten(vwlite, write, tmp_path):
    write("friends.vw", "mine")
    done = vwlite("samples", status=73)
    message = "friends.vw exists and is not a sample file: name another folder ('vwlite samples FOLDER')"
    assert done.stderr == f"vwlite: {message}\n"
    assert files_of(tmp_path) == {"friends.vw": b"mine"}


def test_a_folder_that_cannot_be_made(vwlite, write):
    write("taken", "")
    done = vwlite("samples", "taken/here", status=73)
    assert done.stderr.startswith("vwlite: cannot write taken/here: ") and "taken is not a folder" in done.stderr


def test_a_file_is_no_folder(vwlite, write):
    write("taken", "")
    assert "Directory 'taken' is a file" in vwlite("samples", "taken", status=2).stderr
