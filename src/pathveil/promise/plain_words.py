"""The sentences of the explanation that do not depend on the parameters.

Every technical word is explained where it is first used or in `WORDS`; a test checks the list.
"""

NOT_PRIVATE = (
    "NOT PRIVATE: the noise of this release came from an injected generator, which anybody may "
    "repeat. Nothing below holds for it. It is for tests only and must never be published."
)
PROMISE = (
    "The release is made so that it comes out nearly the same whether or not any one unit "
    "({such_as}) is in the data; so it can tell only little about that unit. How little is set by "
    "one number, ε (epsilon): the smaller ε, the stronger the promise."
)
HOLDS_AGAINST = (
    "This holds whatever else somebody knows or will know, however much they compute, and "
    "whatever they do with the release. It is a statement about probabilities, proved "
    "mathematically (“differential privacy”), not a statement that nothing at all can be learnt."
)
DELTA = (
    "There is an exception, whose probability is at most δ (delta) for each unit, here {delta}: "
    "the list of places was itself made from the data. A place is named only if its noisy count is "
    "larger than one unit alone can make it; but by an unlikely draw of the noise a place where "
    "only one unit ever went may be named all the same, and that shows that somebody was there. "
    "Apart from that event, all that is said below about ε holds. Over several units or releases "
    "the δ add up, as the ε do."
)
PLUS_DELTA = ", plus δ (delta), a probability so small that it is to be neglected."
GAUSSIAN_DELTA = (
    "δ is here {delta}. What was shared out among counts with Gaussian noise is another number, "
    "ρ = {rho} (rho, of “zero-concentrated” differential privacy){beside}. It says how fast large "
    "losses become rare: "
    "a loss above ε has about the probability δ, one much larger is much rarer still, and there is "
    "none that shows somebody outright. All that is said below about ε holds but for a probability "
    "of about δ. Over several units or releases it is the ρ that add up, and ε follows from their "
    "sum; to add up ε and δ is right too, and says more than is lost."
)
BESIDE_RHO = "; it implies a part of ε, and the counts with Laplace noise have the rest, ε = {pure}"
UNUSED_DELTA = (
    "δ (delta) is here {delta}: with that probability the promise might have failed, had the "
    "software found it better to use noise of another kind (Gaussian) for some counts. It decided "
    "by noisy counts to do without, so nothing below has an exception; but since that decision "
    "followed from the data, however noisily, δ is told and counted."
)
NO_DELTA = "There is no exception: the promise holds for every outcome (“pure”, δ = 0)."
OVER_THE_BOUND = (
    "Of a unit with more trajectories (a trajectory is one ordered list of places) some are "
    "chosen by looking at that unit's own rows only, and the others are left out before anything "
    "is counted. So a frequent traveller is protected exactly as well as anybody else, and the "
    "rest of what they did is not in the release at all."
)
ONE_TRIP = (
    "ε covers all of them together, and is the number to judge the release by. If a unit has at "
    "most {most} trajectories, one of them by itself (all of it there or not there) is protected "
    "with {each}, because it is one part in {most} of what the unit may change."
)
ONE_OF_MORE = {
    "first": (
        "If a unit has more, one of them is protected with {each}: when one of those that are used "
        "is taken away, the next is used in its place, so that two change."
    ),
    "sample": (
        "If a unit has more, one of them by itself is protected with {each} only: which others are "
        "sampled may follow from whether it is there, so that all that are used may change, as if "
        "the unit were exchanged for another."
    ),
}
ONE_OF_UNKNOWN = (
    "If a unit has more, nothing is claimed for one of them: that depends on which are used."
)
YEAR = {
    "person": "The unit is a person, with all that they do in the data.",
    "person-week": (
        "The unit is not a person, but one week of a person: whether somebody was there in one "
        "week is hidden, whether they are there at all is hidden less the more weeks there are."
    ),
    "person-day": (
        "The unit is not a person, but one day of a person: whether somebody was there on one day "
        "is hidden, whether they are there at all is hidden less the more days there are."
    ),
    "trip": (
        "The unit is not a person, but one trip: whether one trip was made is hidden, whether "
        "somebody is there at all is hidden less the more trips they make."
    ),
}
SEVERAL_CARDS = (
    "A card is not a person. If the unit is a card, somebody who travels on several cards is "
    "several units and is protected less: ε is multiplied by the number of cards. If one card is "
    "shared by a family, the family is the unit."
)
SEVERAL_CARDS_IN_RHO = (
    "A card is not a person. If the unit is a card, somebody who travels on several cards is "
    "several units and is protected less: ρ is multiplied by the square of the number of cards. If "
    "one card is shared by a family, the family is the unit."
)
ATTACKER = (
    "Imagine the strongest attacker: one who knows every row of everybody else, all choices on "
    "this page and the software, and wants to know something about one unit. Before the release "
    "the attacker believes it with some probability. The table bounds what the belief can be "
    "after seeing the release. For somebody who knows less, the same bounds hold for what this "
    "unit's own data adds to what the data of all the others teaches. The bounds are certified: "
    "lower ones are rounded down, upper ones up."
)
TWO_QUESTIONS = (
    "“Was this unit in the data?” costs ε. “Did this unit make this journey or that one?”, about "
    "a unit that is known to be in the data, can cost up to 2ε, because changing a journey is "
    "taking one out and putting another in."
)
TWO_QUESTIONS_IN_RHO = (
    "“Was this unit in the data?” costs ε. “Did this unit make this journey or that one?”, about "
    "a unit that is known to be in the data, can cost four times ρ, because changing a journey is "
    "taking one out and putting another in; the ε of that is told in the table, at the same δ."
)
WEAK = (
    "This ε is large: an attacker who was undecided may become nearly certain. The promise is "
    "weak, and the release should not be called anonymous because of it."
)
CUT_TREE = (
    "Only the first {height} places of a trajectory are looked at; what comes after them is "
    "dropped before anything is counted. A trajectory counts once on each level of the prefix "
    "tree (the tree of all beginnings of journeys: “first A, then B”)."
)
CUT_CALIBRATED = (
    "How much one trajectory can add to each table of counts is capped; what goes beyond the cap "
    "is not counted. The table under “How it is done” has what follows from each cap."
)
MULTIPLIES = (
    "ε belongs to one unit and one release. It is multiplied when several units belong together, "
    "and adds up over releases about the same people."
)
MULTIPLIES_IN_RHO = (
    "ε belongs to one unit and one release. When several units belong together, their number "
    "squared times ρ is lost; over releases about the same people the ρ add up. The ε of such a "
    "ρ is told at the same δ."
)
SITUATIONS = (
    ("one person, one card, this release", 1),
    ("a person with 2 cards, each a unit", 2),
    ("a secret of a family of 4, each a unit", 4),
)
SMALL_SITUATIONS = (
    ("one unit, this release", 1),
    ("2 units that belong together", 2),
)
RELEASES = 12
REPEATED = f"this unit in {RELEASES} releases like this one"
NOISE = (
    "Before any count leaves the protected part of the software, noise is added to it: a random "
    "whole number, positive or negative, from the two-sided geometric distribution (Laplace noise "
    "in whole numbers: small values are common, large ones rare). Counts of zero get noise as "
    "well, so that a place where only one unit ever went does not stand out. The noise is drawn "
    "exactly, without rounding, from the operating system's secure generator."
)
GAUSSIAN_NOISE = (
    "Before any count leaves the protected part of the software, noise is added to it: a random "
    "whole number, positive or negative, from the Gaussian distribution over whole numbers (small "
    "values are common, large ones very rare). Counts of zero get noise as well, so that a place "
    "where only one unit ever went does not stand out. The noise is drawn exactly, without "
    "rounding, from the operating system's secure generator."
)
TWO_NOISES = (
    "Before any count leaves the protected part of the software, noise is added to it: a random "
    "whole number, positive or negative; for some counts from the two-sided geometric distribution "
    "(Laplace noise in whole numbers), for others, where that is smaller, from the Gaussian "
    "distribution over whole numbers. Counts of zero get noise as well, so that a place where only "
    "one unit ever went does not stand out. The noise is drawn exactly, without rounding, from "
    "the operating system's secure generator."
)
SHARES_OF_BOTH = (
    "Each kind of count with Laplace noise spends a share of ε, each with Gaussian noise a share "
    "of ρ, and what follows from ρ at δ is the rest of ε. The smaller the share, and the more one "
    "unit can change the count, the larger its noise. More than 6 counts in 10 are off by no more "
    "than the typical noise."
)
CLIPPED = (
    "In tables with Gaussian noise a person's trips are weighed: if all of them together would add "
    "more to a table than a norm that is fixed before it is counted, each of them counts less, in "
    "parts of 256. So the noise need not be as large as if all trips of a person were alike. The "
    "figures of such tables are in whole trips, and the change is that of all of a unit's trips, "
    "as a length (in L2)."
)
SHARES_OF_RHO = (
    "ρ is a budget: each kind of count spends a share of it, and the shares sum to ρ exactly. The "
    "less ρ a count gets, and the more one unit can change it, the larger its noise. More than 6 "
    "counts in 10 are off by no more than the typical noise."
)
SHARES = (
    "ε is a budget: each kind of count spends a share of it, and the shares sum to ε exactly. The "
    "less ε a count gets, and the more one unit can change it, the larger its noise. More than 6 "
    "counts in 10 are off by no more than the typical noise."
)
PLANNED = (
    "The first counts, which say how many trajectories there are, how long they are and where they "
    "end, have fixed shares. All that follows was planned from these noisy counts, for the purpose "
    "“{purpose}”: which tables are worth measuring, with which share, and how much of a trajectory "
    "each looks at. Planning sees noisy counts only, so it costs nothing more, and whatever it "
    "decides, the shares sum to {budget}. It went by these figures: {figures}."
)
CHOICES = (
    "These are public, and are meant to be chosen without looking at the data. The software can't "
    "know how the publisher came to choose them: publishers may look at their own data at any time."
)
NONE_FROM_DATA = "The software itself took none of them from the data."
FROM_DATA = (
    "What stands below the table was chosen from the data by the software, by noisy counts; what "
    "that cost is part of ε."
)
MADE_TREE = (
    "Paths that too few took fall below the threshold (the smallest noisy count that is kept) and "
    "are missing; some paths in the release were taken by nobody and passed by chance. No row is "
    "a person's."
)
MADE_CALIBRATED = (
    "The trajectories are synthetic: made up so that they agree with the noisy counts. No row is "
    "a person's, and some paths in the release were taken by nobody."
)
ACCURACY = (
    "Large counts are nearly right, small ones mostly noise. Groups and places with few people "
    "are shown less well than large ones, which matters when decisions about them rest on the "
    "release. Don't draw conclusions from differences that are smaller than the noise."
)
TRUST = (
    (
        "The model is central: the publisher holds the raw data, and runs the software on it. One "
        "must trust the publisher to keep the raw data safe, to name the right column as the "
        "unit, to make the public choices without looking at the data, and to report every "
        "release. The promise protects against those who see the release, not against the "
        "publisher."
    ),
    (
        "One must trust the software and the computer it ran on. The software can be inspected, "
        "and `pathveil audit` attacks it on data made up for the purpose."
    ),
)
ACCESS = (
    "The release is a set of files that anybody may have. It answers any number of questions: "
    "nothing that is computed from it weakens the promise. Nobody can ask the raw data anything "
    "through it."
)
COMPOSITION = (
    "Every further release about the same people does weaken it: the ε of all of them add up, "
    "whoever made them and with whatever software."
)
LEDGER = (
    "The publisher keeps a ledger (a book of every release and its ε) for the data set "
    "{dataset!r}; this release was entered before the data was read. What the ledger adds up is "
    "only as complete as what was entered in it."
)
SERIES = (
    "It is release {release}, of {period}, of the series {series!r}. All releases of this series "
    "together, those to come included, have {together} for a person who is in every one of them; "
    "the ledger refuses what would go over it."
)
NO_LEDGER = (
    "The certificate names no ledger (a book of every release and its ε), so nothing here says how "
    "many other releases there are."
)
OUTSIDE = "The promise does not cover:"
GIVEN_LIST = (
    "The list of locations that the publisher gave, with names and coordinates: it is printed as "
    "it is."
)
ALSO_OUTSIDE = (
    (
        "Secrets of a group: what is true of a family, a club or a busload together shows more "
        "the more of them there are."
    ),
    (
        "What the release teaches about people in general and that applies to you too. If nearly "
        "everybody who boards at A leaves at B, a reader may guess the same of you, whether or "
        "not you were in the data."
    ),
    "Other knowledge about you, other data sets, and releases that were made with other software.",
    GIVEN_LIST,
    "That the release exists, when it appeared, who made it, and this page.",
    (
        "Side channels: running time, use of memory and power, network traffic and file sizes on "
        "the publisher's computer. Who can watch that computer, or read its disk, needs no "
        "release."
    ),
    (
        "How the data was collected, whether people agreed to it, and what the publisher does "
        "with the raw data."
    ),
)
WORDS = (
    "Unit: whoever or whatever is protected as one; here {such_as}.",
    "Trajectory: one ordered list of locations that a unit visited, such as a day or a week.",
    "Universe: the list of all locations that can occur in a release.",
    "Height: how many locations of a trajectory are looked at, and how many levels the tree has.",
    "Prefix tree: all beginnings of journeys, with how many trajectories begin so.",
    "Noise: a random number that is added to a count so that one unit can't be told from it.",
    "Threshold: the smallest noisy count that is kept.",
    "Method: how trajectories are made from noisy counts: basic, full or calibrated.",
    (
        "ε (epsilon), privacy budget, privacy loss: the limit on how much the release can depend "
        "on one unit; e^ε is the largest ratio of probabilities."
    ),
    (
        "Belief: how probable somebody holds a statement to be. Odds say the same: a belief of "
        "50% is odds of 1 to 1."
    ),
    "δ (delta): the probability that the promise fails for a unit; 0 if it never does.",
    "Release: the published files.",
    "Certificate: the file privacy-certificate.json, which says all this to programs.",
)
RHO_IN_WORDS = (
    "ρ (rho): the budget that was shared out; for each δ there is an ε that follows from it."
)
