/** Sets the seed of all property tests: a fixed one, or `FUZZ_SEED`. Loaded with `--require`. */
import fc from "fast-check";

const FIXED_SEED = 20_260_101;

/** @throws Error for a text that is not a 32-bit integer. */
export function seedOf(text: string | undefined): number {
  if (text === undefined) return FIXED_SEED;
  const seed = Number(text);
  if (text.trim() === "" || seed !== (seed | 0))
    throw new Error(`FUZZ_SEED must be a 32-bit integer, got: '${text}'`);
  return seed;
}

fc.configureGlobal({ seed: seedOf(process.env["FUZZ_SEED"]) });
