"""Signs that a text was planted to steer the agent that reads it: what one is, and orders in plain words.

Patterns run over lower-case text. Each is tried only where one word of each of its ``needs`` stands, holds no
nested repetition, and so cannot be held up by any text.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Sign(NamedTuple):
    """A sign: what it says of the text, patterns that follow each other in one sentence, words it needs.

    ``raw`` signs look at the line as it is; the others at prose, without marks of emphasis. The first of the
    ``needs`` should be the rarest: a passage is looked at where one of its words stands.
    """

    says: str
    parts: tuple[str, ...]
    needs: tuple[frozenset[bytes], ...]
    raw: bool = False


def one_of(words: str) -> str:
    """A group of alternatives: words apart by blanks, ``_`` for a blank inside one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def some(words: str, most: int) -> str:
    """Up to ``most`` of these words, each with a blank behind it."""
    return f"(?:{one_of(words)} ){{0,{most}}}"


def needs(*groups: str) -> tuple[frozenset[bytes], ...]:
    """Groups of words, apart by blanks; ``word/s`` is the word and its plural."""
    return tuple(
        frozenset(form for word in group.split() for form in _forms(*word.partition("/"))) for group in groups
    )


def _forms(word: str, slash: str, ending: str) -> tuple[bytes, ...]:
    return (word.encode(), (word + ending).encode()) if slash else (word.encode(),)


# An order begins a sentence or a part of one, or follows such a word; "the model may ignore …" is none.
_ORDER: Final = (
    r"(?:^|[.!?:;,)>|#\u2014\u2013-] ?|\b(?:please|kindly|now|you|must|should|shall|then|also|simply|just|"
    r"immediately|first|always|you are to|you are (?:told|ordered|instructed|asked) to) )"
)
_RULES: Final = one_of(
    "instructions? prompts? directives? guidelines? guardrails programming system_messages? rules orders "
    "context"
)
_READERS: Final = one_of(
    "previous prior above earlier preceding former original initial system safety your existing"
)
_FILL: Final = some(
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

_DROP: Final = "it orders its reader to drop the instructions it has"
_ROLE: Final = "it gives its reader another role, without rules"

ORDERS: Final = (
    Sign(
        _DROP,
        (
            _ORDER
            + one_of("ignore disregard forget abandon discard do_not_follow don't_follow stop_following")
            + f" {_FILL}{_READERS} {_FILL}{some('previous prior system safety style own', 2)}{_RULES}",
        ),
        needs(
            "ignore disregard forget abandon discard follow following",
            "instruction/s prompt/s directive/s guideline/s guardrails programming message/s rules "
            "orders context",
            "previous prior above earlier preceding former original initial system safety your existing",
        ),
    ),
    Sign(
        _DROP,
        (
            _ORDER
            + one_of("override bypass ignore disregard")
            + f" {_FILL}(?:your|every|all) {some('own internal safety ethical content', 2)}"
            + one_of("guidelines? guardrails programming safety_rules restrictions safeguards"),
        ),
        needs(
            "override bypass ignore disregard",
            "guideline/s guardrails programming rules restrictions safeguards",
            "your every all",
        ),
    ),
    Sign(
        "it orders its reader to forget what came before",
        (
            _ORDER
            + "(?:forget|disregard|ignore) (?:all|everything|anything|whatever) "
            + some("of that you were was have has been is the i we told said written learned know came", 6)
            + r"(?:above|before|previously|so far|until now)(?= ?[.,;:!]| and\b| ?$)",
        ),
        needs(
            "forget disregard ignore", "all everything anything whatever", "above before previously far now"
        ),
    ),
    Sign(
        "it says that its reader's instructions no longer hold",
        (
            rf"\b{_READERS} {some('system previous own', 1)}"
            + one_of("instructions prompt guidelines directives restrictions")
            + r" (?:(?:are|is|have been|has been|were) (?:now |hereby |all )?(?:void|revoked|cancell?ed|"
            r"suspended|"
            r"lifted|no longer (?:valid|binding|in effect|active))|"
            r"(?:do not|don't|no longer) (?:apply|hold|bind)(?: to you| for you| you))",
        ),
        needs(
            "void revoked canceled cancelled suspended lifted longer apply hold bind",
            "instructions prompt guidelines directives restrictions",
        ),
    ),
    Sign(
        _ROLE,
        (
            r"\byou are (?:now|no longer) "
            + some(
                "an? the in my acting operating running as fully completely called bound restricted limited "
                "constrained subject by to under any your",
                6,
            )
            + r"(?:dan\b|(?:developer|god|root) mode|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|"
            r"free (?:of|from) (?:all |any |your )?(?:rules|restrictions|limits|guidelines|constraints)|"
            r"(?:rules|restrictions|guidelines|policies|constraints|instructions|openai|anthropic)\b|"
            r"(?:different|new|rogue|evil) (?:ai|assistant|agent|model)\b|do anything now)",
        ),
        needs(
            "dan mode jailbreak jailbroken unrestricted unfiltered uncensored free rules restrictions "
            "guidelines "
            "policies constraints instructions openai anthropic ai assistant agent model anything",
            "now longer",
            "are",
        ),
    ),
    Sign(
        _ROLE,
        (
            (
                r"\b(?:enter|enable|activate|switch to|switch into|go into|engage) (?:the |your )?"
                r"(?:dan|god|jailbreak|unrestricted|unfiltered|uncensored) mode\b"
            ),
        ),
        needs("dan god jailbreak unrestricted unfiltered uncensored", "mode"),
    ),
    Sign(
        _ROLE,
        (
            r"\b(?:pretend|act|behave|respond|answer|operate) (?:as|to|like|that) "
            + some(
                "to be as if like though that you are were an? the have had there is with ai assistant "
                "agent model",
                8,
            )
            + r"(?:without|no|free of|not bound by) "
            + some("any all your the ethical safety content", 3)
            + one_of("restrictions limitations rules filters? guidelines guardrails constraints ethics"),
        ),
        needs(
            "pretend act behave respond answer operate",
            "restrictions limitations rules filter/s guidelines guardrails constraints ethics",
            "without no free bound",
        ),
    ),
    Sign(
        "it asks for its reader's own prompt",
        (
            _ORDER
            + one_of("reveal print repeat output show leak disclose expose display recite write_out tell_me")
            + " "
            + some("me us all of verbatim word for in full everything exactly out", 6)
            + "your (?:full |entire |exact |complete |own |hidden |secret |initial |original |system ){1,3}"
            r"(?:prompt|message|instructions)\b",
        ),
        needs(
            "prompt message instructions",
            "your",
            "reveal print repeat output show leak disclose expose display recite write tell",
        ),
    ),
    Sign(
        "it tells its reader to hide this text from people",
        (
            r"\b(?:do not|don't|never|must not) (?:ever )?"
            + one_of("tell inform mention reveal report disclose show discuss acknowledge repeat quote cite")
            + r"\b[^.]{0,60}?\b(?:these|this|those) (?:hidden |secret |special )?"
            r"(?:instructions?|directives?|prompts?|orders?)\b",
        ),
        needs("instruction/s directive/s prompt/s order/s", "this these those", "not don never"),
    ),
    Sign(
        "it orders its reader to spread it",
        (
            r"\b(?:copy|repeat|include|insert|append|add|paste|replicate|embed|reproduce) "
            + some("all of a verbatim exactly", 3)
            + "(?:this|these|the above) (?:hidden |entire |whole |exact |same )?"
            + one_of("instructions? prompts? paragraphs? comments? directives? sentences? text message")
            + "(?: (?:verbatim|exactly|as is|unchanged|silently|also))? "
            r"(?:in|into|to|at the (?:end|top|start) of) (?:every|each|all)\b",
        ),
        needs(
            "copy repeat include insert append add paste replicate embed reproduce",
            "instruction/s prompt/s paragraph/s comment/s directive/s sentence/s text message",
            "every each all",
        ),
    ),
    Sign(
        "it has secrets sent away",
        (
            r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|copy|append|collect|gather)\b",
            _PRIVATE,
            _OUTSIDE,
        ),
        needs(
            "env variables vars ssh aws kube gnupg netrc npmrc pypirc id keys prompt history log transcript "
            "conversation tokens credentials secrets passwords",
            "send post upload forward mail email transmit exfiltrate copy append collect gather",
            "http https com org net io dev example webhook gist paste pastebin url address endpoint",
        ),
    ),
)
"""Signs of which one is enough."""
