import type { ContentPart } from "../../../contracts/content.js";
import type { EnsembleListener } from "../../../contracts/events.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { isObject } from "../../../util/objects.js";

/** The arguments of a call: an object, as the protocol requires. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The options of a call. */
export interface CallOptions {
  /** The client's id of the call. */
  readonly id: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener?: EnsembleListener | undefined;
}

/** The outcome of a call: a text, and its value if the value is an object. */
export interface CallOutcome {
  readonly text: string;
  readonly structured?: Readonly<Record<string, unknown>> | undefined;
  /** Images and files of a tool's result. */
  readonly parts?: readonly ContentPart[] | undefined;
}

/** A tool or a task that clients can call. */
export interface Offer {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /**
   * Whether the caller must check arguments against `inputSchema` before `call`. If false, `call`
   * checks them.
   */
  readonly checksInput: boolean;
  /** The schema of results. Present only if all results are objects. */
  readonly outputSchema?: JsonSchema | undefined;
  call(args: Arguments, options: CallOptions): Promise<CallOutcome>;
}

/** Returns `value` as plain JSON data. `undefined` if it does not become a JSON object. */
export function structuredOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  let plain: unknown;
  try {
    plain = JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return undefined; // a value without a JSON form can't be sent, and the text is sufficient
  }
  return isObject(plain) ? plain : undefined;
}
