"""Small valid files made wrong: bytes, lines, tokens, structure; the same for the same seed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

__all__ = ["mutate", "random_json", "with_other_values"]

NUMBERS = (
    *(b"0", b"-0", b"-1", b"1e9", b"1000000000", b"1e308", b"1e999", b"-1e999", b"nan", b"inf"),
    *(b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808"),
    *(b"18446744073709551616", b"0x1p99999", b"1_000", b"1,5", b".", b"-", b"+", b"1e", b"5e-324"),
    *("٣".encode(), b"0.1" + b"0" * 400, b"1" * 400, b"1" * 5000, b"0" * 30 + b"1", b"1e-999"),
)
TOKENS = (
    *(
        b"\x00",
        b"\xff",
        b"\xfe\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xef\xbb\xbf",
    ),
    *(b"\n", b"\r", b"\r\n", b"\n\n\n", b"\t", b" ", b"\x0b", b"\x0c", b"\x1c", b"\x1b[31m"),
    *("\u2028\u0085\u00a0".encode(), "e\u0301\u202e".encode(), "\U0001f4a9".encode()),
    *(b'"', b"'", b"'''", b'"""', b"\\", b"\\u0000", b'"\\ud800"', b"\\x", b",", b";", b":", b"#"),
    *(b"[" * 1200, b"{" * 3, b'{"a":' * 1200, b"]", b"}", b"[]", b"{}", b"null", b"true", b"false"),
    *(b"<DOC>", b"</DOC>", b"<DOCNO>", b"</DOCNO>", b"<top>", b"</top>", b"<num>", b"<title>"),
    *(b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#0;", b"&#xD800;", b"&#1114112;", b"&amp;", b"<"),
    *(b"../../x", b"/etc/hostname", b"C:\\x", b"file:///x", b"%s%n", b"=cmd|' /C calc'!A0", b"@x"),
    *(b"PAR1", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"),
    *(b"__import__('os')", b"${x}", b"{0}", b"a" * 3000, b" " * 3000, b"= =", b"[[", b"]]"),
)
_VALUES = (
    *(
        b"true",
        b"[]",
        b"{}",
        b'"x"',
        b'""',
        b'"1"',
        b"[1]",
        b"[[1]]",
        b'["x"]',
        b"[nan]",
        b"[inf, 1]",
    ),
    *(b"{a = 1}", b"[{}]", b"2020-01-01", b"12:00:00", b"-5", b"99999", b"100000", b"1e-300"),
    *(b'"1:2:3"', b'"1:1e400:3"', b'"0:5e-324:5"', b'"1:1.0000000000000002:7"', b"[1e400, 1]"),
    *(b"[" + b"1" * 400 + b"]", b'"1:' + b"1" * 400 + b':3"', b"9007199254740993", b"0.5"),
)
"""Values of TOML, of every kind: those of a file stay well formed when they are exchanged."""
_VALUE = re.compile(rb'"[^"\n]*"|\[[^\]\n]*\]|-?[0-9][0-9.e]*')
_PLAIN: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, float("nan")),
    *(float("inf"), "", "a", "d1", "q1", "\0", "\ud800", "x" * 500, "../x", "1e9", [], {}),
)


def random_json(random: Random, keys: Sequence[str], depth: int = 3) -> Any:
    """Any value that JSON can hold, with names that a reader knows."""
    kind = random.random()
    if depth == 0 or kind < 0.4:
        return random.choice(_PLAIN)
    if kind < 0.6:
        return [random_json(random, keys, depth - 1) for _ in range(random.randrange(4))]
    names = random.sample(keys, min(len(keys), random.randrange(5)))
    return {name: random_json(random, keys, depth - 1) for name in names}


def with_other_values(random: Random, content: bytes) -> bytes:
    """The same settings with one value, or a few, exchanged for others of any kind."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        begin, end = random.choice([one.span() for one in _VALUE.finditer(content)])
        content = content[:begin] + random.choice((*_VALUES, *NUMBERS)) + content[end:]
    return content


def mutate(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change a file in one place or several."""
    for _ in range(1 + min(random.getrandbits(2), random.getrandbits(2))):
        content = random.choice(_CHANGES)(random, content, others)
    return content[: 1 << 16]


def _stretch(random: Random, content: bytes) -> tuple[int, int]:
    begin = random.randrange(len(content) + 1)
    return begin, min(len(content), begin + 1 + int(random.expovariate(0.1)))


def _flip(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    if not content:
        return content
    at = random.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :]


def _set(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]


def _cut(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] if random.random() < 0.7 else content[at:]


def _delete(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(random, content)
    return content[:begin] + content[end:]


def _repeat(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(random, content)
    times = random.choice((1, 1, 2, 3, 50))
    return content[:end] + content[begin:end] * times + content[end:]


def _insert(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    at = random.randrange(len(content) + 1)
    return content[:at] + random.choice(TOKENS) + content[at:]


def _replace(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(random, content)
    return content[:begin] + random.choice(TOKENS) + content[end:]


def _number(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """Put another number in the place of one, or of a stretch where there is none."""
    begin = random.randrange(len(content) + 1)
    while begin < len(content) and not content[begin : begin + 1].isdigit():
        begin += 1
    end = begin
    while end < len(content) and content[end : end + 1] in b".0123456789e":
        end += 1
    return content[:begin] + random.choice(NUMBERS) + content[end:]


def _word(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Put a word of some other place in the place of one."""
    words, more = content.split(b" "), random.choice(others).split()
    if more:
        words[random.randrange(len(words))] = random.choice(more)
    return b" ".join(words)


def _splice(random: Random, content: bytes, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    begin, end = random.randrange(len(content) + 1), random.randrange(len(other) + 1)
    return content[:begin] + other[end:]


def _lines(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """Drop, repeat or exchange lines."""
    lines = content.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.random()
    if kind < 0.3:
        del lines[one]
    elif kind < 0.6:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _wide(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """Text in UTF-16, or in Latin-1."""
    encoding = random.choice(("utf-16", "utf-16-le", "utf-32", "latin-1"))
    return content.decode("utf-8", "replace").encode(encoding, "replace")


def _packed(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    pack: Callable[[bytes], bytes] = random.choice((_gzip, bz2.compress, lzma.compress))
    return pack(content)


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def _json_value(random: Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """Change a value somewhere in JSON, or in a line of it, and leave the rest as it is."""
    lines = content.split(b"\n")
    whole = random.random() < 0.5
    at = random.randrange(len(lines))
    try:
        found = json.loads(content if whole else lines[at])
    except (ValueError, RecursionError):
        return _replace(random, content, ())
    lines[at] = json.dumps(_changed(random, found)).encode()
    return lines[at] if whole else b"\n".join(lines)


def _changed(random: Random, value: Any) -> Any:
    """The same with one value, at any depth, exchanged or taken out."""
    if random.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return random_json(random, ("a", "q1", "d1"), 2)
    if isinstance(value, list):
        at = random.randrange(len(value))
        rest = [] if random.random() < 0.2 else [_changed(random, value[at])]
        return [*value[:at], *rest, *value[at + 1 :]]
    key = random.choice(list(value))
    if random.random() < 0.2:
        return {name: one for name, one in value.items() if name != key}
    return {**value, key: _changed(random, value[key])}


_CHANGES = (
    *(_flip, _set, _cut, _delete, _repeat, _insert, _insert, _replace, _number, _number),
    *(_word, _splice, _lines, _json_value, _json_value),
    *(_flip, _set, _delete, _repeat, _insert, _replace, _number, _lines, _wide, _packed),
)
