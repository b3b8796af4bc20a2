import { setMaxListeners } from "node:events";
import type { ScheduleOptions } from "../../contracts/ensemble-options.js";
import type { DeliveryParts } from "../delivery-parts.js";
import type { PlannedSchedule } from "./schedule-runner.js";
import { plannedTimes } from "./planned-times.js";
import { ScheduleRunner } from "./schedule-runner.js";

/** Reads all schedules. @throws as `plannedTimes`. */
export function plannedSchedules(
  schedules: readonly ScheduleOptions[],
  nowMs: number,
): Promise<readonly PlannedSchedule[]> {
  return Promise.all(
    schedules.map(async (options) => {
      const what = `The schedule '${options.name}'`;
      return { options, times: await plannedTimes(what, options.schedule, nowMs) };
    }),
  );
}

/** Runs schedules until they are stopped. */
export class Schedules {
  readonly #stopped = new AbortController();
  readonly #schedules: readonly PlannedSchedule[];
  readonly #parts: DeliveryParts;

  constructor(schedules: readonly PlannedSchedule[], parts: DeliveryParts) {
    setMaxListeners(0, this.#stopped.signal); // each schedule adds listeners
    this.#schedules = schedules;
    this.#parts = parts;
  }

  start(): void {
    for (const schedule of this.#schedules)
      void new ScheduleRunner(schedule, this.#parts, this.#stopped.signal).run();
  }

  stop(): void {
    this.#stopped.abort();
  }
}
