"""English words around a time that say which one it is."""

from __future__ import annotations

from cpersona_jit.cues.english.followers import FOLLOWER
from cpersona_jit.cues.english.pieces import DAYPART
from cpersona_jit.cues.form import Form

DAY_OF = r"(?:day|morning|afternoon|evening|night) of (?:the )?"

FRAMES = (
    Form(
        "en.last",
        rf"(?:(?:in|on|over|during|at|from) )?(?:the |this )?"
        rf"(?:last|past|most recent|previous) <cycle>{DAYPART}",
        "last",
        "{first}",
        (
            ("What did we discuss last Saturday?", "2024-05-11"),
            ("What did I say this past Tuesday night?", "2024-05-14"),
            ("Where did we go last summer?", "2023-06-01..2023-08-31"),
            ("What did I read last May?", "2023-05-01..2023-05-31"),
        ),
        ("Was it the last Monday class?", "Is the next Friday free?"),
    ),
    Form(
        "en.cycle_before_last",
        r"(?:(?:in|on|over|during) )?(?:the )?<cycle> before (?:last|the last 1){more:one}",
        "last",
        "{first}",
        (
            ("What did I say the Tuesday before last?", "2024-05-07"),
            ("Where did we go the summer before last?", "2022-06-01..2022-08-31"),
            ("What did I do the weekend before last?", "2024-05-04..2024-05-05"),
        ),
        ("What is on the Tuesday before the last exam?", "Who won before last?"),
    ),
    Form(
        "en.cycles_ago",
        r"(?:about )?{n} <cycle>(?:e?s)? (?:ago|back)",
        "last",
        "{first}",
        (
            ("What did I say two Tuesdays ago?", "2024-05-07"),
            ("Where did we go two summers ago?", "2022-06-01..2022-08-31"),
            ("What did I do three weekends ago?", "2024-04-27..2024-04-28"),
            ("Who visited two Christmases ago?", "2022-12-25"),
        ),
        ("How many Tuesdays ago was it?", "Do I work two Tuesdays a month?"),
    ),
    Form(
        "en.this_cycle",
        r"(?:(?:in|over|during|at|earlier) )?this <month|season|named|quarter>",
        "this",
        "{first}",
        (
            ("What did I plant this spring?", "2024-03-01..2024-05-15"),
            ("What did we say this April?", "2024-04-01..2024-04-30"),
            ("Where did I swim this summer?", "2023-06-01..2023-08-31"),
        ),
        ("What shall we do this summer?", "What will it be this May?"),
    ),
    Form(
        "en.this_day",
        rf"(?:on )?this (?:week's )?<weekday|weekend>{DAYPART}",
        "of_this_week",
        "DAY",
        (
            ("What did I say this Monday?", "2024-05-13"),
            ("What did we plan on this Tuesday?", "2024-05-14"),
            ("Who called this week's Monday morning?", "2024-05-13"),
        ),
        ("Who comes this Friday?", "What is planned this weekend?"),
    ),
    Form(
        "en.on",
        rf"(?:(?:on|from|dated) (?:the )?(?:{DAY_OF})?|the {DAY_OF})"
        rf"<weekday|date|nth|named|DATE|NAMED|DAY|part|PART>{DAYPART}",
        "same",
        "DAY",
        (
            ("What did I eat on Tuesday?", "2024-05-14"),
            ("What did we chat about on February 21st?", "2024-02-21"),
            ("What did Mia order on the 14th?", "2024-05-14"),
            ("Who came on Christmas Eve?", "2023-12-24"),
        ),
        ("What is on the 14th floor?", "Do I work on Tuesdays?"),
    ),
    Form(
        "en.in",
        r"(?:back )?(?:in|during|over|throughout|within) (?:the )?(?:month of |year )?"
        r"<month|season|quarter|part|YEAR|MONTH|SEASON|QUARTER|PART|DECADE>",
        "same",
        "SPAN",
        (
            ("What did we discuss in February?", "2024-02-01..2024-02-29"),
            ("Where did I live in 2019?", "2019-01-01..2019-12-31"),
            ("What did we plant during spring?", "2024-03-01..2024-05-15"),
            ("What did I read in the spring of 2022?", "2022-03-01..2022-05-31"),
        ),
        ("Can I do it in 2000 steps?", "Is April in the kitchen?"),
    ),
    Form(
        "en.at",
        r"(?:at|for|this past|over|during) (?:the )?<named|NAMED>",
        "same",
        "DAY",
        (
            ("What did I get at Christmas?", "2023-12-25"),
            ("What did Dad cook at Easter?", "2024-03-31"),
            ("What did I read over Christmas?", "2023-12-25"),
            ("What did I give Mum for Mother's Day?", "2024-05-12"),
        ),
        ("What do I want for Christmas?", "What is at Halloween Horror World?"),
    ),
    Form(
        "en.weekday_bare",
        rf"<weekday>{DAYPART}(?: just gone| gone)?{FOLLOWER}",
        "same",
        "DAY",
        (
            ("What did I eat Tuesday?", "2024-05-14"),
            ("What did Ana say Friday night about the trip?", "2024-05-10"),
            ("Monday, what did I plan with you?", "2024-05-13"),
        ),
        ("Did I like Taco Tuesday?", "What did I say about Monday?", "Is the shop open Friday?"),
    ),
    Form(
        "en.weekdays_own",
        r"(?:(?:in|at|during|from|of|on) )?<weekday|weekend>'s",
        "same",
        "DAY",
        (
            ("What was said at Tuesday's chat?", "2024-05-14"),
            ("What did I learn at Friday's class?", "2024-05-10"),
            ("Who led Monday's discussion?", "2024-05-13"),
        ),
        ("What is Tuesday's child full of?", "Is Monday's class full?"),
        "likely",
    ),
    Form(
        "en.named_weekend",
        r"(?:(?:in|on|over|at|during) )?(?:the )?<named> {unit:week_unit}",
        "week_of",
        "WEEK",
        (
            ("What did we do over Easter weekend?", "2024-03-30..2024-03-31"),
            ("Who came in Thanksgiving week?", "2023-11-20..2023-11-26"),
            ("Where did we go on Labor Day weekend?", "2023-09-02..2023-09-03"),
        ),
        ("Do I like Halloween weekends?", "Which Christmas weeks do I like?"),
        "likely",
    ),
    Form(
        "en.named_bare",
        r"<named>(?<=day|eve)(?=[?.,!]|\Z)",
        "same",
        "DAY",
        (
            ("What did we do Christmas Eve?", "2023-12-24"),
            ("Who did I call Mother's Day?", "2024-05-12"),
            ("Boxing Day, what did I buy?", "2023-12-26"),
        ),
        ("What did I say about Valentine's Day?", "Do I like Boxing Day?"),
    ),
    Form(
        "en.over_weekend",
        r"(?:over|on|at|during|from) the <weekend>",
        "same",
        "WEEKEND",
        (
            ("What did I do over the weekend?", "2024-05-11..2024-05-12"),
            ("What did we say on the weekend?", "2024-05-11..2024-05-12"),
            ("Who came at the weekend?", "2024-05-11..2024-05-12"),
        ),
        ("Do I usually work at the weekend?", "Where can we go on the weekend?"),
        "likely",
    ),
    Form(
        "en.talk_on",
        r"(?:conversation|chat|session|discussion|talk|message|note|entry|mentioned|said|discussed"
        r"|talked|spoke|told|chatted)s? (?:we had |i had |that we had )?(?:on|from|of|in|dated) "
        r"(?:the )?<any>",
        "same",
        "DAY",
        (
            ("What did I do last Friday, as per the conversation on May 3?", "2024-05-03"),
            ("What is new in our chat from February 21, 2023?", "2023-02-21"),
            ("What did he win, as mentioned on July 16, 2023?", "2023-07-16"),
        ),
        ("What is the session about?", "Who said May is nice?"),
    ),
)
