interface Collected {
  readonly title: string;
  readonly fn: () => unknown;
}

/** The tests that `register` registers, in order. */
export function testsOf(register: () => void): readonly Collected[] {
  const tests: Collected[] = [];
  const outer = { describe: globalThis.describe, it: globalThis.it };
  const collecting = {
    describe: (_title: string, fn: () => void): void => fn(),
    it: (title: string, fn: () => unknown): void => void tests.push({ title, fn }),
  };
  Object.assign(globalThis, collecting);
  try {
    register();
  } finally {
    Object.assign(globalThis, outer);
  }
  return tests;
}

/**
 * The titles of the tests that fail when `register` registers them. `only` selects one existing
 * test.
 */
export async function failuresOf(register: () => void, only?: string): Promise<readonly string[]> {
  const chosen = testsOf(register).filter(({ title }) => only === undefined || title === only);
  if (chosen.length === 0) throw new Error(`There is no test '${only ?? ""}'`);
  const failed: string[] = [];
  for (const { title, fn } of chosen) {
    try {
      await fn();
    } catch {
      failed.push(title);
    }
  }
  return failed;
}
