import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pause } from "./time.js";

/** Another process, and the lines that it has written so far. */
export class OtherProcess {
  static readonly running = new Set<ChildProcess>();
  readonly child: ChildProcess;
  said = "";

  constructor(command: string, args: readonly string[]) {
    this.child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    OtherProcess.running.add(this.child);
    this.child.once("close", () => OtherProcess.running.delete(this.child));
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.said += text));
  }

  /** A program of the tests. */
  static of(program: string, ...args: readonly string[]): OtherProcess {
    return new OtherProcess(process.execPath, [program, ...args]);
  }

  /** Complete lines: the last one may be truncated. */
  get lines(): readonly string[] {
    return this.said.split("\n").slice(0, -1);
  }

  async saying(count: number): Promise<void> {
    while (this.lines.length < count) {
      if (this.child.exitCode !== null) throw new Error(`the process has ended: ${this.said}`);
      await pause(2);
    }
  }

  async ended(signal?: NodeJS.Signals): Promise<readonly string[]> {
    const closed = once(this.child, "close");
    if (signal !== undefined) this.child.kill(signal);
    await closed;
    return this.lines;
  }
}
