"""A conversation: each turn is judged on the chunks that its evidence rule allows. Runs offline."""

from groundguard import Guard
from groundguard.conversation import LastTurns, ThisTurn, turn_faithfulness
from groundguard.judges import Lexical

LAMP = "The lamp runs on 12 volts. The cord of the lamp is 240 cm long."


def retrieve(question: str) -> list[str]:
    return [LAMP] if "lamp" in question else []


def generate(question: str, chunks: tuple[object, ...], *, history: tuple[object, ...] = ()) -> str:
    if "thank" in question.lower():
        return "Any time!"
    return "The cord of the lamp is 240 cm long." if history else "The lamp runs on 12 volts."


guard = Guard(Lexical(), retriever=retrieve, generator=generate)

for evidence in (ThisTurn(), LastTurns(2)):
    session = guard.session(evidence=evidence)
    for question in ("What voltage does the lamp need?", "And how long is its cord?"):
        response = session.ask(question)
        print(f"{evidence}  {response.status:10}  {response.answer}")
    print(f"{evidence}  headline {session.summary().headline}")

log = [
    {"role": "user", "content": "What voltage does the lamp need?"},
    {"role": "assistant", "content": "The lamp runs on 24 volts.", "retrieval_context": [LAMP]},
    {"role": "user", "content": "Are you sure?"},
    {"role": "assistant", "content": "Sorry, the lamp runs on 12 volts.", "retrieval_context": [LAMP]},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "Any time!"},
]
result = turn_faithfulness(log, Lexical(), evidence=ThisTurn())
print(f"headline {result.headline:.2f}, mean {result.mean}, {result.scored} of {len(result.turns)} turns scored")
print("lowest:", result.lowest and log[result.lowest.index]["content"])
