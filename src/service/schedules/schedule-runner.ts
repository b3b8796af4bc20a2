import type { ScheduleOptions } from "../../contracts/ensemble-options.js";
import type { EnqueueReceipt, WorkRequest } from "../../contracts/network.js";
import type { DeliveryParts } from "../delivery-parts.js";
import type { PlannedTimes } from "./planned-times.js";
import { WORK_VERSION } from "../../contracts/network.js";
import { messageOf } from "../../util/errors.js";
import { backoffMs, clockPause } from "../../util/abort/pauses.js";

/**
 * Maximum time in ms between two reads of the clock. Timers measure durations, but the clock of the
 * machine may be set.
 */
const LOOK_MS = 60_000;
const AWAY = { firstMs: 250, mostMs: 15_000 };

/** A schedule with its times. */
export interface PlannedSchedule {
  readonly options: ScheduleOptions;
  readonly times: PlannedTimes;
}

/**
 * Requests a task at the planned times. Each instance of the service sends this request. The id of
 * the request contains the planned time, and the queue accepts an id once.
 */
export class ScheduleRunner {
  readonly #schedule: PlannedSchedule;
  readonly #parts: DeliveryParts;
  readonly #signal: AbortSignal;
  /** The last planned time whose request is in the queue. */
  #lastMs: number | undefined;

  constructor(schedule: PlannedSchedule, parts: DeliveryParts, signal: AbortSignal) {
    this.#schedule = schedule;
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Resolves when the signal aborts, or without a further planned time. Never rejects. */
  async run(): Promise<void> {
    const { options, times } = this.#schedule;
    let fromMs = this.#nowMs;
    if (options.catchUp === "last") {
      const missed = times.before(fromMs + 1);
      if (missed !== undefined) await this.#fire(missed);
    }
    for (;;) {
      const nextMs = times.after(fromMs);
      if (nextMs === undefined || !(await this.#reached(nextMs))) return;
      // After a sleep of the machine, several times may have passed. Only the last time is used.
      const plannedMs = times.before(this.#nowMs + 1) ?? nextMs;
      fromMs = Math.max(nextMs, plannedMs);
      await this.#fire(fromMs);
    }
  }

  get #nowMs(): number {
    return this.#parts.clock.now().getTime();
  }

  /** Waits until a planned time. Returns false if the signal aborted before. */
  async #reached(plannedMs: number): Promise<boolean> {
    const { clock } = this.#parts;
    for (let left = plannedMs - this.#nowMs; left > 0; left = plannedMs - this.#nowMs) {
      await clockPause(clock, Math.min(left, LOOK_MS), this.#signal);
      if (this.#signal.aborted) return false;
    }
    return !this.#signal.aborted;
  }

  /**
   * Requests the task, unless the previous request has no result yet. Retries until the next
   * planned time.
   */
  async #fire(plannedMs: number): Promise<void> {
    const { events, clock } = this.#parts;
    const { options, times } = this.#schedule;
    const untilMs = times.after(plannedMs) ?? Number.POSITIVE_INFINITY;
    for (let failures = 1; !this.#signal.aborted; failures++) {
      try {
        if (await this.#overlaps(plannedMs)) return;
        this.#report(await this.#enqueue(plannedMs), plannedMs);
        return;
      } catch (error) {
        if (failures === 1)
          events.warn(`Schedule '${options.name}' can't reach the queue: ${messageOf(error)}`);
      }
      const waitMs = Math.min(backoffMs(failures, AWAY), untilMs - this.#nowMs);
      if (waitMs <= 0) return;
      await clockPause(clock, waitMs, this.#signal);
    }
  }

  async #overlaps(plannedMs: number): Promise<boolean> {
    const { options, times } = this.#schedule;
    if (options.overlap === "allow") return false;
    const { backend, settings } = this.#parts;
    for (const ms of new Set([this.#lastMs, times.before(plannedMs)])) {
      if (ms === undefined || ms === plannedMs) continue;
      const state = await backend.queue.status(settings.name, this.#idOf(ms));
      if (state === "QUEUED" || state === "LEASED") return true;
    }
    return false;
  }

  async #enqueue(plannedMs: number): Promise<EnqueueReceipt["status"]> {
    const { backend, settings } = this.#parts;
    const { name, maxQueuedRequests: maxQueued } = settings;
    const { task, inputs, broadcastTo, name: schedule } = this.#schedule.options;
    const request: WorkRequest = {
      v: WORK_VERSION,
      requestId: this.#idOf(plannedMs),
      from: name,
      to: name,
      type: "TASK",
      task,
      ...(inputs !== undefined && { inputs }),
      ...(broadcastTo !== undefined && {
        delivery: { method: "TOPIC", address: broadcastTo },
        schedule: { name: schedule, at: new Date(plannedMs).toISOString() },
      }),
    };
    const { status } = await backend.queue.enqueue(name, request, { maxQueued });
    return status;
  }

  #report(status: EnqueueReceipt["status"], plannedMs: number): void {
    const { events } = this.#parts;
    const schedule = this.#schedule.options.name;
    const planned = new Date(plannedMs).toISOString();
    if (status === "FULL")
      return events.warn(`Schedule '${schedule}' was left out at ${planned}: the queue is full`);
    this.#lastMs = plannedMs;
    if (status !== "ACCEPTED") return; // another instance has sent the request
    events.emit({ type: "schedule_fired", schedule, requestId: this.#idOf(plannedMs), planned });
  }

  #idOf(plannedMs: number): string {
    const { name } = this.#schedule.options;
    return `schedule:${this.#parts.settings.name}:${name}:${new Date(plannedMs).toISOString()}`;
  }
}
