"""The rows of passwords recognized by their place in a command, call or statement.

Columns and abbreviations are those of `secret_rules`.
"""

from __future__ import annotations

from typing import Final

POSITIONS: Final = (
    (
        "call-password",
        "connect login auth credential account users",
        r"[a-z_]{4,24}[\"']?[ \t]{0,4}(?:[=:][ \t]{0,4})?[(\[{]",
        (
            r"(?:connect|login|auth|basicauth|basic_auth|credentials?|accounts|users|authenticate"
            r"|getconnection)[\"']?[ \t]{0,4}"
            r"(?:(?:=|:)[ \t]{0,4})?[(\[{]{1,2}[^()\n{}]{0,160}?[\"'],["
            r" \t]{0,4}[\"'](?P<value>(?=[^\"']{0,60}[0-9])[^\s\"'$<>{}]{6,80})[\"']"
        ),
        "connect('db.example', 'app', '·k7Vq%a{8}')",
        "connect('db.example', 'app', 'password1')",
    ),
    (
        "database-login",
        "sqlplus oracle: sqlldr expdp impdp",
        r"[a-z:]{5,14}[^\n]{0,40}/",
        (
            r"(?:sqlplus|oracle:(?:thin|oci8?):|sqlldr|expdp"
            r"|impdp)(?:[ \t]-[a-z])?[ \t\"']{0,4}[a-z0-9_$#]{1,30}/(?P<value>[^\s/@\"'<>$&]{6,64})@"
        ),
        "sqlplus app/·k7Vq%a{8}@//db.example:1521/X",
        "sqlplus app/password@//db.example:1521/X",
    ),
    (
        "command-password",
        "net+user net+use+ add_user change_password snyk+auth rootpw",
        r"[a-z_]{3,16}[ \t][^\n]{6}",
        (
            r"(?:\bnet user [^\s]{1,40} |\bnet use [^\n]{0,100}/user:[^\s]{1,40} |rabbitmqctl (?:add_user"
            r"|change_password) [^\s]{1,40} |"
            r"\bsnyk auth |\brootpw (?:--plaintext )?)[\"']?(?P<value>[^\s\"'$<>]{6,80})"
        ),
        "net user backup ·k7Vq%a{8} /add",
        "net user backup * /add",
    ),
    (
        "piped-password",
        "-stdin chpasswd sudo+-s",
        "[^\n]",
        (
            r"\b(?:echo"
            r"|printf)[ \t](?:-n[ \t])?(?:'%s'[ \t])?[\"']?(?:[a-z0-9_]{1,32}:)?(?P<value>[^\s\"'$<>"
            r"|:]{8,400})[\"']?[ \t]?\|[^\n|]{0,200}?(?:-stdin|chpasswd|sudo -s)"
        ),
        "echo ·k7Vq%a{12} | docker login -u ci --password-stdin",
        "echo $TOKEN | docker login -u ci --password-stdin",
    ),
    (
        "identified-password",
        "identified",
        r"identified[ \t][^\n]{8}",
        (
            r"identified[ \t](?:with[ \t][a-z0-9_'\"]{1,40}[ \t])?(?:by"
            r"|as)[ \t](?:password[ \t])?[\"']?(?P<value>[^\s\"'$<>;]{6,100})"
        ),
        "identified by '·k7Vq%a{8}'",
        "identified by 'password'",
    ),
    (
        "login-pair",
        "log+in login cred user account sign+in anmeld zugang",
        r"[a-z ]{4,12}[^\n/]{0,60}/ ?(?=[^\s/]{0,30}[0-9])",
        (
            r"(?:log(?:ged)? ?in|login|creds?|credentials|user(?:name)?|account|sign in|anmeld[a-z]{2,5}"
            r"|zugang[a-z]{0,8})(?:[ \t:][^\n:/]{0,40}?)??[ \t:][\"'`]?"
            r"[a-z0-9_.@-]{2,40}[\"'`]?(?: / "
            r"|/)[\"'`]?(?P<value>(?=[^\s]{0,30}[0-9])(?=[^\s]{0,30}[a-z])[^\s/@\"'`<>,;:=(){}\[\]$"
            r"|\\]{8,40})(?![/:(\[.])"
        ),
        "Credentials: root / ·k7Vq%a{8}",
        "Credentials: root / password",
    ),
    (
        "used-as-password",
        "password passphrase",
        r"passw|passp",
        (
            r"\b(?:use|enter"
            r"|type)[ \t][\"'`]?(?P<value>[^\s\"'`<>]{8,80})[\"'`]?[ \t]as[ \t](?:the["
            r" \t])?(?:[a-z]{1,12}[ \t]){0,2}(?:password|passphrase)\b"
        ),
        "use ·k7Vq%a{10} as the password",
        "use something as the password",
    ),
    (
        "sent-password",
        "assword",
        r"assword[^\n]{0,40}send",
        r"expect[^\n]{0,40}assword[^\n]{0,40}?send(?:[ \t]--)?[ \t][\"'](?P<value>[^\"'\\$\n]{6,80})",
        'expect "assword:" { send "·k7Vq%a{8}\\r" }',
        'expect "assword:" { send "$secret\\r" }',
    ),
    (
        "session-cookie",
        "cookie:",
        r"cookie:[ \t]",
        (
            r"cookie:[ \t][^\n]{0,200}?(?:sess|sid|auth|token"
            r"|jwt)[a-z_.-]{0,16}=(?P<value>(?!\")[a-z0-9%_.:-]{16,400})"
        ),
        "Cookie: ses·sionid=%l{32}",
        "Cookie: sessionid=<session>",
    ),
)
"""Kind, anchors, gate, pattern, example and counter-example."""
