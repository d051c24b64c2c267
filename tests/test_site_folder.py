"""The folder of a site: the old site or the new one, never over what is somebody else's, whatever stops the run."""

from __future__ import annotations

import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import site_folder
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Refused
from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.conftest import Repo

OLD = {"index.html": "old", "items/a.html": "old a", "items/gone.html": "old gone", "assets/site.js": "old js"}
NEW = {"assets/site.js": "new js", "index.html": "new", "items/a.html": "new a", "entities/b.html": "new b"}
KILLED = """
import os, signal, sys
from pathlib import Path
from ledger_cli import site_folder
folder, where, after, new = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), eval(sys.argv[4])
count = 0
def step(*_):
    global count
    count += 1
    if count > after:
        os.kill(os.getpid(), signal.SIGKILL)
if where != "written":
    real = getattr(Path, where)
    def then(self, *arguments, **options):
        step()
        return real(self, *arguments, **options)
    setattr(Path, where, then)
site_folder.write(folder, new.items(), step if where == "written" else lambda: None)
print("whole")
"""


def held(folder: Path) -> dict[str, str]:
    """The pages in a folder; nothing else may be there but the marker and a half-made site."""
    files = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}
    return {path: text for path, text in files.items() if not path.startswith(site_folder.MARKER)}


def killed(folder: Path, where: str, after: int) -> bool:
    """Write the new site in a process that is killed at its n-th step of a kind; was it?"""
    command = [sys.executable, "-c", KILLED, str(folder), where, str(after), repr(NEW)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    assert (done.stdout == b"whole\n") is (done.returncode == 0)
    return done.returncode != 0


@pytest.mark.parametrize("where", ["written", "replace", "unlink", "write_bytes", "mkdir"])
def test_a_killed_run_leaves_the_old_site_or_the_new_one_or_no_overview(tmp_path: Path, where: str) -> None:
    seen = set()
    for after in range(30):
        folder = tmp_path / str(after)
        site_folder.write(folder, OLD.items())
        (folder / "CNAME").write_text("somebody's")
        was_killed = killed(folder, where, after)
        assert (folder / "CNAME").read_text() == "somebody's"
        (folder / "CNAME").unlink()
        found = held(folder)
        if "index.html" in found:
            assert found in (OLD, NEW)
        else:
            assert "not finished" in (folder / site_folder.MARKER).read_text()
        seen.add(found.get("index.html"))
        site_folder.write(folder, NEW.items())  # takes over
        assert held(folder) == NEW
        assert sorted(p.name for p in folder.iterdir()) == [
            site_folder.MARKER,
            "assets",
            "entities",
            "index.html",
            "items",
        ]
        assert "not finished" not in (folder / site_folder.MARKER).read_text()
        if not was_killed:
            break
    else:
        raise AssertionError("it was killed every time")
    assert seen == ({"old", None, "new"} if where in ("replace", "unlink") else {"old", "new"})


def test_a_killed_first_run_leaves_no_overview(tmp_path: Path) -> None:
    for after in range(4):
        assert killed(tmp_path / str(after), "written", after) is True
        assert held(tmp_path / str(after)) == {}
        assert site_folder.write(tmp_path / str(after), NEW.items()) == 4


def test_a_full_disk_names_the_file_and_leaves_the_old_site(repo: Repo, ledger_process: Callable[..., Any]) -> None:
    repo.apply({"session": "s", "decisions": [{"id": "d1", "text": "x"}]})
    repo.run("site", "out")
    before = held(repo.path / "out")
    repo.apply({"session": "t", "decisions": [{"id": "d2", "text": "y"}]})
    largest = max(before, key=lambda path: len(before[path].encode()))
    room = len(before[largest].encode()) - 1  # bytes that a file may have
    said = ledger_process(
        "site", "out", cwd=repo.path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    )
    assert said.returncode == 1
    assert f"cannot write out/{largest}: File too large" in said.stderr
    assert said.stdout == ""
    assert held(repo.path / "out") == before
    assert not (repo.path / "out" / site_folder.STAGE).exists()


def test_a_folder_that_cannot_be_made_is_named(repo: Repo) -> None:
    (repo.path / "file").write_text("precious")
    assert "cannot write file/out: Not a directory" in repo.run("site", "file/out", code=1).err
    assert (repo.path / "file").read_text() == "precious"


@pytest.mark.parametrize("path", ["items/a.html", "index.html"])
def test_a_folder_where_a_page_goes_is_named_and_the_rest_stays(tmp_path: Path, path: str) -> None:
    site_folder.write(tmp_path / "out", OLD.items())
    (tmp_path / "out" / path).unlink()
    (tmp_path / "out" / path).mkdir()
    before = held(tmp_path / "out")
    with pytest.raises(CannotWrite, match=rf"out/{path}: Is a directory"):
        site_folder.write(tmp_path / "out", NEW.items())
    assert held(tmp_path / "out") == before


def test_a_folder_that_takes_no_page_is_found_before_any_page_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_folder.write(tmp_path / "out", OLD.items())
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "items")  # as root may write anywhere
    with pytest.raises(CannotWrite, match=r"out/items/a\.html: Permission denied"):
        site_folder.write(tmp_path / "out", NEW.items())
    assert held(tmp_path / "out") == OLD


def test_what_the_ledger_no_longer_has_goes_with_its_folders(tmp_path: Path) -> None:
    site_folder.write(tmp_path / "out", OLD.items())
    site_folder.write(tmp_path / "out", [("index.html", "small")])
    assert held(tmp_path / "out") == {"index.html": "small"}
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [site_folder.MARKER, "index.html"]


def test_a_stage_that_is_a_link_is_refused(tmp_path: Path) -> None:
    site_folder.write(tmp_path / "out", OLD.items())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").write_text("x")
    (tmp_path / "out" / site_folder.STAGE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match=r"ledger-site\.new is a link"):
        site_folder.write(tmp_path / "out", NEW.items())
    assert (tmp_path / "elsewhere" / "precious").exists()
    assert (tmp_path / "out" / "index.html").read_text() == "old"


# The progress


def on_a_terminal(command: list[str], cwd: Path) -> tuple[str, str]:
    """Run a command with a terminal as its stderr and a pipe as its stdout; what it wrote to each."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        told: dict[int, bytes] = {ours: b"", process.stdout.fileno(): b""}
        open_ends = set(told)
        while open_ends:
            for end in select.select(list(open_ends), [], [], 60)[0]:
                try:
                    data = os.read(end, 1 << 16)
                except OSError:  # the terminal is gone
                    data = b""
                told[end] += data
                if not data:
                    open_ends.discard(end)
        assert process.wait(60) == 0
        said = told[process.stdout.fileno()].decode(), told[ours].decode()
    os.close(ours)
    return said


def test_a_large_ledger_draws_its_progress_on_a_terminal_and_nothing_of_it_in_a_pipe(
    repo: Repo, ledger_process: Callable[..., Any]
) -> None:
    repo.apply({"session": "s", "decisions": [{"id": f"d{n}", "text": "x"} for n in range(60)]})
    command = [sys.executable, "-m", "ledger_cli", "site", "out"]
    out, err = on_a_terminal(command, repo.path)
    count = len(held(repo.path / "out"))
    assert out == f"wrote {count} files to out\n"
    assert "writing pages" in err
    shares = [int(n) for n in re.findall(r"(\d+)%", err)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] >= 90  # how many files there will be is told about
    assert "\x1b[" in err
    assert err.rstrip().endswith("Next: open out/index.html in a browser, or `ledger site out --open`")
    piped = ledger_process("site", "out", cwd=repo.path)
    assert piped.stdout == out
    assert piped.stderr == "Next: open out/index.html in a browser, or `ledger site out --open`\n"
    both = ledger_process("site", "out", cwd=repo.path, env={"FORCE_COLOR": "1"})
    assert (both.stdout, both.stderr) == (piped.stdout, piped.stderr)


def test_a_small_ledger_draws_no_progress(repo: Repo) -> None:
    out, err = on_a_terminal([sys.executable, "-m", "ledger_cli", "site", "out"], repo.path)
    assert out.startswith("wrote ")
    assert "\x1b[" not in err
    assert "writing" not in err


def test_a_second_run_at_the_same_time_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    site_folder.write(folder, OLD.items())

    def second() -> None:
        with pytest.raises(Refused, match="another run is writing the site"):
            site_folder.write(folder, OLD.items())

    site_folder.write(folder, NEW.items(), second)
    assert held(folder) == NEW
    site_folder.write(folder, OLD.items())
    assert held(folder) == OLD
