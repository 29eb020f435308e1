"""Chunks follow headings and paragraphs, know where they come from, and lose no text."""

from hypothesis import given
from hypothesis import strategies as st

from groundguard.quickstart import SAMPLES, Document, read_documents, split
from groundguard.quickstart.chunks import LARGE, body


def texts(text):
    return [chunk.text for chunk in split([Document("a.md", text)])]


def test_headings_stand_above_what_is_below_them():
    text = "# Returns\n\nIntro.\n\n## Time\n\nThirty days.\n\n# Other\n\nText.\n"
    assert texts(text) == ["Returns\n\nIntro.", "Returns > Time\n\nThirty days.", "Other\n\nText."]


def test_id_source_and_metadata_say_where_a_chunk_is():
    _, second = split([Document("refunds.md", "# Refunds\n\nOne.\n\n## Time ##\n\n\nTwo\nlines.\n")])
    assert (second.id, second.source) == ("refunds.md#2", "refunds.md:8")
    assert dict(second.metadata) == {"heading": "Refunds > Time", "line": 8}
    assert body(second) == "Two\nlines."


def test_a_document_without_headings_has_chunks_without_them():
    (chunk,) = split([Document("a.txt", "Only this.")])
    assert chunk.text == body(chunk) == "Only this."


def test_headings_with_nothing_below_are_not_lost():
    assert texts("# A\n\n## B\n\n## C\n\ntext\n\n# D") == ["A > B", "A > C\n\ntext", "D"]
    assert texts("## B\n# A\ntext") == ["B", "A\n\ntext"]


def test_a_hash_inside_a_code_block_is_no_heading_and_blank_lines_stay_inside():
    text = "# Use\n\n```sh\n# comment\n\nrun\n```\n\n~~~\n```\n# still code\n~~~\n"
    assert texts(text) == ["Use\n\n```sh\n# comment\n\nrun\n```\n\n~~~\n```\n# still code\n~~~"]


def test_small_paragraphs_are_joined_only_under_the_same_heading():
    assert texts("one\n\ntwo\n\n# H\n\nthree") == ["one\n\ntwo", "H\n\nthree"]


def test_large_neighbours_are_not_joined():
    assert texts(f"{'a' * 300}\n\n{'b' * 300}") == ["a" * 300, "b" * 300]


def test_a_long_paragraph_is_cut_at_sentences():
    sentence = "This sentence has exactly some words in it. "
    pieces = texts(sentence * 60)
    assert all(len(piece) <= LARGE and piece.endswith(". ") for piece in pieces)
    assert "".join(pieces) == sentence * 60


def test_a_long_list_is_cut_at_lines_and_the_line_numbers_follow():
    rows = [f"- item number {number} of a long list" for number in range(60)]
    chunks = split([Document("a.md", "\n".join(rows))])
    for chunk in chunks:
        first = next(line for line in chunk.text.split("\n") if line)
        assert chunk.source == f"a.md:{rows.index(first) + 1}"


def test_text_without_any_space_is_cut_all_the_same():
    assert [len(piece) for piece in texts("字" * 2000)] == [800, 800, 400]
    assert all(piece.endswith("。") for piece in texts("今日は天気がいいですね。" * 100))


def test_a_blank_document_has_no_chunks():
    assert texts("") == texts("\n \n\t\n") == []


def test_samples_make_chunks_of_a_readable_size():
    chunks = split(read_documents(SAMPLES))
    assert len({chunk.id for chunk in chunks}) == len(chunks) > 10
    assert all(0 < len(chunk.text) <= 900 for chunk in chunks)


LINES = st.sampled_from(
    [
        "# One",
        "## Two ##",
        "###",
        "plain words. And more!",
        "",
        "  ",
        "```",
        "~~~~",
        "x" * 900,
        "- item",
        "#tag",
        "字。" * 500,
    ]
)


@given(st.lists(LINES | st.text(max_size=30), max_size=30))
def test_no_visible_text_is_lost(lines):
    text = "\n".join(lines).replace("\r", "\n")
    seen = "".join(chunk.text for chunk in split([Document("a.md", text)]))
    for word in text.split():
        if word.strip("#"):
            pieces = [word[at : at + 1] for at in range(len(word))]
            assert all(piece in seen for piece in pieces)
    bodies = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    squeezed = "".join(seen.split())
    for line in bodies:
        if len(line) <= 200:
            assert "".join(line.split()) in squeezed
