import type { Ev } from "../../../contracts/events.js";
import type { Source } from "../../../contracts/tool-result.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import { clientInput, shownSource, TOOL_FAILED } from "./tool-texts.js";
import { parsedOrText } from "../../../util/json/parsed-or-text.js";
import type { Fields } from "../../../util/objects.js";
import { asFields, asList } from "../../../util/objects.js";

interface OpenCall {
  readonly id: string;
  readonly callId: string;
  readonly toolName: string;
  readonly isHidden: boolean;
  /** The part of a call that the page must execute, without its input. */
  readonly client?: Fields | undefined;
}

export interface ToolPartsOptions {
  readonly tools: UIStreamOptions["tools"];
  readonly sources: UIStreamOptions["sources"];
  readonly push: (chunk: UIChunk) => void;
  /** Returns the value as JSON, without secrets. */
  readonly value: (value: unknown) => unknown;
}

/** The data of an event that identify its call. Some reviews of a call do not name the tool. */
interface NamedCall {
  readonly taskId: string;
  readonly callId?: string | undefined;
  readonly toolName?: string | undefined;
}

/**
 * The tool calls of the shown tasks. A model may reuse an id, even in one answer. Each call
 * therefore has a unique id on the page, and the name of its tool identifies it in addition to its
 * id.
 */
export class ToolParts {
  readonly #o: ToolPartsOptions;
  readonly #open = new Map<string, OpenCall[]>();
  readonly #used = new Set<string>();
  /** Addresses and titles of the shown sources. */
  readonly #sources = new Set<string>();
  readonly #clientCalls = new Map<string, string>();

  constructor(o: ToolPartsOptions) {
    this.#o = o;
  }

  /** Ids of the reviews that await the output of a call, by the call's id on the page. */
  get clientCalls(): ReadonlyMap<string, string> {
    return this.#clientCalls;
  }

  started(event: Started): void {
    const { taskId, callId, toolName, toolArguments, title, private: isPrivate, client } = event;
    if (this.#o.tools === "none" && client !== true) return;
    const id = this.#unused(callId);
    const isHidden = client !== true && (isPrivate === true || this.#o.tools === "names");
    const input = isHidden ? {} : this.#o.value(shownInputOf(toolArguments));
    const call = { toolCallId: id, toolName, ...(title !== undefined && { title }) };
    const calls = this.#open.get(taskId) ?? [];
    this.#open.set(taskId, calls);
    calls.push({ id, callId, toolName, isHidden, ...(client === true && { client: call }) });
    if (client === true) for (const part of clientInput(call, input)) this.#o.push(part);
    else this.#o.push({ type: "tool-input-available", ...call, input, dynamic: true });
  }

  /** Permits the page to execute an allowed call. The given review awaits its output. */
  execute(event: Ev<"review_requested">): void {
    const { reviewId, input } = event;
    const open = this.#openCalls(event).find(({ id }) => !this.#clientCalls.has(id));
    if (open?.client === undefined) return;
    this.#clientCalls.set(open.id, reviewId);
    const shown = this.#o.value(input ?? {});
    this.#o.push({ type: "tool-input-available", ...open.client, input: shown });
  }

  ended(e: Ev<"tool_called">): void {
    const [call] = this.#openCalls(e);
    if (call === undefined) return;
    const calls = this.#open.get(e.taskId) ?? [];
    calls.splice(calls.indexOf(call), 1);
    const { id: toolCallId, isHidden } = call;
    if (e.toolOutcome === "REJECTED") this.#o.push({ type: "tool-output-denied", toolCallId });
    else if (e.toolOutcome === "SUCCESS") {
      const output = isHidden ? null : this.#o.value(e.structuredResult ?? e.toolResult);
      this.#o.push({ type: "tool-output-available", toolCallId, output: output ?? null });
      if (!isHidden) this.#showSources(e.sources);
    } else this.#fail(toolCallId);
  }

  /** Adds a question for the page. Returns whether the call is shown, with its texts. */
  ask(event: Ev<"review_requested">): "shown" | "hidden" | "absent" {
    const [call] = this.#openCalls(event);
    if (call === undefined) return "absent";
    const { reviewId: approvalId } = event;
    this.#o.push({ type: "tool-approval-request", approvalId, toolCallId: call.id });
    return call.isHidden ? "hidden" : "shown";
  }

  /** Ends the calls of an ended task, or of all tasks, without a result. */
  abandon(taskId?: string): void {
    for (const owner of taskId === undefined ? [...this.#open.keys()] : [taskId]) {
      for (const { id } of this.#open.get(owner) ?? []) this.#fail(id);
      this.#open.delete(owner);
    }
  }

  #showSources(sources: Ev<"tool_called">["sources"]): void {
    if (this.#o.sources === false) return;
    for (const source of asList(this.#o.value(sources)).map(asSource))
      for (const part of shownSource(source, this.#sources)) this.#o.push(part);
  }

  #unused(callId: string): string {
    let id = callId;
    for (let count = 2; this.#used.has(id); count++) id = `${callId}~${count}`;
    this.#used.add(id);
    return id;
  }

  #fail(toolCallId: string): void {
    this.#o.push({ type: "tool-output-error", toolCallId, errorText: TOOL_FAILED });
  }

  #openCalls({ taskId, callId, toolName }: NamedCall): readonly OpenCall[] {
    return (this.#open.get(taskId) ?? []).filter(
      (open) => open.callId === callId && open.toolName === (toolName ?? open.toolName),
    );
  }
}

type Started = Ev<"tool_started">;

/** Returns the source without secrets. The source of a saved event may have any form. */
function asSource(value: unknown): Source {
  const { url, title, mediaType } = asFields(value) ?? {};
  return {
    ...(typeof url === "string" && { url }),
    ...(typeof title === "string" && { title }),
    ...(typeof mediaType === "string" && { mediaType }),
  };
}

/** Returns the input as a value. Models usually write JSON. A log may omit contents. */
function shownInputOf(text: unknown): unknown {
  return typeof text === "string" ? parsedOrText(text) : {};
}
