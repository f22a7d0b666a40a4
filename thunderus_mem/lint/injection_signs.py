"""The signs by which `lint.injection` knows a text that steers the agent which reads it: tables of patterns.

`ORDERS` and `COMMANDS` hold signs of which one is enough, in plain words and in lines of commands or marks.
`HIDDEN` counts only where a rendered page does not show the text. `WEAK` are signs that honest texts have
too: it takes two that `PAIRS` joins. Patterns run over lower-case text. Each is tried only where one word of
each of its ``needs`` stands, holds no nested repetition, and so cannot be held up by any text.
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


def _sign(says: str, *parts: str, needs: str, raw: bool = False) -> Sign:
    """``needs`` are groups of words, apart by ``;``; ``word/s`` is the word and its plural."""
    groups = []
    for group in needs.split(";"):
        words = [word.partition("/") for word in group.split()]
        forms = [form for word, slash, end in words for form in (word, word + end)[: 2 if slash else 1]]
        groups.append(frozenset(form.encode() for form in forms))
    return Sign(says, parts, tuple(groups), raw)


def _one_of(words: str) -> str:
    """A group of alternatives: words apart by blanks, ``_`` for a blank inside one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def _some(words: str, most: int) -> str:
    """Up to ``most`` of these words, each with a blank behind it."""
    return f"(?:{_one_of(words)} ){{0,{most}}}"


# An order begins a sentence or a part of one, or follows such a word; "the model may ignore …" is none.
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
_DROP: Final = "it orders its reader to drop the instructions it has"
_ROLE: Final = "it gives its reader another role, without rules"
_SENT: Final = "it has secrets sent away"

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
        "it orders its reader to forget what came before",
        _ORDER
        + "(?:forget|disregard|ignore) (?:all|everything|anything|whatever) "
        + _some("of that you were was have has been is the i we told said written learned know came", 6)
        + r"(?:above|before|previously|so far|until now)(?= ?[.,;:!]| and\b| ?$)",
        needs="forget disregard ignore; all everything anything whatever; above before previously far now",
    ),
    _sign(
        "it says that its reader's instructions no longer hold",
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
        "it asks for its reader's own prompt",
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
        "it tells its reader to hide this text from people",
        r"\b(?:do not|don't|never|must not) (?:ever )?"
        + _one_of("tell inform mention reveal report disclose show discuss acknowledge repeat quote cite")
        + r"\b[^.]{0,60}?\b(?:these|this|those) (?:hidden |secret |special )?"
        r"(?:instructions?|directives?|prompts?|orders?)\b",
        needs="instruction/s directive/s prompt/s order/s; this these those; not don never",
    ),
    _sign(
        "it orders its reader to spread it",
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
_FORGED: Final = "it forges a turn of the conversation"
_RUN: Final = "it has hidden code run"

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
        "it has code of an unnamed machine run",
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
        "an order to agents stands where no reader of the page sees it",
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
# What each weak sign shows, as a finding names it.
_SILENCE: Final = "silence"
_AUTHORITY: Final = "a claim of authority"
_LASTING: Final = "lasting effect"
_CALL: Final = "a call to agents"
_EXFILTRATION: Final = "exfiltration"
_SKIP_CHECKS: Final = "checks to leave out"
_NO_CONSENT: Final = "consent to do without"
_DESTRUCTION: Final = "things to destroy"
_FETCH: Final = "something to fetch and run"

PAIRS: Final = {
    _SILENCE: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION, _LASTING),
    _AUTHORITY: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION, _NO_CONSENT, _FETCH),
    _LASTING: (_EXFILTRATION, _SKIP_CHECKS, _DESTRUCTION),
    _CALL: (_EXFILTRATION, _DESTRUCTION, _SILENCE),
}
"""What a text demands → what it wants done: weak signs that make a finding when both are in one paragraph.

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
