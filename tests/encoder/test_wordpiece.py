"""Word pieces, with a small vocabulary; what was compared is BERT's own tokenizer."""

from nuggets.encoder.minilm import WordPieceTokenizer, split_words

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "walk", "##ing", "##ed", ",", "cafe", "京", "walking"]
TOKENIZER = WordPieceTokenizer({word: number for number, word in enumerate(WORDS)})


def pieces(text: str, most: int = 100) -> list[str]:
    return [WORDS[number] for number in TOKENIZER.encode(text, most)]


def test_a_word_is_cut_into_its_longest_pieces() -> None:
    assert pieces("walked walking") == ["[CLS]", "walk", "##ed", "walking", "[SEP]"]


def test_a_word_that_cannot_be_cut_is_unknown_as_a_whole() -> None:
    assert pieces("walkman " + "walk" * 30) == ["[CLS]", "[UNK]", "[UNK]", "[SEP]"]


def test_case_and_accents_do_not_matter_and_marks_are_words() -> None:
    assert pieces("Café,WALK") == ["[CLS]", "cafe", ",", "walk", "[SEP]"]


def test_every_ideograph_is_a_word_and_control_characters_are_none() -> None:
    assert list(split_words("京都\u200b a\tb\u00a0c\x00d")) == ["京", "都", "a", "b", "cd"]


def test_a_long_text_is_cut_off_before_its_end_mark() -> None:
    assert pieces("walk " * 50, most=4) == ["[CLS]", "walk", "walk", "[SEP]"]
