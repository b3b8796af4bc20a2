import type { ChatChunk, ChatRequest, ChatResponse, Purpose } from "../contracts/chat-model.js";
import type { LlmCall } from "../contracts/hooks.js";
import type { GatewayScope } from "./task-scope.js";
import { ModelCallError } from "../contracts/errors.js";

/** What is no answer of the task: nobody who follows its tokens wants to read a lesson about it, or who does it. */
const UNSHOWN: readonly Purpose[] = ["reflection", "synthesis"];

/** Calls the model: streaming where somebody wants the tokens, else in one piece. */
export async function callModel(
  scope: GatewayScope,
  call: LlmCall,
  onToken: ((text: string) => void) | undefined,
): Promise<ChatResponse> {
  const { model } = call;
  const request = allowedRequest(call);
  const shown = isShown(scope, call);
  const options = { signal: scope.signal };
  if (model.stream === undefined || (onToken === undefined && !(shown && scope.listens("token"))))
    return showWhole(scope, call, await model.chat(request, options), onToken);
  forgetHeld(scope, shown);
  return consume(scope, call, model.stream(request, options), shown, onToken);
}

/** Hands out an answer as one token: that of a model that does not stream, or of a tap that answered in its place. */
export function showWhole(
  scope: GatewayScope,
  call: LlmCall,
  response: ChatResponse,
  onToken: ((text: string) => void) | undefined,
): ChatResponse {
  const shown = isShown(scope, call);
  forgetHeld(scope, shown);
  const text = response?.message?.content;
  if (typeof text === "string" && text !== "") deliver(scope, text, shown, onToken);
  return response;
}

function isShown(scope: GatewayScope, call: LlmCall): boolean {
  return scope.engine.streaming && !UNSHOWN.includes(call.purpose);
}

/** Of a guarded stream only the last text can become the output. */
function forgetHeld(scope: GatewayScope, shown: boolean): void {
  if (shown && scope.engine.guarded) scope.record.heldTokens = undefined;
}

/** The request with the lower of its own output limit and the allowance. */
function allowedRequest({ request, allowance }: LlmCall): ChatRequest {
  if (allowance === undefined || (request.maxOutputTokens ?? Infinity) <= allowance.maxOutputTokens)
    return request;
  return { ...request, maxOutputTokens: allowance.maxOutputTokens };
}

function deliver(
  scope: GatewayScope,
  token: string,
  shown: boolean,
  onToken: ((text: string) => void) | undefined,
): void {
  onToken?.(token);
  if (!shown || !scope.listens("token")) return;
  if (scope.engine.guarded) {
    (scope.record.heldTokens ??= []).push(token);
    return;
  }
  const { taskId, parentTaskId, agentRole, task } = scope.record;
  if (parentTaskId === undefined)
    scope.emit({ type: "token", taskId, agentRole, token, taskDescription: task.description });
  else
    scope.emit({
      type: "token",
      taskId,
      parentTaskId,
      agentRole,
      token,
      taskDescription: task.description,
    });
}

async function consume(
  scope: GatewayScope,
  call: LlmCall,
  chunks: AsyncIterable<ChatChunk>,
  shown: boolean,
  onToken: ((text: string) => void) | undefined,
): Promise<ChatResponse> {
  const iterator = chunks[Symbol.asyncIterator]();
  const letGo = (): void => void iterator.return?.()?.then(undefined, () => undefined); // a stream that ignores its signal
  scope.cancellation.onCancel(letGo);
  let text = "";
  try {
    for (;;) {
      const next: IteratorResult<ChatChunk, unknown> = await iterator.next();
      if (next.done === true) break;
      const { value } = next;
      if (value.type === "finish") {
        void iterator.return?.()?.then(undefined, () => undefined); // so that the stream can clean up; the answer is there whatever that brings
        return value.response;
      }
      if (value.type === "text" && scope.cancellation.reason === undefined) {
        text += value.text;
        deliver(scope, value.text, shown, onToken);
      }
    }
  } finally {
    scope.cancellation.forget(letGo);
  }
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  const { provider, modelId } = call.model;
  throw new ModelCallError(`The stream of model '${modelId}' ended without its final event`, {
    provider,
    modelId,
    code: "AE_MODEL_BAD_RESPONSE",
    retryable: true,
    partialText: text,
  });
}
