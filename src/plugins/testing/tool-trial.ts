import { isDeepStrictEqual } from "node:util";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { AnyTool, ToolReturn } from "../../contracts/tool.js";
import { RunCancelledError } from "../../contracts/errors.js";
import { sleep } from "../../util/abort/timeouts.js";
import { ScriptedModel } from "./scripted-model.js";
import { stagedContext, StagedScope } from "./staged-scope.js";
import { deepFreeze } from "../../util/objects.js";

/** The end of a call. `hung` means that it did not end for a long time after its signal. */
export type TrialEnding =
  | { readonly kind: "returned"; readonly returned: ToolReturn }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "hung" };

/** One call of a tool outside a run. */
export interface Trial {
  readonly ending: Promise<TrialEnding>;
  /** Returns whether it has ended. */
  ended(): boolean;
  abort(): void;
  /** Returns whether the tool has changed its input. */
  changedInput(): boolean;
}

/** Begins a call with a frozen copy of the input. A change throws or is detected. */
export function tryTool(
  tool: AnyTool,
  input: unknown,
  { aborted = false }: { readonly aborted?: boolean } = {},
): Trial {
  const scope = new StagedScope(
    "run-1",
    new ScriptedModel(["answer"], { onExhausted: "repeat-last" }),
  );
  const given = deepFreeze(structuredClone(input));
  let ended = false;
  if (aborted) scope.abort(new RunCancelledError("enough"));
  const call = async (): Promise<TrialEnding> => {
    try {
      return { kind: "returned", returned: await tool.execute(given, stagedContext(scope)) };
    } catch (error) {
      return { kind: "threw", error };
    } finally {
      ended = true;
    }
  };
  return {
    ending: call(),
    ended: () => ended,
    abort: () => scope.abort(new RunCancelledError("enough")),
    changedInput: () => !isDeepStrictEqual(given, input),
  };
}

/**
 * Returns the end of a call within a time. The time is counted in small steps, because a busy
 * machine also delays the tool.
 */
export async function endingWithin(trial: Trial, limitMs: number): Promise<TrialEnding> {
  for (let step = 0; step < 10 && !trial.ended(); step++) await sleep(limitMs / 10);
  return trial.ended() ? trial.ending : { kind: "hung" };
}

type Validator = StandardSchemaV1["~standard"];

/** Returns the validator of the input of a tool. Returns `undefined` if there is none. */
function inputValidator(tool: AnyTool): Validator | undefined {
  const input = tool.input as
    | { readonly "~standard"?: Validator; readonly schema?: { readonly "~standard"?: Validator } }
    | undefined; // any value is possible
  return input?.["~standard"] ?? input?.schema?.["~standard"];
}

/** Returns the JSON Schema of a tool. Returns `undefined` for a tool that takes one text. */
export function jsonSchemaOf(tool: AnyTool): Readonly<Record<string, unknown>> | undefined {
  const input = tool.input as
    | {
        readonly "~standard"?: StandardJSONSchemaV1.Props;
        readonly jsonSchema?: Readonly<Record<string, unknown>>;
      }
    | undefined;
  if (input === undefined) return undefined;
  if (input["~standard"] !== undefined)
    return input["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  // either plain JSON Schema or a pair
  return inputValidator(tool) === undefined ? input : input.jsonSchema;
}
