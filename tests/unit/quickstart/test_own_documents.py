"""Real questions to this project's own documents: found by the words that people use, and quoted."""

from pathlib import Path

import pytest

from groundguard.quickstart import BM25Retriever, ExtractiveGenerator, read_documents, split

DOCS = Path(__file__).parents[3] / "docs"
RETRIEVER = BM25Retriever(split(read_documents(DOCS)))
QUOTE = ExtractiveGenerator()

QUESTIONS = {
    "What does no_context mean?": "no_context",
    "How do I hand over chunks from a thread?": "copy_context",
    "Which exit code do I get when the judge failed?": "the judge failed",
    "How many times is a request retried?": "three requests",
    'Why is "Yes." not accepted as a yes?': "every other reply",
    "What happens when the judge times out?": "timed out",
    "How do I use a local server?": "any key is right",
    "Is the content of answers ever logged?": "never content",
    "Which counters does it export to Prometheus?": "rag_queries_total",
    "What does the demo show?": "fictional shop",
    "What is the format of an input line?": '"question"',
    "How is the evidence digest computed?": "SHA-256",
    "What happens to an exception of my retriever?": "untouched",
    "What should I do when the verdict is malformed?": "doctor",
    "How do I raise an error when an answer is ungrounded?": "UngroundedError",
    "Can I test without a model?": "ScriptedModel",
    "Is an exhausted quota retried?": "never tried again",
    "What if my reranker drops chunks?": "reranker",
}
UNRELATED = [
    "What is the capital of Portugal?",
    "Who was the first president of Peru?",
    "How do I bake sourdough bread?",
    "How tall is Mount Everest?",
    "Who painted the Mona Lisa?",
    "Can dogs eat chocolate?",
]


def answer(question):
    return " ".join(QUOTE(question, RETRIEVER(question)).split())


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_chunk_that_holds_the_answer_is_found(question):
    assert any(QUESTIONS[question] in " ".join(chunk.text.split()) for chunk in RETRIEVER(question))


def test_most_answers_quote_what_was_asked_for():
    beside = [question for question, phrase in QUESTIONS.items() if phrase not in answer(question)]
    assert len(beside) <= len(QUESTIONS) // 3, beside


@pytest.mark.parametrize("question", UNRELATED)
def test_nothing_is_found_for_an_unrelated_question(question):
    assert RETRIEVER(question) == ()
