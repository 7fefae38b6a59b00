"""English names for stored conversations."""

from __future__ import annotations

from cpersona_jit.cues.form import Form

IN = r"(?:(?:in|during|from|at|over|of) )?"
OUR = r"(?:(?:the|our|my|your|that|this) )?"
# A topic behind it ("our last chat about taxes") names no position.
NO_TOPIC = (
    r"(?! (?:about|on (?!(?:the )?\d|mon|tues|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|ju|aug|sep"
    r"|oct"
    r"|nov|dec)|regarding|concerning|in which|at the|at (?:work|school|university)|of (?!ours)"
    r"|(?:student|rate|room"
    r"|window|group|app|program|partner|series|musician|guitarist)s?\b|(?:that )?i (?:gave|held"
    r"|booked|attended)\b|"
    r"(?:that )?(?:i|he|she|they|my \w+) had with (?!you)|with (?:my|the|a|an|dr|mr|mrs|ms)\b))"
)
WE = r"(?:we|you and i|i)"
YOU = r"(?: together| (?:to|with) (?:you|each other))?(?! (?:to|with)\b)"
NEWEST = r"last|latest|previous|prior|preceding|most recent|newest"

SESSIONS = (
    Form(
        "en.session_ordinal",
        rf"{IN}{OUR}(?:very )?{{n:ordinal}}(?:[- ]ever)? (?:of our |(?:real|proper|actual|full"
        rf"|recorded|stored|ever) )?(?:{{talk}}|time {WE} (?:ever )?{{spoke}}{YOU})"
        rf"{NO_TOPIC}",
        "session_ordinal",
        "SESSION",
        (
            ("What did we discuss in our twenty-first session?", "session ordinal 21"),
            ("In the first session, what sport did Matt mention?", "session ordinal 1"),
            ("What was said in the 30th conversation?", "session ordinal 30"),
            ("What did I ask the third time we talked?", "session ordinal 3"),
        ),
        ("What was my first yoga session like?", "Is the third the best?"),
        "sure",
    ),
    Form(
        "en.session_initial",
        rf"{IN}{OUR}(?:initial|earliest|opening) {{talk}}{NO_TOPIC}",
        "session_ordinal",
        "SESSION",
        (
            ("What did I want in our initial conversation?", "session ordinal 1"),
            ("What was my goal in the earliest chat?", "session ordinal 1"),
            ("Which name did I give in the opening session?", "session ordinal 1"),
        ),
        ("What was the initial plan?", "What did we say in an earlier conversation?"),
        "sure",
    ),
    Form(
        "en.session_number",
        rf"{IN}(?:session|conversation|chat)(?: (?:number|no\.?|nr\.?|#)| ?#)? ?#?{{n:number}}"
        r"(?:st|nd|rd|th)?(?![\d:%]|\.\d)(?! (?:of|hours?|minutes?))",
        "session_ordinal",
        "SESSION",
        (
            ("In session 9, what did Audrey say?", "session ordinal 9"),
            ("What did I ask in conversation #4?", "session ordinal 4"),
            ("Which poem came up in session number twelve?", "session ordinal 12"),
        ),
        ("Is a session 45 minutes long?", "Do you run Chat 4.5%?"),
        "sure",
    ),
    Form(
        "en.session_range",
        r"(?:(?:in|over|during|between|from|across|of) )?(?:the )?(?:sessions?|conversations?"
        r"|chats?) "
        r"#?{n:number} ?(?:-|to|through|thru|and|until) ?(?:(?:session|conversation"
        r"|chat) )?#?{m:number}",
        "session_range",
        "SESSION",
        (
            ("What did we discuss over sessions 1 through 3?", "session range 1 3"),
            ("What changed between session 3 and 5?", "session range 3 5"),
            ("What was said from conversation 2 to conversation 4?", "session range 2 4"),
        ),
        ("Do sessions cost 10 to 20 dollars?", "Is it chat or sessions?"),
        "sure",
    ),
    Form(
        "en.session_ordinal_range",
        rf"(?:(?:in|over|during|between|from|across) )?{OUR}{{n:ordinal}}(?: {{talk}})? "
        rf"(?:to|through|thru|and|until) {OUR}{{m:ordinal}} {{talk2:talk}}",
        "session_range",
        "SESSION",
        (
            ("What did we discuss from the 3rd to the 5th session?", "session range 3 5"),
            ("What changed between the second and fourth chats?", "session range 2 4"),
            ("What came up from our first session through our third session?", "session range 1 3"),
        ),
        ("Was it the 3rd to the 5th place?", "Are the first and second the same?"),
        "sure",
    ),
    Form(
        "en.sessions_ago",
        r"(?:in |from )?(?:about )?{n} (?:(?:of our )?{talk}) (?:ago|back|earlier|before (?:this"
        r"|now))",
        "session_ago",
        "SESSION",
        (
            ("What did we discuss two sessions ago?", "session ago 2"),
            ("What did I ask three chats back?", "session ago 3"),
            ("What was the plan a conversation ago?", "session ago 1"),
        ),
        ("How many sessions ago was it?", "Are two sessions enough?"),
        "sure",
    ),
    Form(
        "en.session_newest",
        rf"{IN}(?:the|our|my|your|this|that) (?:very )?(?:{NEWEST}) {{talk}}{NO_TOPIC}(?! before)",
        "session_ago",
        "SESSION",
        (
            ("What did we cover in our last conversation?", "session ago 1"),
            ("What did I ask in the previous session?", "session ago 1"),
            ("Which bug was it in our most recent chat?", "session ago 1"),
        ),
        ("What did I say in our previous chat about taxes?", "Who gave the last lecture?"),
        "sure",
    ),
    Form(
        "en.session_last_bare",
        rf"(?:last|previous) (?:session|conversation|chat|discussion){NO_TOPIC}(?! before)",
        "session_ago",
        "SESSION",
        (
            ("What did we talk about last discussion?", "session ago 1"),
            ("Last session, what did Tara say?", "session ago 1"),
            ("Which book did I pick last chat?", "session ago 1"),
        ),
        ("How long did the chat last? A session?", "What of last chat about cats?"),
        "sure",
    ),
    Form(
        "en.session_last_time",
        rf"(?:(?:the )?last time (?:that )?{WE} (?:ever )?{{spoke}}"
        rf"|when {WE} last {{spoke2:spoke}}){YOU}{NO_TOPIC}",
        "session_ago",
        "SESSION",
        (
            ("What did I say the last time we spoke?", "session ago 1"),
            ("What was my problem when we last talked?", "session ago 1"),
            ("What did you suggest the last time I talked to you?", "session ago 1"),
        ),
        ("What did I say the last time we talked about food?", "When was the last time we ran?"),
        "sure",
    ),
    Form(
        "en.last_time",
        r"(?<!the )last time(?= ?(?:[,.?!]|$))",
        "session_ago",
        "SESSION",
        (
            ("What did you recommend last time?", "session ago 1"),
            ("Last time, which city did I choose?", "session ago 1"),
            ("Where did we stop last time?", "session ago 1"),
        ),
        ("What was the last time I ran?", "Is it the last time?"),
        "likely",
    ),
    Form(
        "en.session_before_last",
        rf"{IN}{OUR}(?:{{talk}}|time) before (?:last|the last|the previous)(?: 1| session| chat)?"
        r"{ago:two}",
        "session_ago",
        "SESSION",
        (
            ("What did we cover in the session before last?", "session ago 2"),
            ("What did I ask in the chat before the last one?", "session ago 2"),
            ("What was the topic the time before last?", "session ago 2"),
        ),
        ("Which time is before the last one?", "Who left before last?"),
        "sure",
    ),
    Form(
        "en.session_nth_last",
        rf"{IN}{OUR}(?:{{n:nth_last}})[ -](?:to|from|before)[ -](?:the[ -])?last {{talk}}",
        "session_ago",
        "SESSION",
        (
            ("What did we plan in the second to last session?", "session ago 2"),
            ("What did I ask in our third-to-last chat?", "session ago 3"),
            ("What came up in the next-to-last conversation?", "session ago 2"),
        ),
        ("Who was second to last?", "Is it next to the last house?"),
        "sure",
    ),
    Form(
        "en.session_penultimate",
        rf"{IN}{OUR}{{n:penultimate}} {{talk}}{NO_TOPIC}",
        "session_ago",
        "SESSION",
        (
            ("What did we plan in the penultimate session?", "session ago 2"),
            ("What did I ask in our penultimate chat?", "session ago 2"),
            ("What came up in the antepenultimate conversation?", "session ago 3"),
        ),
        ("Who wrote the penultimate chapter?", "What does penultimate mean?"),
        "sure",
    ),
    Form(
        "en.first_sessions",
        rf"{IN}{OUR}(?:(?:(?:very )?1st|initial|earliest|opening) {{n:number}}"
        rf"|{{n2:number}} (?:1st|earliest|oldest))"
        rf" (?:of our )?(?:{{talk}}|times {WE} {{spoke}}{YOU})",
        "first_sessions",
        "SESSION",
        (
            ("What did we cover in the first three sessions?", "session first 3"),
            ("What did I ask in our first two chats?", "session first 2"),
            ("What came up over the first 5 conversations?", "session first 5"),
        ),
        ("What are the first three steps?", "Are two sessions first?"),
        "sure",
    ),
    Form(
        "en.last_sessions",
        rf"{IN}(?:(?:the|our|my|these) )?(?:(?:last|past|latest|previous|most recent) {{n:number}}"
        rf"|{{n2:number}} (?:last|latest|previous|most recent|newest)) (?:of our )?"
        rf"(?:{{talk}}|times {WE} {{spoke}}{YOU})",
        "last_sessions",
        "SESSION",
        (
            ("What did we cover in the last three sessions?", "session last 3"),
            ("What did I ask in our past two chats?", "session last 2"),
            ("What came up over the previous 5 conversations?", "session last 5"),
            ("What did I say the last two times we spoke?", "session last 2"),
        ),
        ("What are the last three steps?", "Do two sessions last long?"),
        "sure",
    ),
    Form(
        "en.session_first_time",
        rf"(?:when {WE} 1st (?:ever )?{{spoke2:spoke}}"
        rf"|when {WE} {{spoke3:spoke}} for the 1st time){YOU}{NO_TOPIC}",
        "session_ordinal",
        "SESSION",
        (
            ("What did I say when we talked for the first time?", "session ordinal 1"),
            ("What was my job when we first spoke?", "session ordinal 1"),
            ("What did I want when I first chatted with you?", "session ordinal 1"),
        ),
        ("What did I say when we first talked about food?", "When did we first run?"),
        "sure",
    ),
)
