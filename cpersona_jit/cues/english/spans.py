"""English times counted from the day of the question; each is a cue by itself."""

from __future__ import annotations

from cpersona_jit.cues.english.pieces import DAYPART
from cpersona_jit.cues.form import Form

BACK = r"(?: ago| back(?! (?:to|then|in|at|on|home|from|pain|and)\b)| before (?:today|now))"

SPANS = (
    Form(
        "en.day_word",
        rf"{{days:day_word}}{DAYPART}",
        "days_back",
        "DAY",
        (
            ("What did I say yesterday?", "2024-05-14"),
            ("What did we discuss this morning?", "2024-05-15"),
            ("What did I cook the day before yesterday?", "2024-05-13"),
            ("Who called last night?", "2024-05-14"),
        ),
        ("What can we do tonight?", "Do I know the words of “Yesterday”?"),
        "sure",
    ),
    Form(
        "en.earlier_today",
        r"{days:earlier_word}",
        "earlier_today",
        "DAY",
        (
            ("What did we discuss earlier this morning?", "2024-05-15"),
            ("What did I say earlier today?", "2024-05-15"),
            ("Earlier this evening, which film did you name?", "2024-05-15"),
        ),
        ("Did I get up earlier?", "Can I come earlier than this?"),
        "sure",
    ),
    Form(
        "en.today",
        r"{days:today_word}",
        "days_back",
        "DAY",
        (
            ("What did we talk about today?", "2024-05-15"),
            ("What have I eaten today?", "2024-05-15"),
            ("What did Sam recommend today?", "2024-05-15"),
        ),
        ("What should I wear today?", "What is today's date?"),
        "sure",
    ),
    Form(
        "en.ago",
        rf"(?:{{about}} ?)?(?:{{n}}[ -]?{{unit}}"
        rf"|{{unit2:half_year}})(?: {{about2:about_after}})?{BACK}",
        "ago",
        "SPAN",
        (
            ("What did we discuss 3 days ago?", "2024-05-12"),
            ("What did I say about three weeks ago?", "2024-04-21..2024-04-27"),
            ("Which book was it a month ago?", "2024-03-31..2024-04-30"),
            ("What was I learning two years ago?", "2022-01-01..2022-12-31"),
            ("What did I bake a fortnight ago?", "2024-04-28..2024-05-04"),
            ("Who wrote about half a year ago?", "2023-10-31..2023-11-30"),
            ("What did you suggest a couple of days back?", "2024-05-13"),
            ("What did I ask 12 hours ago?", "2024-05-14"),
        ),
        ("How many days ago did we meet?", "How long ago was it?", "Is that an ageless saga?"),
        "likely",
    ),
    Form(
        "en.years_ago",
        rf"{{n}} {{unit:year_unit}}{BACK}",
        "ago",
        "YEAR",
        (
            ("Where did we go in May two years ago?", "2022-05-01..2022-05-31"),
            ("What did I do a year ago on Halloween?", "2023-10-31"),
            ("Who came three years ago at Christmas?", "2021-12-25"),
        ),
        ("How many years ago in May was it?", "Is it three years long?"),
        "likely",
    ),
    Form(
        "en.short_ago",
        rf"(?:{{about}} ?)?{{n:number}} ?{{unit:letter_unit}}\.?{BACK}",
        "ago",
        "SPAN",
        (
            ("what did i say 3d ago", "2024-05-12"),
            ("which repo was it, 2w ago?", "2024-04-28..2024-05-04"),
            ("that link from 1y ago please", "2023-01-01..2023-12-31"),
        ),
        ("Is 3d printing back?", "Is 2W the power?"),
        "likely",
    ),
    Form(
        "en.weeks_back",
        r"{unit:long_unit}(?<=s) (?:ago|back(?! (?:to|then|in|at|on|home|from|pain"
        r"|and)\b)){n:three}",
        "ago",
        "SPAN",
        (
            ("What did I tell you weeks ago?", "2024-04-21..2024-04-27"),
            ("Which job did I mention some months back?", "2024-01-31..2024-03-01"),
            ("What was I into years ago?", "2021-01-01..2021-12-31"),
        ),
        ("How many weeks ago was it?", "How many months back was that?"),
        "vague",
    ),
    Form(
        "en.ago_range",
        rf"(?:{{about}} |between )?{{n}}(?: {{first_unit:unit}})?(?: ?(?:or|to|and"
        rf"|-) ?){{m:number}}[ -]"
        rf"{{unit}}{BACK}",
        "ago",
        "SPAN",
        (
            ("What did I eat two or three days ago?", "2024-05-12..2024-05-13"),
            ("What came up between 2 and 3 weeks ago?", "2024-04-21..2024-05-04"),
            ("What did we plan 2-3 months ago?", "2024-01-31..2024-03-30"),
        ),
        ("Do I need 2 or 3 days?", "How many weeks or months ago was it?"),
        "vague",
    ),
    Form(
        "en.ago_or_two",
        rf"(?:{{about}} )?{{n}} {{unit}} or {{m:number}}{BACK}",
        "ago",
        "SPAN",
        (
            ("What did I eat a day or two ago?", "2024-05-13..2024-05-14"),
            ("What came up a week or two ago?", "2024-04-28..2024-05-11"),
            ("Where did I work a year or two back?", "2022-01-01..2023-12-31"),
        ),
        ("Do I need a day or two?", "How many days or weeks ago was it?"),
        "vague",
    ),
    Form(
        "en.ago_and_half",
        rf"(?:{{about}} )?(?:{{n}} {{unit:half_unit}} and (?:a|1) half|{{n2:n}} and (?:a|1) half "
        rf"{{unit2:half_unit}}|{{n3:n}}\.5 {{unit3:half_unit}}){BACK}",
        "ago_and_half",
        "SPAN",
        (
            ("Where did I live a year and a half ago?", "2022-10-31..2022-11-30"),
            ("What was I reading one and a half years ago?", "2022-10-31..2022-11-30"),
            ("What did I say 2.5 years ago?", "2021-10-31..2021-11-30"),
        ),
        ("Is it a year and a half long?", "Was it 1.5 years in prison?"),
        "vague",
    ),
    Form(
        "en.exactly_ago",
        r"(?:exactly )?{n} {unit:long_unit} ago (?:today|to the day)",
        "exactly_ago",
        "DAY",
        (
            ("What did I write a year ago today?", "2023-05-15"),
            ("What did I say two weeks ago today?", "2024-05-01"),
            ("Where was I exactly 3 years ago to the day?", "2021-05-15"),
        ),
        ("How many years ago today was it?", "What happens a year from today?"),
        "sure",
    ),
    Form(
        "en.this_time",
        r"(?:(?:about |around |at )?this time(?: of (?:the )?year)?|this day) "
        r"(?:last {unit:calendar_unit}|{n} {unit2:long_unit} ago)",
        "this_time",
        "SPAN",
        (
            ("What was I doing this time last year?", "2023-04-30..2023-05-30"),
            ("What did we discuss around this time two years ago?", "2022-04-30..2022-05-30"),
            ("What did I say about this time last month?", "2024-04-12..2024-04-18"),
        ),
        ("What am I doing this time next year?", "Is it different this time?"),
        "vague",
    ),
    Form(
        "en.past_n",
        r"(?:(?:in|over|during|within|for|throughout|across) )?(?:(?:the|these|this|my|our) )?"
        r"(?:last|past|previous|most recent) (?:{n}(?: ?(?:or|to|-) ?{m:n})?[ -]?){unit}"
        r"(?: or so)?(?: {half:and_half})?",
        "past",
        "SPAN",
        (
            ("What did we chat about over the last 3 days?", "2024-05-13..2024-05-15"),
            ("What have I cooked in the past two weeks?", "2024-05-02..2024-05-15"),
            ("Which films did I see in the last six months?", "2023-11-16..2024-05-15"),
            ("What have I said in the past 24 hours?", "2024-05-14..2024-05-15"),
            ("What have I read these past few years?", "2021-05-16..2024-05-15"),
        ),
        ("Is it half past two?", "What was in the last two boxes?"),
        "likely",
    ),
    Form(
        "en.past_one",
        r"(?:(?:in|over|during|within|for|throughout|across) (?:the |this |my )?(?:last|past)"
        r"|(?:the |this |these )?past|(?:the )?(?:last|previous)(?= fortnight)) {unit:span_unit}"
        r"(?: {half:and_half}| or {m:number}| or so)?",
        "past",
        "SPAN",
        (
            ("What did we chat about over this last week?", "2024-05-09..2024-05-15"),
            ("What have I read in the past month?", "2024-04-16..2024-05-15"),
            ("What have I cooked over the last week or two?", "2024-05-02..2024-05-15"),
            ("Which trips did I take over the past year?", "2023-05-16..2024-05-15"),
        ),
        ("Is the past perfect?", "Who lives in the past?"),
        "likely",
    ),
    Form(
        "en.last_unit",
        r"{back:back_last} (?:calendar )?{unit:calendar_unit}",
        "calendar",
        "{unit}",
        (
            ("What did we talk about last month?", "2024-04-01..2024-04-30"),
            ("What did I say last week?", "2024-05-06..2024-05-12"),
            ("Where did we ski last year?", "2023-01-01..2023-12-31"),
            ("What was our goal last quarter?", "2024-01-01..2024-03-31"),
            ("What did I spend in the previous month?", "2024-04-01..2024-04-30"),
        ),
        ("How long did the rain last? A week?", "What about next month?"),
        "likely",
    ),
    Form(
        "en.this_unit",
        r"{back:back_this} {unit:calendar_unit}(?: so far)?",
        "calendar",
        "{unit}",
        (
            ("What did we talk about this month?", "2024-05-01..2024-05-15"),
            ("What have I read so far this year?", "2024-01-01..2024-05-15"),
            ("What did I mention earlier this week?", "2024-05-13..2024-05-15"),
        ),
        ("What should I do this week?", "Is this year-round?"),
        "likely",
    ),
    Form(
        "en.unit_before_last",
        r"{unit:calendar_unit} before (?:last|the last|that){back:two}"
        r"(?<!that)",
        "calendar",
        "{unit}",
        (
            ("What did we plan the week before last?", "2024-04-29..2024-05-05"),
            ("Where did I go the year before last?", "2022-01-01..2022-12-31"),
            ("What did I say in the month before last?", "2024-03-01..2024-03-31"),
        ),
        ("What happened the week before the race?", "What about the year before that?"),
        "likely",
    ),
)
