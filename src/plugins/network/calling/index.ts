import type { NetworkBackend, Remote, WorkResponse } from "../../../contracts/network.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { SecretFilter } from "../../../contracts/redaction.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { AnyTool, DynamicToolProvider } from "../../../contracts/tool.js";
import type { NetworkCallOptions, NetworkRequestOptions } from "./call-options.js";
import type { EnsemblePlace } from "./directory.js";
import type { RequestContent } from "./network-calls.js";
import type { NetworkToolProvider, RecordingTool } from "./network-tools.js";
import { ValidationError } from "../../../contracts/errors.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { checkOptions, preview } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";
import { systemClock } from "../../../util/runtime.js";
import { BoundBackend } from "./bound-backend.js";
import {
  DIRECTORY,
  isAgentPlace,
  NetworkDirectory,
  requireBackend,
  requirePlace,
} from "./directory.js";
import { NetworkCalls } from "./network-calls.js";
import { discoveredTools, networkToolFrom, recordingTool } from "./network-tools.js";

export type {
  NetworkCallCache,
  NetworkCallInfo,
  NetworkCallOptions,
  NetworkRequestOptions,
} from "./call-options.js";
export type { AgentPlace, EnsemblePlace } from "./directory.js";
export type { RequestContent } from "./network-calls.js";
export type { NetworkToolProvider, RecordingTool } from "./network-tools.js";

/** Options of `network()`. */
export interface NetworkOptions {
  /** The name of the sender: the name of the ensemble or of the program. */
  readonly name: string;
  /**
   * Ensembles by name, each with a backend, a separate connection, or `{ url, token }`. Default:
   * none.
   */
  readonly ensembles?: Readonly<Record<string, EnsemblePlace>> | undefined;
  /**
   * The backend of ensembles without an entry, and of ensembles found by tags. Default: the binding
   * of `NetworkTokens.NetworkBackend`.
   */
  readonly backend?: NetworkBackend | undefined;
  /** A clock for tests. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

/** A plugin that can also send requests outside of a run. */
export interface NetworkPlugin extends Plugin {
  readonly network: {
    /**
     * Sends a request to an ensemble and waits for the result. A second request with the same
     * `requestId` receives the result of the first. An ensemble without an entry uses the backend
     * of the kernel of the ensemble that has the plugin. This kernel is booted if necessary.
     *
     * @throws NetworkError if there is no result after `timeoutMs`; RequestConflictError for a
     * known id with other content; ValidationError for an invalid argument; the reason of `signal`.
     */
    request(
      ensemble: string,
      name: string,
      content?: RequestContent,
      options?: NetworkRequestOptions & { readonly signal?: AbortSignal | undefined },
    ): Promise<WorkResponse>;
  };
}

/** Returns filters that remove the secrets of these places from traces and logs. */
function placeFilters(places: readonly EnsemblePlace[]): readonly SecretFilter[] {
  return places.flatMap((place): readonly SecretFilter[] => {
    if (isAgentPlace(place))
      return place.token === undefined ? [] : [secretReplacer([place.token])];
    return place.redact === undefined ? [] : [(text) => place.redact?.(text) ?? text];
  });
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes the shared tasks and tools of other ensembles available to the agents of an ensemble. Add
 * `NetworkTask`, `NetworkTool` and `NetworkTools` to the tools of the agents. Backends and
 * connections that are passed stay open.
 *
 * @throws ValidationError for an unknown or invalid option.
 */
export function network(options: NetworkOptions): NetworkPlugin {
  checkOptions("network()", options, ["name", "ensembles", "backend", "clock"]);
  const { name, ensembles = {}, backend, clock = systemClock } = options;
  if (typeof name !== "string" || !NAME.test(name))
    throw new ValidationError(
      `network() name must be 1 to 64 letters, digits, '-' and '_', got: ${preview(name)}`,
    );
  if (!isObject(ensembles))
    throw new ValidationError(`network() ensembles must be an object, got: ${preview(ensembles)}`);
  for (const [ensemble, place] of Object.entries(ensembles))
    requirePlace(`network() ensembles.${ensemble}`, place);
  requireBackend("network() backend", backend);
  const directory = new NetworkDirectory({ name, ensembles, backend, clock });
  const places = [...Object.values(ensembles), ...(backend === undefined ? [] : [backend])];
  const kernel = new BoundBackend();
  const calls = new NetworkCalls(directory, () => kernel.backend());
  return definePlugin({
    name: "network",
    network: Object.freeze({
      request: (ensemble, task, content, o) => calls.request({ ensemble, task }, content, o),
    } satisfies NetworkPlugin["network"]),
    bind(bind) {
      bind.single(DIRECTORY).toConstantValue(directory);
      for (const filter of placeFilters(places))
        bind.many(Tokens.SecretFilter).toConstantValue(filter);
    },
    attach: (ensemble) => kernel.attach(ensemble),
    start: (ctx) => kernel.read(ctx),
    dispose: () => directory.close(),
  });
}

/** Tasks that other ensembles share, as tools. */
export const NetworkTask = Object.freeze({
  /**
   * Creates the tool `{ensemble}__{name}`. `ensemble` is a name of `network()`, or a connection.
   *
   * @throws ValidationError for an invalid ensemble, name or option.
   */
  from: (
    ensemble: string | Remote,
    name: string,
    options?: NetworkCallOptions,
  ): NetworkToolProvider => networkToolFrom("TASK", ensemble, name, options),
  /** Creates a tool for tests that returns `response` and sends no request. */
  stub: (ensemble: string, name: string, response: string): AnyTool =>
    recordingTool("TASK", ensemble, name, response),
  /** Creates a tool for tests that records its inputs in `calls` and sends no request. */
  recording: (ensemble: string, name: string, response = "recorded"): RecordingTool =>
    recordingTool("TASK", ensemble, name, response),
});

/** Tools that other ensembles share. */
export const NetworkTool = Object.freeze({
  /**
   * Creates the tool `{ensemble}__{name}`. `ensemble` is a name of `network()`, or a connection.
   *
   * @throws ValidationError for an invalid ensemble, name or option.
   */
  from: (
    ensemble: string | Remote,
    name: string,
    options?: NetworkCallOptions,
  ): NetworkToolProvider => networkToolFrom("TOOL", ensemble, name, options),
  /** Creates a tool for tests that returns `response` and sends no request. */
  stub: (ensemble: string, name: string, response: string): AnyTool =>
    recordingTool("TOOL", ensemble, name, response),
  /** Creates a tool for tests that records its inputs in `calls` and sends no request. */
  recording: (ensemble: string, name: string, response = "recorded"): RecordingTool =>
    recordingTool("TOOL", ensemble, name, response),
});

/** Tools for the shared tasks and tools of other ensembles, found at the start of each task. */
export const NetworkTools = Object.freeze({
  /** Provides all shared tasks and tools of the ensembles of `network()`. */
  all: (): DynamicToolProvider => discoveredTools(() => true),
  /**
   * Provides the shared tasks and tools that have all of these tags.
   * @throws ValidationError without a tag, and for a blank tag.
   */
  tagged: (...tags: readonly string[]): DynamicToolProvider => {
    if (tags.length === 0 || tags.some((tag) => typeof tag !== "string" || tag.trim() === ""))
      throw new ValidationError(
        `NetworkTools.tagged() needs tags that are not blank, got: ${preview(tags)}`,
      );
    return discoveredTools((shared) => tags.every((tag) => shared.tags?.includes(tag) === true));
  },
});
