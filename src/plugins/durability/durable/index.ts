import type { Journal } from "../../../contracts/journal.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { DurableOptions } from "./durable-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { openJournal } from "../shared/open-journal.js";
import { ACTIVITY_EVENTS } from "./activity.js";
import { resolveDurableOptions } from "./durable-options.js";
import { KEPT_STEPS } from "./kept-steps.js";
import { RunKeeper } from "./run-keeper.js";
import { tapJournal } from "./taps.js";
import { WatchedReviews } from "./watched-reviews.js";

export type { DurableOptions } from "./durable-options.js";
export { once } from "./once.js";

/** Where runs are kept unless somebody says otherwise. */
const DEFAULT_URL = "file:./.agentensemble/runs";

/** Keeps all runs of a kernel; one that is run again under its `runId` goes on where it stopped. One for each kernel. @throws ValidationError */
export function durable(options: DurableOptions = {}): Plugin {
  const settings = resolveDurableOptions(options);
  let opened: Journal | undefined;
  const journal = (): Journal =>
    (opened ??= options.journal ?? openJournal(options.url ?? DEFAULT_URL));
  const keeper = new RunKeeper(() => ({ journal: journal(), settings }));
  const reviews = new WatchedReviews(journal, (review) => keeper.waits(review));
  return definePlugin({
    name: "durable",
    bind(bind) {
      bind.single(Tokens.Journal).toDynamicValue(journal);
      bind.single(Tokens.ReviewStore, { default: true }).toConstantValue(reviews);
      bind.many(Tokens.OutsideAccess).toConstantValue(keeper);
      bind.single(KEPT_STEPS).toConstantValue(keeper);
    },
    apply({ hooks, events }) {
      tapJournal(hooks, keeper);
      if (settings.suspendAfterMs !== undefined)
        events.on((event) => keeper.see(event), { only: ACTIVITY_EVENTS });
    },
    async dispose() {
      const open = opened;
      opened = undefined;
      if (options.journal === undefined) await open?.close();
    },
  });
}
