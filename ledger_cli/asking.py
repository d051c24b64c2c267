"""A stranger's query, in a process of its own: what the engine does not stop by itself is stopped from outside.

kglite looks at neither clock nor work while it walks a list inside `all`, `any` or `none`, and Rust aborts the process
when no memory is left. So the query gets a child with a bound on its memory, and whoever waits for it kills it.

On the child's stdin comes one request; on its stdout the notes, as soon as the ledger is open, and then the outcome,
all pickled. The child is a fresh process, since the engine has threads. Nothing of a request stands in its arguments.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from ledger_cli.database import Database, Say
from ledger_cli.errors import LedgerError, QueryRefused
from ledger_cli.store.engine import NARROW, Answer
from ledger_cli.store.graph import Graph

MEMORY = 2 * 1024**3
"""Bytes a query may take, beside the ledger itself."""
ANSWER = 64 * 1024**2
"""Bytes an answer may have."""
PATIENCE = 1.0
"""Seconds past the time-out that the engine has to stop by itself."""

_OUT_OF_MEMORY = 77
"""How the child exits when Python, and not the engine, found no memory."""


def ask(
    folder: Path,
    engine: str,
    text: str,
    *,
    params: Mapping[str, Any] | None = None,
    timeout_ms: int,
    limit: int,
    say: Say,
    child: str | None = None,
) -> Answer:
    """Run a query, with what its `$names` stand for, on the ledger in `folder`.

    `child` is the module that answers; left out, this one. Raises QueryRefused; the child is gone however this ends.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-m", child or __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what the engine says when it aborts is not for the user
        env=_environment(),
    ) as process:
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(timeout_ms / 1000 + PATIENCE, stop)
        clock.daemon = True
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                pickle.dump((folder, engine, text, dict(params or {}), timeout_ms, limit), process.stdin)
                process.stdin.flush()  # and left open: its end tells the child that nobody waits any more
            with suppress(EOFError):
                for note in pickle.load(process.stdout):
                    say(note)
                clock.start()  # opening the ledger is not the query's time
            data = process.stdout.read()
            code = process.wait()
        finally:
            clock.cancel()
            process.kill()
            with suppress(BrokenPipeError):
                cast(BinaryIO, process.stdin).close()
    if late.is_set():
        raise QueryRefused(f"the query ran longer than {timeout_ms} ms and was stopped", NARROW)
    if code:
        raise _death(code)
    outcome = pickle.loads(data)
    if isinstance(outcome, BaseException):
        raise outcome
    columns, rows, truncated = outcome
    return Answer(columns, [dict(zip(columns, row, strict=True)) for row in rows], truncated)


def _environment() -> dict[str, str]:
    """The same imports as here, and from nowhere else; few threads, for each reserves memory it may never use."""
    return {
        "RAYON_NUM_THREADS": str(min(4, os.cpu_count() or 1)),
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(Path(place).absolute()) for place in sys.path),
    }


def _death(code: int) -> BaseException:
    """What it means that the child exited with `code` and no outcome."""
    if code == -signal.SIGINT:
        return KeyboardInterrupt()
    if code == -signal.SIGTERM:
        return QueryRefused("the query was stopped by somebody who ended its process")
    if code < 0 or code == _OUT_OF_MEMORY:
        gib = MEMORY // 1024**3
        return QueryRefused(f"the query needed more than {gib} GiB of memory and was stopped", NARROW)
    return RuntimeError(f"the process of a query ended with code {code}")


# In the child


def main(graph_of: Callable[[Database], Graph] = Database.read) -> None:
    """Answer the one request on stdin, asking of the graph that `graph_of` makes of the ledger."""
    gc.disable()  # it lives for one answer, which has no cycles
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler would wait for the engine
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the engine prints is no part of the answer
    folder, engine, text, params, timeout_ms, limit = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    notes: list[str] = []
    outcome: bytes
    try:
        try:
            graph = graph_of(Database(folder, engine=engine, say=notes.append))
        finally:
            _send(out, pickle.dumps(notes))
        _bound_memory()
        found = graph.query(text, params, timeout_ms=timeout_ms, row_limit=limit)
        outcome = _packed(found)
    except LedgerError as fault:
        outcome = pickle.dumps(fault)
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except BaseException as fault:
        outcome = pickle.dumps(_told(fault))
    _send(out, outcome)
    os._exit(0)  # to take a graph down in order takes time, and nobody needs it


def _send(out: BinaryIO, data: bytes) -> None:
    out.write(data)
    out.flush()


def _leave_with_the_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def _bound_memory() -> None:
    """From here on the process may grow by MEMORY, and its death leaves no core file; where the system knows such."""
    try:
        import resource
    except ImportError:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        bounds = [bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min([_resident() + MEMORY, *bounds]), hard))


def _resident() -> int:
    """The memory the open ledger takes; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class _Capped(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() + len(data) > ANSWER:
            raise QueryRefused(
                f"the answer is larger than {ANSWER // 1024**2} MiB and was refused",
                "return fewer columns or fewer rows",
            )
        return super().write(data)


def _packed(found: Answer) -> bytes:
    packed = _Capped()
    rows = [tuple(row[name] for name in found.columns) for row in found.rows]
    pickle.Pickler(packed).dump((found.columns, rows, found.truncated))
    return packed.getvalue()


def _told(fault: BaseException) -> RuntimeError:
    """A bug, in a form that can be sent: with its traceback as a note."""
    import traceback

    told = RuntimeError(f"in the process of a query: {type(fault).__name__}: {fault}")
    told.add_note("".join(traceback.format_exception(fault)))
    return told


if __name__ == "__main__":
    main()
