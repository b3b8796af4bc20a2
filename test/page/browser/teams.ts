import { setTimeout as delay } from "node:timers/promises";
import {
  Agent,
  Ensemble,
  Review,
  Task,
  tool,
  type ChatChunk,
  type ChatModel,
  type ChatResponse,
  type EnsembleOptions,
  type Plugin,
  type ReviewOptions,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";

/** A gate that tests open. */
export class Door {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const PRICES = { inputTokenRate: 0.001, outputTokenRate: 0.002, currency: "USD" };

function ensemble(board: Plugin, o: Omit<EnsembleOptions, "plugins">): Ensemble {
  return new Ensemble({ costConfiguration: PRICES, ...o, plugins: [board] });
}

/** A model that streams its answer word by word, each word after a gate. */
class WritingModel implements ChatModel {
  readonly provider = "test";
  readonly modelId = "writer";
  readonly #words: readonly (readonly [string, Door])[];

  constructor(words: readonly (readonly [string, Door])[]) {
    this.#words = words;
  }

  async chat(): Promise<ChatResponse> {
    for (const [, door] of this.#words) await door.opened;
    const content = this.#words.map(([word]) => word).join("");
    return {
      message: { role: "assistant", content },
      finishReason: "stop",
      usage: { inputTokens: 100, outputTokens: 50 },
    };
  }

  async *stream(): AsyncGenerator<ChatChunk> {
    for (const [text, door] of this.#words) {
      await door.opened;
      yield { type: "text", text };
    }
    yield { type: "finish", response: await this.chat() };
  }
}

/** Three sequential tasks; the second one writes after gates. */
export function writers(
  board: Plugin,
  first: Door,
  words: readonly (readonly [string, Door])[],
): Ensemble {
  const writer = new Agent({ role: "Writer", goal: "Writes", model: new WritingModel(words) });
  const notes = new Task({
    name: "notes",
    description: "Collect notes",
    handler: async () => {
      await first.opened;
      return "notes";
    },
  });
  const draft = new Task({
    name: "draft",
    description: "Write a draft",
    agent: writer,
    context: [notes],
  });
  const print = new Task({
    name: "print",
    description: "Print it",
    context: [draft],
    handler: () => "printed",
  });
  return ensemble(board, { name: "writers", tasks: [notes, draft, print] });
}

/** A task whose output is judged. */
export function reviewed(
  board: Plugin,
  review: ReviewOptions,
  text = "The price is 12 euros.",
): Ensemble {
  const model = new ScriptedModel(() => ({ text }));
  const agent = new Agent({ role: "Analyst", goal: "Estimates", model });
  return ensemble(board, {
    name: "prices",
    tasks: [
      new Task({
        name: "pricing",
        description: "Estimate the price",
        agent,
        review: Review.of(review),
      }),
    ],
  });
}

/** A task with a call that requires approval. `made`: the arguments of the calls. */
export function refunds(board: Plugin): {
  readonly team: Ensemble;
  readonly made: unknown[];
  readonly model: ScriptedModel;
} {
  const made: unknown[] = [];
  const refund = tool({
    name: "refund",
    description: "Pays money back",
    input: {
      type: "object",
      properties: { order: { type: "string" }, amount: { type: "number", maximum: 500 } },
      required: ["order", "amount"],
      additionalProperties: false,
    },
    effect: "send",
    requireApproval: true,
    execute: (input) => {
      made.push(input);
      return "paid";
    },
  });
  const model = new ScriptedModel((request) =>
    request.messages.some(({ role }) => role === "tool")
      ? { text: "Done." }
      : { toolCalls: [{ name: "refund", arguments: { order: "88213", amount: 412 } }] },
  );
  const agent = new Agent({ role: "Clerk", goal: "Settles", model, tools: [refund] });
  const settle = new Task({ name: "settle", description: "Settle the case", agent });
  return { team: ensemble(board, { name: "refund-desk", tasks: [settle] }), made, model };
}

/** A run that fails in its first task, before the second one starts. */
export function failing(board: Plugin): Ensemble {
  const extract = new Task({
    name: "extract",
    description: "Extract the clauses",
    handler: (): string => {
      throw new Error("The file is empty");
    },
  });
  const memo = new Task({
    name: "memo",
    description: "Write a memo",
    context: [extract],
    handler: () => "memo",
  });
  return ensemble(board, { name: "contracts", tasks: [extract, memo] });
}

/** A run whose model answers with a text. */
export function answering(board: Plugin, text: string): Ensemble {
  const agent = new Agent({
    role: "Writer",
    goal: "Writes",
    model: new ScriptedModel(() => ({ text })),
  });
  return ensemble(board, {
    name: "answers",
    tasks: [new Task({ name: "answer", description: "Answer", agent })],
  });
}

/** Many concurrent tasks. */
export function many(board: Plugin, count: number): Ensemble {
  const tasks = Array.from(
    { length: count },
    (_, i) => new Task({ name: `part-${i}`, description: `Part ${i}`, handler: () => `${i}` }),
  );
  return ensemble(board, { name: "many", workflow: "PARALLEL", tasks });
}

/** Waits until a condition is true; the time limit of the test ends the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(20);
}
