"""The word lists of the lexical judge, and what is compared of a word: its stem, or its pair of opposites."""

from __future__ import annotations

import itertools
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP = _set("""
    a about above according across actually additionally after again against all almost along already also
    although am among an and another answer any anyone anything approximately are around as at back based be
    became because become been before being below besides between both but by can certainly circa context could
    definitely despite did do document documents does doing done due during each either else especially etc even
    every everything few finally following follows for from furthermore get gets given got had has have having
    he hello hence her here hers herself hey hi him himself his hmm how however i if in indeed information
    instead into is it its itself just known less like likely many may me mentioned might mine more moreover
    most much must my myself namely nearly of off often oh ok okay on once one ones only onto or other others
    otherwise our ours ourselves out over own passage passages per perhaps please provided quite rather really
    regarding roughly same sentence shall she should since so some someone something sometimes sorry source
    sources specifically still such summary sure text than thank thanks that the their theirs them themselves
    then there thereby therefore these they thing things this those though through throughout thus till to
    together too toward towards under unless until up upon us various very via was we welcome well were what
    whatever when where whereas wherein whether which while who whoever whole whom whose why will with within
    would wow yeah yes yet you your yours yourself
""")
"""English words that assert nothing by themselves."""

ACRONYMS = _set("US WHO")
"""What is a function word in lower case only."""

GENERAL = _set("""
    add allow appear ask begin believe belong bring call carry cause come comprise concern consider consist
    contain continue cost cover create describe different example explain feature find focus form found general
    give given go good great help hold important include involve keep key know large last lead lie live locate look
    made main make mean mention name need new number occur offer open part people place play possible price provide
    put question refer relate remain report require run said saw say see seem serve set several show situated small
    stand start state stay such take tell term think time try type use used variety want way work year
""")
"""English words so general that a paraphrase changes them first."""

NEGATORS = _set("""
    no not never none nobody nothing nowhere neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent
    wont wouldnt shouldnt couldnt mustnt hasnt havent hadnt aint hardly barely scarcely rarely seldom
    nicht kein keine keinen keinem keiner keines nie niemals ohne pas jamais aucun aucune sans nunca ningún ninguna
    niet geen nooit não nem sem lack lacks lacked lacking non nessun nessuno nessuna senza ne не ни нет без никогда nie
    inte ikke
""")
"""Words that turn round what follows them, without apostrophes."""

UNLESS = _set("unless")
"""Negates what follows, and ends the reach of another negation."""

BEFORE_TO = _set(
    "fail fails failed failing failure refuse refuses refused decline declines declined forgot neglected unable"
)
"""Words that negate what follows before `to`."""

BEFORE_THAT = _set("false untrue incorrect deny denies denied")
"""Words that negate what follows before `that`."""

TRUTHS = _set("case true correct")
"""Words before `that` that a negation passes over: `it is not the case that`."""

HAN_PLAIN = _set("非常 未来 未來 不仅 不僅 不但 不断 不斷 不同 不过 不過")
"""Chinese words that begin with such a character and negate nothing."""

BOUNDS = _set("to within than most least under over until till by up")
"""Words before a number that stands for one end of a range."""

HAN_NEGATORS = frozenset("不没沒未非无無")
"""Chinese characters that turn round what follows them."""

ROUNDS = _set("a an per every each daily weekly monthly yearly annually")
"""Words before which `once` is a number."""

BREAKS = _set("and but or because while which who although though if unless however whereas so when")
"""Words at which the reach of a negation ends."""

CLAUSES = _set("and but while whereas")
"""Words between two clauses that each have a subject."""

DEGREES = _set("very too so quite yet ever always fully entirely completely necessarily only just more")
"""Words of degree."""

ANAPHORA = _set("it its he him his she her hers they them their theirs this these that those there such both")
"""Words that point to a sentence before."""

PASSED_OVER = DEGREES | ANAPHORA
"""Words that a negation passes over."""

NUMBERED = _set(
    "version versions release section sections chapter article paragraph clause figure table appendix v abschnitt"
    " kapitel"
)
"""Words after which a number is a name: 2.10 is not 2.1."""

ASKING = _set("how what which")
"""Words after which a question names the kind of answer it wants: `how long`, `what colour`."""

ORDERED = _set("from to than by")
"""Function words whose place matters."""

APPROXIMATE = _set(
    "about around approximately roughly nearly almost circa ca c some over exceeding more than estimated"
)
"""Words before a number that make it a round one."""

PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti")
"""What turns a word into its opposite."""

_OPPOSITES = """
    allow allows allowed permit permits permitted permissible / forbid forbids forbidden prohibit prohibits
        prohibited ban bans banned disallowed ;
    enable enables enabled enabling / disable disables disabled disabling ;
    increase increases increased increasing rise rises rose risen rising grew grow grows grown growing /
        decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped dropping
        decline declines declined declining ;
    before prior / after following ;
    maximum maximal max / minimum minimal min ;
    most / least ;
    more / less fewer ;
    many / few ;
    above over / below under ;
    up upward / down downward ;
    on / off ;
    always / never ;
    win wins won winning / lose loses lost losing ;
    accept accepts accepted / reject rejects rejected refuse refuses refused ;
    include includes included including / exclude excludes excluded excluding ;
    pass passes passed passing / fail fails failed failing ;
    begin begins began begun start starts started / end ends ended finish finishes finished ;
    buy buys bought / sell sells sold ;
    high / low ; higher / lower ; highest / lowest ;
    long / short ; longer / shorter ; longest / shortest ;
    large big / small little ; larger bigger / smaller ; largest biggest / smallest ;
    fast quick quickly / slow slowly ; faster quicker / slower ; fastest quickest / slowest ;
    early / late ; earlier / later ; earliest / latest ;
    older / younger newer ; oldest / youngest newest ; old / new ;
    strong / weak ; stronger / weaker ; strongest / weakest ;
    hot / cold ; warm / cool ; hotter warmer / colder cooler ; hottest / coldest ;
    good / bad ; better / worse ; best / worst ;
    true / false ;
    left / right ;
    north northern / south southern ;
    east eastern / west western ;
    inside indoor indoors / outside outdoor outdoors ;
    first / last ;
    male / female ; man men / woman women ;
    father / mother ; son / daughter ; brother / sister ; husband / wife ;
    he him his / she her hers ;
    major / minor ; majority / minority ;
    positive / negative ;
    active / inactive ;
    public / private ;
    day daytime / night nighttime ;
    import imports imported / export exports exported ;
    gain gains gained / lost ;
    success successful successfully succeed succeeded / failure unsuccessful unsuccessfully ;
    agree agrees agreed / disagree disagrees disagreed ;
    support supports supported / oppose opposes opposed ;
    love loves loved / hate hates hated ;
    present / absent ;
    legal lawful / illegal unlawful ;
    guilty / innocent ;
    convicted / acquitted ;
    alive / dead ;
    full / empty ;
    heavy / light ; heavier / lighter ; heaviest / lightest ;
    optional voluntary / mandatory compulsory obligatory ;
    near / far ; nearer / farther ;
    open opens opened / close closes closed ;
    arrive arrives arrived / depart departs departed ;
"""

_MONTHS = """
    January Jan ; February Feb ; March Mar ; April Apr ; May ; June Jun ; July Jul ; August Aug ; September Sep Sept ;
    October Oct ; November Nov ; December Dec
"""

MONTHS = {name: f"month {number}" for number, names in enumerate(_MONTHS.split(";"), 1) for name in names.split()}
"""Names of months, capitalised, and what is compared of them."""

_LATER_ORDINALS = "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"

ORDINALS = {word: f"{number}th" for number, word in enumerate(_LATER_ORDINALS.split(), 4)} | {
    "third": "3rd",
    "twice": "2 times",
    "thrice": "3 times",
}
"""Ordinals that are nothing else, `first` has an opposite, `second` is a time; and how often something happens."""

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

NUMBERS = {word: number for number, word in enumerate(_ONES.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), 2)
}
"""English number words below a hundred."""

SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "k": 10**3,
    "million": 10**6,
    "mn": 10**6,
    "mio": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
}
"""What a number may be multiplied by."""

MONEY = _set("dollar euro sterling yen")
"""Dimensions whose sign stands before the number."""

_UNITS = {
    "length": """mm .001 millimetre millimeter; cm .01 centimetre centimeter; m 1 metre meter; km 1000 kilometre
        kilometer; ft .3048 foot feet; inch .0254 inches; yd .9144 yard; mi 1609.344 mile;
        nm .000000001 nanometre nanometer""",
    "mass": """mg .001 milligram; g 1 gram gramme; kg 1000 kilogram kilo; t 1000000 tonne; lb 453.59237 pound lbs;
        oz 28.349523125 ounce; ton 907184.74""",
    "time": """ms .001 millisecond; s 1 sec second; min 60 minute; h 3600 hr hour; d 86400 day; wk 604800 week""",
    "months": "month 1; yr 12 year; decade 120; century 1200 centuries",
    "volume": """ml .001 millilitre milliliter; cl .01 centilitre centiliter; l 1 litre liter; gal 3.785411784 gallon;
        pint .473176473""",
    "voltage": "mv .001 millivolt; v 1 volt; kv 1000 kilovolt",
    "power": "w 1 watt; kw 1000 kilowatt; megawatt 1000000; gw 1000000000 gigawatt",
    "energy": "wh 1; kwh 1000; mwh 1000000",
    "current": "ma .001 milliampere milliamp; ampere 1 amp; mah .001",
    "frequency": "hz 1 hertz; khz 1000 kilohertz; mhz 1000000 megahertz; ghz 1000000000 gigahertz",
    "pressure": "pa 1 pascal; kpa 1000 kilopascal; bar 100000",
    "data": "kb 1 kilobyte; mb 1000 megabyte; gb 1000000 gigabyte; tb 1000000000 terabyte",
    "share": "% 1 percent percentage",
    "speed": "kmh 1 kph; mph 1.609344",
    "area": "acre .40468564224; hectare 1 ha",
    "euro": "€ 1 euro eur",
    "dollar": "$ 1 dollar usd; cent .01",
    "sterling": "£ 1 gbp; penny .01 pence",
    "yen": "¥ 1 yen jpy",
    "celsius": "°c 1 celsius",
    "fahrenheit": "°f 1 fahrenheit",
    "afternoon": "pm 1",
    "morning": "am 1",
}


def _units() -> dict[str, tuple[str, Decimal]]:
    table: dict[str, tuple[str, Decimal]] = {}
    for dimension, entries in _UNITS.items():
        for entry in entries.split(";"):
            symbol, factor, *names = entry.split()
            table |= {name: (dimension, Decimal(factor)) for name in (symbol, *names, *(f"{n}s" for n in names))}
    return table


UNITS = _units()
"""Units in lower case: the dimension, and the factor to the dimension's own unit."""


class Word(NamedTuple):
    """What is compared of a word.

    Attributes:
        base: Its stem, or the name of its pair of opposites.
        sign: -1 for the second of a pair of opposites, else 1.
        counts: 0 for a function word, 1 for a general word, 2 for any other.
    """

    base: str
    sign: int
    counts: int


@lru_cache(maxsize=65_536)
def look_up(word: str) -> Word:
    """What is compared of a word in lower case."""
    base, sign = _SIGNED.get(word) or (ORDINALS.get(word, stem(word)), 1)
    short = len(word) < _LEAST and word not in _SIGNED
    if short or word in STOP or word in NEGATORS:
        return Word(base, sign, 0)
    return Word(base, sign, 1 if stem(word) in _GENERAL_STEMS else 2)


def stem(word: str) -> str:
    """A rough English stem: plural, past, -ing and -ly endings, the letter they double, and a final e are taken off."""
    if not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            word = word[: -len(ending)] + instead
            if ending in _DOUBLING and len(word) > _LEAST and word[-1] == word[-2] and word[-1] not in "lsz":
                return word[:-1]
            break
    return word[:-1] if len(word) > _LEAST and word.endswith("e") else word


_LEAST = 3
_DOUBLING = _set("ing ed ingly edly")
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
    for pair in _OPPOSITES.strip().removesuffix(";").split(";"):
        plus, minus = (side.split() for side in pair.split("/"))
        for word, sign in itertools.chain(((word, 1) for word in plus), ((word, -1) for word in minus)):
            table.setdefault(word, (f"{plus[0]}/{minus[0]}", sign))
    return table


_SIGNED = _signed()
_GENERAL_STEMS = frozenset(map(stem, GENERAL))
