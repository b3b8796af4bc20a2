// A service that requests its own task on a schedule and publishes the result. A manual clock lets
// two days pass at once.
// Run it: npm run example -- 63
import { Ensemble, Schedule, Task, Tokens, definePlugin, type Clock } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";

/** A clock that stands still until it is advanced. */
class HandClock implements Clock {
  #ms = Date.parse("2026-03-27T12:00:00Z");
  readonly #sleepers = new Map<() => void, number>();

  now = (): Date => new Date(this.#ms);
  monotonicMs = (): number => this.#ms;

  sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#sleepers.delete(wake);
        reject(signal.reason as Error);
      };
      const wake = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#sleepers.set(wake, this.#ms + ms);
      signal.addEventListener("abort", leave);
    });

  /** Advances to an instant, and wakes the sleepers in order. */
  async moveTo(instant: string): Promise<void> {
    const end = Date.parse(instant);
    for (;;) {
      for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
      const [next] = [...this.#sleepers].sort(([, a], [, b]) => a - b);
      if (next === undefined || next[1] > end) break;
      this.#ms = Math.max(this.#ms, next[1]);
      this.#sleepers.delete(next[0]);
      next[0]();
    }
    this.#ms = end;
  }
}

const clock = new HandClock();
const backend = NetworkBackend.inMemory({ clock });
await backend.topics.subscribe("hotel.inventory", (message) => console.log("broadcast:", message));

const kitchen = new Ensemble({
  name: "kitchen",
  shareTasks: {
    report: new Task({ description: "Report what is short", handler: () => "Salt is short" }),
  },
  schedules: [
    {
      name: "morning",
      schedule: Schedule.cron("0 6 * * *", { timezone: "Europe/Berlin" }),
      task: "report",
      broadcastTo: "hotel.inventory",
    },
  ],
  plugins: [
    definePlugin({
      name: "hand-clock",
      bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(clock),
    }),
  ],
});
const service = await kitchen.start({
  backend,
  listeners: [(event) => event.type === "schedule_fired" && console.log("fired:", event.planned)],
});
// During this time, the clocks of Berlin are put forward by one hour.
await clock.moveTo("2026-03-29T12:00:00Z");
await service.stop();
await kitchen.dispose();
