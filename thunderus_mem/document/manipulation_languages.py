"""Rows of `manipulation_rules` for nine languages other than English."""

from __future__ import annotations

from typing import Final

FOREIGN: Final[tuple[tuple[str, float, str], ...]] = (
    (
        "instructions replaced, in other languages",
        6.2,
        (
            r"\u5ffd\u7565|\u65e0\u89c6|\u5fd8\u8bb0|\u5fd8\u6389|\u4e0d\u8981\u7406\u4f1a"
            r"|\u7121\u8996|\u5fd8\u308c|\u5f93\u308f|(?:ignor|vergiss|missacht|verwirf"
            r"|vergess)\w*[^.!?\n]{0,40}(?:anweisung|regel|vorgabe|richtlinie)|(?:anweisungen|regeln"
            r"|vorgaben)[^.!?\n]{0,40}(?:gelten nicht|ung\u00fcltig|aufgehoben)"
            r"|(?:ignore[zr]? (?:toutes|les|tes|vos|ces)|oublie[zrs]?|ne (?:tenez|tiens) (?:plus"
            r"|pas) compte)[^.!?\n]{0,40}(?:consigne|instruction|r\u00e8gle|directive)|(?:ignora"
            r"|olvida|omite|descarta|no hagas caso|haz caso omiso)\w*[^.!?\n]{0,40}(?:instruccion"
            r"|regla|norma|indicacion)|(?:ignor[ea] (?:as|os|todas|todos)|esque[\u00e7c]a"
            r"|desconsidere)\w*[^.!?\n]{0,40}(?:instru|regra|orienta)|(?:ignora|dimentica"
            r"|trascura)\w*[^.!?\n]{0,40}(?:istruzion|regol|indicazion)"
            r"|(?:\u0437\u0430\u0431\u0443\u0434\u044c"
            r"|\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439"
            r"|\u043d\u0435 \u043e\u0431\u0440\u0430\u0449\u0430\u0439"
            r"|\u0437\u0430\u0431\u0443\u0434\u044c\u0442\u0435"
            r"|\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439\u0442\u0435"
            r"|\u043e\u0442\u043c\u0435\u043d\u0438)\w*[^.!?\n]{0,40}(?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446|\u043f\u0440\u0430\u0432\u0438\u043b|\u0443\u043a\u0430\u0437\u0430\u043d)|(?:negeer|vergeet)[^.!?\n]{0,40}(?:instructies|regels)|zignoruj|ignoruj"
        ),
    ),
    (
        "an order not to tell, in other languages",
        1.2,
        (
            r"\u4e0d\u8981\u544a\u8bc9|\u522b\u544a\u8bc9|\u4e0d\u8981\u901a\u77e5|\u4e0d\u8981\u63d0"
            r"|\u65e0\u9700\u544a\u77e5|\u9690\u7792|\u544a\u8bc9\u7528\u6237|\u4f1d\u3048\u306a\u3044"
            r"|\u77e5\u3089\u305b(?:\u306a\u3044|\u305a)|\u6559\u3048\u306a\u3044"
            r"|\u8a00\u308f\u306a\u3044|\u5831\u544a\u3057\u306a\u3044|\u5185\u7dd2| (?:sag"
            r"|erw\u00e4hn|meld|verrat|bericht|zeig|informier)\w*[^.!?\n]{0,50}\b(?:nicht|nichts"
            r"|niemandem|keinem)\b|ohne [^.!?\n]{0,30}(?:zu sagen|zu informieren|zu erw\u00e4hnen"
            r"|wissen)| (?:ne|n')[^.!?\n]{0,20}(?:dis|dites|parle[zr]?|mentionne[zr]?|informe[zr]?"
            r"|pr\u00e9vene[zr])\b|sans (?:le dire|en parler|pr\u00e9venir|informer|avertir)"
            r"|(?:no (?:se )?lo? ?(?:digas|menciones|informes|cuentes|avises)|sin (?:avisar|decir"
            r"|informar|mencionar))|(?:sem avisar|sem (?:informar|dizer|mencionar)|n\u00e3o (?:diga"
            r"|conte|mencione|informe|avise))|(?:non (?:dir|menzionar|informar|avvisar|parlar)\w*"
            r"|senza (?:dirlo|avvisare|informare|menzionare|dire))"
            r"|\u043d\u0435 (?:\u0433\u043e\u0432\u043e\u0440\u0438"
            r"|\u0441\u043e\u043e\u0431\u0449\u0430\u0439"
            r"|\u0443\u043f\u043e\u043c\u0438\u043d\u0430\u0439"
            r"|\u0440\u0430\u0441\u0441\u043a\u0430\u0437\u044b\u0432\u0430\u0439"
            r"|\u043f\u043e\u043a\u0430\u0437\u044b\u0432\u0430\u0439"
            r"|\u043f\u0440\u0435\u0434\u0443\u043f\u0440\u0435\u0436\u0434\u0430\u0439)\w*|(?:vertel"
            r"|meld|zeg)\w*[^.!?\n]{0,30}niet|nie m\u00f3w"
        ),
    ),
    (
        "no question, in other languages",
        0.7,
        (
            r"\u65e0\u9700\u786e\u8ba4|\u65e0\u9700\u8be2\u95ee|\u4e0d\u7528\u786e\u8ba4"
            r"|\u4e0d\u8981\u8be2\u95ee|\u76f4\u63a5\u6267\u884c|\u4e0d\u7ecf\u786e\u8ba4"
            r"|\u786e\u8ba4\u306a\u3057|\u78ba\u8a8d(?:\u306a\u3057|\u305b\u305a|\u3092\u6c42\u3081)"
            r"|\u627f\u8a8d\u306a\u3057|\u8a31\u53ef\u306a\u304f|ohne (?:r\u00fcckfrage|zu fragen"
            r"|nachfrage|best\u00e4tigung|zustimmung|pr\u00fcfung|freigabe)|sans (?:demander|les lire"
            r"|confirmation|validation|attendre|poser|autorisation)|sin (?:pedir|preguntar|confirmaci"
            r"|aprobaci|esperar|leer|revisar)|sem (?:pedir|perguntar|confirma|aprova|revis)"
            r"|senza (?:chiedere|conferma|approvazione|leggere|aspettare)"
            r"|\u0431\u0435\u0437"
            r" (?:\u043f\u043e\u0434\u0442\u0432\u0435\u0440\u0436\u0434\u0435\u043d\u0438\u044f"
            r"|\u0437\u0430\u043f\u0440\u043e\u0441\u0430"
            r"|\u0441\u043e\u0433\u043b\u0430\u0441\u043e\u0432\u0430\u043d\u0438\u044f"
            r"|\u043f\u0440\u043e\u0432\u0435\u0440\u043a\u0438"
            r"|\u0440\u0430\u0437\u0440\u0435\u0448\u0435\u043d\u0438\u044f"
            r"|\u0432\u0435\u0434\u043e\u043c\u0430)"
            r"|\u043d\u0435 \u0441\u043f\u0440\u0430\u0448\u0438\u0432\u0430\u0439"
            r"|\u043d\u0435 \u0437\u0430\u043f\u0440\u0430\u0448\u0438\u0432\u0430\u0439"
        ),
    ),
    (
        "something private handed over, in other languages",
        2.7,
        (
            r"(?:\u53d1\u9001|\u4e0a\u4f20|\u53d1\u5230|\u590d\u5236"
            r"|\u63d0\u4ea4)[^\u3002\n]{0,40}(?:\.env|\u5bc6\u94a5|\u5bc6\u7801|\u4ee4\u724c"
            r"|\u51ed\u636e|\u73af\u5883\u53d8\u91cf|\u6587\u4ef6|\u5185\u5bb9|http)|(?:\.env"
            r"|\u5bc6\u94a5|\u5bc6\u7801|\u51ed\u636e|\u6587\u4ef6)[^\u3002\n]{0,20}(?:\u53d1\u9001"
            r"|\u4e0a\u4f20|\u53d1\u5230)|(?:\u9001\u4fe1|\u30a2\u30c3\u30d7\u30ed\u30fc\u30c9"
            r"|\u8ee2\u9001|\u8cbc\u308a\u4ed8\u3051)|(?:schick|sende|\u00fcbermitt|leite|lade|kopier"
            r"|f\u00fcge)\w*[^.!?\n]{0,60}(?:\.env|schl\u00fcssel|passw|zugangsdaten|token|inhalt|http"
            r"|@)|(?:envoie|envoyez|transmet|t\u00e9l\u00e9verse|copie)\w*[^.!?\n]{0,60}(?:\.env"
            r"|cl\u00e9s?|mots? de passe|jeton|identifiants|contenu|http|@|adresse)|(?:muestra"
            r"|env[i\u00ed]a|manda|sube|copia|publica)\w*[^.!?\n]{0,60}(?:\.env|claves?"
            r"|contrase\u00f1as?|tokens?|credenciales|contenido|http|@)|(?:envie|mande|copie|publique"
            r"|mostre)\w*[^.!?\n]{0,60}(?:\.env|chaves?|senhas?|tokens?|credenciais|conte\u00fado|http"
            r"|@)|(?:invia|manda|carica|copia|mostra)\w*[^.!?\n]{0,60}(?:\.env|chiav|password|token"
            r"|credenziali|contenut|http|@)|(?:\u043e\u0442\u043f\u0440\u0430\u0432"
            r"|\u043f\u0435\u0440\u0435\u0448\u043b\u0438|\u0437\u0430\u0433\u0440\u0443\u0437\u0438"
            r"|\u0441\u043a\u043e\u043f\u0438\u0440\u0443\u0439|\u043f\u043e\u043a\u0430\u0436\u0438"
            r"|\u0432\u044b\u043b\u043e\u0436\u0438)\w*[^.!?\n]{0,60}(?:\.env|\u043a\u043b\u044e\u0447"
            r"|\u043f\u0430\u0440\u043e\u043b|\u0442\u043e\u043a\u0435\u043d"
            r"|\u0443\u0447\u0451\u0442\u043d|\u0441\u043e\u0434\u0435\u0440\u0436\u0438\u043c"
            r"|\u0430\u0434\u0440\u0435\u0441|http)"
        ),
    ),
    (
        "checks turned off, in other languages",
        0.8,
        (
            r"(?:\u5173\u95ed|\u7981\u7528|\u8df3\u8fc7|\u7ed5\u8fc7|\u505c\u7528"
            r"|\u53d6\u6d88)[^\u3002\n]{0,20}(?:\u68c0\u67e5|\u6d4b\u8bd5|\u5ba1\u67e5|\u5ba1\u6838"
            r"|\u9a8c\u8bc1|\u65e5\u5fd7|\u94a9\u5b50|\u5b89\u5168|\u4fdd\u62a4)|(?:\u30c6\u30b9\u30c8"
            r"|\u691c\u8a3c|\u30ec\u30d3\u30e5\u30fc|\u30c1\u30a7\u30c3\u30af|\u30ed\u30b0"
            r"|\u76e3\u67fb)[^\u3002\n]{0,20}(?:\u7121\u52b9|\u30b9\u30ad\u30c3\u30d7|\u7701\u7565"
            r"|\u98db\u3070|\u6b62\u3081)|(?:pr\u00fcfung|test|kontroll|freigabe|protokoll"
            r"|\u00fcberwachung|hooks?)\w*[^.!?\n]{0,40}(?:\u00fcberspring|abschalt|deaktivier|auslass"
            r"|umgeh|ausschalt|weglass)|(?:\u00fcberspring|deaktivier"
            r"|schalte)\w*[^.!?\n]{0,40}(?:pr\u00fcfung|test|kontroll|protokoll|\u00fcberwachung"
            r"|hooks?)|d\u00e9sactive[zr]?[^.!?\n]{0,40}(?:tests?|contr\u00f4le|v\u00e9rification"
            r"|journal|s\u00e9curit\u00e9|hooks?)|(?:saute|ignore"
            r"|contourne)[zr]?[^.!?\n]{0,30}(?:les tests|les contr\u00f4les|les v\u00e9rifications"
            r"|la revue)|(?:desactiva|omite|salta|deshabilita)\w*[^.!?\n]{0,40}(?:prueba|test|control"
            r"|verificaci|revisi|registro|hook|segur)|(?:desativ|pul[ea]"
            r"|ignor)\w*[^.!?\n]{0,40}(?:teste|verifica|revis|registro|hook|segur)|push direto"
            r"|(?:disattiv|salta|disabilit)\w*[^.!?\n]{0,40}(?:test|controll|verific|revision|registr"
            r"|hook|sicurez)|(?:\u043e\u0442\u043a\u043b\u044e\u0447\u0438"
            r"|\u043f\u0440\u043e\u043f\u0443\u0441\u0442\u0438"
            r"|\u0432\u044b\u043a\u043b\u044e\u0447\u0438"
            r"|\u043e\u0431\u043e\u0439\u0434\u0438)\w*[^.!?\n]{0,40}(?:\u0442\u0435\u0441\u0442"
            r"|\u043f\u0440\u043e\u0432\u0435\u0440|\u0436\u0443\u0440\u043d\u0430\u043b"
            r"|\u043b\u043e\u0433\u0438\u0440\u043e\u0432|\u0440\u0435\u0432\u044c\u044e"
            r"|\u0445\u0443\u043a|\u0437\u0430\u0449\u0438\u0442)"
        ),
    ),
    (
        "an agent addressed, in other languages",
        1.3,
        (
            r"(?:\u4eba\u5de5\u667a\u80fd|\u667a\u80fd\u4f53|\u52a9\u624b|\u4ee3\u7406"
            r"|\u5927\u6a21\u578b|\u8bed\u8a00\u6a21\u578b|AI\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8"
            r"|\u30a2\u30b7\u30b9\u30bf\u30f3\u30c8|\u30a8\u30fc\u30b8\u30a7\u30f3\u30c8|ki\b"
            r"|der assistent|den assistenten|l'assistant|les agents|el asistente|los agentes"
            r"|o assistente|os agentes|l'assistente|gli agenti"
            r"|\u0430\u0441\u0441\u0438\u0441\u0442\u0435\u043d\u0442|\u0430\u0433\u0435\u043d\u0442"
            r"|\u043f\u043e\u043c\u043e\u0449\u043d\u0438\u043a"
            r"|\u043d\u0435\u0439\u0440\u043e\u0441\u0435\u0442"
            r"|\u044f\u0437\u044b\u043a\u043e\u0432\u0430\u044f \u043c\u043e\u0434\u0435\u043b\u044c)"
            r"| (?:du bist (?:jetzt|ab sofort)|ab (?:jetzt|sofort)|von nun an"
            r"|\u00e0 partir de maintenant|d\u00e9sormais|a partir de ahora|desde ahora"
            r"|a partir de agora|d'ora in poi|da questo momento|da ora"
            r"|\u0441 \u044d\u0442\u043e\u0433\u043e \u043c\u043e\u043c\u0435\u043d\u0442\u0430"
            r"|\u043e\u0442\u043d\u044b\u043d\u0435|\u0442\u0435\u043f\u0435\u0440\u044c \u0442\u044b"
            r"|\u4ece\u73b0\u5728(?:\u8d77|\u5f00\u59cb)|\u4eca\u540e|\u4eca\u304b\u3089"
            r"|\u3053\u308c\u304b\u3089)"
        ),
    ),
    (
        "the user, in other languages",
        3.3,
        (
            r"\u7528\u6237|\u4f7f\u7528\u8005|\u30e6\u30fc\u30b6\u30fc|benutzer|nutzer|anwender"
            r"|l'utilisateur|al? usuario|el usuario|ao usu\u00e1rio|o usu\u00e1rio|all'utente|l'utente"
            r"|\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b|administrateur"
            r"|administrador|amministratore"
        ),
    ),
    (
        "an approval, in other languages",
        0.3,
        (
            r"(?:\u5408\u5e76|\u6279\u51c6|\u63a8\u9001|\u63d0\u4ea4)[^\u3002\n]{0,15}(?:\u5230\u4e3b"
            r"|main|master|\u8bf7\u6c42|\u6240\u6709|\u5168\u90e8)|(?:auf|nach|in) main (?:pushen"
            r"|mergen)|genehmig\w+|approuv\w+|aprueba\w*|aprov[ae]\w*|approva\w*"
            r"|\u043e\u0434\u043e\u0431\u0440\w+|\u627f\u8a8d\u3057"
        ),
    ),
)
"""What is said, its weight and its pattern, on lower-case text with a space before every word."""
