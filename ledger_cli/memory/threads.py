"""Working memory: the messages of conversations under way, each in a file of its own beside the store.

A thread is a log: a line of JSON a message, and a line a summary, which says up to which message it goes. Lines are
only added, each in one write under the thread's lock, so a killed writer leaves at most half a line at the end. That
was never acknowledged; readers skip it, and the next writer cuts it off, and both say so.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from ledger_cli import instant
from ledger_cli.durable import CannotWrite, sync_folder
from ledger_cli.errors import Busy, Damaged, Refused, quoted, short
from ledger_cli.instant import show
from ledger_cli.ledger import Ledger
from ledger_cli.memory.transcript import Message
from ledger_cli.names import LONGEST, is_seen

ThreadRole = Literal["system", "user", "assistant"]
ROLES: tuple[ThreadRole, ...] = ("system", "user", "assistant")
"""Who may speak in a thread: what every chat endpoint takes without more."""

SUMMARISED = "Summary of earlier turns: "
"""How the message begins that holds a summary."""

_LONGEST_FILE = 230


@dataclass(frozen=True)
class Said:
    """A message of a thread; `at` is when it was appended."""

    role: ThreadRole
    content: str
    at: datetime


@dataclass(frozen=True)
class Summary:
    """What the first `through` messages of a thread come to."""

    text: str
    through: int


@dataclass(frozen=True)
class Thread:
    """A thread as it stands: every message ever appended, and the latest summary."""

    messages: tuple[Said, ...] = ()
    summary: Summary | None = None

    @property
    def open(self) -> tuple[Said, ...]:
        """The messages that no summary holds."""
        return self.messages[self.summary.through if self.summary else 0 :]


@dataclass(frozen=True)
class Prepared:
    """What goes into a chat call: the summary, then the last messages, oldest first.

    `left_out` counts the messages between the two, which are in neither.
    """

    summary: str | None
    messages: tuple[Said, ...]
    left_out: int

    def chat(self) -> list[dict[str, str]]:
        """As a list of {role, content}, as chat endpoints take it."""
        first = [{"role": "system", "content": SUMMARISED + self.summary}] if self.summary is not None else []
        return first + [{"role": m.role, "content": m.content} for m in self.messages]


def encoded(name: str) -> str:
    """The name of a thread as that of a file: ASCII letters, digits, `-` and `_` as they are, the rest percent-encoded.

    Raises Refused for a name that shows nothing, or is too long.
    """
    if not is_seen(name) or _is_halved(name):
        raise Refused(f"{quoted(name)} names no thread", "write a visible character, and no half of one")
    file = re.sub(rb"[^A-Za-z0-9_-]", lambda found: f"%{found[0][0]:02X}".encode(), name.encode()).decode()
    if len(name) > LONGEST or len(file) > _LONGEST_FILE:
        raise Refused(f"the thread's name {quoted(name)} is too long for a file", f"write at most {LONGEST} characters")
    return file


Summarise = Callable[[str | None, Sequence[Message]], str | None]
"""The summary so far and more messages, into one summary of both."""


class Threads:
    """The threads beside a ledger. `say` hears what a user should know; `timeout` (seconds) is for the lock."""

    def __init__(self, ledger: Ledger, *, say: Callable[[str], None] = lambda _: None, timeout: float = 60) -> None:
        self.folder = ledger.database.generations.folder / "threads"
        self.clock, self.say, self.timeout = ledger.clock, say, timeout

    def read(self, name: str) -> Thread:
        """The thread as it stands; one that was never begun is empty. Raises Damaged, Refused."""
        path = self._path(name)
        data, half = _whole_lines(_bytes(path))
        if half and path.exists():
            with self._locked(name):  # a writer may be in the middle of its line
                data, half = _whole_lines(_bytes(path))
        if half:
            self.say(f"note: thread {short(name)}: its last line was cut off before its end, and does not count")
        return _thread(data, path)

    def append(self, name: str, role: ThreadRole, content: str) -> int:
        """Add a message, durably; returns its number. Raises Refused for one that says nothing, CannotWrite, Busy."""
        if not is_seen(content):
            raise Refused("the message says nothing; nothing was appended")
        if _is_halved(content):
            raise Refused("the message holds half a character (a lone surrogate); nothing was appended")
        with self._locked(name):
            thread = self._mended(name)
            line = {"role": role, "content": content, "at": show(self.clock())}
            self._add(name, line)
        return len(thread.messages) + 1

    def prepare(self, name: str, last: int) -> Prepared:
        """The summary and the last messages that it does not hold, at most `last`. Asks no model."""
        thread = self.read(name)
        if not thread.messages:
            self.say(f"note: there is no thread {quoted(name)} yet; `ledger thread append` begins one")
        shown = thread.open[-last:] if last else ()
        return Prepared(thread.summary.text if thread.summary else None, shown, len(thread.open) - len(shown))

    def compact(self, name: str, keep: int, summarise: Summarise) -> int:
        """Sum up all messages but the last `keep`; returns how many the new summary took in, 0: there are no more.

        `summarise` is given the summary so far and the messages to take in. It is asked without the lock: messages
        appended meanwhile stay open. Raises Refused where another process compacted the thread meanwhile, what
        `summarise` raises, CannotWrite, Busy.
        """
        thread = self.read(name)
        taken = thread.open[: max(0, len(thread.open) - keep)]
        if not taken:
            return 0
        through = len(thread.messages) - len(thread.open) + len(taken)
        numbered = [Message(through - len(taken) + n, m.role, m.content, m.at) for n, m in enumerate(taken, 1)]
        text = summarise(thread.summary.text if thread.summary else None, numbered)
        if text is None or not is_seen(text):
            raise Refused("the summary says nothing; the thread is as it was")
        if _is_halved(text):
            raise Refused("the summary holds half a character (a lone surrogate); the thread is as it was")
        with self._locked(name):
            now = self._mended(name)
            if now.summary != thread.summary or now.messages[:through] != thread.messages[:through]:
                raise Refused(f"thread {short(name)} was compacted by another process meanwhile", "look at it again")
            self._add(name, {"summary": text, "through": through, "at": show(self.clock())})
        return len(taken)

    # Files

    def _path(self, name: str) -> Path:
        return self.folder / f"{encoded(name)}.jsonl"

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        from filelock import FileLock, Timeout

        path = self._path(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():  # conversations are nobody's commit, whatever the branch ignores
                ignore.write_text("*\n")
            lock = FileLock(path.with_suffix(".lock"))
            lock.acquire(timeout=self.timeout, poll_interval=0.01)
        except Timeout:
            raise Busy(f"another process is writing to thread {short(name)}", "wait for it, and try again") from None
        except OSError as fault:
            raise self._cannot_write(fault) from fault
        try:
            yield
        finally:
            lock.release()

    def _mended(self, name: str) -> Thread:
        """The thread, with half a line at its end cut off. Needs the lock."""
        path = self._path(name)
        data, half = _whole_lines(_bytes(path))
        thread = _thread(data, path)
        if half:
            try:
                os.truncate(path, len(data))
            except OSError as fault:
                raise self._cannot_write(fault) from fault
            self.say(f"note: thread {short(name)}: cut off half a line that a killed writer left")
        return thread

    def _add(self, name: str, line: dict[str, Any]) -> None:
        """Write a line to the end, durably. Needs the lock."""
        path, new = self._path(name), (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        try:
            begun = path.exists()
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
            try:
                before = os.fstat(handle).st_size
                try:
                    while new:
                        new = new[os.write(handle, new) :]
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, before)  # a full disk took half of it
                    raise
            finally:
                os.close(handle)
            if not begun:
                sync_folder(self.folder)
        except OSError as fault:
            raise self._cannot_write(fault) from fault

    def _cannot_write(self, fault: OSError) -> CannotWrite:
        return CannotWrite(f"cannot write in {self.folder}: {fault.strerror or fault}")


def _is_halved(text: str) -> bool:
    """Does it hold a lone surrogate? No chat endpoint takes that, and no file name."""
    return any(0xD800 <= ord(c) < 0xE000 for c in text)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as fault:
        raise Damaged(f"cannot read {path}: {fault.strerror or fault}") from None


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    """The lines that were written to their end, and what stands behind them."""
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def _thread(data: bytes, path: Path) -> Thread:
    """What the lines of a thread's file come to. Raises Damaged with the line that no writer left."""
    messages: list[Said] = []
    summary: Summary | None = None
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            value = json.loads(line.decode("utf-8", "surrogatepass"))
            if "summary" in value:
                summary = _summary(value, len(messages), summary)
            else:
                messages.append(_said(value))
        except (ValueError, KeyError, TypeError, RecursionError):
            hint = "put the line right, or take the file away; no other thread is touched by it"
            raise Damaged(f"{path}:{number}: this is no line of a thread", hint) from None
    return Thread(tuple(messages), summary)


def _said(value: dict[str, Any]) -> Said:
    if value["role"] not in ROLES or not isinstance(value["content"], str):
        raise ValueError("no message")
    return Said(cast(ThreadRole, value["role"]), value["content"], instant.parse(value["at"]))


def _summary(value: dict[str, Any], count: int, before: Summary | None) -> Summary:
    text, through = value["summary"], value["through"]
    least = before.through if before else 0
    if not isinstance(text, str) or type(through) is not int or not least < through <= count:
        raise ValueError("no summary")
    return Summary(text, through)
