import type { LlmCall } from "../../../contracts/hooks.js";
import { originOf } from "../../../contracts/derived-options.js";

/**
 * Returns the key of a window, equal in every process. It contains the kind and the name of its
 * owner.
 */
export function windowKey({ run, taskId }: LlmCall, owner: object, limit: object): string {
  const ensemble = originOf(run.options).name ?? "";
  if (owner === limit) return `ensemble:${ensemble}`;
  if ("role" in owner) return `agent:${String(owner.role)}`;
  if ("modelId" in owner && "provider" in owner)
    return `model:${String(owner.provider)}:${String(owner.modelId)}`;
  return `task:${ensemble}/${taskId}`;
}
