import type { EnsembleEvent } from "../../contracts/events.js";
import type { Redactor } from "../../contracts/redaction.js";
import type { LogSink } from "./log-sink.js";
import { redactEvent } from "../shared/redact-event.js";
import { logLinesOf } from "./event-lines.js";
import { RunState } from "./run-state.js";

/** Converts the events of any number of runs into lines. Keeps no state of ended runs. */
export class EventLogger {
  readonly #runs = new Map<string, RunState>();

  constructor(readonly sink: LogSink) {}

  handle(e: EnsembleEvent, redactor: Redactor): void {
    const run = this.#runs.get(e.runId) ?? new RunState();
    if (e.type === "ensemble_started") this.#runs.set(e.runId, run);
    if (e.type === "ensemble_completed") this.#runs.delete(e.runId);
    run.follow(e);
    if (!logLinesOf(e, run, redactor).some(({ level }) => this.sink.enabled(level))) return;
    // Secrets are removed before texts are shortened, because a part of a secret can't be
    // recognized.
    for (const { level, text } of logLinesOf(redactEvent(e, redactor), run, redactor)) {
      if (this.sink.enabled(level)) this.sink.write(level, text(), run.contextOf(e), e.at);
    }
  }
}
