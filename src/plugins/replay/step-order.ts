import type { StepName } from "./step-names.js";

/** The start or the end of a recorded step. */
export interface StepEvent {
  readonly key: string;
  readonly phase: "start" | "end";
  /** The key of the task of the step. */
  readonly owner: string | undefined;
  /** Milliseconds from the start of the recorded run. */
  readonly ms: number;
}

/**
 * Maximum time in milliseconds without an event while steps wait for an event that does not occur.
 */
const PATIENCE_MS = 5_000;

interface ActiveStep {
  /** The step that waits for the end of this step. */
  readonly outer: ActiveStep | undefined;
  /** Its started steps that have not ended. */
  children: number;
  /** The gates at which it waits. */
  waiting: number;
}

interface Waiter {
  /** The waiting step. */
  readonly key: string;
  pass(): void;
  fail(error: Error): void;
}

/** The functions of the replay for an order. */
export interface OrderListener {
  /** Advances the time of the recording. */
  advance(ms: number): void;
  /**
   * Called if a recorded step never occurs. Returns the error for the waiting steps. `undefined`
   * lets them continue.
   */
  missing(event: StepEvent): Error | undefined;
}

/**
 * Executes the starts and ends of the steps of a run in the recorded order, one by one. A step
 * waits until all earlier events of the recording have occurred. The duration of real work does not
 * matter. If no step is working and the next event has not occurred, it never will.
 */
export class StepOrder {
  readonly #events: readonly StepEvent[];
  readonly #byName = new Map<string, StepEvent>();
  readonly #listener: OrderListener;
  readonly #passed = new Set<StepEvent>();
  readonly #waiting = new Map<StepEvent, Waiter>();
  readonly #active = new Map<string, ActiveStep>();
  /** Steps that wait for all earlier events of another step, except events within themselves. */
  readonly #early = new Map<StepEvent, Waiter>();
  #next = 0;
  #busy = false;
  #isOpen = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(events: readonly StepEvent[], listener: OrderListener) {
    this.#events = events;
    this.#listener = listener;
    for (const event of events) this.#byName.set(nameOf(event.phase, event.key), event);
  }

  /** Called when a step starts. Waits for its turn. A step that was not recorded does not wait. */
  start({ key, owner = "", outer = "" }: StepName, signal?: AbortSignal): void | Promise<void> {
    if (this.#isOpen) return undefined;
    const waits = this.#active.get(outer) ?? this.#active.get(owner);
    this.#active.set(key, { outer: waits, children: 0, waiting: 0 });
    if (waits !== undefined) waits.children++;
    return this.#gate(key, "start", signal);
  }

  /**
   * Skips the steps that satisfy `isSkipped` and begin before the end of the step `key`, with their
   * inner steps. Returns the keys of these steps.
   */
  skipWithin(key: string, isSkipped: (event: StepEvent) => boolean): ReadonlySet<string> {
    const skipped = new Set<string>();
    const end = this.#isOpen ? undefined : this.#byName.get(nameOf("end", key));
    if (end === undefined) return skipped;
    let open = 0;
    let isWithin = true;
    for (let i = this.#next; isWithin || open > 0; i++) {
      const event = this.#events[i];
      if (event === undefined) break;
      if (event === end) isWithin = false;
      if (this.#passed.has(event)) continue;
      const isInner = event.owner !== undefined && skipped.has(event.owner);
      if (event.phase === "end" ? !skipped.has(event.key) : !isInner && !(isWithin && isSkipped(event))) continue; // prettier-ignore
      open += event.phase === "end" ? -1 : 1;
      skipped.add(event.key);
      this.#passed.add(event);
    }
    return skipped;
  }

  /** Called when a step ends. The first call waits for its turn. */
  end(key: string, signal?: AbortSignal): void | Promise<void> {
    if (this.#isOpen) return undefined;
    const gate = this.#gate(key, "end", signal);
    if (gate === undefined) this.leave(key);
    else return gate.finally(() => this.leave(key));
  }

  /**
   * Waits until all recorded steps before the start of `next` have occurred, except those within
   * the step `key`. No other step is in progress at the same time. Keeps the order of attempts
   * whose outputs are refused, because no tap runs after a refusal.
   */
  before(next: string, key: string, signal: AbortSignal): void | Promise<void> {
    const event = this.#isOpen ? undefined : this.#byName.get(nameOf("start", next));
    if (event === undefined || signal.aborted || this.#isNextFor(event, key)) return undefined;
    return this.#waitIn(this.#early, event, key, signal);
  }

  /** Called when a step has ended in any way. */
  leave(key: string): void {
    const step = this.#active.get(key);
    if (step === undefined) return;
    this.#active.delete(key);
    if (step.outer !== undefined) step.outer.children--;
    this.#look();
  }

  /** Whether the recording has this event. */
  knows(key: string, phase: StepEvent["phase"]): boolean {
    return this.#byName.has(nameOf(phase, key));
  }

  /** Ends all waits, including later ones. */
  open(error?: Error): void {
    this.#isOpen = true;
    clearTimeout(this.#patience);
    for (const waiter of [...this.#waiting.values(), ...this.#early.values()])
      if (error === undefined) waiter.pass();
      else waiter.fail(error);
    this.#waiting.clear();
    this.#early.clear();
  }

  #gate(key: string, phase: StepEvent["phase"], signal?: AbortSignal): void | Promise<void> {
    const event = this.#byName.get(nameOf(phase, key));
    if (event === undefined || this.#passed.has(event)) return undefined;
    if (signal?.aborted === true) {
      this.#pass(event);
      return undefined;
    }
    if (!this.#busy && this.#front() === event) {
      this.#pass(event);
      return undefined;
    }
    return this.#waitIn(this.#waiting, event, key, signal);
  }

  async #waitIn(
    waiting: Map<StepEvent, Waiter>,
    event: StepEvent,
    key: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const step = this.#active.get(key);
    if (step !== undefined) step.waiting++;
    const skip = (): void => {
      const waiter = waiting.get(event);
      waiting.delete(event);
      if (waiting === this.#waiting) this.#pass(event);
      waiter?.pass();
    };
    try {
      await new Promise<void>((pass, fail) => {
        waiting.set(event, { key, pass, fail });
        signal?.addEventListener("abort", skip, { once: true });
        this.#look();
      });
    } finally {
      signal?.removeEventListener("abort", skip);
      if (step !== undefined) step.waiting--;
    }
  }

  /** Returns the first event that has not occurred. */
  #front(): StepEvent | undefined {
    for (;;) {
      const event = this.#events[this.#next];
      if (event === undefined || !this.#passed.has(event)) return event;
      this.#passed.delete(event);
      this.#byName.delete(nameOf(event.phase, event.key));
      this.#next++;
    }
  }

  #let(event: StepEvent): void {
    const waiter = this.#waiting.get(event);
    this.#waiting.delete(event);
    this.#pass(event);
    waiter?.pass();
  }

  /** Marks an event as occurred. Its consequences precede the next event. */
  #pass(event: StepEvent): void {
    this.#passed.add(event);
    this.#listener.advance(event.ms);
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#busy) return;
    this.#busy = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#busy = false;
        this.#look();
      }),
    );
  }

  /** Releases the next event if it is waiting. */
  #look(): void {
    if (this.#busy || this.#isOpen) return;
    const front = this.#front();
    if (front === undefined) return this.open();
    for (const [event, { key, pass }] of this.#early)
      if (this.#isNextFor(event, key)) {
        this.#early.delete(event);
        return pass();
      }
    if (this.#waiting.has(front)) this.#let(front);
    else if (this.#waiting.size + this.#early.size > 0) this.#suspect(front);
  }

  /** Whether all events before an event have occurred, except those within one step. */
  #isNextFor(event: StepEvent, key: string): boolean {
    if (this.#busy) return false;
    for (let i = this.#next; this.#events[i] !== event; i++) {
      const earlier = this.#events[i];
      if (earlier === undefined) return true;
      if (!this.#passed.has(earlier) && earlier.owner !== key) return false;
    }
    return true;
  }

  /** Handles a possible deadlock. Steps wait, and no other step could cause the next event. */
  #suspect(front: StepEvent): void {
    const { owner } = front;
    const ownerEnds = owner === undefined ? undefined : this.#byName.get(nameOf("end", owner));
    if (ownerEnds !== undefined && this.#waiting.has(ownerEnds)) return this.#missing(front);
    if (this.#isWorking()) {
      clearTimeout(this.#patience);
      this.#patience = undefined;
      return;
    }
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      const now = this.#front();
      if (now !== undefined && !this.#waiting.has(now) && !this.#isWorking()) this.#missing(now);
    }, PATIENCE_MS);
  }

  /**
   * Whether a step is working: in progress, and not waiting for its turn or for its inner steps.
   */
  #isWorking(): boolean {
    for (const { children, waiting } of this.#active.values())
      if (children === 0 && waiting === 0) return true;
    return false;
  }

  #missing(front: StepEvent): void {
    this.open(this.#listener.missing(front));
  }
}

function nameOf(phase: StepEvent["phase"], key: string): string {
  return `${phase} ${key}`;
}
