import type { EnsembleHooks } from "../../contracts/hooks.js";
import { HOOKS } from "../../contracts/hooks.js";
import { HookPoint } from "./hook-point.js";

/** The two hooks of a step. */
export interface HookPair {
  readonly before: HookPoint;
  readonly after: HookPoint;
}

/** All hooks of a kernel, by step. */
export interface HookPoints {
  readonly run: HookPair;
  readonly task: HookPair;
  readonly llmCall: HookPair;
  readonly toolCall: HookPair;
  readonly delegation: HookPair;
  readonly memoryWrite: HookPair;
}

const pair = (before: keyof EnsembleHooks, after: keyof EnsembleHooks): HookPair =>
  Object.freeze({
    before: new HookPoint(before, HOOKS[before]),
    after: new HookPoint(after, HOOKS[after]),
  });

/** Creates the hooks of a kernel, before any plugin is loaded. */
export function createHookPoints(): HookPoints {
  return Object.freeze({
    run: pair("beforeRun", "afterRun"),
    task: pair("beforeTask", "afterTask"),
    llmCall: pair("beforeLlmCall", "afterLlmCall"),
    toolCall: pair("beforeToolCall", "afterToolCall"),
    delegation: pair("beforeDelegation", "afterDelegation"),
    memoryWrite: pair("beforeMemoryWrite", "afterMemoryWrite"),
  });
}

/** Returns all hooks in the order of the steps. */
export function allPoints(points: HookPoints): readonly HookPoint[] {
  return Object.values({ ...points }).flatMap(({ before, after }) => [before, after]);
}

/** Returns the hooks for one plugin. The plugin can tap them under its name, but not fire them. */
export function facadeFor(points: HookPoints, plugin: string): EnsembleHooks {
  const facade = allPoints(points).map((point) => [
    point.name,
    Object.freeze({ tap: (options: unknown, fn?: unknown) => point.tap(plugin, options, fn) }),
  ]);
  return Object.freeze(Object.fromEntries(facade)) as EnsembleHooks; // the point checks taps
}
