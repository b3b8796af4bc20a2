import type { ChatMessage, ToolCall } from "../../../contracts/chat-model.js";
import type { ToolLoopParts } from "./tool-loop-parts.js";

import { callForText } from "./tool-text.js";
import { toError } from "../../../util/errors.js";

/** The number of equal calls with equal answers from which the model is informed that it repeats itself. */
const REPEATED = 3;

/** Makes the tool calls of a task: those of one turn side by side, up to the agent's limit, and gives their answers in the order of the requests. */
export class ToolCallRunner {
  readonly #parts: Pick<ToolLoopParts, "agent" | "scope" | "texts" | "tools">;
  readonly #sequential: ReadonlySet<string>;
  /** By tool and arguments: the last answer, and in how many turns it came. */
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

  /** The only call of a turn. */
  async callOne(call: ToolCall): Promise<ChatMessage> {
    this.#turn++;
    return this.#noticed(call, await this.#call(call));
  }

  /** Side by side, except that a sequential tool waits for those before it and holds up those after it. */
  async callAll(calls: readonly ToolCall[]): Promise<ChatMessage[]> {
    this.#turn++;
    const results = await (this.#sequential.size === 0
      ? this.#callTogether(calls)
      : this.#callInTurn(calls));
    return calls.flatMap((call, i) => {
      const message = results[i];
      return message === undefined ? [] : [this.#noticed(call, message)];
    });
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

  /** Waits for all that were started even when one fails, so that nothing of this task is still at work when it ends; then starts no more. */
  async #callTogether(calls: readonly ToolCall[]): Promise<ChatMessage[]> {
    const { maxParallelToolCalls } = this.#parts.agent;
    if (calls.length <= maxParallelToolCalls)
      return settle(await Promise.allSettled(calls.map((call) => this.#call(call))));
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
    return settle(results.filter(() => true)); // a failure leaves holes, and is thrown
  }

  /** Tells a model that asks the same again and again, and gets the same again and again, that it does. */
  #noticed(call: ToolCall, message: ChatMessage): ChatMessage {
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
    if (last.count < REPEATED) return message;
    return {
      ...message,
      content: message.content + this.#parts.texts.render("tool.repeated", { count: last.count }),
    };
  }
}

/** @throws the first failure. */
function settle(results: readonly PromiseSettledResult<ChatMessage>[]): ChatMessage[] {
  return results.map((result) => {
    if (result.status === "rejected") throw toError(result.reason);
    return result.value;
  });
}
