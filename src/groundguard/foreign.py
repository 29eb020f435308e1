"""Looking into what others built, by its attributes and without an import: questions, answers, messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from groundguard.errors import UsageError
from groundguard.fields import exact, is_list, is_mapping, is_sequence
from groundguard.records import Turn

Selector: TypeAlias = str | Callable[[Any], Any]
"""A key (or attribute) of the chain's input or output, or a function that takes it apart."""

QUESTION_KEYS = ("question", "query", "input")
CHUNK_KEYS = ("context", "source_documents", "source_nodes", "documents", "contexts", "chunks")
ANSWER_KEYS = ("answer", "result", "output_text", "response", "output", "text", "content")

HISTORY_KEYS = ("chat_history", "history")
INTERRUPT = "__interrupt__"
"""Where a LangGraph graph that has stopped to ask a person says so."""

MOST_TURNS = 10
"""How many earlier messages of a chain's input a judge is shown, the last ones."""

MOST_CHARACTERS = 8_000
"""How long they are together: a judge's window is for the evidence."""


def state_of(output: object) -> object:
    """The state that a LangGraph graph returned, without the container into which `version="v2"` puts it."""
    if type(output).__module__ != "langgraph.types" or not has(output, "interrupts"):
        return output
    value, interrupts = get(output, "value"), get(output, "interrupts")
    return {**(value if is_mapping(value) else {}), INTERRUPT: interrupts} if interrupts else value


def is_paused(output: object) -> bool:
    """Whether it is the state of a graph that waits for a person: what it holds may be of an earlier question."""
    return is_mapping(output) and bool(get(output, INTERRUPT))


def is_pair(output: object) -> TypeGuard[tuple[Any, Any]]:
    """Whether a function returned `(answer, chunks)`."""
    return type(output) is tuple and len(output) == 2  # noqa: PLR2004  # pyright: ignore[reportUnknownArgumentType]


def find_answer(output: object, selector: Selector | None = None) -> str:
    """The answer's text in what a function or chain returned; empty, if it is a graph that waits for a person.

    Raises:
        UsageError: if there is none to be found.
    """
    output = state_of(output)
    if is_paused(output):
        return ""
    if selector is not None:
        said: object = select(output, selector, "answer", "output")
    else:
        said = output[0] if is_pair(output) else output
    text = answer_text(said)
    if text is None:
        raise UsageError(
            f"no answer found in a {type(said).__name__}: return text, a message or a mapping with one of"
            f" {', '.join(ANSWER_KEYS)}, or name it with answer='KEY' or answer=FUNCTION"
        )
    return text


def answer_text(said: object) -> str | None:
    """The text of an answer: its own, a message's, that under the first of the usual keys, or an agent's last message.

    None if it has none.
    """
    if isinstance(said, str):
        return exact(said)
    text = None if is_mapping(said) and not has(said, "role") and not has(said, "type") else message_text(said)
    if text is not None:
        return text
    value = next((get(said, key) for key in ANSWER_KEYS if has(said, key)), None)
    value = _last_said(said) if value is None else value
    return exact(value) if isinstance(value, str) else None if value is None else message_text(value)


def _last_said(said: object) -> object:
    """The message that an agent ends with, in a state that holds its messages."""
    messages = get(said, "messages") if is_mapping(said) else None
    last = messages[-1] if is_sequence(messages) and messages else None
    return last if role_of(last) in {"ai", "assistant", "AIMessageChunk"} else None


def find_question(given: object, selector: Selector | None = None) -> str:
    """The question in the input of a chain.

    Raises:
        UsageError: if there is none, or more than one, to be found.
    """
    if selector is not None:
        given = select(given, selector, "question", "input")
    elif is_mapping(given):
        given = _question_of(given)
    elif is_sequence(given):
        given = _last_human(given)
    text = given if isinstance(given, str) else message_text(given)
    if text is None:
        raise UsageError(
            f"no question found in a {type(given).__name__}: pass a string, a mapping with exactly one of"
            f" {', '.join(QUESTION_KEYS)}, or messages; or name it with question='KEY' or question=FUNCTION"
        )
    return text


def _question_of(given: Mapping[Any, Any]) -> object:
    keys = [key for key in QUESTION_KEYS if has(given, key)]
    if len(keys) > 1:
        raise UsageError(f"the input has {' and '.join(keys)}: name the question with question='KEY'")
    if keys:
        value = get(given, keys[0])
        return _last_human(value) if is_sequence(value) else value
    return _last_human(get(given, "messages"))


def _last_human(messages: object) -> object:
    turns = reversed(messages) if is_sequence(messages) else ()
    return next((message for message in turns if role_of(message) in {"human", "user"}), None)


def find_history(given: object) -> tuple[Turn, ...]:
    """What person and assistant said before, in the input of a chain: the last of it, as far as it can be read.

    It stands under `chat_history` or `history`, or is the messages before the question.
    """
    try:
        named = next((get(given, key) for key in HISTORY_KEYS if has(given, key)), None) if is_mapping(given) else None
        return tuple(_last_turns(named if is_sequence(named) else _before_question(given)))
    except Exception:  # noqa: BLE001  # messages that fail to be read say nothing
        return ()


_SPEAKERS = {"human", "user", "HumanMessageChunk", "ai", "assistant", "AIMessageChunk"}


def _last_turns(messages: Sequence[object]) -> list[Turn]:
    turns: list[Turn] = []
    room = MOST_CHARACTERS
    for message in reversed(messages):
        role, text = role_of(message), message_text(message)
        if role not in _SPEAKERS or not text:
            continue
        room -= len(text)
        if len(turns) == MOST_TURNS or room < 0:
            break
        turns.append(Turn(role, text))
    return turns[::-1]


def _before_question(given: object) -> list[object]:
    held = (get(given, key) for key in ("messages", *QUESTION_KEYS)) if is_mapping(given) else (given,)
    messages = list(next((value for value in held if is_sequence(value)), ()))
    asked = _last_human(messages)
    places = [place for place, message in enumerate(messages) if message is asked]
    return messages[: places[-1]] if places else []


def role_of(message: object) -> str | None:
    """Who speaks in a message: of LangChain, as a mapping, or as a pair; None if it doesn't say."""
    if is_pair(message):
        role: object = message[0]
    else:
        role = get(message, "role") if has(message, "role") else get(message, "type")
    return role if isinstance(role, str) else None


def message_text(message: object) -> str | None:
    """The text of a message: its content if that is text, else its text blocks joined; None if it has none."""
    if is_pair(message):
        content: object = message[1]
    else:
        content = get(message, "content") if has(message, "content") else None
    if isinstance(content, str):
        return exact(content)
    return "".join(map(_block_text, content)) if is_list(content) else None


def _block_text(block: object) -> str:
    text = block if isinstance(block, str) else get(block, "text")
    return text if isinstance(text, str) else ""


def as_turns(history: object) -> tuple[Turn, ...]:
    """Earlier messages: `Turn`s, pairs `(role, content)`, mappings or LangChain messages."""
    if isinstance(history, str) or is_mapping(history) or not is_iterable(history):
        raise UsageError(f"the history is a list of earlier messages, not a {type(history).__name__}")
    return tuple(map(_turn, history))


def _turn(message: object) -> Turn:
    if isinstance(message, Turn):
        return message
    role, text = role_of(message), message_text(message)
    if role is None or text is None:
        raise UsageError(f"a turn of the history has a role and a content; got a {type(message).__name__}")
    return Turn(role, text)


def has(thing: object, key: str) -> bool:
    """Whether a mapping has a key, or an object an attribute."""
    return _look(thing, key) is not _ABSENT


def get(thing: object, key: str) -> Any:
    """The value of a key or attribute; None if it isn't there."""
    value = _look(thing, key)
    return None if value is _ABSENT else value


_ABSENT = object()


def _look(thing: object, key: str) -> Any:
    try:
        if is_mapping(thing):
            return thing.get(key, _ABSENT)
        return _ABSENT if isinstance(thing, str) else getattr(thing, key, _ABSENT)
    except Exception:  # noqa: BLE001  # a property that fails holds nothing for us
        return _ABSENT


def select(thing: object, selector: Selector, what: str, where: str) -> Any:
    """Apply a selector: a function to the whole, a key to the answer of a pair; `UsageError` if it isn't there."""
    if not isinstance(selector, str):
        return selector(thing)
    thing = thing[0] if is_pair(thing) else thing
    if not has(thing, selector):
        known = [key for key in (*QUESTION_KEYS, *ANSWER_KEYS, *CHUNK_KEYS) if has(thing, key)]
        keys = f"; it has {', '.join(dict.fromkeys(known))}" if known else ""
        raise UsageError(f"the {where}, a {type(thing).__name__}, has no {selector!r} to take the {what} from{keys}")
    return get(thing, selector)


def is_iterable(thing: object) -> TypeGuard[Iterable[object]]:
    """Whether it can be iterated over."""
    return isinstance(thing, Iterable)
