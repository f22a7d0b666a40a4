"""Further formats that are recognized by their characters alone, as rows of `secret_rules`."""

from __future__ import annotations

from typing import Final

MORE_TOKENS: Final = (
    ("apify-token", "apify_api_", r"apify_api_%a{30,50}$", "api·fy_api_%a{36}", "apify_api_token"),
    ("adyen-key", "AQE", r"AQE[a-z]hm[%a+/=<>{}.%\[\]-]{60,300}", "AQ·Eyhmf%b{80}", "AQEyhm"),
    ("asaas-key", "$aact_", r"\$aact_[%w:=]{60,300}", "$a·act_%w{100}", "$aact_key"),
    ("backblaze-key", "K00", r"K00(?=%b{0,12}%d)%b{28}$=", "K·00%b{28}", "K00%h{8}"),
    ("bitbucket-token", "BBDC-", r"BBDC-%b{40,50}$=", "BB·DC-%b{44}", "BBDC-1234"),
    ("buildkite-access", "bkaj_ bkct_ bkpt_", r"bk(?:aj|ct|pt)_%w{36,60}$", "bk·ct_%a{40}", "bkct_token"),
    ("clickhouse-key", "4b1d", r"4b1d%a{38}$", "4b·1d%a{38}", "4b1d%h{12}"),
    ("cloudflare-token", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_%a{40,60}$", "cf·ut_%a{48}", "cfut_token"),
    ("depot-token", "depot_", r"depot_(?:org|project|user)_%h{64}$", "dep·ot_org_%h{64}", "depot_org_token"),
    ("e2b-key", "e2b_", r"e2b_%h{40}$", "e·2b_%h{40}", "e2b_api_key"),
    ("elastic-key", "essu_", r"essu_%b{40,100}={0,2}$=", "es·su_%b{60}", "essu_key"),
    ("elevenlabs-key", "sk_", r"sk_%h{48}$", "s·k_%h{48}", "sk_%h{8}"),
    ("firecrawl-key", "fc-", r"fc-%h{32}$", "f·c-%h{32}", "fc-list"),
    ("intra-42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-%h{64}$", "s·-s4t2ud-%h{64}", "s-s4t2ud-"),
    ("jina-key", "jina_", r"jina_%h{32}%w{20,40}$", "ji·na_%h{32}%a{28}", "jina_embeddings"),
    (
        "k3s-token",
        "K10",
        r"K10%h{40,64}::(?:server|node|[%w]{1,20}):%h{32}$",
        "K·10%h{64}::server:%h{32}",
        "K10%h{8}",
    ),
    ("linkedin-secret", "WPL_AP", r"WPL_AP1\.[%w.]{10,40}={0,2}", "WP·L_AP1.%a{16}.%a{6}==", "WPL_AP1."),
    (
        "mercadopago-token",
        "APP_USR-",
        r"APP_USR-%d{10,20}-%d{6}-%h{32}-%d{5,12}$",
        "APP·_USR-%d{16}-%d{6}-%h{32}-%d{9}",
        "APP_USR-",
    ),
    (
        "microsoft-key",
        "ASt ACDb AEh ASb ARm AIoT AzSe AzFu AzCa APIM ACRD",
        r"%w{6,90}(?:\+ASt|ACDb|\+AEh|\+ASb|\+ARm|AIoT|AzSe|AzFu|AzCa|APIM|ACRD)%b{4,12}={1,2}",
        "%a{40}Az·Fu%a{8}==",
        "AzFunction==",
    ),
    ("mongodb-atlas-secret", "mdb_sa_sk_", r"mdb_sa_sk_%w{40}$", "mdb·_sa_sk_%w{40}", "mdb_sa_sk_"),
    ("neon-password", "npg_", r"npg_%a{12,20}$", "np·g_%a{16}", "npg_user"),
    ("runpod-key", "rpa_", r"rpa_%a{40,50}$", "rp·a_%a{44}", "rpa_tool"),
    ("salesforce-session", "00D", r"00D%a{12,15}![%w.]{60,200}", "00·D%a{12}!%a{80}", "00D%a{12}"),
    ("settlemint-token", "sm_", r"sm_(?:aat|pat|sat)_%a{16}$", "sm·_aat_%a{16}", "sm_pat_token"),
    (
        "statsig-secret",
        "secret-",
        r"secret-(?=[A-Za-z]{0,40}%d)%a{40,50}$",
        "sec·ret-%a{43}",
        "secret-management",
    ),
    (
        "stytch-secret",
        "secret-",
        r"secret-(?:live|test)-%w{30,50}={0,2}",
        "sec·ret-live-%a{34}=",
        "secret-live-",
    ),
    ("together-key", "tgp_v1_", r"tgp_v1_%w{40,50}$", "tg·p_v1_%w{43}", "tgp_v1_key"),
    ("trello-token", "ATTA", r"ATTA%h{64}%u{8}$", "AT·TA%h{64}%u{8}", "ATTA"),
    (
        "unleash-token",
        ":dev :prod :stag :test :pre :default",
        r"[%w*]{1,40}:[a-z]{3,30}\.%h{56,64}$",
        "*:pro·duction.%h{64}",
        "default:development.%h{8}",
    ),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piark]_%a{40,70}$", "vc·p_%a{56}", "vcp_token"),
    (
        "wakatime-key",
        "waka_",
        r"waka_%h{8}-%h{4}-%h{4}-%h{4}-%h{12}$",
        "wa·ka_%h{8}-%h{4}-%h{4}-%h{4}-%h{12}",
        "waka_time",
    ),
    ("wandb-key", "wandb_v1_", r"wandb_v1_%w{60,100}$", "wan·db_v1_%w{77}", "wandb_v1_"),
    (
        "prefixed-key",
        "sk_ cret_ ken_ tok_ pat_ key_ auth_ live_ prod_ priv_ svc_ sat_ rk_",
        (
            r"(?!pk_|pub_)(?:[a-z][a-z0-9]{1,11}_){0,2}(?:sk|secret|token|tok|pat|key|apikey|auth|live|prod|priv|svc"
            r"|oauth|sat|rk)_(?:[a-z0-9]{1,8}_){0,2}(?P<value>(?=[A-Za-z_]{0,30}%d)%a{28,200})$"
        ),
        "acme_sk·_live_%a{32}",
        "acme_secret_name_of_the_key",
    ),
)
"""Kind, anchors, pattern, example and counter-example."""

MORE_EMBEDDED: Final = (
    (
        "url-token",
        "://",
        r"://(?P<value>%w{20,200})(?::x-oauth-basic)?@(?!o%d|[%w.]{0,60}sentry)[A-Za-z0-9\[]",
        "https://%a·{32}@git.example/app.git",
        "https://some-name-of-a-user@git.example/app.git",
    ),
    (
        "url-parameter",
        "pw= pwd= pass= word= wd= key= appid= app_id= token= auth= secret= &p=",
        (
            r"(?:[?&](?:(?:cron|access|private|license|write|account)[_-]?key|pw|pwd|pass(?:word|wd)?|key|api[_-]?key|appid|app_id|subscription-key|token"
            r"|access_token|auth|"
            r"auth_token|secret|client_secret)"
            r"|[?&]u(?:ser)?=[%w.@-]{1,40}&p)=(?P<value>[%w.~+/%-]{10,400}={0,2})"
        ),
        "https://api.example/v2?api_key=·%a{32}",
        "https://api.example/v2?api_key=your-own-key",
    ),
    (
        "go-database-password",
        "@tcp( @unix( @udp(",
        r"%w{1,40}:(?P<value>[^%n/:@\"'`]{6,80})@(?:tcp|unix|udp)\(",
        "app:·k7Vq%a{8}@tcp(db.example:3306)/shop",
        "user:password@tcp(db.example:3306)/shop",
    ),
    (
        "salesforce-token",
        "5Aep",
        r":(?P<value>5Aep[%w.=!]{40,300})@",
        "force://PlatformCLI::5A·ep%a{80}@example.my.salesforce.com",
        "force://PlatformCLI::5Aep861",
    ),
    (
        "password-hash",
        ":$",
        (
            r"(?<=[a-z0-9_]):(?P<value>\$(?:2[aby]\$%d{2}\$[./%a]{53}"
            r"|6\$(?:rounds=%d{4,7}\$)?[./%a]{2,16}\$[./%a]{86}"
            r"|5\$[./%a]{2,16}\$[./%a]{43}|1\$[./%a]{2,8}\$[./%a]{22}|apr1\$[./%a]{2,8}\$[./%a]{22}"
            r"|y\$[./%a]{2,6}\$[./%a]{8,24}\$[./%a]{43}))"
        ),
        "root:$·6$%a{12}$%a{86}:19700:0:",
        "root:$6$salt$hash",
    ),
    (
        "ntlm-hash",
        ":::",
        r":%h{32}:(?P<value>%h{32}):::",
        "admin:500:%h{32}·:%h{32}:::",
        "admin:500:lm:nt:::",
    ),
    (
        "encoded-aws-key",
        "QVdTX0 QUtJQ",
        r"(?P<value>(?:QVdTX0(?:FDQ0VTU19LRVl|TRUNSRVR)|QUtJQ)%b{24,2000}={0,2})",
        "QVdTX0·FDQ0VTU19LRVl%b{60}",
        "QVdTX0FDQ0VTU19LRVk=",
    ),
    (
        "telegram-bot",
        "telegram.org/bot",
        r"telegram\.org/bot(?P<value>%d{8,10}:%w{30,40})$",
        "https://api.telegram.org/bot·%d{10}:AA%w{33}/getMe",
        "https://api.telegram.org/bot%d{10}/getMe",
    ),
    (
        "webhook-path",
        "hooks/ /hook/ /webhook/",
        r"/(?:web)?hooks?/(?:catch/|%w{8,40}/){0,2}(?P<value>%a{24,90})$",
        "https://chat.example/hooks/%a{17}/·%a{48}",
        "https://chat.example/hooks/incoming",
    ),
)
"""The same, for those that may follow any character."""
