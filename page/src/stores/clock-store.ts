import { signal, type ReadonlySignal } from "@preact/signals";
import type { Environment } from "./environment.js";

/** The time of the server. */
export interface ClockStore {
  /** Milliseconds since 1970 by the server's clock. */
  now(): number;
  /** The time, updated each second. Components that read it are drawn again. */
  readonly seconds: ReadonlySignal<number>;
  /** Applies the server's time of a frame. */
  adjust(serverTimeMs: number): void;
}

export function createClockStore(env: Environment): ClockStore {
  let offsetMs = 0;
  const now = (): number => env.now() + offsetMs;
  const seconds = signal(now());
  const tick = (): void => {
    seconds.value = now();
    env.later(tick, 1_000);
  };
  tick();
  return {
    now,
    seconds,
    adjust: (serverTimeMs) => {
      offsetMs = serverTimeMs - env.now();
      seconds.value = now();
    },
  };
}
