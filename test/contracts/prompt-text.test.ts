import {
  Agent,
  Ensemble,
  MemoryScope,
  MemoryStore,
  MapReduceEnsemble,
  PromptTemplateError,
  Review,
  ReviewDecision,
  Task,
  ValidationError,
  prompt,
  type ChatMessage,
  type ReviewRequest,
} from "agentensemble";
import { memoryTool } from "agentensemble/memory";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import fc from "fast-check";
import { rejectionOf } from "../support/rejection.js";

const ticket = 'My order {order_1} is late. {"note": {{internal_note}}}';

function contentOf(message: ChatMessage | undefined): string {
  const { content } = message ?? { content: "" };
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** The messages of the first request to a model. */
function firstRequest(model: ScriptedModel): { readonly system: string; readonly user: string } {
  const messages = model.requests[0]?.messages ?? [];
  const textOf = (role: string): string => contentOf(messages.find((m) => m.role === role));
  return { system: textOf("system"), user: textOf("user") };
}

describe("prompt", () => {
  it("keeps interpolated text literal and fills the variables of the written part", () => {
    const text = prompt`Triage for {team}: ${ticket}`;
    expect(text.variables).to.deep.equal(["team"]);
    expect(text.fill({ team: "returns", order_1: "WRONG", internal_note: "SECRET" })).to.equal(
      `Triage for returns: ${ticket}`,
    );
    expect(String(text)).to.equal(`Triage for {team}: ${ticket}`);
  });

  it("separates braces that meet at the border of written and interpolated text", () => {
    expect(prompt`{${"name"}} ${"{na"}me} {na${"me}"}`.fill({ name: "WRONG" })).to.equal(
      "{name} {name} {name}",
    );
  });

  it("fills each written part separately and copies each value", () => {
    const piece = fc.string({ unit: fc.constantFrom("{", "}", "a", "b", " ", "\n") });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1 }), fc.array(piece), (written, values) => {
        const data = written.slice(1).map((_, i) => values[i] ?? "");
        const strings = Object.assign([...written], { raw: written });
        const alone = (text: string): string =>
          prompt(Object.assign([text], { raw: [text] })).fill({ a: "{b}" });
        const expected = written.map((text, i) => alone(text) + (data[i] ?? "")).join("");
        expect(prompt(strings, ...data).fill({ a: "{b}" })).to.equal(expected);
      }),
    );
  });

  it("writes numbers, null and objects, and nests prompt texts with their variables", () => {
    const inner = prompt`about {topic}`;
    expect(
      prompt`${1} ${null}${{ a: ["{b}"] }} ${inner}`.fill({ topic: "tea", b: "WRONG" }),
    ).to.equal('1 {"a":["{b}"]} about tea');
  });

  it("refuses a value that is undefined", () => {
    const missing: { readonly text?: string } = {};
    expect(() => prompt`Read this: ${missing.text}`).to.throw(
      ValidationError,
      "prompt: value 1 (after 'Read this: ')",
    );
  });

  it("stays literal in a task's description, expected output and copies", async () => {
    const model = new ScriptedModel(["done"]);
    const task = new Task({
      description: prompt`Triage for {team}: ${ticket}`,
      expectedOutput: prompt`One word, not ${"{order_1}"}`,
    }).with({ name: "triage" });
    await new Ensemble({ model, tasks: [task] }).run({ team: "returns", order_1: "WRONG" });
    const { user } = firstRequest(model);
    expect(user).to.include(`Triage for returns: ${ticket}`);
    expect(user).to.include("One word, not {order_1}");
    expect(task.description).to.equal(`Triage for {team}: ${ticket}`);
  });

  it("fills goal and background of an agent in each run", async () => {
    const model = new ScriptedModel(["one", "two"]);
    const agent = new Agent({
      role: "Clerk",
      goal: prompt`help {user}`,
      background: prompt`knows ${"{user}"}`,
    }).with({ maxIterations: 3 });
    const ensemble = new Ensemble({ model, tasks: [new Task({ description: "go", agent })] });
    await ensemble.run({ user: "Ana" });
    await ensemble.run({ user: "Ben" });
    const systems = model.requests.map(({ messages }) => contentOf(messages[0]));
    expect(systems[0]).to.include("help Ana").and.to.include("knows {user}");
    expect(systems[1]).to.include("help Ben").and.to.not.include("Ana");
  });

  it("keeps a plain goal unchanged", async () => {
    const model = new ScriptedModel(["one"]);
    const agent = new Agent({ role: "Clerk", goal: "help {user}" });
    await new Ensemble({ model, tasks: [new Task({ description: "go", agent })] }).run({
      user: "Ana",
    });
    expect(firstRequest(model).system).to.include("help {user}");
  });

  it("fills the question of a review", async () => {
    const asked: ReviewRequest[] = [];
    const task = new Task({
      description: "go",
      handler: () => "done",
      review: Review.required(prompt`Send to {user}? ${"{user}"}`),
    });
    await new Ensemble({
      tasks: [task],
      reviewHandler: (request) => {
        asked.push(request);
        return ReviewDecision.continue();
      },
    }).run({ user: "Ana" });
    expect(asked.map(({ prompt: question }) => question)).to.deep.equal(["Send to Ana? {user}"]);
  });

  it("finds missing variables of goals and reviews before any cost arises", async () => {
    const model = new ScriptedModel(["never"]);
    const agent = new Agent({ role: "Clerk", goal: prompt`help {user}` });
    const task = new Task({
      name: "reply",
      description: "go",
      agent,
      review: Review.required(prompt`Send to {address}?`),
    });
    const error = await rejectionOf(
      PromptTemplateError,
      new Ensemble({ model, tasks: [task] }).run(),
    );
    expect(error.missingVariables).to.deep.equal(["user", "address"]);
    expect(error.task).to.equal("reply");
    expect(model.requests).to.have.length(0);
  });

  it("stays literal in tasks of a map-reduce", async () => {
    const model = new ScriptedModel(["note", "sum"]);
    await new MapReduceEnsemble({
      model,
      items: [ticket],
      mapTask: (item: string) => new Task({ description: prompt`Note: ${item}` }),
      reduceTask: (tasks) => new Task({ description: "Join", context: tasks }),
    }).run({ order_1: "WRONG" });
    expect(firstRequest(model).user).to.include(`Note: ${ticket}`);
  });
});

describe("a task with template: false", () => {
  it("keeps its texts unchanged, also in copies", async () => {
    const model = new ScriptedModel(["done"]);
    const task = new Task({ description: ticket, expectedOutput: "{x}", template: false });
    await new Ensemble({ model, tasks: [task.with({ name: "copy" })] }).run({
      order_1: "WRONG",
      x: 1,
    });
    const { user } = firstRequest(model);
    expect(user).to.include(ticket).and.to.include("{x}");
  });

  it("refuses a prompt text", () => {
    expect(() => new Task({ description: prompt`a`, template: false })).to.throw(
      ValidationError,
      "template: false",
    );
  });
});

describe("a missing template variable", () => {
  it("is reported with its task, and with advice for text from outside of any length", async () => {
    const run = async (description: string): Promise<PromptTemplateError> =>
      rejectionOf(
        PromptTemplateError,
        new Ensemble({
          model: new ScriptedModel([]),
          tasks: [new Task({ name: "triage", description })],
        }).run(),
      );
    const long = await run(`Triage this ticket:\n${ticket}`);
    expect(long.message)
      .to.include("Missing template variables: [order_1]")
      .and.to.include("Task: 'triage'");
    for (const { hint } of [long, await run("Use {name} please")])
      expect(hint).to.include("prompt`").and.to.include("template: false");
  });
});

describe("a memory scope with a variable in its name", () => {
  it("is a different scope for different inputs", async () => {
    const memoryStore = MemoryStore.inMemory();
    const task = new Task({
      description: "go",
      handler: ({ inputs }) => `of ${String(inputs["user"])}`,
      memory: MemoryScope.of("chat-{user}").keepLastEntries(5),
    });
    const ensemble = new Ensemble({ tasks: [task], memoryStore });
    await ensemble.run({ user: "ana" });
    await ensemble.run({ user: "ben" });
    const contents = async (scope: string): Promise<readonly string[]> =>
      (await memoryStore.retrieve(scope, "", 10)).map(({ content }) => content);
    expect(await contents("chat-ana")).to.deep.equal(["of ana"]);
    expect(await contents("chat-ben")).to.deep.equal(["of ben"]);
    expect(await contents("chat-{user}")).to.deep.equal([]);
  });

  it("fails before any cost arises if the input is missing", async () => {
    const task = new Task({ description: "go", handler: () => "x", memory: "chat-{user}" });
    const run = new Ensemble({ tasks: [task], memoryStore: MemoryStore.inMemory() }).run();
    expect((await rejectionOf(PromptTemplateError, run)).missingVariables).to.deep.equal(["user"]);
  });

  it("is refused for a memory tool", () => {
    expect(() => memoryTool("chat-{user}", MemoryStore.inMemory())).to.throw(
      ValidationError,
      "{user}",
    );
  });
});
