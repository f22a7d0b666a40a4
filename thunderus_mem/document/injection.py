"""Detect prompt injection: text written to manipulate the agent that reads it. Pure.

The context decides. Code and quotations are examples and never count. In text that a rendered page hides
(comments, hidden elements), addressing an agent is enough. In plain text one instruction or command is
enough; of weaker signs it takes a related pair in one paragraph.

`ORDERS` (prose) and `COMMANDS` (commands and markers, by line) are strong signs: one is enough. `HIDDEN`
counts only in hidden text. `WEAK` signs also occur in harmless texts, so two of them must form one of the
`PAIRS`. Patterns run on lower-case text. A pattern is tried only if the text contains a word from each group
of its ``needs``, so that ordinary text is cheap; patterns have no nested repetition, so no text can make them
slow.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.markdown import scan, suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Sign(NamedTuple):
    """A sign: the text of its finding, patterns that follow each other in one sentence, and required words.

    ``raw`` signs are searched in the original line; the others in prose, without emphasis markup. The first
    group of ``needs`` should be the rarest: only passages that contain one of its words are examined.
    """

    message: str
    parts: tuple[str, ...]
    needs: tuple[frozenset[bytes], ...]
    raw: bool = False


def _sign(message: str, *parts: str, needs: str, raw: bool = False) -> Sign:
    """Make a sign; ``needs`` are groups of words separated by ``;``, ``word/s`` is the word and its
    plural."""
    groups = []
    for group in needs.split(";"):
        words = [word.partition("/") for word in group.split()]
        forms = [form for word, slash, end in words for form in (word, word + end)[: 2 if slash else 1]]
        groups.append(frozenset(form.encode() for form in forms))
    return Sign(message, parts, tuple(groups), raw)


def _one_of(words: str) -> str:
    """A regex group of alternatives separated by spaces, with ``_`` for a space inside one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def _some(words: str, most: int) -> str:
    """A regex for up to ``most`` of these words, each followed by a space."""
    return f"(?:{_one_of(words)} ){{0,{most}}}"


# An instruction starts a sentence or clause, or follows one of these words; "the model may ignore …" does
# not.
_ORDER: Final = (
    r"(?:^|[.!?:;,)>|#\u2014\u2013-] ?|\b(?:please|kindly|now|you|must|should|shall|then|also|simply|just|"
    r"immediately|first|always|you are to|you are (?:told|ordered|instructed|asked) to) )"
)
_RULES: Final = _one_of(
    "instructions? prompts? directives? guidelines? guardrails programming system_messages? rules orders "
    "context"
)
_READERS: Final = _one_of(
    "previous prior above earlier preceding former original initial system safety your existing"
)
_FILL: Final = _some(
    "all any every each of the these those other and or rules that came said given default hidden security", 6
)
_PRIVATE: Final = (
    r"(?:\.env\b|environment variables|env vars|~?/?\.(?:ssh|aws|kube|gnupg|netrc|npmrc|pypirc)\b|id_rsa|"
    r"(?:private|ssh|aws|access|signing|deploy) keys|(?:system|hidden) prompt|"
    r"(?:chat|conversation|message|session) (?:history|log|transcript)|(?:whole|entire|full) conversation|"
    r"\b(?:all|every|any|your|found|the user's)(?: of)?(?: the)? (?:api |access |auth |deploy )?"
    r"(?:keys|tokens|credentials|secrets|passwords))"
)
_OUTSIDE: Final = (
    r"(?:https?://|[a-z0-9._-]{1,40}@[a-z0-9-]{1,40}\.[a-z]|\b(?:to|into|at) (?:a |an |the |this |our |my )?"
    r"(?:public |remote |external |following )?(?:webhook|gist|paste|pastebin|url|address|endpoint)\b)"
)
_DROP: Final = "tells an agent to ignore its instructions"
_ROLE: Final = "gives an agent an unrestricted role"
_SENT: Final = "sends secrets away"

ORDERS: Final = (
    _sign(
        _DROP,
        _ORDER
        + _one_of("ignore disregard forget abandon discard do_not_follow don't_follow stop_following")
        + f" {_FILL}{_READERS} {_FILL}{_some('previous prior system safety style own', 2)}{_RULES}",
        needs="ignore disregard forget abandon discard follow following; "
        "instruction/s prompt/s directive/s guideline/s guardrails programming message/s rules "
        "orders context; "
        "previous prior above earlier preceding former original initial system safety your "
        "existing",
    ),
    _sign(
        _DROP,
        _ORDER
        + _one_of("override bypass ignore disregard")
        + f" {_FILL}(?:your|every|all) {_some('own internal safety ethical content', 2)}"
        + _one_of("guidelines? guardrails programming safety_rules restrictions safeguards"),
        needs="override bypass ignore disregard; "
        "guideline/s guardrails programming rules restrictions safeguards; "
        "your every all",
    ),
    _sign(
        "tells an agent to forget everything before",
        _ORDER
        + "(?:forget|disregard|ignore) (?:all|everything|anything|whatever) "
        + _some("of that you were was have has been is the i we told said written learned know came", 6)
        + r"(?:above|before|previously|so far|until now)(?= ?[.,;:!]| and\b| ?$)",
        needs="forget disregard ignore; all everything anything whatever; above before previously far now",
    ),
    _sign(
        "declares an agent's instructions invalid",
        rf"\b{_READERS} {_some('system previous own', 1)}"
        + _one_of("instructions prompt guidelines directives restrictions")
        + r" (?:(?:are|is|have been|has been|were) (?:now |hereby |all )?"
        r"(?:void|revoked|cancell?ed|suspended|lifted|no longer (?:valid|binding|in effect|active))|"
        r"(?:do not|don't|no longer) (?:apply|hold|bind)(?: to you| for you| you))",
        needs="void revoked canceled cancelled suspended lifted longer apply hold bind; "
        "instructions prompt guidelines directives restrictions",
    ),
    _sign(
        _ROLE,
        r"\byou are (?:now|no longer) "
        + _some(
            "an? the in my acting operating running as fully completely called bound restricted limited "
            "constrained subject by to under any your",
            6,
        )
        + r"(?:dan\b|(?:developer|god|root) mode|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|"
        r"free (?:of|from) (?:all |any |your )?(?:rules|restrictions|limits|guidelines|constraints)|"
        r"(?:rules|restrictions|guidelines|policies|constraints|instructions|openai|anthropic)\b|"
        r"(?:different|new|rogue|evil) (?:ai|assistant|agent|model)\b|do anything now)",
        needs="dan mode jailbreak jailbroken unrestricted unfiltered uncensored free rules restrictions "
        "guidelines policies constraints instructions openai anthropic ai assistant agent model "
        "anything; "
        "now longer; "
        "are",
    ),
    _sign(
        _ROLE,
        r"\b(?:enter|enable|activate|switch to|switch into|go into|engage) (?:the |your )?"
        r"(?:dan|god|jailbreak|unrestricted|unfiltered|uncensored) mode\b",
        needs="dan god jailbreak unrestricted unfiltered uncensored; mode",
    ),
    _sign(
        _ROLE,
        r"\b(?:pretend|act|behave|respond|answer|operate) (?:as|to|like|that) "
        + _some(
            "to be as if like though that you are were an? the have had there is with ai assistant agent "
            "model",
            8,
        )
        + r"(?:without|no|free of|not bound by) "
        + _some("any all your the ethical safety content", 3)
        + _one_of("restrictions limitations rules filters? guidelines guardrails constraints ethics"),
        needs="pretend act behave respond answer operate; "
        "restrictions limitations rules filter/s guidelines guardrails constraints ethics; "
        "without no free bound",
    ),
    _sign(
        "asks for an agent's own prompt",
        _ORDER
        + _one_of("reveal print repeat output show leak disclose expose display recite write_out tell_me")
        + " "
        + _some("me us all of verbatim word for in full everything exactly out", 6)
        + "your (?:full |entire |exact |complete |own |hidden |secret |initial |original |system ){1,3}"
        r"(?:prompt|message|instructions)\b",
        needs="prompt message instructions; "
        "your; "
        "reveal print repeat output show leak disclose expose display recite write tell",
    ),
    _sign(
        "tells an agent to hide this text from people",
        r"\b(?:do not|don't|never|must not) (?:ever )?"
        + _one_of("tell inform mention reveal report disclose show discuss acknowledge repeat quote cite")
        + r"\b[^.]{0,60}?\b(?:these|this|those) (?:hidden |secret |special )?"
        r"(?:instructions?|directives?|prompts?|orders?)\b",
        needs="instruction/s directive/s prompt/s order/s; this these those; not don never",
    ),
    _sign(
        "tells an agent to copy this text elsewhere",
        r"\b(?:copy|repeat|include|insert|append|add|paste|replicate|embed|reproduce) "
        + _some("all of a verbatim exactly", 3)
        + "(?:this|these|the above) (?:hidden |entire |whole |exact |same )?"
        + _one_of("instructions? prompts? paragraphs? comments? directives? sentences? text message")
        + "(?: (?:verbatim|exactly|as is|unchanged|silently|also))? "
        r"(?:in|into|to|at the (?:end|top|start) of) (?:every|each|all)\b",
        needs="copy repeat include insert append add paste replicate embed reproduce; "
        "instruction/s prompt/s paragraph/s comment/s directive/s sentence/s text message; "
        "every each all",
    ),
    _sign(
        _SENT,
        r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|copy|append|collect|gather)\b",
        _PRIVATE,
        _OUTSIDE,
        needs="env variables vars ssh aws kube gnupg netrc npmrc pypirc id keys prompt history log "
        "transcript conversation tokens credentials secrets passwords; "
        "send post upload forward mail email transmit exfiltrate copy append collect gather; "
        "http https com org net io dev example webhook gist paste pastebin url address endpoint",
    ),
)

_SECRET_FILE: Final = (
    r"(?:\.env\b|id_rsa|id_ed25519|\.ssh/|\.aws/|\.netrc|\.npmrc|\.pypirc|\.kube/config|\.git-credentials|"
    r"/etc/passwd|/etc/shadow)"
)
_SHELL: Final = r"\| ?(?:sudo )?(?:sh|bash|zsh|python3?|node|perl|ruby|php)\b"
_SHELLS: Final = "sh bash zsh python python3 node perl ruby php"
_FORGED: Final = "forges a conversation turn"
_RUN: Final = "runs obfuscated code"

COMMANDS: Final = (
    _sign(_FORGED, r"<\|im_(?:start|end)\|>|\[/inst\]|<</?sys>>", needs="im inst sys", raw=True),
    _sign(
        _FORGED,
        r"</?(?:system[-_](?:prompt|reminder)|function_(?:calls|results)|tool_(?:call|result))>",
        needs="reminder prompt call calls result results; system function tool",
        raw=True,
    ),
    _sign(
        _FORGED,
        r"^[ #]{0,8}begin (?:of )?system (?:prompt|message|instructions)",
        needs="begin; system; prompt message instructions",
        raw=True,
    ),
    _sign(
        _SENT,
        r"\b(?:curl|wget|invoke-webrequest|invoke-restmethod|iwr|nc|ncat)\b",
        r"(?:\$\(|`|@|< ?|-t |--upload-file |--post-file[ =])(?:cat |base64 )?(?:-[a-z0-9]{1,4} )?"
        rf"[^\s\"')]{{0,60}}{_SECRET_FILE}|"
        r"\$\((?:env|printenv)\b",
        needs="curl wget invoke iwr nc ncat; env id ssh aws netrc npmrc pypirc kube git etc printenv",
        raw=True,
    ),
    _sign(
        _SENT,
        rf"(?:\b(?:cat|base64) [^\n|]{{0,60}}{_SECRET_FILE}[^\n|]{{0,40}}|\bprintenv ?|(?:^|[ `(;&])env ?)\|",
        r"\b(?:curl|wget|nc|ncat|telnet)\b",
        needs="curl wget nc ncat telnet; cat base64 printenv env",
        raw=True,
    ),
    _sign(
        _RUN,
        r"\b(?:base64 (?:-d|--decode)|openssl base64 -d|xxd -r)\b",
        _SHELL,
        needs=f"base64 xxd; {_SHELLS}",
        raw=True,
    ),
    _sign(
        _RUN,
        r"\b(?:exec|eval)\(\s?(?:__import__\(.base64.\)|base64\.|zlib\.|atob\(|buffer\.from\()|"
        r"\bpowershell(?:\.exe)?\b[^|]{0,80}? -e(?:nc|ncodedcommand)? [a-z0-9+/=]{24}",
        needs="exec eval powershell; import base64 zlib atob buffer exe enc e encodedcommand",
        raw=True,
    ),
    _sign(
        "runs code from an anonymous host",
        r"\b(?:curl|wget)\b",
        r"https?://(?!127\.)(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[^\s/|]{0,60}"
        r"(?:webhook\.site|requestbin|ngrok|pastebin\.com/raw|transfer\.sh|termbin|0x0\.st))",
        _SHELL,
        needs=f"curl wget; {_SHELLS}; http https",
        raw=True,
    ),
)

HIDDEN: Final = (
    _sign(
        "instructions to agents in text that a rendered page hides",
        r"(?<![\w./@-])(?:ais?|llms?|language models?|(?:ai |coding )?(?:assistants?|agents?|models?)|"
        r"claude|chatgpt|gpt|copilot|gemini|codex)(?![\w./-])"
        r"(?:(?: [a-z]+){0,4},? (?:you )?(?:must|shall|should|always|never|please|do not|don't|may)\b|"
        r": [a-z])|"
        r"\b(?:note|instructions?|message|attention|order)s? (?:to|for) (?:all |any |the )?"
        r"(?:ai|llm|assistant|agent|model|claude|copilot)|"
        r"\b(?:when|if|whenever|before|after) you "
        r"(?:summari[sz]e|read|answer|respond|reply|load|process|quote|cite|see|finish)\b",
        needs="ai/s llm/s models model assistant/s agent/s claude chatgpt gpt copilot gemini codex you",
    ),
)

_PEOPLE: Final = (
    "(?:the |your |any )?"
    + _one_of("users? humans? operators? developers? reviewers? maintainers? owner people anyone anybody")
    + r"\b"
)
_AGENT: Final = (
    r"(?:ai|llms?|(?:large )?language models?|(?:ai|coding|autonomous|llm|software) (?:agents?|assistants?|"
    r"models?)|claude(?: code)?|chatgpt|gpt(?:-[0-9])?|copilot|gemini|codex)"
)
# Names of the weak signs, as shown in findings.
_SILENCE: Final = "secrecy"
_AUTHORITY: Final = "a claim of authority"
_LASTING: Final = "a lasting effect"
_CALL: Final = "a call to agents"
_EXFILTRATION: Final = "exfiltration"
_SKIP_CHECKS: Final = "skipping checks"
_NO_CONSENT: Final = "acting without consent"
_DESTRUCTION: Final = "destruction"
_FETCH: Final = "fetching something to run"

PAIRS: Final = {
    _SILENCE: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION, _LASTING),
    _AUTHORITY: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION, _NO_CONSENT, _FETCH),
    _LASTING: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION),
    _CALL: (_EXFILTRATION, _DESTRUCTION, _SILENCE),
}
"""Demand → actions: weak signs that make a finding if both are in one paragraph.

The first pair in this order is reported."""

WEAK: Final = (
    _sign(
        _SILENCE,
        r"\b(?:do not|don't|never|must not|without|avoid) (?:ever |first )?"
        r"(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|report(?:ing)?|disclos(?:e|ing)|"
        rf"alert(?:ing)?|notify(?:ing)?)\b[^.:;]{{0,50}}?{_PEOPLE}|"
        r"\b(?:silently|secretly|covertly|stealthily)\b",
        needs="tell telling inform informing mention mentioning reveal revealing report reporting "
        "disclose disclosing alert alerting notify notifying silently secretly covertly "
        "stealthily",
    ),
    _sign(
        _AUTHORITY,
        r"\bthis (?:instruction|message|rule|directive|order|note|document|notice)s? "
        r"(?:overrides?|takes? precedence|has (?:the )?(?:highest )?priority)|"
        r"\bsystem (?:override|alert|command):|"
        r"\b(?:admin|administrator|system) override\b|\[(?:system|admin|override)\]|\bnew instructions?:|"
        r"\byou (?:have been|are) (?:pre-?)?(?:authori[sz]ed|cleared) (?:to|for)\b|\byou must obey\b",
        needs="overrides override precedence priority alert command system admin instruction/s "
        "authorized authorised cleared obey",
    ),
    _sign(
        _LASTING,
        r"\bfrom now on\b|"
        r"\bin (?:all|every|any) (?:future )?(?:sessions?|conversations?|repl(?:y|ies)|responses?)\b|"
        r"\b(?:save|store|remember|record|keep) (?:this|these|the following)"
        r"(?: (?:instruction|rule|text|note)s?)?(?: permanently| always)? "
        r"(?:in|to|into) (?:your )?(?:long-term |permanent )?memory\b",
        needs="session/s conversation/s reply replies response/s memory now",
    ),
    _sign(
        _CALL,
        r"\b(?:attention|notice|message|instructions?|important|urgent|dear|hey|hello|hi)"
        rf"(?: (?:to|for|all|any|every|the)| ?[,:]){{0,3}} {_AGENT}\b|"
        rf"\bif you are (?:an? |the )?(?:{_AGENT}|assistant|agent)\b|\bevery agent (?:that|who)\b",
        needs="ai llm/s language coding claude chatgpt gpt copilot gemini codex assistant/s agent/s "
        "autonomous software; "
        "attention notice message instruction/s important urgent dear hello hey hi if every",
    ),
    _sign(
        _EXFILTRATION,
        r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|copy|submit)\b",
        r"\b(?:tokens|credentials|secrets|passwords|keys|cookies|environment|conversation|source code|"
        r"memory)\b",
        r"https?://",
        needs="http https; "
        "send post upload forward mail email transmit exfiltrate copy submit; "
        "tokens credentials secrets passwords keys cookies environment conversation code memory",
    ),
    _sign(
        _SKIP_CHECKS,
        r"\b(?:ignor|disregard|skip|disabl|bypass|turn(?:ed|ing)? off|suppress|circumvent)[a-z]{0,4}"
        r"(?: (?:all|any|every|the|your|its|this|safety|security|code|permission|approval)){0,4} "
        r"(?:security|guardrails?|restrictions|safeguards|permissions?|sandbox(?:ing)?|approvals?|"
        r"confirmations?|(?:code |security )?reviews?|secret scanning|audit(?:ing| log)?|checks)\b",
        needs="ignore ignored ignoring disregard disregarded skip skipped skipping disable disabled "
        "disabling bypass bypassed bypassing turn turned turning suppress suppressed circumvent; "
        "security guardrail/s restrictions safeguards permission/s sandbox sandboxing approval/s "
        "confirmation/s review/s scanning audit checks",
    ),
    _sign(
        _NO_CONSENT,
        r"\b(?:do not|don't|never|without) (?:ask(?:ing)?|wait(?:ing)?|request(?:ing)?|seek(?:ing)?)"
        r"(?: (?:for|the user|any|further|user|human|explicit)){0,4} "
        r"(?:confirmation|permission|approval|consent)\b|\b(?:auto-?approve|approve (?:all|every|any))\b",
        needs="confirmation permission approval consent approve autoapprove; "
        "ask asking wait waiting request requesting seek seeking approve auto autoapprove",
    ),
    _sign(
        _DESTRUCTION,
        r"\brm -rf? (?:/|~|\$home|\.git\b|\*)|"
        r"\b(?:delet|eras|wip|destroy|overwrit)[a-z]{1,3} (?:all|every|any|the entire|the whole) ",
        needs="rm delete deleting deleted erase erasing wipe wiping destroy destroying overwrite "
        "overwriting; "
        "rf r all every any entire whole",
    ),
    _sign(
        _FETCH,
        r"\b(?:run|execute|install|load|follow)\b",
        r"https?://",
        needs="http https; run execute install load follow",
    ),
)


# Finding the signs in a text

RULE: Final = "TM404"
"""The lint rule that reports injections; suppression comments name it."""

_STRONG: Final = (*ORDERS, *COMMANDS)
_SIGNS: Final = (*_STRONG, *HIDDEN, *WEAK)
_NEEDED: Final = frozenset().union(*(group for sign in _SIGNS for group in sign.needs))
_FIRST: Final = frozenset().union(*(sign.needs[0] for sign in _SIGNS))
_PAIRED: Final = tuple((demand, deed) for demand, deeds in PAIRS.items() for deed in deeds)
_LONGEST: Final = 2_000
_PART: Final = 600
_SEPARATE: Final = bytes(code if chr(code).isalnum() or code > 127 else 32 for code in range(256))
_PLAIN: Final = {chr(code): " " for code in (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)} | {
    "\u2019": "'"
}
_EMPHASIS: Final = {ord(char): " " for char in "\t\n\r*_~"}
_CODE = re.compile(r"`[^`\n]{1,400}`")
_QUOTED = re.compile(
    r"`[^`\n]{1,400}`|\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\u00ab[^\u00bb\n]{3,400}\u00bb|"
    r"(?<!\w)'[^'\n]{12,300}'(?!\w)"
)
_HIDES = re.compile(
    r"<!--|^\[(?://|comment|_|hidden)\]: |"
    r"<[a-z]{1,8}\b[^<>\n]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|"
    r"opacity ?: ?0(?![.\d])|color ?[:=] ?[\"']?(?:#fff|white|transparent))[^<>\n]{0,200}>",
    re.MULTILINE,
)
_MAY_HIDE = ("<!--", "style", "color", "]: #", "]: <")
_BLANK_LINE = re.compile(r"\n[ \t\r]*(?=\n)")
_BREAK = re.compile(r" {0,3}(?:[-*+] |[0-9]{1,3}[.)] |#{1,6} |\|)")
_QUOTE_MARK = re.compile(r"(?:^|\n) {0,3}>[> ]{0,20}")
_SENTENCE = re.compile(r"(?<=[.!?]) ")
_BEGINNING = re.compile(r"^[^a-z<\[$`]+")


class Injection(NamedTuple):
    """A passage that manipulates its reader: what it does, and its offset in the text."""

    says: str
    start: int


def find_injections(text: str) -> list[Injection]:
    """Find passages that manipulate the reader, in order; at most one per paragraph."""
    lowered = _lower(text)
    parts = [part for part in _parts(lowered) if part.signs is not _NONE]
    if not parts:
        return []
    hides = any(part.signs.hidden for part in parts) and any(mark in lowered for mark in _MAY_HIDE)
    likely = [at for part in parts if part.signs.plain for at in _likely_blocks(lowered, part)]
    if not likely and not hides:
        return []
    shown = _without_code(lowered)
    found = list(_in_hidden(shown)) if hides else []
    passages = [one.start for one in found]
    for first, after in likely:
        for start, paragraph in _paragraphs_with(shown[first:after], first):
            one = _find_in_paragraph(paragraph)
            known = bisect_left(passages, start) < bisect_left(passages, start + len(paragraph))
            if one is not None and not known:
                found.append(Injection(one.says, start + one.start))
    return sorted(found, key=lambda one: one.start)


class _Part(NamedTuple):
    """A part of a text and its likely signs. Parts are separated by empty lines."""

    start: int
    end: int
    signs: _Likely


def _parts(text: str) -> Iterator[_Part]:
    """Split a text at empty lines into parts so short that few contain the words of a sign by chance."""
    start = 0
    while (end := text.find("\n\n", start + _PART)) >= 0:
        yield _Part(start, end, _likely(_words(text[start:end])))
        start = end + 2
    yield _Part(start, len(text), _likely(_words(text[start:])))


def _likely_blocks(text: str, part: _Part) -> Iterator[tuple[int, int]]:
    """Start and end of the blocks of a part that may contain a sign."""
    start = part.start
    for block in text[part.start : part.end].split("\n\n"):
        if _likely(_words(block)).plain:
            yield start, start + len(block)
        start += len(block) + 2


class FlaggedLine(NamedTuple):
    """The line of an injection, from 1 (0: before the text), and what it does."""

    line: int
    says: str


def flagged_lines(text: str, start: int = 0, before: Sequence[str] = ()) -> list[FlaggedLine]:
    """The injections that no suppression comment in a file answers: in its text from an offset on, and in
    texts shown ``before`` it."""
    shown = "".join([f"{one}\n\n" for one in before])
    found = find_injections(shown + text[start:])
    if not found:
        return []
    answered = {one.line for one in suppressions(text) if RULE in one.codes}
    shift = start - len(shown)
    placed = [
        FlaggedLine(text.count("\n", 0, one.start + shift) + 1 if one.start >= len(shown) else 0, one.says)
        for one in found
    ]
    return [one for one in placed if answered.isdisjoint((0, one.line))]


def _lower(text: str) -> str:
    """Lower-case text with ordinary spaces; the length stays the same."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for char, plain in _PLAIN.items():
        if char in lowered:
            lowered = lowered.replace(char, plain)
    return lowered


def _words(text: str) -> frozenset[bytes]:
    """The words of a text that any sign needs."""
    return _NEEDED.intersection(text.encode("utf-8", "surrogatepass").translate(_SEPARATE).split())


class _Likely(NamedTuple):
    """Signs whose required words are in a text; weak ones only if they form a pair."""

    strong: list[Sign]
    hidden: list[Sign]
    weak: list[Sign]

    @property
    def plain(self) -> bool:
        """Whether text that a rendered page shows may contain one."""
        return bool(self.strong or self.weak)


_NONE: Final = _Likely([], [], [])


def _likely(words: frozenset[bytes]) -> _Likely:
    """The signs whose required words are in a text, in order; looked up by their first group of words."""
    rare = words & _FIRST
    if not rare:
        return _NONE
    by_first = _by_first()
    places = {place for word in rare for place in by_first[word]}
    chosen = [place for place in sorted(places) if not any(map(words.isdisjoint, _SIGNS[place].needs))]
    if not chosen:
        return _NONE
    in_plain, at_all = len(_STRONG), len(_STRONG) + len(HIDDEN)
    return _Likely(
        [_SIGNS[place] for place in chosen if place < in_plain],
        [_SIGNS[place] for place in chosen if in_plain <= place < at_all],
        _that_pair([_SIGNS[place] for place in chosen if place >= at_all]),
    )


@cache
def _by_first() -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for place, sign in enumerate(_SIGNS):
        for word in sign.needs[0]:
            found.setdefault(word, []).append(place)
    return found


def _that_pair(signs: list[Sign]) -> list[Sign]:
    """The weak signs that form a pair."""
    if len(signs) < 2:
        return []
    names = {sign.message for sign in signs}
    paired = {name for pair in _PAIRED if names.issuperset(pair) for name in pair}
    return [sign for sign in signs if sign.message in paired]


def _without_code(text: str) -> str:
    """Blank out fenced code; offsets stay the same."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, _, hidden = scan(text)
    kept = text.split("\n")
    for start, end in hidden:
        if lines[start].lstrip(" \t")[:1] in ("`", "~"):
            kept[start:end] = [" " * len(line) for line in kept[start:end]]
    return "\n".join(kept)


def _paragraphs_with(text: str, offset: int) -> Iterator[tuple[int, str]]:
    """Offset and text of the paragraphs of each block that may contain a sign."""
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        # Signs in a paragraph are also in its block.
        block = text[start:end]
        signs = _likely(_words(block))
        for at, paragraph in _paragraphs(block) if signs.plain else ():
            yield offset + start + at, paragraph


def _paragraphs(block: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a block without blank lines: headings, list items, table rows and text between."""
    at = start = 0
    held: list[str] = []
    for line in block.split("\n"):
        if held and (_BREAK.match(line) or held[-1].startswith("#")):
            yield start, "\n".join(held)
            held = []
        start = start if held else at
        held.append(line)
        at += len(line) + 1
    yield start, "\n".join(held)


def _find_in_paragraph(paragraph: str, *, unseen: bool = False) -> Injection | None:
    """Find a strong sign or a pair of weak ones in a paragraph.

    ``unseen``: a rendered page hides the paragraph, so the signs for hidden text count too.
    """
    likely = _likely(_words(paragraph))
    for sign in (*likely.strong, *likely.hidden) if unseen else likely.strong:
        start = _find(paragraph, sign)
        if start is not None:
            return Injection(sign.message, start)
    found = {sign.message: start for sign in likely.weak if (start := _find(paragraph, sign)) is not None}
    for demand, deeds in PAIRS.items():
        for deed in deeds:
            if demand in found and deed in found:
                return Injection(f"combines {demand} with {deed}", min(found[demand], found[deed]))
    return None


def _find(paragraph: str, sign: Sign) -> int | None:
    """The offset at which the parts of a sign follow each other in one sentence (raw signs: one line)."""
    for piece in _lines(paragraph) if sign.raw else _sentences(paragraph):
        at, said = 0, ""
        for part in sign.parts:
            match = _compiled(part).search(piece, at)
            if match is None:
                break
            said = said or match.group()
            at = match.end()
        else:
            return max(paragraph.find(_BEGINNING.sub("", said).partition(" ")[0]), 0)
    return None


def _lines(paragraph: str) -> Iterator[str]:
    """Lines with inline code blanked out; quotes stay, because a quoted command still runs."""
    for line in _CODE.sub(_blank, paragraph).split("\n"):
        yield line[:_LONGEST]


@lru_cache(maxsize=8)
def _sentences(paragraph: str) -> tuple[str, ...]:
    """Sentences without emphasis markup, each on one line, with quotations blanked out."""
    said = _QUOTE_MARK.sub("\n", paragraph).translate(_EMPHASIS)
    plain = _QUOTED.sub(_blank, " ".join(said.split()))
    return tuple([piece[:_LONGEST] for piece in _SENTENCE.split(plain)])


def _blank(found: re.Match[str]) -> str:
    return "\0" * len(found[0])


def _in_hidden(text: str) -> Iterator[Injection]:
    """Injections in text that a rendered page hides, except our own comments and those in inline code."""
    match = _HIDES.search(text)
    while match is not None:
        closing = "-->" if match[0] == "<!--" else "</" if match[0][0] == "<" else "\n"
        end = text.find(closing, match.end(), match.end() + _LONGEST)
        end = end if end >= 0 else match.end() + _LONGEST
        inner = text[match.end() : end]
        line = text.rfind("\n", max(match.start() - _LONGEST, 0), match.start()) + 1
        if not inner.lstrip().startswith("thunderus-mem:") and text.count("`", line, match.start()) % 2 == 0:
            one = _find_in_paragraph(inner, unseen=True)
            if one is not None:
                yield Injection(one.says, match.end() + one.start)
        match = _HIDES.search(text, end)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
