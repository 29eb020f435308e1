"""Where one statement ends and the next begins."""

import time

import pytest

from groundguard.judges.statements import Statement, statements

SPLITS = [
    ("", []),
    (" \n\u200b\t", []),
    ("One thing. Another thing! A third?", ["One thing.", "Another thing!", "A third?"]),
    ("Dr. Rook weighs 1.5 kg. He left.", ["Dr. Rook weighs 1.5 kg.", "He left."]),
    ("塔很高。河很长！", ["塔很高。", "河很长！"]),
    ("Python. SQL.", ["Python.", "SQL."]),
    ("Python\nSQL", ["Python", "SQL"]),
    ("First paragraph\n\nsecond paragraph", ["First paragraph", "second paragraph"]),
    ("- a thing. More.\n* other\n  deeper", ["- a thing.", "More.", "* other", "deeper"]),
    ("1. First. Second\n2) Third\n(3) Fourth", ["1. First.", "Second", "2) Third", "(3) Fourth"]),
    ("> quoted. more\nafter", ["> quoted.", "more", "after"]),
    ("# Head. Line\nText", ["# Head. Line", "Text"]),
    ("Head\n====\nText", ["Head", "====", "Text"]),
    ("| a. B | c |\n|---|---|\n| 1 | 2 |", ["| a. B | c |", "|---|---|", "| 1 | 2 |"]),
    ("Run:\n```py\nx = 1. Y\n\n# no\n```\nDone.", ["Run:", "```py\nx = 1. Y\n\n# no\n```", "Done."]),
    ("~~~~\na. B\n~~~\n~~~~ \nc", ["~~~~\na. B\n~~~\n~~~~", "c"]),
    ("```\nnever. Closed", ["```\nnever. Closed"]),
    ("A line that is long enough to be wrapped by\nan editor ends. So.", ["A line that is long enough to be wrapped by\nan editor ends.", "So."]),
    ("A line that is long enough to be wrapped by\n- an item", ["A line that is long enough to be wrapped by", "- an item"]),
    ("A line that is long enough to be wrapped by\n```\ncode\n```", ["A line that is long enough to be wrapped by", "```\ncode\n```"]),
    ("A line that is long enough to be wrapped by\n# head", ["A line that is long enough to be wrapped by", "# head"]),
    ("Desk lamps in black, white, brass and copper\nThe Aldona desk lamp runs on twelve volts and weighs 900 g", ["Desk lamps in black, white, brass and copper", "The Aldona desk lamp runs on twelve volts and weighs 900 g"]),
    ("Desk lamps in black, white, brass and copper\n“Aldona” runs on twelve volts and weighs less than 900 g", ["Desk lamps in black, white, brass and copper", "“Aldona” runs on twelve volts and weighs less than 900 g"]),
    ("The lamp was drawn in Riga in 1984 by Mara\nLind-Kalnins of the Aldona works, who drew it.", ["The lamp was drawn in Riga in 1984 by Mara\nLind-Kalnins of the Aldona works, who drew it."]),
    ("**Bold.** Next [1]. Last.[2] End", ["**Bold.**", "Next [1].", "Last.[2]", "End"]),
    ("He said “Go.” Then left.", ["He said “Go.”", "Then left."]),
    ("A\x85. B\u2028. C", ["A", ".", "B", ".", "C"]),
    ("\ud800 lone. Half \udfff.", ["lone.", "Half \udfff."]),
    ("A. \n", ["A."]),
    ("a | b. C\n--- | ---\nd. E | f\nText. More", ["a | b. C", "--- | ---", "d. E | f", "Text.", "More"]),
    ("The first. The second\n====\nText", ["The first. The second", "====", "Text"]),
    ("> # Head. Line\n> | a. B |", ["> # Head. Line", "> | a. B |"]),
    ("> A line that is long enough to be wrapped by\n> an editor ends. So.\nNot it.", ["> A line that is long enough to be wrapped by\n> an editor ends.", "So.", "Not it."]),
    ("> ```\n> x = 1. Y\n> ```\nText", ["> ```\n> x = 1. Y\n> ```", "Text"]),
    ("```a``` runs. It ends.", ["```a``` runs.", "It ends."]),
    ("Call `a.b. C` now. See https://a.b/c?d! Then go.", ["Call `a.b. C` now.", "See https://a.b/c?d!", "Then go."]),
    ("Steps: 1. Open it. 2. Close it.", ["Steps: 1. Open it.", "2. Close it."]),
    ("It hums?! It glows. \u2764\ufe0f 🎉", ["It hums?!", "It glows. \u2764\ufe0f 🎉"]),
    ("It is 12 V.\u200bIt hums.\u202e It glows.", ["It is 12 V.", "It hums.", "It glows."]),
    ("The lamp is called 灯。它很高。Then it is lit. यह लाल है। It hums.", ["The lamp is called 灯。", "它很高。", "Then it is lit.", "यह लाल है।", "It hums."]),
]  # fmt: skip

ENGLISH = [
    "The tower is 61 m high.¦It was built in 1890!¦Who drew it?¦Nobody knows.",
    "Dr. Rook met Mrs. Lind at 9 a.m. on Monday.¦She paid approx. 3.5 dollars, i.e. too much.",
    "We moved to the U.S. in May.¦The U.S. Army left the U.S.¦Then we stayed.",
    "J. R. Orr wrote it.¦See e.g. Fig. 3 or p. 12 for more.¦No. 5 is missing.¦The answer is no.¦I think so.",
    "It opens at 9 a.m.¦Bring a ticket.¦It closes at 5 p.m. Monday to Friday, at 11 p.m. EST.¦Use the bell.",
    "Wait... what?¦It was me.¦Lamps fit…¦Yes.",
    "“Go now. Stop it!” he said.¦“Why?” she asked.¦He said “Go.”¦Then he left (at last!) for good.",
    "Acme Inc. was founded on Jan. 5, 1976.¦Borealis Corp. followed.¦World War II was over then.",
    "It lists lamps, chairs, etc.¦The desk lamp (12 V, 900 g, 1,000.50 dollars) is no. 7.¦It weighs 900 g.¦It fits.",
    "Ms. Lind lives in 5 Main St.¦The bolt is 12 mm.¦It takes 5 ms.¦The U.S. has it, from St. Louis to New York.",
    "is it red?¦yes.¦it hums.¦the lamp is old.",
    "# Lamps. All\n¦- It is red.¦It costs 5.5 euros.\n¦- Dr. Rook has it.",
]
GERMAN = [
    "Die Lampe ist rot.¦Sie kostet 3,5 Mio. Euro!¦Wer hat sie?¦Niemand weiß es.",
    "Das gilt z. B. für Hunde, d. h. für alle.¦Er kam am 3. Mai 2020 an.¦Das ist z.B. so.¦Ende.",
    "Die Nr. 5 kostet 1.000,50 Euro.¦Siehe S. 5 bzw. Abs. 3.¦Am 03.04.2031 beginnt es.¦Am 3. und 4. Mai auch.",
    "Prof. Dr. Müller wohnt in der Hauptstr. 5.¦Er ist ca. 40 Jahre alt.¦Ü ist ein Buchstabe.",
    "Das BIP betrug 2022 etwa 3,9 Bio. Euro.¦Laut Art. 20 Abs. 1 GG gilt das.¦Der 1. FC Veld spielt in der 1. Liga.¦Er ist 12.¦Danach kommt Ost.",
    "Im 19. Jahrhundert war das so.¦Es war 1990.¦Danach kam Ruhe.¦Karl II. war alt.¦Der 2. Weltkrieg begann 1939.",
    "„Komm her. Sofort!“¦Er ging.",
    "„Komm!“, sagte er.¦„Warum?“ fragte sie.¦»Gut.«¦Er ging.",
    "Es gibt Lampen, Stühle usw.¦Die Lampe hat 12 V.¦Sie wiegt 900 g.¦Sie passt …",
    "## Lampen. Alle\n¦1. Die Lampe ist rot.¦Sie wiegt 900 g.\n¦2. Am 1. Juni kommt sie.",
    "| Nr. | Preis. Euro |\n¦|---|---|\n¦| 5 | 3,5 |",
]
FRENCH = [
    "La lampe est rouge.¦Elle coûte 3,5 M€ !¦Est-ce vrai ?¦Oui.",
    "M. Dupont est arrivé.¦Mme Curie aussi, p. ex. hier.¦M. Le Goff parle.¦J.-P. Roux est né en 1905.",
    "« Viens ici. Vite ! »¦Il partit.",
    "« Vite ! » dit-il.¦« Pourquoi ? » demanda-t-elle.¦Il se tut…",
    "L'art. 5 dit non.¦Voir p. 12 et chap. 3.¦Cf. la fig. 2.¦Le n° 5 manque.",
    "Il est né en 44 av. J.-C. à Rome.¦Il y vécut env. 50 ans.¦Puis il partit.",
    "Le musée ouvre à 9 h.¦Il ferme à 18 h.¦Le lundi, il est fermé.",
    "Selon l'art. L. 211 du Code, c'est interdit.¦Il vise MM. Roux et Petit.",
    "Le 1er mai 2020, tout a changé.¦Le prix est de 1.000,50 euros.¦Hélas !¦C'est cher.",
    "# Lampes. Toutes\n¦- La lampe est rouge.¦Elle pèse 900 g.\n¦- Le Dr. Roux l'a.",
]
SPANISH = [
    "La lámpara es roja.¦¡Cuesta 3,5 euros!¦¿Es cierto?¦Sí.",
    "La Sra. García vive en EE. UU. desde 2001.¦El Sr. López pagó 1.000,50 euros.¦Véase pág. 5.",
    "Fue construida en el s. XIII por Juan II. en Granada.¦La Dra. Pérez llegó a las 10:30 a. m. del día 5.",
    "Ud. tiene razón.¦Son las 9 a. m. en Madrid.¦Cierra a las 9 p. m.¦El domingo no abre.",
    "Vive en EE. UU.¦El resto no.¦¿Y el n.º 5?¦El 1.º de mayo.",
    "«Ven aquí. Ya», dijo.¦«¿Por qué?» preguntó ella.¦Se fue…",
    "Dijo: «Ven aquí. Ya.»¦Se fue.",
    "Hay lámparas, sillas, etc.¦La mesa pesa aprox. 12 kg, p. ej. la azul.¦¡Claro!¦Vale.",
    "La Dra. Ruiz llegó el 03.04.2031.¦J. L. Borges nació en 1899.¦La lámpara es de 12 V.¦Es roja.",
    "# Lámparas. Todas\n¦- Es roja.¦Pesa 900 g.\n¦- La tiene el Dr. Ruiz.",
]
CHINESE = [
    "塔很高。¦河很长！¦真的吗？¦是的。",
    "价格是3.5元。¦时间是9:30。¦长度为1,000.50米。",
    "他说：“走吧。快点！”然后离开了。¦她没有走。",
    "“走吧。”¦“好。”",
    "真的吗?¦是的!¦灯很亮。",
    "等等……然后他走了。¦灯灭了……",
    "第一，灯是红的；第二，灯很重。¦就这样。",
    "我们使用Python 3.5。¦它很快。¦《红楼梦》是曹雪芹写的。¦（注：见第5页。）完。",
    "# 灯。全部\n¦一、灯是红的。¦它重900克。\n¦（2）灯很高。",
    "| 名称。全 | 价格 |\n¦| 灯 | 3.5元 |",
]
JAPANESE = [
    "今日は雨です。¦明日は晴れ！¦本当ですか？¦はい。",
    "「行こう。早く！」と彼は言った。¦それから帰った。",
    "「行こう。」¦「うん。」",
    "本当か？と聞いた。¦彼は黙っていた…",
    "価格は3.5円です（税込）。¦２０３１年４月３日に始まります。¦午前9時です。",
    "『雪国』は川端康成の小説です。¦一九三五年に書かれました。",
    "これは灯です（注を見てください。）。¦終わり。",
    "いつ登れますか？¦7月から9月までです。¦3,776メートルです。¦5人が登った。",
    "ﾗﾝﾌﾟﾃﾞｽ｡¦ｱｶｲ｡¦Pythonを使います。¦速いです。",
    "# 灯。全部\n¦・灯は赤い。¦重さは900gです。\n¦１．灯は高い。\n¦①終わり。",
]
HINDI = [
    "दीया लाल है।¦वह भारी है!¦क्या यह सच है?¦हाँ।",
    "डॉ. शर्मा सुबह 9 बजे आए।¦श्री. वर्मा नहीं आए।",
    "कीमत 3.5 रु. है।¦दूरी 5 कि.मी. है।¦तारीख 03.04.2031 है।",
    "यह 1632 ई. में बना था।¦ऊँचाई 73 मी. है।",
    "राम आया॥¦श्याम गया॥¦ठीक।",
    "वह गया है.¦वह खुश है.",
    "उसने कहा, “जाओ। अभी!”¦फिर वह चला गया।",
    "प्रो. ए. के. सिंह दिल्ली में रहते हैं।¦वे ६० साल के हैं।",
    "रुको... क्या?¦दीया बुझ गया।¦हम Python 3.5 चलाते हैं।¦वह तेज़ है।",
    "# दीये। सब\n¦१. दीया लाल है।¦वह भारी है।\n¦- अंत।",
]
ARABIC = [
    "المصباح أحمر.¦هل هذا صحيح؟¦نعم!¦لا.",
    "یہ چراغ ہے۔¦وہ سرخ ہے۔",
    "د. أحمد جاء اليوم.¦أ. د. سارة لم تأت.",
    "السعر ٣٫٥ دولار.¦الطول 1.5 متر.¦التاريخ 03.04.2031.",
    "ولد عام ١٩٩٠ م. في القاهرة.¦ثم سافر.¦كان ذلك في القرن ٥ ق.م. تقريبا.",
    "قال: «اذهب. الآن.»¦ثم خرج.¦سألت: «لماذا؟»¦لم يجب…",
    "المصباح أحمر؛ وهو ثقيل، جدا.¦انتهى.",
    "نستخدم Python 3.5 هنا.¦إنه سريع.¦عنده تفاح وموز إلخ.¦ثم ذهب.",
    "# مصابيح. كلها\n¦١. المصباح أحمر.¦وزنه 900 غ.\n¦- النهاية.",
]
LANGUAGES = [text for texts in (ENGLISH, GERMAN, FRENCH, SPANISH, CHINESE, JAPANESE, HINDI, ARABIC) for text in texts]


@pytest.mark.parametrize(("answer", "expected"), SPLITS)
def test_statements(answer, expected):
    assert [statement.text for statement in statements(answer)] == expected


@pytest.mark.parametrize("marked", LANGUAGES)
def test_sentences_of_eight_languages(marked):
    """`¦` stands where one statement ends and the next begins; Chinese and Japanese put no space there."""
    spaced = "" if any("\u3041" <= letter <= "\u9fff" for letter in marked) else " "
    answer = marked.replace("\n¦", "\n").replace("¦", spaced)
    assert [statement.text for statement in statements(answer)] == [part.strip() for part in marked.split("¦")]


@pytest.mark.parametrize("sentences", LANGUAGES)
def test_a_text_in_several_languages_is_split_as_each_alone(sentences):
    answer = sentences.replace("\n¦", "\n").replace("¦", " ")
    expected = [statement.text for statement in statements(answer)]
    assert [statement.text for statement in statements(f"The lamp hums.\n\n{answer}\n\n灯很亮。दीया है।")][
        1:-2
    ] == expected


def test_offsets():
    assert statements(" One. \n Two.") == (Statement("One.", 1, 5), Statement("Two.", 8, 12))


def test_a_long_paragraph_is_split_as_a_short_one_is():
    sentence = "The quick brown fox jumps over the lazy dog. "
    assert {statement.text for statement in statements(sentence * 500)} == {sentence.strip()}


def test_a_long_text_without_a_sentence_is_cut_between_words():
    words = [word for statement in statements("word " * 3_000) for word in statement.text.split()]
    assert words == ["word"] * 3_000


@pytest.mark.parametrize("character", ["e\u0301", "\u0928\u093f", "x\U0001f469\u200d\U0001f680", "xyz\u2764\ufe0f"])
def test_a_long_text_without_a_space_is_cut_between_characters(character):
    text = character * 3_000
    parts = statements(text)
    assert len(parts) > 1
    assert all(text[part.start] not in "\u0301\u093f\ufe0f" for part in parts)
    assert all(text[part.start - 1] != "\u200d" for part in parts)


def test_a_text_of_marks_alone_is_cut_somewhere():
    assert "".join(statement.text for statement in statements("x" + "\u0301" * 5_000)) == "x" + "\u0301" * 5_000


def test_abbreviations_without_an_end_are_cut_between_words():
    parts = [statement.text for statement in statements("1. 2. " * 2_000)]
    assert "".join(parts).replace(" ", "") == "1.2." * 2_000
    assert max(map(len, parts)) < 5_000


@pytest.mark.parametrize(
    "piece", ["中文。", "«a. ", '"', "(a. ", "a\n", "```\n", "[1]", "\u200b", "word ", "x", "\ud800", "> ", "'a. b' "]
)
def test_time_grows_with_the_length_only(piece):
    began = time.thread_time()
    statements(piece * (60_000 // len(piece)))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    "marks", ["_", ")", "*_", "[1]", "a.)", "!)", "a. _", "a.[1", "> ", "`", "#", "\n#", "- ", "1. ", "\n~~~"]
)
def test_marks_before_a_word_take_no_time(marks):
    began = time.thread_time()
    for text in (marks * 5_000 + "x", "A. " + marks * 5_000 + "x", "A." + marks * 5_000 + "x. B"):
        assert "".join(statement.text for statement in statements(text)).endswith(("x", "B"))
    assert time.thread_time() - began < 2 * 3


@pytest.mark.parametrize("answer", ["It needs != 12 volts.", "It needs !=12 volts here.", "!=12 volts", "a != b"])
def test_a_sign_of_inequality_is_not_cut(answer):
    assert [statement.text for statement in statements(answer)] == [answer]
