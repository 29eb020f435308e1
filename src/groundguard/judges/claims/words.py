"""The words by which a claim is compared with its statement, English and German."""

from __future__ import annotations

from groundguard.judges.lexical.words import ANAPHORA, NEGATORS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRESENT = _set("is are am has have does do ist sind hat haben wird werden")
"""Auxiliaries of the present."""

PAST = _set("was were had did war waren hatte hatten wurde wurden")
"""Auxiliaries of the past."""

JOINING = _set("and but nor which who whom whose und aber sowie")
"""Words between two clauses or two items."""

POINTING = (ANAPHORA - _set("both such")) | _set(
    "er es sie ihn ihm ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner dies diese dieser dieses diesen"
    " diesem dessen deren dort"
)
"""Words that stand for something said elsewhere; a claim may put that in their place, and brings none."""

FREE = (
    PRESENT
    | PAST
    | JOINING
    | POINTING
    | _set(
        "a an the be been being also too however moreover furthermore additionally"
        " der die das den dem des ein eine einen einem einer eines auch zudem außerdem ferner"
    )
)
"""Words that may be lost and, but for those that point, brought."""

_OPEN = _set(
    "if unless when whenever whether or either perhaps maybe possibly probably likely allegedly reportedly supposedly"
    " seemingly apparently say says said saying claim claims claimed state states stated according believe believes"
    " believed think thinks thought suppose supposes supposed assume assumes assumed imagine imagines imagined hope"
    " hopes wish wishes pretend pretends pretended deny denies denied doubt doubts doubted ask asks asked that"
    " tell tells told report reports reported suggest suggests suggested argue argues argued allege alleges alleged"
    " mention mentions mentioned mean means meant seem seems seemed appear appears appeared"
    " wenn falls sofern ob oder entweder vielleicht möglicherweise angeblich wohl vermutlich sagt sagen sagte behauptet"
    " behaupten laut zufolge glaubt glauben denkt meint schreibt fragt scheint scheinen"
)
"""Conditions, alternatives, doubts and what somebody says."""

BINDING = _OPEN | _set(
    "while until because since so as like unlike instead rather otherwise provided assuming except excluding only than"
    " between together total altogether combined average respectively other half quarter few less fewer least most"
    " bis bevor nachdem während weil da sobald solange außer nur zwischen zusammen insgesamt jeweils durchschnittlich"
    " halb weniger höchstens wenige als dass damit"
)
"""Words whose statement is one part: what stands in one clause also holds for the other."""

NEVER_BROUGHT = (
    BINDING
    | NEGATORS
    | _set(
        "word words answer answers statement statements sentence sentences text texts quote quoted phrase question"
        " example false true wrong correct untrue write writes wrote written read reads called named some any all each"
        " every many may might can could must should would will"
        " wort worte wörter antwort aussage satz frage beispiel falsch wahr richtig einige alle jede manche kann könnte"
        " muss soll sollte würde dürfte mag darf"
    )
)
"""Words that no claim may add to its statement, whatever was said elsewhere."""

BOUND = _set(
    "in on at by for from to into onto with within without under over above below after before during against through"
    " across along around about of off until since despite among toward towards via per throughout beside besides"
    " im am vom zum zur auf aus bei mit nach seit von vor für durch gegen ohne um innerhalb außerhalb unter über neben"
    " hinter trotz wegen laut"
)
"""Prepositions: a phrase that begins with one says nothing alone."""
