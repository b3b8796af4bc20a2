import type { ChatMessage, ToolCall } from "../../../contracts/chat-model.js";
import type { ToolLoopParts } from "./tool-loop-parts.js";

import { callForText } from "./tool-text.js";
import { toError } from "../../../util/errors.js";

/**
 * The number of turns with an equal call and an equal result from which the result has a notice.
 * Several equal calls in one turn count once.
 */
const REPEATED_TURNS = 3;

/**
 * Executes the tool calls of a task. The calls of one turn run in parallel, at most
 * `maxParallelToolCalls` at a time. Returns results in the order of the calls.
 */
export class ToolCallRunner {
  readonly #parts: Pick<ToolLoopParts, "agent" | "scope" | "texts" | "tools">;
  readonly #sequential: ReadonlySet<string>;
  /** The last result by tool and arguments, and the number of turns in which it occurred. */
  readonly #answers = new Map<
    string,
    Map<string, { content: string; count: number; turn: number }>
  >();
  #turn = 0;

  constructor(parts: Pick<ToolLoopParts, "agent" | "scope" | "texts" | "tools">) {
    this.#parts = parts;
    this.#sequential = new Set(
      parts.tools.filter((tool) => tool.sequential === true).map((tool) => tool.name),
    );
  }

  /** Executes the only call of a turn. */
  async callOne(call: ToolCall): Promise<ChatMessage> {
    this.#turn++;
    return this.#withNotice(call, await this.#call(call));
  }

  /**
   * Executes the calls of a turn in parallel. A sequential tool waits for earlier calls, and later
   * calls wait for it.
   */
  async callAll(calls: readonly ToolCall[]): Promise<ChatMessage[]> {
    this.#turn++;
    const results = await (this.#sequential.size === 0
      ? this.#callTogether(calls)
      : this.#callInTurn(calls));
    // Each call has one result.
    return results.map((message, i) => this.#withNotice(calls[i] as ToolCall, message));
  }

  async #callInTurn(calls: readonly ToolCall[]): Promise<ChatMessage[]> {
    const results: ChatMessage[] = [];
    let together: ToolCall[] = [];
    for (const call of calls) {
      if (!this.#sequential.has(call.name)) {
        together.push(call);
        continue;
      }
      results.push(...(await this.#callTogether(together)), await this.#call(call));
      together = [];
    }
    results.push(...(await this.#callTogether(together)));
    return results;
  }

  #call(call: ToolCall): Promise<ChatMessage> {
    const { scope, texts, tools } = this.#parts;
    return callForText(call, tools, scope, texts);
  }

  /**
   * Executes the calls in parallel. After a failure, no further call starts, and the started calls
   * are awaited. Only a tool that ignores its signal may continue after the end of its call.
   */
  async #callTogether(calls: readonly ToolCall[]): Promise<ChatMessage[]> {
    const { maxParallelToolCalls } = this.#parts.agent;
    if (calls.length <= maxParallelToolCalls)
      return valuesOf(await Promise.allSettled(calls.map((call) => this.#call(call))));
    const results: PromiseSettledResult<ChatMessage>[] = [];
    const waiting = calls.entries();
    let failed = false;
    const worker = async (): Promise<void> => {
      for (const [index, call] of waiting) {
        if (failed) return;
        const [result] = await Promise.allSettled([this.#call(call)]);
        results[index] = result;
        failed ||= result.status === "rejected";
      }
    };
    await Promise.all(Array.from({ length: maxParallelToolCalls }, worker));
    // Only a failure leaves gaps. valuesOf skips the gaps, and throws the failure.
    return valuesOf(results);
  }

  /** Adds a notice to the result of a call that was repeated in several turns with equal results. */
  #withNotice(call: ToolCall, message: ChatMessage): ChatMessage {
    if (message.role !== "tool") return message;
    const answers =
      this.#answers.get(call.name) ??
      new Map<string, { content: string; count: number; turn: number }>();
    this.#answers.set(call.name, answers);
    const last = answers.get(call.arguments);
    if (last?.content !== message.content) {
      answers.set(call.arguments, { content: message.content, count: 1, turn: this.#turn });
      return message;
    }
    if (last.turn < this.#turn) [last.turn, last.count] = [this.#turn, last.count + 1];
    if (last.count < REPEATED_TURNS) return message;
    return {
      ...message,
      content: message.content + this.#parts.texts.render("tool.repeated", { count: last.count }),
    };
  }
}

/** Returns the values. @throws the first failure, in the order of the calls */
function valuesOf(results: readonly PromiseSettledResult<ChatMessage>[]): ChatMessage[] {
  return results.map((result) => {
    if (result.status === "rejected") throw toError(result.reason);
    return result.value;
  });
}
