import type { After, Answer, ToolCallContext } from "../../../contracts/hooks.js";
import type { KeptEntry } from "../../../contracts/journal.js";
import type { StoredReview } from "../../../contracts/review.js";
import type { RunJournal } from "./run-journal.js";
import {
  ExitEarlySignal,
  ToolConfigurationError,
  ToolExecutionError,
} from "../../../contracts/errors.js";
import { answer } from "../../../contracts/hooks.js";
import { ReviewTimeoutError, ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { resumeOf } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { extraOf } from "../../shared/result-extra.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { restoreError, storeError } from "../../shared/stored-error.js";
import { shortHash } from "./definition.js";
import { doubtfulResult } from "./in-doubt.js";
import { intentIn, toolIn, type KeptTool } from "./kept-values.js";

type AfterToolCall = After<ToolCallContext, "result", ToolResult>;

/** Answers the tool calls of one run from its journal, and records the others. */
export class ToolSteps {
  /** Calls that are in progress, by idempotency key. */
  readonly #begun = new Map<string, ToolCallContext>();

  constructor(readonly journal: RunJournal) {}

  /** Returns the result of the call in an earlier execution. */
  async answer(call: ToolCallContext): Promise<void | Answer<ToolResult>> {
    // The tasks that the tool starts are answered.
    if (call.tool.delegates === true) return undefined;
    const hash = inputHashOf(call);
    const found = this.journal.index.find(toolEntryKey(call), (entry) => entry.hash === hash);
    if (found?.isSame !== true) {
      this.journal.requireOpen(`tool call ${call.idempotencyKey} (${call.tool.name})`);
      return undefined; // the model makes another call with an earlier id
    }
    const { entry } = found;
    if (entry.kind === "tool") return answer(this.#resultOf(call, entry));
    const result = await this.#doubtful(call, entry);
    return result === undefined ? undefined : answer(result);
  }

  /**
   * Called at the start of a call. Writes the intent if the call must not be repeated
   * automatically.
   */
  async begin(call: ToolCallContext): Promise<void> {
    if (call.tool.delegates === true) return;
    this.journal.requireOpen(`tool call ${call.idempotencyKey}`);
    this.#begun.set(call.idempotencyKey, call);
    if (this.#resume(call) === "again") return;
    await this.journal.write({
      key: toolEntryKey(call),
      kind: "intent",
      task: taskOf(call),
      hash: inputHashOf(call),
      value: { idempotencyKey: call.idempotencyKey, tool: call.tool.name },
    });
  }

  /**
   * Returns whether a review was requested within a call that must not be repeated automatically.
   * Ending the run there would put the call in doubt.
   */
  isWithinDelicateCall({ taskId, toolName, callId }: StoredReview): boolean {
    for (const call of this.#begun.values()) {
      const isAsking = call.tool.name === toolName && call.call.id === callId;
      if (call.taskId === taskId && isAsking && this.#resume(call) !== "again") return true;
    }
    return false;
  }

  /** Called at the end of a call. Writes the result for the model. */
  async settle(call: AfterToolCall): Promise<void> {
    if (!this.#begun.delete(call.idempotencyKey)) return;
    const value = outcomeOf(call);
    if (value === undefined) return;
    await this.#write(call, value);
  }

  async #write(call: ToolCallContext, value: KeptTool): Promise<void> {
    const entry = {
      key: toolEntryKey(call),
      kind: "tool" as const,
      task: taskOf(call),
      hash: inputHashOf(call),
      value,
    };
    if (this.#resume(call) === "again") await this.journal.writeStep(entry);
    else await this.journal.write(entry);
  }

  #resultOf(call: ToolCallContext, entry: KeptEntry): ToolResult {
    this.journal.noteRestored(entry);
    const kept = toolIn(entry);
    if (!("error" in kept))
      return kept.ok
        ? ToolResult.success(kept.output, kept.structured, extraOf(kept))
        : ToolResult.failure(kept.output);
    const error = restoreError(kept.error);
    if (ExitEarlySignal.isInstance(error)) throw error;
    throw new ToolExecutionError(
      `Tool '${call.tool.name}' failed: ${error.message}`,
      { toolName: call.tool.name, toolInput: call.call.arguments },
      { cause: error },
    );
  }

  /**
   * Settles a call in doubt. Returns the result that a reviewer entered, or `undefined` if the call
   * is repeated.
   */
  async #doubtful(call: ToolCallContext, entry: KeptEntry): Promise<ToolResult | undefined> {
    this.journal.requireOpen(`the result of tool call ${call.idempotencyKey}`);
    const resume = this.#resume(call);
    if (resume === "again" || intentIn(entry).settled === "again") return undefined;
    const result = await doubtfulResult(this.journal, call, { resume, entry });
    if (result !== undefined) await this.#write(call, { ok: result.ok, output: result.output });
    return result;
  }

  #resume({ tool, input }: ToolCallContext): "again" | "ask" | "fail" {
    const said = resumeOf(tool, input);
    return tool.resume === undefined && said === "ask" ? this.journal.settings.inDoubt : said;
  }
}

function toolEntryKey(call: ToolCallContext): string {
  return `K:${partsOfKey(call).join("/")}/${call.tool.name}`;
}

/**
 * Returns the parts of the idempotency key without the id of the run: `{identity}@{attempt}`, and
 * the use of the tool. Only the `@` after the identity is not escaped.
 */
function partsOfKey({ run, idempotencyKey }: ToolCallContext): readonly [string, string] {
  const key = idempotencyKey.slice(run.id.length + 1);
  const end = key.indexOf("/", key.lastIndexOf("@"));
  return [key.slice(0, end), key.slice(end + 1)];
}

function taskOf(call: ToolCallContext): string {
  return partsOfKey(call)[0];
}

function inputHashOf({ input }: ToolCallContext): string {
  return shortHash(jsonTextOf(input));
}

/** Returns the input as JSON text. A schema may have created values that JSON can't represent. */
function jsonTextOf(input: unknown): string {
  try {
    return canonicalJson(input);
  } catch {
    return String(input);
  }
}

/**
 * Returns the entry for the end of a call. Returns `undefined` for an end that the model does not
 * receive, because the call is then repeated.
 */
function outcomeOf(call: AfterToolCall): KeptTool | undefined {
  if (call.outcome === "ok") {
    const { ok, output, errorMessage = "", structured } = call.result;
    return {
      ok,
      output: ok ? output : errorMessage,
      ...(structured !== undefined && { structured }),
      ...extraOf(call.result),
    };
  }
  const { error } = call;
  const isSeen =
    call.outcome === "failed" &&
    !ToolConfigurationError.isInstance(error) &&
    !ReviewTimeoutError.isInstance(error) &&
    !ReviewUnavailableError.isInstance(error);
  return isSeen || ExitEarlySignal.isInstance(error) ? { error: storeError(error) } : undefined;
}
