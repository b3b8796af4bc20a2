import type {
  Answer,
  HookDefinition,
  LaneName,
  Reject,
  Replace,
  TapOptions,
} from "../../contracts/hooks.js";
import type { KernelDescription } from "../../contracts/plugin.js";
import {
  AgentEnsembleError,
  type ExitEarlySignal,
  HookRejectedError,
  PluginError,
  ValidationError,
  endsRun,
} from "../../contracts/errors.js";
import {
  checkOptions,
  knownNames,
  preview,
  requireDuration,
  requireText,
} from "../../contracts/validation.js";
import { firstEnding } from "../../util/abort/timeouts.js";
import { AsyncSeriesBailHook } from "../vendor.js";
import { isThenable } from "../../util/objects.js";
import { messageOf } from "../../util/errors.js";

const VERBS: Readonly<Record<LaneName, "replace" | "reject" | "answer" | undefined>> = {
  transform: "replace",
  policy: "reject",
  answer: "answer",
  review: "replace",
  commit: undefined,
};

const STAGES = { pre: -1, normal: 0, post: 1 } as const;
const OPTION_NAMES = ["name", "lane", "order", "onError", "timeoutMs"];

/** One pass of a call through the taps. The next tap receives `call`. */
export class Firing<P> {
  verdict: Reject | Answer<unknown> | undefined;
  /** The error of a rejection. Created by the hook point, with the name of the tap. */
  rejection: AgentEnsembleError | undefined;
  replaced = false;
  /** Whether the check found the changed call invalid. */
  isInvalid = false;
  /** Set when a review ends the run. The reviewed result is kept. */
  earlyExit: ExitEarlySignal | undefined;
  /** Whether policies and reviews accepted the result. */
  accepted = false;
  constructor(
    public call: P,
    readonly warn: (message: string) => void,
    /** Whether the step has failed. Verdicts and errors of taps then have no effect. */
    readonly readOnly = false,
  ) {}
}

type Tap = (call: unknown) => unknown;
type LaneHook = AsyncSeriesBailHook<[Firing<unknown>], true | undefined>;

/** Rejects when a tap exceeds its limit. An abort ends the limit and starts the grace period. */
async function withinLimit(
  result: PromiseLike<unknown>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const work = Promise.resolve(result);
  const ending = await firstEnding(work, { timeoutMs, signal });
  if (ending === "late") throw new Error(`did not answer within ${timeoutMs} ms`);
  return work;
}

/** Returns the signal of a call. Calls of runs and memory writes have none. */
function signalOf(call: unknown): AbortSignal | undefined {
  return (call as { readonly signal?: AbortSignal }).signal;
}

/**
 * Keeps one tapable bail hook per lane. Registers every tap as a callback tap: with `tap`, tapable
 * treats a returned promise as a result. A synchronous callback creates no promise.
 */
export class HookPoint {
  readonly lanes: readonly LaneName[];
  readonly fields: readonly string[];
  readonly #hooks = new Map<LaneName, LaneHook>();
  readonly #used = new Map<LaneName, LaneHook>();
  #usedLanes: readonly LaneName[] = [];
  #frozen = false;

  constructor(
    readonly name: string,
    readonly definition: HookDefinition,
  ) {
    this.lanes = Object.keys(definition.lanes) as LaneName[]; // the keys of this record
    this.fields = Object.keys(definition.fields);
    for (const lane of this.lanes) this.#hooks.set(lane, new AsyncSeriesBailHook(["firing"]));
  }

  freeze(): void {
    this.#frozen = true;
    for (const [lane, hook] of this.#hooks) if (hook.isUsed()) this.#used.set(lane, hook);
    this.#usedLanes = [...this.#used.keys()];
  }

  /** Returns the lanes that have taps, in order. Empty until the point is frozen. */
  get usedLanes(): readonly LaneName[] {
    return this.#usedLanes;
  }

  get used(): boolean {
    return this.#usedLanes.length > 0;
  }

  describe(): KernelDescription["hooks"] {
    return [...this.#used].map(([lane, { taps }]) => ({
      hook: this.name,
      lane,
      taps: taps.map(({ name }) => name),
    }));
  }

  /** Registers a plugin's tap. The caller may omit `options`. */
  tap(plugin: string, options: unknown, fn: unknown): void {
    const { name: hook, lanes } = this;
    if (this.#frozen) {
      throw new ValidationError(`Hook ${hook} is frozen: the kernel has booted`, {
        hint: "Tap in a plugin's apply(), or before the first run.",
      });
    }
    if (typeof options === "function" && fn === undefined)
      return this.tap(plugin, { name: options.name === "" ? plugin : options.name }, options);
    if (typeof fn !== "function")
      throw new ValidationError(`A tap of ${hook} must be a function, got: ${preview(fn)}`);
    checkOptions(`a tap of ${hook}`, options, OPTION_NAMES);
    const tapOptions = options as TapOptions & { readonly lane?: LaneName }; // checked below
    requireText(tapOptions.name, `A tap of ${hook} must have a name`);
    requireDuration(`timeoutMs of tap '${tapOptions.name}'`, tapOptions.timeoutMs);
    const lane = tapOptions.lane ?? this.definition.defaultLane;
    const target = this.#hooks.get(lane);
    if (target === undefined)
      throw new ValidationError(
        `Hook ${hook} has no lane '${String(lane)}'. ${knownNames(String(lane), lanes)}`,
      );
    const order = tapOptions.order ?? "normal";
    if (!Object.hasOwn(STAGES, order))
      throw new ValidationError(
        `Unknown order '${String(order)}' of tap '${tapOptions.name}'. ${knownNames(String(order), Object.keys(STAGES))}`,
      );
    if (
      tapOptions.onError !== undefined &&
      tapOptions.onError !== "fail" &&
      tapOptions.onError !== "skip"
    ) {
      throw new ValidationError(
        `onError of tap '${tapOptions.name}' must be "fail" or "skip", got: ${preview(tapOptions.onError)}`,
      );
    }
    target.tapAsync(
      { name: `${plugin}/${tapOptions.name}`, stage: STAGES[order] },
      this.#guarded(plugin, lane, tapOptions, fn as Tap),
    );
  }

  /** Runs one lane. Returns whether a verdict ended it. Returns a promise only for async taps. */
  fire(lane: LaneName, firing: Firing<unknown>): boolean | Promise<boolean> {
    const target = this.#used.get(lane);
    if (target === undefined) return false;
    let isDone = false;
    let ended = false;
    let failure: Error | null | undefined;
    let settle: (() => void) | undefined;
    target.callAsync(firing, (error, verdict) => {
      isDone = true;
      ended = verdict === true;
      failure = error;
      settle?.();
    });
    if (!isDone)
      return new Promise(
        (resolve, fail) => (settle = () => (failure ? fail(failure) : resolve(ended))),
      );
    if (failure) throw failure;
    return ended;
  }

  #guarded(
    plugin: string,
    lane: LaneName,
    options: TapOptions,
    fn: Tap,
  ): (firing: Firing<unknown>, done: (error: Error | null, ended?: true) => void) => void {
    const { timeoutMs, onError } = options;
    const endsLane = (firing: Firing<unknown>, verdict: unknown): true | undefined => {
      if (verdict === undefined || verdict === null) return undefined;
      if (firing.readOnly)
        throw new ValidationError(
          `Tap '${options.name}' of ${this.name} returned a verdict, but the step has no result`,
        );
      return this.#take(lane, firing, verdict, options.name);
    };
    const failed = (firing: Firing<unknown>, error: unknown): AgentEnsembleError | null => {
      const attributed = this.#attribute(plugin, options.name, error);
      if (!firing.readOnly && (onError !== "skip" || endsRun(error))) return attributed;
      firing.warn(`A tap was skipped: ${attributed.message}`);
      return null;
    };
    return (firing, done) => {
      let ended: true | undefined;
      try {
        const result = fn(firing.call);
        if (isThenable(result)) {
          const verdict = Promise.resolve(
            timeoutMs === undefined
              ? result
              : withinLimit(result, timeoutMs, signalOf(firing.call)),
          ).then((value) => endsLane(firing, value));
          verdict.then(
            (value) => done(null, value),
            (error: unknown) => done(failed(firing, error)),
          );
          return;
        }
        ended = endsLane(firing, result);
      } catch (error) {
        done(failed(firing, error));
        return;
      }
      done(null, ended);
    };
  }

  #attribute(plugin: string, tap: string, error: unknown): AgentEnsembleError {
    if (AgentEnsembleError.isInstance(error)) return error;
    const hook = this.name;
    return new PluginError(
      `Tap '${tap}' of plugin '${plugin}' failed in ${hook}: ${messageOf(error)}`,
      { plugin, hook },
      { cause: error },
    );
  }

  #take(lane: LaneName, firing: Firing<unknown>, verdict: unknown, tap: string): true | undefined {
    const { name: hook, fields } = this;
    const verb = (verdict as { readonly verb?: unknown }).verb;
    if (verb === undefined || verb !== VERBS[lane]) {
      const allowed = VERBS[lane] === undefined ? "nothing" : `nothing or ${VERBS[lane]}(...)`;
      throw new ValidationError(
        `Tap '${tap}' of ${hook} returned ${preview(verdict)}; in lane '${lane}' it may return ${allowed}`,
        {
          hint: "An arrow function returns the value of its expression: wrap the body in braces to return nothing.",
        },
      );
    }
    if (verb === "replace") {
      const patch = (verdict as Replace<unknown>).value;
      if (typeof patch !== "object" || patch === null)
        throw new ValidationError(
          `Tap '${tap}' of ${hook} must pass an object to replace(), got: ${preview(patch)}`,
        );
      const taken = Object.fromEntries(
        Object.entries(patch).filter(([field]) => fields.includes(field)),
      );
      if (Object.keys(taken).length === 0)
        throw new ValidationError(
          `Tap '${tap}' of ${hook} replaces none of the fields that may change: ${fields.join(", ") || "none"}`,
        );
      const call = firing.call as object; // guaranteed by the types of the hook
      firing.call = this.definition.merge?.(call, taken) ?? { ...call, ...taken };
      firing.replaced = true;
      return undefined;
    }
    if (verb === "reject") {
      const { reason } = verdict as Reject;
      firing.rejection = AgentEnsembleError.isInstance(reason)
        ? reason
        : new HookRejectedError(String(reason), { hook, tap });
    }
    firing.verdict = verdict as Reject | Answer<unknown>; // the verb was checked
    return true;
  }
}
