import type {
  NetworkBackend,
  SharedCapability,
  WorkRequest,
  WorkResponse,
} from "../../../contracts/network.js";
import type { Inputs } from "../../../contracts/types.js";
import type { NetworkRequestOptions } from "./call-options.js";
import type { NetworkDirectory } from "./directory.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { WORK_VERSION } from "../../../contracts/network.js";
import { checkOptions, requireOneOf } from "../../../contracts/validation.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { checkRequestOptions } from "./call-options.js";
import { defaultTimeoutMs } from "./call-target.js";
import { callRemote } from "./remote-call.js";

/** The content of a request by hand. */
export interface RequestContent {
  /** Fills `{context}` of a shared task. */
  readonly context?: string | undefined;
  /** Template variables of a task, or the arguments of a tool. */
  readonly inputs?: Inputs | undefined;
  /** Makes the request idempotent. Has 1 to 200 characters. Default: a random id. */
  readonly requestId?: string | undefined;
  /** The type. Default: the type of the shared task or tool with this name, otherwise `TASK`. */
  readonly type?: WorkRequest["type"] | undefined;
}

type HandOptions = NetworkRequestOptions & { readonly signal?: AbortSignal | undefined };

const NOBODY = "No instance shares anything now: is one started, on the same backend?";

/** Sends requests without a run. */
export class NetworkCalls {
  readonly #directory: NetworkDirectory;
  /** The backend of the kernel, after its boot. */
  readonly #bound: () => Promise<NetworkBackend | undefined>;

  constructor(directory: NetworkDirectory, bound: () => Promise<NetworkBackend | undefined>) {
    this.#directory = directory;
    this.#bound = bound;
  }

  async request(
    { ensemble, task }: { readonly ensemble: string; readonly task: string },
    content: RequestContent = {},
    { signal, ...options }: HandOptions = {},
  ): Promise<WorkResponse> {
    checkOptions("request()", content, ["context", "inputs", "requestId", "type"]);
    requireOneOf("request() type", content.type, ["TASK", "TOOL", "RUN"]);
    checkRequestOptions("request()", options);
    const bound = this.#directory.hasPlace(ensemble) ? undefined : await this.#bound();
    const remote = this.#directory.remoteOf(ensemble, bound);
    const type = content.type ?? typeOf(await remote.capabilities(), task);
    const { timeoutMs = defaultTimeoutMs(type), ...others } = options;
    const { context, inputs, requestId = uuidGenerator.next() } = content;
    const from = this.#directory.name;
    const request: WorkRequest = {
      ...{ v: WORK_VERSION, requestId, from, to: ensemble, type, task, path: [from] },
      ...(context !== undefined && { context }),
      ...(inputs !== undefined && { inputs }),
      ...defined(others),
    };
    const closing = this.#directory.closing;
    const end = await callRemote({
      ...{ remote, request, timeoutMs, clock: this.#directory.clock },
      signal: signal === undefined ? closing : AbortSignal.any([signal, closing]),
    }).catch(async (error: unknown) => {
      if (signal?.aborted === true) await remote.cancel(requestId, "The caller was cancelled");
      throw error;
    });
    if (end.kind === "response") return end.response;
    if (end.kind === "full")
      return { ...{ v: WORK_VERSION, requestId, durationMs: 0 }, status: "REJECTED", reason: "AT_CAPACITY" }; // prettier-ignore
    const shared = await remote.capabilities().catch(() => undefined);
    const idle = shared?.length === 0 ? `${NOBODY} ` : "";
    throw new NetworkError(
      `'${task}' on ensemble '${ensemble}' has no result after ${timeoutMs} ms`,
      {
        ensemble,
        ...(end.lastError !== undefined && { cause: end.lastError }),
        hint: `${idle}The request continues. Repeat the call with requestId '${requestId}'.`,
      },
    );
  }
}

function typeOf(shared: readonly SharedCapability[], task: string): WorkRequest["type"] {
  return shared.find(({ name }) => name === task)?.type ?? "TASK";
}

/** Returns the fields that have a value. */
function defined<T extends object>(fields: T): Partial<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<T>; // a subset of the same fields
}
