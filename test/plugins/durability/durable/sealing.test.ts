import type { EnsembleOptions } from "agentensemble";
import { Ensemble, Review, ReviewDecision, Tokens, definePlugin } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { keptEnsemble, task } from "./kept-team.js";

const KEY = Buffer.alloc(32, 7).toString("base64");
const OTHER = Buffer.alloc(32, 8).toString("base64");
const SECRET = "sk-test-0123456789abcdef0123456789";

describe("a run that is journaled with a key", () => {
  const play = async (
    journal: Journal,
    o: { readonly encryptionKey?: string; readonly fails?: boolean; readonly plugins?: EnsembleOptions["plugins"] }, // prettier-ignore
  ) => {
    let calls = 0;
    const warnings: string[] = [];
    const model = new ScriptedModel(({ messages }) => {
      if (o.fails === true && JSON.stringify(messages).includes("Do two")) throw new Error("no");
      calls++;
      return `The key is ${SECRET}`;
    });
    const { encryptionKey, plugins = [] } = o;
    await using ensemble = keptEnsemble(
      {
        model,
        tasks: [task("one"), task("two")],
        on: (e) => e.type === "run_warning" && warnings.push(e.message),
        plugins,
      },
      { journal, encryptionKey },
    );
    const output = await ensemble.run({ who: "Ann" }, { runId: "r", throwOnError: false });
    return { output, calls, warnings };
  };

  it("shows no text to a reader of the journal, and is unchanged when it is resumed", async () => {
    const journal = Journal.inMemory();
    await play(journal, { encryptionKey: KEY, fails: true });
    const kept = JSON.stringify([await journal.get("r"), await journal.entries("r")]);
    for (const text of [SECRET, "The key is", "Ann"]) expect(kept).not.to.include(text);
    const { output, calls, warnings } = await play(journal, { encryptionKey: KEY });
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal([1, 2].map(() => `The key is ${SECRET}`)); // prettier-ignore
    expect([calls, warnings]).to.deep.equal([1, []]);
  });

  it("is refused with another key, or without a key", async () => {
    const journal = Journal.inMemory();
    await play(journal, { encryptionKey: KEY });
    const { output, calls } = await play(journal, { encryptionKey: OTHER });
    expect([output.error?.code, calls]).to.deep.equal(["AE_JOURNAL", 0]);
    expect((await play(journal, {})).output.error).not.to.equal(undefined);
  });

  it("is sealed by the bound codec", async () => {
    const journal = Journal.inMemory();
    const used: string[] = [];
    const codec = definePlugin({
      name: "codec",
      bind(bind) {
        bind.single(Tokens.JournalCodec).toConstantValue({
          seal: (text, runId) => (used.push(runId), Buffer.from(text).toString("hex")),
          open: (text) => Buffer.from(text, "hex").toString(),
        });
      },
    });
    const { output } = await play(journal, { plugins: [codec] });
    expect(output.error?.message).to.equal(undefined);
    expect(new Set(used)).to.deep.equal(new Set(["r"]));
    expect(JSON.stringify(await journal.entries("r"))).not.to.include("The key is");
    expect((await play(journal, { plugins: [codec] })).calls).to.equal(0);
  });

  it("requires a key of 32 bytes", () => {
    expect(() => durable({ encryptionKey: "short" })).to.throw().with.property("code", "AE_VALIDATION"); // prettier-ignore
  });

  it("is resumed although a review of another key waits in the same journal", async () => {
    const journal = Journal.inMemory();
    const left = async (runId: string, encryptionKey: string): Promise<void> => {
      const model = new ScriptedModel(() => "done");
      const tasks = [task("one", { review: Review.of({ timeoutMs: 0 }) })];
      await using ensemble = keptEnsemble({ name: "t", model, tasks }, { journal, encryptionKey, suspendAfterMs: 0 }); // prettier-ignore
      await ensemble.run({}, { runId, throwOnError: false });
    };
    await left("theirs", OTHER);
    await left("mine", KEY);
    const plugin = durable({ journal, encryptionKey: KEY, suspendAfterMs: 0 });
    await using _ensemble = new Ensemble({
      name: "t",
      model: new ScriptedModel(() => "again"),
      tasks: [task("one", { review: Review.of({ timeoutMs: 0 }) })],
      plugins: [plugin],
    });
    const [review, ...others] = await plugin.runs.reviews.pending();
    expect([review?.runId, others]).to.deep.equal(["mine", []]);
    await plugin.runs.reviews.resolve(review?.reviewId ?? "", ReviewDecision.continue());
    const resumed = await plugin.runs.resumeAll();
    const ends = resumed.map(({ runId, output, error }) => [runId, output?.raw, (error as { code?: string } | undefined)?.code]); // prettier-ignore
    expect(ends.sort()).to.deep.equal([
      ["mine", "done", undefined],
      ["theirs", undefined, "AE_JOURNAL"],
    ]);
    expect((await journal.get("theirs"))?.status).to.equal("waiting");
  });
});
