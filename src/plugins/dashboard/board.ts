import type { EventStream } from "../../contracts/events.js";
import type { EnsembleHooks } from "../../contracts/hooks.js";
import type { HttpRoute } from "../../contracts/http-route.js";
import type { DashboardPanel } from "../../contracts/dashboard-panel.js";
import type { ResumableRuns } from "../../contracts/journal.js";
import type { Inputs } from "../../contracts/types.js";
import type { Plugin, PluginContext } from "../../contracts/plugin.js";
import type { HookRun } from "../../contracts/run.js";
import type { Service } from "../../contracts/service.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { DashboardSettings } from "./dashboard-options.js";
import type { RunSummary } from "../../contracts/run-store.js";
import type { RunComparison } from "./protocol/compare.js";
import type { ReadableRun } from "./stores/board-runs.js";
import type { BoardLimits } from "./server/limits.js";
import { AgentEnsembleError, RunCancelledError, ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { firstEnding, withTimeout } from "../../util/abort/timeouts.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireOneOf,
  requireText,
} from "../../contracts/validation.js";
import { isObject } from "../../util/objects.js";
import { toJsonValue } from "../../util/json/to-json-value.js";
import { createRedactor } from "../../util/redaction/redactor.js";
import { Alerts } from "./alerts.js";
import { AuditLog } from "./audit.js";
import { RegisteredChats } from "./control/chat-threads.js";
import { Registrations } from "./control/registrations.js";
import { RunStarts } from "./control/run-starts.js";
import { RunFeed } from "./feed/run-feed.js";
import { StoreWriter } from "./feed/store-writer.js";
import { BoardProcesses } from "./processes/board-processes.js";
import { ReviewDesk } from "./server/review-desk.js";
import { BaselineChanges } from "./stores/baseline-changes.js";
import { BoardRuns } from "./stores/board-runs.js";
import { BoardTraces } from "./stores/board-traces.js";

/** Number of first entries of a log that are searched for `run_planned`. */
const PLANNED_WITHIN = 10;
/** Fields whose texts leave the process even without contents. They are names, not sentences. */
const NAMES: ReadonlySet<string> = new Set([
  "name",
  "process",
  "workflow",
  "taskId",
  "id",
  "agentRole",
  "role",
  "model",
  "type",
  "dependsOn",
  "tools",
  "answers",
  "required",
  "parallelGroups",
  "criticalPath",
  "fromTaskId",
  "toTaskId",
  "kind",
  "schemaVersion",
  "mode",
  "phase",
  "nodeType",
]);

const PANEL_NAME = /^[\w-]{1,64}$/;

/** The state of an attached kernel. */
interface AttachedKernel {
  readonly stops: (() => void)[];
  routes: readonly HttpRoute[];
  panels: readonly DashboardPanel[];
  kept: readonly ResumableRuns[];
}

/** The data of the server: the runs and reviews of the attached kernels. */
export class Board {
  readonly settings: DashboardSettings;
  readonly clock: Clock;
  /** Identifies this object: entry numbers are valid only together with it. */
  readonly epoch: string;
  readonly feed: RunFeed;
  readonly desk: ReviewDesk;
  readonly audit: AuditLog;
  readonly runs: BoardRuns;
  readonly registrations = new Registrations();
  readonly chats = new RegisteredChats();
  readonly starts: RunStarts;
  /** The traces of the runs. */
  readonly traces: BoardTraces;
  /** The other processes on this board. */
  readonly processes: BoardProcesses;
  /** The plugin that feeds this board. */
  readonly plugin: Plugin;
  readonly #redactor = createRedactor();
  readonly #inputs = new Map<string, Inputs>();
  readonly #writer: StoreWriter | undefined;
  readonly #alerts: Alerts;
  readonly #closeMs: number;
  readonly #kernels = new Map<EventStream, AttachedKernel>();
  readonly #services = new Set<Service>();
  readonly #running = new Map<string, HookRun>();
  readonly #changes = new BaselineChanges((runId) => this.runs.find(runId));

  constructor(
    settings: DashboardSettings,
    o: {
      readonly clock: Clock;
      readonly ids: IdGenerator;
      readonly plugin: Plugin;
      /** Returns the address of a page of the dashboard. */
      readonly link: (page: string) => string;
      readonly limits: BoardLimits;
    },
  ) {
    const { store, contents, tokens } = settings;
    this.settings = settings;
    this.clock = o.clock;
    this.epoch = o.ids.next();
    this.plugin = o.plugin;
    this.starts = new RunStarts(o.ids, settings.maxConcurrentRuns);
    this.traces = new BoardTraces(settings);
    this.feed = new RunFeed({ contents, tokens });
    this.desk = new ReviewDesk(contents);
    const { clock, ids, link } = o;
    this.#alerts = new Alerts(settings.alerts, { feed: this.feed, clock, ids, link });
    this.audit = new AuditLog(o.clock, { onAudit: settings.onAudit, store });
    const { feed, desk, audit } = this;
    this.processes = new BoardProcesses({ feed, desk, audit, limits: o.limits });
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
    this.feed.listen({ onRemoved: ({ runId }) => this.#forget(runId) });
  }

  /** The routes of the plugins of all attached kernels. */
  get routes(): readonly HttpRoute[] {
    return [...this.#kernels.values()].flatMap(({ routes }) => routes);
  }

  /**
   * The views of the plugins of all attached kernels. Of two views with the same name, the first is
   * used.
   */
  get panels(): readonly DashboardPanel[] {
    if (!this.settings.contents) return []; // they show the state of a plugin for a run
    const all = [...this.#kernels.values()].flatMap(({ panels }) => panels);
    return all.filter(({ name }, i) => all.findIndex((one) => one.name === name) === i);
  }

  /** The number of conversations whose threads can be read, including those of other processes. */
  get conversations(): number {
    return this.chats.all.length + this.processes.conversations.length;
  }

  /** The services of the attached kernels that have not stopped. */
  get services(): readonly Service[] {
    return [...this.#services];
  }

  /** Adds a service that starts. The service is removed when it has stopped. */
  addService(service: Service): void {
    this.#services.add(service);
    void service.closed.then(() => this.#services.delete(service));
  }

  /** The runs that plugins of the attached kernels keep. */
  get keptRuns(): readonly ResumableRuns[] {
    return [...new Set([...this.#kernels.values()].flatMap(({ kept }) => kept))];
  }

  /** Subscribes to the events of a booting kernel. */
  attach({ hooks, events }: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void {
    const stops = [
      this.feed.attach(events),
      this.#alerts.attach(events),
      events.on(
        (event, redactor) => {
          if (event.type === "review_requested" || event.type === "review_resolved")
            this.desk.observe(event, redactor);
        },
        { only: ["review_requested", "review_resolved"] },
      ),
    ];
    this.#kernels.set(events, { stops, routes: [], panels: [], kept: [] });
    hooks.beforeRun.tap({ name: "dashboard", onError: "skip" }, ({ run }) => {
      this.#running.set(run.id, run);
      this.#inputs.set(run.id, run.inputs);
    });
    hooks.afterRun.tap({ name: "dashboard", order: "post", onError: "skip" }, (call) => {
      if (this.#running.get(call.run.id) === call.run) this.#running.delete(call.run.id);
      this.#keepTrace(call.run.id, call.output ?? AgentEnsembleError.find(call.error)?.output);
    });
  }

  /** Adds the services and routes of a booted kernel. */
  started({ events, get, all }: PluginContext): void {
    const kernel = this.#kernels.get(events);
    if (kernel === undefined) return;
    kernel.stops.push(this.desk.watch(get(Tokens.ReviewStore)));
    kernel.routes = all(Tokens.HttpRoute);
    const panels = all(Tokens.DashboardPanel);
    panels.forEach(checkPanel);
    kernel.panels = panels;
    kernel.kept = all(Tokens.KeptRuns);
  }

  /** Removes a kernel. Its runs are kept. */
  detach(events: EventStream): void {
    for (const stop of this.#kernels.get(events)?.stops ?? []) stop();
    this.#kernels.delete(events);
  }

  /** Returns whether a run is in progress in this process. */
  isRunning(runId: string): boolean {
    return this.#running.has(runId);
  }

  /** Returns the inputs of a run, without secrets if the run is not in memory. */
  inputsOf(run: ReadableRun): Inputs {
    const known = this.#inputs.get(run.summary.runId);
    if (known !== undefined) return known;
    const last = Math.min(run.n, PLANNED_WITHIN);
    for (let n = 0; n <= last; n++) {
      const { type, inputs } = run.entry(n, "full");
      if (type === "run_planned" && isObject(inputs)) return inputs;
    }
    return run.summary.inputs;
  }

  /**
   * Returns the part of a value that may leave the process, as JSON data. Texts have no secrets.
   * Without contents, only names remain. With `hidesFields`, the values of fields that are named
   * like a secret are also removed.
   */
  shownValue(value: unknown, o: { readonly hidesFields?: boolean } = {}): unknown {
    const given = o.hidesFields === true ? this.#redactor.redactValue(value) : value;
    const shown = this.redacted(given);
    return this.settings.contents ? shown : withoutTexts(shown);
  }

  /** Returns a value as JSON data without the secrets in its texts. */
  redacted(value: unknown): unknown {
    return toJsonValue(value, { text: (text) => this.#redactor.redactText(text) });
  }

  /** Returns the number of tasks of a run that differ from the baseline. @throws RunStoreError */
  async changesSince(
    { runId }: RunSummary,
    run: ReadableRun,
  ): Promise<RunComparison["counts"] | undefined> {
    return this.#changes.countsOf(runId, run);
  }

  /** Cancels a run. Returns false if no such run is in progress in this process. */
  cancel(runId: string, reason: string): boolean {
    const run = this.#running.get(runId);
    run?.cancel(new RunCancelledError(reason));
    return run !== undefined;
  }

  /**
   * Removes all kernels, writes unsaved entries, and disposes of the store. Does not wait for a
   * store that does not respond.
   */
  async close(): Promise<void> {
    for (const events of [...this.#kernels.keys()]) this.detach(events);
    this.#alerts.close();
    this.processes.close();
    await this.#writer?.close();
    const ms = this.#closeMs;
    const written = Promise.all([this.audit.written(), this.traces.written()]);
    await firstEnding(written, { timeoutMs: ms });
    await withTimeout(() => this.settings.store?.dispose?.(), {
      ms,
      late: () => emitProcessWarning(`dashboard: the store was not disposed within ${ms} ms`),
    });
  }

  #forget(runId: string): void {
    this.traces.forget(runId);
    this.#inputs.delete(runId);
    this.starts.forget(runId);
  }

  #keepTrace(runId: string, output: { readonly trace: ExecutionTrace } | undefined): void {
    if (output !== undefined && this.feed.get(runId) !== undefined)
      this.traces.keep(runId, output.trace);
  }
}

/** @throws ValidationError for a panel that can't be shown */
function checkPanel(panel: DashboardPanel): void {
  checkOptions("A dashboard panel", panel, ["name", "title", "view", "read"]);
  const { name, title, view, read } = panel;
  if (typeof name !== "string" || !PANEL_NAME.test(name))
    throw new ValidationError(
      `The name of a dashboard panel must be 1 to 64 letters, digits, - and _, got: ${preview(name)}`,
    );
  requireFunction(`The read of dashboard panel '${name}'`, read ?? null);
  requireText(title, `The title of dashboard panel '${name}' must not be blank`);
  requireOneOf(`The view of dashboard panel '${name}'`, view ?? null, [
    "table",
    "json",
    "markdown",
  ]);
}

/** Returns JSON data without its texts, except for names. */
function withoutTexts(value: unknown, isName = false): unknown {
  if (typeof value === "string") return isName ? value : "";
  if (Array.isArray(value)) return value.map((one) => withoutTexts(one, isName));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withoutTexts(field, NAMES.has(name))]),
  );
}
