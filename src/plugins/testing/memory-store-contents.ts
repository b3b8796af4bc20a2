import assert from "node:assert/strict";
import type { MemoryStore } from "../../contracts/memory.js";
import type { MemoryStoreUnderTest } from "./memory-store-scenario.js";
import { entryOf, MANY } from "./memory-store-scenario.js";

export type Use = (
  body: (store: MemoryStore, subject: MemoryStoreUnderTest) => Promise<void>,
) => Promise<void>;
export type Holds = (
  store: MemoryStore,
  scope: string,
  contents: readonly string[],
) => Promise<void>;

export const FRUITS = [
  "an apple a day",
  "bananas are yellow",
  "cherries in May",
  "dates from the desert",
  "elderberry wine",
];
export const UNICODE = 'Grüße, 世界 👩‍👩‍👧 \u2028\u2029 "quoted" \\ back\nslash\r\n\ttab \u0000 nul';
export const SCOPES = [
  "plain",
  "with space",
  "a/b",
  "../up",
  "C:\\x",
  "__proto__",
  "constructor",
  "x'; DROP TABLE memory; --",
  "100%_",
  "世界",
  "long ".repeat(60),
];
/** All types of JSON values. */
export const STRUCTURED = {
  n: 1.5,
  text: "é\u2028",
  none: null,
  yes: true,
  list: [1, [2, { deep: "x" }]],
  empty: {},
};

/** Returns the contents of a scope in the order of the answer. */
export async function contents(
  store: MemoryStore,
  scope: string,
  query = "",
  maxResults = MANY,
): Promise<readonly string[]> {
  return (await store.retrieve(scope, query, maxResults)).map(({ content }) => content);
}

/** Whether a scope contains exactly these entries, in this order. */
export const holdsInOrder: Holds = async (store, scope, expected) =>
  assert.deepEqual(await contents(store, scope), expected);

/**
 * Like `holdsInOrder`, for stores that search by meaning. Each entry is found by its words, and no
 * others are found.
 */
export const holdsSomehow: Holds = async (store, scope, expected) => {
  const queries = expected.length === 0 ? ["an apple"] : expected;
  const found = new Set<string>();
  for (const query of queries)
    for (const content of await contents(store, scope, query)) found.add(content);
  assert.deepEqual([...found].sort(), [...expected].sort());
};

export async function fill(
  store: MemoryStore,
  scope: string,
  texts: readonly string[] = FRUITS,
): Promise<void> {
  for (const [index, text] of texts.entries()) await store.store(scope, entryOf(text, index));
}
