/** @throws Error unless the result of a run is the expected result. */
export function expectResult(actual: unknown, expected: unknown): void {
  if (actual !== expected)
    throw new Error(`The work was not done: expected ${String(expected)}, got ${String(actual)}`);
}
