"""A real browser, headless, driven over a pipe in its own protocol: no driver and no library beside it.

It remembers every address that a page asked for, every error of a script, and every refusal of its policy.
"""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0
"""Seconds that a step may take at the most."""


def program() -> str:
    """Where the browser is. Raises FileNotFoundError."""
    for name in NAMES:
        if (found := shutil.which(name)) is not None:
            return found
    raise FileNotFoundError("the tests of pages need Chromium: `apt-get install chromium`")


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not among the numbers that the browser uses."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


class Browser:
    """One browser with one page. To be closed."""

    def __init__(self, folder: Path) -> None:
        (out_read, out_write), (in_read, in_write) = _pipe(), _pipe()
        command = [
            program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--no-first-run", "--disable-sync",
            "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(  # it reads from 3 and writes to 4
            ["bash", "-c", f'exec "$@" 3<&{in_read} 4>&{out_write}', "bash", *command],
            pass_fds=(in_read, out_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(in_read)
        os.close(out_write)
        self._in, self._out = in_write, out_read
        self._left = b""
        self._numbers = itertools.count(1)
        self.asked: list[str] = []  # addresses
        self.faults: list[str] = []  # errors of scripts, refusals of the policy
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        os.close(self._in)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._out)

    # The protocol

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method and return its result. What comes in between is remembered."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._in, data) :]
        while True:
            found = self._next()
            if found.get("id") == number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._out], [], [], max(0, end - time.monotonic()))
            data = os.read(self._out, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser says nothing any more")
            self._left += data
        one, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(one)
        self._take(found.get("method", ""), found.get("params", {}))
        return found

    def _take(self, method: str, told: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.asked.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.faults.append(json.dumps(told["exceptionDetails"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.faults.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.faults.append(json.dumps(told["args"]))

    # What a reader does

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        for step in ("about:blank", address):  # from elsewhere: another fragment alone would load nothing
            self.call("Page.navigate", url=step)
            self.wait(f"location.href === {json.dumps(step)} && document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(f"{script[:200]}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """The value of an expression, as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if value := self.run(script):
                    return value
            except RuntimeError:  # the page was just left
                pass
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)

    def press(self, key: str, code: int = 0, text: str | None = None) -> None:
        """Press a key: a name such as `ArrowRight` with its code, or a character."""
        said = key if text is None and len(key) == 1 else text
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", **down, **({"text": said} if said else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def size(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str, media: str = "") -> None:
        """`light` or `dark`; and `print` as the medium, or the screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))
