"""An MCP server over stdio: the toolbox behind the protocol of the official SDK.

The only importer of `mcp`, which the extra of that name installs. stdout carries the protocol and nothing else: while
it serves, the SDK turns file descriptor 1 to stderr. Calls run in threads, a few at a time, so that the event loop
goes on reading; one that was cancelled runs to its end, for what it writes is on record.
"""

from __future__ import annotations

import gc
from typing import Any

from ledger_cli import __version__
from ledger_cli.errors import LedgerError
from ledger_cli.memory import arguments
from ledger_cli.memory.toolbox import Toolbox
from ledger_cli.memory.tools import Tool

AT_A_TIME = 4
"""Calls that run at a time; others wait."""
META = "ledger/"
"""Beside its arguments a call may bring `_meta`: `ledger/ask`, the message that led to it, and `ledger/seq`, a number
that makes a call that is sent again known as such."""

INSTRUCTIONS = (
    "The ledger keeps decisions and facts with two times: when they held, and when they were learned. Nothing is ever "
    "deleted. Ask `recall` first; `as_of` tells what was true on a day, `believed` what the ledger said of it then."
)


class NoMcp(LedgerError):
    """The MCP SDK is not installed."""


def serve(toolbox: Toolbox) -> None:
    """Serve on stdin and stdout until stdin ends. Raises NoMcp."""
    try:
        import anyio
        import mcp.server.lowlevel
        import mcp.server.stdio
    except ImportError as fault:
        raise NoMcp(f"the MCP SDK cannot be imported: {fault}", "pip install 'ledger-cli[mcp]'") from None
    gc.enable()  # off for a short life, as `app` says; a server's is long
    server = _server(toolbox)

    async def run() -> None:
        async with mcp.server.stdio.stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def _server(toolbox: Toolbox) -> Any:
    import anyio
    import anyio.to_thread
    import mcp.server.lowlevel
    import mcp.types as types

    limiter = anyio.CapacityLimiter(AT_A_TIME)

    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(types, tool) for tool in toolbox.tools.values()])

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        meta: Any = params.meta or {}
        ask, seq = meta.get(f"{META}ask", ""), meta.get(f"{META}seq")
        ask = ask if isinstance(ask, str) else ""
        reply = await anyio.to_thread.run_sync(
            lambda: toolbox.call(params.name, params.arguments or {}, ask=ask, seq=seq), limiter=limiter
        )
        content: list[Any] = [types.TextContent(type="text", text=text) for text in reply.texts]
        return types.CallToolResult(content=content, is_error=reply.is_error)

    return mcp.server.lowlevel.Server(
        "ledger", version=__version__, instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )


def _described(types: Any, tool: Tool) -> Any:
    hints = types.ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=False,  # nothing is ever deleted
        idempotent_hint=True,  # the same session, verdict or ending again changes nothing
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, description=tool.what, input_schema=arguments.schema(tool.arguments), annotations=hints
    )
