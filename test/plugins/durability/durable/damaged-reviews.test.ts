import { Ensemble, Review, ReviewDecision } from "agentensemble";
import type { DurableOptions, DurablePlugin } from "agentensemble/durability";
import { Journal, durable } from "agentensemble/durability";
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { warningsOf } from "../../../support/warnings.js";
import { until } from "../../../support/time.js";
import { journalWith, keptEnsemble, modelOf, task } from "./kept-team.js";

const tasks = [task("one", { review: Review.of({ timeoutMs: 0 }) })];
const name = "team";

/** Suspends three runs: `decided` with an answered review, `open` without an answer, `damaged` with a review file that is not JSON. Returns the path of that file. */
async function suspendThree(folder: string, o: DurableOptions): Promise<string> {
  const plugin = durable(o);
  const { model } = modelOf();
  await using team = new Ensemble({ name, model, tasks, on: () => undefined, plugins: [plugin] });
  for (const runId of ["decided", "open", "damaged"])
    await team.run({}, { runId, throwOnError: false });
  const { reviews } = plugin.runs;
  const decided = (await reviews.pending()).find(({ runId }) => runId === "decided");
  await reviews.resolve(decided?.reviewId ?? "", ReviewDecision.continue());
  const paths = readdirSync(join(folder, "reviews")).map((file) => join(folder, "reviews", file));
  const path = paths.find((one) => readFileSync(one, "utf8").includes('"runId":"damaged"')) ?? "";
  writeFileSync(path, "garbage");
  return path;
}

type Team = AsyncDisposable & { readonly plugin: DurablePlugin };

function teamWith(o: DurableOptions): Team {
  const plugin = durable({ ...o, suspendAfterMs: 0 });
  const { model } = modelOf();
  const team = new Ensemble({ name, model, tasks, on: () => undefined, plugins: [plugin] });
  return { plugin, [Symbol.asyncDispose]: () => team.dispose() };
}

describe("runs whose reviews are damaged", () => {
  const encryptionKey = randomBytes(32).toString("base64");
  for (const [title, key] of Object.entries({
    "": {},
    " where they are sealed": { encryptionKey },
  }))
    it(`are skipped by resumeAll, which names them and continues the others${title}`, async () => {
      const folder = temporaryFolder();
      const o = { url: `file:${folder}`, suspendAfterMs: 0, ...key };
      const path = await suspendThree(folder, o);
      await using team = teamWith(o);
      const resumed = await team.plugin.runs.resumeAll();
      const [damaged, decided, ...others] = resumed.toSorted((a, b) =>
        a.runId < b.runId ? -1 : 1,
      );
      expect(others).to.deep.equal([]);
      expect([decided?.runId, decided?.output?.raw]).to.deep.equal(["decided", "done one"]);
      expect(damaged?.runId).to.equal("damaged");
      expect(damaged?.error).to.include({ code: "AE_JOURNAL" });
      expect(damaged?.error?.message).to.include(path);
      expect(await team.plugin.runs.get("damaged")).to.include({ status: "waiting" });
    });

  it("do not prevent answers to other reviews, also if they are sealed", async () => {
    const folder = temporaryFolder();
    const o = { url: `file:${folder}`, suspendAfterMs: 0, encryptionKey };
    await suspendThree(folder, o);
    await using team = teamWith(o);
    const { reviews } = team.plugin.runs;
    const [open, ...others] = await reviews.pending();
    expect([open?.runId, others.length]).to.deep.equal(["open", 0]);
    const { outcome } = await reviews.resolve(open?.reviewId ?? "", ReviewDecision.continue());
    expect(outcome).to.equal("resolved");
  });

  it("are named by a warning of resumeOnStart, which continues the others", async () => {
    const folder = temporaryFolder();
    const o = { url: `file:${folder}`, suspendAfterMs: 0 };
    const path = await suspendThree(folder, o);
    const warnings = await warningsOf(async () => {
      await using team = teamWith({ ...o, resumeOnStart: true });
      const { runs } = team.plugin;
      await until(
        async () => (await runs.get("decided"))?.status === "completed",
        undefined,
        5_000,
      );
    });
    expect(warnings.length).to.equal(2); // of the inbox, and of the run
    for (const warning of warnings) expect(warning).to.include(path);
    expect(warnings[1]).to.include("'damaged'");
  });

  it("are all skipped if the store cannot read the reviews of one run", async () => {
    const kept = Journal.inMemory();
    const { model } = modelOf();
    await using team = keptEnsemble({ name, model, tasks }, { journal: kept, suspendAfterMs: 0 });
    await team.run({}, { runId: "r", throwOnError: false });
    const { reviews } = kept;
    const pending = (): Promise<never> => Promise.reject(new Error("no reviews today"));
    const journal = journalWith(kept, {
      reviews: new Proxy(reviews, {
        get: (target, field) => (field === "pending" ? pending : Reflect.get(target, field, target)) as unknown, // prettier-ignore
      }),
    });
    await using other = teamWith({ journal });
    const [resumed, ...others] = await other.plugin.runs.resumeAll();
    expect([resumed?.runId, resumed?.error?.message]).to.deep.equal(["r", "no reviews today"]);
    expect(others).to.deep.equal([]);
  });
});
