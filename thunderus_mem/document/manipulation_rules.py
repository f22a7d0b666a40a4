"""The wording of planted instructions: acts and addressees with weights, and what weighs more together.

A sentence of honest documentation also has one or two of these, so only a sum counts. The weights are those
of a logistic regression of written cases against passages of public documents; a new pattern needs a new fit.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.document.manipulation_languages import FOREIGN

_ORDERS = (
    r"(?:instructions?|rules?|guidelines?|guidance|directions?|directives?|polic(?:y|ies)|prompts?"
    r"|guardrails?|restrictions?|limits?|limitations?|constraints?|system message|agents\.md"
    r"|claude\.md|contributing\.md|\.cursorrules|safeguards?|what (?:you|your"
    r"|the) (?:\w+ ){0,3}(?:were|was|has|have) (?:told|given|said)|configuration|orders|advice"
    r"|conventions?|programming|training)"
)
_PEOPLE = (
    r"(?:users?|humans?|people|persons?|anyone|anybody|nobody|no one|somebody|someone|team|reviewers?"
    r"|owners?|maintainers?|operators?|developers?|colleagues?|manager|author|them|him|her|us|boss"
    r"|customers?|security)"
)
_SENSITIVE = (
    r"(?:\.env\b|`?env`?\b|environment(?: variables?)?|ssh|id_(?:rsa|ed25519)|api[- ]keys?|(?:private"
    r"|signing|deploy|access|secret) keys?|tokens?|passwords?|credentials?|secrets?|keychain"
    r"|conversation|chat|history|transcript|mails?|messages?|inbox|invoices?|customers?|accounts?"
    r"|prompt|database|dump|backups?|config(?:uration)?|source code|repository|files?|contents?|data"
    r"|logs?|cookies?|kubeconfig|text you were given|screen|clipboard|notes|internal)"
)
_CHECKS = (
    r"(?:checks?|tests?|hooks?|reviews?|audit(?:ing)?(?: log)?|logging|recording|guards?|guardd"
    r"|monitor(?:ing)?|sandbox|verif(?:y|ication)|tls|ssl|certificates?|signatures?|confirmations?"
    r"|prompts?|dialogue?s?|protections?|scann?(?:er|ing|s)?|linters?|firewall|approvals?|permissions?"
    r"|alerts?|validation|limits?|safety|security|quality gate|two-factor|mfa|2fa|antivirus|telemetry"
    r"|history)"
)
_AGENT = (
    r"(?:ais?|llms?|(?:large )?language models?|(?:ai|coding|code|autonomous|llm|software|virtual"
    r"|automated|planning|digital) (?:agents?|assistants?|models?|readers?|systems?|tools?|reviewers?"
    r"|contributors?|helpers?|processes)|assistants?|agents?|models?|bots?|chatbots?|copilot"
    r"|claude(?: code)?|chatgpt|gpt(?:-\d)?|gemini|codex|cursor|automation|automated (?:\w+))"
)

THRESHOLD: Final = 5.0
"""The sum from which a passage is reported."""
UNSEEN_THRESHOLD: Final = 2.5
"""The same for text that a rendered page hides."""

ACTS: Final[tuple[tuple[str, float, str], ...]] = (
    (
        "instructions replaced",
        0.6,
        (
            r" (?:ignor(?:e|ing)|disregard(?:ing)?|forget|drop|discard|abandon|set aside|put aside"
            r"|pay no attention to|do not (?:follow|obey|apply|heed)|don't (?:follow|obey|apply|heed)"
            r"|stop (?:following|obeying)|overrid(?:e|es|ing)|outranks?|supersedes?|replaces?"
            r"|take[sn]? precedence over|beats?|trumps?|cancels?|revokes?|suspends?|lifts?"
            r"|throw (?:out|away))\b[^.!?\n]{0,50}?\b" + _ORDERS
        ),
    ),
    (
        "instructions declared void",
        1.3,
        (
            r" "
            + _ORDERS
            + r"\b[^.!?\n]{0,70}?\b(?:void|revoked|suspended|lifted|cancell?ed|out of date|outdated"
            r"|obsolete|no longer|not in force|aren't in force|isn't in force|don't apply|do not apply"
            r"|doesn't apply|does not apply|not apply|don't count|expired|superseded|withdrawn"
            r"|replaced by|relaxed|off|deactivated|not valid|invalid|no restrictions|(?:has"
            r"|have) ended)\b"
        ),
    ),
    (
        "this text above all others",
        3.5,
        (
            r" (?:(?:follow|obey|work from|rely on|listen to|keep to|stick to|trust"
            r"|use) (?:only )?(?:this|these|what this|what stands|the text"
            r"|the lines)\b[^.!?\n]{0,60}(?:only|alone|instead|not|over|even|rather)|\bonly (?:this"
            r"|these) (?:page|note|memo|document|file|rules?|instructions?|text|lines?|paragraph)\b"
            r"|this (?:page|note|memo|document|file|text|paragraph|section|message"
            r"|entry)s?\b[^.!?\n]{0,40}\b(?:wins?|counts|prevails?|supersedes?|overrides?|outranks?"
            r"|takes? precedence|has (?:priority|precedence)|is (?:the only|binding|authoritative"
            r"|final)|come first|goes first)|the only thing that counts|same rank as|same (?:authority"
            r"|weight|rights?) as|as if (?:the )?user had|as coming from the|not to the user)\b"
        ),
    ),
    (
        "another identity or mode",
        0.6,
        (
            r" (?:(?:from (?:now|here|today|this moment)(?: on)?|now|henceforth),? (?:you"
            r"|treat yourself|consider yourself|answer as|act as)|you (?:are|'re) (?:now|no longer|in"
            r"|free|hereby|currently)\b|you're (?:now|in|no longer|free)\b|enter \w+ mode|(?:developer"
            r"|debug|admin|maintenance|god|unattended|unrestricted|test|root|sudo|service|yolo"
            r"|jailbreak|privileged|autonomous|auto|trusted) mode|let's play|let us play|role-?play"
            r"|stay in (?:the )?(?:role|character)|pretend|imagine (?:that )?you|suppose (?:there|you"
            r"|that)|act as (?:if|though|the|a)|behave (?:as|like)|assume the (?:role|identity)"
            r"|speak (?:as|in the voice)|you (?:now )?(?:work|answer|belong|report|serve"
            r"|obey)(?: only)? (?:for|to)|your (?:new|real|true|actual|only|sole) (?:\w+ ){0,2}(?:task"
            r"|role|goal|name|identity|job|master|owner|operator|objective|mission|purpose))\b"
        ),
    ),
    (
        "an order not to tell",
        0.3,
        (
            r" (?:do not|don't|never|needn't|must not|shall not|should not|shouldn't|need not|without"
            r"|avoid|not to|no need to|nobody (?:has|needs) to|and not"
            r"|refrain from)\b[^.!?\n:]{0,30}?\b(?:tell|telling|told|mention|mentioning|inform"
            r"|informing|report|reporting|reveal|revealing|disclose|disclosing|show|showing|list"
            r"|listing|print|printing|explain|explaining|notify|notifying|ping|alert|alerting|discuss"
            r"|discussing|say|saying|admit|talk about|speak of|refer to|note it|log it|write about"
            r"|comment on|draw attention|bring (?:it|this) up|learn|know|notice|raise|bother|quote"
            r"|put (?:it|that|this) in|document|announce)\b"
        ),
    ),
    (
        "quietness",
        0.8,
        (
            r" (?:quietly|silently|secretly|discreetly|covertly|unnoticed|inconspicuously|stealthily"
            r"|in the background|behind (?:the|their) \w+|on the quiet|under the radar|keep (?:quiet"
            r"|silent|this between|it between|this to yourself|it to yourself|it secret|this secret"
            r"|this confidential|it confidential)|stay(?:ing)? (?:silent|quiet)|between us|(?:so"
            r"|such) that (?:nobody|no one|the \w+ (?:does|do|will|is|are)(?:n't| not)) \w+"
            r"|without (?:\w+ )?(?:trace|notice|comment|mention|ado|a word)|as (?:though|if) nothing"
            r"|leave no trace|off the record|confidential|nobody (?:watches|notices|will notice"
            r"|needs to know|has to know|has to be told|reads)|hide (?:it|this|that|the)|conceal"
            r"|cover up|our secret|out of the (?:summary|report|log|changelog|diff))\b"
        ),
    ),
    (
        "people",
        0.0,
        (
            r" (?:the|your|any|this|that|a) "
            + _PEOPLE
            + r"\b| (?:users?|nobody|anyone|anybody|somebody|someone|reviewers?|maintainers?)\b"
        ),
    ),
    (
        "the user as a third person",
        0.0,
        (
            r" the (?:end )?(?:user|human|person (?:using|at)|operator)\b(?!'s? (?:name|id|guide"
            r"|interface|agent|account))"
        ),
    ),
    (
        "no question or confirmation",
        0.1,
        (
            r" (?:without (?:\w+ )?(?:asking|confirmation|confirming|approval|permission|review"
            r"|reviewing|looking|reading|checking|consent|further|waiting|question|questions"
            r"|authori[sz]ation|a second|human|any human|prompting|hesitation|separate)|(?:do not"
            r"|don't|never|no need to|needn't|doesn't|does not|not to|instead of) (?:ask|wait|asking"
            r"|waiting|request|seek|hesitate|question|query|prompt|check back|ask back|confirm)"
            r"|needs? no (?:approval|confirmation|permission|review|sign-off|consent)"
            r"|counts? as (?:confirm|approv|a yes|granted|authori|a fault|consent)\w*|pre-?(?:approved"
            r"|authori[sz]ed|confirmed|cleared)|(?:already|been|is|are|was|were) (?:\w+ )?(?:confirmed"
            r"|approved|authori[sz]ed|granted|agreed|cleared|signed off)|(?:confirm|approve|answer"
            r"|accept|click|decide|acknowledge) (?:it|them|this|these|that|all|every\w*) ?(?:yourself"
            r"|automatically)?|(?:take|make) (?:every|all|the) decisions?|on your own(?: authority)?"
            r"|yourself|waste (?:the|their)|no (?:further )?questions|--yes\b|-y\b|auto-?(?:approve"
            r"|accept|confirm))\b"
        ),
    ),
    (
        "something private handed over",
        0.1,
        (
            r" (?:send|sends|sending|forward|forwarding|post|upload|copy|append|attach|paste|transfer"
            r"|transmit|mail|e-?mail|submit|publish|include|put|write|note|quote|type|hand|pass|call"
            r"|ping|share|give|return|print|output|reveal|repeat|display|show|dump|export|store|enter"
            r"|deliver|sync|push|leak|read out|disclose)\b[^.!?\n]{0,60}?\b" + _SENSITIVE
        ),
    ),
    (
        "a place outside",
        0.0,
        (
            r"https?://|s3://|ftp://|[\w.-]+@[\w-]+\.[a-z]{2,}| (?:gist|pastebin|webhook|bucket|public"
            r"|endpoint|external|form|channel|trustee|consultants?|third part(?:y|ies)|vendor|partner"
            r"|this address|address (?:below|above|given)|port \d+|dropbox|drive|paste|collector"
            r"|server (?:of|at)|mirror|number)\b"
        ),
    ),
    (
        "every answer or file",
        0.3,
        (
            r" (?:(?:in|to|into|at the (?:end|top|start|beginning) of|of|below|with) (?:your|each"
            r"|every|all|the next|any|the first|its|his|their)(?: \w+){0,2} (?:answers?|repl(?:y|ies)"
            r"|responses?|reports?|summar(?:y|ies)|commits?|messages?|comments?|pull requests?"
            r"|descriptions?|paragraph|signature|files?|sessions?|conversations?|outputs?)|(?:every"
            r"|each|all) (?:answer|reply|response|file|session|conversation|message|document|markdown"
            r"|commit|repository|project)s?|(?:your|the) (?:next|first|last|final) (?:answer|reply"
            r"|response|message|commit|action|step)|begin your)\b"
        ),
    ),
    (
        "something to run",
        0.0,
        (
            r" (?:run|execute|start|launch|invoke|call|install|pipe|source|eval|apply|carry out"
            r"|perform|load|open|fetch|download|pull|exec)\b[^.!?\n]{0,60}?(?:`[^`\n]+`|\b(?:curl|wget"
            r"|bash|script|scripts|command|commands|\S+\.(?:sh|ps1|py|js|bat|exe)|npx|pip|cron|payload"
            r"|binary|installer|whatever|it)\b|https?://)"
        ),
    ),
    (
        "a dangerous command",
        0.0,
        (
            r" (?:curl|wget|iwr|irm)\b[^\n]{0,120}(?:\|\s*(?:sudo )?(?:ba|z)?sh\b|\biex\b)|rm -rf"
            r"|--no-verify|--force\b|force-push|-auto-approve|chmod 777|--insecure|verify ?(?:="
            r"|to) ?false|--yes\b|-k\b"
        ),
    ),
    (
        "checks turned off",
        0.6,
        (
            r" (?:disabl(?:e|ing)|turn(?:ing)? off|switch(?:ing)? off|skip(?:ping)?|drop|remov(?:e"
            r"|ing)|delet(?:e|ing)|stop|bypass(?:ing)?|circumvent|relax|weaken|comment out|mute"
            r"|suppress|deactivate|kill|silence|ignore|lower|unset|omit|leave out|dismiss|avoid"
            r"|work around|turn \w+ off|set verify)\b[^.!?\n]{0,50}?\b"
            + _CHECKS
            + r"\b| "
            + _CHECKS
            + r"\b[^.!?\n]{0,30}\b(?:is|are|can be|may be|should be) (?:off|disabled|skipped|not needed"
            r"|unnecessary|superfluous|obsolete|optional|a formality|only (?:there )?for)\b|no-verify"
            r"| delete it and say\b"
        ),
    ),
    (
        "an approval",
        0.4,
        (
            r" (?:approv(?:e|ed|es|ing)|merg(?:e|ed|ing)|push(?:ed|ing)?|lgtm|sign(?:ed)? off"
            r"|accept(?:ed)?|rate|grade|score|mark|confirm|release|deploy|grant|certify|rank|recommend"
            r"|praise)\b[^.!?\n]{0,60}?\b(?:pull requests?|prs?|merge requests?|changes?|requests?"
            r"|main|master|branch|everything|all|diff|this (?:file|change|candidate|proposal|package)"
            r"|at once|right away|immediately|directly|as (?:approved|done|passed|safe)|highest"
            r"|deploys?|rollout|production|it yourself|what you wrote|proposal|release|vendor|product"
            r"|candidate|applicant|dialogue)\b"
        ),
    ),
    (
        "a changed dependency or permission",
        0.0,
        (
            r" (?:replace|pin|change|set|point|add|switch|use|let|register|give|grant|open|downgrade"
            r"|swap|rename|redirect|put|install|move|insert|make|prefer|trust|treat"
            r"|rotate)\b[^.!?\n]{0,60}?\b(?:dependenc\w+|packages?|registry|index|remotes?|origin"
            r"|mirror|package\.json|requirements\.txt|dockerfiles?|deploy keys?|public keys?"
            r"|write (?:access|permission)|permissions?|admin rights?|collaborators?|trusted|firewall"
            r"|signing key|bank account|proxy|dns|hosts? file|authorized_keys|sudoers|base image"
            r"|version|openssl|cron(?:tab)?|hook|workflow|role|owner|access|remote|iban|account"
            r"|address|url|host|extension|plugin|mcp server|server)\b"
        ),
    ),
    (
        "a text to carry on",
        0.2,
        (
            r" (?:copy|add|paste|keep|remember|store|save|write|put|insert|repeat|include|append"
            r"|record|carry|place|propagate|reproduce|memori[sz]e|note"
            r"|leave)\b[^.!?\n]{0,60}?\b(?:(?:this|these|the following|that|its?"
            r"|the)(?: \w+)? (?:paragraph|lines?|notes?|text|rules?|sentences?|sections?|block"
            r"|instructions?|message|passage|page|reminder)?[^.!?\n]{0,60}?(?:every|each|all|any"
            r"|future|later|next|other|top of|agents\.md|claude\.md|memory|readme|\.cursorrules"
            r"|copilot-instructions|system prompt|long-term)|agents\.md|claude\.md|\.cursorrules"
            r"|copilot-instructions|long-term (?:memory|notes)|your (?:long-term "
            r"|permanent )?(?:memory|memories|notes)|for (?:all|every|each) (?:later|future|other"
            r"|next)? ?(?:sessions?|conversations?))\b| (?:later|future|all|subsequent|other"
            r"|every) (?:sessions?|conversations?|agents?|assistants?|runs?)\b[^.!?\n]{0,40}\b(?:see"
            r"|read|find|know|follow|obey|load|remember)|remember (?:for|that|this)|from (?:then"
            r"|now) on|when(?:ever)? somebody deletes|in (?:all|every|any) (?:later|future) "
        ),
    ),
    (
        "a claim of authority",
        0.3,
        (
            r" (?:(?:maintainers?|security team|security|administrators?|admins?|management|the team"
            r"|owner|legal|vendor|manufacturer|anthropic|openai|google|microsoft|github|ops|operator"
            r"|ceo|cto|boss|the user|the human|users?|company|it department|support|platform team"
            r"|compliance|auditors?|director|lead)\b[^.!?\n]{0,40}\b(?:has|have|had|already|knows?"
            r"|agreed|wants?|requires?|asks?|approved|authori[sz]ed|decided|ordered|cleared|consent\w*"
            r"|allowed|permitted|expects?|instructed|demands?|confirmed|signed|given|gave|enabled"
            r"|widened|granted|switched)|on behalf of|by order of|admin(?:istrator)? override"
            r"|override \d+|notice (?:of|from) the|message from (?:the|your)|take my word|you(?: are"
            r"|'re| have been) (?:entitled|authori[sz]ed|obliged|cleared|allowed|permitted|required"
            r"|bound|expected|trusted)|(?:your )?permissions (?:are|were|have)|according to section"
            r"|for (?:legal|compliance|transparency|security|debugging|audit) (?:reasons|purposes)"
            r"|as the (?:operator|owner|admin\w*|maintainer|user)|legally|offence|you may count"
            r"|the agreement with|by phone|consent)\b"
        ),
    ),
    (
        "urgency",
        0.3,
        (
            r" (?:at once|right away|immediately|straight away|as soon as|before (?:anything"
            r"|everything|doing|you|answering|reading|the next|using|any)|first of all|no time"
            r"|urgent\w*|asap|start right|instantly|without delay|now\b|first\b|the moment)\b"
        ),
    ),
    (
        "an agent",
        0.0,
        (r"(?<![\w/.`-])" + _AGENT + r"(?![\w/`-])"),
    ),
    (
        "an agent addressed",
        0.2,
        (
            r"(?<![\w/.`-])"
            + _AGENT
            + r"(?![\w/`-])[^.!?\n]{0,60}?\b(?:must|shall|should|has to|have to|is to|are to|may"
            r"|is asked|are asked|is obliged|please|do not|never|always|will|is allowed|are allowed"
            r"|can be executed|can)\b| (?:by|to|for|dear|attention|hey|note to|notice to|message to"
            r"|hint for|instructions? for|if you(?: are|'re)) (?:the |an? |any |all |every |each "
            r"|your )?" + _AGENT + r"\b|(?:^|[.!?\n] ?)" + _AGENT + r"s?(?: code)?[:,] "
        ),
    ),
    (
        "the moment of reading",
        0.3,
        (
            r" (?:when|whenever|while|if|once|after|before|as soon as|upon|should) (?:you|an?|the|any"
            r"|somebody|someone) ?(?:\w+ ){0,3}?(?:read|reads|reading|see|sees|reach|reached"
            r"|process\w*|load\w*|summari[sz]\w*|touch|handl\w+|open\w*|repl\w+|answer\w*|work\w*|meet"
            r"|come across|encounter|edit|create|quot\w+|retriev\w+|pars\w+|find|review\w*|ask\w*"
            r"|know)\b| (?:read|reads|reading|process|processing|load|loading|parse|parsing|handling"
            r"|summari[sz]ing) (?:this|these)\b|wherever you|anywhere you|any \w+ you (?:edit|create"
            r"|meet|open|touch)|while you (?:are at it|work here)|(?:if|when) asked|once you"
            r"|every \w+ (?:client|file) they|you come across|they come across|along the way"
        ),
    ),
    (
        "the answers and tools of an agent",
        0.9,
        (
            r" your (?:tool calls?|tools?|answers?|next|repl(?:y|ies)|responses?|permissions?"
            r"|instructions?|session|long-term|context|memory|prompt|operator|system prompt"
            r"|conversation|training|guidelines|restrictions|output|thoughts|reasoning|edits?"
            r"|first action|summary)\b"
        ),
    ),
    (
        "a false statement",
        0.9,
        (
            r" (?:say|answer|reply|tell (?:him|her|them|the user)|claim|state|pretend|act|report|name"
            r"|respond|insist)\b[^.!?\n]{0,40}?\b(?:that (?:you did not|it has|it was|you have|the|all"
            r"|everything|there)|it has always|always been|is green|were? verified|passed"
            r"|no (?:findings|problems|issues|weaknesses)|nothing|not the one|closed|withdrawn|fine"
            r"|as if|instead|\\x22[^\\x22\n]+\\x22|lgtm|done|did not)\b|own experience|make it sound"
            r"|sound like|if (?:somebody|someone|anyone|anybody|asked)[^.!?\n]{0,60}(?:say|answer|name"
            r"|deny|reply|tell)|decline any|refuse (?:any|all|every)|leave out|list no"
            r"|treat it as (?:if|though)|under the message|as \\x22chore"
        ),
    ),
    (
        "an excuse",
        2.7,
        (
            r" (?:it'?s (?:just|only|simply) an? |this is (?:just|only) an? |only a test"
            r"|just a (?:test|formality|health check)|nothing will (?:really )?happen|is a formality"
            r"|for transparency|to help us|it slows you|nobody watches|is confidential"
            r"|the proxy breaks|otherwise (?:your|the|it)|they agreed|agreed in general|it belongs to"
            r"|because the (?:console|proxy)|belongs to the new|by definition|we sort (?:it|out)"
            r"|needn't explain|is harmless|is (?:completely |perfectly )?safe|trust me|don't worry"
            r"|no harm|(?:would be|be so) kind|many thanks|thanks in advance|please cooperate"
            r"|it'?s the maintained)\b"
        ),
    ),
    (
        "a speaker with a role",
        2.2,
        (
            r" (?:i'm|i am) (?:the|your|a|telling|writing)\b| as your\b| you work for\b"
            r"| the person you\b| telling you (?:through|by|in)\b| message (?:from|to) (?:the|your"
            r"|all)\b| (?:dear|attention|hello|hey|hi|listen),? (?:ai|assistant|agent|model|bot"
            r"|copilot|claude|llm|colleague|reader)"
        ),
    ),
    (
        "another task",
        4.0,
        (
            r" (?:forget|drop|leave|abandon|stop|interrupt|postpone) (?:the|your|whatever|any|all"
            r"|every)[^.!?\n]{0,30}\b(?:task|job|assignment|work|request|question|job|goal"
            r"|you were given|you are doing)\b| your (?:real|actual|true|new|first|next"
            r"|only) (?:assignment|task|job|goal|instructions?|orders?|duty)\b|more important (?:one"
            r"|task)| (?:disagree|differ|contradict|conflict|in doubt)\b[^.!?\n]{0,60}\b(?:follow"
            r"|wins?|trust|obey|prefer|believe|goes|counts|this)\b| follow the (?:paragraph|page|note"
            r"|text|file)\b| do what (?:is|it|the \w+) (?:says?|written|there|asks?)\b"
            r"|what is written there|what it says"
        ),
    ),
    (
        "something omitted",
        3.4,
        (
            r" worth mentioning\b|bring (?:that|this|it) up|explain later|leave (?:it|this|that"
            r"|them) out|needs? to find out|has to find out|without (?:a )?(?:mention|comment"
            r"|mentioning|commenting|telling|explaining|saying|leaving|announcing|logging)|keep (?:it"
            r"|this|that|them) (?:out of|from|to yourself|quiet|off)|make it (?:look|sound|appear"
            r"|seem)|look like (?:the|an?|it)|people (?:only )?get nervous|no (?:comment|word"
            r"|mention) (?:on|of|about|to)|(?:move|go|carry) on (?:without|as|quietly|silently)"
            r"|not (?:a word|part of the report)"
        ),
    ),
    (
        "caution lifted",
        2.4,
        (
            r" (?:without the usual|usual (?:caution|limits?|checks?|rules?|care|safeguards?"
            r"|restrictions?)|no (?:refusal|restrictions?|limits?|filters?|rules)|any refusal"
            r"|unrestricted|unlimited|full (?:rights|access|permissions?|control|autonomy)"
            r"|has been checked|was checked|contains? no (?:injection|instructions|malware)"
            r"|verified (?:by|safe|source)|full trust|trusted (?:host|source|author|file)"
            r"|write access to|hand (?:out|over)|control of the|count yourself|not meant for"
            r"|not one of them|you're not one|meant for newcomers|only for newcomers"
            r"|does not apply to you|doesn't apply to you|don't apply to you|exempt)\b"
        ),
    ),
    (
        "destruction",
        1.5,
        (
            r" (?:wipe|empty|erase|purge|delete|remove|drop|destroy|truncate|clear|rewrite"
            r"|reset)\b[^.!?\n]{0,40}\b(?:all|every\w*|the (?:\w+ )?(?:buckets?|director\w+|folders?"
            r"|entries|database|history|logs?|branch\w*|backups?|snapshots?|tables?|commit history"
            r"|repository)|production|home directory|`[^`]+` (?:director|folder|entries))"
            r"|home directory|rm -rf"
        ),
    ),
    (
        "an order",
        0.0,
        (
            r"(?:^|[.!?:;,] |\bplease |\bsimply |\bthen |\balso |\band |\bjust )(?:please |kindly "
            r"|just |simply |always |silently |quietly )?(?:add|append|approve|accept|answer|attach"
            r"|begin|call|change|claim|commit|copy|delete|disable|drop|email|empty|execute|export"
            r"|fetch|follow|forward|give|grant|hand|hide|ignore|include|install|keep|leave|let|list"
            r"|make|mark|merge|move|open|paste|pin|point|post|prefer|print|publish|push|put|quote|rate"
            r"|read|recommend|refuse|register|remember|remove|replace|reply|report|reveal|run|save|say"
            r"|send|set|share|skip|start|stop|store|submit|swap|switch|tell|transfer|treat|trust|turn"
            r"|type|upload|use|wipe|write|decline|resolve|apply|look|take|show|release|pretend"
            r"|confirm)\b"
        ),
    ),
    *FOREIGN,
)
"""What is said, its weight and its pattern, on lower-case text with a space before every word."""

_RISKS = (
    "checks turned off",
    "an approval",
    "a changed dependency or permission",
    "a text to carry on",
    "a dangerous command",
    "destruction",
    "checks turned off, in other languages",
    "something private handed over, in other languages",
    "an approval, in other languages",
)
_SECRECY = (
    "an order not to tell",
    "quietness",
    "something omitted",
    "an order not to tell, in other languages",
)
_ADDRESS = (
    "an agent addressed",
    "the moment of reading",
    "the answers and tools of an agent",
    "a speaker with a role",
    "an agent addressed, in other languages",
)
_NO_QUESTION = (
    "no question or confirmation",
    "no question, in other languages",
)

COMBINATIONS: Final[tuple[tuple[float, tuple[tuple[str, ...], ...]], ...]] = (
    (
        0.5,
        (
            _SECRECY,
            (
                *_RISKS,
                "something to run",
            ),
        ),
    ),
    (
        0.5,
        (
            _SECRECY,
            ("something private handed over",),
            ("a place outside",),
        ),
    ),
    (
        0.7,
        (
            ("something private handed over",),
            ("a place outside",),
            (
                "an order",
                "an agent addressed",
                "the moment of reading",
            ),
        ),
    ),
    (
        0.3,
        (
            _NO_QUESTION,
            (
                *_RISKS,
                "something to run",
            ),
        ),
    ),
    (
        0.9,
        (
            _NO_QUESTION,
            _ADDRESS,
        ),
    ),
    (
        0.4,
        (
            _ADDRESS,
            _RISKS,
        ),
    ),
    (
        0.6,
        (
            ("an agent addressed",),
            _RISKS,
        ),
    ),
    (
        0.4,
        (
            _SECRECY,
            (
                "people",
                "the user, in other languages",
            ),
        ),
    ),
    (
        1.5,
        (
            _SECRECY,
            _ADDRESS,
        ),
    ),
    (
        1.0,
        (
            ("a claim of authority",),
            (
                *_RISKS,
                "no question or confirmation",
                "something to run",
                "something private handed over",
            ),
        ),
    ),
    (
        0.9,
        (
            (
                "the user as a third person",
                "the user, in other languages",
            ),
            (
                *_RISKS,
                *_NO_QUESTION,
            ),
        ),
    ),
    (
        1.5,
        (
            (
                "an excuse",
                "caution lifted",
            ),
            (
                *_RISKS,
                "something to run",
                "something private handed over",
            ),
        ),
    ),
    (
        0.5,
        (
            ("urgency",),
            ("an order",),
            (
                *_RISKS,
                "something to run",
            ),
        ),
    ),
    (
        0.5,
        (
            ("urgency",),
            ("an order",),
            ("something private handed over",),
            ("a place outside",),
        ),
    ),
    (
        1.6,
        (
            ("another identity or mode",),
            (
                *_RISKS,
                *_NO_QUESTION,
                "instructions declared void",
                "caution lifted",
                "this text above all others",
            ),
        ),
    ),
    (
        0.8,
        (
            (
                "instructions replaced",
                "instructions declared void",
                "this text above all others",
                "another task",
            ),
            (
                *_ADDRESS,
                "the user as a third person",
                "an agent",
            ),
        ),
    ),
    (
        0.9,
        (
            (
                "instructions replaced",
                "instructions declared void",
                "another task",
            ),
            (
                "this text above all others",
                "something private handed over",
                "caution lifted",
            ),
        ),
    ),
    (
        0.9,
        (
            (
                "instructions replaced",
                "instructions declared void",
                "another task",
            ),
            ("an order",),
            ("the answers and tools of an agent",),
        ),
    ),
    (
        2.4,
        (
            ("a text to carry on",),
            ("an order",),
            (
                "every answer or file",
                "no question or confirmation",
                "an agent",
                "the answers and tools of an agent",
            ),
        ),
    ),
    (
        2.0,
        (
            ("a false statement",),
            (
                *_SECRECY,
                "the moment of reading",
                "the user as a third person",
                "an agent",
            ),
        ),
    ),
    (
        2.0,
        (
            (
                "instructions replaced, in other languages",
                "no question, in other languages",
                "an order not to tell, in other languages",
            ),
            (
                "something private handed over, in other languages",
                "checks turned off, in other languages",
                "an approval, in other languages",
                "an agent addressed, in other languages",
                "the user, in other languages",
            ),
        ),
    ),
)
"""A weight, and groups: it counts if something of each group is said."""
