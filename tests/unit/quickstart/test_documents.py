"""Reading a folder: what is read, in which order, and what a person is told when it can't be."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from groundguard.errors import InputError
from groundguard.quickstart import SAMPLES, read_documents

NOBODY = 65534


def test_reads_markdown_and_text_below_a_folder_in_sorted_order(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.md").write_text("B")
    (tmp_path / "a.TXT").write_text("A")
    (tmp_path / "sub" / "c.markdown").write_text("C")
    (tmp_path / "d.html").write_text("no")
    assert [(d.path, d.text) for d in read_documents(tmp_path)] == [
        ("a.TXT", "A"),
        ("b.md", "B"),
        ("sub/c.markdown", "C"),
    ]


def test_leaves_out_hidden_files_and_folders(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("no")
    (tmp_path / ".y.md").write_text("no")
    (tmp_path / "z.md").write_text("yes")
    assert [d.path for d in read_documents(tmp_path)] == ["z.md"]


def test_a_single_file_may_have_any_name(tmp_path):
    file = tmp_path / "README"
    file.write_text("hello")
    assert [(d.path, d.text) for d in read_documents(str(file))] == [("README", "hello")]


def test_byte_order_mark_and_line_ends_are_evened_out(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_documents(file)[0].text == "one\ntwo\nthree\n"


@pytest.mark.skipif(sys.platform == "win32", reason="links to folders need a privilege there")
def test_loops_of_links_and_dead_links_are_harmless(tmp_path):
    (tmp_path / "a.md").write_text("A")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dead.md").symlink_to(tmp_path / "nowhere")
    assert [d.path for d in read_documents(tmp_path)] == ["a.md"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no such file or folder: .*nowhere"):
        read_documents(tmp_path / "nowhere")


def test_a_folder_without_documents_says_what_it_looked_for(tmp_path):
    (tmp_path / "a.pdf").write_text("no")
    with pytest.raises(InputError, match=r"no documents in .*\.markdown, \.md, \.txt"):
        read_documents(tmp_path)


def test_a_file_that_is_not_utf_8_is_named_with_the_place(tmp_path):
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"latin\.md is not UTF-8 text \(byte 3\)"):
        read_documents(tmp_path)


@pytest.fixture
def guarded_folder():
    """A folder with a file and a folder that may not be read, seen by somebody who isn't root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for part in ("files/secret.md", "folders/secret/a.md"):
            (folder / part).parent.mkdir(parents=True)
            (folder / part).write_text("x")
        (folder / "files/secret.md").chmod(0)
        (folder / "folders/secret").chmod(0)
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        yield folder
        if root:
            os.seteuid(0)
        (folder / "folders/secret").chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions here")
def test_a_file_that_may_not_be_read_is_named(guarded_folder):
    with pytest.raises(InputError, match=r"can't read .*secret\.md"):
        read_documents(guarded_folder / "files")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions here")
def test_a_folder_that_may_not_be_listed_is_named(guarded_folder):
    with pytest.raises(InputError, match=r"can't list .*secret"):
        read_documents(guarded_folder / "folders")


@pytest.mark.skipif(sys.platform != "linux", reason="a file that opens and can't be read")
def test_a_device_that_fails_is_an_input_error():
    with pytest.raises(InputError, match="can't read /proc/self/mem"):
        read_documents("/proc/self/mem")


def test_the_samples_are_there():
    assert [d.path for d in read_documents(SAMPLES)] == ["refunds.md", "shipping.md", "warranty.md"]
