"""English words that say what a question is about: what was said, the past, what lies ahead."""

from __future__ import annotations

# A question with one of these speaks of what was said; without one, of an event.
_TALK = (
    *("said", "say", "says", "saying", "tell", "told", "telling", "talk(?:s|ed|ing)?"),
    *(r"discuss\w*", r"mention\w*", r"chat\w*", "speak(?:ing)?", "spoken?", "according to"),
    *("conversations?", "convos?", "sessions?", "messages?", "dialog(?:ue)?s?", "exchanged?"),
    *("ask(?:s|ed|ing)?", "shar(?:e|ed|es|ing)", r"recommend\w*", r"suggest\w*", r"advi[sc]\w*"),
    *(r"explain\w*", r"describ\w*", r"propos\w*", r"promis\w*", r"report\w*", r"express\w*"),
    *(
        "brought up",
        "br(?:ing|ings|inging) up",
        "came up",
        "comes? up",
        r"answer\w*",
        r"repl[iy]\w*",
    ),
    *(r"respon[ds]\w*", "note[ds]?", r"decid\w*", r"agree\w*", "settled?", "gi?ave me", "wrote"),
)
TALK = rf"\b(?:{'|'.join(_TALK)})\b"

# Verbs and nouns of the past: with one of these a weekday is a past one.
_SOMEBODY = r"(?:i|we|you|he|she|they|it|[A-Z]\w+)"
_PAST = (
    *("did", "was", "were", "had", "said", "told", "came", "went", "made", "wrote", "got", "been"),
    rf"ha(?:ve|s|'ve) {_SOMEBODY}",
    r"(?:i|we|you|they)(?: have|'ve)(?! to\b)",
    r"(?!need|schedul|suppos|planned|book)\w{2,}ed",
    *("ago", "conversations?", "sessions?", "chats?", "notes", "messages?"),
)
PAST = rf"\b(?:{'|'.join(_PAST)})\b"

_PLANNED = "planned|scheduled|supposed|booked|due|happening"
_AHEAD = (
    *("will", "won't", "shall", "should", "going to", "gonna", "must", "let's", "upcoming"),
    *("tomorrow", "tonight", "in the future", "later this", "remind me"),
    "plan(?:ning|s)? (?:to|for|on)",
    rf"(?:is|are|am) .{{0,40}}(?:{_PLANNED})",
    r"(?:set|book|schedule|create|make|cancel|move) (?:me )?(?:an?|the|my) \w+",
    "do (?:i|we) (?:have|need)",
    r"(?:am|are) (?:i|we|you) (?:\w+ing|free|available|busy|seeing|on)",
    *("can (?:i|we|you)", "could (?:i|we)", "may (?:i|we)", "want(?:s|ed)? (?:for|to)"),
    r"next (?:week|month|year|time|weekend|spring|summer|fall|autumn|winter|\w+day)",
    r"what(?:'s| is| are) (?:\w+ ){0,3}(?:for|on|in|at)",
)
AHEAD = rf"\b(?:{'|'.join(_AHEAD)})\b|(?:'ll|'s on)\b"
