"""English names of months, weekdays, seasons and named days."""

from __future__ import annotations

# "may", "march", "sun" and the like are words of their own: as names they are capitalised, or
# stand behind a word that only a month or a day follows.
_BEHIND = r"(?:(?<=\bin )|(?<=\blast )|(?<=\bsince )|(?<=\bearly )|(?<=\bmid[ -])|(?<=\blate ))"

MONTH_WORDS = (
    r"january|(?-i:Jan\b\.?)|(?<=\bin )jan\b|jan\."
    r"|february|feb\b\.?"
    rf"|(?-i:March|MARCH|Mar\b\.?)|{_BEHIND}march|march(?= \d)"
    r"|april|apr\b\.?"
    rf"|(?-i:May|MAY)|{_BEHIND}may|may(?= \d)"
    r"|june|(?-i:Jun\b\.?)|jun(?= \d)"
    r"|july|jul\b\.?|august|aug\b\.?|september|sept?\b\.?|october|oct\b\.?"
    r"|november|nov\b\.?|december|dec\b\.?"
)
MONTHS = {
    f"{start}.*": number
    for number, start in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}

WEEKDAYS = {
    r"monday|(?-i:Mon\b\.?)": 0,
    r"tuesday|(?-i:Tues?\b\.?)|tues\b": 1,
    r"wednesday|(?-i:Weds?\b\.?)": 2,
    r"thursday|(?-i:Thu(?:rs?)?\b\.?)|thurs\b": 3,
    r"friday|(?-i:Fri\b\.?)": 4,
    r"saturday|(?-i:Sat\b\.?)": 5,
    r"sunday|(?<!the )(?-i:Sun\b\.?)": 6,
}

SEASONS = {"spring": "spring", "summer": "summer", "autumn|fall": "autumn", "winter": "winter"}

NAMED_DAYS = {
    r"new year'?s? day|new year'?s(?! eve| resol)|new year(?=[ ,.?!]"
    r"|$)(?! resol)": "new year's day",
    r"new year'?s? eve|nye": "new year's eve",
    r"(?:martin luther king|mlk)(?: jr\.?)? day": "martin luther king day",
    r"groundhog day": "groundhog day",
    r"(?:saint |st\.? )?valentine'?s?(?: day)?": "valentine's day",
    r"presidents'?s? day": "presidents' day",
    r"leap day": "leap day",
    r"(?:saint|st\.?) (?:patrick|paddy)'?s?(?: day)?": "saint patrick's day",
    r"april fools?'?s?(?: day)?": "april fools' day",
    r"earth day": "earth day",
    r"ash wednesday": "ash wednesday",
    r"palm sunday": "palm sunday",
    r"good friday": "good friday",
    r"easter(?: sunday)?(?! monday)": "easter",
    r"easter monday": "easter monday",
    r"golden week": "golden week",
    r"may day": "may day",
    r"cinco de mayo": "cinco de mayo",
    r"mothers?'?s? day": "mother's day",
    r"memorial day": "memorial day",
    r"juneteenth": "juneteenth",
    r"fathers?'?s? day": "father's day",
    r"canada day": "canada day",
    r"4th of july|independence day|july (?:the )?4th": "fourth of july",
    r"bastille day": "bastille day",
    r"labou?r day": "labor day",
    r"columbus day": "columbus day",
    r"hallowe'?en": "halloween",
    r"(?:bonfire|guy fawkes) night": "guy fawkes night",
    r"(?:veterans'?|armistice|remembrance) day": "veterans day",
    r"thanksgiving(?: day)?": "thanksgiving",
    r"black friday": "black friday",
    r"cyber monday": "cyber monday",
    r"(?:christmas|xmas) eve": "christmas eve",
    r"(?:christmas|xmas)(?: day)?(?! eve)": "christmas",
    r"boxing day": "boxing day",
}
