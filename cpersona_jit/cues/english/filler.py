"""English words that ask for nothing in particular: what is left of "what did we discuss then?"."""

from __future__ import annotations

_WORDS = (
    # Who asks, and how.
    *("i", "we", "us", "me", "you", "they", "he", "she", "it", "my", "our", "your", "ours"),
    *("what", "what's", "which", "who", "whom", "when", "where", "how", "whatever"),
    *("do", "does", "did", "done", "doing", "is", "are", "was", "were", "been", "be", "being"),
    *("have", "has", "had", "having", "can", "could", "would", "will", "please", "just", "so"),
    *("i've", "we've", "i'd", "we'd", "i'm", "we're", "you've", "that's", "let's", "hey", "hi"),
    *("about", "of", "on", "in", "at", "to", "from", "for", "with", "over", "during", "through"),
    *("the", "a", "an", "and", "or", "this", "that", "these", "those", "there", "then", "back"),
    *("all", "any", "some", "up", "again", "exactly", "together", "ever", "else", "much"),
    # Talk as such.
    *(r"discuss(?:ed|ing|es)?", r"talk(?:s|ed|ing)?", r"chat(?:s|ted|ting)?", "conversed?"),
    *(r"sp(?:eak|oke|oken|eaking)", "say", "says", "said", "saying", "tell", "told", "telling"),
    *(r"mention(?:ed|ing)?", r"cover(?:ed)?", "go over", "went over", "touch(?:ed)? on"),
    *("bring up", "brought up", "come up", "came up", "going on", r"happen(?:ed|ing)?"),
    *("conversations?", "convos?", "sessions?", "discussions?", "dialog(?:ue)?s?", "messages?"),
    *("exchanges?", "history", "entr(?:y|ies)", "notes?", "logs?"),
    *("topics?", "subjects?", "things?", "stuff", "points?", "contents?", "details?", "matters?"),
    *("anything", "something", "everything", "nothing"),
    # What to do with it.
    *("remember", "recall", "remind", "know", "show", "list", "give", "get", "find", "look"),
    *(r"summari[sz]e", "summary", "recap", "overview"),
)
FILLER = rf"(?<![\w'])(?:{'|'.join(_WORDS)})(?![\w'])"
