"""Files of labels: what they may hold, and what is said of what they may not."""

import pytest

from groundguard.errors import InputError
from groundguard.evaluation.calibration.labels import Labeller, content_hash, read_labels
from groundguard.records import Chunk, Exchange
from support.labels import LINE, labelled, write


@pytest.fixture
def read(tmp_path):
    return lambda *lines: read_labels(write(tmp_path / "labels.jsonl", *lines))


def but(*without, **changes):
    """The line, changed."""
    return {key: value for key, value in {**LINE, **changes}.items() if key not in without}


def test_a_label(read):
    (label,) = read(but(id="l1", labeller="kim", extra=1))
    assert label.exchange == Exchange("How bright?", (Chunk("The lamp has 300 lumens."),), "It has 300 lumens.")
    assert (label.grounded, label.id, label.line, label.labeller) == (True, "l1", 1, "kim")
    assert label.kind is Labeller.HUMAN
    assert "lumens" not in repr(label)


@pytest.mark.parametrize(
    ("word", "grounded"),
    [
        ("grounded", True),
        ("supported", True),
        ("yes", True),
        ("ungrounded", False),
        ("unsupported", False),
        ("no", False),
    ],
)
def test_the_words_of_a_label(read, word, grounded):
    assert read(but(label=word))[0].grounded is grounded


@pytest.mark.parametrize("grounded", [True, False])
def test_a_truth_value_says_the_same(read, grounded):
    assert read(but("label", supported=grounded))[0].grounded is grounded


def test_a_summary_has_no_question(read):
    assert [label.exchange.question for label in read(but("question"), but(question=None))] == ["", ""]


def test_who_labelled_is_not_guessed(read):
    kinds = [label.kind for label in read(but("labeller_kind"), but(labeller_kind="model", answer="b"))]
    assert kinds == [Labeller.UNSAID, Labeller.MODEL]


def test_a_number_is_a_name_and_blank_lines_are_none(read):
    labels = read("", but(id=7), "  ", but(id="x"))
    assert [(label.id, label.line) for label in labels] == [("7", 2), ("x", 4)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (but(question=3), "question must be a string"),
        (but("answer"), "answer is missing"),
        (but(answer=" "), "answer is blank"),
        (but(answer=3), "answer must be a string, not a number"),
        (but("chunks"), "chunks is missing"),
        (but(chunks=3), "chunks are a string or an iterable"),
        (but(chunks=[]), "chunks holds no text"),
        (but(chunks=[" "]), "chunks holds no text"),
        (but("label"), 'it needs "label"'),
        (but(label="maybe"), 'it needs "label"'),
        (but(label=True), "label must be a string"),
        (but(supported=True), 'it needs "label"'),
        (but("label", supported="true"), 'it needs "label"'),
        (but("label", supported=1), 'it needs "label"'),
        (but(label="maybe", supported=True), 'it needs "label"'),
        (but(labeller_kind="crowd"), "labeller_kind must be human or model"),
        (but(id=1.5), "id must be a string"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(read, line, why):
    with pytest.raises(InputError) as caught:
        read(LINE, line)
    assert "labels.jsonl, line 2: " in str(caught.value)
    assert why in str(caught.value)


def test_an_id_that_stands_twice(read):
    with pytest.raises(InputError, match="line 2: its id stands on line 1 already"):
        read(but(id="a"), but(id="a"))


def test_no_label_at_all(read, tmp_path):
    with pytest.raises(InputError, match="holds no label"):
        read("")
    with pytest.raises(InputError, match="can't read"):
        read_labels(tmp_path / "nowhere.jsonl")


def test_the_hash_is_of_what_was_labelled_and_how():
    labels = labelled(True, False, True)
    assert content_hash(labels) == content_hash(labels[::-1])
    assert content_hash(labels) != content_hash(labelled(True, True, True))
    assert content_hash(labels) != content_hash(labelled(True, False, True, kind=Labeller.MODEL))
