import { PromptTemplateError, ValidationError } from "agentensemble";
import { expect } from "chai";
import type { RunAcceptedBody } from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import {
  explainedInputs,
  RunStarts,
  type RequestedRun,
} from "../../../../src/plugins/dashboard/control/run-starts.js";
import type { Runnable } from "../../../../src/plugins/dashboard/control/registrations.js";
import { HttpRefusal } from "../../../../src/plugins/shared/http/http-refusal.js";

/** An ensemble whose runs the test ends. */
class HeldEnsemble implements Runnable {
  readonly ids: (string | undefined)[] = [];
  disposed = 0;
  explains: () => unknown = () => ({ tasks: [{}], workflow: "SEQUENTIAL" });
  begins: () => Promise<unknown> = () => new Promise((resolve) => (this.end = () => resolve(1)));
  end = (): void => undefined;

  run(_inputs: never, o?: { readonly runId?: string | undefined }): Promise<unknown> {
    this.ids.push(o?.runId);
    return this.begins();
  }

  explain(): ReturnType<Runnable["explain"]> {
    return Promise.resolve().then(() => this.explains()) as ReturnType<Runnable["explain"]>; // the part that is read
  }

  toDag(): never {
    throw new Error("not asked for");
  }

  dispose(): Promise<void> {
    this.disposed++;
    return Promise.resolve();
  }
}

function starts(most = 2): RunStarts {
  let count = 0;
  return new RunStarts({ next: () => `run-${++count}` }, most);
}

const asked = (runnable: Runnable, isTemporary = false): RequestedRun => ({
  ensemble: "team",
  inputs: {},
  options: {},
  make: () => Promise.resolve(runnable),
  isTemporary,
});

/** The code of a refused operation. */
async function refusalOf(work: () => unknown): Promise<HttpRefusal> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HttpRefusal) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the runs that users start", () => {
  it("have an id before they begin, and the name of their ensemble until they are forgotten", async () => {
    const runs = starts();
    const held = new HeldEnsemble();
    const { runId, tasks } = await runs.start(asked(held));
    expect([runId, tasks, held.ids]).to.deep.equal(["run-1", 1, ["run-1"]]);
    expect(runs.ensembleOf(runId)).to.equal("team");
    runs.forget(runId);
    expect(runs.ensembleOf(runId)).to.equal(undefined);
    held.end();
  });

  it("are limited in number; a run that ends or fails frees its slot", async () => {
    const runs = starts(1);
    const held = new HeldEnsemble();
    await runs.start(asked(held));
    const refusal = await refusalOf(() => runs.start(asked(held)));
    expect([refusal.status, refusal.code]).to.deep.equal([429, "CONCURRENCY_LIMIT"]);
    expect(refusal.extra.headers).to.deep.equal({ "Retry-After": "5" });
    held.end();
    await turn();
    held.begins = () => Promise.reject(new Error("it fails"));
    await runs.start(asked(held));
    await turn();
    held.begins = () => {
      throw new Error("it throws at once");
    };
    await runs.start(asked(held));
    await turn();
    await runs.start(asked(held));
  });

  it("free their slot and dispose of their ensemble if they can't be created or explained", async () => {
    const runs = starts(1);
    const broken = asked(new HeldEnsemble());
    const made = { ...broken, make: () => Promise.reject(new Error("create() failed")) };
    await runs.start(made).then(
      () => expect.fail("it was started"),
      (error: unknown) => expect(String(error)).to.include("create() failed"),
    );
    const held = new HeldEnsemble();
    held.explains = () => {
      throw new ValidationError("No model");
    };
    expect((await refusalOf(() => runs.start(asked(held, true)))).code).to.equal("NOT_RUNNABLE");
    expect(held.disposed).to.equal(1);
    expect((await refusalOf(() => runs.start(asked(held)))).status).to.equal(422);
    expect(held.disposed, "an ensemble that was registered is not").to.equal(1);
    held.explains = () => ({ tasks: [], workflow: "SEQUENTIAL" });
    await runs.start(asked(held, true));
    held.end();
    await turn();
    expect(held.disposed, "behind its run").to.equal(2);
  });
});

describe("a key of a start", () => {
  const accepted = (runId: string): RunAcceptedBody => ({
    runId,
    status: "ACCEPTED",
    ensemble: "team",
  });
  const key = (body: unknown, name = "k", user = "ada"): Parameters<RunStarts["keyed"]>[0] => ({
    user,
    key: name,
    body,
  });

  it("starts one run for each user and text", async () => {
    const runs = starts();
    let count = 0;
    const start = (): Promise<RunAcceptedBody> => Promise.resolve(accepted(`r${++count}`));
    expect((await runs.keyed(key({ a: 1 }), start)).runId).to.equal("r1");
    expect((await runs.keyed(key({ a: 1 }), start)).runId).to.equal("r1");
    expect((await runs.keyed(key({ a: 1 }, "k", "bob"), start)).runId).to.equal("r2");
    expect((await runs.keyed(undefined, start)).runId).to.equal("r3");
    const refusal = await refusalOf(() => runs.keyed(key({ a: 2 }), start));
    expect([refusal.status, refusal.code]).to.deep.equal([409, "IDEMPOTENCY_CONFLICT"]);
  });

  it("tries again if the first start was refused", async () => {
    const runs = starts();
    const refuse = (): Promise<never> => Promise.reject(new HttpRefusal(429, "X", "later"));
    expect((await refusalOf(() => runs.keyed(key(1), refuse))).status).to.equal(429);
    await turn();
    expect((await runs.keyed(key(1), () => Promise.resolve(accepted("r")))).runId).to.equal("r");
  });

  it("is forgotten after 10,000 later keys", async () => {
    const runs = starts();
    let count = 0;
    const start = (): Promise<RunAcceptedBody> => Promise.resolve(accepted(`r${++count}`));
    await runs.keyed(key(1, "first"), start);
    for (let i = 0; i < 10_000; i++) await runs.keyed(key(1, `k${i}`), start);
    expect((await runs.keyed(key(1, "first"), start)).runId).to.equal("r10002");
  });
});

describe("the inputs of a start", () => {
  const problem = async (error: Error): Promise<HttpRefusal> => {
    const held = new HeldEnsemble();
    held.explains = () => {
      throw error;
    };
    return refusalOf(() => explainedInputs(held, {}));
  };

  it("are refused field by field", async () => {
    const missing = await problem(new PromptTemplateError(["topic"], "Write about {topic}"));
    expect(missing.extra.fields).to.deep.equal({ fields: { topic: "is missing" } });
    const message =
      "The inputs do not fit the ensemble's inputType: count: must be a number; it is odd";
    const typed = await problem(new ValidationError(message, { about: "inputs" }));
    expect([typed.status, typed.code]).to.deep.equal([422, "INPUTS_INVALID"]);
    expect(typed.extra.fields).to.deep.equal({
      fields: { count: "must be a number", "": "it is odd" },
    });
  });

  it("are not listed as the cause of an error in the program", async () => {
    const fault = await problem(new TypeError("a bug")).catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(TypeError);
  });
});
