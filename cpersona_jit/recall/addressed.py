"""Whose words a question asks for: the asker's own, or those of the assistant it is put to.

In a store of dialogues "my hamster" was mentioned by the user, and "the shop you told me about" by
the assistant. A question is read by its pronouns and verbs, in English and Japanese.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Role = Literal["user", "assistant"]

# What the two sides of a dialogue call themselves, as a source's type or name, in lower case.
ROLE_NAMES: dict[Role, frozenset[str]] = {
    "user": frozenset({"user", "human", "ユーザー", "ユーザ", "利用者"}),
    "assistant": frozenset({"assistant", "ai", "bot", "model", "アシスタント"}),
}

# What an assistant did in the past; a request ("can you recommend ...") is about the asker.
_SAID = (
    r"(?:said|mentioned|told|gave|recommended|suggested|provided|listed|explained|described|"
    r"advised|wrote|proposed|shared|showed|came up with)"
)
_TO_ASSISTANT = (
    r"\bremind me\b",
    rf"\byou(?:'ve| have| had)? (?:just |also |once |previously )?{_SAID}\b",
    r"\bdid you (?:say|mention|tell|give|recommend|suggest|provide|list|explain|describe|advise|"
    r"write|propose|share|show)\b",
    r"\byour (?:previous|last|earlier) (?:suggestions?|recommendations?|advice|answer|list|tips)\b",
    r"\bour (?:previous|last|earlier|past) (?:chats?|conversations?|discussions?|talks?)\b",
    r"\bwe (?:talked|spoke|chatted|discussed)\b",
    r"思い出させて",
    r"(?:教え|勧め|薦め|すすめ|提案し|紹介し|説明し|挙げ|言っ)て(?:くれ|もらっ|いただい|くださ)(?:た|て|まし|っ)",
    r"(?:君|きみ|あなた|アシスタント)(?:が|は|の)[^、。?]{0,20}(?:言っ|勧め|薦め|すすめ|提案|紹介|説明|教え)",
    r"(?:前回|以前|この前|前)の(?:会話|チャット|話)",
)
_FROM_ASKER = (
    r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself)\b",
    r"(?:私|わたし|わたくし|僕|ぼく|俺|おれ|自分|うち)(?:が|は|の|に|を|も|と|、|たち)",
)
# Stronger than both: what the asker said, wherever it was said.
_ASKER_SAID = (
    r"\bi (?:say|said|tell you|told you|mention|mentioned)\b",
    r"(?:私|わたし|僕|ぼく|俺|おれ)(?:が|は)[^、。?]{0,20}(?:言っ|話し|伝え)",
)
_SAID_BY_ASKER = re.compile("|".join(_ASKER_SAID))
_ASSISTANT = re.compile("|".join(_TO_ASSISTANT))
_ASKER = re.compile("|".join(_FROM_ASKER))
# Every English pattern holds one of these.
_ENGLISH_CLUE = re.compile(r"\b(?:i|my|me|mine|myself|you|your|our|we|remind)\b")


def role_addressed(question: str) -> Role | None:
    """Return whose words a question asks for, or None when it does not say.

    Parameters
    ----------
    question : str
        The question as it was asked.

    Returns
    -------
    {"user", "assistant"} or None
        ``assistant`` for a question about what the assistant said before, else ``user`` for one in
        the first person.
    """
    text = unicodedata.normalize("NFKC", question).lower().replace("’", "'")
    if text.isascii() and not _ENGLISH_CLUE.search(text):
        return None
    if _SAID_BY_ASKER.search(text):
        return "user"
    if _ASSISTANT.search(text):
        return "assistant"
    return "user" if _ASKER.search(text) else None
