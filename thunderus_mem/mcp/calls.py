"""One call of a client: the caller, the memory opened for it, and the result.

The memory is opened for each call, because other programs change its files. An event of a call names client,
session and model; its actor is always an agent. Every exception becomes a text with the next step.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.unicode import escaped
from thunderus_mem.errors import OutOfMemory, ThunderusError, explain, is_out_of_memory
from thunderus_mem.log.actor import ACTOR
from thunderus_mem.search.frame import line, quoted
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.memory.memory import Memory

_MOST_NAME: Final = 80
_SESSIONS: Final = ("thunderus-mem/session", "threadId", "ai.opencode/sessionID")
_MODEL: Final = "thunderus-mem/model"
_TURN: Final = "x-codex-turn-metadata"
_VARIABLES: Final = ("THUNDERUS_MEM_CLIENT_SESSION", "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")


class Caller(NamedTuple):
    """The client, session and model of a call, "" if unknown. They come from the client and prove nothing."""

    client: str = ""
    session: str = ""
    model: str = ""


def _first(values: list[Any]) -> str:
    """Return the first value that is a text, on one line and short."""
    texts = (escaped(value.strip())[:_MOST_NAME] for value in values if isinstance(value, str))
    return next(filter(None, texts), "")


def environment_of(caller: Caller, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a call: that of the server, with the caller in it, as an agent."""
    names = ("THUNDERUS_MEM_CLIENT", "THUNDERUS_MEM_CLIENT_SESSION", "THUNDERUS_MEM_MODEL")
    named = {name: value for name, value in zip(names, caller, strict=True) if value}
    return {**environ, **named, ACTOR: "agent"}


class Reply(NamedTuple):
    """The text for the client, whether the call failed, and notes on a call that did not."""

    text: str
    failed: bool = False
    notes: tuple[str, ...] = ()


class Calls:
    """Runs calls on the memory that ``open`` opens for an environment.

    ``report`` writes a report of a bug and returns its path, "" if it could not be written.
    """

    def __init__(
        self,
        open: Callable[[Mapping[str, str]], Memory],
        environ: Mapping[str, str],
        report: Callable[[Exception], str],
        session: str = "",
    ) -> None:
        self._open = open
        self._report = report
        self.environ = environ
        self.session = session
        """The session of callers that name none."""

    def caller(self, client: str, meta: Mapping[str, Any]) -> Caller:
        """Return the caller by the name of the client and the ``_meta`` of its request.

        What the request says comes before the environment, which is inherited.
        """
        turn = meta.get(_TURN)
        inner = turn if isinstance(turn, dict) else {}
        sessions = [*map(meta.get, _SESSIONS), inner.get("session_id")]
        sessions += [*map(self.environ.get, _VARIABLES), self.session]
        models = [meta.get(_MODEL), inner.get("model"), self.environ.get("THUNDERUS_MEM_MODEL")]
        return Caller(_first([client]), _first(sessions), _first(models))

    def run(self, caller: Caller, action: Callable[[Memory], str]) -> Reply:
        """Run an action on the memory; an exception becomes a failed reply."""
        notices: list[str] = []
        try:
            with closing(self._open(environment_of(caller, self.environ))) as memory:
                memory.say = notices.append
                text = action(memory)
        except ThunderusError as error:
            return failure(error)
        except OSError as error:
            return failure(explain(error, error.filename if isinstance(error.filename, str) else "a file"))
        except Exception as error:  # noqa: BLE001 - a client gets no traceback
            return failure(OutOfMemory()) if is_out_of_memory(error) else self._bug(error)
        return Reply(text, notes=tuple(f"note: {line(notice)}" for notice in notices))

    def _bug(self, error: Exception) -> Reply:
        path = self._report(error)
        where = f"attach {path} to a bug report" if path else "the crash report could not be written"
        return Reply(f"error: internal error ({type(error).__name__}); this is a bug\nfix: {where}", True)


def failure(error: ThunderusError) -> Reply:
    """Return the reply for an error: the message, the findings that caused it, and how to fix it."""
    lines = [f"error: {line(str(error))}"]
    if len(error.diagnostics) > 1:
        lines += [
            quoted(line(f"{one.message}; {one.hint or one.expected}")) for one in error.diagnostics[:10]
        ]
    if error.hint:
        lines.append(f"fix: {line(error.hint).replace('--id', 'the argument `id`')}")
    return Reply("\n".join(lines), failed=True)
