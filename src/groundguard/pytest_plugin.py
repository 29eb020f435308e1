"""The pytest plugin: golden sets as tests, and answers that must be grounded.

```python
@pytest.mark.golden("golden.jsonl", split="heldout")
def test_the_chain(golden_item, grounded):
    answer, chunks = chain(golden_item.question)
    grounded(golden_item.question, answer=answer, chunks=chunks)
```

pytest loads this module in every run of an environment that groundguard is installed in. So it imports nothing but
pytest; what a test asks for is loaded when the test asks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
    from groundguard.guard import Guard
    from groundguard.judges import Judge
    from groundguard.records import Response

ITEM = "golden_item"
"""The fixture that the mark fills."""

OPTION = "groundguard_judge"

MARK = (
    "golden(path, split=None, tags=(), want=None, locked=None): run a test that takes `golden_item` for every item of"
    " a golden set (groundguard)."
)

JUDGES = (
    "'lexical' (compares words, no model), 'openai:NAME', 'claims:openai:NAME', or a judge of yours as module:object"
)

NO_JUDGE = (
    f"`grounded` needs a judge, and none is the default: pass --groundguard-judge, set {OPTION} in the ini file, or"
    f" define a fixture {OPTION} that returns one. It is {JUDGES}."
)

_SETS: pytest.StashKey[dict[tuple[Path, bool | None], GoldenSet]] = pytest.StashKey()


class Grounded:
    """Judges answers, and fails the test whose answer is not grounded.

    Attributes:
        guard: The guard that judges.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def __call__(self, question: str, *, answer: str, chunks: object, history: Iterable[Any] = ()) -> Response[Any]:
        """Judge an answer, and fail unless it is `answered`; returns the labelled response.

        Args:
            question: The question.
            answer: What the pipeline said.
            chunks: What its generator saw: whatever a guard takes for chunks.
            history: Earlier messages.

        Raises:
            AssertionError: if the answer is not grounded, or the judge could not say.
        """
        __tracebackhide__ = True
        from groundguard.testing import assert_grounded  # noqa: PLC0415  # a test asks for it

        with warnings.catch_warnings():
            if self.guard.judge.name == "lexical":  # whose notice the header says: as an error it would fail one test
                warnings.filterwarnings("ignore", r"Lexical\(\)", UserWarning)
            response = self.guard.check(question, answer=answer, chunks=chunks, history=history)
        assert_grounded(response)
        return response


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which judge the fixture `grounded` asks."""
    group = parser.getgroup("groundguard", "grounded answers")
    group.addoption("--groundguard-judge", dest=OPTION, metavar="JUDGE", help=f"Who judges for `grounded`: {JUDGES}.")
    parser.addini(OPTION, "Who judges for the fixture `grounded`, unless --groundguard-judge says.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", MARK)
    config.stash[_SETS] = {}


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say who judges, where somebody does."""
    name = _judge_name(config)
    if not name:
        return None
    hint = ", which compares words and understands nothing" if name == "lexical" else ""
    return f"groundguard: judged by {name}{hint}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a marked test once for every item."""
    definition = metafunc.definition
    mark = definition.get_closest_marker("golden")
    if mark is None:
        return
    if ITEM not in metafunc.fixturenames:
        if mark in definition.own_markers and _is_ours(mark):
            _refuse(f"{definition.name} is marked golden but takes no `{ITEM}`: add it as a parameter")
        return
    items = _marked(mark, definition)
    metafunc.parametrize(ITEM, items, ids=[item.id for item in items])


@pytest.fixture
def golden_item() -> NoReturn:
    """One item of the golden set that `@pytest.mark.golden(path)` names."""
    pytest.fail(f'`{ITEM}` needs the mark: @pytest.mark.golden("golden.jsonl")', pytrace=False)


@pytest.fixture(scope="session")
def groundguard_judge(pytestconfig: pytest.Config) -> Judge:
    """The judge of `grounded`, by `--groundguard-judge` or the ini file; define your own to hand over another."""
    name = _judge_name(pytestconfig)
    if not name:
        pytest.fail(NO_JUDGE, pytrace=False)
    return judge_named(name)


@pytest.fixture
def grounded(groundguard_judge: Any) -> Grounded:
    """Judges an answer and fails the test unless it is grounded: `grounded(question, answer=..., chunks=...)`."""
    from groundguard.guard import Guard  # noqa: PLC0415  # a test asks for it

    return Grounded(Guard(groundguard_judge))


def judge_named(name: str) -> Judge:
    """The judge that the option names.

    Raises:
        UsageError: if it names none, or the environment lacks what it needs.
        InputError: if there is no such module or object.
    """
    from groundguard.errors import UsageError  # noqa: PLC0415  # a test asks for it
    from groundguard.judges import Claims, FactCheck, Lexical, as_judge  # noqa: PLC0415  # likewise

    if name == "lexical":
        return Lexical()
    if name.startswith("openai:"):
        return FactCheck(name)
    if name.startswith("claims:"):
        return Claims(name.removeprefix("claims:"))
    if ":" not in name:
        raise UsageError(f"the judge is {JUDGES}; not {name!r}")
    from groundguard.evaluation.runner.target import resolve  # noqa: PLC0415  # likewise

    return as_judge(resolve(name))


def _judge_name(config: pytest.Config) -> str:
    return str(config.getoption(OPTION) or config.getini(OPTION)).strip()


def _is_ours(mark: pytest.Mark) -> bool:
    """Whether a mark of that name is this one, and not that of another plugin: it names a golden set."""
    return bool(mark.args) and str(mark.args[0]).endswith((".jsonl", ".ndjson", ".yaml", ".yml"))


def _marked(mark: pytest.Mark, definition: Any) -> list[GoldenItem]:
    """The items that a mark asks for; none is an error, since a test that runs on nothing proves nothing."""
    path, wanted = _read(mark)
    found = _found(path, definition)
    items = [item for item in _loaded(found, definition.config, locked=wanted["locked"]).items if _fits(item, wanted)]
    if not items:
        filters = ", ".join(f"{name}={value!r}" for name, value in mark.kwargs.items())
        _refuse(f"{found} has no item with {filters}: nothing would be tested")
    return items


def _read(mark: pytest.Mark) -> tuple[Path, dict[str, Any]]:
    known: Mapping[str, Any] = {"split": None, "tags": (), "want": None, "locked": None}
    unknown = [name for name in mark.kwargs if name not in known]
    if len(mark.args) != 1 or not isinstance(mark.args[0], (str, Path)) or unknown:
        _refuse('the mark is golden("golden.jsonl", split=..., tags=..., want=..., locked=...); see `pytest --markers`')
    wanted = {**known, **mark.kwargs}
    wanted["tags"] = {wanted["tags"]} if isinstance(wanted["tags"], str) else set(wanted["tags"])
    return Path(mark.args[0]), wanted


def _fits(item: GoldenItem, wanted: Mapping[str, Any]) -> bool:
    return (
        wanted["split"] in (None, item.split)
        and wanted["want"] in (None, item.want)
        and wanted["tags"] <= set(item.tags)
    )


def _found(path: Path, definition: Any) -> Path:
    """The file beside the test, else below the root of the project."""
    places: list[Path] = [definition.path.parent / path, definition.config.rootpath / path]
    return next((place for place in places if place.exists()), places[0])


def _loaded(path: Path, config: pytest.Config, *, locked: bool | None) -> GoldenSet:
    from groundguard.errors import GroundguardError  # noqa: PLC0415  # a test asks for it
    from groundguard.evaluation.golden.reading import load  # noqa: PLC0415  # likewise

    sets = config.stash[_SETS]
    if (path, locked) not in sets:
        try:
            sets[path, locked] = load(path, locked=locked)
        except GroundguardError as error:
            _refuse(str(error))
    return sets[path, locked]


def _refuse(why: str) -> NoReturn:
    raise pytest.Collector.CollectError(f"groundguard: {why}")
