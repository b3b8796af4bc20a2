import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Outside } from "./killable-team.js";
import type { JournalPlace } from "./journal-place.js";
import type { RunSummary } from "./summary.js";

/** The end of a process: at a write of its journal, or some time after its n-th request. */
export type Kill =
  | { readonly write: number; readonly moment: "before" | "after" }
  | { readonly request: number; readonly delayMs: number };

/**
 * One execution of the program. Returns its output, or nothing if it was killed. @throws Error if
 * the program itself failed.
 */
export async function execute(
  place: JournalPlace,
  outside: Outside,
  o: { readonly kill?: Kill | undefined; listen(onRequest: () => void): void },
): Promise<readonly RunSummary[] | undefined> {
  const program = fileURLToPath(new URL("./program.js", import.meta.url));
  const args = [JSON.stringify(place), JSON.stringify(outside)];
  const { kill } = o;
  if (kill !== undefined && "write" in kill) args.push(String(kill.write), kill.moment);
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [printed, problems] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
  let requests = 0;
  const timers: NodeJS.Timeout[] = [];
  o.listen(() => {
    if (kill === undefined || !("request" in kill) || ++requests !== kill.request) return;
    timers.push(setTimeout(() => child.kill("SIGKILL"), kill.delayMs));
  });
  try {
    await once(child, "close");
  } finally {
    o.listen(() => undefined);
    for (const timer of timers) clearTimeout(timer);
  }
  if (child.signalCode === "SIGKILL") return undefined;
  if (child.exitCode !== 0)
    throw new Error(`the program ended with ${child.exitCode}: ${problems}`);
  return JSON.parse(printed) as readonly RunSummary[];
}
