import type { LlmCall } from "../../../contracts/hooks.js";

/** Returns a key that a model call shares with the call that its hook received. */
export function modelCallKey({ taskId, purpose, iteration, attempt }: LlmCall): string {
  return `${purpose}/${iteration}/${attempt}/${taskId}`;
}

/** Whether the recording of an earlier run answers the call. No model is then called. */
export function isRecorded({ model }: LlmCall): boolean {
  return model.capabilities?.recorded === true;
}
