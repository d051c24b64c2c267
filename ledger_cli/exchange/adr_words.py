"""The words of decision records, in the languages that they are written in: what a status, a relation, a heading says.

Lists and not a parser: a word that is not here is reported, and never guessed at.
"""

from __future__ import annotations

import re
from typing import Literal

Class = Literal["decided", "open", "rejected", "ended", "superseded", "partly superseded"]
"""What a status comes to. `open` is what nobody has decided yet."""

_STATUS: dict[Class, str] = {
    "decided": "accepted|approved|adopted|implemented|done|decided|agreed|active|in effect|in force|final|"
    "finalized|valid|akzeptiert|angenommen|beschlossen|genehmigt|umgesetzt|entschieden|gültig|accepté|acceptée|approuvé|approuvée|"
    "adopté|adoptée|validé|validée|décidé|aceptado|aceptada|aprobado|aprobada|adoptado|aceito|aceita|aprovado|aprovada|"
    "accettato|accettata|approvato|approvata|geaccepteerd|goedgekeurd|aanvaard|accepterad|godkänd|hyväksytty|vedtatt|"
    "zaakceptowane|zaakceptowana|przyjęte|przyjęta|принято|принят|принята|утверждено|одобрено|прийнято|"
    "已接受|接受|已采纳|采纳|已批准|已通过|通过|已採納|承認済み|承認済|承認|採用|승인됨|승인|채택됨|채택",
    "open": "proposed|proposal|draft|drafted|pending|in review|under review|review|in discussion|under discussion|"
    "discussion|rfc|request for comments|wip|work in progress|in progress|tbd|on hold|stalled|idea|open|"
    "deferred|postponed|vorgeschlagen|vorschlag|entwurf|in bearbeitung|in diskussion|offen|"
    "zurückgestellt|ausstehend|proposé|proposée|"
    "brouillon|en cours|en discussion|propuesto|propuesta|borrador|pendiente|proposto|proposta|rascunho|pendente|bozza|"
    "voorgesteld|concept|föreslagen|ehdotettu|foreslått|proponowane|proponowana|szkic|предложено|черновик|предложен|"
    "на рассмотрении|提议|已提议|提案|草案|草稿|待定|検討中|提案中|提案済み|보류|제안됨|제안|초안",
    "rejected": "rejected|declined|denied|refused|dismissed|withdrawn|abandoned|cancelled|canceled|not accepted|"
    "abgelehnt|verworfen|zurückgezogen|rejeté|rejetée|refusé|refusée|abandonné|abandonnée|rechazado|rechazada|rejeitado|"
    "rejeitada|respinto|respinta|rifiutato|rifiutata|afgewezen|verworpen|avvisad|hylätty|avvist|odrzucone|odrzucona|"
    "отклонено|отклонён|отвергнуто|відхилено|已拒绝|拒绝|已否决|否决|却下|拒否|거부됨|거부|기각",
    "ended": "deprecated|obsolete|retired|expired|sunset|no longer relevant|no longer valid|"
    "veraltet|überholt|obsolet|abgekündigt|aufgehoben|déprécié|dépréciée|obsolète|périmé|obsoleto|obsoleta|deprecado|"
    "descontinuado|deprecato|verouderd|vervallen|föråldrad|vanhentunut|utdatert|przestarzałe|przestarzała|устарело|"
    "устарел|застаріло|已弃用|弃用|已废弃|废弃|已过时|非推奨|廃止|廃止済み|폐기됨|폐기|사용 중단",
    "superseded": "superseded|superceded|replaced|obsoleted|ersetzt|abgelöst|remplacé|remplacée|reemplazado|"
    "reemplazada|sustituido|sustituida|substituído|substituída|sostituito|sostituita|vervangen|ersatt|korvattu|erstattet|zastąpione|"
    "zastąpiona|заменено|заменён|заменен|замінено|已取代|已被取代|被取代|已替代|被替代|置換済み|置き換え済み|대체됨",
}
_PARTLY = (
    "partly|partially|in part|parts of|part of|some aspects|some of|teilweise|partiellement|en partie|parcialmente|"
    "parzialmente|in parte|gedeeltelijk|deels|delvis|częściowo|частично|частково|部分|一部|일부"
)
_BY = (
    "(?:superseded|superceded|replaced|obsoleted)(?=.{0,40}?\\bby\\b)|ersetzt durch|abgelöst durch|abgelöst von|"
    "remplacée? par|reemplazad[oa] por|sustituid[oa] por|substituíd[oa] por|sostituit[oa] da|vervangen door|ersatt av|"
    "erstattet av|korvattu|zastąpion[ae] przez|заменено на|заменён на|заменен на|замінено на|已?被(?=.*(?:取代|替代))|"
    "取代者|に(?:よって)?置き換え|로 대체"
)
_OF = (
    "supersedes|supercedes|superseding|replaces|obsoletes|ersetzt|löst(?=.* ab)|remplace|annule et remplace|reemplaza|"
    "sustituye|substitui|sostituisce|vervangt|ersätter|erstatter|korvaa|zastępuje|заменяет|замінює|取代|替代|を置き換え|대체함"
)
_AMENDS = (
    "amends|amended by|amended|updates|updated by|modifies|modified by|extends|extended by|clarifies|clarified by|"
    "refines|refined by|ergänzt durch|ergänzt|modifie|modifié par|complète|actualiza|modifica|aktualisiert"
)


_LETTER = "[a-zß-ÿœąćęłńśźżа-яёії]"  # of scripts with spaces between words


_HEDGED = (
    "(?:will|shall|to|may|might|should|could|would|is going to|not|never|no longer|nicht mehr|soll|wird|werden|nicht|"
    "sera|será|sarà|must)(?= (?:be |not |yet |soon |later |noch )*(?:superseded|superceded|replaced|obsoleted|"
    "deprecated|retired|removed|ersetzt|abgelöst|remplacée?|reemplazad[oa]|sustituid[oa]|substituíd[oa]|sostituit[oa]))"
)
"""What is planned, wished or denied of a supersession or an end has not happened."""


def _words(alternatives: str) -> re.Pattern[str]:
    listed = alternatives if "(" in alternatives else "|".join(sorted(alternatives.split("|"), key=len, reverse=True))
    return re.compile(rf"(?<!{_LETTER})(?:{listed})(?!{_LETTER})", re.IGNORECASE)


STATUS: dict[Class, re.Pattern[str]] = {name: _words(words) for name, words in _STATUS.items()}
PARTLY, BY, OF, AMENDS, HEDGED = (_words(words) for words in (_PARTLY, _BY, _OF, _AMENDS, _HEDGED))
_QUALIFIED = _words(
    "not|no|never|nor|until|till|pending|if|unless|once|but|except|against|subject to|conditional|conditionally|"
    "provisional|provisionally|tentative|tentatively|in principle|draft|review|reviewed|revoked|revisited|effective|"
    "reconsidered|reverted|nicht|kein|keine|bis|aber|unter vorbehalt|vorläufig|widerrufen|non|pas|jusque|mais|"
    "sous réserve|provisoire|provisoirement|hasta|pero|fino|ma|não|até|mas|niet|tot|maar"
)
_QUALIFIED_SIGNS = re.compile(r"[?？]|->|→|ない|なし|待|見送|予定|中[）)]?\Z|未|否|않|대기|안 |미정")
"""Signs, and what stands behind a word without a space between, in Chinese, Japanese and Korean."""


def taken_back(said: str) -> bool:
    """Does a status that begins as decided go on to say something else: a condition, a denial, another status?"""
    rest = STATUS["decided"].sub("", said.strip(" \t*_:.-–—✅✔🟢"), count=1)
    others = any(words.search(rest) for name, words in STATUS.items() if name != "decided")
    return bool(others or _QUALIFIED.search(rest) or _QUALIFIED_SIGNS.search(rest))


def status_of(text: str) -> Class | None:
    """What a status says, by the word that it begins with; None for one that is not known."""
    text = text.strip(" \t*_:.-–—✅❌✔✘🟢🔴🟡⛔")
    if partly := PARTLY.match(text):
        rest = status_of(text[partly.end() :])
        return "partly superseded" if rest in ("superseded", "ended") else None
    found = [(len(m[0]), name) for name, words in STATUS.items() if (m := words.match(text))]
    if not found:
        return None
    name = max(found)[1]
    return "partly superseded" if name == "superseded" and PARTLY.search(text) else name


KEYS = {
    "status": "status state statut estado stato staat stav tila 状態 状态 狀態 ステータス статус 상태",
    "date": "date datum fecha data dato päivämäärä 日期 日付 дата 날짜 since decided decided-on decision-date "
    "date-decided accepted-on adopted-on",
}
_KEY_OF = {word: key for key, words in KEYS.items() for word in words.split()}


_NUMBER = re.compile(r"\A\s*\d+[.)]?\s+")
_ASIDE = re.compile(r"\s+\([^()]*\)\s*\Z")
_FILLING = frozenset(("current", "decision", "adr", "of", "this", "the", "record", "document", "aktueller"))
_PROMINENT = re.compile(r"\s*(?:#|\*\*|__|<h\d|<b>|<strong>)", re.IGNORECASE)
_ALONE = re.compile(r"[ \t]*[*_]*[^\W\d_][\w ]*[*_.]*[ \t]*")


def key_of(text: str) -> str | None:
    """`status`, `date`, or None for a name of metadata that is neither."""
    words = _NUMBER.sub("", _ASIDE.sub("", text.strip(" \t*_:"))).casefold().split()
    if (known := _KEY_OF.get("-".join(words))) is None:
        known = _KEY_OF.get("-".join(word for word in words if word not in _FILLING))
    return known


def speaks_of_status(text: str) -> str | None:
    """The first line of a text that may say a status where none is looked for: a heading, a line in bold, a tag."""
    for line in text.split("\n"):
        if _PROMINENT.match(line) and any(
            word in KEYS["status"].split() for word in re.findall(r"\w+", line.casefold())
        ):
            return line.strip()
        if _ALONE.fullmatch(line) and status_of(line) is not None and len(line.split()) <= 2:
            return line.strip()
    return None


_CONTEXT = (
    "context|problem|problem statement|background|issue|motivation|why|what|summary|kontext|problemstellung|"
    "ausgangslage|contexte|contexto|contesto|achtergrond|kontekst|контекст|背景|上下文|コンテキスト|문맥|배경|컨텍스트"
)
_DECISION = (
    "decision|decisions|decision outcome|outcome|resolution|entscheidung|entscheidungsergebnis|décision|"
    "decisión|decisão|decisione|besluit|beslissing|beslut|päätös|decyzja|решение|рішення|决定|决策|決定|결정"
)


def _headings(alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\d+[.)]?\s+)?[^\w]*(?:{alternatives})(?!\w)(?P<rest>.*)", re.IGNORECASE)


_HEADING_CONTEXT, _HEADING_DECISION = _headings(_CONTEXT), _headings(_DECISION)
_OTHER = re.compile(r"\s*(?:drivers?|makers?|criteria|process|records?|history|log)\b", re.IGNORECASE)


def heading_of(title: str) -> Literal["context", "decision"] | None:
    """What a section is by its heading; None for one that is neither the context nor the decision."""
    if (found := _HEADING_DECISION.fullmatch(title)) and not _OTHER.match(found["rest"]):
        return "decision"
    return "context" if _HEADING_CONTEXT.fullmatch(title) else None


NOTHING = re.compile(
    r"(?:n/?a|none|nothing|no|null|-+|–|—|tbd|keine?|aucune?|ninguno|nessuno|nenhum|无|無|なし|없음)?\.?", re.I
)
"""What stands in a table for nothing."""
