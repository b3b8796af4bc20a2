import type { EnsembleEvent, Ev } from "../contracts/events.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { Plugin } from "../contracts/plugin.js";
import type { RunOptions } from "../contracts/run.js";
import type { StoredReview } from "../contracts/review.js";
import type { SavedUsage } from "../contracts/usage.js";
import type { DurablePlugin } from "../durability.js";
import type { OutputTerminal } from "./terminal.js";
import type { KeepArguments } from "./keep-arguments.js";
import { definePlugin } from "../contracts/plugin.js";
import { printableLine } from "../util/printable.js";
import { uuidGenerator } from "../util/runtime.js";
import { counted } from "../util/text.js";
import { shellWord } from "./shell-word.js";
import { linesToAnswer } from "./review-text.js";
import { Store } from "./store.js";

/**
 * One execution of a stored run by a command: the plugins for the ensemble, and the printed text.
 */
export class KeptExecution {
  readonly runId: string;
  /** The plugin that stores the run, and the plugin that observes it. */
  readonly plugins: readonly Plugin[];
  readonly #durable: DurablePlugin;
  readonly #store: Store;
  readonly #resume: string;
  readonly #isNew: boolean;
  readonly #terminal: OutputTerminal;
  readonly #isQuiet: boolean;
  #resumed: Ev<"run_resumed"> | undefined;
  #isBegun = false;

  /** @throws ValidationError for an invalid store, and for an invalid key. */
  static async of(
    file: string,
    o: KeepArguments & { readonly quiet?: boolean | undefined },
    terminal: OutputTerminal,
    waits: boolean,
  ): Promise<KeptExecution> {
    const store = new Store(o);
    const { durable } = await import("../durability.js"); // other commands do not load it
    const plugin = durable({
      ...store.access,
      ...(!waits && { suspendAfterMs: 0 }),
      ...(o.onChange !== undefined && { onChange: o.onChange as "fail" | "keep" | "redo" }), // checked with the arguments
    });
    return new KeptExecution(file, o, terminal, { store, plugin });
  }

  private constructor(
    file: string,
    o: KeepArguments & { readonly quiet?: boolean | undefined },
    terminal: OutputTerminal,
    { store, plugin }: { readonly store: Store; readonly plugin: DurablePlugin },
  ) {
    this.#isNew = o.runId === undefined;
    this.runId = o.runId ?? uuidGenerator.next();
    this.#durable = plugin;
    this.plugins = [plugin, this.#observer()];
    this.#store = store;
    this.#terminal = terminal;
    this.#isQuiet = o.quiet === true;
    this.#resume = `agentensemble runs resume ${shellWord(file)} ${shellWord(this.runId)}${store.option}`;
  }

  /** Whether this process has claimed the run. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  options(): Pick<RunOptions, "runId" | "listeners"> {
    return { runId: this.runId, listeners: [{ on: (event) => this.#see(event) }] };
  }

  /** Returns the questions that the run waits for. */
  async waitsFor({ exitReason }: EnsembleOutput): Promise<readonly StoredReview[]> {
    if (exitReason !== "SUSPENDED") return [];
    const pending = await this.#durable.runs.reviews.pending();
    return pending.filter(({ runId }) => runId === this.runId);
  }

  /** Describes the next steps for a run that has not ended. */
  async conclude(output: EnsembleOutput): Promise<void> {
    if (output.error === undefined || !this.#isBegun) return;
    const reviews = await this.waitsFor(output);
    if (reviews.length > 0) {
      const people = "The run waits for people, and is kept. To answer:";
      await this.#say(people, ...reviews.flatMap((review) => linesToAnswer(review, this.#store)));
    }
    await this.#say("To resume the run:", `  ${this.#resume}`);
  }

  /** Returns the additional fields of `--json` for stored runs. */
  async json(output: EnsembleOutput): Promise<Readonly<Record<string, unknown>>> {
    const resumed = this.#resumed;
    const reviews = await this.waitsFor(output);
    return {
      ...(resumed !== undefined && {
        resumed: {
          execution: resumed.execution,
          finishedTasks: resumed.finishedTasks,
          saved: resumed.saved ?? null,
        },
      }),
      ...(output.error !== undefined && this.#isBegun && { reviews, resume: this.#resume }),
    };
  }

  #observer(): Plugin {
    return definePlugin({
      name: "kept-execution",
      apply: ({ hooks }) => {
        // After the tap of durable(). That tap rejects if the run can't be executed here.
        hooks.beforeRun.tap({ name: "kept-execution", lane: "policy" }, ({ run }) => {
          if (run.id !== this.runId) return;
          this.#isBegun = true;
          if (this.#isNew) this.#announce();
        });
      },
    });
  }

  #see(event: EnsembleEvent): void {
    if (event.type !== "run_resumed" || event.runId !== this.runId) return;
    this.#resumed = event;
    if (!this.#isQuiet) void this.#say(resumedText(event));
  }

  /**
   * Prints the location of the run, and the command that continues it after the end of this
   * process.
   */
  #announce(): void {
    if (this.#isQuiet) return;
    const place = printableLine(this.#store.shown);
    void this.#say(
      `Run ${printableLine(this.runId)} is kept in ${place}. To resume it after an interruption:`,
      `  ${this.#resume}`,
    );
  }

  #say(...lines: readonly string[]): Promise<void> {
    return this.#terminal.message(lines.join("\n"));
  }
}

function resumedText({ execution, finishedTasks, saved }: Ev<"run_resumed">): string {
  const head = `The run continues, execution ${execution}: ${counted(finishedTasks, "task")} finished before`;
  return saved === undefined ? head : `${head}. ${savedText(saved)}`;
}

/** Formats the work that was not repeated. */
export function savedText(saved: SavedUsage): string {
  const { llmCalls, toolCalls, tokens, cost, currency = "" } = saved;
  const money =
    cost === undefined ? "" : `, ${Number(cost.toPrecision(4))} ${printableLine(currency, 10)}`;
  return `Answered from the journal: ${counted(llmCalls, "model call")}, ${counted(toolCalls, "tool call")}, ${counted(tokens, "token")}${money}`;
}
