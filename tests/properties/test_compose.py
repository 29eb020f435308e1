import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from groundguard.guard import Guard
from groundguard.judges import Cascade, Majority
from groundguard.records import Chunk, Decision, Exchange, Status, Usage, Verdict, total_usage
from groundguard.testing import ScriptedJudge

YES, NO, SILENT = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
EXCHANGE = Exchange("What voltage?", (Chunk("It runs on 12 volts."),), "12 volts.")

scores = st.none() | st.floats(0, 1)
levels = st.none() | st.floats(0, 1, exclude_min=True)
said = st.builds(
    Verdict, st.sampled_from(Decision), score=scores, usage=st.none() | st.builds(Usage, st.integers(0, 9))
)
leaves = st.builds(ScriptedJudge, said | st.builds(ValueError, st.just("down")))
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Cascade, inner, inner, no_at=levels, yes_at=levels)
        | st.builds(Majority, st.lists(inner, min_size=2, max_size=4))
        | st.builds(Majority, inner, of=st.integers(2, 3))
    ),
    max_leaves=5,
)


def ruled(judge):
    """The decision and the score of a tree of judges, by the rules as they are promised."""
    if isinstance(judge, Cascade):
        decision, score = ruled(judge.first)
        sure_no = decision is NO and (judge.no_at is None or (score is not None and score <= judge.no_at))
        sure_yes = decision is YES and None not in (judge.yes_at, score) and score >= judge.yes_at
        return (decision, score) if sure_no or sure_yes else ruled(judge.then)
    if isinstance(judge, Majority):
        decisions = [ruled(seat)[0] for seat in judge.seats]
        yes, silent, half = decisions.count(YES), decisions.count(SILENT), len(decisions) / 2
        return YES if yes > half else SILENT if yes + silent > half else NO, yes / len(decisions)
    verdict = judge(EXCHANGE)
    return verdict.decision, verdict.score


def leaves_of(verdict):
    return [leaf for member in verdict.members for leaf in leaves_of(member)] if verdict.members else [verdict]


@given(trees)
def test_a_tree_of_judges_decides_by_the_rules_and_loses_nothing(judge):
    expected = ruled(judge)
    verdict = judge(EXCHANGE)
    assert (verdict.decision, verdict.score) == expected
    assert verdict.usage == total_usage(leaf.usage for leaf in leaves_of(verdict))
    assert verdict.calls == len(leaves_of(verdict))
    assert Verdict.from_dict(json.loads(json.dumps(verdict.to_dict()))) == verdict
    assert pickle.loads(pickle.dumps(verdict)) == verdict


@given(trees)
def test_nothing_is_answered_unless_some_judge_affirmed_it(judge):
    response = Guard(judge).check("What voltage?", answer="12 volts.", chunks=["It runs on 12 volts."])
    assert (response.status is Status.ANSWERED) == (ruled(judge)[0] is YES)
    if response.status is Status.ANSWERED:
        assert any(leaf.decision is YES for leaf in leaves_of(response.verdict))
