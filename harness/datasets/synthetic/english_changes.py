"""English facts that are told and later replaced."""

from __future__ import annotations

from harness.datasets.synthetic.parts import ChangingTopic

CHANGING = (
    ChangingTopic(
        "badge",
        ("the aquarium", "a map publisher", "the tax office", "a cheese importer", "the depot"),
        (
            "First week in the new job at {v}. My badge photo could be a police sketch.",
            "They hired me! From Monday on I work for {v}.",
        ),
        (
            "I handed in my notice after all. From the first I work for {v}, much closer.",
            "Plot twist: they let half of us go, and {v} gave me a job the same week.",
        ),
        ("Where does {who} work now?", "Who is {who}'s current employer?"),
        ("I read that {v} is getting a new roof. About time.", "My badge says Guest 14. Fair."),
    ),
    ChangingTopic(
        "boxes",
        ("the canal quarter", "Mill Hill", "the marina", "the bakery building", "Station Yard"),
        (
            "Boxes everywhere, but the kettle turned up: first night in our home in {v}.",
            "Signed the lease for a flat in {v}. The landlord owns a parrot.",
        ),
        (
            "The damp won. We have moved to {v} with everything, come and see.",
            "For your address book: I live in {v} as of this week, second floor.",
        ),
        ("Where does {who} live these days?", "In which place is {who}'s present home?"),
        ("A wedding in {v} blocked the bridge for an hour.", "The boxes of tea were on offer."),
    ),
    ChangingTopic(
        "lane",
        (
            "at six in the morning",
            "on Tuesday nights",
            "in the lunch break",
            "on Sunday afternoons",
        ),
        (
            "Coach has me swimming {v}. I smell of chlorine for good.",
            "Booked the slow lane at the pool {v}, wish me luck.",
        ),
        (
            "Coach has swapped us around, my swim is {v} from here on.",
            "Gave up the old slot at the pool. I do my lengths {v}, far quieter.",
        ),
        ("When does {who} go swimming at present?", "What is {who}'s time for sport now?"),
        ("The plumber can only come {v}, naturally.", "The café at the pool does decent soup."),
    ),
    ChangingTopic(
        "evening class",
        ("Basque", "Cantonese", "Icelandic", "Swahili", "Czech"),
        (
            "Lesson three of {v}, and I can order soup and apologise.",
            "The evening school has put me into {v} for beginners, second row.",
        ),
        (
            "I left that course, wrong teacher. I am learning {v} now, and the verbs hate me.",
            "Too few people, the language class is off. So I have gone over to {v}.",
        ),
        ("Which language is {who} learning now?", "What foreign tongue does {who} now study?"),
        ("The film was in {v}, no subtitles. I guessed the ending.", "Soup, again. I apologise."),
    ),
    ChangingTopic(
        "breakfast",
        ("oat cappuccino", "smoked tea", "chicory coffee", "matcha", "hot lemon water"),
        (
            "My morning does not begin before a cup of {v}, ask anybody.",
            "The doctor lets me keep one vice, so I drink {v} at eight sharp.",
        ),
        (
            "No more of that, it ruined my sleep. I drink {v} at breakfast now.",
            "You would not know my kitchen table any more: a pot of {v}, every single morning.",
        ),
        ("What does {who} drink in the morning nowadays?", "Which beverage wakes {who} lately?"),
        ("The machine at the station does {v} too. Tastes of coins.", "Breakfast was a biscuit."),
    ),
    ChangingTopic(
        "training plan",
        ("the Bergen half marathon", "the lake crossing", "the river run", "the hill relay"),
        (
            "It is official, my name is down for {v}. Send bananas.",
            "The training plan on my fridge ends with {v}, circled in red.",
        ),
        (
            "The organisers moved the race, so my entry is for {v} now.",
            "Coach talked me out of it. The new goal is {v}, and I feel lighter.",
        ),
        ("Which race is {who} preparing for now?", "What is {who}'s latest athletic goal?"),
        ("My brother-in-law saw {v} on television. Twice.", "Bananas were cheap. I own eleven."),
    ),
    ChangingTopic(
        "reading circle",
        ("The Salt Ledger", "A House for Winter", "Nine Quiet Rivers", "The Borrowed Orchard"),
        (
            "Our book circle drew {v}. Forty pages in, and I am suspicious of the aunt.",
            "Started reading {v} for the circle. Somebody tell me that it gets faster.",
        ),
        (
            "Nobody could finish that book, so the circle is doing {v} instead.",
            "We voted again last night: the next novel is {v}, and I like the narrator.",
        ),
        (
            "Which novel is {who} reading with others now?",
            "Which book is {who}'s group on currently?",
        ),
        ("There is a tote bag that says {v}. I nearly bought it.", "My aunt writes a memoir."),
    ),
)
