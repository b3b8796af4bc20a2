/** The titles of the tests that fail when `register` registers them. */
export async function failuresOf(register: () => void): Promise<readonly string[]> {
  const tests: { readonly title: string; readonly fn: () => unknown }[] = [];
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
  const failed: string[] = [];
  for (const { title, fn } of tests) {
    try {
      await fn();
    } catch {
      failed.push(title);
    }
  }
  return failed;
}
