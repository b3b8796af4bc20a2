import type { Lease, WorkResponse } from "../contracts/network.js";
import type { ActiveRequest } from "../contracts/service.js";
import type { DeliveryParts } from "./delivery-parts.js";
import type { SharedWork } from "./shared-work.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { ForeignUsage } from "../contracts/usage.js";
import type { WorkFailure } from "./work-response.js";
import {
  type AgentEnsembleError,
  RunCancelledError,
  RunSuspendedError,
} from "../contracts/errors.js";
import { JournalError, RunFencedError, RunInUseError } from "../contracts/journal-errors.js";
import { isPassing } from "../plugins/shared/sql/sql-database.js";
import { Cancellation } from "../util/abort/cancellation.js";
import { messageOf } from "../util/errors.js";
import { CachedResults } from "./cached-results.js";
import { DeliveryEnd, type ReleaseRequest } from "./delivery-end.js";
import { foreignUsageOf } from "./foreign-usage.js";
import { judgeRequest } from "./judge-request.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { RequestTopics } from "./request-topics.js";
import { requestRunOptions } from "./run-options.js";
import { completedResponse, failureOf, failureResponse } from "./work-response.js";

/** The reason why a run was ended from outside. */
type Stop = "drained" | "lost" | "cancelled" | "deadline";

/** Time in ms before a request that this instance can't execute returns to the queue. */
const OTHERS_MS = 1_000;
/** Time in ms before a request returns to the queue, if its run waits for people or is in use. */
const WAITING_MS = 15_000;

/** One delivery of a request, from its lease to its end. */
export class Delivery {
  readonly lease: Lease;
  readonly startedAt: string;
  readonly #parts: DeliveryParts;
  readonly #startedMs: number;
  readonly #end: DeliveryEnd;
  readonly #run = new Cancellation<AgentEnsembleError>();
  #stopped: Stop | undefined;
  #hasBegun = false;

  constructor(lease: Lease, parts: DeliveryParts) {
    this.lease = lease;
    this.#parts = parts;
    this.startedAt = parts.clock.now().toISOString();
    this.#startedMs = parts.clock.monotonicMs();
    this.#end = new DeliveryEnd(lease, parts);
  }

  /** The request, if its run has begun. */
  get active(): ActiveRequest | undefined {
    if (!this.#hasBegun) return undefined;
    const { request, attempt } = this.lease;
    const { requestId, task, from } = request;
    const { startedAt } = this;
    return Object.freeze({ requestId, runId: requestId, task, from, attempt, startedAt });
  }

  /** Ends the run. The request returns to the queue. The delivery is not counted. */
  drain(): void {
    this.#end.giveUp();
    this.#stop("drained", new RunCancelledError("The service was stopped", { isShutdown: true }));
  }

  /** Ends the run, because another instance has the request. */
  lose(): void {
    this.#stop("lost", new RunCancelledError("The lease was lost", { isShutdown: true }));
  }

  /** Ends the run. The result of the request is already stored. */
  cancel(reason: string): void {
    this.#stop("cancelled", new RunCancelledError(`The request was cancelled: ${reason}`));
  }

  /** Never rejects: if a store fails, the request returns to the queue at the end of its lease. */
  async perform(): Promise<void> {
    const { backend, clock, events } = this.#parts;
    const keeper = new LeaseKeeper({ queue: backend.queue, clock }, this.lease, (held) =>
      held ? void this.#lookForCancel() : this.lose(),
    );
    try {
      await this.#perform();
    } catch (error) {
      events.warn(`Request '${this.lease.request.requestId}' failed here: ${messageOf(error)}`);
      await this.#end.release({ reason: messageOf(error), delayMs: OTHERS_MS });
    } finally {
      keeper.stop();
      this.#run.dispose();
    }
  }

  async #perform(): Promise<void> {
    const { backend } = this.#parts;
    const known = await backend.results.retrieve(this.lease.request.requestId);
    if (known !== undefined) return this.#end.conclude(known);
    const verdict = judgeRequest(this.lease, this.#parts);
    switch (verdict.kind) {
      case "bury":
        return this.#end.bury(this.#failed(verdict.failure), verdict.failure.error);
      case "answer":
        return this.#end.deliver(this.#failed(verdict.failure), undefined);
      case "release":
        return this.#end.release({ reason: verdict.reason, delayMs: OTHERS_MS });
      case "run":
        return this.#execute(verdict.work);
    }
  }

  async #execute(work: SharedWork): Promise<void> {
    const cache = new CachedResults(this.#parts, this.lease.request, work.capability.version);
    const cached = await cache.find();
    if (cached !== undefined) return this.#end.deliver(cached, work.resultTtlMs);
    const topics = new RequestTopics(this.#parts, this.lease.request);
    await topics.open(() => void this.#lookForCancel());
    let response: WorkResponse | undefined;
    try {
      response = await this.#respond(work, topics);
    } finally {
      topics.close();
    }
    if (response === undefined) return;
    const kept = this.#parts.redactor.response(response);
    await cache.keep(kept);
    await this.#end.deliver(kept, work.resultTtlMs);
  }

  /** Runs the request. Returns `undefined` if there is no response to deliver. */
  async #respond(work: SharedWork, topics: RequestTopics): Promise<WorkResponse | undefined> {
    const { request } = this.lease;
    const { trace, currency, quotas } = this.#parts;
    const left = await quotas?.leftFor(request);
    this.#begin();
    this.#expireAtDeadline();
    try {
      const options = requestRunOptions(request, {
        signal: this.#run.signal,
        timeoutMs: work.timeoutMs,
        currency,
        listener: topics.listener,
        left,
      });
      const run = (): Promise<Awaited<ReturnType<SharedWork["run"]>>> => work.run(request, options);
      const output = await (trace === undefined ? run() : trace.within(request.traceContext, run));
      return this.#stopped === "lost" ? this.#lost() : completedResponse(this.#origin(), output);
    } catch (error) {
      return this.#failedRun(error);
    }
  }

  #begin(): void {
    const { request, attempt, waitedMs } = this.lease;
    const { requestId, task, from } = request;
    this.#hasBegun = true;
    this.#parts.events.emit({ type: "request_started", requestId, task, from, attempt, waitedMs });
  }

  /** Handles the error of a run. */
  async #failedRun(error: unknown): Promise<WorkResponse | undefined> {
    const { output } = error as { readonly output?: Parameters<typeof failureResponse>[2] };
    if (this.#stopped === "lost" || RunFencedError.find(error) !== undefined) return this.#lost();
    if (this.#stopped === "cancelled") {
      await this.#end.concludeCancelled(this.#durationMs, this.#usageOf(output));
      return undefined;
    }
    const back = this.#returnOf(error);
    if (back !== undefined) {
      await this.#end.release({ reason: messageOf(error), ...back });
      return undefined;
    }
    const failure: WorkFailure =
      this.#stopped === "deadline"
        ? { status: "FAILED", reason: "DEADLINE", error: messageOf(this.#run.reason) }
        : failureOf(error);
    return this.#failed(failure, output);
  }

  #usageOf(output: EnsembleOutput | undefined): readonly ForeignUsage[] {
    return foreignUsageOf(output?.metrics.ledger ?? [], this.#parts.settings.name);
  }

  /**
   * Returns how a request returns to the queue whose run did not fail. This service ended the run,
   * the run waits for people, another process executes it, or its journal is unavailable.
   */
  #returnOf(error: unknown): Omit<ReleaseRequest, "reason"> | undefined {
    if (this.#stopped === "drained" || RunCancelledError.find(error)?.isShutdown === true)
      return { delayMs: 0 };
    const waits = RunSuspendedError.find(error) ?? RunInUseError.find(error);
    if (waits !== undefined) return { delayMs: WAITING_MS };
    const isAway = this.#stopped === undefined && isPassing(JournalError.find(error)?.cause);
    // The journal may remain unavailable.
    return isAway ? { delayMs: WAITING_MS, blame: true } : undefined;
  }

  #lost(): undefined {
    this.#end.lost();
    return undefined;
  }

  #failed(failure: WorkFailure, output?: Parameters<typeof failureResponse>[2]): WorkResponse {
    const error = this.#parts.redactor.text(failure.error);
    return failureResponse(this.#origin(), { ...failure, error }, output);
  }

  #origin(): Parameters<typeof failureResponse>[0] {
    const { request, attempt } = this.lease;
    const { settings } = this.#parts;
    return { request, attempt, durationMs: this.#hasBegun ? this.#durationMs : 0, settings };
  }

  get #durationMs(): number {
    return Math.round(this.#parts.clock.monotonicMs() - this.#startedMs);
  }

  #expireAtDeadline(): void {
    const { request, waitedMs } = this.lease;
    const { deadlineMs } = request;
    if (deadlineMs === undefined) return;
    const stop = (): void =>
      this.#stop("deadline", new RunCancelledError(`The deadline of ${deadlineMs} ms is over`));
    this.#end.stopAtEnd(this.#parts.clock, Math.max(0, deadlineMs - waitedMs), stop);
  }

  #stop(kind: Stop, reason: AgentEnsembleError): void {
    if (this.#stopped === undefined || kind === "lost") this.#stopped = kind;
    this.#run.cancel(reason);
  }

  /**
   * Cancels the run if a result is stored. Cancel messages may be lost, and any client may send
   * them.
   */
  async #lookForCancel(): Promise<void> {
    if (this.#stopped !== undefined) return;
    try {
      const known = await this.#parts.backend.results.retrieve(this.lease.request.requestId);
      if (known?.status === "CANCELLED") this.cancel(known.error ?? "");
    } catch {
      // The next renewal reads again.
    }
  }
}
