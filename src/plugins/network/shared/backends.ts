import type * as contracts from "../../../contracts/network.js";
import type { BackendParts } from "./backend-of.js";
import type { FileBackendOptions } from "./file/file-backend.js";
import type { LocalBackendOptions } from "./local-options.js";
import type { TransportOptions } from "./transport.js";
import { backendOf } from "./backend-of.js";
import { fileBackend } from "./file/file-backend.js";
import { inMemoryBackend, inMemoryQueue, inMemoryResults } from "./in-memory/in-memory-backend.js";
import { signedBackend, type SignedBackendOptions } from "./signed-backend.js";
import { transportOf } from "./transport.js";

// Each factory object has the name of a type. `RequestQueue` is both the contract and the object
// with the available queues.

/** Requests that wait for execution. See the contract. */
export type RequestQueue = contracts.RequestQueue;

/** The queues of this package. Backends may use other queues. */
export const RequestQueue = Object.freeze({
  /**
   * Creates a queue within this process, with the lifetime of the object.
   *
   * @throws ValidationError for an unknown or invalid option.
   */
  inMemory: (options?: LocalBackendOptions): RequestQueue => inMemoryQueue(options),
});

/** Results of requests. See the contract. */
export type ResultStore = contracts.ResultStore;

/** The result stores of this package. */
export const ResultStore = Object.freeze({
  /**
   * Creates a result store within this process, with the lifetime of the object.
   *
   * @throws ValidationError for an unknown option.
   */
  inMemory: (options?: Pick<LocalBackendOptions, "clock">): ResultStore => inMemoryResults(options),
});

/** The storage that services and their callers share. See the contract. */
export type NetworkBackend = contracts.NetworkBackend;

/** The backends of this package. */
export const NetworkBackend = Object.freeze({
  /**
   * Creates a backend within this process, with the lifetime of the object. Services and callers of
   * the same network must use the same object.
   *
   * @throws ValidationError for an unknown or invalid option.
   */
  inMemory: (options?: LocalBackendOptions): NetworkBackend => inMemoryBackend(options),
  /**
   * Creates a backend in a folder, for one process at a time. Accepted requests survive a crash of
   * the process. Requests in execution are then delivered again, with the next attempt number.
   * Results are also kept in memory until they expire. The folder is opened at the first call, and
   * locked until `close()`. Other objects reject with NetworkError. Default
   * `.agentensemble/network`.
   *
   * @throws ValidationError for a blank folder, and for an unknown or invalid option.
   */
  file: (folder?: string, options?: FileBackendOptions): NetworkBackend =>
    fileBackend(folder, options),
  /**
   * Combines a queue, a result store, and optionally topics and a catalogue. `close()` closes them
   * all.
   *
   * @throws ValidationError for an unknown part, and for a part without a required method.
   */
  of: (parts: BackendParts): NetworkBackend => backendOf(parts),
  /**
   * Signs the requests of a backend with HMAC-SHA256, including all fields and the queue. A request
   * without a valid signature is not executed. Its result is REJECTED with the reason DENIED, and
   * it becomes a dead letter. All services and callers of the backend must have the secret.
   * `close()` closes the backend.
   *
   * @throws ValidationError for an unknown option, and for a secret of less than 16 characters.
   */
  signed: (backend: NetworkBackend, options: SignedBackendOptions): NetworkBackend =>
    signedBackend(backend, options),
});

/** Sends requests to one ensemble, and receives requests for it. See the contract. */
export type Transport = contracts.Transport;

/** The transports of this package. */
export const Transport = Object.freeze({
  /**
   * Creates a transport with a separate backend in memory, for tests.
   *
   * @throws ValidationError for a blank name, and for an unknown or invalid option.
   */
  inMemory: (name = "default", options?: TransportOptions): Transport =>
    transportOf(name, inMemoryBackend(), options),
  /**
   * Creates a transport over a backend, which `close()` leaves open.
   *
   * @throws ValidationError for a blank name, and for an unknown or invalid option.
   */
  of: (name: string, backend: NetworkBackend, options?: TransportOptions): Transport =>
    transportOf(name, backend, options),
});
