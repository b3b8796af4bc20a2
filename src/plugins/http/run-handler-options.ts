import type { EnsembleOutput } from "../../contracts/output.js";
import type { ReviewStore } from "../../contracts/review.js";
import type { RunHandle, RunOptions } from "../../contracts/run.js";
import type { RunStore } from "../../contracts/run-store.js";
import type { StreamStore, UIStreamOptions } from "../../contracts/ui-stream.js";
import type { HttpOptions, HttpSettings } from "./http-options.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireOneOf,
} from "../../contracts/validation.js";
import { isObject } from "../../util/objects.js";
import { checkUIStreamOptions } from "../shared/ui-stream/ui-stream-options.js";
import { HTTP_OPTIONS, httpSettingsOf } from "./http-options.js";

/** The methods of an ensemble that the handler uses. */
export interface StreamingEnsemble {
  /** The name that the list `may` of a principal contains to allow the ensemble. */
  readonly name?: string | undefined;
  stream(inputs: never, options?: RunOptions): RunHandle;
}

/**
 * The format of streams. `ui`: the UI message stream of the AI SDK. `ag-ui`: AG-UI. `events`: all
 * events of the run, unconverted but redacted.
 */
export type StreamProtocol = "ui" | "ag-ui" | "events";

/**
 * A review store, or the `runs.reviews` of `durable()`, whose runs wait even if no listener is
 * subscribed.
 */
export type AnswerableReviews = Pick<ReviewStore, "pending" | "resolve"> &
  Partial<Pick<ReviewStore, "onRequest">>;

/** Options of `runHandler`. */
export interface RunHandlerOptions extends HttpOptions {
  /**
   * The format of the response to a request with `Accept: text/event-stream`. With `events`,
   * clients receive all events, including the texts of tasks, prompts and calls. Default `ui`.
   */
  readonly protocol?: StreamProtocol | undefined;
  /**
   * The parts of a run that a page receives. `onDisconnect` also applies to responses without a
   * stream.
   */
  readonly ui?: Omit<UIStreamOptions, "endAtApproval" | "messageId"> | undefined;
  /**
   * Stores streams for clients that reconnect. With it, the default of `ui.onDisconnect` is
   * `finish`. Default: none.
   */
  readonly streams?: StreamStore | undefined;
  /** The log of runs, used to rebuild streams that no stream store keeps. Default: none. */
  readonly log?: RunStore | undefined;
  /**
   * The review store of the runs. With it, a stream ends as soon as the run only waits for reviews.
   * A POST of UI messages with answers to tool approvals continues the run. Requires `protocol:
   * "ui"`. Default: none.
   */
  readonly reviews?: AnswerableReviews | undefined;
  /** Returns the value that a client receives as `output`. Default: `{ raw, exitReason }`. */
  readonly output?: ((output: EnsembleOutput) => unknown) | undefined;
}

/** Settings of the streams. */
export interface StreamSettings {
  readonly protocol: StreamProtocol;
  readonly ui: UIStreamOptions;
  readonly onDisconnect: "cancel" | "finish";
  readonly streams: StreamStore | undefined;
  readonly log: RunStore | undefined;
  readonly reviews: AnswerableReviews | undefined;
}

/** The complete options. */
export interface RunSettings extends HttpSettings, StreamSettings {
  readonly output: (output: EnsembleOutput) => unknown;
}

const OWN = ["protocol", "ui", "streams", "log", "reviews", "output"];
const UI = ["text", "reasoning", "data", "tools", "metadata", "onError", "onDisconnect"];

/** @throws ValidationError */
export function resolveRunOptions(ensemble: unknown, o: RunHandlerOptions): RunSettings {
  if (!isObject(ensemble) || typeof ensemble["stream"] !== "function")
    throw new ValidationError(`runHandler needs an ensemble, got: ${preview(ensemble)}`);
  checkOptions("runHandler", o, [...HTTP_OPTIONS, ...OWN]);
  const { protocol, reviews, output = publicOutput } = o;
  requireFunction("runHandler output", output);
  if (reviews !== undefined && (protocol ?? "ui") !== "ui")
    throw new ValidationError(`runHandler reviews needs protocol "ui", got: ${preview(protocol)}`, {
      hint: "With other protocols reviews are answered by reviewsHandler().",
    });
  return {
    ...httpSettingsOf("runHandler", o, "/api/run"),
    ...streamSettingsOf("runHandler", o),
    output,
  };
}

/**
 * Returns the settings of streams. `what` names the handler in an error.
 * @throws ValidationError
 */
export function streamSettingsOf(
  what: string,
  o: Pick<RunHandlerOptions, "protocol" | "ui" | "streams" | "log" | "reviews" | "onError">,
): StreamSettings {
  const { protocol = "ui", ui = {}, streams, log, reviews } = o;
  requireOneOf(`${what} protocol`, protocol, ["ui", "ag-ui", "events"]);
  checkOptions(`${what} ui`, ui, UI);
  checkUIStreamOptions(`${what} ui`, ui);
  requireStore(`${what} streams`, streams, {
    method: "read",
    hint: "For instance StreamStore.inMemory() of agentensemble/ui.",
  });
  requireStore(`${what} log`, log, { method: "read", hint: "Pass a RunStore that has the runs." });
  requireStore(`${what} reviews`, reviews, {
    method: "resolve",
    hint: "Pass the store that the runs have: reviewInbox() of agentensemble/review, or runs.reviews of durable().",
  });
  return {
    protocol,
    ui: { ...ui, onError: ui.onError ?? o.onError },
    onDisconnect: ui.onDisconnect ?? (streams === undefined ? "cancel" : "finish"),
    streams,
    log,
    reviews,
  };
}

function publicOutput({ raw, exitReason }: EnsembleOutput): unknown {
  return { raw, exitReason };
}

function requireStore(
  name: string,
  store: unknown,
  { method, hint }: { readonly method: string; readonly hint: string },
): void {
  if (store === undefined || (isObject(store) && typeof store[method] === "function")) return;
  throw new ValidationError(`${name} must be a store, got: ${preview(store)}`, { hint });
}
