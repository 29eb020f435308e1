"""`groundguard golden`: every command, its exit code, what it prints and what it writes."""

import json

import pytest

from end_to_end.command import invoke, process
from groundguard.evaluation.golden import SAMPLE, GoldenItem, GoldenSet, Split, Want, dump, load
from groundguard.records import Chunk

ITEMS = (
    GoldenItem("a", "How long is the warranty?", "Two years.", chunks=(Chunk("x"),), tags=("shop",)),
    GoldenItem("b", "How LONG is the warranty", "Two years.", chunks=(Chunk("x"),), tags=("shop",)),
    GoldenItem("c", "Who founded it?", want=Want.REFUSAL),
)
SMALL = GoldenSet("shop", "1", ITEMS)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shop.jsonl"
    dump(SMALL, path)
    return path


def out(result):
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_the_sample_is_written_linted_and_locked(tmp_path):
    folder = tmp_path / "insurer"
    done = invoke("golden", "sample", folder)
    assert done.exit_code == 0
    assert f"cd {folder}" in done.stdout
    done = invoke("golden", "lint", folder / "golden.jsonl")
    assert (done.exit_code, "0 errors, 0 warnings, 0 notes" in done.stdout) == (0, True)
    done = invoke("golden", "lock", folder / "golden.jsonl")
    assert (done.exit_code, "was locked already, unchanged" in done.stdout) == (0, True)


def test_the_sample_as_json(tmp_path):
    done = invoke("golden", "sample", tmp_path / "insurer", "--json")
    sample = load(SAMPLE)
    assert out(done) == {
        "name": "quillwater",
        "version": "1",
        "items": 60,
        "content_hash": sample.content_hash,
        "file": str(tmp_path / "insurer" / "golden.jsonl"),
    }
    again = invoke("golden", "sample", tmp_path / "insurer")
    assert (again.exit_code, "is not empty" in again.stderr) == (2, True)


def test_lint_says_what_is_wrong_where_and_what_to_do(file):
    done = invoke("golden", "lint", file)
    assert done.exit_code == 1
    assert "shop 1: 3 items, 1 to be refused" in done.stdout
    assert "error  duplicate  line 2  (a, b)\n  the same question 2 times" in done.stdout
    assert "  -> keep one of them\n" in done.stdout
    assert "1 error, 2 warnings, 2 notes" in done.stdout


def test_lint_as_json(file):
    done = invoke("golden", "lint", file, "--json")
    findings = {finding["code"]: finding for finding in out(done)["findings"]}
    assert done.exit_code == 1
    assert set(findings) == {"duplicate", "few-items", "no-heldout", "unverified", "not-locked"}
    assert findings["duplicate"]["line"] == 2
    assert findings["duplicate"]["severity"] == "error"
    assert out(done)["content_hash"] == SMALL.content_hash


def test_notes_alone_are_fine(tmp_path):
    invoke("golden", "sample", tmp_path / "s")
    (tmp_path / "s" / "golden.lock.json").unlink()
    done = invoke("golden", "lint", tmp_path / "s" / "golden.jsonl")
    assert (done.exit_code, "0 errors, 0 warnings, 1 note" in done.stdout) == (0, True)


def test_lint_sees_items_that_changed_under_the_same_version(file):
    invoke("golden", "lock", file)
    dump(GoldenSet("shop", "1", ITEMS[1:]), file)
    (finding,) = (each for each in out(invoke("golden", "lint", file, "--json"))["findings"] if each["code"] == "lock")
    assert finding["severity"] == "error"
    assert "version is still '1' (removed: a)" in finding["message"]


def test_lock_refuses_items_that_changed_under_the_same_version(file):
    done = invoke("golden", "lock", file, "--json")
    assert (done.exit_code, out(done)["new"], out(done)["lock"]) == (0, True, str(file.with_suffix(".lock.json")))
    dump(GoldenSet("shop", "1", ITEMS[1:]), file)
    done = invoke("golden", "lock", file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "give the set a new version" in done.stderr
    dump(GoldenSet("shop", "2", ITEMS[1:]), file)
    done = invoke("golden", "lock", file)
    assert (done.exit_code, "locked shop 2 (2 items)" in done.stdout) == (0, True)


def test_split_writes_a_new_set(file, tmp_path):
    target = tmp_path / "split.jsonl"
    done = invoke("golden", "split", file, "--output", target, "--version", "2")
    assert done.exit_code == 0
    assert done.stderr == ""
    golden = load(target)
    assert (golden.name, golden.version) == ("shop", "2")
    assert golden.items[0].split is golden.items[1].split
    assert {item.split for item in golden.items} == set(Split)
    assert load(file) == SMALL


def test_split_writes_over_a_file_only_if_told(file):
    done = invoke("golden", "split", file, "--output", file)
    assert (done.exit_code, "add --overwrite" in done.stderr) == (2, True)
    assert load(file) == SMALL
    done = invoke("golden", "split", file, "--output", file, "--overwrite", "--heldout", "0.9", "--json")
    assert out(done)["splits"] == {"heldout": 3}
    assert "the items changed, and the version is still '1'" in done.stderr
    done = invoke("golden", "split", file, "--output", file, "--overwrite", "--seed", "5")
    assert (done.exit_code, done.stderr) == (0, "")


def test_split_refuses_a_share_that_is_none(file, tmp_path):
    done = invoke("golden", "split", file, "--output", tmp_path / "x.jsonl", "--heldout", "2")
    assert (done.exit_code, "above 0 and below 1" in done.stderr) == (2, True)


def test_diff_says_what_changed(file, tmp_path):
    new = tmp_path / "new.jsonl"
    changed = GoldenItem("c", "Who founded it?", want=Want.REFUSAL, tags=("x",))
    dump(GoldenSet("shop", "1", (ITEMS[0], changed, GoldenItem("d", "q")), "For\x1b[31m tests."), new)
    done = invoke("golden", "diff", file, new)
    assert done.exit_code == 1
    assert "description: - -> For\\x1b[31m tests.\n+ d\n- b\n~ c\n    tags: [] -> ['x']\n" in done.stdout
    assert "1 added, 1 removed, 1 changed, 1 unchanged" in done.stdout
    assert "give the newer set a new version" in done.stderr
    found = out(invoke("golden", "diff", file, new, "--json"))
    assert found["changed"] == [{"id": "c", "fields": {"tags": [[], ["x"]]}}]
    assert found["needs_version"] is True


def test_diff_of_the_same_is_empty(file):
    done = invoke("golden", "diff", file, file)
    assert (done.exit_code, done.stdout) == (0, "0 added, 0 removed, 0 changed, 3 unchanged\n")


def test_import_makes_a_set(tmp_path):
    source = tmp_path / "testset.csv"
    source.write_text("user_input,reference,response,synthesizer_name\nHow long?,Two years.,No idea.,s\n")
    target = tmp_path / "support.jsonl"
    done = invoke("golden", "import", source, "--output", target)
    assert done.exit_code == 0
    assert "note: read as ragas; left out: response" in done.stderr
    golden = load(target)
    assert (golden.name, golden.version, golden.items[0].answer) == ("support", "1", "Two years.")
    done = invoke("golden", "import", source, "--output", target)
    assert (done.exit_code, "exists" in done.stderr) == (2, True)


def test_import_as_json_with_every_option(tmp_path):
    source, target = tmp_path / "g.jsonl", tmp_path / "t.jsonl"
    source.write_text('{"input": "q", "context": "a;b"}\n')
    options = ("--name", "n", "--version", "7", "--format", "deepeval", "--delimiter", ";", "--origin", "synthetic")
    done = invoke("golden", "import", source, "--output", target, *options, "--json")
    assert (out(done)["name"], out(done)["version"], out(done)["format"]) == ("n", "7", "deepeval")
    assert done.stderr == ""
    (item,) = load(target).items
    assert ([chunk.text for chunk in item.chunks], item.origin.value) == (["a", "b"], "synthetic")


def test_import_refuses_a_format_that_nobody_knows(tmp_path):
    done = invoke("golden", "import", tmp_path / "g.jsonl", "--output", tmp_path / "t.jsonl", "--format", "trulens")
    assert (done.exit_code, "--format is 'ragas' or 'deepeval'" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["lint", "lock"])
def test_a_bad_file_is_bad_input(tmp_path, command):
    file = tmp_path / "bad.jsonl"
    file.write_text('{"name": "x", "version": "1"}\n{"id": "a"}\n')
    done = invoke("golden", command, file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"groundguard: {file}, line 2: question is missing\n" == done.stderr


def test_help_teaches_by_example():
    done = invoke("golden", "--help")
    assert "groundguard golden sample insurer" in done.stdout
    for command in ("lint", "lock", "split", "diff", "import", "sample"):
        done = invoke("golden", command, "--help")
        assert f"groundguard golden {command} " in done.stdout
        assert "Exit codes:" in done.stdout


def test_a_terminal_that_cannot_show_a_character_shows_a_replacement(tmp_path):
    file = tmp_path / "set.jsonl"
    dump(GoldenSet("größe", "1", (GoldenItem("温度", "q", tags=("温",)),)), file)
    done = process("golden", "lint", file, PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 1
    assert "größe 1: 1 item,".encode("cp1252") in done.stdout
