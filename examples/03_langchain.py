"""A LangChain chain that exists already, guarded by one line. Runs offline, with fake models."""

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableParallel, RunnablePassthrough

from groundguard import Guard
from groundguard.judges import FactCheck


class Shelf(BaseRetriever):
    """Your vector store."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("The lamp runs on 12 volts.")] if "lamp" in query else []


prompt = ChatPromptTemplate.from_template("Answer from these passages: {context}\n\n{question}")
writer = FakeListChatModel(responses=["It runs on 12 volts.", "It runs on 240 volts.", "It is 3 metres long."])
judge = FakeListChatModel(responses=["yes", "no"])  # any chat model of yours

chain = RunnableParallel(context=Shelf(), question=RunnablePassthrough()).assign(
    answer=prompt | writer | StrOutputParser()
)

guarded = Guard(FactCheck(judge)).wrap(chain)  # the one line

for question in ("Which voltage does the lamp need?", "And your lamp in the US?", "How long is the cable?"):
    response = guarded.invoke(question)
    print(f"{response.status}  {response.reason}  {response.answer}")

pipeline = guarded | (lambda response: response.output["answer"])  # what came after the chain stays as it is
print(pipeline.invoke("Which voltage does the lamp need?"))

*pieces, response = guarded.stream("Which voltage does the lamp need?")  # the chain's own pieces, and the label last
print("".join(piece.get("answer", "") for piece in pieces), "|", response.status)

labelled = guarded.assign(status=lambda given: given["response"].status)  # the label beside the chain's own keys
result = labelled.invoke("How long is the cable?")
print(result["status"], "|", result["answer"])
