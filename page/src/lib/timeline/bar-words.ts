import type { BarKind } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import type { SpentKind } from "./time-spent.js";

/** The meanings of bars. */
export const BAR_WORDS: Readonly<Record<BarKind, string>> = {
  task: "task",
  model: "model call",
  failed: "failed attempt of a model call",
  tool: "tool call",
  delegation: "delegation",
  "wait-review": "waiting for a review",
  "wait-limit": "waiting for a rate limit",
  "wait-retry": "waiting before the next attempt",
};

/** Returns the class of a bar's colour. */
export function barClass(kind: BarKind): string {
  return kind.startsWith("wait") ? "wait" : kind;
}

/** The words of a legend, in its order. */
export const LEGEND: readonly (readonly [kind: SpentKind, word: string])[] = [
  ["model", "model"],
  ["tool", "tool"],
  ["delegation", "delegated"],
  ["waiting", "waiting"],
  ["failed", "failed attempt"],
];

export const SPENT_WORDS: Readonly<Record<SpentKind, string>> = {
  model: "model",
  failed: "failed attempts",
  tool: "tools",
  delegation: "delegated",
  waiting: "waiting",
  framework: "framework",
};
