import type { EnsembleEvent, EventType, ObserveOptions } from "agentensemble";
import { Agent, Ensemble, Kernel, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, failure, runToEnd, tapping, typesOf } from "../support/kernel-fixtures.js";

const agent = new Agent({ role: "r", goal: "g" });

/** An ensemble with one observer of its kernel, and the events that the observer receives. */
function observed(
  o: ObserveOptions,
  options: Partial<ConstructorParameters<typeof Ensemble>[0]>,
): { readonly ensemble: Ensemble; readonly seen: EnsembleEvent[]; readonly wanted: EventType[] } {
  const seen: EnsembleEvent[] = [];
  const wanted: EventType[] = [];
  const types: readonly EventType[] = ["task_started", "task_completed", "task_failed", "token"];
  const plugin = tapping("observer", ({ hooks, events }) => {
    events.on((event) => void seen.push(event), o);
    hooks.beforeTask.tap(({ run }) => void wanted.push(...types.filter((t) => run.listens(t))));
  });
  return {
    ensemble: new Ensemble({ tasks: [echo("a")], ...options, plugins: [plugin] }),
    seen,
    wanted,
  };
}

describe("an observer of a kernel", () => {
  it("with `only` receives events of those types, and no other type is created for it", async () => {
    const { ensemble, seen, wanted } = observed({ only: ["task_completed", "token"] }, {});
    await ensemble.run();
    expect(typesOf(seen)).to.deep.equal(["task_completed"]);
    expect(seen[0]).to.include({ seq: 0 });
    expect(wanted).to.deep.equal(["task_completed", "token"]);
    await ensemble.dispose();
  });

  it("with `only` is independent of the subscriptions of others", async () => {
    const { ensemble, seen } = observed({ only: ["task_started"] }, { on: () => undefined });
    await ensemble.run();
    expect(typesOf(seen)).to.deep.equal(["task_started"]);
    await ensemble.dispose();
  });

  it("receives nothing after the end of its subscription, also of a requested type", async () => {
    const seen: string[] = [];
    let off: () => void = () => undefined;
    const kernel = new Kernel({
      plugins: [
        tapping("watch", ({ events }) => {
          off = events.on(({ type }) => void seen.push(type), { only: ["task_started"] });
        }),
      ],
    });
    const ensemble = new Ensemble({ tasks: [echo("a")], kernel });
    await ensemble.run();
    off();
    await ensemble.run();
    expect(seen).to.deep.equal(["task_started"]);
    await kernel.dispose();
  });

  it("that subscribes during a run receives the types that were requested before", async () => {
    const seen: string[] = [];
    const plugin = tapping("late", ({ hooks, events }) => {
      hooks.beforeTask.tap(({ run }) => {
        if (!run.listens("task_completed"))
          events.on(({ type }) => void seen.push(type), { only: ["task_completed"] });
      });
    });
    await runToEnd({ tasks: [echo("a"), echo("b")], plugins: [plugin] });
    expect(seen).to.deep.equal([]);
    const quiet = new Ensemble({ tasks: [echo("a"), echo("b")], plugins: [plugin] });
    await quiet.run();
    expect(seen).to.deep.equal(["task_completed", "task_completed"]);
    await quiet.dispose();
  });

  it("decides with `tokens` before each model call whether the call is streamed", async () => {
    const answers = [false, true, false];
    const model = new ScriptedModel(["one", { chunks: ["t", "wo"] }, "three"]);
    const { ensemble, seen } = observed(
      { only: ["token"], tokens: () => answers.shift() === true },
      { model, tasks: ["a", "b", "c"].map((text) => new Task({ description: text, agent })) },
    );
    await ensemble.run();
    expect(seen.map((e) => (e.type === "token" ? [e.taskId, e.token] : e.type))).to.deep.equal([
      ["task-2", "t"],
      ["task-2", "wo"],
    ]);
    await ensemble.dispose();
  });

  it("without `tokens` receives tokens only of calls that are streamed for another reason", async () => {
    const tasks = [new Task({ description: "a", agent })];
    const script = (): ScriptedModel => new ScriptedModel([{ chunks: ["o", "ne"] }]);
    const alone = observed({}, { model: script(), tasks });
    await alone.ensemble.run();
    expect(typesOf(alone.seen)).to.not.include("token");
    const beside = observed({}, { model: script(), tasks, onToken: () => undefined });
    await beside.ensemble.run();
    expect(typesOf(beside.seen).filter((type) => type === "token")).to.have.length(2);
    await Promise.all([alone.ensemble.dispose(), beside.ensemble.dispose()]);
  });

  it("does not stream the calls of an ensemble with `streaming: false`", async () => {
    const model = new ScriptedModel([{ chunks: ["o", "ne"] }]);
    const tasks = [new Task({ description: "a", agent })];
    const { ensemble, seen } = observed({ tokens: () => true }, { model, tasks, streaming: false });
    await ensemble.run();
    expect(typesOf(seen)).to.not.include("token");
    await ensemble.dispose();
  });

  it("whose `tokens` throws is reported once, and does not request streaming", async () => {
    const model = new ScriptedModel(["one", "two"]);
    const tasks = ["a", "b"].map((text) => new Task({ description: text, agent }));
    const broken = (): never => {
      throw new Error("no idea");
    };
    const { ensemble, seen } = observed({ tokens: broken }, { model, tasks });
    await ensemble.run();
    const warnings = seen.flatMap((e) => (e.type === "run_warning" ? [e.message] : []));
    expect(warnings).to.deep.equal(["An event listener threw and is ignored: no idea"]);
    expect(typesOf(seen)).to.not.include("token");
    await ensemble.dispose();
  });

  it("can't change the output of a task in an event that it receives", async () => {
    const { output, events } = await runToEnd({
      tasks: [echo("a")],
      onTaskComplete: ({ taskOutput }) => void Object.assign(taskOutput, { raw: "changed" }),
    });
    expect(output.raw).to.equal("a");
    expect(typesOf(events)).to.include("run_warning");
  });

  it("may subscribe again while it receives an event, and receives it once", async () => {
    const seen: EnsembleEvent[] = [];
    const plugin = tapping("again", ({ events }) => {
      let stop = (): void => undefined;
      const again = (event: EnsembleEvent): void => {
        if (seen.push(event) > 50) return;
        stop();
        stop = events.on(again);
      };
      stop = events.on(again);
    });
    const { events } = await runToEnd({ tasks: [echo("a")], plugins: [plugin] });
    expect(seen).to.deep.equal(events);
  });

  it("is refused if it is not a function", async () => {
    const plugin = tapping("none", ({ events }) => void events.on(undefined as never));
    const error = await failure(new Ensemble({ tasks: [echo("a")], plugins: [plugin] }).run());
    expect(error.message).to.include("events.on's first argument must be a function");
  });

  it("is refused with options that are unknown or have no effect", async () => {
    const refused: readonly (readonly [ObserveOptions, string])[] = [
      [{ onyl: [] } as ObserveOptions, "Did you mean 'only'?"],
      [{ only: "token" } as never, "events.on only must be an array"],
      [{ only: ["token", "task_complete"] } as never, "Did you mean 'task_completed'?"],
      [{ only: ["toString"] } as never, "Unknown type 'toString' in events.on only"],
      [{ only: [undefined] } as never, "Unknown type 'undefined' in events.on only"],
      [{ tokens: true } as never, "events.on tokens must be a function"],
      [{ only: ["task_started"], tokens: () => true }, 'add "token" to only'],
    ];
    for (const [o, message] of refused) {
      const { ensemble } = observed(o, {});
      expect((await failure(ensemble.run())).message).to.include(message);
    }
  });
});
