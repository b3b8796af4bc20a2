/** Returns the logarithm of a binomial coefficient. `k` is the smaller side: the sum is short. */
function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}

/**
 * Returns the p-value of the exact two-sided sign test. It is the probability that at least as many
 * of `better + worse` fair coins show the same side. Returns 1 without pairs.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  const most = Math.max(better, worse);
  let sum = 0;
  for (let k = most; k <= n; k++) sum += Math.exp(logChoose(n, n - k) - n * Math.LN2);
  return Math.min(1, 2 * sum);
}

/**
 * Returns the probability that at least one of k trials passes, if c of n trials passed: `1 - C(n -
 * c, k) / C(n, k)` (Chen et al. 2021).
 */
export function passAtK(n: number, c: number, k: number): number {
  return 1 - drawnFrom(n, n - c, k);
}

/**
 * Returns the probability that all of k trials pass, if c of n trials passed: `C(c, k) / C(n, k)`
 * (Yao et al. 2024).
 */
export function passHatK(n: number, c: number, k: number): number {
  return drawnFrom(n, c, k);
}

/** Returns the probability that k items, drawn from n items, are all among c given items. */
function drawnFrom(n: number, c: number, k: number): number {
  let chance = 1;
  for (let i = 0; i < k; i++) chance *= Math.max(0, c - i) / (n - i);
  return chance;
}
