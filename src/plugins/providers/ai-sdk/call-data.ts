import type { JsonValue } from "../../../contracts/content.js";
import { asFields, asText } from "../../../util/objects.js";

type JsonObject = Extract<JsonValue, { readonly [key: string]: JsonValue }>;

/** The field with the id of the call. */
const CALL = "tool-call";

/** The data of a hidden block of reasoning that belongs to a tool call. */
export function callData(callId: string, metadata: JsonObject): JsonObject {
  return { [CALL]: callId, metadata };
}

/** Reads such data. Returns `undefined` for any other data. */
export function callDataIn(
  data: JsonValue | undefined,
): { readonly callId: string; readonly metadata: object } | undefined {
  const fields = asFields(data);
  const metadata = asFields(fields?.["metadata"]);
  const callId = asText(fields?.[CALL]);
  return callId === "" || metadata === undefined ? undefined : { callId, metadata };
}
