import { expect } from "chai";
import { z } from "zod";
import type { EnsembleOutput, Inputs } from "agentensemble";
import type { ProgramFunction } from "agentensemble/network";
import {
  Agent,
  Ensemble,
  MapReduceEnsemble,
  RunTimeoutError,
  Task,
  ValidationError,
} from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { defineProgram, NetworkBackend } from "agentensemble/network";
import { ScriptedModel } from "agentensemble/testing";
import { rejectionOf } from "../support/rejection.js";
import { ask, handlerTask, requests } from "../service/support.js";

type Options = Partial<Parameters<typeof defineProgram>[0]>;

/** The ensemble of a program's only function. */
function ensembleOf(make: ProgramFunction, more: Options = {}): Ensemble {
  const { ensembles } = defineProgram({ name: "press", ensembles: { digest: make }, ...more });
  return ensembles["digest"] as Ensemble; // functions return ensembles
}

/** One task for each of the files in the inputs, and one that joins their outputs. */
function digestOf({ files = [] }: Inputs, read = (file: string): string => `(${file})`): Ensemble {
  const readers = (files as string[]).map(
    (file) => new Task({ name: file, description: `Read ${file}`, handler: () => read(file) }),
  );
  const joined = new Task({
    description: "Join them",
    context: readers,
    handler: ({ getOutput }) => readers.map((one) => getOutput(one).raw).join(""),
  });
  return new Ensemble({ tasks: [...readers, joined] });
}

describe("a function in a program", () => {
  it("creates the tasks of each run from the run's inputs", async () => {
    await using digest = ensembleOf((inputs) => digestOf(inputs));
    expect(digest.name).to.equal("digest");
    expect((await digest.run({ files: ["a", "b"] })).raw).to.equal("(a)(b)");
    expect((await digest.stream({ files: ["c"] }).output).raw).to.equal("(c)");
    const { tasks } = await digest.explain({ files: ["a", "b"] });
    expect(tasks).to.have.length(3);
  });

  it("may create a map-reduce, and may be asynchronous", async () => {
    const agent = new Agent({ role: "Reader", goal: "Read" });
    const model = new ScriptedModel([{ text: "short" }], { onExhausted: "repeat-last" });
    await using digest = ensembleOf(
      async ({ files }) =>
        new MapReduceEnsemble({
          model,
          items: files as string[],
          mapTask: (file) => new Task({ description: `Read ${file}`, agent }),
          reduceTask: (tasks) => new Task({ description: "Join", agent, context: tasks }),
        }),
    );
    const output = await digest.run({ files: ["a", "b", "c"] });
    expect(output.raw).to.equal("short");
    expect(model.requests).to.have.length(4);
  });

  it("is executed for requests of a service", async () => {
    const backend = NetworkBackend.inMemory();
    await using digest = ensembleOf((inputs) => digestOf(inputs));
    await digest.start({ backend, shareRun: true, signals: false });
    const request = requests({ to: "digest", type: "RUN" });
    const { status, result } = await ask(backend, request("run", { inputs: { files: ["x"] } }));
    expect([status, result]).to.deep.equal(["COMPLETED", "(x)"]);
    const wrong = await ask(backend, request("run", { inputs: { files: 1 } }));
    expect(wrong.status).to.equal("FAILED");
  });

  it("continues a stored run, without executing finished tasks again", async () => {
    const seen: string[] = [];
    let isBroken = true;
    const read = (file: string): string => {
      seen.push(file);
      if (file === "b" && isBroken) throw new Error("no paper");
      return file;
    };
    const plugins = [durable({ journal: Journal.inMemory() })];
    await using digest = ensembleOf((inputs) => digestOf(inputs, read), { plugins });
    const failed = await digest
      .run({ files: ["a", "b"] }, { runId: "november" })
      .catch((error: unknown) => error);
    expect(failed).to.be.an("error");
    isBroken = false;
    const { raw } = await digest.resume("november");
    expect(raw).to.equal("ab");
    expect(seen).to.deep.equal(["a", "b", "b"]);
  });

  it("passes on the input type and the inputs of the ensemble that it creates", async () => {
    const inputType = z.object({ name: z.string().min(2), greeting: z.string() });
    const task = handlerTask(
      ({ inputs }) => `${String(inputs["greeting"])} ${String(inputs["name"])}`,
    );
    await using digest = ensembleOf(
      () => new Ensemble({ tasks: [task], inputType, inputs: { greeting: "Hello" } }),
    );
    expect((await digest.run({ name: "Ada" })).raw).to.equal("Hello Ada");
    const error = await rejectionOf(ValidationError, digest.run({ name: "A" }));
    expect(error.about).to.equal("inputs");
    expect((await digest.explain({ name: "Ada" })).inputs).to.have.nested.property(
      "properties.name",
    );
  });

  it("ends the run with its error, and with the time limit of the run", async () => {
    await using failing = ensembleOf(() => {
      throw new RangeError("no such month");
    });
    expect((await rejectionOf(RangeError, failing.run())).message).to.equal("no such month");
    await using hanging = ensembleOf(() => new Promise(() => undefined));
    await rejectionOf(RunTimeoutError, hanging.run({}, { timeoutMs: 5 }));
  });

  it("is refused if it creates no ensemble, or an ensemble with options of a separate kernel", async () => {
    const tasks = [handlerTask(() => "done")];
    const cases: readonly (readonly [unknown, string])[] = [
      [undefined, "must return an Ensemble, got: undefined"],
      [{ start: () => undefined }, "must return an Ensemble"],
      [new Ensemble({ name: "other", tasks }), "has the name"],
      [new Ensemble({ tasks, plugins: [] }), "must not have the option 'plugins'"],
      [new Ensemble({ tasks, spread: { tasks: () => true } }), "must not have the option 'spread'"],
    ];
    for (const [made, message] of cases) {
      await using digest = ensembleOf(() => made as Ensemble);
      const error: ValidationError = await rejectionOf(ValidationError, digest.run());
      expect(error.message).to.contain(message);
    }
    await using named = ensembleOf(() => new Ensemble({ name: "digest", tasks }));
    const { raw }: EnsembleOutput = await named.run();
    expect(raw).to.equal("done");
  });

  it("is required for a program with plugins", () => {
    const fixed = new Ensemble({});
    expect(() => defineProgram({ name: "press", ensembles: { fixed }, plugins: [] })).to.throw(
      ValidationError,
      "contains no function",
    );
    expect(() => ensembleOf(() => fixed, { plugins: {} as never })).to.throw(ValidationError);
  });
});
