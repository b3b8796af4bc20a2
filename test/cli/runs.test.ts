import { rmSync } from "node:fs";
import { expect } from "chai";
import { Ensemble, Review, Task, tool } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { ageOf, tagsOf } from "../../src/cli/arguments.js";
import { keptTrace } from "../../src/cli/kept-trace.js";
import { reviewsAnswerCommand, reviewsListCommand } from "../../src/cli/reviews-commands.js";
import {
  runsCancelCommand,
  runsDeleteCommand,
  runsForkCommand,
  runsListCommand,
  runsSettleCommand,
  runsShowCommand,
} from "../../src/cli/runs-commands.js";
import { Store } from "../../src/cli/store.js";
import { examineStore } from "../../src/cli/store-report.js";
import type { KeptEntry } from "../../src/contracts/journal.js";
import type { OutputTerminal } from "../../src/cli/terminal.js";
import { painter } from "../../src/plugins/observability/console/terminal-text.js";
import { ValidationError } from "../../src/contracts/errors.js";
import { rejectionOf } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A terminal that keeps the output of commands. */
class KeptTerminal {
  readonly paint = painter(false);
  readonly paintMessage = painter(false);
  readonly verbose = false;
  written = "";
  document: Readonly<Record<string, unknown>> = {};

  text(text: string): Promise<void> {
    this.written += `${text}\n`;
    return Promise.resolve();
  }

  message(text: string): Promise<void> {
    return this.text(text);
  }

  json(value: Readonly<Record<string, unknown>>): Promise<void> {
    this.document = value;
    return Promise.resolve();
  }

  /** The form that commands accept. */
  get asOutput(): OutputTerminal {
    return this as unknown as OutputTerminal; // has what these commands use
  }
}

/** The output of a command and its exit code. */
async function written(
  command: (terminal: OutputTerminal) => Promise<number>,
): Promise<readonly [code: number, text: string]> {
  const terminal = new KeptTerminal();
  return [await command(terminal.asOutput), terminal.written];
}

/** The document of a command with `--json`. */
async function documentOf(
  command: (terminal: OutputTerminal) => Promise<number>,
): Promise<Readonly<Record<string, unknown>>> {
  const terminal = new KeptTerminal();
  await command(terminal.asOutput);
  return terminal.document;
}

const pay = tool({
  name: "pay",
  description: "Pays",
  effect: "send",
  input: { type: "object", properties: { amount: { type: "number" } } },
  execute: () => "paid",
});
const USAGE = { inputTokens: 10, outputTokens: 5 };
const facts = new Task({ name: "facts", description: "Collect facts" });
const text = new Task({
  name: "text",
  description: "Write \u001b[31mit\u001b[0m",
  context: [facts],
  tools: [pay],
});

describe("commands of kept runs", () => {
  const json = true;
  let store: string;

  /** Executes the team; `o` is about its last task. */
  async function execute(
    runId: string,
    o: { readonly isReviewed?: boolean; readonly tags?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const last = o.isReviewed === true ? text.with({ review: Review.of({ timeoutMs: 0 }) }) : text;
    await using ensemble = new Ensemble({
      name: "desk",
      model: new ScriptedModel([
        { text: "facts", usage: USAGE },
        { toolCalls: [{ id: "c1", name: "pay", arguments: '{"amount":3}' }], usage: USAGE },
        { text: "draft", usage: USAGE },
      ]),
      tasks: [facts, last],
      on: () => undefined, // sees the warning that a review waits
      plugins: [durable({ url: new Store({ store }).access.url, suspendAfterMs: 0 })],
    });
    await ensemble.run({}, { runId, throwOnError: false, ...(o.tags && { tags: o.tags }) });
  }

  beforeEach(() => {
    store = `file:${temporaryFolder()}/.agentensemble`;
  });

  it("list runs, the newest first, by status, ensemble, tag and age, page by page", async () => {
    await execute("a", { tags: { person: "ana" } });
    await execute("b", { isReviewed: true });
    const ids = async (o: Parameters<typeof runsListCommand>[0]): Promise<readonly unknown[]> => {
      const page = await documentOf((t) => runsListCommand({ store, json, ...o }, t));
      const runs = page["runs"] as readonly { readonly runId: string }[]; // as the journal gives them
      return [runs.map(({ runId }) => runId), page["next"] === undefined];
    };
    expect(await ids({})).to.deep.equal([["b", "a"], true]);
    expect(await ids({ limit: "1" })).to.deep.equal([["b"], false]);
    expect(await ids({ status: "waiting" })).to.deep.equal([["b"], true]);
    expect(await ids({ tag: ["person=ana"] })).to.deep.equal([["a"], true]);
    expect(await ids({ ensemble: "other" })).to.deep.equal([[], true]);
    expect(await ids({ olderThan: "1h" })).to.deep.equal([[], true]);
    const [, lines] = await written((t) => runsListCommand({ store }, t));
    expect(lines.split("\n")[1]).to.match(/^a {2}completed {2}desk {2}2 tasks {2}\d/);
  });

  it("show a waiting run with the command that answers it, without control characters", async () => {
    await execute("b", { isReviewed: true });
    const [code, shown] = await written((t) => runsShowCommand("b", { store, entries: true }, t));
    expect(code).to.equal(0);
    expect(shown).to.include("run b waiting\n").and.include("45 tokens in 3 model calls");
    expect(shown).to.match(/agentensemble reviews answer review-\w+ continue --store file:/);
    expect(shown).to.include("agentensemble runs resume <file> b --store file:");
    expect(shown).to.include("execution 1 task   T:facts@1").and.not.include("\u001b");
  });

  it("refuse a missing run, naming the store and the command that lists runs", async () => {
    const error = await rejectionOf(
      ValidationError,
      documentOf((t) => runsShowCommand("c", { store, json }, t)),
    );
    expect(error.message).to.include(store);
    expect(error.hint).to.include("agentensemble runs list --store file:");
  });

  it("answer a review once, and report the earlier decision", async () => {
    await execute("b", { isReviewed: true });
    const { reviews } = (await documentOf((t) => reviewsListCommand({ store, json }, t))) as {
      readonly reviews: readonly { readonly reviewId: string; readonly taskOutput: string }[];
    }; // as the store gives them
    expect(reviews.map(({ taskOutput }) => taskOutput)).to.deep.equal(["draft"]);
    const id = reviews[0]?.reviewId ?? "";
    const answer = (what: string, o: object): ReturnType<typeof written> =>
      written((t) => reviewsAnswerCommand(id, what, { store, ...o }, t));
    expect((await answer("edit", { text: "better", by: "ana" }))[0]).to.equal(0);
    const [code, late] = await answer("continue", {});
    expect([code, late]).to.deep.equal([
      1,
      "The answer was not taken: the review was decided before by ana (EDIT)\n",
    ]);
    const [, none] = await written((t) => reviewsListCommand({ store }, t));
    expect(none).to.include("No review waits");
  });

  it("refuse invalid decisions, an edit without a text, and a text without an edit", async () => {
    for (const [what, o] of [
      ["perhaps", {}],
      ["edit", {}],
      ["continue", { text: "x" }],
    ] as const)
      await rejectionOf(
        ValidationError,
        documentOf((t) => reviewsAnswerCommand("id", what, { store, by: "ana", ...o }, t)),
      );
  });

  it("cancel a waiting run, and report that an ended run can't be cancelled", async () => {
    await execute("a");
    await execute("b", { isReviewed: true });
    const cancelled = await documentOf((t) => runsCancelCommand("b", { store, json }, t));
    expect(cancelled).to.deep.equal({ runId: "b", cancelled: true, status: "cancelled" });
    const [code, shown] = await written((t) => runsCancelCommand("a", { store }, t));
    expect([code, shown]).to.deep.equal([
      1,
      "Run a has ended (completed): there is nothing to cancel\n",
    ]);
  });

  it("fork a run without one task and all later tasks", async () => {
    await execute("a");
    const o = { store, json, from: "text", runId: "a2" };
    const forked = await documentOf((t) => runsForkCommand("a", o, t));
    expect(forked).to.deep.equal({ runId: "a2", forkedFrom: "a" });
    const { run } = await documentOf((t) => runsShowCommand("a2", { store, json }, t));
    expect(run).to.deep.include({ status: "waiting", finishedTasks: 1 });
  });

  it("settle a tool call in doubt by its key, with a result or by another call", async () => {
    const { url } = new Store({ store }).access;
    const journal = Journal.file(url.slice("file:".length));
    const start = { runId: "d", ensemble: "desk", inputs: {}, inputsHash: "", tags: {} };
    const value = { idempotencyKey: "d/text@1/c1", tool: "pay" };
    const intent = { key: "K:text@1/c1/pay", kind: "intent", task: "text@1", value } as const;
    await journal.create(start, [intent], "Forked");
    await journal.close();
    const shown = await documentOf((t) => runsShowCommand("d", { store, json }, t));
    expect(shown["inDoubt"]).to.deep.equal([{ key: "d/text@1/c1", tool: "pay", task: "text@1" }]);
    await rejectionOf(
      ValidationError,
      documentOf((t) => runsSettleCommand("d", "d/text@1/c1", { store, json }, t)),
    );
    await written((t) => runsSettleCommand("d", "d/text@1/c1", { store, result: "paid" }, t));
    const after = await documentOf((t) => runsShowCommand("d", { store, json, entries: true }, t));
    expect(after["inDoubt"]).to.deep.equal([]);
    const [entry] = after["entries"] as readonly KeptEntry[]; // as the journal gives them
    expect([entry?.kind, entry?.value]).to.deep.equal(["tool", { ok: true, output: "paid" }]);
  });

  it("delete runs by id or by a filter, and delete nothing if an id is unknown", async () => {
    for (const id of ["a", "b", "c"]) await execute(id, { tags: { person: id } });
    const deleted = (ids: readonly string[], o: object): Promise<unknown> =>
      documentOf((t) => runsDeleteCommand(ids, { store, json, ...o }, t));
    await rejectionOf(ValidationError, deleted([], {}));
    await rejectionOf(ValidationError, deleted(["a"], { status: "completed" }));
    await rejectionOf(ValidationError, deleted(["a", "z"], {}));
    expect(await deleted([], { tag: ["person=b"] })).to.deep.equal({ deleted: 1 });
    expect(await deleted(["a"], {})).to.deep.equal({ deleted: 1 });
    expect(await deleted([], { olderThan: "0s", status: "failed" })).to.deep.equal({ deleted: 0 });
    const { runs } = await documentOf((t) => runsListCommand({ store, json }, t));
    expect((runs as readonly unknown[]).length).to.equal(1);
  });

  it("list and delete runs that repeatedly end their process", async () => {
    await execute("a");
    const folder = new Store({ store }).access.url.slice("file:".length);
    const { signal } = new AbortController();
    const start = { runId: "deadly", ensemble: "desk", inputs: {}, inputsHash: "h", tags: {} };
    for (let n = 0; n < 5; n++) {
      await Journal.file(folder).claim({ start, owner: "dead", leaseMs: 60_000, signal });
      rmSync(`${folder}/deadly.jsonl.lock`); // as if its process had died
    }
    const { runs } = await documentOf((t) => runsListCommand({ store, json, poisoned: true }, t));
    expect((runs as readonly { readonly runId: string }[]).map(({ runId }) => runId)).to.deep.equal(
      ["deadly"],
    );
    const [, shown] = await written((t) => runsShowCommand("deadly", { store }, t));
    expect(shown).to.contain("4 in a row ended with their process");
    const o = { store, json, poisoned: true };
    expect(await documentOf((t) => runsDeleteCommand([], o, t))).to.deep.equal({ deleted: 1 });
  });

  it("show a run of a journal as a trace", async () => {
    await execute("a");
    const trace = await new Store({ store }).use(async (runs) => {
      const run = await runs.get("a");
      if (run === undefined) throw new Error("the run is not kept");
      return keptTrace(run, await runs.entries("a"));
    });
    expect(trace).to.deep.include({ runId: "a", exitReason: "COMPLETED", inputTokens: 30 });
    expect(
      trace.tasks.map(({ taskId, outcome, output, calls }) => [
        taskId,
        outcome,
        output,
        calls.map(({ inputTokens, tools }) => [inputTokens, tools.map((call) => call.tool)]),
      ]),
    ).to.deep.equal([
      ["facts", "ok", "facts", [[10, []]]],
      [
        "text",
        "ok",
        "draft",
        [
          [10, ["pay"]],
          [10, []],
        ],
      ],
    ]);
    expect(trace.tasks[1]?.calls[0]?.tools[0]).to.deep.include({
      arguments: '{"amount":3}',
      result: "paid",
      outcome: "SUCCESS",
    });
  });

  it("examine a store: how many runs it has, and why it can't be used", async () => {
    await execute("a");
    const found = await examineStore(new Store({ store }));
    expect(found).to.deep.equal({ store, runs: { total: 1, withoutProcess: 0 } });
    const away = await examineStore(new Store({ store: "postgres://ana:secret@127.0.0.1:1/x" }));
    expect(String(away.error)).to.include("127.0.0.1:1").and.not.include("secret");
    const file = await examineStore(new Store({ store: `file:${process.execPath}/runs` }));
    expect(file.error).to.include({ code: "AE_JOURNAL" });
  });
});

describe("the store of a command", () => {
  it("is taken from the option, else from the variable, else a folder of the project", () => {
    const url = (store?: string, variable?: string): string =>
      new Store({ store }, variable === undefined ? {} : { AGENTENSEMBLE_STORE: variable }).access
        .url;
    expect(url()).to.equal("file:./.agentensemble/runs");
    expect(url(undefined, "pglite:./x")).to.equal("pglite:./x");
    expect(url("file:/a/.agentensemble/", "pglite:./x")).to.equal("file:/a/.agentensemble/runs");
    expect(url("file:/a/.agentensemble/runs")).to.equal("file:/a/.agentensemble/runs");
    expect(url("file:./kept")).to.equal("file:./kept");
  });

  it("is shown without a password, and is repeated in commands if the option was given", () => {
    const named = new Store({ store: "postgres://ana:p%20w@db:5432/x?password=q" }, {});
    expect(named.shown).to.equal("postgres://ana:***@db:5432/x");
    expect(named.option).to.equal(" --store 'postgres://ana:***@db:5432/x'");
    expect(new Store({ store: "postgres://ana:p/w@db/x" }, {}).shown).to.equal("postgres:");
    expect(new Store({}, { AGENTENSEMBLE_STORE: "file:./x" }).option).to.equal("");
  });

  it("reads its keys from a variable: the first encrypts, all decrypt", () => {
    const { access } = new Store({}, { AGENTENSEMBLE_STORE_KEY: "a,b,c" });
    expect(access.encryptionKey).to.deep.equal({ current: "a", previous: ["b", "c"] });
  });
});

describe("ages and tags of the command line", () => {
  it("are read with their units", () => {
    expect(["90s", "1.5h", "7d", "2w"].map((age) => ageOf("--older-than", age))).to.deep.equal([
      90_000, 5_400_000, 604_800_000, 1_209_600_000,
    ]);
    expect(tagsOf(["a=b=c", "d="])).to.deep.equal({ a: "b=c", d: "" });
  });

  it("are refused without a unit and without a value", () => {
    expect(() => ageOf("--older-than", "7")).to.throw(ValidationError);
    expect(() => tagsOf(["person"])).to.throw(ValidationError);
  });
});
