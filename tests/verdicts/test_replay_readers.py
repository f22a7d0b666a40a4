"""The readers of truth that are our own: what is a definition, what is its content, and what has a body."""

from __future__ import annotations

import textwrap

from benchmarks.replay.read_c import CReader
from benchmarks.replay.read_csharp import CSharpReader
from benchmarks.replay.symbols import Reading, joined


def _read(reader: CReader | CSharpReader, text: str) -> Reading:
    return reader.read([("file", textwrap.dedent(text).encode())])[0]


def _content(reader: CReader | CSharpReader, text: str, name: str) -> str:
    reading = _read(reader, text)
    return reading._replace(symbols=joined(reading.symbols)).named(name)[0].content


C_FILE = """\
#include <stdio.h>
#define LIMIT(a) \\
    ((a) + 1) /* said */
#ifdef __cplusplus
extern "C" {
#endif
typedef struct point { int x, y; } point;
typedef void (*handler)(int);
enum color { RED, GREEN = 2, };
static int count = 0, other;
int limit(int);
#ifdef WIDE
int limit(int a, int b) {
#else
int limit(int a) {
#endif
    return a + '}';
}
static char *name(void) __attribute__((unused));
#ifdef __cplusplus
}
#endif
"""


def test_c_definitions_and_which_have_a_body() -> None:
    reading = _read(CReader(), C_FILE)
    assert reading.trouble == ""
    assert [(one.name, one.kind, one.bodied) for one in reading.symbols] == [
        ("LIMIT", "macro", True),
        ("point", "type", True),
        ("handler", "type", False),
        ("color", "type", True),
        ("color.RED", "const", True),
        ("color.GREEN", "const", True),
        ("count", "const", True),
        ("other", "const", True),
        ("limit", "const", False),
        ("limit", "function", True),
        ("name", "const", False),
    ]


def test_c_content_leaves_out_comments_and_layout() -> None:
    pretty = C_FILE.replace("/* said */", "").replace("GREEN = 2, }", "GREEN=2 }  // two")
    for name in ("LIMIT", "color", "limit"):
        assert _content(CReader(), pretty, name) == _content(CReader(), C_FILE, name), name
    for old, new, name in (("+ 1", "+ 2", "LIMIT"), ("'}'", "'{'", "limit"), ("int b", "long b", "limit")):
        edited = C_FILE.replace(old, new)
        assert _content(CReader(), edited, name) != _content(CReader(), C_FILE, name), name


def test_c_file_with_an_open_bracket_is_trouble() -> None:
    assert _read(CReader(), "int f(void) {").trouble == "Unclosed: a bracket is not closed"


CSHARP_FILE = """\
using System;
namespace One.Two;
[Marked("x")]
public abstract partial class Store<T> : IStore where T : class
{
    #region fields
    private readonly Dictionary<int, string> names = new() { [1] = "a" }, more;
    #endregion
    public const int Most = 3, Least = 1;
    public string Name { get; set; } = $"{names[1]} \\"}}\\" {(true ? "}" : @"\\")}";
    public int Twice => Most * 2;
    public event EventHandler Changed;
    public Store(int size) : base(size) { }
    public Store() { }
    public abstract (int, string) Find<K>(K key) where K : struct;
    public static Store<T> operator +(Store<T> a, int b) => a;
    public int this[int at] => at;
    void IStore.Close() => Dispose();
    public delegate void Told(int a);
    private enum Kind { None, [Last] Some = 2, }
}
public record struct Pair(int A, int B);
"""


def test_csharp_definitions_and_which_have_a_body() -> None:
    reading = _read(CSharpReader(), CSHARP_FILE)
    assert reading.trouble == ""
    assert [(one.name, one.kind, one.bodied) for one in reading.symbols] == [
        ("Store", "class", True),
        ("Store.names", "field", True),
        ("Store.more", "field", True),
        ("Store.Most", "field", True),
        ("Store.Least", "field", True),
        ("Store.Name", "property", True),
        ("Store.Twice", "property", True),
        ("Store.Changed", "field", True),
        ("Store.Store", "method", True),
        ("Store.Store", "method", True),
        ("Store.Find", "method", False),
        ("Store.Close", "method", True),
        ("Store.Told", "type", True),
        ("Store.Kind", "class", True),
        ("Store.Kind.None", "const", True),
        ("Store.Kind.Some", "const", True),
        ("Pair", "class", True),
    ]


def test_csharp_content_is_that_of_all_definitions_of_a_name() -> None:
    text, name = CSHARP_FILE, "Store.Store"
    swapped = text.replace("    public Store() { }\n", "").replace(
        "    public Store(int", "    public Store() { } // first\n    public Store(int"
    )
    assert _content(CSharpReader(), swapped, name) == _content(CSharpReader(), text, name)
    edited = text.replace("Store() { }", "Store() { Close(); }")
    assert _content(CSharpReader(), edited, name) != _content(CSharpReader(), text, name)


def test_declarations_count_only_without_a_body() -> None:
    declared = joined(_read(CReader(), "int limit(int);\nint limit(int a);\n").symbols)
    assert [(one.name, one.spans) for one in declared] == [("limit", ((1, 1), (2, 2)))]
    defined = joined(_read(CReader(), "int limit(int);\nint limit(int a) { return a; }\n").symbols)
    assert [(one.name, one.spans) for one in defined] == [("limit", ((2, 2),))]
