"""Every tuning constant of the calibrated method: what it means, and where it comes from.

They stand with the statistics, and not with `methods.calibrated`, because the plan and the tables
read them and lie below the method. All are public: they depend on no dataset that is published,
and a release's certificate tells what followed from them.

Where a number comes from is said for each group:

- *by hand*: chosen while looking at the results on the datasets of docs/accuracy.md, msnbc and
  stm_like first; none was held out, and no search was recorded. Others may be better.
- *by experiment*: the figures stand beside it.
- *by argument*: it follows from the reason beside it, or any number of its size would do.

Not here: bins, which say what a table's cells are (`shapes`, `reach`, `actions`, `visits`); sizes
of chunks, which change the time that a run takes and nothing else; and bounds on the work of
compiled code (`synthesis.walk`, `synthesis.times`), which is kept on disk until its own file
changes and would not see a change of this one.
"""

from fractions import Fraction
from typing import Final

import numpy as np

# The budget. Shares by the name of the statistic, in the order in which they are measured; with
# those of the tree's levels they sum to 1. Who has a share is measured: `all_statistics` finds the
# file of that name.
# The first three are measured before anything is planned. The others have these shares only if
# nothing stands out of the noise by then; else the planner gives them theirs, below.
# By hand, on msnbc and stm_like; "visited sets" and "reach" came later, from the others' shares.
SHARES: Final = {
    "total": Fraction(1, 100),
    "shapes": Fraction(5, 100),
    "last locations": Fraction(3, 100),
    "visits": Fraction(20, 100),
    "returns": Fraction(9, 100),
    "zones": Fraction(1, 100),
    "actions": Fraction(6, 100),
    "moves": Fraction(16, 100),
    "distances": Fraction(1, 100),
    "pairs": Fraction(10, 100),
    "trips": Fraction(3, 100),
    "visited sets": Fraction(5, 100),
    "reach": Fraction(2, 100),
    "validation": Fraction(2, 100),
}
TREE_SHARE: Final = Fraction(16, 100)  # of all levels together
TREE_RATIO: Final = Fraction(17, 20)  # a level gets this much of the budget of the one above
# Trajectories with times: so much of the budget goes to when, the rest to where as above.
# By hand, on the datasets of docs/timestamps.md.
TIME_SHARES: Final = {
    "first slots": Fraction(4, 100),
    "pauses": Fraction(6, 100),
    "slots": Fraction(5, 100),
    "visit slots": Fraction(10, 100),
}

# The planner (`statistics.planner`): shares and caps that follow from a noisy first look.
# What a table is worth: its error if it is not measured at all, beside that of the others. By
# experiment with a prototype on msnbc, stm_like, cabspotting and mibici and on simulated data; then
# that of visits on mibici, stm_like and open simulators. 8, 16 and 24: the error of queries on
# mibici 0.030, 0.023, 0.021 (6 runs), on stm_like 0.013, 0.010, 0.008; divergence of transitions on
# walks on a grid 0.036, 0.040, 0.052, patterns there 232, 238, 234 (3 runs).
WORTH: Final = {
    "visits": 16.0,
    "returns": 0.7,
    "zones": 0.2,
    "actions": 0.15,
    "moves": 0.6,
    "distances": 0.2,
    "pairs": 0.3,
    "trips": 0.1,
    "visited sets": 0.2,
    "reach": 0.2,
    "validation": 0.15,
    "prefix tree": 0.3,
}
# What a purpose changes of that: so many times as much. By argument; that of trips by experiment,
# on simulated classes and commuters: `bench.flows`.
PURPOSES: Final = {
    "everything": {},
    "stops": {"visits": 4.0, "returns": 2.0},
    "flows": {"trips": 200.0, "moves": 2.0, "visits": 0.5},
    "patterns": {"pairs": 3.0, "visited sets": 3.0, "prefix tree": 3.0, "moves": 2.0},
    "hours": {},
}
# With times: what of the budget goes to when, beside the usual quarter.
TIME_WORTH: Final = {"hours": Fraction(2), "everything": Fraction(1)}
USUAL_TIME_WORTH: Final = Fraction(1, 2)
# The same for a release that follows another of its series, once its visits are measured: rare
# moves are learnt over months. By experiment on the first two cities of `bench.year`, one year
# each: with 10 transitions in corridors were 0.267 bits off for 0.279, and those of commuters
# level. Visits had a factor of 0.75, and were 1.18 times as far off in corridors as alone. Pairs:
# 12 was tried on a year of corridors, beside half a year with 1; no other was. Commuters were seen
# before it was settled, districts after (docs/series.md).
FOLLOWING: Final = {"moves": 4.0, "pairs": 12.0}
WORTH_OF_ALL_SETS: Final = 4.0  # so much more, if all visits go to popular locations
WORTH_OF_DEEPER: Final = 0.6  # a level of the tree, beside the one above
# What a cap costs that cuts everything, beside a table that is all noise. Of visits by experiment
# on nycflights13 and mibici (5 or 6 runs; 0.2 whatever the noise, and 0.5 as far as noise lets the
# rest be told): the error of single locations 0.022, 0.016 and 0.0141, 0.0130, of queries of up to
# 3 locations 0.0037, 0.0035 and 0.0252, 0.0251. 0.5 whatever the noise was worse on weeks of 2,000
# riders on 20 stops (queries 0.70, else 0.49), and 1 on mibici and for few people. The others by
# the prototype.
COST_OF_CAP: Final = {"visits": 0.5, "actions": 0.5}
USUAL_COST_OF_CAP: Final = 0.3
# What of a trajectory can be learnt at most: of very long ones caps cut what nothing would tell.
MOST_LEARNT: Final = {"pairs": 120.0, "moves": 23.0}
USUAL_MOST_LEARNT: Final = 48.0
# No share below these of what is planned, because the synthesis can't do without the table; and
# else none below SMALLEST_SHARE: such a table is not measured at all.
LEAST_SHARES: Final = {"visits": 0.02, "actions": 0.01, "distances": 0.01, "reach": 0.005}
SMALLEST_SHARE: Final = 0.005
SHARE_STEP: Final = 1000  # shares are whole multiples of 1 over this
# A cap is chosen as if the table had at least this share: caps must not shrink with the shares.
SHARE_FOR_CAP: Final = 0.1
# What all trips of a unit add to a table is clipped to a norm: C² is what one trip adds times c to
# one of these powers, 1 if trips had no cell in common, 2 if all cells (nothing is clipped then);
# which one is forecast. What clipping costs that takes off everything, beside a table that is all
# noise. How they were chosen: `bench.clipping` was run on single tables of mibici, nycflights13 and
# cabspotting with float noise, where norms at the 25th to the 50th percentile of people's were best
# and cost 0.001 to 0.007 bits, some 5% of a count; of releases of mibici with a power of 1.25 too,
# two to four runs were seen, with trips somewhat worse, so it was left out. So few noisy runs can't
# tell such powers apart, and nothing was kept back: take them as a choice, not as the best.
CLIP_POWERS: Final = (1.5, 1.75, 2.0)
COST_OF_CLIP: Final = 0.05
# If units have several trips, Gaussian noise is taken only if what is forecast for it is better by
# this factor. How it was chosen: in two to four runs each, on mibici and nycflights13, where it was
# 0.77 to 0.86 of what was forecast for Laplace noise, visits and trips came out somewhat worse with
# it, and on cabspotting (0.56) better; 1.4 lies between. Runs differ by about as much, and nothing
# was kept back, so where between it should lie is not known.
DOUBT_OF_RHO: Final = 1.4
# What a trip adds to the visits, and their share of what is left, when nothing is known but c: by
# these the law of the first look is chosen (`measurement_plan.begins_in_rho`). By hand. With them c
# = 50 or 100 of `--trips auto` begins in ρ at ε = 1, δ = 10⁻⁹, and c = 30 does not. Seen before: on
# cabspotting and 500 made-up people with 150 trips each (classes-500 of `bench.riders`) c = 100 in
# ρ had half the divergence of visits or less; for c up to 20 on mibici and 3,000 commuters it had
# more. The riders of `bench.riders.KEPT_BACK` were kept back.
USUAL_VISITS: Final = 3.0
USUAL_SHARE_OF_VISITS: Final = 0.6
MOST_CLIPPED: Final = 1000  # c; so that 64 bits hold the noise of tables that count in 256ths
# By how much the trips that stand for one that is counted may differ between the tables of two
# stages, in logarithms. By argument: weights of one person differ little.
WEIGHTS_DRIFT: Final = 0.1
PLANNING_ROUNDS: Final = 4  # caps follow from shares and shares from caps: it settles at once
# Pairs of locations are so many times as concentrated as if their ends were independent.
CONCENTRATION: Final = 3.0

# Validation (`statistics.validation`). A question is worth asking if one trajectory in 300 answers
# it. By hand.
TYPICAL_QUERY: Final = 1 / 300
# The small questions are expected to be answered by this part of the trajectories that visit two
# locations or more (which are at least such a share of all): each answers one only, and the more
# questions there are the less is left of each. The parts of them that kinds have: pairs, triples,
# in order, three in order, moves, trips, beginnings. By hand.
QUERIES_TAKE: Final = 0.5
FEWEST_MOVERS: Final = 0.05
QUERY_SHARES: Final = (0.25, 0.08, 0.15, 0.05, 0.2, 0.14, 0.13)
# Sizes are told in units, the larger of the sanity bound and the noise. Small ones are those below
# the last of these; as many are asked below a third, up to 1 and up to 3 units, at most so many of
# each, at least so many in all, of so many that are drawn. Of large ones at most so many are asked
# at each step by such a factor, at least so many in all: they stand last and take nothing from the
# small. By hand, on the open data of docs/accuracy.md; that large ones are as many as their
# trajectories allow, after a look at msnbc, which has 17 locations, on simulated people with 20.
SMALL_QUERIES: Final = (1 / 3, 1.0, 3.0)
MOST_QUERIES: Final = 120
LARGE_STEP: Final = 1.5
LARGE_QUERIES: Final = 10
# The second of these numbers in any case, unless they take more than this part of what all may
# take; the first in any case. By experiment on 5,000 simulated cards over six stops.
FEWEST_LARGE: Final = (3, 10)
FEW_TAKE: Final = 0.2
FEWEST_QUERIES: Final = 30
DRAWN_QUERIES: Final = 20_000
# Anywhere: by turns in proportion to these powers of how many visit a location. By argument: of
# pairs with the same expected answer each is as likely as another, whatever the power.
QUERY_POWERS: Final = (1.0, 0.5, 0.0, 0.5)

# Caps.
MOST_CAP: Final = 40  # of all tables; by hand: what a larger one adds is lost in its noise
USUAL_CAP: Final = 12  # if nothing is known: by hand, on msnbc and stm_like
# Distinct locations of a trajectory in moves and pairs; at most, and if nothing is known. By
# experiment, with a prototype on msnbc at ε = 1: the error of queries of up to 3 locations was
# 0.263, 0.117, 0.076 and 0.083 with 4, 6, 8 and 12 (fewer cut too much, more need more noise).
MOST_DISTINCT: Final = 12
USUAL_DISTINCT: Final = 8
MOST_TREE_LEVELS: Final = 6  # by hand: deeper levels have few nodes that pass
# Locations whose joint visits are counted: 2^10 sets. By experiment, 8, 10, 12, 14 and 20 of them,
# fresh noise (2 runs of msnbc, 4 of the others): pairs of msnbc 0.0156, 0.0143, 0.0139, 0.0167 and
# 0.0186, of msnbc100k 0.068, 0.056, 0.069, 0.071 and 0.074; patterns of kosarak 180, 181, 182, 176
# and 174; classes, commuters and nycflights13 were level, mibici20k was not told apart.
MOST_POPULAR: Final = 10

# The blocks of the map: so many at most, with so many locations at least. By argument: a block must
# be told from the noise where a location can't; `bench.large` shows what it is for.
MOST_ZONES: Final = 1024
LEAST_IN_ZONE: Final = 128
PLACING_ROUNDS: Final = 20  # of fitting where unnamed visits go; by argument, as DECAY_ROUNDS

# Thresholds: how many empty cells a sparse table is expected to invent. By argument: few against
# what it lists. The numbers themselves by hand.
DENSE_CELLS: Final = 4096  # a table of candidates up to this size is measured cell by cell
DENSE_TRIPS: Final = 1 << 16  # of trips: small flows add up, and one trajectory is in one cell
WHOLE_CELLS: Final = 1 << 20  # of moves: by memory; each has its noise drawn
INVENTED_MOVES: Final = Fraction(3, 10)  # per candidate, at most
INVENTED_PAIRS: Final = Fraction(20)  # in all
INVENTED_SETS: Final = Fraction(20)  # in all
INVENTED_SLOTS: Final = Fraction(20)  # in all
INVENTED_CHILDREN: Final = Fraction(1, 10)  # per node of the tree, as in the paper's methods

# Denoising. By argument: finer grids and more rounds change no estimate visibly.
# Below this scale all but one noise value in a thousand is 0: counts are taken as they are.
SMALLEST_SCALE: Final = 1 / 8
# So many scales above the threshold the prior is flat across the noise: it has nothing to say.
FLAT_AFTER: Final = 20.0
# The posterior is worked out on a grid of true counts and for bins of noisy counts, in scales.
GRID_STEP: Final = 1 / 2
BIN_STEP: Final = 1 / 4
GRID_MARGIN: Final = 10.0  # scales by which the grid outreaches the largest count looked at
EM_ROUNDS: Final = 60
# The EM starts with half of all cells empty, and moves from there only as far as the data says:
# what can't be told from noise counts as empty.
EMPTY_AT_FIRST: Final = 0.5
SMALLEST_VARIANCE: Final = 1.0  # counts are whole: nothing is known better than that
# So many bins of lengths are denoised together: 1 to 8 visits, 9 to 16, 17 to 64, 65 to 256, more.
# By hand. Of each, who visits more than 12 locations is denoised apart. By experiment on noisy
# tables of shapes of simulated weeks and of the open simulators (cut at 4, 8 and 12; at 8; at 8 and
# 12; at 12; nowhere): that alone was nowhere clearly worse than no cut.
LENGTHS_ALIKE: Final = 8
# Nats by which such shapes must be likelier than noise: that passes for them once in 140 times. By
# argument; `bench.few` shows what it is for.
DOUBT_OF_SHAPES: Final = 5.0
# The same if none that are just shorter occur, nor such as visit just fewer. By experiment, on
# lengths alone: of 150 simulated weeks of 2,000 riders in which noise passed for very long
# trajectories 5 times, none was left.
DOUBT_AFTER_A_GAP: Final = 15.0
# Nats by which a kind of action (to stay, to go back …) must be likelier than noise, unless it may
# be more than such a share of all actions. By argument; seen on nycflights13, where nobody stays,
# and on weeks of 2,000 riders, where noise hides every kind.
DOUBT_OF_ACTIONS: Final = 5.0
RARE_ACTIONS: Final = 0.05
# And the sum of its cells is below so many deviations of its noise, which nobody's is once in 700
# times. By argument; seen on msnbc100k of `bench.peers`, where 7% of all that come back return to
# an older location and no cell stands out. (Staying in the returns: the same two numbers above.)
SUM_DEVIATIONS: Final = 3.0
# A number of trajectories that is so many scales of its noise is believed, whatever the shapes say:
# of nobody it is that large once in 40 times. By argument; `bench.few` shows what it is for.
CERTAIN_SCALES: Final = 3.0
# A count below this share of all trajectories is as good as any other so small: it is the sanity
# bound of the paper's relative error (section VI).
SANITY: Final = 0.001
# How many standard deviations of its sum a table must miss before visits count as lost. By hand.
CERTAIN_DEVIATIONS: Final = 2.0
# A dropped child holds at most about this share of θ: its noisy count was below θ, and most
# children hold nothing. By hand.
DROPPED_SHARE: Final = 0.5

# The movement model, and what its fit aims at. By hand, on msnbc and stm_like; the calibration
# mends what the fit leaves, so none of them decides much.
# At least this share of the first visits from a location goes where no move was measured.
LEAST_BACKGROUND: Final = 0.02
# What listed moves leave of those who come to a location is raised by so many deviations of their
# noise. By hand, between 0 and 0.5, which were tried on nycflights13 (before measured moves were
# fitted; 4 runs): the divergence of transitions 0.083 and 0.085, and 0.088 without what is left.
LEFT_DEVIATIONS: Final = 0.25
LEAST_VISITS: Final = 1e-3  # no candidate is quite out of reach
# Moves that are not listed are so many times what the model guesses (`synthesis.small_moves`). The
# EM over these factors begins with a bell around 1, of such a spread in powers of two and such a
# tail, takes so many rounds over all moves, and as many over those whose guesses are as large, by
# steps of such powers of two; below and above these scales of the noise all are alike. By
# experiment, on tables alone (nycflights13, mibici20k, classes, commuters, weeks of 10,000 and
# 300,000 riders): of seven choices all came within 3% of one another on each.
FACTOR_GRID: Final = np.concatenate((np.zeros(1), 2.0 ** np.arange(-4.0, 8.5, 0.5)))
FACTOR_SPREAD: Final = 1.0
FACTOR_TAIL: Final = 0.01
FACTOR_ROUNDS: Final = 30
GUESS_STEP: Final = 2.0
SMALLEST_GUESS: Final = 1 / 4096
LARGEST_GUESS: Final = 64.0
# Moves of one kind (`synthesis.move_kinds`) are taken for so many times what the model guesses, at
# least. By argument: a kind that nobody makes needs some number above 0.
LEAST_KIND: Final = 1e-3
# The map. The width of a step of distance in logarithms: neighbours of a grid that touch at a side
# and at a corner are told apart. By argument.
DECAY_STEP: Final = 0.3
DECAY_ROUNDS: Final = 20  # by argument: more change no decay visibly
# A step of distance takes after its neighbour by so many deviations of its noise. By argument.
DECAY_SLACK: Final = 1.0
# So many pairs of neighbours are looked at in all, so that memory does not grow with the square of
# the universe; but at least so many neighbours of each location. By argument.
MOST_NEIGHBOUR_PAIRS: Final = 1 << 20
LEAST_NEIGHBOURS: Final = 32
# With a map so much of those who leave go anywhere: it is right about most, not about all.
LEAST_ANYWHERE: Final = 0.001
# Nothing tells lengths beyond the open bin apart; nobody is made to walk longer than that.
LONGEST_WALK: Final = 300
# Ratios are drawn towards 1 by so many standard deviations of the noise, and so many counts.
SLACK_DEVIATIONS: Final = 3.0
SLACK_COUNTS: Final = 5.0
SHAPE_SLACK_COUNTS: Final = 20.0
# Rare situations borrow from similar ones: so many scales of the noise, and so many counts.
BY_DISTINCT_SCALES: Final = 2.0
BY_SITUATION_SCALES: Final = 3.0
BORROWED_COUNTS: Final = 5.0
# A situation is trusted by halves when it has so many scales and counts.
TRUST_SCALES: Final = 10.0
TRUST_COUNTS: Final = 50.0
# Lengths above this are pooled with their neighbours: their bins are sparse.
POOLED_AFTER: Final = 12
POOLING: Final = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) / 9
HAZARD_BOUNDS: Final = (1e-4, 1 - 1e-4)
# How many trajectories each round simulates: the first rounds go a long way, and need no more.
# More or larger ones change nothing that the calibration would not mend.
FIT_SAMPLES: Final = (30_000, 30_000, 60_000, 120_000)
FIT_SAMPLE_VISITS: Final = 4_000_000  # fewer trajectories, if they are long
# Simulated action counts are raised by so many of the expected ones, so none is 0.
ACTION_SLACK: Final = 5.0
# How much one round may change: an action, novelty, an ending, the returns to a location, and
# the listed moves from there to new ones.
ACTION_STEP: Final = (0.5, 2.0)
NOVELTY_STEP: Final = (0.5, 1.6)
ENDING_STEP: Final = (0.5, 2.0)
RETURN_STEP: Final = (0.4, 2.5)
EXPLORING_STEP: Final = (0.5, 2.0)
MOVE_STEP: Final = (0.5, 2.0)
# The ratio of a measured move is drawn towards 1 by so many deviations of its noise, and so many
# simulated trajectories. By experiment on nycflights13 (4 runs; 1 and 5; 0.3 and 3; these lie
# between): the divergence of transitions 0.088 without it, 0.082, 0.081. On mibici and kosarak it
# was level; cabspotting (several times) and stm_like (once) were looked at before it was settled.
MOVE_SLACK_DEVIATIONS: Final = 0.5
MOVE_SLACK_COUNTS: Final = 4.0
LAST_DAMPING: Final = 0.5  # where people end also moves with everything else: go half the way
FACTOR_BOUNDS: Final = (0.02, 50.0)  # what a location's factor may come to in all
LEAST_DISTINCT: Final = 1e-3

# Of a measured trip so large a part is made by synthetic trajectories before they are weighed. By
# argument: the calibration multiplies by more than that.
ENOUGH_OF_A_TRIP: Final = 0.5

# The calibration.
# κ: how much the model is trusted, at least. By hand; from a tenth to twice as much the results
# were the same (a trial that was not recorded).
TRUST_IN_MODEL: Final = 0.01
# And by how much of a count the model is off, where several things of a trajectory are counted
# together (`synthesis.target_cells`). By experiment with stored noise: of 0 (κ as above), 0.3, 0.5,
# 0.6, 1 and 2 on 3,000 people in classes, 20,000 commuters, nycflights13 and mibici20k, 0.3 to 2
# were alike where people are few and level on nycflights13. Then on the first two, mibici20k and
# kosarak, with 1: for all tables but those of single locations; but reach; but shapes and lengths;
# but both. The second has pairs of commuters 0.156 for 0.169 with 0, patterns of mibici20k 201 for
# 203, pairs of kosarak 0.454 for 0.460; with reach, too, commuters 0.153, kosarak 0.476.
MODEL_ERROR: Final = 1.0
# |λ_c| at most: no cell makes a trajectory more than e⁶ ≈ 400 times likelier, or less. By hand.
LARGEST_MULTIPLIER: Final = 6.0
# Stop when the cells are well within a standard deviation of the noise of where they should be, in
# the root mean square: to go on would be to follow the noise. By experiment: of a prototype's gain
# on msnbc most came from going on from 1.0 and 25 steps to 0.3 and 60; then 0.2 for
# thousands of flows (`bench.flows`), though trials at 0.3, 0.2 and 0.1 showed no clear difference.
CLOSE_ENOUGH: Final = 0.2
# Time against accuracy: small problems can afford more steps than they need. By experiment on
# msnbc and nycflights13, 60 and 300.
MOST_STEPS: Final = 300
# Cells of rows that are looked at in all, unless that leaves fewer than so many steps: a million
# different trajectories take a second or two on two cores.
MOST_WORK: Final = 450_000_000
FEWEST_STEPS: Final = 25
# So many distinct trajectories are calibrated by every so many of them first, and then by all. By
# experiment on the simulated week of `bench.calibrated` (4, 8 and 16 were tried, on nothing else):
# steps that look at all rows fall from 37 to 17, and those come as close as was asked for.
SAMPLED_FROM: Final = 1 << 18
SAMPLED: Final = 8
# And by so many, where that is fewer: what a sample tells depends on its own size. By argument; at
# 12 million people, where it is every 31st of 4 million, half of the sample's time is saved and the
# steps by all rows end as close as before (1 to 2 deviations).
SAMPLE: Final = 1 << 17
# A sample is followed to within so much of the variance that chance gives its sums: an eighth of
# the deviation. By experiment on that week and on cabspotting, three runs each: with all of it, a
# quarter or a sixteenth the steps by all rows did not come as close in the end, with 1/64 they did,
# and a third of the steps by the sample were saved.
FOLLOWED_CHANCE: Final = 1 / 64
# How well the calibrated weights alone know how many trajectories there are: to so many parts of
# the number. By experiment, on simulated weeks of 400 and 2,000 riders.
CALIBRATED_TOTAL: Final = 0.1
# Counts shrink by 1/(1 + x²), where x is so many times the relative noise on the number of
# trajectories. By experiment, on 400 riders and 20 stops: the error of the paper's queries falls
# from 1.1 to 0.8 (nothing published: 0.84), and that of single locations rises from 0.4 to 0.5.
SHRINKING: Final = 2.0
# Of few people so many rows are made for each, as long as that are no more than so many in all. By
# experiment with stored noise (4, 8, 16, 32 on 3,000 people in classes, walks of 20,000 on a grid,
# commuters and mibici20k): what 4 wins, 16 wins again by half, and 32 nothing more.
ROWS_EACH: Final = 16
ROWS_OF_FEW: Final = 1 << 19
# The quasi-Newton method. By hand, near the usual values of such methods.
REMEMBERED_STEPS: Final = 12
# The first direction knows nothing of how coordinates interact, so it is followed a little way.
FIRST_STEP: Final = 0.1
SHORTENING: Final = 0.4
SHORTEST_STEP: Final = 1e-6
SUFFICIENT_DECREASE: Final = 1e-4  # of what the slope promises (Armijo's rule)

# Times. By hand, on the datasets of docs/timestamps.md.
LEAST_TIME_WEIGHT: Final = 1e-9  # no pause and no slot is impossible
# The fit: so many rounds of so many trajectories, each changing a weight by a factor in between.
TIME_ROUNDS: Final = 24
TIME_SAMPLE: Final = 20_000
TIME_STEP: Final = 3.0
# Three tables pull at the same slots: each goes so far towards its own aim.
TIME_DAMPING: Final = 0.4
SMALL_SHARE: Final = 1e-4  # shares below this are not told apart

# How far answers may be off. The form of the error model was chosen by hand, while looking at the
# coverage on the datasets of docs/accuracy.md ("Error bars"). So were the grids and the numbers of
# draws: time against how smooth the bounds are.
# Trajectories: enough that the sample adds little to the errors that it measures.
ERROR_SAMPLE: Final = 1 << 18
# The popularity prior: exact counts, then a grid by this ratio; logarithms of its centres, its
# spreads, and the shares of the universe that nobody visits.
EXACT_COUNTS: Final = 8
GRID_RATIO: Final = 1.15
PRIOR_CENTRES: Final = np.arange(-12.0, 12.1, 0.5)
PRIOR_SPREADS: Final = np.exp(np.arange(-1.6, 1.9, 0.2))
PRIOR_UNVISITED: Final = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.97])
# The misfit of the model: α, β, and bounds of s.
MISFIT_FLOORS: Final = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3])
MISFIT_SPREADS: Final = np.array(
    [0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30]
)
LEAST_DEVIATION: Final = 0.02
MOST_DEVIATION: Final = 3.0
# From here on the noise is a small part of the spread, which is then smooth across it.
SMOOTH_AFTER: Final = 3.0
CELLS_PER_SIZE: Final = 100  # that are looked at, of each half-decade of predictions
# Errors by validation: biases (logarithms, in units of what answers scatter by), what is missing of
# all answers, the least relative errors, and (b, p) of the spread (b/size)^p of relative errors:
# p = 1 if answers scatter like sums of people, 2 if all are off by about as many, as what a table
# with noise lists is. What kinds of questions tell about each other. By hand; p and the last, by
# experiment, on open data (below); units of the scatter likewise, on nycflights13, mibici, msnbc,
# classes, commuters and grid.
BIASES: Final = np.arange(-2, 5) / 2.0
MISSING: Final = np.array([0.5, 2.0, 6.0, 20.0])
FLOORS: Final = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5])
SPREADS: Final = (
    *((9.0, 1), (36.0, 1), (144.0, 1), (576.0, 1)),
    *((30.0, 2), (60.0, 2), (120.0, 2), (240.0, 2), (480.0, 2)),
)
BORROWED_KINDS: Final = 0.2
# Validation's constants were chosen while coverage was looked at on nycflights13, mibici, parts,
# classes, gravity and hubs; those of which questions are asked (above), and the rule for what
# answers of one size have in common, anew, on nycflights13, mibici, classes, commuters and grid;
# BORROWED_KINDS, SPREADS, OTHERS_ERROR, WORTH_OF_QUERY and AS_GOOD_AS_NOBODY last, on nycflights13,
# mibici, the demo's week, classes:100000:220:4 and :200000:100:6, grid:100000:220:6.7 and
# commuters:20000:220:3. docs/accuracy.md shows what was kept back. A kind is told by questions if
# of so many as much is left of the answer as the noise is large; what few questions leave open
# makes intervals wider. By hand, on 5,000 simulated cards over six stops, of whom six questions of
# each kind are asked.
ENOUGH_QUERIES: Final = 4
# What is left of an answer if a trajectory answers one question only: answers below so many take
# after their kind, and no less than this is taken for left. By argument.
KEPT_SLACK_COUNTS: Final = 20.0
LEAST_KEPT: Final = 1e-4  # with 0.05, questions of which nothing is left were taken for errors
# What others take of an answer is off, too: relative to what they take, by so much of what small
# answers are off by. By experiment: on open data 0.4 to 1.3 of it; with 1 intervals of answers that
# are nearly right were too short.
OTHERS_ERROR: Final = 0.5
# How often a question is answered, over how often the release says so: about so far from 1 if
# nothing is known, and what others take is at most and at least so many times what the release
# says. By argument; looked at on nycflights13, mibici, classes, grid, usual-hub and tours.
ANSWERS_OFF: Final = 0.5
TAKES_MORE: Final = (0.3, 3.0)
# Questions with a location in common err together: each counts as so much of one by itself. The
# shape that all sizes share counts as so many questions. By experiment.
WORTH_OF_QUERY: Final = 0.4
SHAPE_PRIOR: Final = 10.0
ALIKE_SIZES: Final = 0.7
SHAPE_ROUNDS: Final = 20
# Of single locations so much of what a level allows lies outside, because the shape of the errors
# is a guess. By experiment, on mibici and nycflights13.
LOCATION_TAIL: Final = 0.7
# Visits beyond the cap that are known to this part of themselves err by as much above as below. By
# experiment, on mibici, nycflights13, gravity and parts.
EVEN_SPREAD: Final = 1.0
# Trajectories by which is told how often moves are made again; by so many large moves, at least.
MOVES_SAMPLE: Final = 50_000
ENOUGH_MOVES: Final = 5
# Of cells of a table so much of what a level allows lies outside: lists show those that its noise
# made large. By an experiment on mibici, nycflights13 and classes:200000:100:6 that was cut short:
# with all of it 79 to 92% of trips and 86 to 94% of pairs and moves were held.
CHOSEN_TAIL: Final = 0.5
# The tail of the counts of a table: told by cells above its threshold, or so many deviations of the
# noise; its steepness lies between these, and errors are drawn from so many. By argument. (That the
# tail makes CHOSEN_TAIL needless was tried on nycflights13, mibici, msnbc, classes, grid and
# usual-hub: with all of it 67 to 85% of some trips of classes and usual-hub were held.)
STANDS_OUT: Final = 4.0
STEEPNESS: Final = (0.5, 6.0)
OFFERED_ERRORS: Final = 256
# The cells that a table lists, each by itself (`uncertainty.listed`). True counts are a guess times
# a factor: steps of the guess (logarithms), logarithms of the factors' centres, their spreads. A
# table is cut into parts of so many listed cells at least, so many at most. By experiment on
# commuters:20000:220:2.5, classes:6000:12:4, nycflights13, usual-hub, mibici and parts, two
# releases each: 90% intervals for what a table counts held 85 to 96% of the listed cells.
FACTOR_STEP: Final = 0.35
FACTOR_CENTRES: Final = np.arange(-8.0, 4.1, 0.5)
FACTOR_SPREADS: Final = np.exp(np.arange(-1.6, 1.9, 0.35))
LISTED_OF_A_PART: Final = 30
MOST_PARTS: Final = 3
# What a table counts only in part: how far the uncounted rest of a listed cell is off, in
# logarithms, at least. By experiment on the same: .18 to .83 of moves, pairs and ordered pairs, .45
# in the middle (bias and scatter together). How the rest differs from cell to cell, and the few
# questions of the validation that are about it, did not tell it.
REST_SCATTER: Final = 0.55
# So much of what a level allows lies outside: as with single locations, the law is a guess.
LISTED_TAIL: Final = 0.7
LISTED_DRAWS: Final = 500
MOST_LISTED: Final = 10_000  # cells of one kind, the largest: their file is to be read by people
# An interval whose ends differ by more than 1 over this begins at nobody. It is noise by the rule
# of marks (`core.error_table.MOST_ROUGH`), so nothing says that anybody does it: on nycflights13
# some airports that are both busy have no aircraft in common, and in simulated classes the release
# mixes people who never meet.
AS_GOOD_AS_NOBODY: Final = 1 / 4
# Draws of true counts.
LOCATION_DRAWS: Final = 200_000  # of single locations in all; then the fewest and most for one
LEAST_DRAWS: Final = 20
MOST_DRAWS: Final = 1000
UNNAMED_DRAWS: Final = 4000
CONJUNCTION_DRAWS: Final = 4000
TOTAL_DRAWS: Final = 4000
LENGTH_DRAWS: Final = 4000
STEPS_PER_DECADE: Final = 8  # of released counts of conjunctions
NEGLIGIBLE: Final = 0.5  # trajectories: hidden long ones below that change no interval
