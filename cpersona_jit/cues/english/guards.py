"""English words that make a time no cue."""

from __future__ import annotations

from cpersona_jit.cues.english.words import AHEAD, PAST
from cpersona_jit.cues.guard import Guard

GUARDS = (
    Guard(
        "en.recurring_before",
        "before",
        r"\b(?:every|each|any|next|upcoming|coming|following|until|till|'til|by|due|expires?"
        r"|through|no later than|not until|alternate|other|weekly|all|many) (?:the )?",
        (
            "Which class do I take every last Friday of March?",
            "What must be done by the end of last March's plan?",
            "What did I plan for each first Monday of March?",
        ),
        ("What did I say last Friday?", "What did we agree on the first Monday of March?"),
    ),
    Guard(
        "en.next_behind",
        "after",
        r"(?:,? (?:of |in )?next (?:week|month|year)|s\b(?<=[a-z]s)(?! ago)| from now| (?:is"
        r"|are) next"
        r"| in advance)",
        (
            "What did I plan in May next year?",
            "Did I book it on Tuesday next week?",
            "What did we plan in March of next year?",
        ),
        ("What did I plan in May last year?", "Did I book it on Tuesday of last week?"),
    ),
    Guard(
        "en.asks_when",
        "around",
        r"\b(?:what|which) (?:day|date|weekday|year|month|time)(?: of the week)?(?: (?:is|was|will"
        r"|are"
        r"|were|did|does)|'s)(?: it| that)?(?: on)?(?: the)? ⟨|\bwhat(?:'s| is| was) the (?:date"
        r"|day|time"
        r"|weekday)(?: (?:of|on|was|is))?(?: the)? ⟨|\bwhen(?: (?:is|was|are|were|does|did|will)"
        r"|'s)"
        r"(?: the)? ⟨",
        (
            "What date was last Friday?",
            "What day of the week was March 3, 2023?",
            "What is the date today, did you say?",
            "When was last Easter?",
        ),
        ("What day did we meet last month?", "When did I say on March 3, 2023 that we would meet?"),
    ),
    Guard(
        "en.asks_how_long",
        "anywhere",
        r"\bhow (?:many (?:more )?(?:days|weeks|months|years|hours|nights|weekends)|much time|long"
        r"|far)\b.*(?:\b(?:since|between|until|till|passed|elapsed|gone by)\b"
        r"|\bfrom\b.*\b(?:to|until|till)\b|\bago\b(?=.*\b(?:is|was|did|were)\b)(?<=years ago"
        r"|onths ago|weeks ago| days ago))|\bhow long (?:ago|is|has it been)\b",
        (
            "How many days have passed since January 5?",
            "How long has it been since last Christmas?",
            "How many weeks are there between March 3 and April 9?",
            "How long ago was last Easter?",
        ),
        ("How many eggs did I buy on January 5?", "How much did I spend last week?"),
    ),
    Guard(
        "en.age",
        "anywhere",
        r"\bhow old\b|\byears? old\b.*\bin (?:19|20)\d\d\b",
        ("How old was I in 2015?", "How old did Ben turn last March?", "How old was she on May 3?"),
        ("What did I do in 2015?", "Which old car did I sell last March?"),
    ),
    Guard(
        "en.habit",
        "anywhere",
        r"\b(?:usually|always|normally|typically|often|generally|regularly|tends? to|every|each"
        r"|habitually|as a rule|on a regular basis|weekly|monthly|yearly|annually|daily)\b",
        (
            "What do I usually eat on Tuesday?",
            "Where do we always go in the summer?",
            "What does Ana typically do over the weekend?",
        ),
        ("What did I eat on Tuesday?", "Where did we go last summer?"),
        ahead=True,
        unless=r"\b(?:did (?!.*\b(?:every|each)\b)|said|told|mentioned|discuss\w*|talk\w*|ago)\b",
    ),
    Guard(
        "en.habit_present",
        "anywhere",
        r"\b(?:do|does) (?:i|we|you|he|she|they|my \w+|[A-Z]\w+) (?:like|love|prefer|enjoy|eat"
        r"|drink"
        r"|wear|work|go|celebrate|visit|feel|hate|do|play|watch|spend|meet|take|want|get)\b",
        (
            "What do I like to drink in the summer?",
            "Where does Ana go on Sunday?",
            "What does he wear on Halloween?",
        ),
        ("What did I drink in the summer?", "Where did Ana go on Sunday?"),
        ahead=True,
        unless=PAST,
    ),
    Guard(
        "en.ahead",
        "anywhere",
        AHEAD,
        (
            "What will I do on Friday?",
            "Am I free on Friday?",
            "What should I cook this week?",
            "Remind me on May 3 to call Ana.",
            "What's on my calendar for today?",
        ),
        (
            "What did I say I will do on Friday?",
            "What did you suggest I should cook this week?",
            "What have I planned this week, as discussed?",
        ),
        ahead=True,
        unless=PAST,
    ),
    Guard(
        "en.present",
        "anywhere",
        r"\A",
        (
            "What is the weather today?",
            "Is there a sale this week?",
            "Who plays for the team this season and this year?",
        ),
        ("What did I eat today?", "Show me this week's chats: what was said this week?"),
        ("en.today", "en.this_unit", "en.this_day", "en.this_cycle", "en.part_of_cycle"),
        ahead=True,
        unless=PAST + r"|\b(?:earlier|so far|from (?!today)|discuss\w*)\b",
    ),
    Guard(
        "en.present_weekday",
        "around",
        r"⟨(?!.*\b(?:last|ago|past|previous|before)\b.*⟩)",
        (
            "Is it open Monday to Friday?",
            "Which class is on Tuesday?",
            "Who works on Saturday or Sunday?",
        ),
        ("Was it open Monday to Friday?", "Notes from Tuesday?", "Who won last Sunday?"),
        ("en.weekday",),
        ahead=True,
        unless=PAST + r"|\b(?:from|discuss\w*)\b",
    ),
    Guard(
        "en.for_ahead",
        "before",
        r"\b(?:for|until|by|to|from) ",
        (
            "What are my goals for this year?",
            "What is the budget for this month?",
            "What is the forecast for today?",
        ),
        ("What were my goals this year?", "What did I spend this month?"),
        ("en.today", "en.this_unit", "en.this_cycle", "en.this_day"),
        ahead=True,
        unless=r"\b(?:did|said|told|mentioned|discussed|talked|were|was)\b",
    ),
    Guard(
        "en.for_named_day",
        "around",
        r"⟨for ",
        (
            "What does Anna want for Christmas?",
            "Which pie is best for Thanksgiving?",
            "What is a good gift for Valentine's Day?",
        ),
        ("What did Anna get for Christmas?", "Which pie did I bake for Thanksgiving?"),
        ("en.at",),
        ahead=True,
        unless=PAST,
    ),
    Guard(
        # A thing with a clause behind it: the last time that thing came up, whenever that was.
        "en.talked_of_last_time",
        "before",
        r"\b(?!(?:what|things?|topics?|points?|subjects?|stuff|all|else|did|have|had)\b)\w+,?"
        r" (?:that |which )?(?:we|you and i)(?:'d| had)? (?:talked|spoke|chatted|discussed)"
        r"(?: about| of)? ",
        (
            "What was the name of the shop we talked about last time?",
            "Remind me of that recipe with beans we discussed last time.",
            "Which of the two hikes that we spoke of last time is shorter?",
        ),
        (
            "What were the things we talked about last time?",
            "What have we talked about last time?",
            "What did we discuss last time?",
        ),
        ("en.last_time",),
    ),
)
