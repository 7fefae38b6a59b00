"""English conversations: names, events, relations and the talk around them."""

from __future__ import annotations

from harness.datasets.synthetic.english_changes import CHANGING
from harness.datasets.synthetic.english_topics import TOPICS
from harness.datasets.synthetic.parts import Event, Language, Relation

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_SINGLE = (
    Event(
        ("Guess who passed the driving test yesterday, on the fourth attempt!",),
        ("When did {who} get a licence?", "Since when may {who} drive a car?"),
    ),
    Event(
        ("My nephew arrived last night, four kilos, furious about it.",),
        ("When did a baby come into {who}'s family?", "On which day was {who}'s nephew born?"),
    ),
    Event(
        ("The boiler burst this morning. I am typing this in a coat and two hats.",),
        ("When did the heating fail at {who}'s place?", "On what date did {who}'s boiler burst?"),
    ),
    Event(
        ("They took my appendix out on Sunday. I asked to keep it, they said no.",),
        ("When did {who} have an operation?", "When was {who} in hospital?"),
    ),
    Event(
        ("Won the raffle last night: a ham the size of a toddler.",),
        ("When did {who} win a prize?", "On which date was {who} lucky in a draw?"),
    ),
    Event(
        ("We missed the last boat yesterday and slept in the waiting room.",),
        ("When was {who} stranded overnight?", "When did {who} fail to catch a ferry?"),
    ),
)

_RECURRING = (
    Event(
        (
            "Up the ridge path on Sunday, fog all the way, marvellous.",
            "Another hike behind me: the gorge this time, wet to the hips.",
            "We walked the pilgrims' way on Saturday, blisters like coins.",
        ),
        ("Where did {who} go walking in {month}?", "Which hike did {who} do in {month}?"),
    ),
    Event(
        (
            "The little cinema had the one about the clockmaker. Cried at the credits.",
            "Cinema again, a western without a single horse.",
            "We queued for the silent film with live piano, and it rained inside.",
        ),
        ("What did {who} see at the cinema in {month}?", "Which movie did {who} watch in {month}?"),
    ),
    Event(
        (
            "My bread rose so far that it met the grill.",
            "Tried the rye loaf. You could tile a roof with it.",
            "The brioche collapsed the moment I praised it.",
        ),
        ("How did {who}'s baking go in {month}?", "What came out of {who}'s oven in {month}?"),
    ),
    Event(
        (
            "My godmother came for three days and rearranged the spice shelf.",
            "Two old classmates slept on the sofa, both snore in thirds.",
            "The in-laws stayed over and brought their own towels.",
        ),
        ("Who visited {who} in {month}?", "Which guests did {who} put up in {month}?"),
    ),
    Event(
        (
            "Mended the garden gate with a spoon and far too much glue.",
            "Saturday under the sink. The leak is gone, so is my dignity.",
            "I hung the bathroom door again, it opens into another century.",
        ),
        (
            "What did {who} repair in {month}?",
            "Which job around the house did {who} do in {month}?",
        ),
    ),
)

_RELATIONS = (
    Relation(
        "My sister {n} is coming over with her two suitcases.",
        "{n} got promoted, head of {v}, and cannot stop humming.",
        ("the bakery line", "bridge inspection", "the radio archive"),
        "What is the job of {who}'s sister?",
    ),
    Relation(
        "The neighbour downstairs, {n}, lent us the ladder again.",
        "{n} has left for {v} until spring, and I got the plants.",
        ("Madeira", "Lapland", "Crete"),
        "Where does the person living below {who} spend the winter?",
    ),
    Relation(
        "My new boss is called {n} and signs mails with a drawing of a duck.",
        "{n} broke a tooth on {v} at the party, poor soul.",
        ("a caramel apple", "an olive stone", "a frozen grape"),
        "What was bad for the teeth of {who}'s manager?",
    ),
    Relation(
        "I have found {n} again, we shared a desk for six years at school.",
        "{n} is marrying {v} in spring, and I am to make the cake.",
        ("a beekeeper", "a tuba player", "a glacier guide"),
        "Whom will {who}'s old classmate wed?",
    ),
    Relation(
        "Our landlady, {n}, counts the steps aloud when she comes up.",
        "They found {v} under the floor when {n} had the hall redone.",
        ("a Roman tile", "a bundle of love letters", "a jar of coins"),
        "What was discovered at the house of {who}'s landlady?",
    ),
    Relation(
        "My old chemistry teacher, {n}, waved at me from a tandem.",
        "{n} has opened {v} on the market square, of all things.",
        ("a button shop", "a noodle bar", "a kite workshop"),
        "Which business did the person who taught {who} start?",
    ),
)

ENGLISH = Language(
    code="en",
    task_prefix="",
    speakers=(("Nora", "Tomas"), ("Priya", "Callum"), ("Hanna", "Jonah"), ("Wei", "Martha")),
    third_parties=("Ines", "Odile", "Marit", "Soraya", "Lucinda", "Greta", "Noor", "Yvonne"),
    topics=TOPICS,
    changing=CHANGING,
    single_events=_SINGLE,
    recurring_events=_RECURRING,
    relations=_RELATIONS,
    greetings=(
        "Hey {other}, are you about?",
        "Morning! Sorry for the silence, {x} happened.",
        "Hi {other}, got five minutes?",
        "There you are. How was your week?",
        "{other}! I have been meaning to write since {x}.",
    ),
    farewells=(
        "Right, dinner is burning. Speak soon!",
        "Have to run, {x} is waiting. Bye!",
        "Good night, {other}. Sleep well.",
        "Same time next month? Take care.",
        "Off I go. Greetings to everyone.",
    ),
    replies=(
        "Oh, the {thing}! I want to hear all of it when we meet.",
        "The {thing} again? You never do things by halves.",
        "I would have paid to see that.",
        "Ha, that is so like you.",
        "And I thought my week was strange. What did the others say about the {thing}?",
        "No! Really? Since when?",
        "Keep me posted on the {thing}, will you?",
        "Ring me when things have calmed down.",
    ),
    small_talk=(
        "It has rained since {x}, and the crow on the wire takes it personally.",
        "Do you remember {x}? I laughed about it on the tram today.",
        "I have an opinion about {x} and nobody to tell it to.",
        "The queue at the post office was longer than {x}.",
        "My horoscope warns me of {x}. Noted.",
        "Have you eaten? I am living on toast and {x}.",
        "Work is work. Three meetings about {x}.",
        "The cat from number nine has discovered {x}.",
        "I cannot decide whether I need a holiday or only {x}.",
        "Somebody on our street has put out {x} with a sign: free.",
        "The lights went out for a minute, just as I was reading about {x}.",
        "Honestly, after {x} nothing surprises me.",
    ),
    odds=(
        "the school fête",
        "the broken lift",
        "last winter",
        "a very small cake",
        "the new timetable",
        "the tax form",
        "two left gloves",
        "the brass band",
        "half a melon",
        "the car wash",
        "the parish newsletter",
        "the phone update",
    ),
    advice_openings=(
        "Since you asked about the {thing}, here is what I would do.",
        "Let me put my thoughts on the {thing} in order.",
        "You want a plan for the {thing}? This is the one that I give everybody.",
    ),
    advice=(
        "First write down what you know and what you merely assume.",
        "Then talk to somebody who knows the {thing} business, ideally twice.",
        "Set yourself a date, put it on the fridge, and tell one person who will ask.",
        "Do not buy anything in the first week; most of what is sold for it gathers dust.",
        "If it costs sleep, it is the wrong pace, so halve it and look again in ten days.",
        "Keep a small notebook: three words a day about the {thing} are plenty.",
        "People will have opinions. Thank them, nod, and change the subject to the weather.",
        "There is no prize for doing it alone, and asking early is cheaper than asking late.",
        "When it goes wrong, and once it will, note why while you are still annoyed.",
        "Finally, plan something pleasant for the day after, whatever comes of it.",
    ),
    sentence_space=" ",
    month=lambda date: f"{_MONTHS[date.month - 1]} {date.year}",
)
