"""The word lists of the lexical judge, and what is compared of a word: its stem, its opposite's stem with a minus sign."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

STOP = frozenset(
    """
    a about above according across actually additionally after again against all almost along already also although am
    among an and another answer any anyone anything approximately are around as at back based be became because become
    been before being below besides between both but by can circa context could despite did do document documents does
    doing done due during each either else especially etc even every everything few finally following follows for from
    furthermore get gets given got had has have having he hello her here hers herself hi him himself his hence how however
    i if in indeed information instead into is it its itself just known less like likely many may me mentioned might
    mine more moreover most much must my myself namely nearly of off often on once one ones only onto or other others
    otherwise our ours ourselves out over own passage passages per perhaps please provided quite rather really regarding
    roughly same sentence shall she should since so some someone something sometimes source sources specifically still
    such summary text than thank thanks that the their theirs them themselves then there thereby therefore these they
    thing things this those though through throughout thus till to together too toward towards under unless until up
    upon us various very via was we well were what whatever when where whereas wherein whether which while who whoever
    whole whom whose why will with within would yes yet you your yours yourself
    """.split()
)
"""English words that assert nothing by themselves."""

LIGHT = frozenset(
    """
    add allow appear ask begin believe belong bring bring call carry cause come comprise concern consider consist contain
    continue cover create cost describe different example explain feature find focus form found general give given go
    good great help hold important include involve keep key know large lead lie live locate look made main make mean
    mention name need new number number occur offer open part people place play provide put question refer relate remain
    report require run said saw say see seem serve set several show situated small stand start state stay such take
    tell term think time try type use used variety want way work year
    """.split()
)
"""Words so general that a paraphrase changes them first: they count for little."""

NEGATORS = frozenset(
    """
    no not never none nobody nothing nowhere neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent
    wont wouldnt shouldnt couldnt hasnt havent hadnt aint hardly barely scarcely rarely seldom
    nicht kein keine keinen keinem keiner keines nie niemals ohne pas jamais aucun aucune sans nunca ningún ninguna
    niet geen nooit não nem
    """.split()
)
"""Words that turn round what follows them."""

BREAKS = frozenset("and but or because while which who although though if unless however whereas so when".split())
"""Words at which the reach of a negation ends."""

DEGREES = frozenset("very too so quite yet ever always fully entirely completely necessarily only just more".split())

ANAPHORA = frozenset(
    "it its he him his she her hers they them their theirs this these that those there such both".split()
)
"""Words that point to a sentence before."""

ORDERED = frozenset("from to than by".split())
"""Function words whose place matters to the order check."""

APPROXIMATE = frozenset(
    "about around approximately roughly nearly almost circa ca c some over exceeding more than estimated".split()
)

PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti")

_OPPOSITES = """
allow allows allowed permit permits permitted permissible / forbid forbids forbidden prohibit prohibits prohibited ban bans banned disallowed
enable enables enabled enabling / disable disables disabled disabling
increase increases increased increasing rise rises rose risen rising grew grow grows grown growing / decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped dropping decline declines declined declining
before prior / after following
maximum maximal max / minimum minimal min
most / least
more / less fewer
above over / below under
up upward / down downward
on / off
always / never
win wins won winning / lose loses lost losing
accept accepts accepted / reject rejects rejected refuse refuses refused
include includes included including / exclude excludes excluded excluding
pass passes passed passing / fail fails failed failing
begin begins began begun start starts started / end ends ended finish finishes finished
buy buys bought / sell sells sold
high higher highest / low lower lowest
long longer longest / short shorter shortest
large larger largest big bigger biggest / small smaller smallest little
fast faster fastest quick quickly / slow slower slowest slowly
early earlier earliest / late later latest
old older oldest / young younger youngest new newer newest
strong stronger strongest / weak weaker weakest
hot hotter hottest warm / cold colder coldest cool
good better best / bad worse worst
true / false
left / right
north northern / south southern
east eastern / west western
inside indoor indoors / outside outdoor outdoors
first / last
male man men / female woman women
father son / mother daughter
husband / wife
brother / sister
he him his / she her hers
major majority / minor minority
positive / negative
active / inactive
public / private
day daytime / night nighttime
import imports imported / export exports exported
gain gains gained / lost
success successful successfully succeed succeeded / failure unsuccessful unsuccessfully
agree agrees agreed / disagree disagrees disagreed
support supports supported / oppose opposes opposed
love loves loved / hate hates hated
best / worst
present / absent
legal lawful / illegal unlawful
guilty / innocent
convicted / acquitted
alive / dead
full / empty
heavy heavier heaviest / light lighter lightest
optional voluntary / mandatory compulsory obligatory
near nearer / far farther
open opens opened / close closes closed
arrive arrives arrived / depart departs departed
""".strip()

MONTHS = {
    name: f"month {number}"
    for number, names in enumerate(
        "January Jan|February Feb|March Mar|April Apr|May|June Jun|July Jul|August Aug|September Sep Sept|October Oct"
        "|November Nov|December Dec".split("|"),
        1,
    )
    for name in names.split()
}

ORDINALS = dict(
    zip(
        "first third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),
        "1st 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th".split(),
        strict=True,
    )
)

NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen".split()
    )
} | {word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}

SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "k": 1_000,
    "million": 10**6,
    "mn": 10**6,
    "mio": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}

_UNITS = """
length mm .001 millimetre millimeter; cm .01 centimetre centimeter; m 1 metre meter; km 1000 kilometre kilometer; ft .3048 foot feet; inch .0254 inches; yd .9144 yard; mi 1609.344 mile; nm .000000001 nanometre nanometer
mass mg .001 milligram; g 1 gram gramme; kg 1000 kilogram kilo; t 1000000 tonne; lb 453.59237 pound lbs; oz 28.349523125 ounce; ton 907184.74
time ms .001 millisecond; s 1 sec second; min 60 minute; h 3600 hr hour; d 86400 day; wk 604800 week
months month 1; yr 12 year; decade 120; century 1200 centuries
volume ml .001 millilitre milliliter; cl .01 centilitre centiliter; l 1 litre liter; gal 3.785411784 gallon; pint .473176473
volt mv .001 millivolt; v 1 volt; kv 1000 kilovolt
watt mw .001 milliwatt; w 1 watt; kw 1000 kilowatt; gw 1000000000 gigawatt; megawatt 1000000
energy wh 1; kwh 1000; mwh 1000000
ampere ma .001 milliampere milliamp; ampere 1 amp; mah .001
hertz hz 1 hertz; khz 1000 kilohertz; mhz 1000000 megahertz; ghz 1000000000 gigahertz
pascal pa 1 pascal; kpa 1000 kilopascal; bar 100000
data kb 1000 kilobyte; mb 1000000 megabyte; gb 1000000000 gigabyte; tb 1000000000000 terabyte
share % 1 percent percentage
speed kmh 1 kph; mph 1.609344
area acre 4046.8564224; hectare 10000 ha
euro € 1 euro eur; ¢euro .01
dollar $ 1 dollar usd; cent .01
sterling £ 1 gbp; penny .01 pence
yen ¥ 1 yen jpy
celsius °c 1 celsius
fahrenheit °f 1 fahrenheit
noon pm 1
morning am 1
"""


class Word(NamedTuple):
    """What is compared of a word.

    Attributes:
        base: Its stem, or the name of its group where it has an opposite.
        sign: 1, or -1 for the opposite.
        light: How much it counts: 0 for a function word, 1 for a general one, 2 for the rest.
    """

    base: str
    sign: int
    counts: int


def stem(word: str) -> str:
    """A rough English stem: plural, past, -ing and -ly endings and a final e removed."""
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("sses", "ss"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("ingly", ""),
    ("edly", ""),
    ("ing", ""),
    ("eed", "eed"),
    ("ed", ""),
    ("ily", "y"),
    ("ly", ""),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("s", ""),
)


def _signed() -> dict[str, tuple[str, int]]:
    table: dict[str, tuple[str, int]] = {}
    for line in _OPPOSITES.splitlines():
        plus, minus = line.split(" / ")
        group = f"±{plus.split()[0]}"
        for sign, words in ((1, plus), (-1, minus)):
            for word in words.split():
                table.setdefault(word, (group, sign))
    return table


_SIGNED = _signed()
_LIGHT_STEMS = frozenset(map(stem, LIGHT))


@lru_cache(maxsize=65_536)
def look_up(word: str) -> Word:
    """What is compared of a word in lower case."""
    base, sign = _SIGNED.get(word) or (ORDINALS.get(word) or stem(word), 1)
    if word in STOP or word in NEGATORS or (len(word) <= 2 and word.isalpha() and word not in _SIGNED):
        return Word(base, sign, 0)
    return Word(base, sign, 1 if stem(word) in _LIGHT_STEMS else 2)


def _units() -> dict[str, tuple[str, Decimal]]:
    table: dict[str, tuple[str, Decimal]] = {}
    for line in _UNITS.strip().splitlines():
        dimension, _, rest = line.partition(" ")
        for entry in rest.split(";"):
            symbol, factor, *names = entry.split()
            table |= {name: (dimension, Decimal(factor)) for name in (symbol, *names, *(f"{n}s" for n in names))}
    return table


UNITS = _units()
"""Unit in lower case: its dimension, and its factor to the dimension's own unit."""
