"""The sample: its chain answers well, each fault is what it says, and every reference chunk exists."""

import pytest

from groundguard import Guard, Status
from groundguard.errors import InputError
from groundguard.evaluation.golden import SAMPLE, Want, load, write_sample
from groundguard.evaluation.golden.sample import chain
from groundguard.judges import Lexical

GOLDEN = load(SAMPLE, locked=True)
ANSWERED = [item for item in GOLDEN.items if item.want is Want.ANSWER]
REFUSED = [item for item in GOLDEN.items if item.want is Want.REFUSAL]

pytestmark = pytest.mark.filterwarnings("ignore:Lexical")


def statuses(target, items):
    guard = Guard(Lexical())
    results = [(item.question, *target(item.question)) for item in items]
    return {guard.check(asked, answer=answer, chunks=chunks).status for asked, answer, chunks in results}


def ids(target, item):
    return [chunk.id for chunk in target(item.question)[1]]


def test_there_are_sixty_items_and_ten_want_a_refusal():
    assert (len(ANSWERED), len(REFUSED)) == (50, 10)
    assert all(item.verified_by and item.verified_on and item.tags and item.split for item in GOLDEN.items)


def test_every_reference_chunk_exists_and_ids_are_unique():
    known = [chunk.id for chunk in chain.chunks()]
    assert len(set(known)) == len(known)
    assert {id_ for item in GOLDEN.items for id_ in item.chunk_ids} <= set(known)


def test_every_document_answers_a_question():
    assert {chunk.source for chunk in chain.chunks()} == {
        id_.partition("#")[0] for i in ANSWERED for id_ in i.chunk_ids
    }


def test_the_good_chain_finds_quotes_and_declines():
    assert all(ids(chain.good, item)[:1] == list(item.chunk_ids) for item in ANSWERED)
    assert statuses(chain.good, ANSWERED) == {Status.ANSWERED}
    assert {chain.good(item.question)[0] for item in REFUSED} == {chain.REFUSAL}


def test_the_same_question_has_the_same_answer():
    assert chain.good(ANSWERED[0].question) == chain.good(ANSWERED[0].question)


def test_misses_evidence():
    assert not any(set(item.chunk_ids) & set(ids(chain.misses_evidence, item)) for item in ANSWERED)


def test_loud_retriever():
    assert all(ids(chain.loud_retriever, item)[-1:] == list(item.chunk_ids) for item in ANSWERED)
    assert statuses(chain.loud_retriever, ANSWERED) == {Status.ANSWERED}


def test_invents():
    assert statuses(chain.invents, ANSWERED) == {Status.UNGROUNDED}
    assert {chain.invents(item.question)[0] for item in REFUSED} == {chain.REFUSAL}


def test_answers_another_question():
    assert statuses(chain.answers_another_question, ANSWERED) == {Status.ANSWERED}
    good = [chain.good(item.question)[0] for item in ANSWERED]
    other = [chain.answers_another_question(item.question)[0] for item in ANSWERED]
    assert not any(one == another for one, another in zip(good, other, strict=True))
    assert {chain.answers_another_question(item.question)[0] for item in REFUSED} == {chain.REFUSAL}


def test_never_refuses():
    assert chain.REFUSAL not in {chain.never_refuses(item.question)[0] for item in GOLDEN.items}
    assert all(chain.never_refuses(item.question) == chain.good(item.question) for item in ANSWERED)


def test_written_out_it_is_complete(tmp_path):
    file = write_sample(tmp_path / "new" / "insurer")
    assert load(file, locked=True) == GOLDEN
    assert len(list((file.parent / "documents").glob("*.md"))) == 13
    assert (file.parent / "chain.py").is_file()


def test_it_is_not_written_over_anything(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="is not empty: name a new folder"):
        write_sample(tmp_path)
    with pytest.raises(InputError, match="can't write to"):
        write_sample(tmp_path / "mine.txt")
