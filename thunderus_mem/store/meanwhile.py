"""One piece of work in a thread while its asker does something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")


def meanwhile(work: Callable[[], Answer]) -> Callable[[], Answer]:
    """Start to work; the function given back waits for the answer, and raises what the work did."""
    from threading import Thread

    answers: list[Answer] = []
    troubles: list[Exception] = []

    def run() -> None:
        try:
            answers.append(work())
        except Exception as error:  # noqa: BLE001 - raised again where the answer is wanted
            troubles.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()

    def answer() -> Answer:
        thread.join()
        if troubles:
            raise troubles[0]
        return answers[0]

    return answer
