"""Pieces of Japanese patterns: numbers, units, names of months and days."""

from __future__ import annotations

from cpersona_jit.cues.form import Piece

WEEKDAYS = {f"{kanji}曜日?": number for number, kanji in enumerate("月火水木金土日")}

NAMED_DAYS = {
    r"元日|元旦": "new year's day",
    r"お?正月|三が日|年始": "first three days",
    r"成人の日": "coming of age day",
    r"節分": "setsubun",
    r"バレンタイン(?:デー)?": "valentine's day",
    r"ひな祭り|雛祭り|桃の節句": "doll festival",
    r"ホワイトデー": "white day",
    r"エイプリルフール": "april fools' day",
    r"復活祭|イースター": "easter",
    r"ゴールデンウィーク|ゴールデンウイーク|GW": "golden week",
    r"こどもの日|子供の日|子どもの日|端午の節句": "children's day",
    r"母の日": "mother's day",
    r"父の日": "father's day",
    r"七夕": "tanabata",
    r"海の日": "marine day",
    r"山の日": "mountain day",
    r"お盆": "obon",
    r"敬老の日": "respect for the aged day",
    r"スポーツの日|体育の日": "sports day",
    r"ハロウィーン|ハロウィン": "halloween",
    r"文化の日": "culture day",
    r"七五三": "shichi-go-san",
    r"勤労感謝の日": "labor thanksgiving day",
    r"感謝祭": "thanksgiving",
    r"クリスマス・?イ[ブヴ]": "christmas eve",
    r"クリスマス(?!・?イ[ブヴ])": "christmas",
    r"年末年始": "turn of the year",
    r"年末(?!年始|調整)|年の瀬|年の暮れ": "year's end",
    r"大晦日|大みそか|おおみそか": "new year's eve",
}

PIECES: dict[str, Piece] = {
    # Numbers; kanji numerals are digits by now.
    "n": {r"(?<![\d.数])\d{1,4}": int, r"数": 3, r"ひと": 1, r"ふた": 2, r"みっ": 3, r"よっ": 4},
    "number": {r"(?<![\d.])\d{1,4}": int},
    "small": {r"(?<![\d.])\d{1,2}": int},
    "day": {r"\d{1,2}": int},
    "two_digits": {r"\d\d": int},
    "year": {r"(?<!\d)(?:1[5-9]|20)\d\d": int},
    "short_year": {r"(?<![\d和成])\d\d": lambda text: 2000 + int(text)},
    "era": {r"令和": 2018, r"平成": 1988, r"昭和": 1925},
    "era_year": {r"元": 1, r"\d{1,2}": int},
    "zero": {"": 0},
    "one": {"": 1},
    "two": {"": 2},
    # Units.
    "unit": (
        r"分|時間|日|週間?|[かヶヵケカ箇個]月間?|(?<=ひと)月|(?<=ふた)月|年",
        {
            r"分": "minute",
            r"時間": "hour",
            r"日": "day",
            r"週間?": "week",
            r".?月間?": "month",
            r"年": "year",
        },
    ),
    "span_unit": {
        r"時間": "hour",
        r"日間?": "day",
        r"週間?": "week",
        r"[かヶヵケカ箇個]月間?": "month",
        r"年間?": "year",
    },
    "half_unit": {r"年": "year", r"[かヶヵケカ箇個]月": "month", r"週間": "week"},
    "half": {r"半年": "half year", r"半月": "half month"},
    "about": r"約|およそ|おおよそ|だいたい|大体|ざっと|かれこれ",
    "about_after": r"ほど|くらい|ぐらい|ばかり|程度|ほどの|あまり",
    "about_when": r"くらい|ぐらい|頃|ごろ|あたり",
    "and_half": {"半": 1},
    "year_unit": {"年": "year"},
    "two_before": {"前の前": 2},
    "week_constant": {"": "week"},
    "day_unit": {"": "day"},
    "week_unit": {"週": "week", "週末": "weekend"},
    "last_year": {r"去年|昨年": "year", r"先月": "month"},
    "half_number": {"上": 1, "下": 2},
    # Names.
    "weekday": WEEKDAYS,
    "season": {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"},
    "name": NAMED_DAYS,
    "part": {
        r"上旬|初旬|はじめ|初め|始め|頭|あたま|月初め?|序盤": "early",
        r"中旬|半ば|なかば|中頃|中ごろ|真ん中": "mid",
        r"下旬|終わり(?:頃|ごろ)?|おわり|末|末頃|暮れ|終盤": "late",
        r"前半": "first half",
        r"後半": "second half",
        r"第?1週目?|最初の(?:1?週間?|週)": "week 1",
        r"第?2週目?": "week 2",
        r"第?3週目?": "week 3",
        r"第?4週目?": "week 4",
        r"最後の(?:1?週間?|週)|最終週": "last week",
        r"初日|最初の日": "first day",
        r"末日|最後の日|最終日|晦日": "last day",
    },
    "season_part": {r"初": "early", r"真|盛": "mid", r"晩": "late", r"早": "early"},
    "sign": {r"前": -1, r"後": 1},
    "which": {
        r"第?1": 1,
        r"第?2": 2,
        r"第?3": 3,
        r"第?4": 4,
        r"第?5": 5,
        r"最終|最後の": -1,
        r"最初の": 1,
    },
    "day_word": {
        r"昨日|きのう|昨夜|昨晩|ゆうべ|夕べ|昨夕|昨朝": 1,
        r"一昨日|おととい|おとつい|一昨晩": 2,
        r"一昨々日|一昨昨日|さきおととい": 3,
        r"今朝|けさ|今日の(?:朝|昼|午前|午後)": 0,
    },
    "today_word": {r"今日|本日|きょう": 0},
    "calendar_word": {
        r"先週": ("week", 1),
        r"先々週|先先週": ("week", 2),
        r"今週": ("week", 0),
        r"先月": ("month", 1),
        r"先々月|先先月": ("month", 2),
        r"今月": ("month", 0),
        r"去年|昨年": ("year", 1),
        r"一昨年|おととし|いっさくねん": ("year", 2),
        r"一昨々年|一昨昨年|さきおととし": ("year", 3),
        r"今年|本年|ことし": ("year", 0),
        r"前四半期|先四半期": ("quarter", 1),
        r"今四半期": ("quarter", 0),
    },
    "fiscal_word": {
        r"昨年度|去年度|前年度": ("fiscal year", 1),
        r"一昨年度": ("fiscal year", 2),
        r"今年度|本年度": ("fiscal year", 0),
    },
    "last_prefix": {"昨": 1, "今": 0},
    "weekend_word": {
        r"先週末|先週の週末|前の週末|この前の週末|この間の週末": 1,
        r"先々週末|先々週の週末": 2,
        r"今週末": 0,
    },
    "near_day": {
        r"前日|前の日|前夜|前の晩|イブ": -1,
        r"翌日|次の日|あくる日|翌朝": 1,
    },
    "near_week": {r"前の週|前週": -1, r"翌週|次の週": 1},
    # Conversations.
    "nth_ago": {r"前回": 1, r"前々回|前前回|先々回": 2, r"前々々回": 3},
}

DAYPART = r"(?:の?(?:夜|晩|朝|昼|夕方|午前中?|午後|深夜|日)(?!曜))?"

CYCLES = (
    *("weekday", "weekend", "date", "nth", "month", "season", "quarter", "named", "part"),
    *("day", "week", "span"),
)
PERIODS = (*(unit.upper() for unit in CYCLES), "YEAR", "FISCAL YEAR")
GROUPS = {
    "cycle": CYCLES,
    "yearly": ("date", "month", "season", "quarter", "named", "part", "day", "span"),
    "period": PERIODS,
    "any": CYCLES + PERIODS,
}
