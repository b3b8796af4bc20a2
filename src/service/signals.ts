import { constants } from "node:os";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Calls `stop` at the first SIGTERM or SIGINT. The second signal ends the process immediately.
 * Returns a function that removes the listeners.
 */
export function stopOnSignals(stop: () => Promise<void>): () => void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    void stop(); // never rejects
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
