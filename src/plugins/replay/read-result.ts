import type { ChatResponse } from "../../contracts/chat-model.js";
import type { ContentPart } from "../../contracts/content.js";
import type { Source } from "../../contracts/tool-result.js";
import type { Fields } from "../../util/objects.js";
import type { CallResult, StoredChunk, ToolResultLine } from "./recording-format.js";
import type { StoredError } from "../shared/stored-error.js";
import { preview } from "../../contracts/validation.js";
import {
  Misshapen,
  flagField,
  listField,
  numberField,
  optionalNumber,
  absentOrText,
  requireFields,
  textField,
} from "./fields.js";
import { ERROR_KINDS } from "../shared/stored-error.js";

/** Reads the end of a model call. @throws Misshapen */
export function readResult(fields: Fields): CallResult {
  const { response, error, chunks } = fields;
  if (response !== undefined) requireFields(response, "'response'");
  return {
    // the kernel checks it like the response of any model
    ...(response !== undefined && { response: response as ChatResponse }),
    ...(error !== undefined && { error: readError(error) }),
    ...(flagField(fields, "aborted") && { aborted: true }),
    ...(chunks !== undefined && { chunks: listField(fields, "chunks").map(readChunk) }),
  };
}

/** Reads the result of a tool. @throws Misshapen */
export function readToolResult(fields: Fields): ToolResultLine {
  if (typeof fields["ok"] !== "boolean")
    throw new Misshapen(`'ok' must be true or false, got: ${preview(fields["ok"])}`);
  return {
    ok: fields["ok"],
    text: textField(fields, "text"),
    ...(fields["structured"] !== undefined && { structured: fields["structured"] }),
    ...(fields["parts"] !== undefined && {
      parts: listField(fields, "parts") as readonly ContentPart[], // checked when the result is created
    }),
    ...(fields["sources"] !== undefined && {
      // checked when the result is created
      sources: listField(fields, "sources") as readonly Source[],
    }),
  };
}

/** @throws Misshapen */
export function readError(value: unknown): StoredError {
  const fields = requireFields(value, "'error'");
  if (!ERROR_KINDS.includes(textField(fields, "kind")))
    throw new Misshapen(`the kind of error '${preview(fields["kind"])}' is not known`);
  for (const name of ["name", "message"]) textField(fields, name);
  for (const name of ["code", "hint", "provider", "modelId", "partialText"])
    absentOrText(fields, name);
  for (const name of ["status", "retryAfterMs", "timeoutMs"]) optionalNumber(fields, name);
  for (const name of ["retryable", "timedOut"]) flagField(fields, name);
  const { cause, limit } = fields;
  if (cause !== undefined)
    for (const name of ["name", "message"]) textField(requireFields(cause, "'cause'"), name);
  if (limit !== undefined) {
    const numbers = requireFields(limit, "'limit'");
    for (const name of ["requests", "periodMs", "waitTimeoutMs"]) numberField(numbers, name);
    optionalNumber(numbers, "tokens");
  }
  return fields as unknown as StoredError; // all its fields are checked
}

function readChunk(chunk: unknown): StoredChunk {
  if (typeof chunk === "string") return chunk;
  const fields = requireFields(chunk, "A chunk");
  const { type } = fields;
  if (type !== "tool_call" && type !== "reasoning")
    throw new Misshapen(`A chunk must be a text, reasoning or a tool_call, got: ${preview(chunk)}`);
  numberField(fields, "index");
  if (type === "reasoning") textField(fields, "text");
  for (const name of ["id", "name", "argumentsDelta"]) absentOrText(fields, name);
  return fields as unknown as StoredChunk; // all its fields are checked
}
