import { expect } from "chai";
import { z } from "zod";
import type { EnsembleEvent } from "../../../../src/index.js";
import {
  Agent,
  AgentSynthesizer,
  Ensemble,
  ReflectionStore,
  Review,
  ReviewDecision,
  Task,
  tool,
} from "../../../../src/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";

const people = {
  people: Array.from({ length: 12 }, (_, i) => ({ name: `Person ${i}`, age: 20 + i })),
};
const schema = z.object({ people: z.array(z.object({ name: z.string(), age: z.number() })) });
const text = JSON.stringify(people);
const chunks = text.match(/.{1,9}/gs) ?? [];

async function streamed(options: object): Promise<EnsembleEvent[]> {
  const ensemble = new Ensemble({
    model: new ScriptedModel([{ chunks, delayMs: 1 }]),
    tasks: [Task.of("List them", schema)],
    ...options,
  });
  const events: EnsembleEvent[] = [];
  const handle = ensemble.stream();
  for await (const event of handle.events) events.push(event);
  await handle.output;
  return events;
}

async function tokensOf(options: object): Promise<readonly string[]> {
  return (await streamed(options)).flatMap((event) =>
    event.type === "token" ? [event.token] : [],
  );
}

describe("partial_output", () => {
  it("shows a structured answer as it grows, without invented parts", async () => {
    const partials = (await streamed({})).flatMap((e) =>
      e.type === "partial_output" ? [e.partial as { people?: { name?: string }[] }] : [],
    );
    expect(partials.length).to.be.greaterThan(3);
    const lengths = partials.map((p) => p.people?.length ?? 0);
    expect(lengths).to.deep.equal([...lengths].sort((a, b) => a - b));
    expect(partials.at(-1)?.people?.[0]).to.deep.equal({ name: "Person 0", age: 20 });
  });

  it("precedes the completion of its task, and is not emitted if tokens are held back or off", async () => {
    const types = (await streamed({})).map((e) => e.type);
    expect(types.lastIndexOf("partial_output")).to.be.lessThan(types.indexOf("task_completed"));
    expect(
      (await streamed({ streaming: "guarded" })).some((e) => e.type === "partial_output"),
    ).to.equal(false);
    expect(
      (await streamed({ streaming: false })).some((e) => e.type === "partial_output"),
    ).to.equal(false);
  });
});

describe("the tokens of a stream", () => {
  for (const streaming of [true, "guarded"] as const) {
    it(`are those of answers, not of lessons and created agents (streaming: ${streaming})`, async () => {
      const maker = ['{"role": "Sage", "goal": "Know", "background": ""}'];
      const model = new ScriptedModel([
        { chunks: maker },
        { chunks: ["an ", "answer"] },
        { chunks: ["REFINED_DESCRIPTION: better"] },
      ]);
      const tasks = [new Task({ description: "Say it", reflect: true })];
      const options = {
        model,
        tasks,
        streaming,
        agentSynthesizer: AgentSynthesizer.llmBased(),
        reflectionStore: ReflectionStore.inMemory(),
      };
      expect(await tokensOf(options)).to.deep.equal(["an ", "answer"]);
      model.assertExhausted();
    });
  }
});

describe("a guarded stream", () => {
  it("emits tokens when the output is accepted, and none of a refused output", async () => {
    const model = new ScriptedModel([{ chunks: ["bad ", "one"] }, { chunks: ["good ", "one"] }]);
    const task = new Task({
      description: "Say it",
      guardrailRetries: 1,
      outputGuardrails: [
        ({ raw }) => (raw.startsWith("bad") ? { ok: false, reason: "bad" } : true),
      ],
    });
    const seen: string[] = [];
    const handle = new Ensemble({ model, tasks: [task], streaming: "guarded" }).stream();
    for await (const event of handle.events)
      if (event.type === "token" || event.type === "task_completed")
        seen.push(event.type === "token" ? event.token : "(done)");
    expect(seen).to.deep.equal(["good ", "one", "(done)"]);
  });

  it("emits only the accepted text: no corrected answer, no text between tools", async () => {
    const look = tool({ name: "look", description: "Looks", execute: () => "seen" });
    const agent = new Agent({ role: "Looker", goal: "Look", tools: [look] });
    const model = new ScriptedModel([
      { text: "let me look", toolCalls: [{ name: "look", arguments: { input: "x" } }] },
      { chunks: ['{"name": ', "1}"] },
      { chunks: ['{"name": ', '"Ada", ', '"age": 3}'] },
    ]);
    const task = new Task({
      description: "Look",
      agent,
      outputType: z.object({ name: z.string(), age: z.number() }),
    });
    expect(await tokensOf({ model, tasks: [task], streaming: "guarded" })).to.deep.equal([
      '{"name": ',
      '"Ada", ',
      '"age": 3}',
    ]);
  });

  it("emits a text that was changed before its acceptance in its final form", async () => {
    const model = (): ScriptedModel => new ScriptedModel([{ chunks: ["the secret", " is out"] }]);
    const task = new Task({ description: "Say it", review: Review.required() });
    const reviewed = {
      tasks: [task],
      streaming: "guarded",
      reviewHandler: () => ReviewDecision.edit("is out"),
    } as const;
    expect(await tokensOf({ ...reviewed, model: model() })).to.deep.equal(["is out"]);
    expect(
      await tokensOf({
        ...reviewed,
        model: model(),
        reviewHandler: () => ReviewDecision.continue(),
      }),
    ).to.deep.equal(["the secret", " is out"]);
  });

  it("emits no tokens if the task fails", async () => {
    const task = new Task({
      description: "Say it",
      outputGuardrails: [() => ({ ok: false, reason: "no" })],
    });
    const tokens: string[] = [];
    const ensemble = new Ensemble({
      model: new ScriptedModel([{ chunks: ["a", "b"] }]),
      tasks: [task],
      streaming: "guarded",
      onToken: ({ token }) => tokens.push(token),
    });
    await ensemble.run({}, { throwOnError: false });
    expect(tokens).to.deep.equal([]);
  });
});
