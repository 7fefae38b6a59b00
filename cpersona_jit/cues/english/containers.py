"""English times inside other times: a month of a year, a day of a week, a part of a month."""

from __future__ import annotations

from cpersona_jit.cues.form import Form

CONTAINERS = (
    Form(
        "en.weekday_date",
        r"<weekday>,? (?:the )?<date|nth>",
        "second",
        "date",
        (
            ("On Thursday July 27th, what did I say?", "2023-07-27"),
            ("What did I say on Friday, May 10?", "2024-05-10"),
            ("What was planned on Tuesday the 7th?", "2024-05-07"),
        ),
        ("Is Friday the 13th scary?", "Does Sunday Times cost 3?"),
    ),
    Form(
        "en.of_year",
        r"<yearly>(?: (?:of|in|from|back in) |, (?:in|of) |,? )(?:the )?<YEAR>",
        "inside",
        "{first}",
        (
            ("What did we do in May of last year?", "2023-05-01..2023-05-31"),
            ("On February 21, 2023, what did I say?", "2023-02-21"),
            ("Where did I go in the summer of 2022?", "2022-06-01..2022-08-31"),
            ("Who came on Christmas 2021?", "2021-12-25"),
        ),
        ("What will I do in May of next year?", "Who is the hero of 2024?"),
    ),
    Form(
        "en.year_then",
        r"<YEAR>(?:,? (?:in|on|at|during|over) (?:the )?|'s )<yearly>",
        "contained",
        "{second}",
        (
            ("What did we do last year in May?", "2023-05-01..2023-05-31"),
            ("What did I wear last year on Halloween?", "2023-10-31"),
            ("What was last year's Thanksgiving like, as I told you?", "2023-11-23"),
        ),
        ("Is the 2023 spring onion good?", "What about next year in May?"),
    ),
    Form(
        "en.week_day",
        r"<WEEK>(?:'s|,)? (?:on )?<weekday|weekend>",
        "contained",
        "DAY",
        (
            ("What did we say last week on Tuesday?", "2024-05-07"),
            ("What did I do last week Friday?", "2024-05-10"),
            ("Who joined this week Monday?", "2024-05-13"),
        ),
        ("What is on next week Tuesday?", "Is the week Monday to Friday?"),
        "sure",
    ),
    Form(
        "en.day_of_week",
        r"(?:on )?(?:the )?<weekday|weekend>,? (?:of |in )?(?:the )?<WEEK>",
        "inside",
        "DAY",
        (
            ("What did we say on Tuesday of last week?", "2024-05-07"),
            ("What did I do Friday last week?", "2024-05-10"),
            ("Who called Thursday the week before last?", "2024-05-02"),
        ),
        ("What is on Tuesday of next week?", "Is Monday in a work week?"),
        "sure",
    ),
    Form(
        "en.day_weeks_ago",
        r"(?:on )?<weekday>,? {n} weeks? (?:ago|back)",
        "weekday_weeks_ago",
        "DAY",
        (
            ("What did I cook on Tuesday two weeks ago?", "2024-04-30"),
            ("What did I cook Friday a week ago?", "2024-05-10"),
            ("Who called on Sunday, three weeks ago?", "2024-04-28"),
        ),
        ("How many weeks ago was Tuesday?", "Is it Tuesday in two weeks?"),
        "sure",
    ),
    Form(
        "en.weeks_ago_day",
        r"{n} weeks? (?:ago|back),? (?:on )?(?:a )?<weekday>",
        "weekday_weeks_ago",
        "DAY",
        (
            ("What did I cook two weeks ago on Tuesday?", "2024-04-30"),
            ("What did I cook a week ago Friday?", "2024-05-10"),
            ("Who called three weeks ago on Sunday?", "2024-04-28"),
        ),
        ("How many weeks ago on Tuesday was it?", "Is it two weeks until Tuesday?"),
        "sure",
    ),
    Form(
        "en.nth_of_month",
        r"(?:on |from |since )?(?:the )?<nth>(?: (?:of|in|day of))? (?:the )?<MONTH>",
        "inside",
        "DAY",
        (
            ("What did I say on the 10th of last month?", "2024-04-10"),
            ("What did we plan on the 3rd of this month?", "2024-05-03"),
            ("What happened on the 20th of the previous month?", "2024-04-20"),
        ),
        ("What is due on the 10th of next month?", "Who was the 3rd of the month's winners?"),
        "sure",
    ),
    Form(
        "en.month_then_nth",
        r"<MONTH>,? (?:on )?(?:the )?<nth>",
        "contained",
        "DAY",
        (
            ("What did I say last month on the 10th?", "2024-04-10"),
            ("Who called last month, on the 2nd?", "2024-04-02"),
            ("What did we settle this month on the 3rd?", "2024-05-03"),
        ),
        ("What about next month on the 10th?", "Was he last in the month, or 3rd?"),
        "sure",
    ),
    Form(
        "en.part_of_cycle",
        r"{part}(?: |-|, )?(?:the )?<month|season>",
        "part",
        "part",
        (
            ("What did we plan in early March?", "2024-03-01..2024-03-10"),
            ("What did I say mid-September?", "2023-09-11..2023-09-20"),
            ("Who came at the end of April?", "2024-04-21..2024-04-30"),
            ("What did I do in the first week of May?", "2024-05-01..2024-05-07"),
            ("Where was I in late summer?", "2023-08-01..2023-08-31"),
        ),
        ("Is early autumn wear on sale?", "Will it end by late June?"),
        "likely",
    ),
    Form(
        "en.parts",
        r"(?:from )?{from:part}(?: to | through | or |-to-|-)(?:the )?{to:part}(?: "
        r"|-)(?:the )?<month|season|MONTH|YEAR>",
        "parts",
        "part",
        (
            ("What did we plan in early to mid March?", "2024-03-01..2024-03-20"),
            ("What did I say mid-to-late April?", "2024-04-11..2024-04-30"),
            ("Where did I work from the middle to the end of 2023?", "2023-05-01..2023-12-31"),
        ),
        ("Will it be early to mid June?", "Is it early or late?"),
        "likely",
    ),
    Form(
        "en.part_of_period",
        r"{part}(?: |-|, )?(?:the |of )?<MONTH|YEAR|WEEK|SEASON|BARE>",
        "part",
        "SPAN",
        (
            ("Where did I work in early 2023?", "2023-01-01..2023-04-30"),
            ("What did we plan at the end of last month?", "2024-04-21..2024-04-30"),
            ("What did I say in the first half of last year?", "2023-01-01..2023-06-30"),
            ("What did I do early last week?", "2024-05-06..2024-05-07"),
        ),
        ("What is due at the end of this month?", "What is the end of next year like?"),
        "likely",
    ),
    Form(
        "en.nth_weekday",
        r"(?:on )?(?:the )?{n:which} (?:{weekday}|{weekday2:weekend}) (?:of|in) (?:the )?<month"
        r"|MONTH>",
        "weekday_of_month",
        "part",
        (
            ("What did I do on the first Monday of March?", "2024-03-04"),
            ("What did we settle the last Friday in April?", "2024-04-26"),
            ("Who came on the second Sunday of last month?", "2024-04-14"),
            ("What did we do the first weekend of May?", "2024-05-04..2024-05-05"),
        ),
        ("Do we meet every first Monday of the month?", "Is it the last Friday in the film?"),
        "sure",
    ),
    Form(
        "en.year_quarter",
        r"(?:in )?<YEAR> <quarter>",
        "contained",
        "{second}",
        (
            ("What did we sell in 2023 Q4?", "2023-10-01..2023-12-31"),
            ("What targets did I set, 2024 Q1?", "2024-01-01..2024-03-31"),
            ("What did I earn last year Q2?", "2023-04-01..2023-06-30"),
        ),
        ("Is the 2023 Q5 a car?", "What about next year Q1?"),
    ),
)
