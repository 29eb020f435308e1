"""When the pieces of an answer leave, and which policies each way leaves in force.

| mode  | what leaves before the status                        | policies                        |
|-------|------------------------------------------------------|---------------------------------|
| after | every piece, as it comes                             | `Return` alone                  |
| hold  | nothing                                              | all                             |
| gate  | statements that are supported as additions (`gate`)  | all but those that make new text |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, TypeAlias, get_args

from groundguard.errors import UsageError, told
from groundguard.flow.steps import Emit, Flow
from groundguard.records import Response, Status
from groundguard.streaming.pieces import Collected, unchanged

Mode: TypeAlias = Literal["after", "hold", "gate"]
"""When the pieces of an answer leave."""


def as_mode(streaming: Any, *, returns: bool, revises: bool) -> Mode:
    """Check what a guard was given as its way of streaming.

    Args:
        streaming: A mode; None is `after` where the policy only returns, else `hold`.
        returns: Whether the policy is `Return()`, so that nothing can be done about what has left.
        revises: Whether the policy may put another text in the place of the answer and have that judged.

    Raises:
        UsageError: if it is no mode, or one in which the policy would come too late.
    """
    if streaming is None:
        return "after" if returns else "hold"
    if not (isinstance(streaming, str) and streaming in get_args(Mode)):
        got = repr(streaming) if isinstance(streaming, str) else told(streaming)
        raise UsageError(f"streaming is 'after', 'hold' or 'gate', or None for what suits the policy; got {got}")
    if streaming == "after" and not returns:
        raise UsageError(
            "streaming='after' hands on every piece before the status is known, so no policy but Return() could act on"
            " it: use streaming='hold', or leave it out"
        )
    if streaming == "gate" and revises:
        raise UsageError(
            "streaming='gate' hands on statements one by one, so a policy that makes a new text of the answer, as"
            " Regenerate and Prune do, would come too late: use streaming='hold', or leave it out"
        )
    return streaming  # type: ignore[return-value]  # one of the three


class Outlet(ABC):
    """Decides what of one streamed answer leaves, and when."""

    def taken(self, collected: Collected) -> Flow[None]:  # noqa: ARG002  # for outlets that do something
        """A piece has come."""
        yield from ()

    def ended(self, collected: Collected) -> Flow[None]:  # noqa: ARG002  # for outlets that do something
        """No more will come."""
        yield from ()

    @abstractmethod
    def settled(self, collected: Collected, response: Response[Any]) -> Flow[None]:
        """The status is known, and the policy has settled what is delivered."""


class After(Outlet):
    """Every piece leaves as it comes."""

    def taken(self, collected: Collected) -> Flow[None]:
        """Hand it on."""
        yield Emit(collected.pieces[-1])

    def settled(self, collected: Collected, response: Response[Any]) -> Flow[None]:  # noqa: ARG002  # nothing is left
        """Everything has left."""
        yield from ()


class Hold(Outlet):
    """Nothing leaves before the status is known; then what the policy delivers does.

    Args:
        returns: Whether the policy is `Return()`, so that the pieces leave whatever the status.
    """

    def __init__(self, *, returns: bool = False) -> None:
        self._returns = returns

    def settled(self, collected: Collected, response: Response[Any]) -> Flow[None]:
        """Hand on what was held, or what the policy put in its place, be it word for word the same.

        A piece that has changed since it was judged stays behind, as does a string of which a selector took only a
        part; its text is handed on as it was judged.
        """
        own = self._returns or response.status is Status.ANSWERED
        if own and response.answer == collected.text:
            for piece, text in zip(collected.pieces, collected.texts, strict=True):
                if unchanged(piece, text, collected.capture):
                    yield Emit(piece)
                elif text or piece == "":
                    yield Emit(text)
        elif response.answer:
            yield Emit(response.answer)
