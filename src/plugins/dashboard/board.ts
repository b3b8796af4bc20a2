import type { EventStream } from "../../contracts/events.js";
import type { EnsembleHooks } from "../../contracts/hooks.js";
import type { HttpRoute } from "../../contracts/http-route.js";
import type { PluginContext } from "../../contracts/plugin.js";
import type { HookRun } from "../../contracts/run.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { DashboardSettings } from "./dashboard-options.js";
import type { RunSummary } from "../../contracts/run-store.js";
import type { RunComparison } from "./protocol/compare.js";
import type { ReadableRun } from "./stores/board-runs.js";
import type { BoardLimits } from "./server/limits.js";
import { AgentEnsembleError, RunCancelledError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { withTimeout } from "../../util/abort/timeouts.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { AuditLog } from "./audit.js";
import { RunFeed } from "./feed/run-feed.js";
import { StoreWriter } from "./feed/store-writer.js";
import { ReviewDesk } from "./server/review-desk.js";
import { BaselineChanges } from "./stores/baseline-changes.js";
import { BoardRuns } from "./stores/board-runs.js";

/** What a board has of one kernel. */
interface AttachedKernel {
  readonly stops: (() => void)[];
  routes: readonly HttpRoute[];
}

/** What the server shows: the runs and reviews of the attached kernels. */
export class Board {
  readonly settings: DashboardSettings;
  readonly clock: Clock;
  /** Names this object: numbers of entries count only together with it. */
  readonly epoch: string;
  readonly feed: RunFeed;
  readonly desk: ReviewDesk;
  readonly audit: AuditLog;
  readonly runs: BoardRuns;
  readonly #writer: StoreWriter | undefined;
  readonly #closeMs: number;
  readonly #kernels = new Map<EventStream, AttachedKernel>();
  readonly #running = new Map<string, HookRun>();
  readonly #changes = new BaselineChanges((runId) => this.runs.find(runId));
  readonly #traces = new Map<string, ExecutionTrace>();

  constructor(
    settings: DashboardSettings,
    o: {
      readonly clock: Clock;
      readonly ids: IdGenerator;
      readonly limits: Pick<BoardLimits, "storeMs" | "closeMs">;
    },
  ) {
    const { store, contents, tokens } = settings;
    this.settings = settings;
    this.clock = o.clock;
    this.epoch = o.ids.next();
    this.feed = new RunFeed({ contents, tokens });
    this.desk = new ReviewDesk(contents);
    this.audit = new AuditLog(o.clock, settings.onAudit);
    const { storeMs, closeMs } = o.limits;
    this.#closeMs = closeMs;
    this.runs = new BoardRuns(this.feed, {
      store,
      contents,
      writer: () => this.#writer,
      storeMs,
    });
    this.#writer =
      store &&
      new StoreWriter({ feed: this.feed, store, clock: o.clock, flushMs: storeMs, closeMs });
    this.feed.listen({ onRemoved: ({ runId }) => this.#traces.delete(runId) });
  }

  /** The routes of the plugins of all attached kernels. */
  get routes(): readonly HttpRoute[] {
    return [...this.#kernels.values()].flatMap(({ routes }) => routes);
  }

  /** Takes in the events of a kernel that boots. */
  attach({ hooks, events }: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void {
    const stops = [
      this.feed.attach(events),
      events.on(
        (event, redactor) => {
          if (event.type === "review_requested" || event.type === "review_resolved")
            this.desk.observe(event, redactor);
        },
        { only: ["review_requested", "review_resolved"] },
      ),
    ];
    this.#kernels.set(events, { stops, routes: [] });
    hooks.beforeRun.tap({ name: "dashboard", onError: "skip" }, ({ run }) => {
      this.#running.set(run.id, run);
    });
    hooks.afterRun.tap({ name: "dashboard", order: "post", onError: "skip" }, (call) => {
      if (this.#running.get(call.run.id) === call.run) this.#running.delete(call.run.id);
      this.#keepTrace(call.run.id, call.output ?? AgentEnsembleError.find(call.error)?.output);
    });
  }

  /** Takes in what a kernel has when it has booted. */
  started({ events, get, all }: PluginContext): void {
    const kernel = this.#kernels.get(events);
    if (kernel === undefined) return;
    kernel.stops.push(this.desk.watch(get(Tokens.ReviewStore)));
    kernel.routes = all(Tokens.HttpRoute);
  }

  /** Lets go of a kernel. Its runs stay. */
  detach(events: EventStream): void {
    for (const stop of this.#kernels.get(events)?.stops ?? []) stop();
    this.#kernels.delete(events);
  }

  /** The trace of a run that has ended in this process, as JSON. */
  traceOf(runId: string): string | undefined {
    return this.#traces.get(runId)?.toJson();
  }

  /** How many tasks of a run differ from the baseline. @throws RunStoreError */
  async changesSince(
    { runId }: RunSummary,
    run: ReadableRun,
  ): Promise<RunComparison["counts"] | undefined> {
    return this.#changes.countsOf(runId, run);
  }

  /** Returns false where no such run is under way in this process. */
  cancel(runId: string, reason: string): boolean {
    const run = this.#running.get(runId);
    run?.cancel(new RunCancelledError(reason));
    return run !== undefined;
  }

  /** Lets go of all kernels, writes what the store has not got yet, and disposes the store. Does not wait for a store that does not answer. */
  async close(): Promise<void> {
    for (const events of [...this.#kernels.keys()]) this.detach(events);
    await this.#writer?.close();
    const ms = this.#closeMs;
    await withTimeout(() => this.settings.store?.dispose?.(), {
      ms,
      late: () => emitProcessWarning(`dashboard: the store was not disposed within ${ms} ms`),
    });
  }

  #keepTrace(runId: string, output: { readonly trace: ExecutionTrace } | undefined): void {
    if (output !== undefined && this.settings.contents && this.feed.get(runId) !== undefined)
      this.#traces.set(runId, output.trace);
  }
}
