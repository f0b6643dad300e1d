"""The command: a real process and real requests; what is no release is refused."""

import json
import shutil
import signal
import socket
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.explorer import releases
from tests.explorer.releases import served
from tests.explorer.watching import look_and_stop

from pathveil.cli.run import run


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return releases.week(riders=300, stops=6).write(tmp_path_factory.mktemp("one") / "bundle")


def test_it_serves_until_ctrl_c(bundle):
    with served(bundle) as (address, process):
        assert address.startswith("http://127.0.0.1:")
        with urlopen(address) as page:
            assert b"<main" in page.read()
            assert page.headers["content-security-policy"].startswith("default-src 'none'")
        with urlopen(f"{address}api/overview") as answer:
            assert json.load(answer)["name"] == "bundle"
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(address, headers={"Host": "evil.example"}))
        assert refused.value.code == 421
        refused.value.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0
        assert err.strip() == "Stopped."
        assert "Traceback" not in out


def test_it_opens_the_browser_unless_told_not_to(bundle, monkeypatch, capfd):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    for options, times in (([], 1), (["--no-open"], 0)):
        opened.clear()
        with monkeypatch.context() as patch:
            seen = look_and_stop(patch)
            assert run(["explore", str(bundle), "--port", "0", *options]) == 0
        said = capfd.readouterr()
        assert seen
        assert len(opened) == times
        assert said.out.startswith("Exploring at http://127.0.0.1:")
        assert "Stopped." in said.err


def test_kill_ends_it_with_its_own_code(bundle):
    with served(bundle) as (_, process):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 128 + signal.SIGTERM


def refused(capfd, *arguments):
    code = run(["explore", *map(str, arguments), "--no-open", "--port", "0"])
    out, err = capfd.readouterr()
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    return err


@pytest.fixture(autouse=True)
def _handlers():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", ["taps.csv", "taps.parquet", "INTERNAL-evaluation.html"])
def test_a_file_is_refused(tmp_path, capfd, name):
    (tmp_path / name).write_text("card,stop\nzq7unit,A\n")
    message = refused(capfd, tmp_path / name)
    assert "never raw data" in message
    assert "zq7unit" not in message


def test_a_folder_with_internal_figures_is_refused(tmp_path, capfd, bundle):
    (tmp_path / "INTERNAL-evaluation.html").write_text("exact")
    assert "INTERNAL figures" in refused(capfd, tmp_path)
    mixed = shutil.copytree(bundle, tmp_path / "mixed")
    (mixed / "INTERNAL-evaluation.html").write_text("exact")
    assert "INTERNAL figures" in refused(capfd, mixed)


def test_what_is_no_release_is_refused(tmp_path, capfd, bundle):
    assert "is not a release" in refused(capfd, tmp_path)
    assert "is not a release" in refused(capfd, tmp_path / "nowhere")
    assert "is not a release" in refused(capfd, bundle, tmp_path)
    assert "null byte" in refused(capfd, "a\0b")


def test_a_changed_release_is_refused(tmp_path, capfd, bundle):
    changed = shutil.copytree(bundle, tmp_path / "changed")
    (changed / "locations.csv").write_text("location\nA\n")
    assert "locations.csv" in refused(capfd, changed)


def test_a_taken_port_is_told(bundle, capfd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code = run(["explore", str(bundle), "--no-open", "--port", str(port)])
    assert code == 2
    assert f"port {port}" in capfd.readouterr().err


def test_without_its_packages_it_says_what_to_install(bundle, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "pathveil.explorer.server", raising=False)
    assert "pathveil[explorer]" in refused(capfd, bundle)
