import type { EnsembleHooks } from "../contracts/hooks.js";
import type { TaskOutput } from "../contracts/output.js";
import type { HookDefinition, LaneName } from "./hook-point.js";
import { HookPoint } from "./hook-point.js";
import { reviseOutput } from "./task-output.js";

const BEFORE: readonly LaneName[] = ["transform", "policy", "answer"];
const AFTER: readonly LaneName[] = ["transform", "policy", "review", "commit"];

const before = (name: string, fields: readonly string[], lanes = BEFORE): HookDefinition => ({
  name,
  lanes,
  defaultLane: "policy",
  fields,
});
const after = (name: string, fields: readonly string[], lanes = AFTER): HookDefinition => ({
  name,
  lanes,
  defaultLane: "transform",
  fields,
});

/** A task's output is more than a record of fields, so a patch makes a new one. */
class AfterTaskPoint extends HookPoint {
  override merge(call: unknown, patch: Readonly<Record<string, unknown>>): unknown {
    const current = call as { readonly output: TaskOutput }; // only settled results are patched
    return { ...current, output: reviseOutput(current.output, patch) };
  }
}

/** Every hook of a kernel, made before any plugin is loaded. */
export interface HookPoints {
  readonly beforeRun: HookPoint;
  readonly afterRun: HookPoint;
  readonly beforeTask: HookPoint;
  readonly afterTask: HookPoint;
  readonly beforeLlmCall: HookPoint;
  readonly afterLlmCall: HookPoint;
  readonly beforeToolCall: HookPoint;
  readonly afterToolCall: HookPoint;
  readonly beforeDelegation: HookPoint;
  readonly afterDelegation: HookPoint;
  readonly beforeMemoryWrite: HookPoint;
  readonly afterMemoryWrite: HookPoint;
}

export function createHookPoints(): HookPoints {
  return Object.freeze({
    beforeRun: new HookPoint(before("beforeRun", [], ["policy"])),
    afterRun: new HookPoint(after("afterRun", [], ["transform", "commit"])),
    beforeTask: new HookPoint(before("beforeTask", ["promptSections", "contextOutputs"])),
    afterTask: new AfterTaskPoint(after("afterTask", ["raw", "parsed"])),
    beforeLlmCall: new HookPoint(before("beforeLlmCall", ["request", "model", "allowance"])),
    afterLlmCall: new HookPoint(after("afterLlmCall", ["response"])),
    beforeToolCall: new HookPoint(before("beforeToolCall", ["input"])),
    afterToolCall: new HookPoint(after("afterToolCall", ["result"])),
    beforeDelegation: new HookPoint(before("beforeDelegation", ["request"])),
    afterDelegation: new HookPoint(after("afterDelegation", ["response"])),
    beforeMemoryWrite: new HookPoint(
      before("beforeMemoryWrite", ["entry"], ["transform", "policy"]),
    ),
    afterMemoryWrite: new HookPoint(after("afterMemoryWrite", [], ["transform", "commit"])),
  });
}

/** The hooks as one plugin sees them: it can tap them, not fire them, and its taps bear its name. */
export function facadeFor(points: HookPoints, plugin: string): EnsembleHooks {
  const facade: Record<string, unknown> = {};
  for (const [name, point] of Object.entries(points) as [string, HookPoint][]) {
    facade[name] = Object.freeze({
      tap: (options: unknown, fn?: unknown) => point.tap(plugin, options, fn),
    });
  }
  return Object.freeze(facade) as unknown as EnsembleHooks; // the types of the taps are in the contract; the point checks them at run time
}
