import type { RunInfo } from "../contracts/run.js";
import type { Inputs } from "../contracts/types.js";
import type { Cancellation } from "./cancellation.js";
import type { Ledger } from "./ledger.js";
import { ValidationError } from "../contracts/errors.js";

let revealParts: (info: ActiveRunInfo) => RunParts;

/** What a run that joins another one needs of it. */
export interface RunParts {
  readonly ledger: Ledger;
  readonly cancellation: Cancellation;
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
  throw new ValidationError("parent must be the `run` of the task context or hook call in which the inner run is started");
}
