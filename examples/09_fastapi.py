"""One guard for the whole process, and three endpoints: plain, async, and server-sent events that end with the status.

pip install fastapi uvicorn
python examples/09_fastapi.py
curl 'http://127.0.0.1:8000/ask?question=Which+voltage+does+the+lamp+need?'
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from groundguard import Guard, Reason, Response, Status, record_chunks
from groundguard.judges import Lexical

SHELF = ("The lamp runs on a voltage of 12 volts.", "The cable is 2 metres long.")

app = FastAPI()
guard = Guard(Lexical())  # safe to share between threads, tasks and requests


class Answer(BaseModel):
    """What leaves the house: neither the chunks nor what the judge said."""

    answer: str
    status: Status
    reason: Reason


def search(question: str) -> list[str]:
    """Your retriever."""
    words = set(re.findall(r"\w{4,}", question.lower()))
    return [text for text in SHELF if words & set(re.findall(r"\w+", text.lower()))]


def write(question: str, chunks: list[str]) -> str:
    """Your generator. It makes things up when the question is about Mars."""
    if not chunks:
        return "I don't know."
    return chunks[0].replace("12", "240") if "Mars" in question else chunks[0]


@app.get("/ask", response_model=Answer)
@guard
def ask(question: str) -> tuple[str, list[str]]:
    chunks = search(question)
    return write(question, chunks), chunks


@app.get("/aask", response_model=Answer)
@guard
async def aask(question: str) -> str:
    await asyncio.sleep(0)  # your async retriever
    return write(question, list(map(str, record_chunks(search(question)))))


@guard
async def pieces(question: str) -> AsyncIterator[str]:
    chunks = search(question)
    record_chunks(chunks)
    for piece in re.findall(r"\S+\s*", write(question, chunks)):
        await asyncio.sleep(0.02)  # your model takes its time
        yield piece


@app.get("/events")
async def events(question: str) -> StreamingResponse:
    return StreamingResponse(sent(question), media_type="text/event-stream")


async def sent(question: str) -> AsyncIterator[str]:
    """Every piece as it comes, and the status as the last event, always."""
    async with aclosing(pieces(question)) as items:
        async for item in items:
            if isinstance(item, Response):
                yield event("status", Answer.model_validate(item, from_attributes=True).model_dump(mode="json"))
            else:
                yield event("piece", item)


def event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app)
