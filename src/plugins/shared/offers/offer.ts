import type { ContentPart } from "../../../contracts/content.js";
import type { EnsembleListener } from "../../../contracts/events.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { isObject } from "../../../util/objects.js";

/** The arguments of a call: an object, as the protocol has it. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What a call runs with. */
export interface CallOptions {
  /** The client's id of the call. */
  readonly id: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener?: EnsembleListener | undefined;
}

/** What a call came to: a text, and the value behind it where that is an object. */
export interface CallOutcome {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>> | undefined;
  /** Images and files of a tool's result. */
  readonly parts?: readonly ContentPart[] | undefined;
}

/** Something that clients can call: a tool or a task. */
export interface Offer {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Arguments have to be checked against `inputSchema` before `call`; otherwise `call` checks them itself. */
  readonly checksInput: boolean;
  /** Results fit it. Only for values that are objects. */
  readonly outputSchema?: JsonSchema | undefined;
  call(args: Arguments, options: CallOptions): Promise<CallOutcome>;
}

/** `value` as plain JSON data, where it is an object there too. */
export function structuredOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  let plain: unknown;
  try {
    plain = JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return undefined; // JSON can't hold it, so it can't be sent; the text is there
  }
  return isObject(plain) ? plain : undefined;
}
