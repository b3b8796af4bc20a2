import type {
  ChatChunk,
  ChatModel,
  ChatResponse,
  Purpose,
  ReasoningChunk,
} from "../../contracts/chat-model.js";
import type { NewEvent } from "../../contracts/events.js";
import type { LlmCall } from "../../contracts/hooks.js";
import type { TaskAttempt } from "../tasks/task-attempt.js";
import type { TaskFrame } from "../tasks/task-frame.js";
import { allowedRequest } from "../../contracts/allowed-request.js";
import { checkResponse } from "../../contracts/chat-response.js";
import { ModelCallError } from "../../contracts/errors.js";
import { requireTakenParts } from "../../contracts/part-support.js";

/** Purposes whose text is not part of the task's answer. Their tokens are not emitted. */
const UNSHOWN: readonly Purpose[] = ["reflection", "summary", "synthesis"];

/** Passes the text of one model call, token by token, to events and to the caller. */
export class TokenOutlet {
  /** Whether tokens become events. */
  readonly #shown: boolean;
  /** Whether the model streams the response. */
  streamed = false;

  constructor(
    readonly frame: TaskFrame,
    purpose: Purpose,
    readonly onToken: ((text: string) => void) | undefined,
  ) {
    this.#shown = frame.run.streaming && !UNSHOWN.includes(purpose);
  }

  get isWanted(): boolean {
    return this.onToken !== undefined || (this.#shown && this.frame.run.events.listens("token"));
  }

  /** Discards held tokens: only the last text of a guarded stream can become the output. */
  begin(): void {
    if (this.#shown && this.frame.run.guarded) this.frame.record.heldTokens = undefined;
  }

  /** Delivers an accepted response, unless it was streamed. */
  deliverWhole({ message }: ChatResponse): void {
    if (this.streamed) return;
    this.begin();
    if (message.content !== "") this.deliver(message.content);
  }

  deliver(token: string): void {
    const { run, record } = this.frame;
    this.onToken?.(token);
    if (!this.#shown || !run.events.listens("token")) return;
    if (run.guarded) (record.heldTokens ??= []).push(token);
    else run.emit(tokenEvent(record, token));
  }

  /** Emits a piece of reasoning, unless a guardrail can still refuse the answer. */
  think({ index, text }: ReasoningChunk): void {
    const { run, identity } = this.frame;
    if (this.#shown && !run.guarded && text !== "" && run.events.listens("reasoning_token"))
      run.emit({ type: "reasoning_token", ...identity, index, token: text });
  }
}

/** Uses one literal for each shape, because tokens are the most frequent events. */
function tokenEvent(record: TaskAttempt, token: string): NewEvent {
  const { taskId, parentTaskId, agentRole } = record;
  const taskDescription = record.task.description;
  return parentTaskId === undefined
    ? { type: "token", taskId, agentRole, token, taskDescription }
    : { type: "token", taskId, parentTaskId, agentRole, token, taskDescription };
}

/** Calls the model. Streams on request of tokens. @throws ModelCallError for a bad response. */
export async function callModel(
  frame: TaskFrame,
  call: LlmCall,
  outlet: TokenOutlet,
): Promise<ChatResponse> {
  const { model } = call;
  const request = allowedRequest(call);
  requireTakenParts(request.messages, model);
  const options = { signal: frame.cancellation.signal };
  if (model.stream !== undefined && outlet.isWanted) {
    outlet.streamed = true;
    outlet.begin();
    const chunks = model.stream(request, options);
    return checkResponse(await consume(chunks, outlet, model), model);
  }
  return checkResponse(await model.chat(request, options), model);
}

async function consume(
  chunks: AsyncIterable<ChatChunk>,
  outlet: TokenOutlet,
  { provider, modelId }: ChatModel,
): Promise<ChatResponse> {
  const { cancellation } = outlet.frame;
  const iterator = chunks[Symbol.asyncIterator]();
  // Ends a stream that ignores its signal.
  const letGo = (): void => void iterator.return?.()?.then(undefined, () => undefined);
  cancellation.onCancel(letGo);
  let text = "";
  try {
    for (;;) {
      const next: IteratorResult<ChatChunk, unknown> = await iterator.next();
      if (next.done === true) break;
      const { value } = next;
      if (value.type === "finish") {
        letGo(); // ends the stream; its result is ignored
        return value.response;
      }
      if (cancellation.reason !== undefined) continue;
      if (value.type === "reasoning") outlet.think(value);
      if (value.type !== "text") continue;
      text += value.text;
      outlet.deliver(value.text);
    }
  } finally {
    cancellation.forget(letGo);
  }
  if (cancellation.reason !== undefined) throw cancellation.reason;
  throw new ModelCallError(`The stream of model '${modelId}' ended without its final event`, {
    provider,
    modelId,
    code: "AE_MODEL_BAD_RESPONSE",
    retryable: true,
    partialText: text,
  });
}
