"""A LlamaIndex query engine and a chat engine that exist already, each guarded by one line. Runs offline."""

from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from groundguard import Guard, Response
from groundguard.judges import Lexical


class Shelf(BaseRetriever):
    """Your index."""

    def _retrieve(self, query_bundle):
        node = TextNode(text="The lamp runs on 12 volts.", metadata={"file": "lamp.md"})
        return [NodeWithScore(node=node, score=0.8)] if "lamp" in query_bundle.query_str else []


class Writer(CustomLLM):
    """Your model."""

    @property
    def metadata(self):
        """The size of its window."""
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **kwargs):  # noqa: FBT002  # LlamaIndex's signature
        """Answer at once."""
        return CompletionResponse(text="".join(words(prompt)))

    def stream_complete(self, prompt, formatted=False, **kwargs):  # noqa: FBT002  # LlamaIndex's signature
        """Answer in pieces."""
        return (CompletionResponse(text=piece, delta=piece) for piece in words(prompt))


def words(prompt):
    return ["The lamp runs ", "on 240 volts." if "Mars" in prompt else "on 12 volts."]


guard = Guard(Lexical())
engine = guard.wrap(RetrieverQueryEngine.from_args(Shelf(), llm=Writer(), streaming=True))  # the one line

for question in ("Which voltage does the lamp need?", "And your lamp on Mars?", "How long is the cable?"):
    response = engine.query(question)
    print(f"{response.status}  {response.reason}  {response.answer}")

print([item.status if isinstance(item, Response) else item for item in engine.stream("Is it a lamp?")])

memory = ChatMemoryBuffer.from_defaults(token_limit=2000)
chat = guard.wrap(ContextChatEngine.from_defaults(Shelf(), llm=Writer(), memory=memory))  # and here
response = chat.chat("Tell me of the lamp.")
print(response.status, "-", response.output.response, "-", len(chat.chat_history), "messages")
