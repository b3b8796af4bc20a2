import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { ToolReturn } from "../../contracts/tool.js";
import type { TrialEnding } from "./tool-trial.js";
import { AgentEnsembleError } from "../../contracts/errors.js";
import { ToolResult } from "../../contracts/tool-result.js";
import { preview } from "../../contracts/validation.js";
import { sleep } from "../../util/abort/timeouts.js";
import { messageOf } from "../../util/errors.js";

function hasJson(value: unknown): boolean {
  try {
    return typeof JSON.stringify(value) === "string";
  } catch {
    return false;
  }
}

/** Whether a call has reported a failure in one of the forms that tools use. */
export function isFailure(ending: TrialEnding): boolean {
  if (ending.kind === "threw") return ending.error instanceof Error;
  return (
    ending.kind === "returned" && ToolResult.isInstance(ending.returned) && !ending.returned.ok
  );
}

/** Fails unless the return value of a tool has a valid type and a JSON form. */
function assertReturn(returned: ToolReturn): void {
  if (returned === undefined || typeof returned === "string") return;
  assert.equal(
    typeof returned,
    "object",
    `a tool returns a ToolResult, a text, plain data or nothing, not a ${typeof returned}`,
  );
  if (!ToolResult.isInstance(returned))
    assert.ok(hasJson(returned), "what a tool returns must have a JSON form");
  else
    assert.ok(
      returned.structured === undefined || hasJson(returned.structured),
      "the structured value of a result must have a JSON form",
    );
}

/** Fails unless the call succeeded. */
export function assertSuccess(ending: TrialEnding): void {
  assert.notEqual(ending.kind, "hung", "the tool did not end");
  if (ending.kind === "threw") throw ending.error;
  if (ending.kind !== "returned") return;
  assertReturn(ending.returned);
  if (ToolResult.isInstance(ending.returned))
    assert.ok(ending.returned.ok, `the tool failed: ${ending.returned.errorMessage ?? ""}`);
}

/**
 * Fails unless a call with absurd input ended in a result or an error that describes the problem.
 */
export function assertOrderly(input: unknown, ending: TrialEnding): void {
  const shown = preview(input, 60);
  assert.notEqual(
    ending.kind,
    "hung",
    `with ${shown} the tool does not end, not even after its signal`,
  );
  if (ending.kind === "returned") assertReturn(ending.returned);
  if (ending.kind !== "threw" || AgentEnsembleError.isInstance(ending.error)) return;
  assert.fail(
    `with ${shown} the tool threw a raw ${ending.error instanceof Error ? ending.error.name : typeof ending.error}: ${messageOf(ending.error)}`,
  );
}

/** Returns the part of a call that the model would receive, for comparing two calls. */
export function seenText(ending: TrialEnding): string {
  if (ending.kind === "hung") return "hung";
  if (ending.kind === "threw") return `threw ${messageOf(ending.error)}`;
  const { returned } = ending;
  if (ToolResult.isInstance(returned))
    return returned.ok ? returned.output : `failed ${returned.errorMessage ?? ""}`;
  return typeof returned === "string" ? returned : (JSON.stringify(returned) ?? "");
}

/**
 * Fails if one of the secrets, plain or encoded, occurs in the end of a call. This includes
 * results, errors, their causes and stacks.
 */
export function assertNoSecret(secrets: readonly string[], ending: TrialEnding): void {
  const shown = inspect(ending, {
    depth: 12,
    maxStringLength: null,
    maxArrayLength: null,
    showHidden: true,
  });
  for (const [index, secret] of secrets.entries()) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString("base64"),
      inspect(secret).slice(1, -1),
    ];
    const where = ending.kind === "threw" ? "an error" : "a result";
    assert.ok(
      !forms.some((form) => shown.includes(form) || seenText(ending).includes(form)),
      `secret ${index + 1} can be read in ${where}`,
    );
  }
}

/** Returns the number of resources of each kind that keep the process alive. */
export function handles(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Returns the kinds with more resources than before, after some time for their release. */
export async function handlesLeft(
  before: ReadonlyMap<string, number>,
  limitMs: number,
): Promise<readonly string[]> {
  const more = (): readonly string[] =>
    [...handles()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind);
  for (let step = 0; step < 50 && more().length > 0; step++) await sleep(limitMs / 50);
  return more();
}
