"""English words that make a time part of something else: a name, a title, a place in order."""

from __future__ import annotations

from cpersona_jit.cues.english.followers import NO_FOLLOWER
from cpersona_jit.cues.guard import Guard

NAME_GUARDS = (
    Guard(
        "en.sequel",
        "around",
        r"⟨[^⟩]*\b(?:last|final|1st|previous)\b[^⟩]*⟩ of (?:the|my|our|his|her|their|your|this"
        r"|that|an?"
        r"|its|pregnancy|school|work|class|summer|college|university|winter|life|training)\b"
        r"(?! (?:year|month|week|quarter))",
        (
            "What did I learn in the last week of the course?",
            "How did I feel in the last month of pregnancy?",
            "What happened in the last 3 days of our trip?",
        ),
        ("What did I learn in the last week of March?", "What did I learn last week?"),
        (
            *("en.past_n", "en.past_one", "en.last_unit"),
            *("en.first_sessions", "en.last_sessions", "en.session_ordinal", "en.session_newest"),
        ),
    ),
    Guard(
        "en.named_topic",
        "before",
        r"\b(?:about|of|like|love|celebrate[ds]?|hate[ds]?|the|an?|my|our|for|every|is|called|this"
        r"|next"
        r"|in|by|and|or|to|than) |(?-i:[A-Z]\w+) ",
        (
            "What did I say about New Year's Day?",
            "Did we celebrate Boxing Day?",
            "Did I watch Manic Monday?",
        ),
        ("Who did I call Boxing Day?", "What did Ana say Tuesday?"),
        ("en.named_bare", "en.weekday_bare"),
    ),
    Guard(
        "en.event_relative",
        "around",
        r"⟨(?:on |over )?the [^⟩]*⟩ (?:right |just )?(?:after|before) ",
        (
            "Who came on the Friday after the wedding?",
            "What did I say on the Monday before the exam?",
            "What did we do over the weekend before the move?",
        ),
        ("Who came on Friday after the wedding?", "What did I say on the Monday before Easter?"),
        ("en.on", "en.over_weekend"),
    ),
    Guard(
        "en.the_last",
        "around",
        r"(?<!over )(?<!during )(?<!in )\bthe ⟨last |⟨(?:on |at )?the last ",
        (
            "Was it the last Monday class?",
            "What happened on the last Friday?",
            "Who was at the last Christmas party?",
        ),
        ("Was it last Monday?", "What did I do over the last weekend?"),
        ("en.last",),
    ),
    Guard(
        "en.nth_of_something",
        "after",
        rf"{NO_FOLLOWER}| of the (?!month)| and (?:the )?\d",
        (
            "Who lives on the 14th floor?",
            "What did I say on the 5th try?",
            "What did we see on the 3rd day of the trip?",
        ),
        ("What did I say on the 5th?", "What did we see on the 3rd with Ana?"),
        ("en.nth",),
    ),
    Guard(
        "en.places_in_order",
        "around",
        r"⟨(?:from )?(?:the )?\d+(?:st|nd|rd|th)[^⟩]*\d(?:st|nd|rd|th)⟩",
        (
            "Were the first and second the same?",
            "Who was second or third?",
            "Did she go from first to third?",
        ),
        ("Who called between the first and the third?", "Who called on the first or second?"),
        ("en.nth",),
        unless=r"\b(?:(?:between|on|since) (?:the )?|from the )\d",
    ),
    Guard(
        "en.quarter_of_a_game",
        "anywhere",
        r"\b(?:scor\w*|game|match|play(?:ed|er|ers|s)?|team|touchdowns?|points?|coach|goal|moon)\b",
        (
            "Who scored in the third quarter?",
            "Did the team rest in the fourth quarter?",
            "What was the moon like in the first quarter?",
        ),
        ("What did we sell in the third quarter?", "What did I save in Q1?"),
        ("en.quarter",),
    ),
    Guard(
        "en.part_of_a_name",
        "after",
        NO_FOLLOWER,
        (
            "What did I put in spring water?",
            "What did I pay for in March Madness?",
            "What did I leave in April's kitchen?",
        ),
        ("What did I drink in spring?", "What did we eat after Christmas with Ana?"),
        ("en.in", "en.on", "en.at", "en.since", "en.before", "en.after", "en.around"),
    ),
    Guard(
        "en.capital_behind",
        "around",
        r"[a-z,] ⟨[^⟩]*⟩ (?-i:[A-Z][a-z]+)",
        (
            "Who starred in Summer Wars?",
            "Who won in March Madness?",
            "What did I read on Monday Motivation?",
        ),
        ("In March Ana won what?", "What did I read on Monday, Ana?"),
        ("en.in", "en.on", "en.at", "en.since", "en.before", "en.after", "en.around"),
    ),
    Guard(
        "en.message_of_person",
        "around",
        r"(?:message|note|email|text|letter|gift|present|card|call|tip|recipe|word) ⟨from (?:May"
        r"|April"
        r"|June|August|Jan|Summer)⟩|⟨(?:message|note) from (?:May|April|June|August|Jan|Summer)⟩",
        (
            "What was in the letter from May?",
            "What did the note from June say?",
            "What was the recipe from April about?",
        ),
        ("What was in the chats from May?", "What did the notes from June say?"),
    ),
    Guard(
        "en.month_as_person",
        "around",
        r"⟨\w+ (?:May|April|June|August|Jan)⟩(?:'s|,? (?:and|or) (?:I|her|his|she|he)\b| (?:was|is"
        r"|has"
        r"|had|left|told|said|came|went|got|moved|joined|\w+ed|\w+s)\b)",
        (
            "What did I do since May moved in?",
            "Who cooked before April left?",
            "What did we say after June joined the team?",
        ),
        ("What did I do since May?", "Who cooked before April 5?"),
        ("en.since", "en.before", "en.after", "en.around", "en.in"),
    ),
    Guard(
        "en.fall",
        "around",
        r"⟨(?:after|before|since|around|from) the (?:fall|spring)⟩",
        (
            "How did Grandma feel after the fall?",
            "What did the doctor say before the fall?",
            "Was the clock repaired before the spring?",
        ),
        ("What did I do after last fall?", "How did Grandma feel in the fall?"),
    ),
    Guard(
        "en.counted_things",
        "after",
        r" (?:words|steps|pieces|dollars|euros|pounds|people|miles|calories|points|pages|cups?"
        r"|km|meters|users|tokens|votes|characters|lines|items|bc|bce|a\.?d|olympics|edition"
        r"|version|model|election|world cup|budget|season)\b",
        (
            "Did I write it in 2000 words?",
            "Was the race won in 2019 steps?",
            "Did I do it in 1990 pieces?",
        ),
        ("What did I write in 2000?", "Who won the race in 2019?"),
        ("YEAR", "en.in"),
    ),
    Guard(
        "en.titles",
        "around",
        r"[a-z,] (?:the )?⟨(?-i:Yesterday|Today)⟩|\b(?:book|novel|film|movie|song|album|game|show"
        r"|series|play|band|poem|musical) (?:called |named |titled )?(?:the )?⟨(?:(?:in"
        r"|on) )?(?-i:[A-Z]\w+ [A-Z]|\d{4}⟩)"
        r"|[\w,] (?-i:The )?⟨(?-i:Last|This|The|One|Two|Three|Early|Late|Before|After|Past|In|On"
        r"|Over"
        r"|Since|For|At|Day|Friday|Yesterday|Today|Tomorrow) (?:\w+ )?(?-i:[A-Z])|⟨friday the 13th",
        (
            "Who sings Last Christmas?",
            "Did I like the movie The Day After Easter?",
            "Did I like Friday the 13th?",
            "Who made The Nightmare Before Christmas?",
            "Did I see the film Yesterday?",
            "What happens in the novel 1984?",
        ),
        ("Last Christmas, who sang?", "Which movie did I like last Christmas?"),
    ),
)
