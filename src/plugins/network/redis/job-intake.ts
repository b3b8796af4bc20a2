import type { Worker } from "bullmq";
import type { QueueClock } from "../shared/clock-timer.js";
import type { JobData, RequestJob } from "./job-data.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { startClockTimer } from "../shared/clock-timer.js";

interface JobTaker {
  take(job: RequestJob): void;
  fail(error: unknown): void;
}

/** Receives jobs of one queue. All waiting consumers of this process share one blocking call. */
export class JobIntake {
  readonly #worker: Worker<JobData>;
  readonly #clock: QueueClock;
  readonly #giveBack: (job: RequestJob) => Promise<void>;
  readonly #waiting = new Set<JobTaker>();
  #isPulling = false;
  #isClosed = false;

  /** `giveBack` returns a job to the queue when its consumer does not wait any more. */
  constructor(
    worker: Worker<JobData>,
    clock: QueueClock,
    giveBack: (job: RequestJob) => Promise<void>,
  ) {
    this.#worker = worker;
    this.#clock = clock;
    this.#giveBack = giveBack;
  }

  /** Resolves with the next job, or with `undefined` after `ms` milliseconds or at the abort. */
  async take(ms: number, signal: AbortSignal | undefined): Promise<RequestJob | undefined> {
    const job = await this.#next(false);
    if (job !== undefined || ms <= 0 || this.#isClosed || signal?.aborted === true) return job;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiter);
        stop();
        signal?.removeEventListener("abort", leave);
      };
      const leave = (): void => {
        end();
        resolve(undefined);
      };
      const waiter: JobTaker = {
        take(taken) {
          end();
          resolve(taken);
        },
        fail(error) {
          end();
          reject(error); // an error of the library
        },
      };
      const stop = startClockTimer(this.#clock, ms, leave);
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiter);
      if (!this.#isPulling) void this.#pull();
    });
  }

  /** Ends all waits with an error. */
  close(error: Error): void {
    this.#isClosed = true;
    for (const waiter of [...this.#waiting]) waiter.fail(error);
  }

  async #next(block: boolean): Promise<RequestJob | undefined> {
    return this.#worker.getNextJob(uuidGenerator.next(), { block });
  }

  async #pull(): Promise<void> {
    this.#isPulling = true;
    try {
      while (this.#waiting.size > 0 && !this.#isClosed) {
        const job = await this.#next(true);
        if (job !== undefined) await this.#hand(job);
      }
    } catch (error) {
      for (const waiter of [...this.#waiting]) waiter.fail(error);
    } finally {
      this.#isPulling = false;
    }
  }

  async #hand(job: RequestJob): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) await this.#giveBack(job);
    else first.take(job);
  }
}
