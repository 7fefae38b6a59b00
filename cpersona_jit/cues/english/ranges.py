"""English words that make a range of times, or a time near another."""

from __future__ import annotations

from cpersona_jit.cues.english.points import ENDING
from cpersona_jit.cues.form import Form

TO = (
    r"(?: ?- ?| (?:(?:all the way |through |up )?(?:to|through|thru|until|till)"
    r"|and ending(?: on)?) )"
)

RANGES = (
    Form(
        "en.date_to_day",
        rf"(?:(?:from|between|on) )?(?:the )?<date|DATE|DAY>(?:{TO}"
        rf"| and )(?:the )?{{to:day}}{ENDING}"
        r"(?! ?(?:am|pm|people|cups?|times|/)\b)",
        "to_day",
        "part",
        (
            ("What did I say from March 3 to 9?", "2024-03-03..2024-03-09"),
            ("What came up May 2-5?", "2024-05-02..2024-05-05"),
            ("What did we do between April 28 and 30, 2023?", "2023-04-28..2023-04-30"),
        ),
        ("Will it be May 20 to 25?", "How long is May 3-9?"),
        "sure",
    ),
    Form(
        "en.days_of_month",
        rf"(?:(?:from|between|on) )?(?:the )?{{from:day}}{ENDING}(?:{TO}| and )(?:the )?"
        rf"{{to:day}}{ENDING}(?: of)? <month|MONTH>",
        "days_of_month",
        "part",
        (
            ("What did I say on 3-9 March?", "2024-03-03..2024-03-09"),
            ("What did we do from the 3rd to the 9th of last month?", "2024-04-03..2024-04-09"),
            ("What did I spend between 28 and 30 April 2023?", "2023-04-28..2023-04-30"),
        ),
        ("Is it 3-9 marches?", "How long is 3 to 9 March?"),
        "sure",
    ),
    Form(
        "en.span",
        rf"(?:(?:from|between|in|during|over|on|starting(?: on| from)?) )?(?:the )?<any>"
        rf"(?:{TO}|,? and (?!(?:we|i|you)\b))(?:the )?<any>",
        "span",
        "part",
        (
            (
                "What did we chat about between February 21st and March 4th?",
                "2024-02-21..2024-03-04",
            ),
            ("What did I read from March to April?", "2024-03-01..2024-04-30"),
            ("What was I told from Dec 28 to Jan 3?", "2023-12-28..2024-01-03"),
            ("What did we settle between 2019 and 2021?", "2019-01-01..2021-12-31"),
            ("What did I eat from Monday to Tuesday?", "2024-05-13..2024-05-14"),
        ),
        (
            "How many days are between May 3 and May 9?",
            "Do I work from Monday to Friday every week?",
        ),
        "sure",
    ),
    Form(
        "en.either",
        r"(?:(?:in|on|during|over) )?(?:the )?<any> or (?:the )?<any>",
        "either",
        "SPAN",
        (
            ("What did we discuss in March or April?", "2024-03-01..2024-04-30"),
            ("What did I say yesterday or the day before yesterday?", "2024-05-13..2024-05-14"),
            ("Who called on Monday or Tuesday?", "2024-05-13..2024-05-14"),
        ),
        ("Will it be May or June?", "Is it better on Mondays or Tuesdays?"),
        "vague",
    ),
    Form(
        "en.since",
        r"(?:ever )?since(?: about| around)? (?:the )?<any>",
        "since",
        "SPAN",
        (
            ("What have I read since Monday?", "2024-05-13..2024-05-15"),
            ("What did we discuss since March 3?", "2024-03-03..2024-05-15"),
            ("What have you told me since last week?", "2024-05-06..2024-05-15"),
            ("What have I changed since the end of April?", "2024-04-21..2024-05-15"),
        ),
        ("How many days is it since March 3?", "Was it good since you asked?"),
        "likely",
    ),
    Form(
        "en.from_on",
        r"(?:from|starting|beginning) (?:on |in )?(?:the )?<any> (?:on(?! the)|onwards?|until now"
        r"|till now|to (?:now|date|today|the present)|up to now)",
        "since",
        "SPAN",
        (
            ("What did I log from March 3 onwards?", "2024-03-03..2024-05-15"),
            ("What did we say from last week till now?", "2024-05-06..2024-05-15"),
            ("Which books did I read from April until now?", "2024-04-01..2024-05-15"),
        ),
        ("What will I do from May 20 on?", "Is it open from Mondays onwards?"),
        "likely",
    ),
    Form(
        "en.before",
        r"(?:(?:just|shortly|right|some time|sometime) )?(?:before|prior to) (?:the )?<any>",
        "before",
        "SPAN",
        (
            ("What did I say before March 15?", "2024-03-01..2024-03-14"),
            ("What did we plan just before Christmas?", "2023-12-11..2023-12-24"),
            ("What did Jo promise prior to April 1st?", "2024-03-18..2024-03-31"),
        ),
        ("Must I pay before June 1?", "Have I been here before?"),
        "vague",
    ),
    Form(
        "en.after",
        r"(?:(?:just|shortly|right|some time|sometime) )?(?:after|following) (?:the )?<any>",
        "after",
        "SPAN",
        (
            ("What did I say after March 15?", "2024-03-16..2024-03-29"),
            ("What did we plan shortly after Christmas?", "2023-12-26..2024-01-08"),
            ("What did Jo promise after April 1st?", "2024-04-02..2024-04-15"),
        ),
        ("Will I rest after June 1?", "What is after May?"),
        "vague",
    ),
    Form(
        "en.around",
        r"(?:(?:sometime|some time) )?(?:around|near|close to|circa|roughly) (?:the )?<any>",
        "around",
        "SPAN",
        (
            ("What did I say around March 15?", "2024-03-12..2024-03-18"),
            ("Who visited around Christmas?", "2023-12-22..2023-12-28"),
            ("What did we plan around April 30th, 2023?", "2023-04-27..2023-05-03"),
        ),
        ("What do I like about Christmas?", "Will it be around June 1?"),
        "vague",
    ),
    Form(
        "en.day_near",
        r"(?:on |in )?(?:the )?(?:{n} )?{unit:long_unit} {sign} (?:the )?<any>",
        "shifted",
        "DAY",
        (
            ("What did I eat the day before Christmas?", "2023-12-24"),
            ("What did we do two days after Easter?", "2024-04-02"),
            ("What did I plan the week before Halloween?", "2023-10-24..2023-10-30"),
        ),
        ("What did I do the day after the surgery?", "Is it the day before next Monday?"),
        "sure",
    ),
    Form(
        "en.weekday_near",
        r"(?:on |over )?(?:the )?<weekday|weekend> {sign} (?:the )?<any>",
        "neighbour",
        "DAY",
        (
            ("What did I eat the Friday before Christmas?", "2023-12-22"),
            ("What did we do the Monday after Easter?", "2024-04-01"),
            ("Who came on the weekend before Halloween?", "2023-10-28..2023-10-29"),
        ),
        ("Who came on the Friday after the wedding?", "Is it the Monday before next Easter?"),
        "sure",
    ),
    Form(
        "en.week_of",
        r"(?:in |during |over )?(?:the )?{unit:week_unit} (?:of|containing|with|around) (?:the )?"
        r"<date|nth|named|weekday|DAY|DATE|NAMED>",
        "week_of",
        "WEEK",
        (
            ("What did we discuss the week of April 3?", "2024-04-01..2024-04-07"),
            ("What did I do the weekend of May 4th?", "2024-05-04..2024-05-05"),
            ("Who came during the week of Thanksgiving?", "2023-11-20..2023-11-26"),
        ),
        ("What is on the week of June 3?", "Which week of the course was fun?"),
        "sure",
    ),
)
