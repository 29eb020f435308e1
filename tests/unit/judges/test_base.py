import asyncio
import functools
import itertools
import threading
import warnings

import pytest

from groundguard.errors import GroundguardWarning, UsageError
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Emit
from groundguard.guard import Guard
from groundguard.judges import (
    Cascade,
    Claims,
    FactCheck,
    FunctionJudge,
    Judge,
    Majority,
    Window,
    as_judge,
    fingerprint,
    judged,
)
from groundguard.models import Reply
from groundguard.policy import as_policy
from groundguard.records import Chunk, Claim, Decision, Exchange, Reason, Status, Usage, Verdict
from groundguard.retry import Retry
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.exchange import stuck

EXCHANGE = Exchange("What voltage?", (Chunk("It runs on 12 volts."),), "12 volts.")

malformed = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


def says(what):
    def judge(exchange):
        if isinstance(what, BaseException):
            raise what
        return what

    return judge


def asays(what):
    async def judge(exchange):
        return says(what)(exchange)

    return judge


def in_both_doors(what):
    yield lambda: as_judge(says(what))(EXCHANGE)
    yield lambda: asyncio.run(as_judge(says(what)).acall(EXCHANGE))
    yield lambda: asyncio.run(as_judge(asays(what)).acall(EXCHANGE))
    yield lambda: Guard(says(what)).check("?", answer="12 volts.", chunks=["12 volts"]).verdict
    yield lambda: asyncio.run(Guard(asays(what)).acheck("?", answer="12 volts.", chunks=["12 volts"])).verdict


class Written(Judge):
    """A judge of one's own whose flow returns, or raises, whatever."""

    def __init__(self, said, name="written", print_="p"):
        self.said, self._name, self._print = said, name, print_

    @property
    def name(self):
        return self._out(self._name)

    @property
    def fingerprint(self):
        return self._out(self._print)

    def flow(self, exchange):
        yield Call(Callee(lambda: None, None, "nothing"))
        return self._out(self.said)

    @staticmethod
    def _out(value):
        if isinstance(value, BaseException):
            raise value
        return value


# What a callable may say.


@pytest.mark.parametrize("said", [True, False])
def test_a_truth_value_is_a_verdict(said):
    for ask in in_both_doors(said):
        verdict = ask()
        assert verdict.decision is (Decision.SUPPORTED if said else Decision.UNSUPPORTED)
        assert verdict.judge in {"says.<locals>.judge", "asays.<locals>.judge"}
        assert verdict.seconds >= 0
        assert verdict.calls == 1


def test_a_verdict_is_kept_with_all_it_says():
    said = Verdict(
        Decision.UNKNOWN,
        Reason.JUDGE_RATE_LIMITED,
        score=0.25,
        claims=(Claim("12 volts.", None),),
        raw="raw",
        detail="my own",
        error_type="Mine",
        judge="me",
        fingerprint="f",
        model="m",
        usage=Usage(1, 2),
        calls=7,
        seconds=99.0,
    )
    for ask in in_both_doors(said):
        verdict = ask()
        assert 0 <= verdict.seconds < 99
        assert {**verdict.to_dict(), "seconds": 99.0} == said.to_dict()


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.VERDICT_MALFORMED}))
def test_an_unknown_verdict_keeps_its_own_reason(reason):
    try:
        said = Verdict(Decision.UNKNOWN, reason)
    except ValueError:
        return
    response = Guard(says(said)).check("?", answer="12 volts.", chunks=["12 volts"])
    assert (response.status, response.reason) == (Status.UNGROUNDED, reason)


@malformed
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (None, "NoneType"),
        (1, "int"),
        (1.0, "float"),
        ("yes", "str"),
        ({"decision": "supported"}, "dict"),
        ((True,), "tuple"),
        (Verdict, "type"),
        (Decision.SUPPORTED, "groundguard.records.Decision"),
        (Reason.SUPPORTED, "groundguard.records.Reason"),
        (Status.ANSWERED, "groundguard.records.Status"),
    ],
)
def test_anything_else_is_malformed_and_names_the_type(said, kind):
    for ask in in_both_doors(said):
        verdict = ask()
        assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
        assert verdict.detail.endswith(f" returned {kind}; a judge returns a Verdict or a bool")


@malformed
def test_a_numpy_truth_value_is_none_and_the_message_tells_it_from_a_bool():
    numpy = pytest.importorskip("numpy")
    for said in (numpy.True_, numpy.bool_(1), numpy.array([True])):
        verdict = as_judge(says(said))(EXCHANGE)
        assert verdict.reason is Reason.VERDICT_MALFORMED
        assert "returned numpy." in verdict.detail


@malformed
@pytest.mark.parametrize("said", [None, "yes", 1, object()])
def test_a_judge_of_ones_own_is_held_to_the_same(said):
    verdict = Written(said)(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert (verdict.judge, verdict.fingerprint) == ("written", "p")


# Exceptions.


class Coded(Exception):
    def __init__(self, message="coded", **attributes):
        super().__init__(message)
        vars(self).update(attributes)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("model muse-9 is not loaded"), Reason.JUDGE_ERROR),
        (KeyError("verdict"), Reason.JUDGE_ERROR),
        (ZeroDivisionError(), Reason.JUDGE_ERROR),
        (ConnectionError("refused"), Reason.JUDGE_ERROR),
        (RecursionError("deep"), Reason.JUDGE_ERROR),
        (MemoryError(), Reason.JUDGE_ERROR),
        (ExceptionGroup("several", [ValueError("one")]), Reason.JUDGE_ERROR),
        (TimeoutError("slow"), Reason.JUDGE_TIMEOUT),
        (Coded(status_code=429), Reason.JUDGE_RATE_LIMITED),
        (Coded(status_code=429, code="insufficient_quota"), Reason.JUDGE_ERROR),
        (Coded(status_code=400, code="content_filter"), Reason.JUDGE_FILTERED),
        (Coded(status_code=401), Reason.JUDGE_ERROR),
        (Coded(status_code=503), Reason.JUDGE_ERROR),
        (Coded(status_code="429"), Reason.JUDGE_ERROR),
        (Coded(status_code=True), Reason.JUDGE_ERROR),
    ],
    ids=repr,
)
def test_an_exception_becomes_a_verdict_with_its_reason(error, reason):
    for ask in in_both_doors(error):
        verdict = ask()
        assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, reason)
        assert verdict.error_type == type(error).__name__
        assert verdict.detail == str(error)
        assert verdict.judge
        assert verdict.fingerprint
        assert "coded" not in repr(verdict)


def test_a_stop_iteration_does_not_end_the_flow():
    verdict = as_judge(says(StopIteration(True)))(EXCHANGE)
    assert (verdict.decision, verdict.error_type) == (Decision.UNKNOWN, "RuntimeError")


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no words")


class Unlookable(Exception):
    @property
    def status_code(self):
        raise ValueError("no code")


@pytest.mark.parametrize("error", [Unspeakable(), Unlookable("said")], ids=["str", "status_code"])
def test_an_exception_that_cannot_be_described_becomes_a_verdict_too(error):
    for judge in (Written(error), ScriptedJudge(error)):
        verdict = judge(EXCHANGE)
        assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_ERROR)


@pytest.mark.parametrize(
    "judge",
    [
        Written(True, name=AttributeError("nameless")),
        Written(True, print_=TypeError("no print")),
        Written(ValueError("broken")),
    ],
    ids=["name", "fingerprint", "flow"],
)
def test_a_broken_judge_of_ones_own_never_passes_and_never_raises(judge):
    response = Guard(judge).check("?", answer="12 volts.", chunks=["12 volts"])
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_ERROR)
    assert response.answer == "12 volts."


class NoFlow(Written):
    def flow(self, exchange):
        return Verdict(Decision.SUPPORTED)


def test_a_judge_that_returns_its_verdict_instead_of_a_flow_does_not_pass():
    assert NoFlow(True)(EXCHANGE).reason is Reason.JUDGE_ERROR


PASSING_THROUGH = [KeyboardInterrupt, SystemExit, GeneratorExit]


@pytest.mark.parametrize("kind", PASSING_THROUGH)
def test_what_must_reach_the_caller_reaches_it(kind):
    error = kind("stop")
    for judge in (as_judge(says(error)), Written(error), ScriptedJudge(error)):
        with pytest.raises(kind):
            run(judged(judge, EXCHANGE))
    with pytest.raises(kind):
        Guard(says(error), timeout=None).check("?", answer="12 volts.", chunks=["12 volts"])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_it_reaches_the_caller_also_from_a_thread_with_a_deadline(kind):
    with pytest.raises(kind):
        Guard(says(kind("stop")), timeout=30).check("?", answer="12 volts.", chunks=["12 volts"])


@pytest.mark.parametrize("timeout", [None, 30])
def test_a_cancelled_task_is_cancelled_and_gets_no_verdict(timeout):
    async def cancel():
        began = asyncio.Event()

        async def judge(exchange):
            began.set()
            await asyncio.sleep(60)

        guard = Guard(judge, timeout=timeout)
        task = asyncio.create_task(guard.acheck("?", answer="12 volts.", chunks=["12 volts"]))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())


def test_what_must_reach_the_caller_reaches_it_in_the_async_door():
    async def ask():
        with pytest.raises(GeneratorExit):
            await arun(judged(as_judge(asays(GeneratorExit("stop"))), EXCHANGE))

    asyncio.run(ask())


@pytest.mark.parametrize("timeout", [None, 30])
def test_a_judge_that_is_cancelled_from_inside_has_failed_and_cancels_nobody(timeout):
    async def ask():
        return await arun(judged(as_judge(asays(asyncio.CancelledError("stop"))), EXCHANGE, timeout=timeout))

    by_plain = run(judged(as_judge(says(asyncio.CancelledError("stop"))), EXCHANGE, timeout=timeout))
    for verdict in (asyncio.run(ask()), by_plain):
        assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_ERROR)
        assert verdict.detail == "the call was cancelled from inside"


class OwnVerdict(Verdict):
    def __init__(self, *, supported):
        super().__init__(Decision.SUPPORTED if supported else Decision.UNSUPPORTED)


class Proxy:
    """Has every attribute, as clients of remote procedures do."""

    def __getattr__(self, name):
        return Proxy()

    def __call__(self, exchange):
        return True


class Nameless(ScriptedJudge):
    @property
    def name(self):
        return 7


def test_a_verdict_of_a_class_of_ones_own_is_taken_for_what_it_says():
    verdict = as_judge(says(OwnVerdict(supported=True)))(EXCHANGE)
    assert type(verdict) is Verdict
    assert verdict.decision is Decision.SUPPORTED


def test_a_judge_that_has_every_attribute_is_called_by_its_class():
    assert as_judge(Proxy())(EXCHANGE).judge == "Proxy"


def test_a_judge_with_an_impossible_name_has_failed():
    verdict = Nameless(True)(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_ERROR)


def test_the_warning_of_a_malformed_verdict_quotes_nothing_of_the_judges():
    own = Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, detail="it said CANARY")
    with pytest.warns(GroundguardWarning, match="replied, but not with a verdict") as told:
        assert as_judge(says(own))(EXCHANGE).detail == "it said CANARY"
    assert "CANARY" not in str(told[0].message)


@pytest.mark.parametrize("make", [as_judge, as_policy, FactCheck, lambda thing: Guard(says(True), retriever=thing)])
@pytest.mark.parametrize("thing", [{"api_key": "CANARY"}, ["CANARY"], "CANARY"])
def test_an_error_tells_the_type_of_a_wrong_argument_and_not_its_value(make, thing):
    with pytest.raises(UsageError) as raised:
        make(thing)
    assert "CANARY" not in str(raised.value)


def test_a_wiring_mistake_is_raised_and_never_a_verdict():
    with pytest.raises(UsageError, match="wired"):
        as_judge(says(UsageError("wired")))(EXCHANGE)


# Async judges behind a sync door.


class Async:
    async def __call__(self, exchange):
        return True


class Method:
    async def judge(self, exchange):
        return True


ASYNC = {
    "function": asays(True),
    "object": Async(),
    "method": Method().judge,
    "partial": functools.partial(asays(True)),
    "partial of an object": functools.partial(Async()),
    "lambda": lambda exchange: asays(True)(exchange),
}


@pytest.mark.parametrize("name", ASYNC)
def test_an_async_judge_behind_a_sync_door_is_a_wiring_mistake(name):
    with pytest.raises(UsageError, match=r"is async: use the async door"):
        as_judge(ASYNC[name])(EXCHANGE)
    with pytest.raises(UsageError, match=r"is async: use the async door"):
        Guard(ASYNC[name]).check("?", answer="12 volts.", chunks=["12 volts"])


@pytest.mark.parametrize("name", ASYNC)
def test_an_async_judge_works_behind_the_async_door(name):
    assert asyncio.run(as_judge(ASYNC[name]).acall(EXCHANGE)).decision is Decision.SUPPORTED


# Recognising a judge.


def test_a_judge_is_itself_and_a_function_becomes_one():
    judge = ScriptedJudge(True)
    assert as_judge(judge) is judge
    assert isinstance(as_judge(says(True)), FunctionJudge)
    assert as_judge(Async()).name == "Async"
    assert as_judge(functools.partial(says(True))).name == "partial"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("openai:gpt", r"a judge is a value, not a string: write FactCheck\('openai:NAME'\) or Lexical\(\)"),
        (None, r"a judge is FactCheck\(model\), Lexical\(\) or a function .*; got a NoneType"),
        (True, "got a bool"),
        (FactCheck, r"not a class: write FactCheck\(\.\.\.\)"),
        (dict, "got the class dict"),
        (ScriptedJudge, r"not a class: write ScriptedJudge\(\.\.\.\)"),
        ([says(True)], "got "),
    ],
)
def test_what_is_no_judge_is_refused(thing, message):
    with pytest.raises(UsageError, match=message):
        as_judge(thing)


# Fingerprints.


def test_a_fingerprint_covers_kind_and_settings_in_any_order():
    assert fingerprint("k", a=1, b=2) == fingerprint("k", b=2, a=1)
    assert len({fingerprint("k"), fingerprint("l"), fingerprint("k", a=1), fingerprint("k", a="1")}) == 4
    assert len(fingerprint("k", odd={1, 2}, surrogate="\ud800")) == 16
    assert as_judge(says(True)).fingerprint == as_judge(says(False)).fingerprint != as_judge(Async()).fingerprint


# Counting, timing, retrying.


def test_calls_and_seconds_are_counted():
    ticks = itertools.count(step=0.5)
    judge = as_judge(says(ConnectionError("refused")))
    verdict = run(
        judged(judge, EXCHANGE, retry=Retry(attempts=3, initial=0, maximum=0), clock=lambda: float(next(ticks)))
    )
    assert verdict.calls == 3
    assert verdict.seconds == 0.5
    assert Written(True)(EXCHANGE).calls == 0


def test_a_judgement_that_is_out_of_time_is_unknown():
    ticks = itertools.count(step=10)
    verdict = run(judged(ScriptedJudge(True), EXCHANGE, timeout=5, clock=lambda: float(next(ticks))))
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_TIMEOUT)
    assert verdict.error_type == "OutOfTimeError"
    assert verdict.detail == "no verdict within 5 s"


# The warning about a judge that says something else.


def told(*judges, times=3):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        verdicts = [judge(EXCHANGE) for judge in judges for _ in range(times)]
    assert all(issubclass(each.category, GroundguardWarning) for each in caught)
    return [str(each.message) for each in caught], verdicts


def test_a_malformed_verdict_is_told_once_a_judge_and_points_to_the_doctor():
    messages, verdicts = told(FactCheck(ScriptedModel("Yes.")), FactCheck(ScriptedModel("Yes.")))
    assert {verdict.reason for verdict in verdicts} == {Reason.VERDICT_MALFORMED}
    (message,) = messages
    assert message == (
        "the judge fact_check:scripted replied, but not with a verdict: 4 characters; equals yes after removing the"
        " final full stop. Nothing passes without a literal verdict; `groundguard doctor` shows what the judge says and"
        " how to change it."
    )


def test_another_judge_is_told_of_too():
    messages, _ = told(*(FactCheck(ScriptedModel("Yes.", name=name)) for name in ("one", "two")))
    assert ["fact_check:one" in messages[0], "fact_check:two" in messages[1]] == [True, True]
    assert len(messages) == 2


def test_the_warning_does_not_quote_the_reply():
    messages, _ = told(FactCheck(ScriptedModel("Confidential: the lamp is fine")))
    assert "onfidential" not in messages[0]
    assert "lamp" not in messages[0]


@pytest.mark.parametrize(
    "judge",
    [
        FactCheck(ScriptedModel("yes")),
        FactCheck(ScriptedModel("no")),
        FactCheck(ScriptedModel(Reply(None, "stop", "I won't."))),
        FactCheck(ScriptedModel(Reply("yes", "length"))),
        FactCheck(ScriptedModel(Reply("yes", "content_filter"))),
        FactCheck(ScriptedModel(ValueError("broken"))),
        ScriptedJudge(Verdict(Decision.UNKNOWN, Reason.JUDGE_TIMEOUT)),
    ],
    ids=lambda judge: type(judge).__name__,
)
def test_a_verdict_a_refusal_a_cut_and_an_error_give_no_warning(judge):
    assert told(judge)[0] == []


def test_where_warnings_are_errors_the_first_is_raised_and_nothing_is_ever_answered():
    guard = Guard(FactCheck(ScriptedModel("Yes.")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning, match="groundguard doctor"):
            guard.check("?", answer="12 volts.", chunks=["12 volts"])
        response = guard.check("?", answer="12 volts.", chunks=["12 volts"])
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


class WithNotice(ScriptedJudge):
    def __init__(self, *verdicts, name="with notice"):
        super().__init__(*verdicts)
        self._own = name

    @property
    def name(self):
        return self._own

    @property
    def notice(self):
        return f"{self._own} is a rough judge"


@pytest.mark.parametrize("said", [True, False, ValueError("broken")])
def test_a_notice_is_told_once_a_judge_whatever_it_says(said):
    messages, verdicts = told(WithNotice(said), WithNotice(said), WithNotice(said, name="another"))
    assert messages == ["with notice is a rough judge", "another is a rough judge"]
    assert {verdict.decision for verdict in verdicts} == {ScriptedJudge(said)(EXCHANGE).decision}


def test_where_warnings_are_errors_a_notice_is_raised_and_is_no_verdict():
    guard = Guard(WithNotice(True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning, match="rough judge"):
            guard.check("?", answer="12 volts.", chunks=["12 volts"])
        assert guard.check("?", answer="12 volts.", chunks=["12 volts"]).status is Status.ANSWERED


@pytest.mark.parametrize(
    "compose", [Majority, lambda judge: Cascade(judge, lambda _: True)], ids=["majority", "cascade"]
)
def test_where_warnings_are_errors_the_notice_of_a_member_is_raised_too(compose):
    name = f"a member of {compose.__name__}"  # seats that nobody waits for any more may tell theirs late
    guard = Guard(compose(WithNotice(True, name=name)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning, match=r"a member of .* is a rough judge"):
            guard.check("?", answer="12 volts.", chunks=["12 volts"])


class Emits(ScriptedJudge):
    def flow(self, exchange):
        yield Emit("a piece of its own")
        return Verdict(Decision.SUPPORTED)


def test_a_judge_hands_out_no_pieces():
    verdict = Emits(True)(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_ERROR)
    assert verdict.detail == "a judge hands out a verdict, and no pieces"


@pytest.mark.parametrize(
    "wrong", [lambda guard: Guard(guard), lambda guard: Majority(guard)], ids=["guard", "majority"]
)
def test_a_guard_is_no_judge(wrong):
    with pytest.raises(UsageError, match=r"a guard is no judge: hand over the one that it asks, guard\.judge"):
        wrong(Guard(ScriptedJudge(True)))


def test_somebody_elses_detail_is_not_quoted_in_a_warning():
    said = Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, detail="it returned a secret", prompt_version="1")
    messages, _ = told(as_judge(lambda exchange: said))
    assert len(messages) == 1
    assert "secret" not in messages[0]


@malformed
def test_what_is_computed_aside_blocks_no_loop():
    threads = []

    def count(text):
        threads.append(threading.current_thread().name)
        return len(text) // 4

    judges = [kind(ScriptedModel("yes"), window=Window(9_000, count=count)) for kind in (FactCheck, Claims)]
    for judge in judges:
        threads.clear()
        asyncio.run(Guard(judge).acheck("?", answer="12 volts.", chunks=["12 volts"]))
        assert threads[0] == "groundguard-call"


def test_a_deadline_ends_what_is_computed_aside():
    with stuck() as event:
        judge = FactCheck(ScriptedModel("yes"), window=Window(9_000, count=lambda text: event.wait() and 1))
        response = Guard(judge, timeout=0.05).check("?", answer="12 volts.", chunks=["12 volts"])
        assert response.reason is Reason.JUDGE_TIMEOUT
