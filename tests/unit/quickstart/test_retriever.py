"""BM25: the best first, the scores shown, and nothing at all where no word fits."""

import logging
import subprocess
import sys

import pytest

from groundguard.errors import UsageError
from groundguard.quickstart import SAMPLES, BM25Retriever, read_documents, split
from groundguard.quickstart.words import content_words
from groundguard.records import Chunk

CHUNKS = split(read_documents(SAMPLES))


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("How many days do I have to return a lamp?", "refunds.md:7"),
        ("Is broken glass covered by the warranty?", "warranty.md:10"),
        ("how much does EXPRESS delivery cost", "shipping.md:10"),
        ("Do you ship to Norway?", "shipping.md:5"),
    ],
)
def test_finds_the_right_chunk_first(question, source):
    assert BM25Retriever(CHUNKS)(question)[0].source == source


@pytest.mark.parametrize(
    "question", ["What is the capital of Portugal?", "", "?!", "What do you do?", "什么是退款", "कितने दिन", "\ud800"]
)
def test_finds_nothing_where_no_content_word_fits(question):
    assert BM25Retriever(CHUNKS)(question) == ()


def test_scores_fall_and_are_above_zero():
    scores = [chunk.score for chunk in BM25Retriever(CHUNKS, k=50)("Is the lamp covered by the warranty?")]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_k_is_the_most_and_may_be_larger_than_the_corpus():
    chunks = [Chunk("red lamp"), Chunk("blue lamp"), Chunk("chair")]
    assert len(BM25Retriever(chunks, k=1)("lamp")) == 1
    assert len(BM25Retriever(chunks, k=99)("lamp")) == 2


def test_equal_scores_keep_the_order_of_the_documents():
    chunks = [Chunk("lamp", id=str(number)) for number in range(5)] + [Chunk("chair")]
    assert [chunk.id for chunk in BM25Retriever(chunks)("lamp")] == ["0", "1", "2", "3"]


def test_the_chunk_is_the_same_but_for_its_score():
    chunk = Chunk("a lamp", id="x", source="y", metadata={"a": 1})
    (found,) = BM25Retriever([chunk])("lamp")
    assert (found.text, found.id, found.source, found.metadata) == (chunk.text, chunk.id, chunk.source, chunk.metadata)


@pytest.mark.parametrize("chunks", [[], [Chunk("")], [Chunk("the of and")], [Chunk("?"), Chunk(" ")]])
def test_a_corpus_without_words_finds_nothing(chunks):
    assert BM25Retriever(chunks)("lamp") == ()


def test_k_must_be_at_least_one():
    with pytest.raises(UsageError, match="at least 1"):
        BM25Retriever(CHUNKS, k=0)


def test_other_scripts_are_found():
    chunks = [
        Chunk("退款在三十天内可以申请"),
        Chunk("配送需要五天"),
        Chunk("Возврат в течение тридцати дней"),
        Chunk("धनवापसी तीस दिन"),
    ]
    retriever = BM25Retriever(chunks, k=1)
    assert retriever("怎么退款?")[0] == BM25Retriever(chunks)("退款")[0]
    assert retriever("возврат")[0].text.startswith("Возврат")
    assert retriever("दिन")[0].text.startswith("धनवापसी")


def test_is_silent(capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        BM25Retriever(CHUNKS)("lamp")
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.name == "bm25s" and record.levelno < logging.WARNING] == []


def test_numpy_loads_only_when_a_retriever_is_made():
    code = "import sys, groundguard.quickstart; sys.exit('numpy' in sys.modules or 'bm25s' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_library_it_says_what_to_install():
    code = (
        "import sys; sys.modules['bm25s'] = None\nfrom groundguard.quickstart import BM25Retriever\nBM25Retriever([])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert 'UsageError: the BM25 retriever needs bm25s: pip install "groundguard-rag[cli]"' in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How many days do I have?", ["day"]),
        ("Policies, policy's POLICY", ["policy", "policy", "policy"]),
        ("return returns returned returning", ["return"] * 4),
        ("ship shipped shipping ships", ["ship"] * 4),
        ("price priced prices", ["pric"] * 3),
        ("glass bus this sing bed", ["glas", "bus", "sing", "bed"]),
        ("30 days, 4.90 euros", ["30", "day", "4", "90", "euro"]),
        ("don’t won't", []),
        ("ﬁnal Straße", ["final", "stras"]),
        ("退款政策", ["退款", "款政", "政策"]),
        ("退", ["退"]),
        ("iphone15版本x", ["iphone15", "版本", "x"]),
        ("retry retries retried retrying", ["retry"] * 4),
        ("accept accepted accepting", ["accept"] * 3),
        ("cancel cancelled cancels call called add added", ["cancel"] * 3 + ["cal"] * 2 + ["add", "add"]),
        ("movie movies tie ties", ["movy", "movy", "tie", "tie"]),
        ("quickly order faster", ["quickly", "order", "faster"]),
        ("no_context", ["no_context", "context"]),
        ("__init__ _", ["init"]),
        ("FactCheck openaiModel2", ["factcheck", "fact", "check", "openaimodel2", "openai", "model2"]),
        ("Yes", ["yes"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_content_words(text, words):
    assert content_words(text) == words


def test_one_common_word_does_not_make_a_chunk_relevant():
    assert BM25Retriever(CHUNKS)("Who was the first lamp of the Peruvian presidents in Lima?") == ()
    assert BM25Retriever(CHUNKS, share=0.05)("Who was the first lamp of the Peruvian presidents in Lima?")


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_a_share_is_a_share(share):
    with pytest.raises(UsageError, match="share lies above 0"):
        BM25Retriever(CHUNKS, share=share)
