import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CallSlots } from "./call-slots.js";
import type { InputCheck } from "./input-checks.js";
import type { Arguments, CallOptions, CallOutcome, Offer } from "../../shared/offers/offer.js";
import { protocolContent } from "./result-content.js";
import type { Sdk } from "./sdk.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { RunCancelledError, ValidationError } from "../../../contracts/errors.js";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { MOST_PARTS } from "../shared/message-guard.js";
import { NoSlotError } from "./call-slots.js";
import { failureText } from "../../shared/offers/run-result.js";
import { messageOf, toError } from "../../../util/errors.js";

/** Returns the problem with a value, or `undefined`. */
type Check = (value: unknown) => string | undefined;

const DEEPEST = 500;

/**
 * The calls of one connection or listener. Validates arguments, applies the limits and creates
 * results. Closes with its endpoint.
 */
export class CallDispatcher {
  readonly #offers: ReadonlyMap<string, Offer>;
  readonly #inputChecks: ReadonlyMap<string, InputCheck>;
  readonly #outputChecks: ReadonlyMap<string, Check>;
  readonly #slots: CallSlots;
  readonly #timeoutMs: number;
  readonly #onError: (error: Error) => void;
  /**
   * Running and waiting calls, each with its own cancellation. A shared signal would collect
   * listeners as long as the server runs.
   */
  readonly #open = new Map<Promise<unknown>, Cancellation>();
  #closing: RunCancelledError | undefined;

  constructor(
    sdk: Sdk,
    o: {
      readonly offers: ReadonlyMap<string, Offer>;
      readonly inputChecks: ReadonlyMap<string, InputCheck>;
      readonly slots: CallSlots;
      readonly timeoutMs: number;
      readonly onError: (error: Error) => void;
    },
  ) {
    this.#offers = o.offers;
    this.#slots = o.slots;
    this.#timeoutMs = o.timeoutMs;
    this.#onError = o.onError;
    const schemas = new sdk.CfWorkerJsonSchemaValidator({ shortcircuit: false });
    this.#inputChecks = o.inputChecks;
    this.#outputChecks = new Map(
      [...o.offers.values()].flatMap(({ name, outputSchema }) =>
        outputSchema === undefined ? [] : [[name, checkOf(schemas, name, outputSchema)]],
      ),
    );
  }

  get offers(): Iterable<Offer> {
    return this.#offers.values();
  }

  has(name: string): boolean {
    return this.#offers.has(name);
  }

  /** Makes a call. Never rejects: every failure becomes a result that the model can read. */
  call(name: string, args: Arguments, o: Omit<CallOptions, "timeoutMs">): Promise<CallToolResult> {
    if (this.#closing !== undefined) return Promise.resolve(errorResult(this.#closing.message));
    const end = new Cancellation().follow(o.signal);
    const call = this.#call(name, args, {
      ...o,
      signal: end.signal,
      timeoutMs: this.#timeoutMs,
    }).finally(() => {
      end.dispose();
      this.#open.delete(call);
    });
    this.#open.set(call, end);
    return call;
  }

  /** Ends all calls and waits until they have ended. */
  async close(): Promise<void> {
    const reason = (this.#closing ??= new RunCancelledError("The MCP server is closing"));
    for (const end of this.#open.values()) end.cancel(reason);
    await Promise.all(this.#open.keys());
  }

  async #call(name: string, args: Arguments, o: CallOptions): Promise<CallToolResult> {
    const offer = this.#offers.get(name);
    if (offer === undefined) return errorResult(`Unknown tool '${name}'`);
    const problem = this.#problemWith(offer, args);
    if (problem !== undefined) return errorResult(`Invalid input for tool '${name}': ${problem}`);
    try {
      return this.#result(offer, await this.#slots.run(o.signal, () => offer.call(args, o)));
    } catch (error) {
      if (error instanceof NoSlotError)
        return errorResult("The server is busy: too many calls wait already. Try again later.");
      // read only if the server ended the call
      if (o.signal.aborted) return errorResult(failureText(this.#closing ?? error));
      this.#onError(toError(error));
      return errorResult(failureText(error));
    }
  }

  #problemWith({ name }: Offer, args: Arguments): string | undefined {
    const excess = excessOf(args);
    return excess === undefined ? this.#inputChecks.get(name)?.(args) : `the arguments ${excess}`;
  }

  #result(offer: Offer, { text, structured, parts = [] }: CallOutcome): CallToolResult {
    const content = [{ type: "text" as const, text }, ...parts.map(protocolContent)];
    const misfit = this.#outputChecks.get(offer.name)?.(structured);
    if (misfit !== undefined) {
      this.#onError(
        new ValidationError(
          `The value of '${offer.name}' does not fit the JSON Schema of its outputType: ${misfit}`,
        ),
      );
      // clients would reject it
      return errorResult("The value does not fit the schema that was announced for it");
    }
    return structured === undefined
      ? { content }
      : { content, structuredContent: { ...structured } };
  }
}

function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** @throws ValidationError for a schema in an unknown dialect */
function checkOf(
  schemas: InstanceType<Sdk["CfWorkerJsonSchemaValidator"]>,
  name: string,
  schema: JsonSchema,
): Check {
  const explain = (cause: unknown): string =>
    `The JSON Schema of '${name}' can't be used: ${messageOf(cause)}`;
  let validate: (value: unknown) => {
    readonly valid: boolean;
    readonly errorMessage: string | undefined;
  };
  try {
    // a copy, because the validator modifies the schema
    validate = schemas.getValidator(structuredClone({ ...schema }));
  } catch (cause) {
    throw new ValidationError(explain(cause), { cause });
  }
  return (value) => {
    try {
      const { valid, errorMessage } = validate(value);
      return valid ? undefined : (errorMessage ?? "it does not fit the schema").slice(0, 1000);
    } catch (cause) {
      return explain(cause).slice(0, 1000); // a dangling or circular reference
    }
  };
}

/**
 * Returns the limit that a value exceeds, if any. Works level by level, because recursion would
 * overflow the stack.
 */
function excessOf(value: unknown): string | undefined {
  let parts = 0;
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return `are nested deeper than ${DEEPEST} levels`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      const children = Object.values(item) as readonly unknown[];
      if ((parts += children.length) > MOST_PARTS) return `have more than ${MOST_PARTS} parts`;
      for (const child of children) next.push(child);
    }
    level = next;
  }
  return undefined;
}
