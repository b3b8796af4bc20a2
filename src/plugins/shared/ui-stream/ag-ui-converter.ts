import type { EnsembleEvent } from "../../../contracts/events.js";
import type { Fields } from "../../../util/objects.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "./page-stream.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { asFields, asText } from "../../../util/objects.js";
import { UIConverter } from "./ui-converter.js";

/** The version of AG-UI. */
const PROTOCOL_VERSION = "1.0";

/** The ids of the events of a run. */
export interface AgUiPlace {
  readonly runId: string;
  /** Default: the id of the run. */
  readonly threadId?: string | undefined;
}

type Translate = (chunk: UIChunk) => readonly UIChunk[];

/**
 * Converts the events of a run to AG-UI events. They have the same content as the UI message
 * stream.
 */
export class AgUiConverter implements PageStream {
  readonly #inner: UIConverter;
  readonly #place: { readonly threadId: string; readonly runId: string };
  readonly #translations: Readonly<Record<string, Translate>>;
  #messageId = "";
  #steps = 0;
  /** Open reviews by tool call: requested approvals, and calls that the page must execute. */
  readonly #reviews = new Map<string, string>();
  readonly #delegations = new Set<string>();
  #errorCode: string | undefined;

  constructor({ runId, threadId = runId }: AgUiPlace, o: UIStreamOptions) {
    this.#place = { threadId, runId };
    this.#inner = new UIConverter(runId, o);
    this.#translations = {
      ...this.#frame(),
      ...this.#texts(),
      ...this.#tools(),
      "data-delegation": (chunk) => this.#delegation(chunk),
    };
  }

  get clientCalls(): ReadonlyMap<string, string> {
    return this.#inner.clientCalls;
  }

  get waitsForPeople(): boolean {
    return this.#inner.waitsForPeople;
  }

  take(event: EnsembleEvent): readonly UIChunk[] {
    return this.#translated(this.#inner.take(event));
  }

  end(end: PageEnd): readonly UIChunk[] {
    if (end.kind === "failed" && AgentEnsembleError.isInstance(end.error))
      this.#errorCode = end.error.code;
    return this.#translated(this.#inner.end(end));
  }

  pause(): readonly UIChunk[] {
    return this.#translated(this.#inner.pause());
  }

  startNextResponse(options: UIStreamOptions): void {
    this.#inner.startNextResponse(options);
  }

  #translated(chunks: readonly UIChunk[]): readonly UIChunk[] {
    return chunks.flatMap((chunk) => this.#translations[chunk.type]?.(chunk) ?? custom(chunk));
  }

  #frame(): Readonly<Record<string, Translate>> {
    const { threadId, runId } = this.#place;
    const finished = (outcome: Fields): UIChunk => ({
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome,
    });
    return {
      start: ({ messageId }) => {
        this.#messageId = asText(messageId);
        return [{ type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION }];
      },
      "start-step": () => [{ type: "STEP_STARTED", stepName: `step-${++this.#steps}` }],
      "finish-step": () => [{ type: "STEP_FINISHED", stepName: `step-${this.#steps}` }],
      "message-metadata": ({ messageMetadata: value }) => [
        { type: "CUSTOM", name: "metadata", value },
      ],
      abort: () => [finished({ type: "cancelled" })],
      error: ({ errorText: message }) => [
        {
          type: "RUN_ERROR",
          message,
          ...(this.#errorCode !== undefined && { code: this.#errorCode }),
        },
      ],
      finish: ({ finishReason }) => [
        finished(
          finishReason === "tool-calls" && this.#reviews.size > 0
            ? { type: "interrupt", interrupts: this.#interrupts() }
            : { type: "success" },
        ),
      ],
    };
  }

  #texts(): Readonly<Record<string, Translate>> {
    const place = ({ id }: UIChunk): { readonly messageId: string } => ({
      messageId: `${this.#messageId}-${asText(id)}`,
    });
    return {
      "text-start": (chunk) => [{ type: "TEXT_MESSAGE_START", ...place(chunk), role: "assistant" }],
      "text-delta": (chunk) => [
        { type: "TEXT_MESSAGE_CONTENT", ...place(chunk), delta: chunk["delta"] },
      ],
      "text-end": (chunk) => [{ type: "TEXT_MESSAGE_END", ...place(chunk) }],
      "reasoning-start": (chunk) => [
        { type: "REASONING_START", ...place(chunk) },
        { type: "REASONING_MESSAGE_START", ...place(chunk), role: "reasoning" },
      ],
      "reasoning-delta": (chunk) => [
        { type: "REASONING_MESSAGE_CONTENT", ...place(chunk), delta: chunk["delta"] },
      ],
      "reasoning-end": (chunk) => [
        { type: "REASONING_MESSAGE_END", ...place(chunk) },
        { type: "REASONING_END", ...place(chunk) },
      ],
    };
  }

  #tools(): Readonly<Record<string, Translate>> {
    const result = ({ toolCallId }: UIChunk, content: string): readonly UIChunk[] => {
      this.#reviews.delete(asText(toolCallId));
      const messageId = `${this.#messageId}-result-${asText(toolCallId)}`;
      return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool" }];
    };
    const started = ({ toolCallId, toolName: toolCallName }: UIChunk): UIChunk => ({
      type: "TOOL_CALL_START",
      toolCallId,
      toolCallName,
    });
    return {
      "tool-input-start": (chunk) => [started(chunk)],
      "tool-input-delta": ({ toolCallId, inputTextDelta: delta }) => [
        { type: "TOOL_CALL_ARGS", toolCallId, delta },
        { type: "TOOL_CALL_END", toolCallId },
      ],
      "tool-input-available": (chunk) => {
        const { toolCallId, input } = chunk;
        const reviewId = this.clientCalls.get(asText(toolCallId));
        if (reviewId !== undefined) {
          this.#reviews.set(asText(toolCallId), reviewId);
          return []; // the page executes the call when the run is interrupted
        }
        return [
          started(chunk),
          { type: "TOOL_CALL_ARGS", toolCallId, delta: agUiText(input) },
          { type: "TOOL_CALL_END", toolCallId },
        ];
      },
      "tool-approval-request": ({ approvalId, toolCallId }) => {
        this.#reviews.set(asText(toolCallId), asText(approvalId));
        return [
          { type: "CUSTOM", name: "tool-approval-request", value: { approvalId, toolCallId } },
        ];
      },
      "tool-output-available": (chunk) =>
        result(
          chunk,
          typeof chunk["output"] === "string" ? chunk["output"] : agUiText(chunk["output"]),
        ),
      "source-url": ({ type: _, ...value }) => [{ type: "CUSTOM", name: "source", value }],
      "source-document": ({ type: _, ...value }) => [{ type: "CUSTOM", name: "source", value }],
      "tool-output-error": (chunk) => result(chunk, asText(chunk["errorText"])),
      "tool-output-denied": (chunk) => result(chunk, "The call was denied."),
    };
  }

  /** Converts the state of a delegation. A refused delegation fails without a start. */
  #delegation({ id, data }: UIChunk): readonly UIChunk[] {
    const { state, to } = asFields(data) ?? {};
    const subagentRunId = asText(id);
    const started = this.#delegations.has(subagentRunId)
      ? []
      : [{ type: "SUBAGENT_STARTED", subagentRunId, name: asText(to) }];
    this.#delegations.add(subagentRunId);
    if (state === "running") return started;
    const ended =
      state === "done"
        ? { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "success" } }
        : { type: "SUBAGENT_ERROR", subagentRunId, message: "The delegation failed." };
    return [...started, ended];
  }

  #interrupts(): readonly Fields[] {
    return [...this.#reviews].map(([toolCallId, id]) => ({
      id,
      reason: "tool_call",
      toolCallId,
    }));
  }
}

/** Converts a data part. It keeps its name and id. */
function custom({ type: name, id, data }: UIChunk): readonly UIChunk[] {
  const value = id === undefined ? { data } : { id, data };
  return [{ type: "CUSTOM", name: name.replace(/^data-/, ""), value }];
}

function agUiText(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
