"""Was the judge well? Counted apart from what it said about the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groundguard.evaluation.results import ItemResult
from groundguard.evaluation.runner.control import health_of
from groundguard.fields import freeze, plain_fields
from groundguard.records import JUDGE_FAILURES

MOST_FAILURES = 0.05
"""The largest share of results in which a judge failed, before it is called unhealthy."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the judges of a run fared.

    Attributes:
        asked: In how many results a judge was asked.
        failed: In how many of these a judge failed, at least once: what it should have said is missing.
        reasons: Every judgement that could not be given, by its reason.
    """

    asked: int
    failed: int
    reasons: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reasons", freeze(self.reasons))

    def is_well(self, most: float = MOST_FAILURES) -> bool:
        """Whether the share of failures is at most `most`."""
        return self.failed <= most * self.asked

    def to_dict(self) -> dict[str, Any]:
        """The health as JSON values."""
        return plain_fields(self)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return f"the judge failed in {self.failed} of {self.asked} results" + (f" ({reasons})" if reasons else "")


def health(results: Iterable[ItemResult]) -> Health:
    """Count over a run, which may be a stream, how its judges fared."""
    asked = failed = 0
    reasons = Counter[str]()
    for result in results:
        failures = list(_failures(result))
        asked += health_of(result) is not None
        failed += bool(failures)
        reasons.update(failures)
    return Health(asked, failed, dict(reasons.most_common()))


def _failures(result: ItemResult) -> Iterable[str]:
    """The reason of each failure; one of the guard's own verdict that a metric took over counts once."""
    own: str | None = None if result.response is None else result.response.reason.value
    found = [score.unscored for score in result.scores if score.unscored is not None]
    yield from (reason for reason in found if reason in JUDGE_FAILURES)
    if own is not None and own in JUDGE_FAILURES and own not in found:
        yield own
