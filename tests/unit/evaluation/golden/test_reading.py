"""Golden sets from files: every error names the file and the line, and what is written is read back."""

import json

import pytest

from end_to_end.command import process
from groundguard.errors import InputError
from groundguard.evaluation.golden import GoldenItem, GoldenSet, Origin, Split, Want, dump, load
from groundguard.evaluation.golden.reading import read
from groundguard.records import Chunk, Turn

HEADER = '{"name": "shop", "version": "1"}'
ITEM = '{"id": "a", "question": "How long?"}'
FULL = GoldenSet(
    "shop",
    "2",
    (
        GoldenItem(
            "a",
            "Größe 5 µm – 温度 \U0001f600\u2028?",
            "no",
            chunks=(Chunk("x\ry\n", id="7", source="s", score=0.5, metadata={"page": 1}), Chunk("y")),
            chunk_ids=("9", "7"),
            verified_by="Ann",
            verified_on="2025-05-01",
            origin=Origin.SYNTHETIC,
            split=Split.HELDOUT,
            tags=("1", "true", "~"),
            history=(Turn("user", "Hello"), Turn("assistant", "")),
            metadata={"a": [1, 2.5, None, True, {"b": "2025-01-01"}], "half": "\ud800"},
        ),
        GoldenItem("b", "null", want=Want.REFUSAL),
    ),
    "For tests.",
)


def jsonl(tmp_path, *lines, name="set.jsonl", end="\n"):
    file = tmp_path / name
    file.write_bytes(end.join(lines).encode("utf-8"))
    return file


def yaml(tmp_path, text, name="set.yaml"):
    pytest.importorskip("yaml")
    return jsonl(tmp_path, text, name=name)


def item(**fields):
    return json.dumps({"id": "a", "question": "q", **fields})


@pytest.mark.parametrize("name", ["set.jsonl", "set.NDJSON", "set.yaml", "set.yml"])
def test_what_is_written_is_read_back(tmp_path, name):
    pytest.importorskip("yaml")
    file = tmp_path / name
    dump(FULL, file)
    assert load(file) == FULL
    assert load(str(file)).content_hash == FULL.content_hash
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_both_formats_hold_the_same_set(tmp_path):
    pytest.importorskip("yaml")
    dump(FULL, tmp_path / "a.yaml")
    dump(load(tmp_path / "a.yaml"), tmp_path / "b.jsonl")
    assert load(tmp_path / "b.jsonl") == FULL


def test_lines_are_for_people_too(tmp_path):
    dump(FULL, tmp_path / "a.jsonl")
    assert "温度" not in (tmp_path / "a.jsonl").read_text("utf-8")  # this line holds half a surrogate pair
    dump(GoldenSet("größe", "1", (GoldenItem("a", "温度?"),)), tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text("utf-8").startswith('{"name": "größe", "version": "1"}\n{"id": "a", "que')
    assert "温度" in (tmp_path / "b.jsonl").read_text("utf-8")


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_are_fine(tmp_path):
    file = jsonl(tmp_path, "\ufeff" + HEADER, "", "  ", ITEM, "", end="\r\n")
    assert load(file).items == (GoldenItem("a", "How long?"),)
    assert read(file).lines == {"a": 4}


def test_a_chunk_may_be_a_string_alone(tmp_path):
    assert load(jsonl(tmp_path, HEADER, item(chunks=["x", {"text": "y", "id": "2"}]))).items[0] == GoldenItem(
        "a", "q", chunks=(Chunk("x"), Chunk("y", id="2"))
    )


def test_yaml_dates_are_the_text_that_they_are(tmp_path):
    text = (
        "name: shop\nversion: '1'\nitems:\n- id: a\n  question: q\n  verified_on: 2025-05-01\n"
        "  metadata: {x: 1.5, y: yes, z: ~, '=': =, <<: 1}\n"
    )
    found = load(yaml(tmp_path, text)).items[0]
    assert found.verified_on == "2025-05-01"
    assert found.metadata == {"x": 1.5, "y": True, "z": None, "=": "=", "<<": 1}


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["{"], 1, "not JSON"),
        ([HEADER, ITEM, "[1]"], 3, "not a JSON object but a list"),
        ([HEADER, "7"], 2, "not a JSON object but a number"),
        ([HEADER, "", '{"id": NaN}'], 3, "NaN is no JSON value"),
        ([HEADER, '{"metadata": {"a": 1e999}}'], 2, "a number is too large"),
        ([HEADER, '{"metadata": ' + "9" * 5000 + "}"], 2, "too many digits"),
        ([HEADER, '{"metadata": ' + "[" * 100_000 + "]" * 100_000 + "}"], 2, "nested too deeply"),
        ([HEADER, '{"metadata": ' + "[" * 900 + "]" * 900 + "}"], 2, "nested too deeply"),
        ([HEADER, '{"metadata": ' + '{"a": ' * 60 + "1" + "}" * 61], 2, "nested too deeply"),
        ([HEADER, '{"id": "a", "id": "b"}'], 2, "a key stands twice"),
        ([ITEM, ITEM], 1, "an item stands where the header must be"),
        (['{"name": "x"}', ITEM], 1, "version is missing"),
        (['{"name": "x", "version": 1}', ITEM], 1, "version must be a string, not a number: put it in quotes"),
        (['{"name": " ", "version": "1"}', ITEM], 1, "name is blank"),
        (['{"name": "x", "version": "1", "owner": "me"}', ITEM], 1, "unknown: 'owner'; a header has name"),
        ([HEADER, ITEM, ITEM], 3, "the id stands on line 2 already"),
        ([HEADER, '{"question": "q"}'], 2, "id is missing"),
        ([HEADER, '{"id": "a"}'], 2, "question is missing"),
        ([HEADER, item(question="\u200b")], 2, "question is blank"),
        ([HEADER, item(qestion="x")], 2, "unknown: 'qestion'; an item has id"),
        ([HEADER, item(**{"a long text that somebody wrote": 1})], 2, "unknown: one of its keys"),
        ([HEADER, item(answer=["x"])], 2, "answer must be a string, not a list"),
        ([HEADER, item(want="maybe")], 2, "want must be one of answer, refusal"),
        ([HEADER, item(origin="model")], 2, "origin must be one of human, synthetic"),
        ([HEADER, item(split="test")], 2, "split must be one of tune, heldout"),
        ([HEADER, item(verified_on="1.5.2025")], 2, "verified_on must be a date"),
        ([HEADER, item(verified_on="2025-02-30")], 2, "verified_on must be a date"),
        ([HEADER, item(verified_on="20250201")], 2, "verified_on must be a date"),
        ([HEADER, item(verified_on="2026-W01-1")], 2, "verified_on must be a date"),
        ([HEADER, item(tags="x")], 2, "tags must be a list, not a string"),
        ([HEADER, item(tags=[""])], 2, "tags must hold strings, not a blank string"),
        ([HEADER, item(tags=[None])], 2, "tags must hold strings, not null"),
        ([HEADER, item(chunk_ids=["x", "x"])], 2, "chunk_ids holds the same string twice"),
        ([HEADER, item(metadata=[])], 2, "metadata must be a mapping, not a list"),
        ([HEADER, item(chunks=[7])], 2, "chunks must hold mappings with text, id, source, score, metadata"),
        ([HEADER, item(chunks=[{"id": "x"}])], 2, "text is missing"),
        ([HEADER, item(chunks=[""])], 2, "text is blank"),
        ([HEADER, item(chunks=[{"text": "x", "page": 1}])], 2, "unknown: 'page'; an entry of chunks has text"),
        ([HEADER, item(chunks=[{"text": "x", "score": "1"}])], 2, "score of a chunk must be a number, not a string"),
        ([HEADER, item(chunks=[{"text": "x", "score": 10**400}])], 2, "score of a chunk must be finite"),
        ([HEADER, item(chunks=[{"text": "x", "score": True}])], 2, "must be a number, not true or false"),
        ([HEADER, item(history=["hi"])], 2, "history must hold mappings with role, content, not a string"),
        ([HEADER, item(history=[{"content": "hi"}])], 2, "role is missing"),
    ],
)
def test_an_error_names_file_and_line(tmp_path, lines, line, what):
    file = jsonl(tmp_path, *lines)
    with pytest.raises(InputError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert what in str(caught.value)


TOP = "name: shop\nversion: '1'\nitems:\n"
ONE = "- id: a\n  question: q\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (f"{TOP}{ONE}{ONE}", 6, "the id stands on line 4 already"),
        (f"{TOP}{ONE}  answer: no\n", 6, "answer must be a string, not true or false: put it in quotes"),
        (f"{TOP}{ONE}- id: b\n", 6, "question is missing"),
        (f"{TOP}{ONE}  nope: x\n", 6, "unknown: 'nope'"),
        (f"name: shop\nversion: 1.0\nitems:\n{ONE}", 2, "version must be a string, not a number: put it in quotes"),
        (f"name: shop\nname: x\nitems:\n{ONE}", 2, "a key stands twice"),
        (f"name: shop\n7: x\nitems:\n{ONE}", 2, "a key must be a string"),
        (f"{TOP}- [x]\n", 4, "an item must be a mapping"),
        (f"{TOP}- x\n", 4, "an item must be a mapping"),
        ("name: x\nversion: '1'\nitems: 7\n", 3, "items must be a list, not a number"),
        ("- x\n", 1, "the file must be a mapping"),
        ("", 1, "the file must be a mapping"),
        (f"{TOP}{ONE}  tags: &x [u]\n- id: b\n  question: q\n  tags: *x\n", 9, "an alias"),
        (f"{TOP}{ONE}  metadata: " + "{a: " * 60 + "}" * 60, 6, "nested too deeply"),
        (f"{TOP}{ONE}  metadata: " + "[" * 3000 + "]" * 3000, 6, "nested too deeply"),
        (f"{TOP}{ONE}  metadata: {{x: .nan}}\n", 6, "a number that is not finite"),
        (f"{TOP}{ONE}  metadata: {{x: -.inf}}\n", 6, "a number that is not finite"),
        (f"{TOP}{ONE}  metadata: {{x: {'9' * 5000}}}\n", 6, "a number that can't be read"),
        (f"{TOP}{ONE}  metadata: {{x: !!int nine}}\n", 6, "a number that can't be read"),
        (f"{TOP}{ONE}  metadata: {{x: !!bool nine}}\n", 6, "can't be read"),
        (f"{TOP}{ONE}  metadata: {{x: !!python/name:os.system y}}\n", 6, "a tag (!name)"),
        (f"{TOP}{ONE}  metadata: {{x: !mine y}}\n", 6, "a tag (!name)"),
        (f"{TOP}{ONE}  metadata: {{x: !!set {{a, b}}}}\n", 6, "a tag (!name)"),
        (f"{TOP}{ONE}  metadata: {{x: !!omap [a: 1]}}\n", 6, "a tag (!name)"),
        (f"{TOP}{ONE}  metadata: !!set {{a, b}}\n", 6, "a tag (!name)"),
        (f"{TOP}- !mine\n  id: a\n", 4, "a tag (!name)"),
        ("name: x\nitems: !!omap\n- a: 1\n", 2, "a tag (!name)"),
        (f"{TOP}- id: a\n  question: 'x\u2028y\x85z\u2029'\n  nope: x\n", 6, "unknown: 'nope'"),
        (f"{TOP}- id: a\n  question: 'x\u2028y'\n  answer: 'x\n", 7, "not YAML"),
        (f"{TOP}{ONE}  answer: 'x\n", 7, "not YAML"),
        (f"{TOP}{ONE}  answer: \x07\n", 6, "a character that YAML doesn't allow"),
        (f"{TOP}{ONE}---\n{ONE}", 6, "not YAML"),
    ],
)
def test_an_error_in_yaml_names_file_and_line(tmp_path, text, line, what):
    file = yaml(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert what in str(caught.value)


def test_a_billion_laughs_are_refused_before_anything_is_made_of_them(tmp_path):
    levels = "".join(f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 10))
    file = yaml(tmp_path, f"name: x\nversion: '1'\nmetadata:\n  l0: &l0 [lol]\n{levels}items: []\n")
    with pytest.raises(InputError, match="line 5: an alias"):
        load(file)


@pytest.mark.parametrize("name", ["set.jsonl", "set.yaml"])
def test_a_set_with_a_header_only_is_no_set(tmp_path, name):
    pytest.importorskip("yaml")
    text = HEADER if name == "set.jsonl" else "name: shop\nversion: '1'\n"
    file = jsonl(tmp_path, text, name=name)
    with pytest.raises(InputError, match="a header and no items") as caught:
        load(file)
    assert str(file) in str(caught.value)


def test_an_empty_file_is_no_set(tmp_path):
    with pytest.raises(InputError, match=r"set\.jsonl is empty"):
        load(jsonl(tmp_path, " ", "\n"))


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"set\.csv: a golden set ends in \.jsonl"):
        load(tmp_path / "set.csv")
    with pytest.raises(InputError, match="a golden set ends in"):
        dump(FULL, tmp_path / "set")


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(InputError, match=r"can't read .*nowhere\.jsonl: No such file"):
        load(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize("name", ["set.jsonl", "set.yaml"])
def test_other_encodings_are_named_with_the_line(tmp_path, name):
    pytest.importorskip("yaml")
    file = tmp_path / name
    file.write_bytes(HEADER.encode() + b"\n" + "Größe".encode("cp1252"))
    with pytest.raises(InputError, match=rf"{name}, line 2: not UTF-8 text"):
        load(file)
    file.write_bytes(HEADER.encode("utf-16"))
    with pytest.raises(InputError, match="is UTF-16, not UTF-8"):
        load(file)


def test_a_file_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="can't write"):
        dump(FULL, tmp_path / "no such folder" / "set.jsonl")
    (tmp_path / "set.jsonl").mkdir()
    with pytest.raises(InputError, match="can't write"):
        dump(FULL, tmp_path / "set.jsonl")
    assert [each.name for each in tmp_path.iterdir()] == ["set.jsonl"]


def test_an_error_quotes_no_text_of_an_item(tmp_path):
    file = jsonl(tmp_path, HEADER, item(question=7, answer="secret"), item(id="b", want="secret"))
    with pytest.raises(InputError) as caught:
        load(file)
    assert "secret" not in str(caught.value)


def test_without_pyyaml_yaml_says_what_to_install_and_the_rest_works(tmp_path):
    dump(FULL, tmp_path / "set.jsonl")
    code = (
        "import sys; sys.modules['yaml'] = None\n"
        "from groundguard.evaluation.golden import dump, load\n"
        f"golden = load({str(tmp_path / 'set.jsonl')!r})\n"
        f"dump(golden, {str(tmp_path / 'set.yaml')!r})"
    )
    done = process(code=code)
    assert b'UsageError: a golden set in YAML needs PyYAML: pip install "groundguard-rag[eval]"' in done.stderr


def test_importing_the_package_loads_no_yaml():
    assert process(code="import sys, groundguard.evaluation.golden; sys.exit('yaml' in sys.modules)").returncode == 0
