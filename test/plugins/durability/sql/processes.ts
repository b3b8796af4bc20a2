import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Claim, Journal, JournalEntry, RunStart } from "../../../../src/contracts/journal.js";
import { until } from "../../../support/time.js";

const start = (runId: string, o: Partial<RunStart> = {}): RunStart => ({
  runId,
  ensemble: "press",
  inputs: {},
  inputsHash: "h",
  tags: {},
  ...o,
});

export const step = (key: string, o: Partial<JournalEntry> = {}): JournalEntry => ({
  key,
  kind: "step",
  task: "t@1",
  value: key,
  ...o,
});

export function claimRun(
  journal: Journal,
  runId: string,
  o: { readonly leaseMs?: number; readonly owner?: string; readonly signal?: AbortSignal } = {},
): Promise<Claim> {
  const { leaseMs = 60_000, owner = "here:1", signal = new AbortController().signal } = o;
  return journal.claim({ start: start(runId), owner, leaseMs, signal });
}

export const keysOf = async (journal: Journal, runId: string): Promise<readonly string[]> =>
  (await journal.entries(runId)).map(({ key }) => key);

/** A process of `holder.ts`. */
export class HolderProcess {
  /** The complete lines that it has printed. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;

  constructor(url: string, schema: string, runId: string, leaseMs: number) {
    const program = fileURLToPath(new URL("./holder.js", import.meta.url));
    this.#child = spawn(process.execPath, [program, url, schema, runId, String(leaseMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      this.lines.push(...lines);
    });
  }

  get name(): string {
    return `process ${this.#child.pid}`;
  }

  /** Waits until it has printed this number of lines. */
  async printed(count: number): Promise<void> {
    await until(
      () => this.lines.length >= count || this.#child.exitCode !== null,
      () => `the process printed only: ${this.lines.join(", ")}`,
      60_000,
    );
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "close");
  }
}
