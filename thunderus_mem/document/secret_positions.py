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
        "net+user net+use+ add_user change_password snyk+auth rootpw +-passwd secret+0 password+0 createuser",
        r"[a-z_ -]{3,16}[ \t][^\n]{6}|(?:secret|password) 0 ",
        (
            r"(?:\bnet user [^\s]{1,40} |\bnet use [^\n]{0,100}/user:[^\s]{1,40} |rabbitmqctl (?:add_user"
            r"|change_password) [^\s]{1,40} |"
            r"\bcreateuser [^\s]{1,40} (?:sha|md5)[0-9-]{0,4} |"
            r"\bsnyk auth |\brootpw (?:--plaintext )?|[a-z0-9] -passwd |\b(?:secret|password) 0 )["
            r"\"']?(?P<value>[^\s\"'$<>]{6,80})"
        ),
        "net user backup ·k7Vq%a{8} /add",
        "net user backup * /add",
    ),
    (
        "piped-password",
        "-stdin chpasswd sudo+-s cryptsetup pass secret token cred",
        "[^\n]",
        (
            r"\b(?:echo"
            r"|printf)[ \t](?:-n[ \t])?(?:'%s'[ \t])?[\"']?(?:[a-z0-9_]{1,32}:)?(?P<value>[^\s\"'$<>"
            r"|:]{8,400})[\"']?[ \t]?(?:\|[^\n|]{0,200}?(?:-stdin|chpasswd|sudo -s|cryptsetup)"
            r"|>{1,2}[ \t]?[^\s|&;]{0,60}(?:pass|secret|token|cred))"
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
        "cookie: +-b+ --cookie+",
        r"cookie:[ \t]|[ -](?:-b|-cookie) [\"']",
        (
            r"(?:cookie:[ \t]|[ -](?:-b|-cookie) [\"'])[^\n]{0,200}?(?:sess|sid|auth|token"
            r"|jwt)[a-z_.-]{0,16}=(?P<value>(?!\")[a-z0-9%_.:-]{16,400})"
        ),
        "Cookie: ses·sionid=%l{32}",
        "Cookie: sessionid=<session>",
    ),
    (
        "call-key",
        "client( init( translator( realtime( login( search( configure( setup(",
        r"[a-z]{4,10}\([\"'\n ]",
        (
            r"(?:client|init|translator|realtime|login|search|configure|setup)\(\s{0,8}"
            r"(?:[\"'][a-z0-9_-]{1,60}[\"'],[ \t]{0,4})?"
            r"[\"'](?P<value>(?=[^\"']{0,40}[0-9])[a-z0-9_.:+/-]{24,120}={0,2})[\"']"
        ),
        "rollbar.init('·%h{32}')",
        "rollbar.init('name-of-the-access-token')",
    ),
    (
        "header-key",
        "key: auth: secret: team: key= team= token=",
        r"[a-z]{3,6}[:=][ \t]?[^\s]{12}",
        (
            r"(?:(?:-h|--header)[ =]?[\"']?|headers=[\"']?|[\"'])[a-z0-9-]{0,40}-"
            r"(?:key|auth|secret|team|token)[:=][ \t]?(?P<value>[a-z0-9_.~+/-]{12,400}={0,2})"
        ),
        "curl -H 'Cdn-Key: ·%a{32}' https://api.example",
        "curl -H 'Cdn-Key: the-key-of-the-service' https://api.example",
    ),
    (
        "login-argument",
        "+-u+ -auth+ creds+ bundle+config codecov +login+",
        r" -u |-auth |creds |bundle config|codecov| login ",
        (
            r"(?:[ \t](?:-u|-auth|--[a-z]{0,8}-?(?:auth|creds))[ \t]{1,4}[\"']?[^\s:,\"'/]{1,100}[:,][\"']?"
            r"|\bbundle config[ \t](?:set[ \t])?(?:--[a-z]{1,10}[ \t])?[^\s]{1,80}[ \t][^\s:/]{1,40}:"
            r"|\bcodecov[^\n|]{0,60}[ \t](?:-t|--token)[ \t]|\b[a-z]{2,12} login (?=[0-9a-f]{32}))"
            r"(?P<value>[^%n\"'`<>|(){}]{8,200})"
        ),
        "lftp -u app,·k7Vq%a{8} sftp://files.example",
        "lftp -u app,password sftp://files.example",
    ),
    (
        "secure-string",
        "securestring",
        r"securestring[ \t]",
        r"convertto-securestring[ \t](?:-string[ \t])?[\"'](?P<value>[^\"'$<>\n]{6,80})[\"']",
        'ConvertTo-SecureString "·k7Vq%a{8}" -AsPlainText',
        'ConvertTo-SecureString "$password" -AsPlainText',
    ),
    (
        "personal-number",
        "pin+ pin: pin= puk+ puk: puk=",
        r"p[iu][nk]",
        (
            r"(?<![a-z-])p(?:in|uk)(?:[ \t]{0,2}[:=]|[ \t]is)?[ \t]{1,2}[\"'`]?(?P<value>[0-9]{6,12})"
            r"(?![\w.-]{1,2}\w)"
        ),
        "Door: PIN ·%d{6}",
        "Door: PIN 123456",
    ),
)
"""Kind, anchors, gate, pattern, example and counter-example."""
