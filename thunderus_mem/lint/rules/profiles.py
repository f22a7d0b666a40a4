"""Rules that other programs ask for, each part of a profile: off unless `lint --profile` or the key
``lint.profiles`` enables the profile.

``shodh`` are the practices of the unified memory schema, ``nova`` is the metadata contract of Nova Fusion
Memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.document.frontmatter.nodes import Scalar, Sequence, is_null
from thunderus_mem.document.ids import closest
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.rule import LintContext

_HYPHENATED: Final = lazy_pattern(r"[^\W_A-Z]+(?:-[^\W_A-Z]+)*")
_FEWEST_TAGS, _MOST_TAGS = 5, 10
_SHORTEST_EPISODE, _LONGEST_EPISODE = 3, 10
NOVA_REQUIRED: Final = ("category", "run_id", "agent", "source")
"""The keys of ours that Nova requires."""
NOVA_SOURCES: Final = ("url", "file", "manual", "agent")
NOVA_CATEGORIES: Final = (
    *("strategy_spec", "backtest_result", "risk_rule", "compile_error", "deployment_config"),
    *("postmortem", "research_note"),
)


def _given(context: LintContext, key: str) -> str:
    """The text of a key; "" if it is missing, empty or null."""
    node = context.node(key)
    return node.text if isinstance(node, Scalar) and not is_null(node) else ""


def unpaired_emotion(context: LintContext) -> Iterable[Diagnostic]:
    """Only one of ``emotional_valence`` and ``emotional_arousal`` is given (profile ``shodh``).

    Why: the two numbers describe one point; programs that rank by emotion use both or neither. A label
    (``emotion``) alone is fine.

    Bad::

        emotion: relief
        emotional_valence: 0.6

    Good::

        emotion: relief
        emotional_valence: 0.6
        emotional_arousal: 0.2

    Fix: add the other number, or remove this one.
    """
    keys = ("emotional_valence", "emotional_arousal")
    given = [key for key in keys if _given(context, key)]
    if len(given) == 1:
        (missing,) = set(keys) - set(given)
        yield context.finding(
            "TM801",
            context.at(given[0]),
            f"`{given[0]}` without `{missing}`",
            key=given[0],
            expected="both or neither",
            hint=f"Add `{missing}`, or remove `{given[0]}`",
        )


def tag_spelling(context: LintContext) -> Iterable[Diagnostic]:
    """A tag is not in lower case, with hyphens between words (profiles ``shodh`` and ``nova``).

    Why: other programs compare tags letter by letter. Profile ``nova`` only asks for lower case.

    Bad::

        tags: [User_Auth, "bug fix"]

    Good::

        tags: [user-auth, bug-fix]

    Fix: ``thunderus-mem edit ID --remove-tag User_Auth --tag user-auth``, or for all documents
    ``tags.aliases`` in ``gardener.toml`` and ``thunderus-mem garden``.
    """
    hyphenated = "shodh" in context.config.profiles
    node = context.node("tags")
    for place, item in enumerate(node.items if isinstance(node, Sequence) else ()):
        tag = item.text if isinstance(item, Scalar) else ""
        if not tag or (tag == tag.lower() and (not hyphenated or _HYPHENATED.fullmatch(tag))):
            continue
        yield context.finding(
            "TM802",
            context.at("tags", place),
            f"The tag '{tag}' is not in lower case{' with hyphens' if hyphenated else ''}",
            key=f"tags.{place}",
            expected="user-auth, bug-fix",
            hint=f"Replace it with `{_respelled(tag)}`, in all documents with `tags.aliases`",
        )


def _respelled(tag: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in tag.lower()).split()
    return "-".join(words)


def tag_count(context: LintContext) -> Iterable[Diagnostic]:
    """The document has fewer than 5 or more than 10 tags (profile ``shodh``).

    Why: with few tags it is not found by tag; with many, a tag says little.

    Bad::

        tags: [auth]

    Good::

        tags: [auth, jwt, mobile, security, tokens]

    Fix: ``thunderus-mem edit ID --tag TAG`` or ``--remove-tag TAG``.
    """
    document = context.document
    if document is None or _FEWEST_TAGS <= len(document.tags) <= _MOST_TAGS:
        return
    number = len(document.tags)
    yield context.finding(
        "TM803",
        context.at("tags"),
        f"{number} tag{'' if number == 1 else 's'}",
        key="tags",
        expected=f"{_FEWEST_TAGS} to {_MOST_TAGS} tags",
        hint="Add tags" if number < _FEWEST_TAGS else "Remove tags",
    )


def episode_length(context: LintContext) -> Iterable[Diagnostic]:
    """The episode of the document has fewer than 3 or more than 10 documents (profile ``shodh``).

    Why: an episode tells one story; a shorter one is a single document, a longer one is several stories. A
    recap of the episode does not count.

    Bad::

        episode_id: work-2024

    Good::

        episode_id: auth-tokens-2024

    Fix: merge short episodes, or split a long one; ``thunderus-mem list --episode NAME`` lists its documents.
    """
    document = context.document
    if document is None or document.episode is None or context.corpus is None:
        return
    name = document.episode[0]
    number = context.corpus.episode_length(name)
    if not number or _SHORTEST_EPISODE <= number <= _LONGEST_EPISODE:
        return
    yield context.finding(
        "TM804",
        context.at("episode_id"),
        f"The episode '{name}' has {number} document{'' if number == 1 else 's'}",
        key="episode_id",
        expected=f"{_SHORTEST_EPISODE} to {_LONGEST_EPISODE} documents",
        hint="Merge it with another episode" if number < _SHORTEST_EPISODE else "Split the episode",
    )


def missing_metadata(context: LintContext) -> Iterable[Diagnostic]:
    """A required key of Nova's metadata contract is missing (profile ``nova``).

    Why: Nova filters by these keys: ``category``, ``run_id``, ``agent``, ``source`` and the timestamp, which
    is ``created`` and must be in UTC (``Z``).

    Bad::

        created: 2026-02-22T11:30:00+01:00
        category: risk_rule

    Good::

        created: 2026-02-22T10:30:00Z
        category: risk_rule
        run_id: run_20260222_001
        agent: research_agent
        source: agent

    Fix: ``thunderus-mem edit ID --set KEY=VALUE``.
    """
    missing = [key for key in NOVA_REQUIRED if not _given(context, key)]
    if context.document is not None and missing:
        yield context.finding(
            "TM805",
            context.at(missing[0]),
            f"Missing {'keys' if len(missing) > 1 else 'key'}: {', '.join(missing)}",
            key=missing[0],
            expected=", ".join(NOVA_REQUIRED),
            hint="Set them, for example `thunderus-mem edit ID --set category=research_note`",
        )
    created = _given(context, "created")
    if parse_timestamp(created) is not None and not created.upper().endswith("Z"):
        yield context.finding(
            "TM805",
            context.at("created"),
            "The timestamp is not in UTC",
            key="created",
            expected="a time that ends in Z",
            hint="Convert it to UTC",
        )


def unlisted_metadata(context: LintContext) -> Iterable[Diagnostic]:
    """The value of ``source`` or ``category`` is not one that Nova knows (profile ``nova``).

    Why: Nova filters by these values. ``source`` is one of url, file, manual, agent; ``category`` is one of
    strategy_spec, backtest_result, risk_rule, compile_error, deployment_config, postmortem, research_note.

    Bad::

        source: docs/risk.md
        category: Risk

    Good::

        source: file
        category: risk_rule

    Fix: use one of these values, and ``metadata`` or a tag for the rest.
    """
    return [*_unlisted(context, "source", NOVA_SOURCES), *_unlisted(context, "category", NOVA_CATEGORIES)]


def _unlisted(context: LintContext, key: str, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    value = _given(context, key)
    if not value or value in known:
        return
    near = closest(value.lower(), known, 1)
    yield context.finding(
        "TM806",
        context.at(key),
        f"Unknown `{key}`: '{value}'",
        key=key,
        expected=f"one of {', '.join(known)}",
        hint=f"Did you mean `{near[0]}`?" if near else "Use one of the known values",
    )
