import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import type { Environment } from "./environment.js";
import type { ReviewsStore } from "./reviews-store.js";
import type { RouteStore } from "./route-store.js";

/**
 * `undefined`: the browser has no notifications. `refused`: the user or the browser forbids them.
 */
export type NotifyState = "off" | "on" | "refused" | undefined;

/** Notifications of the system about new reviews. */
export interface NotifyStore {
  readonly state: ReadonlySignal<NotifyState>;
  /** Turns notifications on or off, also for later visits. Requests permission if necessary. */
  toggle(): Promise<void>;
}

const NAME = "agentensemble.notify";

interface Needs {
  readonly env: Pick<Environment, "local" | "notifications">;
  readonly reviews: Pick<ReviewsStore, "pending" | "isKnown">;
  readonly route: Pick<RouteStore, "go">;
}

/**
 * Notifies the user of each new review while the page is hidden, if the user has turned this on. A
 * notification names the task. It contains no text of the run, because a locked screen may show the
 * notification.
 */
export function createNotifyStore({ env, reviews, route }: Needs): NotifyStore {
  const { local, notifications } = env;
  const read = (): NotifyState => {
    if (notifications === undefined) return undefined;
    if (notifications.permission() === "denied") return "refused";
    const isOn = local.read(NAME) === "on" && notifications.permission() === "granted";
    return isOn ? "on" : "off";
  };
  const state = signal(read());
  let seen: ReadonlySet<string> | undefined;
  effect(() => {
    const pending = reviews.pending.value;
    if (!reviews.isKnown.value) return;
    const before = seen;
    seen = new Set(pending.map(({ reviewId }) => reviewId));
    if (before === undefined || state.peek() !== "on" || notifications?.isSeen() !== false) return;
    for (const { reviewId, taskId } of pending.filter((review) => !before.has(review.reviewId)))
      notifications.show({ id: reviewId, title: "A review waits", text: visibleText(taskId) }, () =>
        route.go(hrefOf(["reviews", reviewId])),
      );
  });
  return {
    state,
    toggle: async () => {
      const isOn = state.value === "on";
      if (!isOn && notifications?.permission() === "default") await notifications.request();
      local.write(NAME, isOn ? undefined : "on");
      state.value = read();
    },
  };
}
