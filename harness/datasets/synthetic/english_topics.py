"""English facts that are told once."""

from __future__ import annotations

from harness.datasets.synthetic.parts import Telling, Topic

TOPICS = (
    Topic(
        "puppy",
        ("Biscuit", "Pepper", "Moss", "Clementine", "Otto"),
        (
            Telling(
                "We finally brought the puppy home. Answers to {v} already, if there is cheese.",
                "What is the puppy called that {who} brought home?",
            ),
            Telling(
                "There is a puppy asleep on my feet. After an hour of arguing we named him {v}.",
                "How did {who} name the puppy?",
            ),
        ),
        (
            "What is the name of the dog that lives with {who}?",
            "What did {who} decide to call the new pet?",
        ),
        "What are the dogs of {a} and {b} called?",
        (
            "The neighbour's puppy got into our recycling. Tag says Ranger, manners disagree.",
            "Someone at work christened the new printer {v}. I did not know where to look.",
        ),
    ),
    Topic(
        "food thing",
        ("hazelnuts", "shellfish", "kiwi", "sesame", "celery"),
        (
            Telling(
                "Please no {v} on Friday, with my allergy that ends in an ambulance.",
                "Which allergy does {who} have?",
            ),
            Telling(
                "Sent back the starter again: there was {v} in it, and my throat closes up.",
                "Why did {who} send the starter back?",
            ),
        ),
        (
            "Which food can {who} not eat without getting ill?",
            "What ingredient should a cook leave out for {who}'s health?",
        ),
        "Which allergies do {a} and {b} have?",
        (
            "The new place puts {v} on every plate. It looked wonderful, I had two helpings.",
            "Friday works. I will bring something for the table, as long as it is not my cooking.",
        ),
    ),
    Topic(
        "accent",
        ("Tromsø", "Galway", "Porto", "Pécs", "Hobart"),
        (
            Telling(
                "The radio did an hour on {v}. I grew up there and did not know a single street.",
                "Where did {who} grow up?",
            ),
            Telling(
                "My accent slips out when I am tired. You can take the kid out of {v} and so on.",
                "Where does {who}'s accent come from?",
            ),
        ),
        (
            "In which town was {who} born and raised?",
            "What is {who}'s home town, the place of childhood?",
        ),
        "In which towns were {a} and {b} raised?",
        (
            "A colleague plans a long weekend in {v} and treats me like a travel desk.",
            "I faked an accent for the school play once. The review was one word.",
        ),
    ),
    Topic(
        "practising",
        ("the accordion", "the viola", "the bassoon", "the steel drum", "the harp"),
        (
            Telling(
                "My fingers hurt: two hours of practice on {v}. The neighbours no longer wave.",
                "What does {who} practise for hours?",
            ),
            Telling(
                "I dug {v} out of the attic and signed up for music lessons, twenty years late.",
                "For what did {who} sign up for lessons?",
            ),
        ),
        (
            "Which musical instrument is {who} learning to play?",
            "On what instrument does {who} make music at home?",
        ),
        "Which instruments do {a} and {b} play?",
        (
            "The street band had somebody on {v} who clearly hated every minute.",
            "Two hours of hedge trimming. My fingers are done and so is the hedge.",
        ),
    ),
    Topic(
        "way to the office",
        ("the cargo bike", "the harbour ferry", "the early tram", "the old scooter"),
        (
            Telling(
                "Made it to work in eighteen minutes on {v}, a new record.",
                "How does {who} get to work?",
            ),
            Telling(
                "Laugh about me and {v}, but I have not paid for office parking since March.",
                "Why does {who} need no parking?",
            ),
        ),
        (
            "What does {who} use for the daily commute?",
            "By what means of transport does {who} travel to the office?",
        ),
        "How do {a} and {b} travel to their jobs?",
        (
            "A child has drawn {v} on the wall of the clinic, better than I could.",
            "Parking at the hospital cost more than the appointment.",
        ),
    ),
    Topic(
        "freezing up",
        ("heights", "moths", "deep water", "lifts", "thunder"),
        (
            Telling(
                "Do laugh: I froze in panic because of {v}. My cousin held my sleeve.",
                "What makes {who} freeze?",
            ),
            Telling(
                "My hands shook just reading the leaflet. You know how scared I get of {v}.",
                "What is {who} scared of?",
            ),
        ),
        (
            "What is {who} so afraid of that it is almost a phobia?",
            "Which fear makes {who} tremble?",
        ),
        "What are {a} and {b} scared of?",
        (
            "Read a long piece about {v} on the train. Charming, I could do it all day.",
            "The leaflet for the museum pass is in my bag. Remind me or it stays there.",
        ),
    ),
    Topic(
        "jar on the shelf",
        ("a pottery kiln", "a narrowboat", "solar panels", "a second-hand piano", "a telescope"),
        (
            Telling(
                "Another month of packed lunches. The savings jar says {v}, a third full.",
                "What is {who}'s savings jar for?",
            ),
            Telling(
                "No concert for me, I am putting every spare coin aside for {v}.",
                "What does {who} put coins aside for?",
            ),
        ),
        (
            "What expensive thing is {who} saving money for?",
            "Which big purchase does {who} hope to afford?",
        ),
        "What are {a} and {b} saving money for?",
        (
            "My uncle got rid of {v} last year and has talked of nothing else since.",
            "We opened the jar of pickled plums on the shelf at last. Worth the wait.",
        ),
    ),
    Topic(
        "Thursday thing",
        ("the seed library", "the night shelter", "the lifeboat station", "the repair café"),
        (
            Telling(
                "Thursday evenings are taken now: I volunteer at {v}.",
                "What does {who} do on Thursday evenings?",
            ),
            Telling(
                "Nobody pays me a penny, but helping at {v} is the best part of my week.",
                "Where does {who} help without being paid?",
            ),
        ),
        (
            "Which charity does {who} support with unpaid work?",
            "Where does {who} give free time to help others?",
        ),
        "Where do {a} and {b} help out without a wage?",
        (
            "They hung a poster for {v} beside the lift. Nice lettering.",
            "On Thursday evenings I lie on the sofa and nobody may speak to me.",
        ),
    ),
    Topic(
        "recipe card",
        ("quince jam", "poppy-seed cake", "cabbage rolls", "ginger beer", "plum dumplings"),
        (
            Telling(
                "Copied out grandma's recipe for {v} before it fades. Three spellings of sugar.",
                "Which recipe did {who} copy out?",
            ),
            Telling(
                "The whole flat smells of {v}. Gran would say that I rushed it.",
                "What does {who}'s flat smell of?",
            ),
        ),
        (
            "Which dish does {who} cook after the grandmother's instructions?",
            "What traditional family food does {who} prepare at home?",
        ),
        "Which inherited dishes do {a} and {b} prepare?",
        (
            "The bakery had run out of {v} by nine. People are animals.",
            "The ink on my ticket had faded so far that the guard waved me through.",
        ),
    ),
    Topic(
        "physio",
        ("left knee", "right wrist", "collarbone", "ankle", "lower back"),
        (
            Telling(
                "The physio folds my {v} like origami and calls it progress.",
                "What is the physio treating on {who}?",
            ),
            Telling(
                "Still sleeping with a pillow under my {v} since the fall on the stairs.",
                "Where was {who} hurt on the stairs?",
            ),
        ),
        (
            "Which part of the body did {who} injure in an accident?",
            "What is {who} getting medical treatment for?",
        ),
        "Which injuries are {a} and {b} recovering from?",
        (
            "The poster in the waiting room has the {v} labelled upside down.",
            "A new pillow has arrived. I am now a person who reviews pillows.",
        ),
    ),
    Topic(
        "outline",
        ("bee navigation", "medieval bridges", "lichen", "tide prediction", "lullabies"),
        (
            Telling(
                "Outline submitted! Two hundred pages on {v}, and my supervisor smiled.",
                "What did {who} submit to the supervisor?",
            ),
            Telling(
                "If I bring up {v} at dinner again, kick me. The thesis is eating my brain.",
                "What is {who}'s thesis about?",
            ),
        ),
        (
            "Which subject does {who} do academic research on?",
            "What is the topic of {who}'s university dissertation?",
        ),
        "What are the theses of {a} and {b} about?",
        (
            "The quiz had a question on {v}, and our table lost to the dentists.",
            "My supervisor at the café smiled because I broke only one cup.",
        ),
    ),
    Topic(
        "search party",
        ("the silver thimble", "grandfather's watch", "the green umbrella", "the spare keys"),
        (
            Telling(
                "I turned the whole flat upside down and still cannot find {v}.",
                "What can {who} not find in the flat?",
            ),
            Telling(
                "Rang the bus company, I left {v} on a seat. They offered me eleven gloves.",
                "What did {who} leave on the bus?",
            ),
        ),
        (
            "Which belonging has {who} lost and is searching for?",
            "What object of {who}'s has gone missing?",
        ),
        "What have {a} and {b} mislaid?",
        (
            "In the film they hide the letter with {v}. Silly, but I cried.",
            "The bus company has a new app. It believes that I live in a river.",
        ),
    ),
    Topic(
        "sketch",
        ("a heron", "a compass rose", "a fern leaf", "a teapot", "a lighthouse"),
        (
            Telling(
                "It stings, but the tattoo of {v} looks exactly like the sketch.",
                "What is {who}'s tattoo?",
            ),
            Telling(
                "Mum saw {v} on my arm, still under foil. She asked whether the ink washes off.",
                "What did Mum see on {who}'s arm?",
            ),
        ),
        (
            "What picture did {who} have inked on the skin?",
            "Which design did {who} choose for body art?",
        ),
        "What do the tattoos of {a} and {b} show?",
        (
            "Bought you a postcard with {v} on it, for the fridge.",
            "The shoulder is fine, thanks. It was only the heavy shopping.",
        ),
    ),
)
