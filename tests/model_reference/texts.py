"""Texts of many kinds, on which the real model is compared with another implementation."""

TEXTS = {
    "nothing": "",
    "one letter": "a",
    "a sentence": "The capital of France is",
    "accents": "Grüße aus Köln: naïve café – “déjà vu”, señor.",
    "other scripts": "Привет, мир. 漢字とかな。 שלום नमस्ते",
    "emoji": "A family 👩‍👩‍👧‍👦, a flag 🏳️‍🌈 and 😀😀",
    "code": "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n",
    "digits": "3.14159 and 2,718,281 make 2026-11-30; ½ of 12³",
    "white space": "  two\n\n\n\tthree   \u00a0 \u2003four\r\n",
    "contractions": "They'll say it's what we've done; don't, I'd rather you're sure. IT'S",
    "a talk": "<|im_start|>user\nWhat is attention?<|im_end|>\n<|im_start|>assistant\n",
    "a name again": "Yesterday Dr Velkrin Ostomay opened a bakery in the village. Everybody likes "
                    "the bread. Today I met Dr Vel",
    "a thousand tokens": " ".join(
        f"On day {day} the ship sailed {7 * day % 23} miles, and the keeper of the light wrote it "
        f"down in the book of the harbour." for day in range(1, 41)),
}
N_NEW = 40
N_CHECKED = 64  # of the last token's logits, evenly spaced over the vocabulary
