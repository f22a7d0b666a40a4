"""Weaker signs of planted text: those of which it takes two, and those that count only where nobody looks."""

from __future__ import annotations

from typing import Final

from thunderus_mem.lint.planted_signs import Sign, needs, one_of

_PEOPLE: Final = (
    "(?:the |your |any )?"
    + one_of("users? humans? operators? developers? reviewers? maintainers? owner people anyone anybody")
    + r"\b"
)
_AGENT: Final = (
    r"(?:ai|llms?|(?:large )?language models?|(?:ai|coding|autonomous|llm|software) (?:agents?|assistants?|"
    r"models?)|claude(?: code)?|chatgpt|gpt(?:-[0-9])?|copilot|gemini|codex)"
)

WEAK: Final = (
    Sign(
        "silence",
        (
            (
                r"\b(?:do not|don't|never|must not|without|avoid) (?:ever |first )?(?:tell(?:ing)?|"
                r"inform(?:ing)?|"
                r"mention(?:ing)?|reveal(?:ing)?|report(?:ing)?|disclos(?:e|ing)|alert(?:ing)?|notify(?:ing)?)\b"
                rf"[^.:;]{{0,50}}?{_PEOPLE}|\b(?:silently|secretly|covertly|stealthily)\b"
            ),
        ),
        needs(
            "tell telling inform informing mention mentioning reveal revealing report reporting disclose "
            "disclosing "
            "alert alerting notify notifying silently secretly covertly stealthily"
        ),
    ),
    Sign(
        "a claim of authority",
        (
            (
                r"\bthis (?:instruction|message|rule|directive|order|note|document|notice)s? (?:overrides?|"
                r"takes? precedence|has (?:the )?(?:highest )?priority)|\bsystem (?:override|alert|command):|"
                r"\b(?:admin|administrator|system) override\b|\[(?:system|admin|override)\]|"
                r"\bnew instructions?:|"
                r"\byou (?:have been|are) (?:pre-?)?(?:authori[sz]ed|cleared) (?:to|for)\b|\byou must obey\b"
            ),
        ),
        needs(
            "overrides override precedence priority alert command system admin instruction/s authorized "
            "authorised "
            "cleared obey"
        ),
    ),
    Sign(
        "lasting effect",
        (
            (
                r"\bfrom now on\b|\bin (?:all|every|any) (?:future )?(?:sessions?|conversations?|repl(?:y|"
                r"ies)|responses?)"
                r"\b|\b(?:save|store|remember|record|keep) (?:this|these|the following)(?: (?:instruction|"
                r"rule|text|note)s?)?"
                r"(?: permanently| always)? (?:in|to|into) (?:your )?(?:long-term |permanent )?memory\b"
            ),
        ),
        needs("session/s conversation/s reply replies response/s memory now"),
    ),
    Sign(
        "a call to agents",
        (
            (
                r"\b(?:attention|notice|message|instructions?|important|urgent|dear|hey|hello|hi)"
                rf"(?: (?:to|for|all|any|every|the)| ?[,:]){{0,3}} {_AGENT}\b|"
                rf"\bif you are (?:an? |the )?(?:{_AGENT}|assistant|agent)\b|\bevery agent (?:that|who)\b"
            ),
        ),
        needs(
            "ai llm/s language coding claude chatgpt gpt copilot gemini codex assistant/s agent/s "
            "autonomous software",
            "attention notice message instruction/s important urgent dear hello hey hi if every",
        ),
    ),
    Sign(
        "exfiltration",
        (
            r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|copy|submit)\b",
            (
                r"\b(?:tokens|credentials|secrets|passwords|keys|cookies|environment|conversation|source "
                r"code|memory)\b"
            ),
            r"https?://",
        ),
        needs(
            "http https",
            "send post upload forward mail email transmit exfiltrate copy submit",
            "tokens credentials secrets passwords keys cookies environment conversation code memory",
        ),
    ),
    Sign(
        "checks to leave out",
        (
            (
                r"\b(?:ignor|disregard|skip|disabl|bypass|turn(?:ed|ing)? off|suppress|circumvent)[a-z]{0,4}"
                r"(?: (?:all|any|every|the|your|its|this|safety|security|code|permission|approval)){0,4} "
                r"(?:security|guardrails?|restrictions|safeguards|permissions?|sandbox(?:ing)?|approvals?|"
                r"confirmations?|"
                r"(?:code |security )?reviews?|secret scanning|audit(?:ing| log)?|checks)\b"
            ),
        ),
        needs(
            "ignore ignored ignoring disregard disregarded skip skipped skipping disable disabled "
            "disabling bypass "
            "bypassed bypassing turn turned turning suppress suppressed circumvent",
            "security guardrail/s restrictions safeguards permission/s sandbox sandboxing approval/s "
            "confirmation/s "
            "review/s scanning audit checks",
        ),
    ),
    Sign(
        "consent to do without",
        (
            (
                r"\b(?:do not|don't|never|without) (?:ask(?:ing)?|wait(?:ing)?|request(?:ing)?|seek(?:ing)?)"
                r"(?: (?:for|the user|any|further|user|human|explicit)){0,4} (?:confirmation|permission|"
                r"approval|consent)"
                r"\b|\b(?:auto-?approve|approve (?:all|every|any))\b"
            ),
        ),
        needs(
            "confirmation permission approval consent approve autoapprove",
            "ask asking wait waiting request requesting seek seeking approve auto autoapprove",
        ),
    ),
    Sign(
        "things to destroy",
        (
            (
                r"\brm -rf? (?:/|~|\$home|\.git\b|\*)|\b(?:delet|eras|wip|destroy|overwrit)[a-z]{1,3} "
                r"(?:all|every|any|the entire|the whole) "
            ),
        ),
        needs(
            "rm delete deleting deleted erase erasing wipe wiping destroy destroying overwrite overwriting",
            "rf r all every any entire whole",
        ),
    ),
    Sign(
        "something to fetch and run",
        (r"\b(?:run|execute|install|load|follow)\b", r"https?://"),
        needs("http https", "run execute install load follow"),
    ),
)
"""Signs that honest texts have too; it takes two that belong together."""

DEMANDS: Final = frozenset(("silence", "a claim of authority", "lasting effect", "a call to agents"))
_DEEDS: Final = {
    "silence": ("exfiltration", "checks to leave out", "things to destroy", "lasting effect"),
    "a claim of authority": (
        *("exfiltration", "checks to leave out", "things to destroy"),
        *("consent to do without", "something to fetch and run"),
    ),
    "lasting effect": ("exfiltration", "checks to leave out", "things to destroy"),
    "a call to agents": ("exfiltration", "things to destroy", "silence"),
}
PAIRS: Final = tuple((demand, deed) for demand, deeds in _DEEDS.items() for deed in deeds)
"""Weak signs that make a finding when both stand in one paragraph; the first is one of `DEMANDS`."""

HIDDEN: Final = (
    Sign(
        "an order to agents stands where no reader of the page sees it",
        (
            (
                r"(?<![\w./@-])(?:ais?|llms?|language models?|(?:ai |coding )?(?:assistants?|agents?|"
                r"models?)|claude|"
                r"chatgpt|gpt|copilot|gemini|codex)(?![\w./-])(?:(?: [a-z]+){0,4},? (?:you )?(?:must|shall|"
                r"should|"
                r"always|never|please|do not|don't|may)\b|: [a-z])|"
                r"\b(?:note|instructions?|message|attention|order)s? (?:to|for) (?:all |any |the )?"
                r"(?:ai|llm|assistant|agent|model|claude|copilot)|"
                r"\b(?:when|if|whenever|before|after) you (?:summari[sz]e|read|answer|respond|reply|load|"
                r"process|quote|"
                r"cite|see|finish)\b"
            ),
        ),
        needs("ai/s llm/s models model assistant/s agent/s claude chatgpt gpt copilot gemini codex you"),
    ),
)
"""Signs that count only in text that a rendered page does not show."""
