import type { RunInfo } from "../contracts/run.js";
import type { Inputs } from "../contracts/types.js";
import type { Cancellation } from "./cancellation.js";
import type { NewEvent } from "../contracts/events.js";
import type { RunEvents } from "./event-hub.js";
import type { Settings } from "./settings.js";
import type { Token } from "../contracts/tokens.js";
import type { Ledger } from "./ledger.js";
import { ValidationError } from "../contracts/errors.js";

let revealParts: (info: ActiveRunInfo) => RunParts;

/** What a run that joins another one needs of it. */
export interface RunParts {
  readonly ledger: Ledger;
  readonly cancellation: Cancellation;
  readonly events: RunEvents;
  readonly settings: Settings;
}

/** Look-ups of a run's settings, for taps that know the run only by its info. */
export interface RunSettings {
  get<T>(token: Token<T>): T;
  /** `undefined` where nothing is bound. */
  find<T>(token: Token<T>): T | undefined;
  all<T>(token: Token<T, "many">): readonly T[];
}

/** What anyone may know about a run; the parts for joining it are hidden in it. */
export class ActiveRunInfo implements RunInfo {
  readonly #parts: RunParts;

  static {
    revealParts = (info) => info.#parts;
  }

  constructor(
    readonly id: string,
    readonly inputs: Inputs,
    readonly tags: Readonly<Record<string, string>>,
    parts: RunParts,
  ) {
    this.#parts = parts;
    Object.freeze(this);
  }
}

/** @throws ValidationError for anything but the `run` of a running task. */
export function partsOf(parent: RunInfo): RunParts {
  if (parent instanceof ActiveRunInfo) return revealParts(parent);
  throw new ValidationError("Not a running run: pass the `run` of the task context or hook call as it is");
}

/** Emits an event in a run, from a tap that knows the run only by its info. Does nothing once the run has ended, or for a foreign object. */
export function emitEvent(run: RunInfo, event: NewEvent): void {
  if (run instanceof ActiveRunInfo) revealParts(run).events.emit(event);
}

/** The settings of a run: its own bindings, the ensemble's options, the container, in this order. @throws ValidationError for what is no running run. */
export function settingsOf(run: RunInfo): RunSettings {
  return partsOf(run).settings;
}
