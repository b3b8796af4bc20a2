import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onServer, POSTGRES_URL } from "../support/postgres.js";
import { ProjectFolder, type CommandEnd, type Started } from "./project-folder.js";

/** The second task ends when the file `go` exists. Each execution of a task is a line of `log`. */
export const program = (more = ""): string => `
  import { Ensemble, Task, defineProgram } from "./parts.mjs";
  import { appendFileSync, existsSync } from "node:fs";
  const first = new Task({ name: "first", description: "First", handler: () => {
    appendFileSync("log", "first\\n");
    return "one";
  } });
  const second = new Task({ name: "second", description: "Second", context: [first],
    handler: async ({ signal, getOutput }) => {
      appendFileSync("log", "second\\n");
      while (!existsSync("go")) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return getOutput(first).raw + " and two";
    },
  });
  const greet = new Task({ description: "Greet {name}", handler: ({ inputs }) => "Hello " + inputs.name });
  ${more}
  const report = new Ensemble({ tasks: [first, second, ...(globalThis.more ?? [])], drainTimeoutMs: 100 });
  export default defineProgram({ name: "press", ensembles: { report, greeting: new Ensemble({ tasks: [greet] }) } });`;
const PARTS = `
  export { Ensemble, Task } from "agentensemble";
  export { defineProgram } from "agentensemble/network";`;
/** A further task of a newer program. */
export const THIRD = `globalThis.more = [new Task({ name: "third", description: "Third", context: [second],
  handler: ({ getOutput }) => getOutput(second).raw + " and three" })];`;

/** Workers in separate projects, and the database that they share. */
export class Press {
  readonly store: string;
  readonly #database = `ae_workers_${process.pid}`;
  readonly #running: Started[] = [];

  constructor() {
    const store = new URL(POSTGRES_URL);
    store.pathname = `/${this.#database}`;
    this.store = store.href;
  }

  get env(): { readonly AGENTENSEMBLE_STORE: string } {
    return { AGENTENSEMBLE_STORE: this.store };
  }

  async open(): Promise<void> {
    await onServer(`create database ${this.#database}`);
  }

  /** Kills all workers. */
  async rest(): Promise<void> {
    const running = this.#running.splice(0);
    for (const { child } of running) child.kill("SIGKILL");
    await Promise.all(running.map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    await onServer(`drop database if exists ${this.#database} with (force)`).catch(() => undefined); // no server
  }

  project(): ProjectFolder {
    return new ProjectFolder({ "press.mjs": program(), "parts.mjs": PARTS });
  }

  startWorker(project: ProjectFolder, file = "press.mjs"): Started {
    const worker = project.start(["worker", file, "--lease", "1s"], this.env);
    this.#running.push(worker);
    return worker;
  }

  submit(project: ProjectFolder, ...args: readonly string[]): Promise<CommandEnd> {
    return project.run(["submit", "press.mjs", ...args], this.env);
  }
}

/** The tasks that were executed, in their order. */
export function executedIn(project: ProjectFolder): readonly string[] {
  const log = join(project.path, "log");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
}
