import type { Plugin } from "../../../contracts/plugin.js";
import type { DurableOptions } from "./durable-options.js";
import type { Runs } from "./durable-runs.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { ACTIVITY_EVENTS } from "./activity.js";
import { resolveDurableOptions } from "./durable-options.js";
import { DurableRuns } from "./durable-runs.js";
import { JournalHolder } from "./journal-holder.js";
import { KEPT_STEPS } from "./kept-steps.js";
import { RunKeeper } from "./run-keeper.js";
import { tapJournal } from "./taps.js";
import { WatchedReviews } from "./watched-reviews.js";

export type { DurableOptions } from "./durable-options.js";
export type { ResumedRun } from "./decided-runs.js";
export type { ResumeAllOptions, Runs } from "./durable-runs.js";
export { once } from "./once.js";

/** The result of `durable()`: a plugin, and access to the stored runs. */
export interface DurablePlugin extends Plugin {
  /** The stored runs. Usable until the plugin is disposed of. */
  readonly runs: Runs;
}

/**
 * Stores all runs of a kernel in a journal. A run that is started again with the same `runId`
 * continues where it stopped. A kernel can have only one `durable()`.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function durable(options: DurableOptions = {}): DurablePlugin {
  const settings = resolveDurableOptions(options);
  const holder = new JournalHolder(options);
  const keeper = new RunKeeper(() => ({
    journal: holder.journal,
    settings: { ...settings, sealed: holder.isSealed },
  }));
  const reviews = new WatchedReviews(
    () => holder.journal,
    (review) => keeper.waits(review),
  );
  const runs = new DurableRuns(holder);
  return definePlugin({
    name: "durable",
    runs,
    bind(bind) {
      holder.open();
      bind.single(Tokens.Journal).toDynamicValue(() => holder.journal);
      const { codec } = holder;
      if (codec !== undefined)
        bind.single(Tokens.JournalCodec, { default: true }).toConstantValue(codec);
      bind.single(Tokens.ReviewStore, { default: true }).toConstantValue(reviews);
      bind.many(Tokens.OutsideAccess).toConstantValue(keeper);
      bind.many(Tokens.KeptRuns).toConstantValue(runs);
      bind.single(KEPT_STEPS).toConstantValue(keeper);
    },
    apply({ hooks, events }) {
      tapJournal(hooks, keeper);
      if (settings.suspendAfterMs !== undefined)
        events.on((event) => keeper.see(event), { only: ACTIVITY_EVENTS });
    },
    start: (ctx) => holder.sealBy(ctx),
    attach(ensemble) {
      const name = ensemble.name ?? "ensemble";
      holder.ensembles.set(name, ensemble);
      if (settings.resumeOnStart) setImmediate(() => void resumeLost(runs, name));
    },
    dispose: () => holder.close(),
  });
}

/** Resumes the runs of processes that have died. Each failure is reported as a process warning. */
async function resumeLost(runs: DurableRuns, ensemble: string): Promise<void> {
  try {
    for (const { runId, error } of await runs.resumeAllOf([ensemble]))
      if (error !== undefined)
        emitProcessWarning(`Run '${runId}' was not resumed to its end: ${messageOf(error)}`);
  } catch (error) {
    emitProcessWarning(`Runs of ensemble '${ensemble}' were not resumed: ${messageOf(error)}`);
  }
}
