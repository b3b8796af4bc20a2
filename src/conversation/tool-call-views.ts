import type { ChatMessage } from "../contracts/chat-model.js";
import type { ToolCallView } from "../contracts/conversation.js";
import type { EnsembleEvent, Ev } from "../contracts/events.js";
import { redactorOf } from "../contracts/redaction.js";
import { parsedOrText } from "../util/json/parsed-or-text.js";
import { toJsonValue } from "../util/json/to-json-value.js";
import { cutText } from "../util/text.js";

/**
 * Limit of the characters of a result's text that is stored in addition to the text of the message.
 */
const TEXT_LIMIT = 100_000;

/** The name of the tool and the id of a call, and the views of all calls with both. */
export type ViewsOfCall = readonly [call: string, views: readonly ToolCallView[]];

/**
 * The displayed form of the tool calls of a turn, from its events. A model may repeat an id, even in
 * one answer. The name of the tool therefore also identifies a call: whether a call is private
 * depends on its tool.
 */
export class ToolCallViews {
  readonly #views = new Map<string, ToolCallView[]>();
  /** Views of calls that have not ended. */
  readonly #begun = new WeakSet<ToolCallView>();
  /** Views of calls whose result is marked as data in the message for the model. */
  readonly #marked = new WeakSet<ToolCallView>();

  listen(event: EnsembleEvent): void {
    if (event.type === "tool_started") {
      const key = viewKey(event.callId, event.toolName);
      const views = this.#views.get(key) ?? [];
      const view = begunView(event);
      this.#begun.add(view);
      if (event.untrusted === true) this.#marked.add(view);
      views.push(view);
      this.#views.set(key, views);
    } else if (event.type === "tool_called") {
      const views = this.#views.get(viewKey(event.callId, event.toolName)) ?? [];
      const index = views.findIndex((view) => this.#begun.has(view));
      const begun = views[index];
      if (begun !== undefined) views[index] = endedView(begun, event, this.#marked.has(begun));
    }
  }

  /** Returns the views by their calls. JSON data. */
  all(): readonly ViewsOfCall[] {
    return [...this.#views].map(([call, views]) => [call, [...views]]);
  }

  /** Replaces the views with the views of an earlier execution of the turn. */
  restore(all: readonly ViewsOfCall[]): void {
    this.#views.clear();
    for (const [call, views] of all) this.#views.set(call, [...views]);
  }

  /**
   * Returns the view of the next call with this result. Returns `undefined` for a call that was not
   * streamed.
   */
  take({
    toolCallId,
    toolName,
  }: Extract<ChatMessage, { readonly role: "tool" }>): ToolCallView | undefined {
    return this.#views.get(viewKey(toolCallId, toolName))?.shift();
  }
}

function viewKey(callId: string, toolName: string): string {
  return JSON.stringify([toolName, callId]);
}

function begunView(event: Ev<"tool_started">): ToolCallView {
  const { title, client, private: isPrivate = false, toolArguments } = event;
  const common = {
    private: isPrivate,
    ...(title !== undefined && { title }),
    ...(client === true && { client }),
  };
  const redactor = redactorOf(event);
  if (isPrivate || redactor === undefined || redactor.redactText(toolArguments) === toolArguments)
    return common;
  return { ...common, input: redactor.redactValue(parsedOrText(toolArguments)) };
}

function endedView(begun: ToolCallView, event: Ev<"tool_called">, isMarked: boolean): ToolCallView {
  if (event.toolOutcome === "REJECTED") return { ...begun, denied: true };
  if (begun.private) return begun;
  const { structuredResult, toolResult, sources } = event;
  const redactor = redactorOf(event);
  const text = redactor?.redactText(toolResult) ?? toolResult;
  const structured =
    structuredResult === undefined || redactor === undefined
      ? toJsonValue(structuredResult)
      : redactor.redactValue(structuredResult);
  return {
    ...begun,
    ...(structuredResult !== undefined
      ? { output: structured }
      : (isMarked || text !== toolResult) && { output: cutText(text, TEXT_LIMIT, "...") }),
    ...(sources !== undefined && { sources }),
  };
}
