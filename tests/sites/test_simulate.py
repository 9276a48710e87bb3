#!/usr/bin/env python3
"""Promise: simulate.py, behind the numbers of docs/production.md, gives what is known exactly without random numbers, counts
every file once, and has as many failures as the mean time between them says (5 standard deviations: one false alarm in
1.7 million seeds; the seed is fixed). To join: a new option gets a case whose result is known."""
import math
import sys

from simulate import Production, read_arguments


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def simulate(words):
    production = Production(read_arguments(words.split()))
    return production, production.run()


def near(value, expected, what):
    check(math.isclose(value, expected, rel_tol=1e-9), f"{what}: found {value}, expected {expected}")


EXACT = "--spread 0 --slow 0 --mtbf 0 --bad 0 --seconds 30 --overhead 2"
_, one = simulate(f"{EXACT} --workers 1 --files 10")
near(one["hours"], 10 * 32 / 3600, "one worker")
near(one["efficiency"], 30 / 32, "one worker")
_, many = simulate(f"{EXACT} --workers 50 --files 501")
near(many["hours"], 11 * 32 / 3600, "one file more than ten rounds")
_, slow = simulate("--spread 0 --slow 1 --slowness 3 --mtbf 0 --bad 0 --seconds 30 --overhead 2 --workers 5 --files 10")
near(slow["hours"], 2 * 92 / 3600, "slow workers")

refused, result = simulate(f"{EXACT} --bad 0.2 --attempts 4 --workers 7 --files 300".replace("--bad 0 ", ""))
check(0 < len(refused.bad) == result["quarantined"] < 300, f"bad files: {result}")
near(refused.wasted, len(refused.bad) * 4 * 2, "attempts of bad files")
check(all(refused.attempts[i] == (4 if i in refused.bad else 1) for i in range(300)), "attempts")

lost, result = simulate("--workers 100 --files 5000 --mtbf 1 --seed 3")
check(len(lost.ended) == 5000 and sorted(lost.ended) == lost.ended, "files that ended")
check(sum(lost.attempts) == 5000 + result["failures"] + 2 * result["quarantined"], "every attempt ends once")
expected = (lost.useful + lost.wasted) / 3600
check(abs(result["failures"] - expected) < 5 * math.sqrt(expected), f"{result['failures']} failures, not {expected}")
_, again = simulate("--workers 100 --files 5000 --mtbf 1 --seed 3")
check(again == result, "another result with the same seed")
saved, result = simulate("--workers 100 --files 5000 --mtbf 1 --seed 3 --checkpoint 30")
check(saved.wasted < 0.3 * lost.wasted, f"checkpoints save work: {saved.wasted} of {lost.wasted} s")
