import type { Remote, WorkRequest } from "../../../contracts/network.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { NetworkDirectory } from "./directory.js";
import type { QueueClock } from "../shared/clock-timer.js";
import { ToolConfigurationError } from "../../../contracts/errors.js";
import { NetworkTokens } from "../../../contracts/network.js";
import { Tokens } from "../../../contracts/tokens.js";
import { asText } from "../../../util/objects.js";
import { startClockTimer } from "../shared/clock-timer.js";
import { DIRECTORY } from "./directory.js";

/** The default wait for a result in milliseconds. */
const TASK_TIMEOUT_MS = 1_800_000;
const TOOL_TIMEOUT_MS = 30_000;

export function defaultTimeoutMs(type: WorkRequest["type"]): number {
  return type === "TOOL" ? TOOL_TIMEOUT_MS : TASK_TIMEOUT_MS;
}

/** An ensemble that a task can call. */
export interface CallTarget {
  readonly ensemble: string;
  readonly remote: Remote;
  /** The name of the caller. */
  readonly from: string;
  readonly timeoutMs: number;
  readonly clock: QueueClock;
  /** Ends the waits in the background. */
  readonly closing: AbortSignal;
  /** Resolves with the result of `work`, or with `undefined` after `ms` milliseconds. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>;
}

/** Returns the name of the ensemble of a connection, if it has one. */
export function ensembleOf(place: string | Remote): string {
  if (typeof place === "string") return place;
  const name = "name" in place ? asText(place.name) : "";
  return name === "" ? "remote" : name;
}

/**
 * Returns the target of a call.
 * @throws ToolConfigurationError for a name without the plugin `network`, and for an unknown name.
 */
export function targetOf(
  place: string | Remote,
  type: WorkRequest["type"],
  scope: TaskScope,
): CallTarget {
  const directory = scope.find(DIRECTORY);
  const ensemble = ensembleOf(place);
  if (directory === undefined && typeof place === "string")
    throw new ToolConfigurationError(
      `The tools of ensemble '${ensemble}' need the plugin network()`,
      { hint: "Add network({ name, backend }) to the plugins, or give a Transport." },
    );
  const clock = scope.get(Tokens.Clock);
  return {
    ensemble,
    remote: typeof place === "string" ? requiredRemote(directory, place, scope) : place,
    from: directory?.name ?? "caller",
    timeoutMs: defaultTimeoutMs(type),
    clock,
    closing: directory?.closing ?? new AbortController().signal,
    within: (ms, work) => within(clock, ms, work),
  };
}

function requiredRemote(
  directory: NetworkDirectory | undefined,
  name: string,
  scope: TaskScope,
): Remote {
  // A name needs the plugin.
  if (directory === undefined) throw new ToolConfigurationError(`No ensemble '${name}'`);
  return directory.remoteOf(name, scope.find(NetworkTokens.NetworkBackend));
}

function within<T>(clock: QueueClock, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = startClockTimer(clock, ms, () => resolve(undefined));
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Returns the content of a request. The field `context` becomes the context of a shared task. */
export function contentOfInput(
  type: WorkRequest["type"],
  input: Readonly<Record<string, unknown>>,
): Pick<WorkRequest, "context" | "inputs"> {
  const { context, ...rest } = input;
  if (type === "TOOL" || typeof context !== "string") return { inputs: input };
  return Object.keys(rest).length === 0 ? { context } : { context, inputs: rest };
}
