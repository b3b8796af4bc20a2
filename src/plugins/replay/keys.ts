import { createHash } from "node:crypto";
import type { ChatRequest, Purpose } from "../../contracts/chat-model.js";
import { ValidationError } from "../../contracts/errors.js";
import { canonicalJson } from "../../util/json/canonical.js";
import type { PartDigests } from "../shared/part-digests.js";
import { requestKey } from "../shared/request-key.js";
import { messageOf } from "../../util/errors.js";

/**
 * The model and the purpose of a call. Equal words to another model, or for another purpose, are a
 * different request.
 */
export interface AskedModel {
  readonly provider: string;
  readonly modelId: string;
  readonly purpose: Purpose;
}

/** Returns the key of a request. @throws ValidationError for a request without a JSON form. */
export function callKey(
  request: ChatRequest,
  { purpose, ...model }: AskedModel,
  salt: string,
  digests?: PartDigests,
): string {
  try {
    return `${purpose}:${salted(requestKey(request, model, { ...(digests && { digests }) }), salt)}`;
  } catch (cause) {
    throw new ValidationError(
      `A request to ${model.provider}:${model.modelId} can't be recorded or replayed: ${messageOf(cause)}`,
      {
        cause,
        hint: "Its providerOptions and schemas must be plain JSON data.",
      },
    );
  }
}

/** Returns the key of a tool call. Arguments with an equal JSON value have an equal key. */
export function toolKey(tool: string, argumentsText: string, salt: string): string {
  const hash = createHash("sha256").update(canonicalCall(tool, argumentsText)).digest("hex");
  return salted(hash, salt);
}

/**
 * Adds the salt of a recording, which prevents guessing a request from its hash. Recordings of the
 * first version have none.
 */
function salted(hash: string, salt: string): string {
  return salt === "" ? hash : createHash("sha256").update(`${salt}:${hash}`).digest("hex");
}

function canonicalCall(tool: string, argumentsText: string): string {
  try {
    return canonicalJson([tool, jsonOrText(argumentsText)]);
  } catch {
    return JSON.stringify([tool, argumentsText]); // nested too deeply for sorting
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // models also write invalid arguments
  }
}
