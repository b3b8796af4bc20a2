import { Review, ReviewTimeoutError, type ReviewHandler } from "agentensemble";
import { Journal } from "agentensemble/durability";
import { expect } from "chai";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { failure, keptEnsemble, modelOf, task } from "./kept-team.js";

const TIMEOUT_MS = 3_600_000;

describe("the time limit of a review that a handler of the program answers", () => {
  it("counts from the first request, in any execution", async () => {
    const journal = Journal.file(temporaryFolder());
    const stop = new AbortController();
    let asked = 0;
    const reviewHandler: ReviewHandler = ({ signal }) => {
      asked++;
      stop.abort();
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("too late"))),
      );
    };
    const tasks = [
      task("one", { beforeReview: Review.of({ timeoutMs: TIMEOUT_MS, onTimeout: "FAIL" }) }),
    ];
    await using first = keptEnsemble({ model: modelOf().model, tasks, reviewHandler }, { journal });
    await failure(first.run({}, { runId: "r", signal: stop.signal }));
    const [begun, ...others] = await journal.entries("r");
    expect(others).to.deep.equal([]);
    expect(begun).to.include({ kind: "change" });
    if (begun === undefined) return;
    const { key, kind, task: place } = begun;
    const hourAgo = new Date(Date.now() - TIMEOUT_MS - 1).toISOString();
    await journal.amend("r", { key, kind, task: place, value: { at: hourAgo } });
    await using second = keptEnsemble(
      { model: modelOf().model, tasks, reviewHandler },
      { journal },
    );
    const error = await failure(second.run({}, { runId: "r" }));
    expect(ReviewTimeoutError.find(error)).to.not.equal(undefined);
    expect(asked).to.equal(1);
    await journal.close();
  });
});
