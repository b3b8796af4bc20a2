import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NewEvent } from "../../../src/contracts/events.js";
import type { Tool, ToolContext } from "../../../src/contracts/tool.js";
import { ReviewDecision } from "../../../src/contracts/review.js";
import { ToolResult } from "../../../src/contracts/tool-result.js";
import { fakeScope } from "../../support/fake-scope.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A temporary folder with an inside, which tools may read, and an outside, which they must not. */
export interface Sandbox {
  /** Contains both. */
  readonly top: string;
  readonly inside: string;
  readonly outside: string;
}

export function newSandbox(): Sandbox {
  const top = temporaryFolder();
  const [inside, outside] = [join(top, "inside"), join(top, "outside")];
  mkdirSync(inside);
  mkdirSync(outside);
  return { top, inside, outside };
}

/** Writes files and their missing folders. */
export function putFiles(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

export interface Call {
  readonly result: ToolResult;
  readonly events: readonly NewEvent[];
  /** The result for the model. */
  readonly text: string;
}

/** Calls a tool like the gateway. */
export async function call<I>(
  tool: Tool<I>,
  input: I,
  o: { readonly signal?: AbortSignal; readonly listening?: boolean } = {},
): Promise<Call> {
  const scope = fakeScope({
    signal: o.signal,
    listening: o.listening === false ? [] : ["file_changed"],
  });
  const ctx: ToolContext = {
    scope,
    signal: scope.signal,
    run: scope.run,
    runId: "run-1",
    taskId: "task-1",
    agentRole: "Tester",
    toolCallId: "call-1",
    idempotencyKey: "run-1/task-1@1/call-1",
    requestApproval: () => Promise.resolve(ReviewDecision.continue()),
  };
  const result = await tool.execute(input, ctx);
  if (!ToolResult.isInstance(result)) throw new Error("the tool gave no ToolResult");
  return {
    result,
    events: scope.events,
    text: result.ok ? result.output : `Error: ${result.errorMessage ?? ""}`,
  };
}
