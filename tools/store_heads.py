"""Store what heads of the real model look at, for its moving figure: whole percents of weight.

    python tools/store_heads.py     needs the model's file; see requirements-model.txt
"""

import json
from pathlib import Path

from attention_book import attention_weights
from attention_book.pretrained import load_smollm2

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "src" / "attention_book" / "explorables" / "real_heads.json"
TEXTS = {
    "a name again": "Yesterday Dr Velkrin Ostomay opened a bakery in the village. Everybody likes "
                    "the bread. Today I met Dr Vel",
    "words twice": "apple stone river chair window apple stone river chair window",
    "the keys": "The keys to the old wooden cabinet",
    "the drink": "When Mary and John went to the store, John gave a drink to",
}
HEADS = {"18.6": "induction", "11.1": "previous token", "26.0": "subject of the verb",
         "24.4": "whom it is given to", "20.0": "who gives", "18.8": "rests on the first token"}


def measured(decoder, tokenizer):
    """Return texts as tokens and, for each text and head, the rows of weights in percent."""
    tokens, weights = [], []
    for text in TEXTS.values():
        ids = tokenizer.encode(text)
        found = attention_weights(decoder, ids)
        tokens.append([tokenizer.decode([i]) for i in ids])
        weights.append([[[round(100 * float(w)) for w in row[:place + 1]]
                         for place, row in enumerate(found[tuple(map(int, head.split(".")))])]
                        for head in HEADS])
    return {"texts": list(TEXTS), "tokens": tokens, "heads": HEADS, "weights": weights}


def main():
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
                      for name, value in measured(*load_smollm2()).items())
    STORED.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    print(f"{STORED.relative_to(ROOT)}: {STORED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
