"""A model as the judge, behind your own `openai` client. Needs OPENAI_API_KEY, or OPENAI_BASE_URL of a local server."""

import os
import sys

from openai import OpenAI

from groundguard import Guard
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel

name = sys.argv[1] if len(sys.argv) > 1 else "gpt-4o-mini"
client = OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none"), timeout=10)
guard = Guard(FactCheck(OpenAIModel(client, name)), timeout=20)

response = guard.check(
    "What does the policy cover?",
    answer="It covers burst pipes.",
    chunks=["The household policy covers burst pipes and fire, and nothing else."],
)
print(response.status, response.reason, response.verdict.usage if response.verdict else None)
