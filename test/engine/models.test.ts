import { inspect } from "node:util";
import type { ChatModel, EnsembleOptions, Plugin, RunOptions } from "agentensemble";
import {
  Agent,
  Ensemble,
  Kernel,
  Task,
  Tokens,
  ValidationError,
  definePlugin,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, failure } from "../support/kernel-fixtures.js";

const saying = (text: string): ScriptedModel =>
  new ScriptedModel([text], { onExhausted: "repeat-last" });

/** The places of a model, nearest first. */
const PLACES = ["run", "agent", "task", "ensemble", "container"] as const;
type Place = (typeof PLACES)[number];

function arranged(places: readonly Place[]): {
  readonly options: EnsembleOptions;
  readonly runOptions: RunOptions;
} {
  const modelAt = (place: Place): ChatModel | undefined =>
    places.includes(place) ? saying(place) : undefined;
  const kernel = new Kernel();
  const [own, shared] = [modelAt("run"), modelAt("container")];
  if (shared !== undefined) kernel.container.bind(Tokens.ChatModel).toConstantValue(shared);
  const task = new Task({
    description: "Say",
    agent: new Agent({ role: "r", goal: "g", model: modelAt("agent") }),
    model: modelAt("task"),
  });
  return {
    options: { tasks: [task], model: modelAt("ensemble"), kernel },
    runOptions:
      own === undefined
        ? {}
        : { bindings: (bind) => void bind.single(Tokens.ChatModel).toConstantValue(own) },
  };
}

/** A provider whose models return their own names. */
function provider(name: string, made: string[] = []): Plugin {
  return definePlugin({
    name: `provider-${name}`,
    bind: (bind) =>
      void bind.many(Tokens.ChatModelProvider).toConstantValue({
        name,
        create: (modelId) => (made.push(modelId), saying(`${name} ${modelId}`)),
      }),
  });
}

describe("the model of a task", () => {
  PLACES.forEach((place, index) => {
    it(`is that of the ${place} when ${index === 0 ? "it has one" : `neither ${PLACES.slice(0, index).join(" nor ")} has one`}`, async () => {
      const { options, runOptions } = arranged(PLACES.slice(index));
      expect((await new Ensemble(options).run({}, runOptions)).raw).to.equal(place);
    });
  });

  it("is required before any cost arises", async () => {
    const model = saying("never");
    const tasks = [new Task({ description: "first", model }), new Task({ description: "second" })];
    const error = await failure(new Ensemble({ tasks }).run());
    expect(error).to.have.property("code", "AE_VALIDATION");
    expect(error.message).to.equal(
      "Task 'second' has no LLM available. Set `model` on the ensemble, the task or its agent, or give the task a `handler`.",
    );
    expect(model.requests).to.deep.equal([]);
  });

  it("is not needed for a handler", async () => {
    expect((await Ensemble.run(echo("x"))).raw).to.equal("x");
  });
});

describe("a model's name", () => {
  it("is resolved by its provider, once for all runs of a kernel", async () => {
    const made: string[] = [];
    const ensemble = new Ensemble({
      model: "house:small:v2",
      tasks: [Task.of("Say")],
      plugins: [provider("house", made)],
    });
    expect((await ensemble.run()).raw).to.equal("house small:v2");
    await ensemble.run();
    expect(made).to.deep.equal(["small:v2"]);
    await ensemble.dispose();
  });

  it("of an unknown provider lists the known providers and suggests one", async () => {
    const error = await failure(
      new Ensemble({
        model: "hause:small",
        tasks: [Task.of("Say")],
        plugins: [provider("house")],
      }).run(),
    );
    expect(error).to.have.property("code", "AE_VALIDATION");
    expect(error.message)
      .to.include("'hause'")
      .and.include("openai")
      .and.include("Did you mean 'house'");
  });

  it("is resolved by the provider registered last if two share a name", async () => {
    const first = definePlugin({ ...provider("house"), name: "first" });
    const second = definePlugin({
      name: "second",
      bind: (bind) =>
        void bind
          .many(Tokens.ChatModelProvider)
          .toConstantValue({ name: "house", create: () => saying("the second") }),
    });
    expect(
      (
        await new Ensemble({
          model: "house:x",
          tasks: [Task.of("Say")],
          plugins: [first, second],
        }).run()
      ).raw,
    ).to.equal("the second");
  });

  it("is resolved by a run's own provider for this run only", async () => {
    const ensemble = new Ensemble({
      model: "house:x",
      tasks: [Task.of("Say")],
      plugins: [provider("house")],
    });
    const own = await ensemble.run(
      {},
      {
        bindings: (bind) =>
          void bind
            .many(Tokens.ChatModelProvider)
            .toConstantValue({ name: "house", create: () => saying("my own") }),
      },
    );
    expect([own.raw, (await ensemble.run()).raw]).to.deep.equal(["my own", "house x"]);
    await ensemble.dispose();
  });

  it("must be valid when an object with it is constructed", () => {
    for (const model of ["gpt-5", "openai:", ":x", "", "open ai:x", 5, {}, null]) {
      expect(
        () => new Ensemble({ tasks: [echo("x")], model: model as string }),
        inspect(model),
      ).to.throw("Ensemble model must be a ChatModel or a name like");
      expect(() => new Agent({ role: "r", goal: "g", model: model as string })).to.throw(
        "Agent model must be",
      );
      expect(() => new Task({ description: "d", model: model as string })).to.throw(
        "Task model must be",
      );
    }
  });

  it("in the form of another framework is refused with a hint", () => {
    const ofTheAiSdk = { specificationVersion: "v4", doGenerate: () => undefined };
    for (const [model, hint] of [
      ["openai/gpt-5-mini", 'Write "openai:gpt-5-mini".'],
      ["gpt-5-mini", 'Write "openai:gpt-5-mini".'],
      ["claude-sonnet-5", 'Write "anthropic:claude-sonnet-5".'],
      ["swift", undefined],
      [
        ofTheAiSdk,
        "This is a model of the AI SDK: pass aiSdk(model), of agentensemble/providers/ai-sdk.",
      ],
    ] as const)
      expect(() => new Ensemble({ tasks: [echo("x")], model: model as string }), inspect(model))
        .to.throw(ValidationError)
        .with.property("hint", hint);
  });

  it("whose provider throws or returns no model causes an error that names the provider", async () => {
    for (const create of [
      (): never => {
        throw new TypeError("no key");
      },
      (): ChatModel => undefined as unknown as ChatModel,
    ]) {
      const broken = definePlugin({
        name: "broken",
        bind: (bind) =>
          void bind.many(Tokens.ChatModelProvider).toConstantValue({ name: "broken", create }),
      });
      const error = await failure(
        new Ensemble({ model: "broken:x", tasks: [Task.of("Say")], plugins: [broken] }).run(),
      );
      expect(error).to.include({ code: "AE_PLUGIN", plugin: "broken" });
    }
  });
});
