"""The decorator over the function that answers questions today, sync or async."""

import asyncio

from groundguard import Guard, record_chunks
from groundguard.errors import UngroundedError
from groundguard.judges import Lexical
from groundguard.policy import Raise

guard = Guard(Lexical())


@guard
def ask(question: str) -> tuple[str, list[str]]:
    """Return the answer and the chunks it was made from."""
    return "The warranty lasts two years.", ["The warranty covers every lamp and lasts two years."]


@guard.with_options(policy=Raise())
async def ask_strictly(question: str) -> str:
    """Or report the chunks where they are retrieved."""
    record_chunks(["The warranty covers every lamp and lasts two years."])
    return "The warranty lasts ten years."


print(ask("How long is the warranty?").status)
try:
    asyncio.run(ask_strictly("How long is the warranty?"))
except UngroundedError as error:
    print(error, "->", error.response.answer)
