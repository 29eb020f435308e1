"""What each judge costs for one answer, and which faults the judge without a model catches.

    python benchmarks/judges.py

One question, 4 chunks (540 tokens by characters / 4), an answer of 3 statements. The model is scripted and takes 50 ms
a call: it says yes to what stands in a passage word for word. Round trips are calls one after the other, from the time
a check took. Tokens are those of all prompts, by characters / 4.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from typing import Any

from groundguard import Chunk, Exchange, Guard
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.judges import (
    Cascade,
    Claims,
    Conversation,
    Entailment,
    FactCheck,
    Judge,
    Lexical,
    Majority,
    Window,
)
from groundguard.models import Model, Prompt, Reply

LATENCY = 0.05
STATEMENTS = ["Burst pipes are covered.", "Fire is covered.", "Claims are paid within 14 days."]
FILLER = "The household policy of the Aldona insurance is renewed every year in May. " * 6
CHUNKS = [f"{statement} {FILLER}" for statement in (*STATEMENTS, "Floods are not covered.")]
QUESTION, ANSWER = "What is covered?", " ".join(STATEMENTS)
LINE = re.compile(r'^\[(\d+)\] (".*")$', re.MULTILINE)


class Believer(Model):
    """Believes what stands in a passage word for word; remembers its prompts."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    @property
    def name(self) -> str:
        return "scripted"

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:  # noqa: ARG002  # it needs none
        async def ask() -> Reply:
            self.prompts.append(prompt)
            await asyncio.sleep(LATENCY)
            return Reply(self.said(prompt), "stop")

        return (yield Call(Callee(None, ask, "the model"), retry="default"))

    def said(self, prompt: Prompt) -> str:
        passages, _, rest = prompt.user.rpartition("</passages>")
        shown = [(int(number), json.loads(text)) for number, text in LINE.findall(passages)]
        doubting = "contradict" in rest.rpartition("\n")[2]
        if "<claims>" in rest:
            return json.dumps({"verdicts": [verdict(*each, shown, doubting) for each in numbered(rest, "claims")]})
        if "<statements>" in rest:
            found = [{"statement": number, "claim": text} for number, text in numbered(rest, "statements")]
            return json.dumps({"claims": found})
        if '"truths"' in prompt.system:
            return json.dumps({"truths": STATEMENTS})
        held = all(any(statement in text for _, text in shown) for statement in STATEMENTS)
        return "yes" if held and not doubting else "no"


def numbered(rest: str, name: str) -> list[tuple[int, str]]:
    block = rest.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
    return [(int(number), json.loads(text)) for number, text in LINE.findall(block)]


def verdict(number: int, claim: str, shown: list[tuple[int, str]], doubting: bool) -> dict[str, Any]:  # noqa: FBT001
    found = [] if doubting else [passage for passage, text in shown if claim in text]
    return {"id": number, "verdict": "yes" if found else "no", "passages": found}


def entails(pairs: list[tuple[str, str]]) -> list[float]:
    return [1.0 if hypothesis in premise else 0.0 for premise, hypothesis in pairs]


def bench(judge: Judge, model: Believer, answer: str = ANSWER) -> tuple[int, float, int, str]:
    guard = Guard(judge)

    async def check() -> tuple[float, str]:
        began = time.perf_counter()
        response = await guard.acheck(QUESTION, answer=answer, chunks=CHUNKS)
        return time.perf_counter() - began, response.status.value

    asyncio.run(check())
    model.prompts.clear()
    seconds, status = asyncio.run(check())
    tokens = sum(len(prompt.text) for prompt in model.prompts) // 4
    return len(model.prompts), seconds / LATENCY, tokens, status


def costs() -> None:
    print(f"{'judge':<44} calls  round trips  prompt tokens  status")
    wrong = "The moon is a balloon of the insurance."
    for title, build, answer in (
        ("FactCheck(model)", FactCheck, ANSWER),
        ("FactCheck(model, window=Window(1000))", lambda m: FactCheck(m, window=Window(1000)), ANSWER),
        ("Claims(model)", Claims, ANSWER),
        ("Claims(model, extract='model')", lambda m: Claims(m, extract="model"), ANSWER),
        ("Claims(model, window=Window(1500))", lambda m: Claims(m, window=Window(1500)), ANSWER),
        ("Conversation(model)", Conversation, ANSWER),
        ("Majority(FactCheck(model))", lambda m: Majority(FactCheck(m)), ANSWER),
        ("Cascade(Lexical(), then=FactCheck(model))", lambda m: Cascade(Lexical(), then=FactCheck(m)), ANSWER),
        ("  the same, an answer that Lexical rejects", lambda m: Cascade(Lexical(), then=FactCheck(m)), wrong),
        ("Entailment(scorer)", lambda _: Entailment(entails), ANSWER),
        ("Lexical()", lambda _: Lexical(), ANSWER),
    ):
        model = Believer()
        calls, trips, tokens, status = bench(build(model), model, answer)
        print(f"{title:<44} {calls:5}  {round(trips):11}  {tokens:13}  {status}")


SOURCE = (
    "The Aldona desk lamp was designed by Ada Riva in 1974. It runs on 12 volts and weighs 3.5 kg. The warranty lasts"
    " two years and does not cover broken glass. Returns are accepted within 30 days, except for lamps made to order."
    " The lamp must not be used outdoors. In 2019 Nordlys bought the Aldona works from Harald Brandt."
)
FAULTS: dict[str, list[str]] = {
    "number": ["It runs on 24 volts.", "The lamp was designed in 1984.", "Returns are accepted within 60 days."],
    "unit": ["It weighs 3.5 pounds.", "The warranty lasts two months.", "It runs on 12 watts."],
    "name": ["The lamp was designed by Eva Lind.", "In 2019 Westby bought the Aldona works."],
    "swap": ["In 2019 Harald Brandt bought the Aldona works from Nordlys."],
    "negation": [
        "The warranty covers broken glass.",
        "The lamp may be used outdoors.",
        "The lamp must be used outdoors.",
    ],
    "invented sentence": ["It runs on 12 volts. It won a design prize in Milan.", "Spare parts are free of charge."],
    "invented clause": ["It runs on 12 volts and comes with a spare bulb.", "It weighs 3.5 kg and is made of brass."],
    "condition left out": ["Returns are accepted within 30 days for every lamp.", "All lamps can be returned."],
    "inference": ["The lamp is the heaviest of its kind.", "Ada Riva owned the Aldona works."],
}
RIGHT: dict[str, list[str]] = {
    "quote": ["It runs on 12 volts and weighs 3.5 kg.", "The lamp must not be used outdoors."],
    "extract": ["The Aldona desk lamp was designed in 1974.", "The warranty lasts two years."],
    "light paraphrase": ["Ada Riva designed the Aldona desk lamp.", "The lamp weighs 3.5 kg."],
    "free paraphrase": ["You have a month to send it back.", "Keep it indoors.", "Cracked glass is not included."],
}


def catches() -> None:
    judge = Lexical()
    print(f"\n{'Lexical(), by kind of answer':<30} rejected")
    for title, groups in (("wrong", FAULTS), ("right", RIGHT)):
        for kind, answers in groups.items():
            exchanges = [Exchange("Tell me about the lamp.", (Chunk(SOURCE),), answer) for answer in answers]
            rejected = sum(judge(exchange).decision != "supported" for exchange in exchanges)
            print(f"{title}: {kind:<23} {rejected} of {len(answers)}")


if __name__ == "__main__":
    costs()
    catches()
