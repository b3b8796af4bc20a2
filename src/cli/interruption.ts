import { ExitCode } from "./exit-codes.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Executes `work`. The first SIGINT or SIGTERM calls `cancel`. The second signal ends the process
 * immediately.
 */
export async function interruptible<T>(
  work: Promise<T>,
  cancel: (signal: string) => void,
): Promise<T> {
  let asked = false;
  const interrupt = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(ExitCode.CANCELLED);
    asked = true;
    cancel(signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    return await work;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
