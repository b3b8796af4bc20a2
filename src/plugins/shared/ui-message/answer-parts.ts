import type { ToolCall } from "../../../contracts/chat-model.js";
import type { ThreadMessage, ToolCallView } from "../../../contracts/conversation.js";
import type { UIChunk, UIMessagesOptions } from "../../../contracts/ui-stream.js";
import { parsedOrText } from "../../../util/json/parsed-or-text.js";
import { shownSource, TOOL_FAILED } from "../ui-stream/tool-texts.js";

const FAILED = { state: "output-error", errorText: TOOL_FAILED } as const;

type MessageOf<R> = Extract<ThreadMessage, { readonly role: R }>;

/**
 * The parts of the answer of one turn. They have the form of `useChat` after the end of its stream.
 */
export class AnswerParts {
  readonly #o: UIMessagesOptions;
  readonly #parts: UIChunk[] = [];
  /** Calls without a result, and their positions. */
  readonly #open: { readonly call: ToolCall; readonly index: number }[] = [];
  /** Ids of calls on the page. Each is unique. */
  readonly #used = new Set<string>();
  readonly #sources = new Set<string>();

  constructor(o: UIMessagesOptions) {
    this.#o = o;
  }

  /** Adds the text, the reasoning and the calls of one model call. */
  said({ content, toolCalls = [], reasoning = [] }: MessageOf<"assistant">): void {
    const thoughts = this.#o.reasoning === false ? [] : reasoning;
    const shown = thoughts.filter(({ text }) => text !== "");
    const calls = this.#o.tools === "none" ? [] : toolCalls;
    if (shown.length === 0 && content === "" && calls.length === 0) return;
    this.#parts.push({ type: "step-start" });
    for (const { text } of shown) this.#parts.push({ type: "reasoning", text, state: "done" });
    if (content !== "") this.#parts.push({ type: "text", text: content, state: "done" });
    for (const call of calls) {
      this.#open.push({ call, index: this.#parts.length });
      this.#parts.push(this.#part(call, {}));
    }
  }

  /** Adds the result of a call. */
  returned(result: MessageOf<"tool">): void {
    const at = this.#open.findIndex(
      ({ call }) => call.id === result.toolCallId && call.name === result.toolName,
    );
    const [open] = at < 0 ? [] : this.#open.splice(at, 1);
    if (open === undefined) return;
    const { view } = result;
    const isShown = isShownView(view, this.#o);
    const end = endOfCall(result, isShown);
    this.#parts[open.index] = {
      ...kindOfCall(open.call, view),
      toolCallId: this.#parts[open.index]?.["toolCallId"],
      ...(view?.title !== undefined && { title: view.title }),
      input: isShown ? (view.input ?? parsedOrText(open.call.arguments)) : {},
      ...end,
    };
    if (!isShown || end["state"] !== "output-available" || this.#o.sources === false) return;
    for (const source of view.sources ?? [])
      this.#parts.push(...shownSource(source, this.#sources));
  }

  /** Returns all parts. A call without a result is shown as failed. */
  end(): readonly UIChunk[] {
    for (const { index } of this.#open) {
      const part = this.#parts[index];
      if (part !== undefined) this.#parts[index] = { ...part, ...FAILED };
    }
    return this.#parts;
  }

  #part({ id, name }: ToolCall, input: unknown): UIChunk {
    let toolCallId = id;
    for (let count = 2; this.#used.has(toolCallId); count++) toolCallId = `${id}~${count}`;
    this.#used.add(toolCallId);
    return { type: "dynamic-tool", toolName: name, toolCallId, input };
  }
}

/** Whether a page receives the input and the output of a call. */
function isShownView(
  view: ToolCallView | undefined,
  { tools }: UIMessagesOptions,
): view is ToolCallView {
  if (view === undefined || view.private) return false;
  return view.client === true || tools !== "names";
}

/** Returns the type of the part. It is a typed part if the page executes the tool. */
function kindOfCall({ name }: ToolCall, view: ToolCallView | undefined): UIChunk {
  return view?.client === true
    ? { type: `tool-${name}` }
    : { type: "dynamic-tool", toolName: name };
}

/** Returns the end of a call in its form for a page. */
function endOfCall(
  { toolCallId, content, isError, view }: MessageOf<"tool">,
  isShown: boolean,
): Readonly<Record<string, unknown>> {
  if (view?.denied === true)
    return { state: "output-denied", approval: { id: toolCallId, approved: false } };
  if (isError === true) return FAILED;
  return { state: "output-available", output: isShown ? (view?.output ?? content) : null };
}
