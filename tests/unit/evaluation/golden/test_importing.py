"""Files of ragas and deepeval, as those tools write them."""

import csv
import io
import json

import pytest

from groundguard.errors import InputError, UsageError
from groundguard.evaluation.golden import GoldenItem, Origin, dump, import_file, load
from groundguard.records import Chunk, Turn


def written(tmp_path, rows, name):
    """Rows as a file that ends so."""
    file = tmp_path / name
    if name.lower().endswith(".csv"):
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        file.write_bytes(out.getvalue().encode("utf-8"))
    else:
        text = json.dumps(rows, indent=4) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows)
        file.write_text(text, "utf-8")
    return file


def imported(tmp_path, *rows, name="in.jsonl", **options):
    return import_file(written(tmp_path, rows, name), name="set", **options)


def only(tmp_path, row, name="in.jsonl", **options):
    return imported(tmp_path, row, name=name, **options).golden.items[0]


CONTEXTS = ["Hail is covered, Ann's car too.", 'Two "lines"\nof text; with | in it.']
RAGAS = {
    "user_input": "Is hail covered?",
    "reference_contexts": CONTEXTS,
    "reference": "Yes.",
    "synthesizer_name": "single_hop_specific_query_synthesizer",
}


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv", "t.CSV"])
def test_a_test_set_of_ragas(tmp_path, name):
    found = imported(tmp_path, RAGAS, name=name)
    assert (found.format, found.left_out) == ("ragas", ())
    (item,) = found.golden.items
    assert item == GoldenItem(
        item.id,
        "Is hail covered?",
        "Yes.",
        chunks=tuple(map(Chunk, CONTEXTS)),
        origin=Origin.SYNTHETIC,
        metadata={"synthesizer_name": "single_hop_specific_query_synthesizer"},
    )


def test_an_evaluation_data_set_of_ragas_leaves_out_what_a_pipeline_did(tmp_path):
    row = {
        "user_input": "Is hail covered?",
        "retrieved_contexts": ["x"],
        "response": "I think so.",
        "reference": "Yes.",
        "reference_context_ids": [7, "b"],
        "rubrics": None,
    }
    found = imported(tmp_path, row)
    assert found.left_out == ("retrieved_contexts", "response")
    (item,) = found.golden.items
    assert (item.answer, item.chunk_ids, item.chunks, item.origin) == ("Yes.", ("7", "b"), (), Origin.HUMAN)


def test_a_test_set_of_ragas_before_version_0_2(tmp_path):
    row = {
        "question": "Is hail covered?",
        "contexts": ["Hail is covered."],
        "ground_truth": "Yes.",
        "evolution_type": "simple",
        "metadata": [{"source": "x"}],
        "episode_done": True,
    }
    found = imported(tmp_path, row)
    (item,) = found.golden.items
    assert (item.answer, item.chunks, item.origin) == ("Yes.", (Chunk("Hail is covered."),), Origin.SYNTHETIC)
    assert item.metadata == {"evolution_type": "simple"}
    assert "episode_done" in found.left_out


def test_contexts_that_were_retrieved_are_no_reference(tmp_path):
    row = {"question": "q", "answer": "a", "contexts": ["x"], "ground_truths": ["Yes.", "Indeed."]}
    found = imported(tmp_path, row)
    assert (found.golden.items[0].chunks, found.golden.items[0].answer) == ((), "Yes. Indeed.")
    assert found.left_out == ("answer", "contexts")
    assert only(tmp_path, {"question": "q", "ground_truths": []}).answer is None


def test_a_conversation_of_ragas_asks_its_last_question(tmp_path):
    said = [("human", "Hello"), ("ai", "Hi"), ("human", "Is hail covered?"), ("ai", "Yes."), ("tool", "x")]
    row = {"user_input": [{"type": role, "content": content} for role, content in said], "reference": "Yes."}
    item = only(tmp_path, row)
    assert item.question == "Is hail covered?"
    assert item.history == (Turn("user", "Hello"), Turn("assistant", "Hi"))


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([{"type": "ai", "content": "x"}], "no person asks anything"),
        ([], "no person asks anything"),
        ([{"type": "human"}], "messages with type and content"),
        (["x"], "messages with type and content"),
        ([{"type": " ", "content": "x"}], "messages with type and content"),
        ([{"type": "human", "content": " "}], "last question is blank"),
    ],
)
def test_a_conversation_without_a_question_is_refused(tmp_path, messages, what):
    with pytest.raises(InputError, match=f"line 1: .*{what}"):
        imported(tmp_path, {"user_input": messages})


GOLDEN = {
    "input": "Is hail covered?",
    "actual_output": None,
    "expected_output": "Yes.",
    "retrieval_context": None,
    "context": ["Hail is covered.", "So is storm."],
    "name": "hail",
    "comments": None,
    "source_file": "home.md",
    "tools_called": None,
    "expected_tools": None,
    "additional_metadata": {"evolutions": ["Reasoning"]},
    "custom_column_key_values": None,
}


@pytest.mark.parametrize("name", ["g.json", "g.jsonl", "g.csv"])
def test_goldens_of_deepeval(tmp_path, name):
    row = dict(GOLDEN)
    if not name.endswith(".json"):  # as deepeval writes these two
        row["context"] = "|".join(GOLDEN["context"])
    if name.endswith(".csv"):
        row["additional_metadata"] = json.dumps(GOLDEN["additional_metadata"])
    found = imported(tmp_path, row, name=name)
    assert (found.format, found.left_out) == ("deepeval", ())
    (item,) = found.golden.items
    assert item == GoldenItem(
        item.id,
        "Is hail covered?",
        "Yes.",
        chunks=(Chunk("Hail is covered.", source="home.md"), Chunk("So is storm.", source="home.md")),
        origin=Origin.SYNTHETIC,
        metadata={"evolutions": ["Reasoning"], "name": "hail", "source_file": "home.md"},
    )


def test_deepeval_in_camel_case(tmp_path):
    row = {"input": "q", "expectedOutput": "Yes.", "sourceFile": "a.md", "actualOutput": "x", "retrievalContext": ["y"]}
    found = imported(tmp_path, row)
    assert found.left_out == ("actualOutput", "retrievalContext")
    assert (found.golden.items[0].answer, found.golden.items[0].metadata) == ("Yes.", {"source_file": "a.md"})


def test_another_delimiter(tmp_path):
    row = {"input": "q", "context": "a|b;c;"}
    assert only(tmp_path, row, delimiter=";").chunks == (Chunk("a|b"), Chunk("c"))


def test_goldens_of_people(tmp_path):
    assert only(tmp_path, {"input": "q"}).origin is Origin.HUMAN
    assert only(tmp_path, {"input": "q", "additional_metadata": "not JSON"}).metadata == {}
    assert only(tmp_path, {"input": "q"}, origin=Origin.SYNTHETIC).origin is Origin.SYNTHETIC


def test_a_conversational_golden_is_refused(tmp_path):
    with pytest.raises(InputError, match="line 1: a conversational golden"):
        imported(tmp_path, {"scenario": "s", "turns": []})


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['a', 'b']", ["a", "b"]),
        ("['a' 'b']", ["a", "b"]),  # numpy's, in which Python would join the two
        ("['a'\n 'b']", ["a", "b"]),
        ("[\"Ann's\", 'x\\ny']", ["Ann's", "x\ny"]),
        ('["a", "b"]', ["a", "b"]),
        ("[]", []),
        ("", []),
        (" ['a']\n", ["a"]),
        ("['', 'x', ' ', 'nan']", ["x"]),
        ('["", "x", null]', ["x"]),
        ("nan", []),
        ("NaN", []),
        (" ", []),
        ("[1] is a footnote", ["[1] is a footnote"]),
        ("plain text", ["plain text"]),
    ],
)
def test_a_list_in_a_cell(tmp_path, cell, texts):
    item = only(tmp_path, {"user_input": "q", "reference_contexts": cell}, name="in.csv")
    assert [chunk.text for chunk in item.chunks] == texts


UNREADABLE = {
    "shortened by numpy": "['a' 'b' ... 'z']",
    "an array": "array(['a', 'b'], dtype=object)",
    "arrays": "[array(['a'])]",
    "nested": "[['a'], ['b']]",
    "nested deep": "[" * 5000 + "'a'" + "]" * 5000,
    "two lists": "['a'] ['b']",
    "a formatted string": "['a', f'{b}']",
    "a call": "['a', __import__('os')]",
    "open": "['a]",
    "open at length": "['''a]",
    "cut off": "['a', 'b",
    "no such character": r"['\N{no such name}']",
}


@pytest.mark.parametrize("column", ["reference_contexts", "context"])
@pytest.mark.parametrize("cell", [pytest.param(cell, id=name) for name, cell in UNREADABLE.items()])
def test_a_printed_list_that_can_not_be_read_is_no_chunk(tmp_path, cell, column):
    asked = "user_input" if column == "reference_contexts" else "input"
    with pytest.raises(InputError, match=rf"in\.csv, line 2: {column} holds a printed list that can't be read"):
        only(tmp_path, {asked: "q", column: cell}, name="in.csv")


@pytest.mark.parametrize("cell", ["[not a list]", "[1, 2]"])
def test_brackets_that_hold_no_strings_are_text_only_where_a_cell_is_no_list(tmp_path, cell):
    with pytest.raises(InputError, match="line 2: reference_contexts holds a printed list that can't be read"):
        only(tmp_path, {"user_input": "q", "reference_contexts": cell}, name="in.csv")
    assert only(tmp_path, {"input": "q", "context": cell}, name="in.csv").chunks == (Chunk(cell),)


def test_strings_between_delimiters_may_begin_and_end_with_brackets(tmp_path):
    item = only(tmp_path, {"input": "q", "context": "[1] One.|| |Two. [2]"}, name="in.csv")
    assert [chunk.text for chunk in item.chunks] == ["[1] One.", "Two. [2]"]


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_nan_is_a_missing_value(tmp_path, name):
    row = {"user_input": "q", "reference": "nan", "reference_contexts": "nan", "synthesizer_name": "NaN"}
    item = only(tmp_path, row, name=name)
    assert (item.answer, item.chunks, item.origin, item.metadata) == (None, (), Origin.HUMAN, {})
    with pytest.raises(InputError, match="user_input is missing"):
        only(tmp_path, {**row, "user_input": "nan"}, name=name)


def test_blank_strings_in_a_list_are_left_out_and_the_set_can_be_read(tmp_path):
    golden = imported(tmp_path, {"input": "q", "context": ["", " ", "\u200b", "nan", "x"]}).golden
    assert golden.items[0].chunks == (Chunk("x"),)
    dump(golden, tmp_path / "out.jsonl")
    assert load(tmp_path / "out.jsonl") == golden


@pytest.mark.parametrize("printed", [repr, json.dumps], ids=["python", "json"])
def test_a_conversation_in_a_cell(tmp_path, printed):
    said = [{"content": "Hello", "type": "human"}, {"content": "Hi", "type": "ai"}, {"content": "q", "type": "human"}]
    item = only(tmp_path, {"user_input": printed(said), "reference": "Yes."}, name="in.csv")
    assert (item.question, item.history) == ("q", (Turn("user", "Hello"), Turn("assistant", "Hi")))


@pytest.mark.parametrize(
    "cell", ["[{'content': 'q'", "[{'content': 'q', 'type': 'human'}\n {'content': 'a'}]", "[{1, 2}"]
)
def test_a_conversation_in_a_cell_that_can_not_be_read_is_no_question(tmp_path, cell):
    with pytest.raises(InputError, match="line 2: user_input is a printed conversation that can't be read"):
        only(tmp_path, {"user_input": cell}, name="in.csv")


def test_ids_that_are_numbers_in_a_cell(tmp_path):
    cells = {"[7, 8]": ("7", "8"), "['7', 'b']": ("7", "b"), "a": ("a",)}
    for cell, ids in cells.items():
        assert only(tmp_path, {"user_input": "q", "reference_context_ids": cell}, name="in.csv").chunk_ids == ids


@pytest.mark.parametrize("deep", [60, 600, 900])
def test_metadata_that_nests_too_deeply_is_refused(tmp_path, deep):
    nested = '{"a": ' * deep + "1" + "}" * deep
    for name, more in [("a.jsonl", nested), ("b.jsonl", json.dumps(nested))]:
        file = tmp_path / name
        file.write_text('{"input": "q", "additional_metadata": ' + more + "}\n")
        with pytest.raises(InputError, match=rf"{name}, line 1: .*nested too deeply"):
            import_file(file, name="set")


def test_metadata_as_a_string_that_no_parser_reads_is_refused(tmp_path):
    with pytest.raises(InputError, match="line 1: additional_metadata is nested too deeply"):
        only(tmp_path, {"input": "q", "additional_metadata": "[" * 100_000})


def test_ids_are_of_the_question_and_each_its_own(tmp_path):
    one = imported(tmp_path, {"input": "a"}, {"input": "b"}, {"input": "a"}).golden
    other = imported(tmp_path, {"input": "b"}, {"input": "a"}).golden
    ids = [item.id for item in one.items]
    assert ids[2] == f"{ids[0]}-2"
    assert [item.id for item in other.items] == [ids[1], ids[0]]


def test_nobody_has_verified_what_was_imported(tmp_path):
    item = only(tmp_path, RAGAS)
    assert (item.verified_by, item.verified_on) == (None, None)


def test_what_was_imported_can_be_written_and_read(tmp_path):
    golden = imported(tmp_path, RAGAS, {**RAGAS, "user_input": "Other?"}, version="7").golden
    dump(golden, tmp_path / "out.jsonl")
    assert load(tmp_path / "out.jsonl") == golden
    assert (golden.name, golden.version) == ("set", "7")


def test_a_cell_may_be_large(tmp_path):
    text = "x" * 400_000
    before = csv.field_size_limit()
    assert only(tmp_path, {"user_input": "q", "reference": text}, name="in.csv").answer == text
    assert csv.field_size_limit() == before


def test_a_format_that_is_named_is_taken(tmp_path):
    both = {"question": "ragas?", "input": "deepeval?"}
    assert only(tmp_path, both).question == "ragas?"
    assert only(tmp_path, both, format="deepeval").question == "deepeval?"
    with pytest.raises(UsageError, match="format is 'ragas' or 'deepeval', not 'trulens'"):
        imported(tmp_path, both, format="trulens")


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.csv", "", "has no rows"),
        ("a.csv", "\n", "line 1: the first line of a CSV file names its columns"),
        ("a.csv", '"', "line 1: not CSV"),
        ("a.csv", "input,input\n", "line 1: .* each once"),
        ("a.csv", "input\n", "has no rows"),
        ("a.csv", 'input,context\n"a\nb",c\n\nd\n', "line 5: 1 cells, but the first line names 2 columns"),
        ("a.csv", 'input\na\n"b', "line 3: not CSV"),
        ("a.csv", "input,context\n,x\n", "line 2: input is missing"),
        ("a.jsonl", '{"input": "a"}\n\n{"input": " "}\n', "line 3: input is missing"),
        ("a.jsonl", '{"input": 7}\n', "line 1: input must be a string"),
        ("a.jsonl", '{"query": "a"}\n', "line 1: no question here: one of user_input, question, input"),
        ("a.jsonl", '{"input": "a", "context": 7}\n', "line 1: context must hold strings"),
        ("a.jsonl", '{"input": "a", "context": [["b"]]}\n', "line 1: context must hold strings"),
        ("a.jsonl", "{\n", "line 1: not JSON"),
        ("a.json", '{"input": "a"}', "line 1: not a list of objects"),
        ("a.json", '[\n{"input": "a"},\n7]', "line 3: not a JSON object but a number"),
        ("a.json", '[\n{"input": "a"}\n{"input": "b"}]', "line 3: not JSON: a comma or"),
        ("a.json", '[{"input": "a"}\n', "line 2: not JSON: a comma or"),
        ("a.json", '[{"input": "a"}]\n]', "line 1: not JSON: something stands after"),
        ("a.json", '[\n\n{"input": nope}]', "line 3: not JSON"),
        ("a.json", "[", "line 1: not JSON"),
        ("a.json", "[]", "has no rows"),
        ("a.xlsx", "", "what is imported ends in .csv, .jsonl, .ndjson, .json"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path, name, text, what):
    file = tmp_path / name
    file.write_bytes(text.encode())
    with pytest.raises(InputError, match=what) as caught:
        import_file(file, name="set")
    assert str(file) in str(caught.value)


def test_empty_strings_in_lists_of_deepeval_are_left_out(tmp_path):
    assert only(tmp_path, {"input": "q", "context": ["a", None]}).chunks == (Chunk("a"),)
