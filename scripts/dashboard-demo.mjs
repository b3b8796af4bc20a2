// Teams with a scripted model for all views of the page of the dashboard. They have parallel tasks,
// a delegation, tools, a guardrail, a review and corrections. They also have phases, a loop, a
// state machine, many tasks and a budget. `npm run page` serves them. No connection is opened.
import { setTimeout as sleep } from "node:timers/promises";
import {
  Agent,
  Ensemble,
  Graph,
  Loop,
  Phase,
  PhaseReview,
  Review,
  Task,
  tool,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { z } from "zod";

/** A scripted model with delays that streams its answers word by word. */
class SlowModel {
  provider = "demo";
  #script;
  #pace;

  constructor(modelId, pace, answer) {
    this.modelId = modelId;
    this.#pace = pace;
    this.#script = new ScriptedModel((request) => {
      const step = answer(request);
      const text = typeof step === "string" ? step : (step.text ?? "");
      const usage = {
        inputTokens: Math.round(JSON.stringify(request.messages).length / 4),
        outputTokens: Math.max(12, Math.round(text.length / 4)),
      };
      return { usage, ...(typeof step === "string" ? { text } : step) };
    });
  }

  async chat(request, options = {}) {
    const response = await this.#script.chat(request, options);
    await sleep(this.#pace * (200 + response.usage.outputTokens * 12), undefined, options);
    return response;
  }

  async *stream(request, options = {}) {
    await sleep(this.#pace * 200, undefined, options);
    for await (const chunk of this.#script.stream(request, options)) {
      if (chunk.type !== "text") yield chunk;
      else
        for (const text of chunk.text.match(/\S+\s*/g) ?? []) {
          await sleep(this.#pace * 50, undefined, options);
          yield { type: "text", text };
        }
    }
  }
}

/**
 * Returns whether a text is in the system prompt or in the task. The task follows the outputs of
 * other tasks.
 */
function isAsked({ messages }, text) {
  const [system, user] = messages.map(({ content }) => JSON.stringify(content));
  return system.includes(text) || user.slice(user.lastIndexOf("## Task")).includes(text);
}
const isRevised = ({ messages }) => JSON.stringify(messages).includes("names no source");
const toolResults = ({ messages }) => messages.filter(({ role }) => role === "tool").length;

const SOURCES = `18 sources, the best of them:

1. **Dry electrode coating at scale**, March 2026: one line, 1.2 GWh a year
2. **Sulfide electrolytes and moisture**, a review of 214 papers
3. *Lithium metal foil: who makes it*, trade statistics

| kind | count |
|---|---|
| papers | 9 |
| filings | 5 |
| news | 4 |`;

const RISKS = `1. **Dendrite growth under fast charging.** Cells above 3 mA/cm² still short after 800 cycles [4].
2. **Sulfide electrolytes need dry rooms.** Capital cost per GWh is 1.6 to 2.1 times that of today's lines [7].
3. **Lithium metal supply.** Two producers cover 71 % of battery grade foil [19], and neither has announced a second plant.
4. **Pressure.** Cells need 2 to 10 MPa over their life, which makes packs heavier [11].
5. **Recycling.** No process recovers sulfides today [12].`;

function briefingAnswers(request) {
  if (isAsked(request, "You are Librarian"))
    return "The filing of 14 March names 2.4 GWh for 2027 and 11 GWh for 2029.";
  if (isAsked(request, "Collect sources")) return SOURCES;
  if (isAsked(request, "serious risks")) {
    if (toolResults(request) === 0 && !isRevised(request))
      return {
        text: "I will look for a source on lithium metal supply.",
        toolCalls: [
          { name: "web_search", arguments: { query: "lithium metal anode supply 2026", limit: 3 } },
          { name: "read_page", arguments: { url: "https://example.org/foil" } },
        ],
      };
    return isRevised(request)
      ? RISKS
      : "1. Dendrites [4]\n2. Dry rooms [7]\n3. Lithium metal supply, which is scarce";
  }
  if (isAsked(request, "competitors")) {
    if (toolResults(request) > 0) return "Four makers matter; two have a pilot line.";
    const ask = (taskDescription) => ({
      name: "delegate",
      arguments: { agentRole: "Librarian", taskDescription },
    });
    return {
      toolCalls: [
        ask("Which capacity does the largest maker announce in its filings?"),
        ask("Which makers have closed a pilot line since 2024?"),
      ],
    };
  }
  if (isAsked(request, "price"))
    return "85 to 110 dollars per kWh by 2030, if dry rooms get cheaper.";
  if (isAsked(request, "Check every number")) return "All numbers have a source.";
  if (isAsked(request, "Write the briefing"))
    return `# Solid-state batteries\n\nThe market is small and the risks are known.\n\n${RISKS}\n\n> Prices fall with dry rooms.\n\n\`\`\`json\n{ "verdict": "watch", "since": 2026 }\n\`\`\``;
  return "About 6.1 billion dollars in 2030, growing by 38 % a year.";
}

const search = tool({
  name: "web_search",
  title: "Web search",
  description: "Searches the web",
  input: z.object({ query: z.string(), limit: z.number() }),
  execute: async ({ query, limit }) => {
    await sleep(300);
    return Array.from({ length: limit }, (_, i) => ({
      rank: i + 1,
      title: `${query}, part ${i + 1}`,
    }));
  },
});
const readPage = tool({
  name: "read_page",
  description: "Reads a page",
  input: z.object({ url: z.string() }),
  execute: () => {
    throw new Error("The page is gone (410)");
  },
});

/** The team of the pictures. */
function briefing(pace) {
  const model = new SlowModel("gpt-demo", pace, briefingAnswers);
  const agent = (role, more = {}) => new Agent({ role, goal: `Works as ${role}`, model, ...more });
  const analyst = agent("Analyst", { allowDelegation: true });
  const task = (name, description, worker, context = [], more = {}) =>
    new Task({ name, description, agent: worker, context, ...more });
  const sources = task("collect-sources", "Collect sources on {topic}", agent("Researcher"));
  const size = task("market-size", "How large is the market of {topic}?", analyst, [sources]);
  const rivals = task("competitors", "Name the competitors in {topic}", analyst, [sources]);
  const risks = task(
    "risks",
    "List the five most serious risks for an investor in {topic}, each with a source.",
    agent("Risk Officer", { tools: [search, readPage] }),
    [sources],
    {
      guardrailRetries: 2,
      outputGuardrails: [
        function mustCiteSources({ raw }) {
          return /3\..*\[\d+\]/.test(raw) || { ok: false, reason: "Risk 3 names no source." };
        },
      ],
    },
  );
  const pricing = task("pricing", "Estimate the price of {topic}", analyst, [size, rivals], {
    review: Review.of({
      prompt: "May the price be published?",
      timeoutMs: 240_000,
      onTimeout: "EXIT_EARLY",
    }),
  });
  const draft = task("draft", "Write the briefing on {topic}", agent("Writer"), [
    size,
    pricing,
    risks,
  ]);
  const check = task("fact-check", "Check every number in the text", agent("Editor"), [draft]);
  const publish = new Task({
    name: "publish",
    description: "Save the briefing",
    context: [check],
    handler: () => "briefings/solid-state.md",
  });
  return {
    name: "market-briefing",
    workflow: "PARALLEL",
    inputType: z.object({
      topic: z.string().describe("What the briefing is about."),
      audience: z.enum(["investors", "engineers"]).default("investors"),
      sources: z.number().int().min(1).default(18).describe("Sources at most."),
      language: z.string().default("English"),
      citeSources: z.boolean().default(true),
    }),
    agents: [agent("Librarian")],
    tasks: [sources, size, rivals, risks, pricing, draft, check, publish],
    plugins: [budget({ maxCost: 0.25 })],
  };
}

/** A tool call that a person must approve, with a schema for edits. */
function refundDesk(pace) {
  const refund = tool({
    name: "refund",
    description: "Pays money back",
    input: z.object({
      order: z.string(),
      amount: z.number().max(500),
      currency: z.enum(["EUR", "USD"]),
      reason: z.string(),
    }),
    effect: "send",
    requireApproval: true,
    approvalDescription: ({ order, amount, currency }) =>
      `Refund of ${amount.toFixed(2)} ${currency} to order ${order}?`,
    execute: () => "paid",
  });
  const model = new SlowModel("gpt-demo-mini", pace, (request) => {
    if (isAsked(request, "Sort the ticket")) return "Damaged on arrival; photo attached.";
    if (toolResults(request) > 0) return "The money is on its way.";
    const order = { order: "88213", amount: 412, currency: "EUR", reason: "arrived broken" };
    return { toolCalls: [{ name: "refund", arguments: order }] };
  });
  const clerk = new Agent({
    role: "Refund Clerk",
    goal: "Settles tickets",
    model,
    tools: [refund],
  });
  const sort = new Task({
    name: "classify",
    description: "Sort the ticket {ticket}",
    agent: clerk,
  });
  const settle = new Task({
    name: "settle",
    description: "Settle the ticket {ticket}",
    agent: clerk,
    context: [sort],
  });
  return { name: "refund-desk", tasks: [sort, settle] };
}

/** A task whose answers never match its schema. */
function contractReview(pace) {
  const answer = '{ "clauses": [ { "no": "4.2", "kind": "confidentiality" } ], "party": "Globex" }';
  const model = new SlowModel("gpt-demo", pace, (request) =>
    isAsked(request, "What kind") ? "A mutual non-disclosure agreement." : answer,
  );
  const agent = new Agent({ role: "Paralegal", goal: "Reads contracts", model });
  const classify = new Task({
    name: "classify",
    description: "What kind of contract is {file}?",
    agent,
  });
  const extract = new Task({
    name: "extract-clauses",
    description: "Extract the clauses of {file}",
    agent,
    context: [classify],
    outputType: z.object({ clauses: z.array(z.unknown()), parties: z.array(z.string()) }),
  });
  const risks = new Task({
    name: "risks",
    description: "List the risks",
    agent,
    context: [extract],
  });
  const memo = new Task({ name: "memo", description: "Write a memo", agent, context: [risks] });
  return { name: "contract-review", tasks: [classify, extract, risks, memo] };
}

function siteStudy(pace) {
  let judged = 0;
  const model = new SlowModel("gpt-demo", pace, (request) => {
    if (!isAsked(request, "You are Judge")) return "Demand is steady and the ground is firm.";
    return ++judged % 2 === 1 ? "RETRY: Name the year." : "APPROVE";
  });
  const agent = (role) => new Agent({ role, goal: `Works as ${role}`, model });
  const count = new Task({
    name: "count",
    description: "Count customers",
    agent: agent("Analyst"),
  });
  const growth = new Task({
    name: "growth",
    description: "Estimate growth",
    agent: agent("Analyst"),
    context: [count],
  });
  const soil = new Task({ name: "soil", description: "Judge the soil", agent: agent("Engineer") });
  const memo = new Task({
    name: "memo",
    description: "Write a recommendation",
    agent: agent("Author"),
    context: [growth, soil],
  });
  const [demand, site] = [Phase.of("demand", count, growth), Phase.of("site", soil)];
  const judge = new Task({ description: "Judge the memo", agent: agent("Judge") });
  const recommendation = new Phase({
    name: "recommendation",
    tasks: [memo],
    after: [demand, site],
    review: new PhaseReview({ task: judge, maxRetries: 2 }),
  });
  return { name: "site-study", phases: [demand, site, recommendation] };
}

function poem(pace) {
  let drafts = 0;
  const model = new SlowModel(
    "gpt-demo-mini",
    pace,
    () => `Draft ${++drafts}: the keeper lit the lamp.`,
  );
  const agent = new Agent({ role: "Poet", goal: "Writes", model });
  const draft = new Task({ name: "draft", description: "Write a poem", agent });
  const score = new Task({
    name: "score",
    description: "Score the poem",
    context: [draft],
    handler: () => drafts * 3,
  });
  const polish = new Loop({
    name: "polish",
    tasks: [draft, score],
    until: (iteration) => (iteration.getOutput(score)?.parsed ?? 0) >= 8,
    maxIterations: 4,
  });
  return { name: "poem", loops: [polish] };
}

function supportBot(pace) {
  const model = new SlowModel("gpt-demo-mini", pace, () => "Have you turned it off and on again?");
  const agent = new Agent({ role: "Helper", goal: "Helps", model });
  const state = (name) => new Task({ name, description: `${name} the request`, agent });
  let asked = 0;
  const states = {
    triage: state("triage"),
    answer: state("answer"),
    ask: state("ask"),
    escalate: state("escalate"),
  };
  const edges = [
    { from: "triage", to: "ask", when: () => asked++ < 1, label: "something is missing" },
    { from: "triage", to: "escalate", when: () => false, label: "it is urgent" },
    { from: "triage", to: "answer" },
    { from: "ask", to: "triage", label: "the customer replied" },
    { from: "answer", to: Graph.END },
    { from: "escalate", to: Graph.END },
  ];
  return { name: "support", graph: new Graph({ name: "support", states, start: "triage", edges }) };
}

/** More tasks than the graph draws as separate nodes. */
function digest(pace, count) {
  const parts = Array.from(
    { length: count },
    (_, i) =>
      new Task({
        name: `read-${i}`,
        description: `Read feed ${i}`,
        handler: async () => {
          await sleep(pace * (20 + (i % 7) * 30));
          return `${i} items`;
        },
      }),
  );
  const sum = new Task({
    name: "sum",
    description: "Add them up",
    context: parts,
    handler: () => "1,204 items",
  });
  return {
    name: "nightly-digest",
    workflow: "PARALLEL",
    maxConcurrency: 16,
    tasks: [...parts, sum],
  };
}

const PRICES = {
  costConfiguration: { inputTokenRate: 0.000_002, outputTokenRate: 0.000_008, currency: "USD" },
};

/**
 * Returns the teams by name: the options of an ensemble, and the inputs of its run.
 * @param pace 1: the speed of a model. 0: no delays.
 * @param plugins of every team, for instance the dashboard.
 */
export function demoTeams({ pace = 1, plugins = [], tasks = 400 } = {}) {
  const team = (options, inputs, tags) => ({
    name: options.name,
    inputs,
    tags,
    make: () =>
      new Ensemble({ ...PRICES, ...options, plugins: [...(options.plugins ?? []), ...plugins] }),
  });
  return [
    team(digest(pace, tasks), { day: "2026-11-21" }, {}),
    team(poem(pace), { place: "a lighthouse" }, { env: "staging" }),
    team(supportBot(pace), { question: "It does not start" }, { env: "prod" }),
    team(siteStudy(pace), { town: "Husum" }, { customer: "globex" }),
    team(contractReview(pace), { file: "nda-2211.pdf" }, { customer: "globex" }),
    team(refundDesk(pace), { ticket: "88213" }, { env: "staging" }),
    team(briefing(pace), { topic: "solid-state batteries" }, { customer: "acme" }),
  ];
}
