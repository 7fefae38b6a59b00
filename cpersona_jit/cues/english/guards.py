"""English words that make a time no cue."""

from __future__ import annotations

from cpersona_jit.cues.guard import Guard

TALK = (
    r"\b(?:sa(?:y|id|ys|ying)|t(?:ell|old|elling)|talk(?:ed|ing|s)?|discuss\w*|mention\w*|chat\w*"
    r"|sp(?:eak|oke|oken|eaking)|conversations?|convos?|sessions?|ask(?:ed|ing|s)?|shared?|sharing"
    r"|recommend\w*|suggest\w*|advi[sc]e\w*|explain\w*|describ\w*|propos\w*|brought up|br(?:ing) up"
    r"|came up|c(?:ome) up|answer\w*|repl(?:y|ied)\w*|promis\w*|messages?|dialog(?:ue)?s?|t(?:old)"
    r"|according to|respon[ds]\w*|note[ds]?|report\w*|decide\w*|agree\w*|g(?:ive|ave) me|exchanged?"
    r"|w(?:rite|rote)|settled?|express\w*|express\w*)\b"
)
PAST = (
    r"\b(?:did|was|were|had|said|told|mentioned|discussed|talked|asked|came|went|made|wrote|got"
    r"|been|(?:have|has|ha'?ve) (?:i|we|you|he|she|they|it|[A-Z]\w+)|(?:i|we|you|they)(?: have|'ve)"
    r"(?! to\b)|ago|\w{2,}ed|conversations?|sessions?|chats?|notes|messages?)\b(?<!\bneed)(?<!planned)"
    r"(?<!scheduled)(?<!supposed)"
)
_AHEAD = (
    r"\b(?:will|won't|shall|should|going to|gonna|plan(?:ning|s)? (?:to|for|on)|(?:is|are|am) (?:i|we"
    r"|he|she|they|it|there)?.{0,40}(?:planned|scheduled|supposed|booked|due|happening)|upcoming"
    r"|remind me|(?:set|book|schedule|create|make|cancel|move) (?:me )?(?:an?|the|my) \w+"
    r"|do (?:i|we) (?:have|need)|(?:am|are) (?:i|we|you) (?:\w+ing|free|available|busy|seeing|on)"
    r"|can (?:i|we|you)|could (?:i|we)|may (?:i|we)|must|let's|tomorrow|tonight|next (?:week|month"
    r"|year|time|weekend|spring|summer|fall|autumn|winter|\w+day)|in the future|later this"
    r"|what(?:'s| is| are) (?:\w+ ){0,3}(?:for|on|in|at)\b|'ll\b"
    r"|want(?:s|ed)? (?:for|to)|'s on\b)"
)

# What may follow a time that stands for itself; another noun makes a name of both.
_FOLLOWERS = ["a", "about", "according", "across", "after", "again", "against", "all", "along", "already", "also", "although", "am", "among", "an", "and", "any", "are", "around", "as", "at", "because", "been", "before", "behind", "besides", "but", "by", "concerning", "despite", "did", "do", "does", "due", "during", "either", "evening", "except", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "i'd", "i'm", "i've", "if", "in", "instead", "into", "is", "it", "its", "just", "last", "like", "me", "mentioned", "morning", "my", "near", "next", "night", "not", "off", "on", "only", "or", "our", "out", "over", "per", "please", "previous", "really", "regarding", "she", "should", "since", "so", "some", "someone", "than", "that", "the", "their", "them", "then", "there", "they", "this", "those", "through", "till", "to", "together", "too", "under", "until", "up", "us", "versus", "via", "was", "we", "we'd", "we've", "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "would", "you", "your", "afternoon", "dinner", "lunch", "brunch", "breakfast", "party", "onwards", "onward", "exactly", "instead", "specifically"]
NO_FOLLOWER = (
    rf"(?! ?(?:\Z|[,.?!;:)\]…—/-])| (?:{'|'.join(_FOLLOWERS)})\b"
    r"| (?-i:(?!Avenue|Street|St|Ave|Floor|Symphony|Century|Amendment|Grade|Circle|Madness|Times)"
    r"[A-Z][a-z]+ \w))"
)

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
        r"(?:,? (?:of |in )?next (?:week|month|year)|s\b(?<=[a-z]s)(?! ago)| from now| (?:is|are) next"
        r"| in advance)",
        (
            "What did I plan in May next year?",
            "Did I book it on Tuesday next week?",
            "What did we plan in March of next year?",
        ),
        ("What did I plan in May last year?", "Did I book it on Tuesday of last week?"),
    ),
    Guard(
        "en.sequel",
        "after",
        r" of (?:the|my|our|his|her|their|your|this|that|a|an|its|pregnancy|school|work|class|summer"
        r"|college|university|winter|life|training)\b(?! (?:year|month|week|quarter))",
        (
            "What did I learn in the last week of the course?",
            "How did I feel in the last month of pregnancy?",
            "What happened in the last 3 days of our trip?",
        ),
        ("What did I learn in the last week of March?", "What did I learn last week?"),
        ("en.past_n", "en.past_one", "en.last_unit", "en.first_sessions", "en.last_sessions"),
    ),
    Guard(
        "en.asks_when",
        "anywhere",
        r"\b(?:(?:what|which) (?:day|date|weekday|year|month|time|day of the week)(?: of the week)?"
        r"(?: (?:is|was|does|did|will|do|are|were) (?!i\b|we\b|you\b|he\b|she\b|they\b)|'s )"
        r"(?:it |the |that |on )?|what(?:'s| is| was) the (?:date|day|time)\b"
        r"|when (?:is|was|are|were|does|will|'s) (?:the )?"
        r"(?=last|this|easter|thanksgiving|christmas|the|halloween|labor|mother|father|\w+ day))",
        (
            "What date was last Friday?",
            "What day of the week was March 3, 2023?",
            "What is the date today, did you say?",
            "When was last Easter?",
        ),
        ("What did I say last Friday?", "When did I say on March 3, 2023 that we would meet?"),
    ),
    Guard(
        "en.asks_how_long",
        "anywhere",
        r"\bhow (?:many (?:more )?(?:days|weeks|months|years|hours|nights|weekends)|much time|long|far)\b.*(?:\b(?:since|between|until|till|passed|elapsed|gone by)\b"
        r"|\bfrom\b.*\b(?:to|until|till)\b|\bago\b(?=.*\b(?:is|was|did|were)\b)(?<=years ago"
        r"|onths ago|weeks ago| days ago))|\bhow long (?:is|was|has|have|does|did|ago)\b",
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
        r"\b(?:do|does) (?:i|we|you|he|she|they|my \w+|[A-Z]\w+) (?:like|love|prefer|enjoy|eat|drink"
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
        _AHEAD,
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
        ("What does Anna want for Christmas?", "Which pie is best for Thanksgiving?",
         "What is a good gift for Valentine's Day?"),
        ("What did Anna get for Christmas?", "Which pie did I bake for Thanksgiving?"),
        ("en.at",),
        ahead=True,
        unless=PAST,
    ),
    Guard(
        "en.named_topic",
        "before",
        r"\b(?:about|of|like|love|celebrate[ds]?|hate[ds]?|the|a|an|my|our|for|every|is|called) |(?-i:[A-Z]\w+) ",
        (
            "What did I say about New Year's Day?",
            "Did we celebrate Boxing Day?",
            "Did I watch Manic Monday?",
        ),
        ("Who did I call Boxing Day?", "What did we do New Year's Day?"),
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
        "en.month_as_person",
        "around",
        r"⟨\w+ (?:May|April|June|August|Jan)⟩(?:'s|,? (?:and|or) (?:I|her|his|she|he)\b| (?:was|is|has"
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
        r"[\w,] (?-i:The )?⟨(?-i:Last|This|The|One|Two|Three|Early|Late|Before|After|Past|In|On|Over"
        r"|Since|For|At|Day|Friday|Yesterday|Today|Tomorrow) (?:\w+ )?(?-i:[A-Z])|⟨friday the 13th",
        (
            "Who sings Last Christmas?",
            "Did I like the movie The Day After Easter?",
            "Did I like Friday the 13th?",
            "Who made The Nightmare Before Christmas?",
        ),
        ("Last Christmas, who sang?", "Which movie did I like last Christmas?"),
    ),
)
