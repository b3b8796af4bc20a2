import { definePlugin, Ensemble, Task, type HookRun, type RunHandle } from "agentensemble";
import type { Dashboard } from "../../../../src/plugins/dashboard/dashboard.js";
import type { Boards } from "./boards.js";

/** A run that adds entries to its log on request, until it is ended. */
export class ChattyRun {
  readonly handle: RunHandle;
  readonly #run: Promise<HookRun>;
  #end: () => void = () => undefined;

  constructor(boards: Boards, board: Dashboard) {
    let begun: (run: HookRun) => void = () => undefined;
    this.#run = new Promise((resolve) => (begun = resolve));
    const plugin = definePlugin({
      name: "chatty",
      apply: ({ hooks }) => hooks.beforeTask.tap(({ run }) => begun(run)),
    });
    const held = new Promise<string>((resolve) => (this.#end = () => resolve("done")));
    this.handle = new Ensemble({
      name: "chatty",
      kernel: boards.kernel(board, plugin),
      tasks: [new Task({ name: "only", description: "Wait", handler: () => held })],
    }).stream();
  }

  get id(): string {
    return this.handle.id;
  }

  /** Adds entries with a text that is hard to compress. */
  async add(count: number): Promise<void> {
    const run = await this.#run;
    for (let i = 0; i < count; i++) run.warn(`${i}: ${"x".repeat(140)}`);
  }

  async end(): Promise<void> {
    this.#end();
    await this.handle.output;
  }
}
