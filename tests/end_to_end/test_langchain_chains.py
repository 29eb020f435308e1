"""The chains that people have, under the guard: what was judged is what the prompt held, in every call style."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore

from groundguard import Guard, Status, record_chunks
from groundguard.errors import forget_warnings
from groundguard.records import ChunksFrom, Reason
from groundguard.testing import ScriptedJudge
from support.chains import (
    ANSWER,
    LAMP,
    PROMPT,
    QUESTION,
    SEPARATOR,
    STYLES,
    Retriever,
    Writer,
    digest,
    joined,
    prompted,
    texts,
)

chains = pytest.importorskip("langchain_classic.chains", reason="langchain-classic is in the dev extra only")
retrievers = pytest.importorskip("langchain_classic.retrievers")
combine = pytest.importorskip("langchain_classic.chains.combine_documents")

pytestmark = pytest.mark.parametrize("style", STYLES)
quiet = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

SHELF = [LAMP, "The kettle runs on 230 volts.", "The lamp has a cord of 2 metres.", LAMP]


@pytest.fixture(autouse=True)
def _warnings_are_told_again():
    forget_warnings()


def shelf(k=3):
    """A vector store in memory."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts(SHELF)
    return store.as_retriever(search_kwargs={"k": k})


class Words(BaseRetriever):
    """Ranks by words in common."""

    texts: list[str] = SHELF
    k: int = 2

    def _get_relevant_documents(self, query, *, run_manager):
        said = set(query.lower().split())
        return [
            Document(text) for text in sorted(self.texts, key=lambda t: -len(said & set(t.lower().split())))[: self.k]
        ]


def stuffed(writer):
    """The documentation's chain from documents to an answer."""
    prompt = ChatPromptTemplate.from_messages(
        [("system", "<<{context}>>"), MessagesPlaceholder("chat_history", optional=True), ("human", "{input}")]
    )
    return combine.create_stuff_documents_chain(writer, prompt, document_separator=SEPARATOR)


def silent(found, writer):
    """Parallel branches; only the answer comes out."""
    return {"context": found | joined, "question": RunnablePassthrough()} | PROMPT | writer | StrOutputParser()


def asked(style, chain, given=QUESTION, supported=True, **selectors):
    """The response, after what holds for every chain and style."""
    judge = ScriptedJudge(supported)
    response = STYLES[style](Guard(judge).wrap(chain, **selectors), given)
    assert response.question == QUESTION
    if response.chunks:
        assert len(judge.exchanges) == 1
        assert judge.exchanges[0].chunks == response.chunks
        assert response.status is (Status.ANSWERED if supported else Status.UNGROUNDED)
    else:
        assert response.status is Status.NO_CONTEXT
        assert judge.exchanges == []
    assert response.answer == ANSWER
    return response


def assert_exact(response, writer):
    held = prompted(writer.prompts[-1])
    assert response.chunks_exact
    assert texts(response) == held
    assert response.evidence_digest == digest(held)


# Chains that name what they retrieved.


@pytest.mark.parametrize("found", [shelf(), Words(), Retriever(texts=SHELF)], ids=["vectors", "words", "all"])
@pytest.mark.parametrize("supported", [True, False])
def test_a_retrieval_chain(style, found, supported):
    writer = Writer()
    response = asked(style, chains.create_retrieval_chain(found, stuffed(writer)), {"input": QUESTION}, supported)
    assert_exact(response, writer)


def test_a_retrieval_chain_that_finds_nothing(style):
    chain = chains.create_retrieval_chain(Retriever(texts=[]), stuffed(Writer()))
    assert asked(style, chain, {"input": QUESTION}).reason is Reason.NO_CHUNKS


def test_a_retrieval_chain_that_is_told_more_than_the_question(style):
    writer = Writer()
    given = {"input": QUESTION, "language": "English", "tenant": "lamps"}
    assert_exact(asked(style, chains.create_retrieval_chain(Words(), stuffed(writer)), given), writer)


def test_a_history_aware_retriever(style):
    writer, rewriter = Writer(), Writer("which voltage lamp")
    rewrite = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    found = chains.create_history_aware_retriever(rewriter, Words(), rewrite)
    given = {"input": QUESTION, "chat_history": [("human", "Hello."), ("ai", "The lamp glows.")]}
    response = asked(style, chains.create_retrieval_chain(found, stuffed(writer)), given)
    assert_exact(response, writer)
    assert len(rewriter.prompts) == 1


OLD = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*deprecated")


@OLD
@quiet
@pytest.mark.parametrize("named", [True, False])
def test_the_older_chain_for_questions(style, named):
    writer = Writer()
    prompt = ChatPromptTemplate.from_template("<<{context}>>\n{question}")
    chain = chains.RetrievalQA.from_chain_type(
        writer,
        retriever=Words(),
        return_source_documents=named,
        chain_type_kwargs={"prompt": prompt, "document_separator": SEPARATOR},
    )
    response = asked(style, chain, {"query": QUESTION})
    assert texts(response) == prompted(writer.prompts[-1])
    assert response.chunks_exact is named
    if named:
        assert_exact(response, writer)


@OLD
@quiet
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("history", [[], [("Hello.", "The lamp glows.")]], ids=["first turn", "second turn"])
def test_the_older_chain_for_conversations(style, named, history):
    writer = Writer(*(["which voltage lamp"] if history else []), ANSWER)
    prompt = ChatPromptTemplate.from_template("<<{context}>>\n{question}")
    chain = chains.ConversationalRetrievalChain.from_llm(
        writer,
        retriever=Words(),
        return_source_documents=named,
        combine_docs_chain_kwargs={"prompt": prompt, "document_separator": SEPARATOR},
    )
    response = asked(style, chain, {"question": QUESTION, "chat_history": history})
    assert texts(response) == prompted(writer.prompts[-1])
    assert response.chunks_exact is named


def test_branches_whose_documents_stay_in_the_output(style):
    writer = Writer()
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT | writer
    chain = RunnableParallel(context=Words(), question=RunnablePassthrough()).assign(answer=answer | StrOutputParser())
    assert_exact(asked(style, chain), writer)


def test_a_reranker_before_the_prompt_is_seen_where_the_chain_names_its_choice(style):
    writer = Writer()
    kept = Retriever(texts=["a", "b", "c", "d"]) | (lambda found: [found[2], found[0]])
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["kept"])) | PROMPT | writer
    chain = RunnableParallel(kept=kept, question=RunnablePassthrough()).assign(answer=answer | StrOutputParser())
    response = asked(style, chain, chunks="kept")
    assert texts(response) == ["c", "a"]
    assert_exact(response, writer)


def test_a_reranker_before_the_prompt_may_record_its_choice(style):
    writer = Writer()

    def choose(found):
        kept = [found[2], found[0]]
        record_chunks(kept)
        return kept

    response = asked(style, silent(Retriever(texts=["a", "b", "c", "d"]) | RunnableLambda(choose), writer))
    assert (texts(response), response.chunks_from) == (["c", "a"], ChunksFrom.RECORDED)
    assert_exact(response, writer)


def test_a_plain_search_may_record_what_it_found(style):
    writer = Writer()
    search = RunnableLambda(lambda _: [chunk.text for chunk in record_chunks(SHELF)]) | SEPARATOR.join
    chain = {"context": search, "question": RunnablePassthrough()} | PROMPT | writer | StrOutputParser()
    assert_exact(asked(style, chain), writer)


# Chains that name nothing: their retrievers are heard, once each.


@quiet
@pytest.mark.parametrize("found", [shelf(), Words()], ids=["vectors", "words"])
def test_branches_that_come_to_an_answer_alone(style, found):
    writer = Writer()
    response = asked(style, silent(found, writer))
    assert texts(response) == prompted(writer.prompts[-1])
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.EVENTS, False)


@quiet
def test_a_reranker_after_the_event_is_not_seen_and_said_not_to_be(style):
    writer = Writer()
    response = asked(style, silent(Retriever(texts=["a", "b"]) | (lambda found: found[::-1]), writer))
    assert (texts(response), prompted(writer.prompts[-1])) == (["a", "b"], ["b", "a"])
    assert response.chunks_exact is False


def multi_query():
    return retrievers.MultiQueryRetriever.from_llm(Words(), FakeListChatModel(responses=["lamp\ncord\nkettle"]))


def ensemble():
    return retrievers.EnsembleRetriever(retrievers=[Words(), Words(k=3)], weights=[0.5, 0.5])


def compression(inner=None):
    pipeline = pytest.importorskip("langchain_classic.retrievers.document_compressors")
    compressors = pytest.importorskip("langchain_core.documents.compressor")

    class Odd(compressors.BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return documents[::2]

    compressor = pipeline.DocumentCompressorPipeline(transformers=[Odd()])
    return retrievers.ContextualCompressionRetriever(base_compressor=compressor, base_retriever=inner or Words(k=3))


def parents():
    splitters = pytest.importorskip("langchain_text_splitters")
    found = retrievers.ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(DeterministicFakeEmbedding(size=8)),
        docstore=InMemoryStore(),
        child_splitter=splitters.CharacterTextSplitter(separator=" ", chunk_size=12, chunk_overlap=0),
    )
    found.add_documents([Document(text) for text in SHELF])
    return found


def merger():
    return retrievers.MergerRetriever(retrievers=[Words(), Words(k=1)])


NESTED: dict[str, Any] = {
    "multi query": multi_query,
    "ensemble": ensemble,
    "compression": compression,
    "parents": parents,
    "merger": merger,
    "compression of an ensemble": lambda: compression(ensemble()),
    "ensemble of merger and multi query": lambda: retrievers.EnsembleRetriever(
        retrievers=[merger(), multi_query()], weights=[0.5, 0.5]
    ),
}


@quiet
@pytest.mark.parametrize("nested", NESTED)
def test_retrievers_in_retrievers_count_once(style, nested):
    writer = Writer()
    response = asked(style, silent(NESTED[nested](), writer))
    assert texts(response) == prompted(writer.prompts[-1])
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.EVENTS, False)


@pytest.mark.parametrize("nested", NESTED)
def test_retrievers_in_retrievers_are_exact_in_a_chain_that_names_them(style, nested):
    writer = Writer()
    chain = chains.create_retrieval_chain(NESTED[nested](), stuffed(writer))
    assert_exact(asked(style, chain, {"input": QUESTION}), writer)


@quiet
def test_a_chain_that_never_retrieves(style):
    chain = {"context": lambda _: LAMP, "question": RunnablePassthrough()} | PROMPT | Writer() | StrOutputParser()
    response = asked(style, chain)
    assert (response.reason, response.chunks_from) == (Reason.RETRIEVAL_NOT_OBSERVED, ChunksFrom.NOT_OBSERVED)


@quiet
def test_calls_side_by_side_never_mix(style):
    """Every question is its own evidence, in one batch."""

    class Echo(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(query)]

    chain = silent(Echo(), Writer())
    guarded = Guard(ScriptedJudge(True)).wrap(chain)
    questions = [f"question {number}" for number in range(40)]
    responses = (
        asyncio.run(guarded.abatch(questions, {"max_concurrency": 8}))
        if style.startswith("a")
        else guarded.batch(questions, {"max_concurrency": 8})
    )
    assert [texts(response) for response in responses] == [[question] for question in questions]
