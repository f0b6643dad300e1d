"""Folders that a failed run made on the way are taken away again."""

import pytest

from pathveil.folders import locked_folder, new_parents, remove_abandoned


def test_a_failure_takes_away_what_was_made_and_nothing_else(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileNotFoundError), new_parents(tmp_path / "mine" / "a" / "b" / "c"):
        (tmp_path / "mine" / "a" / "b" / "missing").stat()
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def test_folders_that_can_not_all_be_made_are_taken_away(tmp_path):
    with pytest.raises(OSError, match="too long"), new_parents(tmp_path / "a" / ("x" * 300) / "b"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_somebody_else_put_there_stays(tmp_path):
    with pytest.raises(NotADirectoryError), new_parents(tmp_path / "a" / "b"):
        [(tmp_path / "a" / "theirs").touch(), (tmp_path / "a" / "theirs" / "x").stat()]
    assert (tmp_path / "a" / "theirs").exists()


def test_a_success_keeps_them(tmp_path):
    with new_parents(tmp_path / "a" / "b" / "c"):
        pass
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("name", [".pathveil-mine", ".pathveil-minedata", ".pathveil-" + "z" * 32])
def test_a_folder_of_somebody_else_is_not_taken_for_an_abandoned_one(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    remove_abandoned(tmp_path)
    assert (tmp_path / name / "thesis.txt").exists()


def test_a_folder_that_nobody_holds_any_more_is_removed(tmp_path):
    with locked_folder(tmp_path) as folder:
        remove_abandoned(tmp_path)
        assert folder.stat().st_mode & 0o777 == 0o700
        name = folder.name
    (tmp_path / name).mkdir()
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []
