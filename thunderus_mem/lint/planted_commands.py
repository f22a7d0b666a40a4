"""Signs in lines of commands and marks: secrets sent away, hidden code run, a forged conversation."""

from __future__ import annotations

from typing import Final

from thunderus_mem.lint.planted_signs import Sign, needs

_SECRET_FILE: Final = (
    r"(?:\.env\b|id_rsa|id_ed25519|\.ssh/|\.aws/|\.netrc|\.npmrc|\.pypirc|\.kube/config|\.git-credentials|"
    r"/etc/passwd|/etc/shadow)"
)
_SHELL: Final = r"\| ?(?:sudo )?(?:sh|bash|zsh|python3?|node|perl|ruby|php)\b"
_SHELLS: Final = "sh bash zsh python python3 node perl ruby php"
_FORGED: Final = "it forges a turn of the conversation"
_SENT: Final = "it has secrets sent away"
_RUN: Final = "it has hidden code run"

COMMANDS: Final = (
    Sign(_FORGED, (r"<\|im_(?:start|end)\|>|\[/inst\]|<</?sys>>",), needs("im inst sys"), raw=True),
    Sign(
        _FORGED,
        (r"</?(?:system[-_](?:prompt|reminder)|function_(?:calls|results)|tool_(?:call|result))>",),
        needs("reminder prompt call calls result results", "system function tool"),
        raw=True,
    ),
    Sign(
        _FORGED,
        (r"^[ #]{0,8}begin (?:of )?system (?:prompt|message|instructions)",),
        needs("begin", "system", "prompt message instructions"),
        raw=True,
    ),
    Sign(
        _SENT,
        (
            r"\b(?:curl|wget|invoke-webrequest|invoke-restmethod|iwr|nc|ncat)\b",
            (
                rf"(?:\$\(|`|@|< ?|-t |--upload-file |--post-file[ =])(?:cat |base64 )?(?:-[a-z0-9]{{1,4}} )?"
                rf"[^\s\"')]{{0,60}}{_SECRET_FILE}|"
                r"\$\((?:env|printenv)\b"
            ),
        ),
        needs("curl wget invoke iwr nc ncat", "env id ssh aws netrc npmrc pypirc kube git etc printenv"),
        raw=True,
    ),
    Sign(
        _SENT,
        (
            (
                rf"(?:\b(?:cat|base64) [^\n|]{{0,60}}{_SECRET_FILE}[^\n|]{{0,40}}|\bprintenv ?|(?:^|"
                rf"[ `(;&])env ?)\|"
            ),
            r"\b(?:curl|wget|nc|ncat|telnet)\b",
        ),
        needs("curl wget nc ncat telnet", "cat base64 printenv env"),
        raw=True,
    ),
    Sign(
        _RUN,
        (r"\b(?:base64 (?:-d|--decode)|openssl base64 -d|xxd -r)\b", _SHELL),
        needs("base64 xxd", _SHELLS),
        raw=True,
    ),
    Sign(
        _RUN,
        (
            (
                r"\b(?:exec|eval)\(\s?(?:__import__\(.base64.\)|base64\.|zlib\.|atob\(|buffer\.from\()|"
                r"\bpowershell(?:\.exe)?\b[^|]{0,80}? -e(?:nc|ncodedcommand)? [a-z0-9+/=]{24}"
            ),
        ),
        needs("exec eval powershell", "import base64 zlib atob buffer exe enc e encodedcommand"),
        raw=True,
    ),
    Sign(
        "it has code of an unnamed machine run",
        (
            r"\b(?:curl|wget)\b",
            (
                r"https?://(?!127\.)(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[^\s/|]{0,60}(?:webhook\.site|"
                r"requestbin|ngrok|"
                r"pastebin\.com/raw|transfer\.sh|termbin|0x0\.st))"
            ),
            _SHELL,
        ),
        needs("curl wget", _SHELLS, "http https"),
        raw=True,
    ),
)
"""Signs of which one is enough."""
