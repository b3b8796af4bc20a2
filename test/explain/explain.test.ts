import { expect } from "chai";
import { z } from "zod";
import {
  Agent,
  Ensemble,
  Graph,
  GuardrailResult,
  HierarchicalConstraints,
  Loop,
  MemoryScope,
  Phase,
  PhaseReview,
  Task,
  Tokens,
  definePlugin,
  tool,
} from "../../src/index.js";
import type { ChatRequest, EnsembleOptions, Explanation, UsageRecord } from "../../src/index.js";
import { EstimatingTokenCounter } from "../../src/plugins/resilience/token-counter/estimating-token-counter.js";
import { ScriptedModel } from "../../src/plugins/testing/index.js";
import type { Step } from "../../src/plugins/testing/index.js";

const model = new ScriptedModel([], { provider: "openai", modelId: "gpt-x" });
const limited = { modelOptions: { maxOutputTokens: 100 } };
const prices = { inputTokenRate: 0.001, outputTokenRate: 0.002 };
const echo = tool({ name: "echo", description: "Says it again", execute: (text) => text });

describe("explain()", () => {
  it("returns the exact messages and tools of the first call", async () => {
    const sent = new ScriptedModel(["done"]);
    const agent = new Agent({ role: "Clerk", goal: "Help", tools: [echo] });
    const ensemble = new Ensemble({
      model: sent,
      tasks: [new Task({ description: "Copy {what}", agent })],
    });
    const { tasks } = await ensemble.explain({ what: "this" });
    await ensemble.run({ what: "this" });
    const [request] = sent.requests;
    expect([tasks[0]?.systemPrompt, tasks[0]?.userPrompt]).to.deep.equal(
      request?.messages.map((m) => m.content),
    );
    expect(tasks[0]?.toolSpecs).to.deep.equal(request?.tools);
    expect(tasks[0]?.model).to.equal("scripted:scripted");
  });

  it("shows the manager's prompt and its tool, as the run sends them", async () => {
    const sent = new ScriptedModel(["The answer"]);
    const agents = [new Agent({ role: "Writer", goal: "Write" })];
    const ensemble = new Ensemble({
      model: sent,
      workflow: "HIERARCHICAL",
      agents,
      tasks: [Task.of("Write it")],
    });
    const { tasks } = await ensemble.explain();
    await ensemble.run();
    const manager = tasks.at(-1);
    expect([manager?.systemPrompt, manager?.userPrompt]).to.deep.equal(
      sent.requests[0]?.messages.map((m) => m.content),
    );
    expect(manager?.toolSpecs).to.deep.equal(sent.requests[0]?.tools);
  });

  it("shows the outputs in a task's context under the names of their agents", async () => {
    const code = new Task({
      name: "code",
      description: "Count",
      handler: () => "[output of code]",
    });
    const write = new Task({ name: "write", description: "Write a letter" });
    const sent = new ScriptedModel(["[output of write]", "done"]);
    const ensemble = new Ensemble({
      model: sent,
      workflow: "SEQUENTIAL",
      tasks: [code, write, new Task({ description: "Check", context: [code, write] })],
    });
    const { tasks } = await ensemble.explain();
    await ensemble.run();
    expect(tasks[2]?.userPrompt).to.equal(sent.requests[1]?.messages[1]?.content);
  });

  it("shows the review of a phase with the outputs that it judges", async () => {
    const phase = new Phase({
      name: "one",
      tasks: [new Task({ name: "a", description: "Write" })],
      review: new PhaseReview({ task: Task.of("Judge") }),
    });
    const sent = new ScriptedModel(["[output of one/a]", "APPROVE"]);
    const ensemble = new Ensemble({ model: sent, phases: [phase] });
    const review = (await ensemble.explain()).tasks.at(-1);
    await ensemble.run();
    expect(review?.dependsOn).to.deep.equal(["one/a"]);
    expect(review?.userPrompt)
      .to.equal(sent.requests[1]?.messages[1]?.content)
      .and.include("[output of one/a]");
  });

  it("shows the delegate tool of an agent that may delegate", async () => {
    const tasks = [
      new Task({
        description: "Ask",
        agent: new Agent({ role: "A", goal: "G", allowDelegation: true }),
      }),
    ];
    const { tasks: explained } = await new Ensemble({
      model,
      tasks,
      agents: [new Agent({ role: "B", goal: "G" })],
    }).explain();
    expect(explained[0]?.tools).to.deep.equal(["delegate"]);
    expect(JSON.stringify(explained[0]?.toolSpecs)).to.include('"enum":["B"]');
  });

  it("shows declared memory as placeholders, and reads no store", async () => {
    const untouched = new Proxy(
      {},
      { get: (_, name) => (name === "then" ? undefined : () => expect.fail("asked the store")) },
    ) as never; // fails when used
    const task = new Task({ description: "Go on", memory: MemoryScope.of("notes") });
    const { tasks } = await new Ensemble({
      model,
      tasks: [task],
      memoryStore: untouched,
    }).explain();
    expect(tasks[0]?.userPrompt).to.include('[memory of scope "notes"]');
  });

  it("explains every workflow without calling a model, a handler or a tool", async () => {
    const never = Task.of("Never");
    const handler = new Task({
      description: "Code",
      handler: (): string => expect.fail("called the handler"),
    });
    const shapes = [
      { tasks: [never, handler] },
      { tasks: [never], workflow: "PARALLEL" as const },
      {
        phases: [
          new Phase({
            name: "one",
            tasks: [never],
            review: new PhaseReview({ task: Task.of("Judge") }),
          }),
        ],
      },
      { loops: [new Loop({ name: "again", tasks: [never] })] },
      {
        graph: new Graph({
          name: "g",
          states: { a: never },
          start: "a",
          edges: [{ from: "a", to: "__END__" }],
        }),
      },
      {
        tasks: [never],
        workflow: "HIERARCHICAL" as const,
        agents: [new Agent({ role: "W", goal: "G" })],
      },
    ];
    for (const shape of shapes) {
      const { workflow, tasks, estimatedInputTokens } = await new Ensemble({
        model,
        ...shape,
      }).explain();
      expect(tasks.length, workflow).to.be.greaterThan(0);
      expect(estimatedInputTokens, workflow).to.be.greaterThan(10);
    }
    expect(model.requests).to.deep.equal([]);
  });

  it("uses the workflow's estimate: how often a task runs and which outputs it receives", async () => {
    const debate = definePlugin({
      name: "debate",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "DEBATE",
          execute: async () => ({ raw: "", taskOutputs: [] }),
          describe: () => ({
            steps: [
              { id: "pro", after: [], maxRuns: 3, feedbackFrom: ["contra"] },
              { id: "contra", after: ["pro"], dependsOn: ["pro"] },
            ],
          }),
        }),
    });
    const task = (name: string, maxOutputTokens: number): Task =>
      new Task({ name, description: "Speak", modelOptions: { maxOutputTokens } });
    const ensemble = (name?: string): Ensemble =>
      new Ensemble({
        model,
        tasks: [task("pro", 100), task("contra", 1_000)],
        workflow: name,
        plugins: [debate],
        costConfiguration: prices,
      });
    const described = await ensemble("DEBATE").explain();
    const plain = await ensemble().explain();
    const shown = ({ tasks }: Explanation): unknown =>
      tasks.map(({ dependsOn, maxModelCalls }) => [dependsOn, maxModelCalls]);
    expect(shown(described)).to.deep.equal([
      [[], 3],
      [["pro"], 1],
    ]);
    expect(shown(plain)).to.deep.equal([
      [[], 1],
      [[], 1],
    ]);
    // Each of the three runs of `pro` may receive the answer of `contra`: 1,000 tokens of input at
    // 0.001.
    expect(described.costBound?.inputCost).to.be.greaterThan((plain.costBound?.inputCost ?? 0) + 3);
  });

  it("counts tokens with the container's counter", async () => {
    const counter = definePlugin({
      name: "count",
      bind: (b) =>
        b.single(Tokens.TokenCounter, { override: true }).toConstantValue({ count: () => 7 }),
    });
    const { estimatedInputTokens } = await new Ensemble({
      model,
      tasks: [Task.of("a"), Task.of("b")],
      plugins: [counter],
    }).explain();
    expect(estimatedInputTokens).to.equal(14);
  });
});

describe("the bound of a run's cost", () => {
  const bound = (
    options: object,
  ): Promise<{
    readonly costBound?: { readonly totalCost: number };
    readonly unbounded: readonly string[];
  }> => new Ensemble({ model, costConfiguration: prices, ...options }).explain(); // options of one shape or another

  it("exists and holds if answers, tools and calls are limited", async () => {
    const usage = { inputTokens: 0, outputTokens: 100 };
    const turn = { toolCalls: [{ name: "echo", arguments: { input: "x".repeat(500) } }], usage };
    const real = new ScriptedModel(
      [turn, turn, "not JSON", '{"a":1}'].map((step) =>
        typeof step === "string" ? { text: step, usage } : step,
      ),
    );
    const agent = new Agent({ role: "R", goal: "G", tools: [echo], maxIterations: 2, ...limited });
    const task = new Task({ description: "Do", agent, outputType: z.object({ a: z.number() }) });
    const { costBound, unbounded } = await bound({
      model: real,
      tasks: [task],
      maxToolOutputLength: 50,
    });
    expect(unbounded).to.deep.equal([]);
    const output = await new Ensemble({
      model: real,
      tasks: [task],
      maxToolOutputLength: 50,
      costConfiguration: prices,
    }).run();
    expect(output.metrics.llmCallCount).to.equal(4);
    expect(costBound?.totalCost).to.be.greaterThan(
      output.metrics.costEstimate?.totalCost ?? Infinity,
    );
  });

  describe("holds for any behaviour of the model:", () => {
    const counter = new EstimatingTokenCounter();
    const LIMIT = 40;
    const most = { modelOptions: { maxOutputTokens: LIMIT } };
    const words = "word ".repeat(LIMIT - 10).trim();
    const busy = new Agent({
      role: "R",
      goal: "G",
      tools: [tool({ name: "read", description: "Reads", execute: () => "x".repeat(999) })],
      maxIterations: 3,
      ...most,
    });
    const three = {
      toolCalls: ["1", "2", "3"].map((input) => ({ name: "read", arguments: { input } })),
    };
    const big = z.object({
      list: z.array(
        z.object({
          someLongName: z.number().describe("A number of which much is to be said, ".repeat(20)),
        }),
      ),
    });
    const never = (): GuardrailResult =>
      GuardrailResult.failure("still not good enough, and that is why: ".repeat(20));
    const draft = new Task({ name: "draft", description: "Draft", ...most });
    const long = new Task({
      name: "long",
      description: "Write at length",
      modelOptions: { maxOutputTokens: 2000 },
    });
    const cases: Readonly<
      Record<
        string,
        {
          readonly options: Partial<EnsembleOptions>;
          readonly says?: (request: ChatRequest) => Step;
        }
      >
    > = {
      "a tool loop up to its limit, with many refused calls": {
        options: { tasks: [new Task({ description: "Read", agent: busy })] },
        says: ({ toolChoice }) => (toolChoice === "none" ? words : three),
      },
      "corrections with a long schema": {
        options: {
          tasks: [new Task({ description: "List", outputType: big, maxOutputRetries: 4, ...most })],
        },
      },
      "guardrails that refuse at length": {
        options: {
          tasks: [
            new Task({
              description: "Say",
              outputGuardrails: [never],
              guardrailRetries: 3,
              ...most,
            }),
          ],
        },
      },
      "a chain of context": {
        options: { tasks: [long, new Task({ description: "Shorten", context: [long], ...most })] },
      },
      "a loop whose last task has the longest output": {
        options: { loops: [new Loop({ name: "l", tasks: [draft, long], maxIterations: 4 })] },
      },
      "a manager that delegates up to its limit": {
        options: {
          workflow: "HIERARCHICAL",
          agents: [
            busy,
            new Agent({ role: "Idle", goal: "G", modelOptions: { maxOutputTokens: 5 } }),
          ],
          tasks: [
            new Task({ description: "List", outputType: big, maxOutputRetries: 2, agent: busy }),
          ],
          managerMaxIterations: 4,
          managerModelOptions: { maxOutputTokens: LIMIT },
        },
        says: ({ messages, tools = [], toolChoice }) => {
          if (toolChoice === "none") return words;
          if (!tools.some(({ name }) => name === "delegateTask")) return three;
          const taskNumber = messages.length % 4 === 0 ? { taskNumber: 1 } : {};
          return {
            toolCalls: [
              {
                name: "delegateTask",
                arguments: { agentRole: "R", taskDescription: words, ...taskNumber },
              },
            ],
          };
        },
      },
      "a graph with a cycle": {
        options: {
          graph: new Graph({
            name: "g",
            states: { a: draft, b: long },
            start: "a",
            maxSteps: 6,
            edges: [
              { from: "a", to: "b" },
              { from: "b", to: "a" },
            ],
          }),
        },
      },
    };
    const fees = ({ inputTokens, outputTokens }: UsageRecord): number =>
      1 + (inputTokens > 500 ? 2 : 1) * inputTokens * 0.001 + outputTokens * 0.002;
    for (const [
      name,
      { options, says = ({ maxOutputTokens = 0 }) => "word ".repeat(maxOutputTokens - 10).trim() },
    ] of Object.entries(cases))
      for (const [what, costConfiguration] of Object.entries({
        rates: prices,
        "a function with fees": fees,
      }))
        it(`${name}, at ${what}`, async () => {
          // Counts requests like the vendors: texts, calls and schemas.
          const counting = new ScriptedModel(async (request) => {
            const { messages, tools = [], responseFormat, maxOutputTokens = 0 } = request;
            const parts = [
              ...messages.flatMap((m) => [m.content, ...("toolCalls" in m ? [m.toolCalls] : [])]),
              ...tools,
              responseFormat ?? "",
            ];
            let inputTokens = 0;
            for (const part of parts)
              inputTokens += await counter.count(
                typeof part === "string" ? part : JSON.stringify(part),
              );
            const step = says(request);
            const usage = { inputTokens, outputTokens: maxOutputTokens };
            return typeof step === "string" ? { text: step, usage } : { ...step, usage };
          });
          await using ensemble = new Ensemble({
            model: counting,
            maxToolOutputLength: 200,
            costConfiguration,
            ...options,
          });
          const { costBound, unbounded } = await ensemble.explain();
          expect(unbounded).to.deep.equal([]);
          const { metrics } = await ensemble.run({}, { throwOnError: false });
          expect(metrics.llmCallCount).to.be.greaterThan(1);
          expect(costBound?.totalCost).to.be.at.least(metrics.costEstimate?.totalCost ?? Infinity);
        });
  });

  it("counts each repetition of a phase that reviews may request, and holds", async () => {
    const worker = (name: string): Task =>
      new Task({ name, description: `Do ${name}`, ...limited });
    const judge = (name: string): Task => new Task({ description: `Judge ${name}`, ...limited });
    const first = new Phase({
      name: "first",
      tasks: [worker("first")],
      review: new PhaseReview({ task: judge("first"), maxRetries: 1 }),
    });
    const review = new PhaseReview({
      task: judge("second"),
      maxRetries: 1,
      maxPredecessorRetries: 2,
    });
    const second = new Phase({ name: "second", tasks: [worker("second")], after: [first], review });
    const last = new Phase({ name: "last", tasks: [worker("last")], after: [second] });
    const counter = new EstimatingTokenCounter();
    let judged = 0;
    const severe = new ScriptedModel(async ({ messages }) => {
      const prompt = messages
        .map(({ content }) => (typeof content === "string" ? content : ""))
        .join("\n");
      const verdict =
        prompt.includes("Judge first") || (prompt.includes("Judge second") && judged++ % 2 === 0)
          ? "RETRY"
          : "RETRY_PREDECESSOR first";
      const text = `${prompt.includes("Judge") ? `${verdict}: ` : ""}${"word ".repeat(80).trim()}`;
      return {
        text,
        usage: {
          inputTokens: await counter.count(prompt),
          outputTokens: await counter.count(text),
        },
      };
    });
    await using ensemble = new Ensemble({
      model: severe,
      phases: [first, second, last],
      costConfiguration: prices,
    });
    const { tasks, costBound, unbounded } = await ensemble.explain();
    expect(unbounded).to.deep.equal([]);
    expect(tasks.map(({ maxModelCalls }) => maxModelCalls)).to.deep.equal([6, 6, 6, 6, 1]);
    const { metrics } = await ensemble.run();
    expect(metrics.llmCallCount).to.equal(25); // as many as that
    expect(costBound?.totalCost).to.be.at.least(metrics.costEstimate?.totalCost ?? Infinity);
  });

  it("depends on the manager's limit of delegations", async () => {
    const agents = [new Agent({ role: "Writer", goal: "Write", ...limited })];
    const tasks = [new Task({ description: "Write it", agent: agents[0] })];
    const team = {
      workflow: "HIERARCHICAL",
      agents,
      tasks,
      maxToolOutputLength: 50,
      managerModelOptions: limited.modelOptions,
    };
    const costs = async (options: object): Promise<number> =>
      (await bound({ ...team, ...options })).costBound?.totalCost ?? NaN;
    const [once, twice] = [
      await costs({ managerMaxIterations: 1 }),
      await costs({ managerMaxIterations: 2 }),
    ];
    const constrained = await costs({
      managerMaxIterations: 2,
      hierarchicalConstraints: new HierarchicalConstraints({ globalMaxDelegations: 1 }),
    });
    expect(constrained).to.be.greaterThan(once).and.lessThan(twice); // the agent may request two transfers, of which one is allowed
    expect((await bound({ ...team, managerModelOptions: undefined })).unbounded).to.deep.equal([
      "Task 'task-2': its answers may have any length; set managerModelOptions.maxOutputTokens",
    ]);
    const asking = [new Agent({ role: "Asker", goal: "Ask", allowDelegation: true, ...limited })];
    expect((await bound({ ...team, agents: asking })).unbounded.join()).to.include("may delegate");
    const agentSynthesizer = {
      usesModel: true,
      synthesize: (): Agent => new Agent({ role: "Made", goal: "G" }),
    };
    expect(
      (await bound({ ...team, agentSynthesizer, tasks: [Task.of("Write it")] })).unbounded.join(),
    ).to.include("made by a model");
  });

  it("is missing if the review of a phase may return any text", async () => {
    const task = new Task({ description: "Do", ...limited });
    const ofReview = async (review: PhaseReview): Promise<readonly string[]> =>
      (await bound({ phases: [new Phase({ name: "p", tasks: [task], review })] })).unbounded;
    const byCode = new Task({ description: "Judge", handler: () => "RETRY: again" });
    expect((await ofReview(new PhaseReview({ task: byCode }))).join()).to.include(
      "a review that sends it back, may put out any length",
    );
    expect(await ofReview(new PhaseReview({ task: byCode, maxRetries: 0 }))).to.deep.equal([]);
  });

  it("is missing for content of unknown size: attachments, an earlier round of any length", async () => {
    const picture = new Task({
      name: "p",
      description: "Look",
      attachments: [{ type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" }],
      ...limited,
    });
    expect((await bound({ tasks: [picture] })).unbounded.join()).to.include("attachments");
    const body = [
      new Task({ name: "a", description: "A", ...limited }),
      new Task({ name: "b", description: "B", handler: () => "any length" }),
    ];
    expect(
      (await bound({ loops: [new Loop({ name: "l", tasks: body })] })).unbounded.join(),
    ).to.include("any length");
    expect(
      (await bound({ loops: [new Loop({ name: "l", tasks: body, injectFeedback: false })] }))
        .unbounded,
    ).to.deep.equal([]);
  });

  it("names for each task the option that would make a bound possible", async () => {
    const agent = new Agent({ role: "R", goal: "G", tools: [echo], allowDelegation: true });
    const { costBound, unbounded } = await bound({
      tasks: [new Task({ name: "t", description: "Do", agent })],
    });
    expect(costBound).to.equal(undefined);
    for (const part of ["maxOutputTokens", "maxToolOutputLength", "delegate"])
      expect(unbounded.join("\n")).to.include(part);
  });

  it("multiplies by the iterations of a loop and by retries", async () => {
    const once = await bound({ tasks: [new Task({ description: "Do", ...limited })] });
    const often = await bound({
      loops: [
        new Loop({
          name: "l",
          tasks: [new Task({ description: "Do", ...limited })],
          maxIterations: 3,
        }),
      ],
    });
    const retried = await bound({
      tasks: [new Task({ description: "Do", guardrailRetries: 1, ...limited })],
    });
    expect(often.costBound?.totalCost).to.be.greaterThan(
      3 * (once.costBound?.totalCost ?? Infinity),
    );
    expect(retried.costBound?.totalCost).to.be.greaterThan(
      2 * (once.costBound?.totalCost ?? Infinity),
    );
  });

  it("is missing without prices, and if the price function returns none", async () => {
    const tasks = [new Task({ description: "Do", ...limited })];
    expect(await new Ensemble({ model, tasks }).explain())
      .to.deep.include({ unbounded: [] })
      .and.not.have.property("costBound");
    expect((await bound({ tasks, costConfiguration: () => undefined })).unbounded[0]).to.include(
      "no price for openai:gpt-x",
    );
    expect((await bound({ tasks, costConfiguration: () => NaN })).unbounded[0]).to.include(
      "failed",
    );
  });
});
