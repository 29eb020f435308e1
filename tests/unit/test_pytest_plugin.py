"""The pytest plugin, as a project of its own sees it; in a process of its own where what is loaded matters."""

from __future__ import annotations

import json
from typing import Any

import pytest

import groundguard.evaluation.runner.target  # a run inside this process forgets the modules that it was first to load
import groundguard.guard
import groundguard.testing  # noqa: F401  # likewise

pytest_plugins = ["pytester"]

INSIDE = ("-p", "no:cacheprovider", "-p", "no:socket", "-p", "no:xdist", "-p", "no:cov")
"""Without the plugins whose work an inner run would undo for the outer one."""

ITEMS = [
    {
        "id": "limit",
        "question": "How much is covered?",
        "answer": "5,000 euros.",
        "split": "heldout",
        "tags": ["water"],
    },
    {
        "id": "excess",
        "question": "What is the excess?",
        "answer": "150 euros.",
        "split": "tune",
        "tags": ["water", "a"],
    },
    {"id": "parrot", "question": "Is my parrot insured?", "want": "refusal", "split": "heldout"},
]

GROUNDED = """
import pytest

@pytest.mark.golden("golden.jsonl")
def test_it(golden_item, grounded):
    response = grounded(golden_item.question, answer="The lamp runs on 12 volts.", chunks=["The lamp runs on 12 volts."])
    assert response.status == "answered"
"""


def write_golden(folder: Any, items: list[dict[str, Any]] = ITEMS) -> None:
    lines = [{"name": "insurer", "version": "1"}, *items]
    (folder / "golden.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty project with a golden set."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    write_golden(pytester.path)
    return pytester


def run(project: pytest.Pytester, code: str, *args: str) -> pytest.RunResult:
    project.makepyfile(code)
    return project.runpytest_inprocess(*INSIDE, *args)


def test_a_marked_test_runs_once_for_every_item_and_says_which(project: pytest.Pytester) -> None:
    result = run(project, GROUNDED, "-v", "--groundguard-judge=lexical")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "groundguard: judged by lexical, which compares words*",
            "*test_it?limit?*",
            "*test_it?excess?*",
            "*test_it?parrot?*",
        ]
    )


def test_it_works_side_by_side(project: pytest.Pytester) -> None:
    project.makepyfile(GROUNDED)

    result = project.runpytest_subprocess("-n", "2", "--groundguard-judge=lexical")

    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ('split="heldout"', ["limit", "parrot"]),
        ('split="heldout", want="answer"', ["limit"]),
        ('tags="water"', ["limit", "excess"]),
        ('tags=["water", "a"]', ["excess"]),
        ('want="refusal"', ["parrot"]),
    ],
)
def test_a_mark_chooses_items(project: pytest.Pytester, options: str, ids: list[str]) -> None:
    code = f'import pytest\n@pytest.mark.golden("golden.jsonl", {options})\ndef test_it(golden_item): pass'

    result = run(project, code, "--collect-only", "-q")

    assert [line.partition("[")[2][:-1] for line in result.outlines if "[" in line] == ids


def test_a_mark_on_the_module_covers_those_that_take_an_item(project: pytest.Pytester) -> None:
    code = """
        import pytest
        pytestmark = pytest.mark.golden("golden.jsonl", locked=False)
        def test_it(golden_item): assert golden_item.question
        def test_the_same_set_again(golden_item): assert golden_item.question
        def test_other(): pass
        """

    run(project, code).assert_outcomes(passed=7)


def test_a_set_lies_beside_the_test_or_below_the_root(project: pytest.Pytester) -> None:
    deep = project.mkpydir("deep")
    code = 'import pytest\n@pytest.mark.golden("golden.jsonl")\ndef test_it(golden_item): pass'
    (deep / "test_deep.py").write_text(code, encoding="utf-8")

    project.runpytest_inprocess(*INSIDE, "--rootdir", str(project.path)).assert_outcomes(passed=3)
    write_golden(deep, ITEMS[:1])
    project.runpytest_inprocess(*INSIDE, "--rootdir", str(project.path)).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "parameters", "said"),
    [
        ('("golden.jsonl")', "", "*takes no `golden_item`*"),
        ('("nowhere.jsonl")', "golden_item", "*can't read*nowhere.jsonl*"),
        ('("golden.jsonl", split="nothing")', "golden_item", "*no item with split='nothing': nothing would be tested*"),
        ('("golden.jsonl", splits="tune")', "golden_item", "*the mark is golden(*"),
        ("()", "golden_item", "*the mark is golden(*"),
    ],
)
def test_a_mark_that_would_test_nothing_is_an_error(
    project: pytest.Pytester, mark: str, parameters: str, said: str
) -> None:
    result = run(project, f"import pytest\n@pytest.mark.golden{mark}\ndef test_it({parameters}): pass")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
    assert "Traceback" not in result.stdout.str()


def test_a_broken_line_is_told_with_its_number(project: pytest.Pytester) -> None:
    with (project.path / "golden.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n{broken")

    result = run(project, GROUNDED)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*golden.jsonl*5*"])


def test_a_mark_of_that_name_from_elsewhere_is_left_alone(project: pytest.Pytester) -> None:
    run(project, "import pytest\n@pytest.mark.golden\ndef test_it(): pass").assert_outcomes(passed=1)


def test_an_item_without_a_mark_says_what_it_needs(project: pytest.Pytester) -> None:
    result = run(project, "def test_it(golden_item): pass")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*`golden_item` needs the mark: @pytest.mark.golden*"])


def test_no_judge_is_the_default(project: pytest.Pytester) -> None:
    result = run(project, GROUNDED)

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*`grounded` needs a judge, and none is the default*"])
    assert "groundguard: judged by" not in result.stdout.str()


def test_an_answer_that_is_not_grounded_fails_and_says_why(project: pytest.Pytester) -> None:
    code = """
        def test_it(grounded):
            grounded("What?", answer="The lamp runs on 24 volts.\\u202e", chunks=["The lamp runs on 12 volts."])
        """
    project.makeini("[pytest]\ngroundguard_judge = lexical")

    result = run(project, code)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *AssertionError: not grounded: ungrounded (unsupported)",
            "E *not supported: The lamp runs on 24 volts. (lacks or contradicts: 24*",
            "E *answer: The lamp runs on 24 volts.\\u202e",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_judge_that_could_not_say_fails_the_test_and_is_no_skip(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import pytest
        from groundguard.testing import ScriptedJudge

        @pytest.fixture(scope="session")
        def groundguard_judge():
            return ScriptedJudge(OSError("the server is down"))
        """
    )

    result = run(project, 'def test_it(grounded): grounded("Q?", answer="A.", chunks=["C."])')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*not grounded: ungrounded (judge_error)", "*could not say*a failure, not a skip*"])


def test_the_command_line_goes_before_the_ini_file(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\ngroundguard_judge = openai:nobody")
    code = """
        def test_it(grounded, groundguard_judge):
            assert groundguard_judge.name == "lexical"
            assert grounded.guard.judge is groundguard_judge
        """

    run(project, code, "--groundguard-judge", "lexical").assert_outcomes(passed=1)


def test_a_judge_is_named(project: pytest.Pytester) -> None:
    project.makepyfile(own="judge = lambda exchange: True")
    code = """
        import pytest
        from groundguard.errors import InputError, UsageError
        from groundguard.pytest_plugin import judge_named

        def test_it(monkeypatch):
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            names = [judge_named(name).name for name in ("lexical", "openai:m", "claims:openai:m")]
            assert names == ["lexical", "fact_check:m", "claims:m"]
            assert "lambda" in judge_named("own:judge").name
            with pytest.raises(UsageError, match="not 'lexicl'"):
                judge_named("lexicl")
            with pytest.raises(InputError, match="no module"):
                judge_named("nowhere:judge")
        """

    run(project, code).assert_outcomes(passed=1)


def test_a_run_that_guards_nothing_loads_nothing_of_it(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makeconftest(
        """
        import sys

        def pytest_unconfigure():
            ours = sorted(name for name in sys.modules if name.startswith("groundguard"))
            heavy = {"openai", "langchain_core", "numpy", "jinja2", "opentelemetry", "structlog", "tenacity", "yaml"}
            print("loaded:", ours, sorted(heavy & sys.modules.keys()))
        """
    )

    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # those of others load what they like
    project.makepyfile("def test_it(): pass")

    result = project.runpytest_subprocess("--collect-only", "-p", "groundguard.pytest_plugin")

    assert "loaded: ['groundguard', 'groundguard.pytest_plugin'] []" in result.outlines


def test_the_mark_is_known(project: pytest.Pytester) -> None:
    result = run(project, GROUNDED, "--strict-markers", "--markers")

    result.stdout.fnmatch_lines(["@pytest.mark.golden(path, split=None,*"])
