"""Writes the reference tokens of small vocabularies with added tokens, which tests/it/bpe/added.rs compares.

    python3 benches/tokens/added_tokens.py tests/it/bpe/added.json

Another file and a number of texts per vocabulary run a longer comparison:

    python3 benches/tokens/added_tokens.py target/added.json 5000
    CTXWEAVE_ADDED_TOKENS=target/added.json cargo test --release -p ctxweave-tests -- added_tokens

Each vocabulary is a `tokenizer.json`; its texts have the tokens of the package `tokenizers` of PyPI, with special tokens and with their texts
as plain text. Needs `pip install tokenizers==0.23.3`.
"""

import json
import random
import sys

from tokenizers import Tokenizer

QWEN35 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = ["th", "the", " the", "re", "ret", "in", "def", "  ", "    ", "ing", "ab", "\n\n", "é", "नम", "स्", "中文", "('", "):", " x"]


def written(byte):
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return chr(byte) if byte in visible else chr(0x100 + [at for at in range(256) if at not in visible].index(byte))


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def vocabulary(pre_tokenizer, form, added):
    tokens = [bytes([byte]) for byte in range(256)]
    for word in WORDS:
        data = word.encode()
        tokens += [data[:end] for end in range(2, len(data) + 1) if data[:end] not in tokens]
    write = lambda token: "".join(map(written, token))
    merges = [[write(token[:at]), write(token[at:])] for token in tokens for at in range(1, len(token)) if token[:at] in tokens and token[at:] in tokens]
    # An added token that is also one of the model has that id.
    ids = {write(token): at for at, token in enumerate(tokens)}
    listed = []
    for content, normalized, special in added:
        ids.setdefault(content, len(ids))
        listed.append((ids[content], content, normalized, special))
    flags = {"single_word": False, "lstrip": False, "rstrip": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id, "content": content, **flags, "normalized": normalized, "special": special}
            for id, content, normalized, special in listed
        ],
        "normalizer": form and {"type": form},
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": byte_level(True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {write(token): at for at, token in enumerate(tokens)},
            "merges": merges,
        },
    }


END = ("<|endoftext|>", False, True)
QWEN = [("<|im_start|>", False, True), END, ("<tool_call>", False, False), ("</tool_call>", False, False), ("<think>", False, False), ("</think>", False, False)]
SPACES = [(" " * many, True, False) for many in range(24, 1, -1)]
ODD = [("ab", False, False), ("abc", True, False), ("b c", False, False), ("\n\n", True, False), ("e\u0301x", True, False), ("<|endoftext|>!", False, False), END]
ODD += [("\t", False, False), ("thé", True, False), ("\n#", False, False), ("中", True, False), ("aaab", True, False)]
VOCABULARIES = {
    "gpt-neox": vocabulary(byte_level(True), "NFC", [END, ("<|padding|>", False, True), *SPACES]),
    "qwen3.5": vocabulary({"type": "Sequence", "pretokenizers": [split(QWEN35), byte_level(False)]}, "NFC", QWEN),
    "odd": vocabulary({"type": "Sequence", "pretokenizers": [split(LLAMA3), byte_level(False)]}, None, ODD),
    "odd-nfc": vocabulary({"type": "Sequence", "pretokenizers": [split(LLAMA3), byte_level(False)]}, "NFC", ODD),
    "odd-nfkc": vocabulary(byte_level(True), "NFKC", ODD),
}
UNITS = [" ", "  ", "    ", " " * 25, "\n", "\n\n", "\t", "\r\n", "a", "b", "c", "ab", "aa", "b c", "x", "the", " the", "thé", "the\u0301", "return", "def", "(", "):", "#"]
UNITS += ["e\u0301x", "e", "\u0301", "éx", "नमस्ते", "中文", "1234", "'s", "!", "<|endoftext|>", "<|im_start|>", "<think>", "</think>", "<thi", "<tool_call>", "ﬁ", "\u00a0", "\u3000", "👍"]
CODE = """def walk(tree, depth=0):
    \"\"\"Visits the nodes.\"\"\"
    for node in tree:
        if node.children:
            yield from walk(node.children, depth + 1)   # deeper


        else:
\t\t  yield (node,\tdepth)
"""


def texts(count):
    chance = random.Random(7)
    yield CODE
    yield "\u0928\u092e\u0938\u094d\u0924\u0947 e\u0301 नमस्ते"
    for _ in range(count):
        yield "".join(chance.choices(UNITS, k=chance.choice([3, 8, 20, 40])))


def main(path, count="40"):
    listed = []
    for name, file in VOCABULARIES.items():
        tokenizer = Tokenizer.from_str(json.dumps(file))
        cases = []
        for text in texts(int(count)):
            tokenizer.encode_special_tokens = False
            special = tokenizer.encode(text, add_special_tokens=False).ids
            tokenizer.encode_special_tokens = True
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append({"text": text, "plain": plain, "special": None if special == plain else special})
        listed.append({"name": name, "file": file, "cases": cases})
    rows = ",\n".join(
        f'{{"name": {json.dumps(one["name"])}, "file": {json.dumps(one["file"])}, "cases": [\n'
        + ",\n".join(json.dumps(case) for case in one["cases"])
        + "\n]}"
        for one in listed
    )
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(f"[{rows}]\n")


main(*sys.argv[1:])
