"""Headers that harm YAML readers: each with the lint rule that has to name it, and the line.

Every text stands behind three good lines (id, title, kind), so that nothing but the hazard keeps the document
from being read; the line is counted in the file, where the hazard begins in line 5.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Hazard(NamedTuple):
    """The text in the header, and the rule and line of its finding."""

    text: str
    rule: str
    line: int = 5


def _merge_bomb(levels: int) -> str:
    return "a0: &a0 {k: v}\n" + "".join(
        f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, levels)
    )


def _laughs(levels: int) -> str:
    return "a0: &a0 lol\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, levels)
    )


HAZARDS: Final[dict[str, Hazard]] = {
    # Names for values, and what they multiply to.
    "anchor-on-a-text": Hazard("a: &x 1\n", "TM009"),
    "anchor-on-a-list": Hazard("a: &x [1, 2]\n", "TM009"),
    "anchor-on-a-mapping": Hazard("a: &x\n  b: c\n", "TM009"),
    "anchor-on-a-key": Hazard("&x a: b\n", "TM009"),
    "anchor-on-nothing": Hazard("a: &x\nb: c\n", "TM009"),
    "alias-of-nothing": Hazard("a: *x\n", "TM009"),
    "alias-as-a-key": Hazard("*x : b\n", "TM009"),
    "alias-in-brackets": Hazard("a: [b, *x]\n", "TM009"),
    "alias-to-itself": Hazard("a: &x [*x]\n", "TM009"),
    "billion-laughs": Hazard(_laughs(10), "TM009"),
    "alias-bomb-of-370-bytes": Hazard(_laughs(8)[:370].rpartition("\n")[0] + "\n", "TM009"),
    "merge-key": Hazard("a:\n  <<: {b: c}\n", "TM009", 6),
    "merge-key-at-the-top": Hazard("<<: {b: c}\n", "TM009"),
    "merge-key-of-an-alias": Hazard("<<: *x\n", "TM009"),
    "merge-key-bomb": Hazard(_merge_bomb(24), "TM009"),
    "many-anchors": Hazard("".join(f"k{n}: &k{n} v\n" for n in range(1_000)), "TM009"),
    # Tags, which make other readers build objects.
    "tag-of-python": Hazard("a: !!python/object/apply:os.system ['true']\n", "TM009"),
    "tag-of-ruby": Hazard("a: !ruby/object:Gem::Installer {}\n", "TM009"),
    "tag-of-java": Hazard('a: !!javax.script.ScriptEngineManager ["x"]\n', "TM009"),
    "tag-int-of-nothing": Hazard('a: !!int ""\n', "TM009"),
    "tag-float-of-a-word": Hazard("a: !!float x\n", "TM009"),
    "tag-bool-of-a-word": Hazard("a: !!bool x\n", "TM009"),
    "tag-timestamp-of-a-word": Hazard("a: !!timestamp x\n", "TM009"),
    "tag-binary": Hazard("a: !!binary AAAA\n", "TM009"),
    "tag-set": Hazard("a: !!set {b, c}\n", "TM009"),
    "tag-without-a-name": Hazard("a: ! b\n", "TM009"),
    "tag-verbatim": Hazard("a: !<tag:x.y,2000:z> b\n", "TM009"),
    "tag-on-a-key": Hazard("!!str a: b\n", "TM009"),
    # The same key twice.
    "id-twice": Hazard("id: fact.other\n", "TM007"),
    "key-twice-below": Hazard("a:\n  b: 1\n  b: 2\n", "TM007", 7),
    "key-twice-in-braces": Hazard("a: {b: 1, b: 2}\n", "TM007"),
    "key-twice-once-quoted": Hazard("a: 1\n'a': 2\n", "TM007", 6),
    "key-twice-by-escape": Hazard('a: 1\n"\\x61": 2\n', "TM007", 6),
    "updated-twice-after-a-merge": Hazard("updated: 2026-01-01\nupdated: 2026-01-02\n", "TM007", 6),
    # Too much of something.
    "depth-in-lines": Hazard("".join(f"{' ' * n}k{n}:\n" for n in range(60)), "TM010", 11),
    "depth-in-brackets": Hazard("a: [[[[[[[b]]]]]]]\n", "TM010"),
    "brackets-1200": Hazard("a: " + "[" * 1_200 + "\n", "TM010"),
    "brackets-30000": Hazard("a: " + "[" * 30_000 + "\n", "TM010"),
    "braces-6000": Hazard("a: " + "{a: " * 6_000 + "\n", "TM010"),
    "brackets-with-words": Hazard("a: " + "[0" * 10_000 + "\n", "TM010"),
    "dashes-15000": Hazard("a:\n" + "- " * 15_000 + "\n", "TM010", 6),
    "question-marks-15000": Hazard("? " * 15_000 + "\n", "TM010"),
    "list-of-15000": Hazard("a: [" + "x," * 15_000 + "]\n", "TM010"),
    "billion-keys": Hazard("".join(f"k{n}:\n" for n in range(4_000)), "TM010", 1252),
    "items-5000": Hazard("a:\n" + "- x\n" * 5_000, "TM010", 2497),
    "header-of-33-kib": Hazard("a: " + "x" * 33 * 1024 + "\n", "TM010", 2),
    "header-of-1-mb-list": Hazard("a: [" + "x, " * 300_000 + "]\n", "TM010", 2),
    "comment-of-40-kib": Hazard("# " + "x" * 40 * 1024 + "\n", "TM010", 2),
    # More than one document, or none.
    "two-documents": Hazard("a: b\n--- c\n", "TM006", 6),
    "directive": Hazard("a: b\n%YAML 1.1\n", "TM006", 6),
    "end-mark-and-more": Hazard("a: b\n... c\nd: e\n", "TM006", 6),
    # Tabs.
    "tab-as-indent": Hazard("a:\n\tb: c\n", "TM008", 6),
    "tab-before-a-dash": Hazard("a:\n\t- b\n", "TM008", 6),
    "tab-behind-a-colon": Hazard("a:\tb\n", "TM008"),
    "tab-at-the-end": Hazard("a: b\t\n", "TM008"),
    "tab-before-a-comment": Hazard("a: b\t# c\n", "TM008"),
    # Keys that are no words.
    "list-as-a-key": Hazard("? [a]\n: b\n", "TM006"),
    "mapping-as-a-key": Hazard("{a: b}: c\n", "TM006"),
    "key-with-a-question-mark": Hazard("? a\n: b\n", "TM006"),
    "value-without-a-key": Hazard(": b\n", "TM006"),
    "template-mark": Hazard("a: {{ name }}\n", "TM006"),
    "key-of-30000": Hazard("k" * 30_000 + ": v\n", "TM006"),
    "key-in-brackets-without-a-value": Hazard("a: [b:, c]\n", "TM006"),
    # What is no YAML.
    "open-quote": Hazard('a: "b\nc: d\n', "TM006"),
    "open-bracket": Hazard("a: [b, c\nd: e\n", "TM006", 6),
    "colon-in-a-value": Hazard("a: b: c\n", "TM006"),
    "percent": Hazard("a: %d\n", "TM006"),
    "at-sign": Hazard("a: @b\n", "TM006"),
    "backtick": Hazard("a: `b`\n", "TM006"),
    "bad-escape": Hazard('a: "\\q"\n', "TM006"),
    "escape-beyond-unicode": Hazard('a: "\\U99999999"\n', "TM006"),
    "escape-of-half-a-character": Hazard('a: "\\ud800"\n', "TM006"),
    "escape-of-nul": Hazard('a: "\\0"\n', "TM006"),
    "indent-that-steps-back": Hazard("a:\n    b: c\n  d: e\n", "TM006", 7),
    "item-beside-keys": Hazard("- a\n", "TM006"),
    "text-beside-keys": Hazard("just words\n", "TM006"),
    "block-mark-of-ten": Hazard("a: |10\n  b\n", "TM006"),
    "conflict-markers": Hazard("<<<<<<< HEAD\na: b\n=======\na: c\n>>>>>>> topic\n", "TM012"),
    # Characters that readers treat differently.
    "escape-character": Hazard("a: \x1b[31mred\n", "TM006"),
    "lone-carriage-return": Hazard("a: b\rid: c\n", "TM006"),
    "line-separator": Hazard("a: b\u2028id: c\n", "TM006"),
    "next-line": Hazard("a: b\u0085id: c\n", "TM006"),
    "byte-order-mark-inside": Hazard("a: \ufeffb\n", "TM006"),
    "no-character": Hazard("a: \uffff\n", "TM006"),
}

# Values that make other readers stop, lose digits or change their meaning: here they are texts, so the
# document is read, and the schema (or a warning) names the line.
VALUES: Final[dict[str, Hazard]] = {
    "no-such-day": Hazard("created: 2026-13-45\n", "TM101"),
    "day-nought": Hazard("created: 0000-00-00\n", "TM101"),
    "no-such-zone": Hazard("created: 2026-01-01T00:00:00+99:99\n", "TM101"),
    "number-of-5000-digits": Hazard("credibility: " + "9" * 5_000 + "\n", "TM101"),
    "number-beyond-floats": Hazard("credibility: 1e999\n", "TM101"),
    "not-a-number": Hazard("credibility: .nan\n", "TM101"),
    "list-where-a-text-stands": Hazard("author: [a, b]\n", "TM101"),
    "text-where-a-list-stands": Hazard("tags: a, b\n", "TM101"),
    "sha-of-digits": Hazard("provenance:\n  commits: [1234567]\n", "TM013", 6),
    "sha-like-octal": Hazard("provenance:\n  commits: [0755123]\n", "TM013", 6),
    "sha-like-a-float": Hazard("provenance:\n  commits: [12345e7]\n", "TM013", 6),
    "word-for-false": Hazard("author: no\n", "TM013"),
}
