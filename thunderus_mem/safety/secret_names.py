"""The names of secrets in the languages people write them in: passwords, keys and tokens, with inflection.

Each row is a text that is in every form of the name, in lower case, and a pattern that begins there.
"""

from __future__ import annotations

from typing import Final

PASSWORDS: Final = (
    ("kennw", r"kennw(?:[o\u00f6]rt\w{0,3}|(?=\.:))"),  # German
    ("passord", r"passord(?:ets?|er|ene)?(?![a-z])"),  # Danish and Norwegian
    ("adgangskode", r"adgangskode\w{0,3}"),  # Danish
    ("kodeord", r"kodeord\w{0,4}"),  # Danish
    ("senord", r"(?<=l[\u00f6o])senord\w{0,4}"),  # Swedish
    ("lykilor", r"lykilor[\u00f0d]\w{0,3}"),  # Icelandic
    ("wachtwoord", r"wachtwoord\w{0,4}"),  # Dutch
    ("mdp", r"(?<![a-z])mdp(?= ?[:=]|_| (?:d[ue]|des|est|pour|root|admin|wi-?fi)[ :])"),  # French
    ("passe", r"(?<=mot[ _-]de[ _-])passe(?![a-z])|(?<=palavra[ _-])passe(?![a-z])"),  # French and Portuguese
    ("contrase", r"contrase(?:\u00f1|n|ny)as?(?![a-z])"),  # Spanish and Catalan
    ("codewort", r"codewort(?![a-z])"),  # German
    ("gangscode", r"gangscodes?(?![a-z])"),  # German
    ("schaltcode", r"schaltcodes?(?![a-z])"),  # German
    ("access code", r"access codes?(?![a-z])"),
    ("code d'acc", r"code d'acc\u00e8s"),  # French
    ("digo de acc", r"digo de acc?es\w{1,2}"),  # Spanish and Portuguese
    ("wlan", r"wlan[ _-]?(?:keys?|codes?|schl(?:\u00fc|ue)ssel)(?![a-z])"),  # German
    ("wifi", r"wifi[ _-]?(?:keys?|codes?|schl(?:\u00fc|ue)ssel)(?![a-z])"),
    ("wi-fi", r"wi-fi[ _-](?:keys?|codes?|schl(?:\u00fc|ue)ssel)(?![a-z])"),
    ("code wi", r"code wi-?fi(?![a-z])"),  # French
    ("cl\u00e9 w", r"(?<![a-z])cl\u00e9 (?:wi-?fi|wpa|wep)(?![a-z])"),  # French
    ("cl\u00e9 p", r"(?<![a-z])cl\u00e9 (?:pr\u00e9-?)?partag\u00e9e"),  # French
    ("clave", r"(?<![a-z])(?<!ejemplo )(?<!palabra )(?<!punto )(?<!concepto )clave(?![a-z])"),  # Spanish
    ("contrasinal", r"contrasinal"),  # Galician
    ("pasahitz", r"pasahitz\w{0,3}"),  # Basque
    ("senha", r"(?<![a-z])senhas?(?![a-z])"),  # Portuguese
    ("parola", r"(?<![a-z])parola(?: d'ordine|\w{0,6})"),  # Italian, Romanian and Turkish
    ("ifre", r"(?:(?<=\u015f)|(?<=(?<![a-z])s))ifre(?!le)\w{0,8}"),  # Turkish
    ("has\u0142", r"has\u0142(?:o|a|em|u)(?![a-z])"),  # Polish
    ("haslo", r"(?<![a-z])haslo(?![a-z])"),  # Polish
    ("hesl", r"(?<![a-z])hesl(?:o|a|em|u)(?![a-z])"),  # Czech and Slovak
    ("gesl", r"(?<![a-z])gesl(?:o|a|om)(?![a-z])"),  # Slovenian
    ("lozink", r"lozink\w{1,3}"),  # Croatian and Bosnian
    ("\u043b\u043e\u0437\u0438\u043d\u043a", r"\u043b\u043e\u0437\u0438\u043d\u043a\w{1,3}"),  # Serbian
    (
        "\u043f\u0430\u0440\u043e\u043b",
        r"\u043f\u0430\u0440\u043e\u043b\w{1,4}",
    ),  # Russian, Ukrainian and Bulgarian
    ("slapta", r"slapta\u017eod\w{1,5}"),  # Lithuanian
    ("parool", r"(?<![a-z])parool\w{0,3}"),  # Estonian
    ("salasan", r"salasan\w{1,6}"),  # Finnish
    ("jelsz", r"jelsz[\u00f3a]\w{0,7}"),  # Hungarian
    ("\u03ba\u03c9\u03b4\u03b9\u03ba", r"\u03ba\u03c9\u03b4\u03b9\u03ba[\u03cc\u03bf]\w{0,2}"),  # Greek
    ("kh\u1ea9u", r"(?<=m\u1eadt )kh\u1ea9u"),  # Vietnamese
    ("sandi", r"(?<=kata )sandi|kata laluan"),  # Indonesian and Malay
    (
        "\u0643\u0644\u0645\u0629",
        r"\u0643\u0644\u0645\u0629 (?:\u0627\u0644)?(?:\u0645\u0631\u0648\u0631|\u0633\u0631)",
    ),  # Arabic
    ("\u0631\u0645\u0632", r"\u0631\u0645\u0632 \u0639\u0628\u0648\u0631"),  # Persian
    ("\u05e1\u05d9\u05e1\u05de", r"\u05e1\u05d9\u05e1\u05de[\u05d0\u05d4\u05ea]\w{0,2}"),  # Hebrew
    ("\u092a\u093e\u0938\u0935\u0930\u094d\u0921", r"\u092a\u093e\u0938\u0935\u0930\u094d\u0921"),  # Hindi
    (
        "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19",
        r"\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19",
    ),  # Thai
    ("\u5bc6\u7801", r"\u5bc6\u7801"),  # Chinese
    ("\u5bc6\u78bc", r"\u5bc6\u78bc"),  # Chinese
    ("\u53e3\u4ee4", r"\u53e3\u4ee4"),  # Chinese
    ("\u30d1\u30b9\u30ef\u30fc\u30c9", r"\u30d1\u30b9\u30ef\u30fc\u30c9"),  # Japanese
    ("\u30d1\u30b9\u30d5\u30ec\u30fc\u30ba", r"\u30d1\u30b9\u30d5\u30ec\u30fc\u30ba"),  # Japanese
    ("\u6697\u8a3c\u756a\u53f7", r"\u6697\u8a3c\u756a\u53f7"),  # Japanese
    ("\ube44\ubc00\ubc88\ud638", r"\ube44\ubc00\ubc88\ud638"),  # Korean
    ("\ube44\ubc88", r"\ube44\ubc88(?=[\uc740\ub294\uc774\uac00:= ])"),  # Korean
    ("\uc554\ud638", r"\uc554\ud638(?!\ud654)"),  # Korean
    ("\ud328\uc2a4\uc6cc\ub4dc", r"\ud328\uc2a4\uc6cc\ub4dc"),  # Korean
)
"""People choose the values."""

KEYS: Final = (
    ("cl\u00e9", r"(?<![a-z])cl\u00e9s?(?![a-z])"),  # French
    ("cle_", r"(?<![a-z])cle(?=_)"),  # French
    ("_cle", r"_cle(?![a-z])"),  # French
    ("jeton", r"(?<![a-z])jeton\w{0,4}"),  # French and Turkish
    ("schl", r"schl(?:\u00fc|ue)ssel(?!w[o\u00f6]rt)"),  # German
    ("sleutel", r"sleutel"),  # Dutch
    ("nyckel", r"nyckel\w{0,2}"),  # Swedish
    ("n\u00f8", r"(?<![a-z])n\u00f8(?:gle|kkel)\w{0,3}"),  # Danish and Norwegian
    ("chave", r"(?<![a-z])chaves?(?![a-z])"),  # Portuguese
    ("chiave", r"(?<![a-z])chiave(?![a-z])"),  # Italian
    ("llave", r"(?<![a-z])llave(?![a-z])"),  # Spanish
    ("klucz", r"(?<![a-z])klucz\w{0,3}"),  # Polish
    ("kl\u00ed\u010d", r"(?<![a-z])kl\u00ed\u010d\w{0,3}"),  # Czech and Slovak
    ("anahtar", r"anahtar\w{0,4}"),  # Turkish
    ("kulcs", r"kulcs\w{0,4}"),  # Hungarian
    ("\u043a\u043b\u044e\u0447", r"\u043a\u043b\u044e\u0447\w{0,2}"),  # Russian, Ukrainian and Bulgarian
    ("\u0442\u043e\u043a\u0435\u043d", r"\u0442\u043e\u043a\u0435\u043d\w{0,2}"),  # Russian
    ("\u5bc6\u94a5", r"\u5bc6\u94a5"),  # Chinese
    ("\u5bc6\u9470", r"\u5bc6\u9470"),  # Chinese
    ("\u4ee4\u724c", r"\u4ee4\u724c"),  # Chinese
    ("\u30c8\u30fc\u30af\u30f3", r"\u30c8\u30fc\u30af\u30f3"),  # Japanese
    ("\u79d8\u5bc6\u9375", r"\u79d8\u5bc6\u9375"),  # Japanese
    ("\u30ad\u30fc", r"(?:api|\u30a2\u30af\u30bb\u30b9|\u6697\u53f7)?\u30ad\u30fc"),  # Japanese
    ("\ud0a4", r"(?<=api )\ud0a4|(?<=api)\ud0a4|(?<=\ube44\ubc00 )\ud0a4"),  # Korean
    ("\ud1a0\ud070", r"\ud1a0\ud070"),  # Korean
    ("\ube44\ubc00\ud0a4", r"\ube44\ubc00\ud0a4"),  # Korean
)
"""Their values are generated."""
