import type { CaptureMode } from "../../../contracts/capture.js";
import type { Dag } from "../../../contracts/dag.js";
import type { Explanation } from "../../../contracts/ensemble-options.js";
import type { DeadLetter, QueueDepth } from "../../../contracts/network.js";
import type { ActiveRequest, ServiceSchedule, ServiceState } from "../../../contracts/service.js";
import type { Inputs, JsonSchema } from "../../../contracts/types.js";

/** An ensemble that the page may start. */
export interface StartableEnsemble {
  /** The name. For another process: `{process}/{name}`. */
  readonly name: string;
  /** The process that executes its runs. Absent for this process. */
  readonly process?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly workflow: string;
  /** Number of tasks of the plan. */
  readonly tasks: number;
  /**
   * JSON Schema of an object. Without an `inputType`, each template variable that the ensemble does
   * not fill is a required text.
   */
  readonly inputs: JsonSchema;
  /** Values that the ensemble fills in itself. A start may replace them. */
  readonly filled: Inputs;
  /** Possible sources of answers for a replay. If empty, runs can't be replayed. */
  readonly answers: readonly ("trace" | "recording")[];
}

/** `GET /api/ensembles`. */
export interface EnsembleListBody {
  readonly ensembles: readonly StartableEnsemble[];
}

/** `GET /api/ensembles/{name}`. */
export interface EnsembleBody {
  readonly ensemble: StartableEnsemble;
  /** The plan, with unfilled template variables. */
  readonly dag: Dag;
}
export type ExplainBody = Explanation;

/** The source of the answers of models. */
export interface AnswersOfRun {
  /**
   * `models` (default): a new run. `recording`: answers come from the recording of the ensemble.
   * Any other text is the id of a run with a trace of captureMode FULL, whose answers are repeated.
   */
  readonly answersFrom?: string | undefined;
  /** Behaviour of a replay for a request that was not recorded. Default `fail`. */
  readonly onMiss?: "fail" | "live" | undefined;
}

/**
 * `POST /api/runs`. With the header `Idempotency-Key`, a repeated request returns the run of the
 * first request.
 */
export interface StartRunBody extends AnswersOfRun {
  /** Default: the only ensemble that is registered. */
  readonly ensemble?: string | undefined;
  readonly inputs?: Inputs | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly captureMode?: CaptureMode | undefined;
  /** Time limit of the run in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** `POST /api/runs/{id}/again`. */
export interface RunAgainBody extends AnswersOfRun {
  /** The inputs. Default: the inputs of the run. Given inputs replace all of them. */
  readonly inputs?: Inputs | undefined;
}

/** Answer of `POST /api/runs` and `POST /api/runs/{id}/again` with 202. */
export interface RunAcceptedBody {
  readonly runId: string;
  readonly status: "ACCEPTED";
  readonly ensemble: string;
  /**
   * Number of tasks of the plan. Absent for a request to a service whose ensemble is not
   * registered.
   */
  readonly tasks?: number | undefined;
  readonly workflow?: string | undefined;
}

/**
 * Field of a refusal 422 `INPUTS_INVALID`. It has the problems by the path of the input. An empty
 * path means all inputs.
 */
export type InputProblems = Readonly<Record<string, string>>;

/** `POST /api/runs/{id}/resume`: 202 with `{ runId, status: "ACCEPTED" }`. */
export interface RunResumedBody {
  readonly runId: string;
  readonly status: "ACCEPTED";
}

/** `POST /api/runs/{id}/fork`: 201 with the id of the new run, which waits to be resumed. */
export interface ForkRunBody {
  /** The id of the new run. Default: a generated one. */
  readonly runId?: string | undefined;
  /** The first task that is repeated. Its work and all later work is omitted. Default: none. */
  readonly from?: string | undefined;
}
export interface RunForkedBody {
  readonly runId: string;
  readonly forkedFrom: string;
}

/** `POST /api/runs/{id}/settle`: 200 with `{ runId, key, status: "SETTLED" }`. */
export interface SettleCallBody {
  readonly key: string;
  /** The return value of the tool. Exactly one of `result` and `again` is required. */
  readonly result?: string | undefined;
  /** Set to repeat the call when the run is resumed. */
  readonly again?: true | undefined;
}
export interface CallSettledBody {
  readonly runId: string;
  readonly key: string;
  readonly status: "SETTLED";
}

/** A view of runs that a plugin contributes. */
export interface PanelInfo {
  readonly name: string;
  readonly title: string;
  readonly view: "table" | "json" | "markdown";
}

/** `GET /api/panels`. */
export interface PanelListBody {
  readonly panels: readonly PanelInfo[];
}

/** `GET /api/panels/{name}?run=`. */
export interface PanelBody extends PanelInfo {
  /** `table`: a list of objects, one per row. `markdown`: a text. `json`: any value. */
  readonly data: unknown;
}

/** A service of this process. */
export interface ServiceInfo {
  readonly name: string;
  readonly instance: string;
  readonly state: ServiceState;
  readonly url?: string | undefined;
  /** The kind of storage of its requests. */
  readonly backend: string;
  /** Number of requests in execution in this process. */
  readonly running: number;
  /** Absent if the storage does not respond. `problem` then has the reason. */
  readonly depth?: QueueDepth | undefined;
  readonly problem?: string | undefined;
  readonly shared: readonly {
    readonly name: string;
    readonly type: string;
    readonly description: string;
  }[];
  readonly requests: readonly ActiveRequest[];
  readonly schedules: readonly ServiceSchedule[];
}

/** `GET /api/services`. */
export interface ServiceListBody {
  readonly services: readonly ServiceInfo[];
}

/** `GET /api/services/{name}/dead`. */
export interface DeadLettersBody {
  readonly deadLetters: readonly DeadLetter[];
}

/** `POST /api/services/{name}/redrive`: 202 with `{ requestId, status: "QUEUED" }`. */
export interface RedriveBody {
  readonly requestId: string;
}
export interface RedrivenBody extends RedriveBody {
  readonly status: "QUEUED";
}
