"""Abbreviations and the words about them, in lower case and without the last full stop."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LEADING = _words(
    "dr drs prof mr mrs mx messrs ste rev hon gen col maj capt cpt lt sgt cmdr adm gov sen rep pres supt"
    " e.g i.e eg ie vs v.s viz cf approx ca esp incl excl resp avg"
    " hr hrn fr frl dipl ing mag geb gest verh z.b d.h u.a z.t i.d.r s.o s.u o.ä v.a i.a m.e u.u b.z.w bzw vgl"
    " ggf evtl"
    " sog inkl exkl zzgl abzgl bspw insb urspr ugs mind allg eigtl ehem dgl einschl entspr gegr zw zzt bes"
    " mme mlle mgr av apr env p.ex c.-à-d c.à.d par.ex ex"
    " sr sra dra dras dres srta sres sras dña dn ud uds vd vds ee p.ej ej aprox lic arq exc excmo excma ilmo"
    " mons fray sto sta"
    " डॉ श्री श्रीमती सुश्री प्रो पं रु कि कि.मी मी सेमी मिमी ई मि.ली कि.ग्रा स्व एड उदा"
    " أ.د هـ ق.م ب.م د.م"
)
"""They never end a sentence: a name, a number or an explanation follows."""

BEFORE_NUMBERS = _words(
    "est no nos nr nrn num núm n° nº fig figs abb tab taf art arts abs kap ziff bd vol vols ch chap chaps sec"
    " sect eq pp pg pág"
    " págs pag ss seite ed aufl rn az tel tél ext op cap caps lit par para ver ref app anh sig bl jg hft jan"
    " feb febr"
    " mar mär mrz apr avr jun jul juil aug ago sep sept okt oct nov dez dec déc dic ene abr ago janv févr"
)
"""They end none if a number follows."""

OPEN = _words(
    "inc corp ltd co bros jr plc llc dept u.s u.k u.n u.s.a ph.d b.a m.a ee.uu uu d.c j.c a.c d.c av.j.-c j.-c"
    " mio mrd bio tsd"
    " max min cía s.a s.l s.a.s gmbh n.chr v.chr chr nd univ mm ms st assn ave blvd rd mt ft ph b.c a.d b.c.e c.e"
)
"""They end one if a word follows that often begins a sentence."""

CLOSING = _words("etc usw u.s.w a.m p.m u.a.m")
"""They end one if a capital follows."""

WORDS = _words("no me may mar min est art la se mi sa in an en co mo di da so op hab bis fest ist war")
"""Words of their own that an English list takes for abbreviations."""

AFTER_TIMES = _words(
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february"
    " march april"
    " june july august september october november december"
)
"""Capitals that don't begin a sentence behind a time."""

AFTER_ORDINALS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
    " jan feb mär apr jun jul aug sep sept okt nov dez jahrhundert jahrhunderts jahrhunderte jh jhd jhs"
    " jahrtausend"
)
"""What a German ordinal stands before."""

BEFORE_ORDINALS = _words(
    "am im vom zum zur beim dem den der des die das ab bis seit und oder jeder jeden jedem ein eine einen"
    " einem einer"
    " seinem seinen seine ihrem ihren ihre dessen deren montag dienstag mittwoch donnerstag freitag samstag"
    " sonntag"
)
"""What a German ordinal stands behind."""

STARTING = _words(
    "the a an this that these those it its he his she her they their we our you your i there here then when"
    " while where"
    " if in on at by for from with without after before since during although though because as but and or so"
    " however"
    " therefore thus also both each every some many most all no not only what who why how is are was were do"
    " does did can"
    " der die das dem den des ein eine einer einem er sie es wir ihr ich du man dies diese dieser dieses dann"
    " danach dort"
    " hier im am vom zum zur auf aus bei mit nach seit von vor für durch gegen ohne um aber und oder doch denn"
    " wenn weil"
    " obwohl als wie wo was wer warum auch nur nicht kein keine sein seine ihre jeder jede alle viele einige"
    " daher"
    " deshalb außerdem allerdings jedoch sodann seitdem damals heute"
    " le la les un une des du il elle ils elles on nous vous je tu ce cet cette ces son sa ses leur leurs dans"
    " sur sous par"
    " pour avec sans après avant depuis pendant mais et ou donc car si quand comme ainsi aussi cependant"
    " toutefois puis"
    " alors en au aux c qui que quoi où pourquoi comment"
    " el los las una unos unas lo él ella ellos ellas nosotros ustedes yo su sus este esta esto estos estas ese"
    " esa eso"
    " aquel en con sin por para desde hasta tras durante pero y o si cuando como donde aunque porque también"
    " entonces"
    " luego además hoy no ya muy se es son fue hay qué quién cómo"
)
"""Words that often begin a sentence, in English, German, French and Spanish."""
