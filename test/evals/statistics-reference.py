"""Prints the reference values of statistics.test.ts, by the standard library of Python 3.11 and later.

    python3 test/evals/statistics-reference.py
"""

from fractions import Fraction
from math import comb
from statistics import NormalDist, quantiles, stdev

WORD = 2**32


def sfc32(seed):
    """The generator of PractRand (Doty-Humphrey), as defined there, in integers of any size."""
    a, b, c, counter = seed % WORD, 0, 0, 1
    step = 0
    while True:
        result = (a + b + counter) % WORD
        counter = (counter + 1) % WORD
        a, b = b ^ (b >> 9), (c * 9) % WORD
        c = (((c << 21) | (c >> 11)) + result) % WORD
        step += 1
        if step > 12:
            yield result


def first(count, seed):
    generator = sfc32(seed)
    return [next(generator) for _ in range(count)]


def bootstrap(values, confidence, seed):
    """The percentile interval of 10,000 resamples, with exact sums."""
    generator = sfc32(seed)
    exact = [Fraction(value).limit_denominator(1000) for value in values]
    count = len(exact)
    means = sorted(
        sum(exact[next(generator) * count // WORD] for _ in range(count)) / count
        for _ in range(10_000)
    )
    cuts = quantiles(means, n=1000, method="inclusive")
    tail = round((1 - confidence) / 2 * 1000)
    return float(cuts[tail - 1]), float(cuts[999 - tail])


def sign_test(better, worse):
    """The two-sided binomial test with probability 1/2."""
    count = better + worse
    tail = sum(comb(count, i) for i in range(min(better, worse) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**count)))


def pass_at(n, c, k):
    return 1 - Fraction(comb(n - c, k), comb(n, k)), Fraction(comb(c, k), comb(n, k))


print("sfc32", first(5, 1), first(3, WORD - 1))
VALUES = [0, 0.25, 0.5, 1, 1, 0.75, 0.1, 0.9, 1, 0.6]
print("bootstrap", bootstrap(VALUES, 0.95, 1), bootstrap(VALUES, 0.9, 7))
print("bootstrap of 40 in 50", bootstrap([1] * 40 + [0] * 10, 0.95, 1))
for n in (6, 20, 200):
    print("Clopper and Pearson", n, 0.025 ** (1 / n))
for p in (0.5, 0.8, 0.975, 0.995, 0.01, 0.001):
    print("normal quantile", p, NormalDist().inv_cdf(p))
for pair in ((0, 0), (5, 0), (6, 0), (4, 1), (10, 2), (30, 10), (120, 80), (1000, 900)):
    print("sign test", *pair, sign_test(*pair))
for given in ((3, 1, 1), (3, 1, 2), (3, 2, 2), (10, 3, 5), (10, 0, 3), (10, 10, 10)):
    print("pass@k and pass^k", *given, *pass_at(*given))
DIFFERENCES = [-0.2, 0.1, 0, 0.3, -0.1, 0.05, 0.2, 0]
z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
print("detectable difference", z * stdev(DIFFERENCES) / len(DIFFERENCES) ** 0.5)
