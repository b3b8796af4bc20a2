/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-argument -- what a wrong use gives has no type */
// Promises about agents, tasks, tools and outputs, kept by the compiler: every `@ts-expect-error` fails the build once it is accepted.
import type { EnsembleOutput, OutputGuardrail, TaskOutput, Tool } from "agentensemble";
import {
  Agent,
  Ensemble,
  GuardrailResult,
  Task,
  namedGuardrail,
  openai,
  tool,
} from "agentensemble";
import { expectTypeOf } from "expect-type";
import * as v from "valibot";
import { z } from "zod";

const Report = z.object({ title: z.string(), findings: z.array(z.string()) });
type Report = z.infer<typeof Report>;
const judge = (ok: boolean): GuardrailResult =>
  ok ? GuardrailResult.success() : GuardrailResult.failure("no");
const agent = new Agent({ role: "r", goal: "g" });

export function valuesOfTasks(output: EnsembleOutput): void {
  const structured = new Task({ description: "d", outputType: Report });
  expectTypeOf(structured).toEqualTypeOf<Task<Report>>();
  expectTypeOf(output.getOutput(structured)).toEqualTypeOf<TaskOutput<Report> | undefined>();
  expectTypeOf(output.getOutput(structured)?.parsed.findings).toEqualTypeOf<string[] | undefined>();
  // @ts-expect-error the schema has no such field
  void output.getOutput(structured)?.parsed.finding;
  expectTypeOf(new Task({ description: "d" })).toEqualTypeOf<Task>();
  expectTypeOf(new Task({ description: "d", agent })).toEqualTypeOf<Task>();
  expectTypeOf(Task.of("d", Report)).toEqualTypeOf<Task<Report>>();
  expectTypeOf(Task.of("d", "e")).toEqualTypeOf<Task>();
  expectTypeOf(output.taskOutputs[0]?.parsed).toEqualTypeOf<unknown>();
  const outputs: readonly (TaskOutput | undefined)[] = [
    output.getOutput(structured),
    output.getOutput(Task.of("d")),
  ];
  void outputs;
  // @ts-expect-error valibot has no JSON Schema of its own
  void new Task({ description: "d", outputType: v.object({ a: v.string() }) });
  expectTypeOf(
    new Task({
      description: "d",
      outputType: { schema: v.object({ a: v.string() }), jsonSchema: { type: "object" } },
    }),
  ).toEqualTypeOf<Task<{ a: string }>>();
}

export function valuesOfHandlers(): void {
  expectTypeOf(new Task({ description: "d", handler: () => "text" })).toEqualTypeOf<Task>();
  expectTypeOf(
    new Task({ description: "d", handler: async (ctx) => ({ n: ctx.contextOutputs.length }) }),
  ).toEqualTypeOf<Task<{ n: number }>>();
  expectTypeOf(
    new Task({
      description: "d",
      handler: tool({ name: "t", description: "d", execute: (input) => input }),
    }),
  ).toEqualTypeOf<Task>();
  void new Task({
    description: "d",
    outputType: Report,
    handler: (ctx) => ({ title: ctx.description, findings: [] }),
  });
  void new Task({
    description: "d",
    outputType: Report,
    handler: async () => '{"title":"x","findings":[]}',
  });
  // @ts-expect-error the handler forgets a field of the schema
  void new Task({ description: "d", outputType: Report, handler: () => ({ title: "x" }) });
  const load = new Task({ description: "d", handler: async () => [{ id: 1, total: 40 }] });
  const sum = new Task({
    description: "d",
    context: [load],
    handler: (ctx) => ({
      total: ctx.getOutput(load).parsed.reduce((n, order) => n + order.total, 0),
    }),
  });
  expectTypeOf(sum).toEqualTypeOf<Task<{ total: number }>>();
  void new Task({
    description: "d",
    context: [sum],
    // @ts-expect-error the value of the context task has no such field
    handler: (ctx) => ctx.getOutput(sum).parsed.totals,
  });
}

export function guardrails(): void {
  const noAddress: OutputGuardrail = ({ raw }) => judge(!raw.includes("@"));
  expectTypeOf(new Task({ description: "d", outputGuardrails: [noAddress] })).toEqualTypeOf<Task>();
  expectTypeOf(
    new Task({
      description: "d",
      outputType: Report,
      outputGuardrails: [
        namedGuardrail("n", noAddress),
        ({ parsed }) => judge(parsed.findings.length > 2),
      ],
    }),
  ).toEqualTypeOf<Task<Report>>();
  void new Task({
    description: "d",
    outputType: Report,
    // @ts-expect-error the schema has no such field
    outputGuardrails: [({ parsed }) => judge(parsed.finding)],
  });
  expectTypeOf(
    new Task({
      description: "d",
      handler: () => ({ n: 1 }),
      outputGuardrails: [({ parsed }) => judge(parsed.n > 0)],
    }),
  ).toEqualTypeOf<Task<{ n: number }>>();
  expectTypeOf(
    new Task({
      description: "d",
      handler: (ctx) => ({ n: ctx.description.length }),
      outputGuardrails: [({ parsed }) => judge(parsed.n > 0)],
    }),
  ).toEqualTypeOf<Task<{ n: number }>>();
  expectTypeOf(
    new Task({
      description: "d",
      outputGuardrails: [({ parsed }) => judge(parsed.n > 0)],
      handler: () => ({ n: 1 }),
    }),
  ).toEqualTypeOf<Task<{ n: number }>>();
  void new Task({
    description: "d",
    outputGuardrails: [({ parsed }) => judge(parsed !== undefined)],
    // @ts-expect-error a known limit: written before a handler that takes its context, the guardrail fixes the type too early
    handler: (ctx) => ({ n: ctx.description.length }),
  });
}

export function copies(): void {
  const structured = new Task({ description: "d", outputType: Report });
  expectTypeOf(new Task({ description: "d" }).with({ outputType: Report })).toEqualTypeOf<
    Task<Report>
  >();
  expectTypeOf(structured.with({ description: "e", agent: undefined })).toEqualTypeOf<
    Task<Report>
  >();
  const generic = <T>(task: Task<T>): Task<T> => task.with({ timeoutMs: 5 });
  expectTypeOf(generic(structured)).toEqualTypeOf<Task<Report>>();
}

export function tools(): void {
  const withDefault = tool({
    name: "w",
    description: "d",
    input: z.object({ city: z.string(), n: z.number().default(1) }),
    execute: async ({ city, n }) => city.repeat(n),
  });
  expectTypeOf(withDefault).toEqualTypeOf<Tool<{ city: string; n: number }>>();
  const plain = tool({ name: "w", description: "d", execute: (input) => input.trim() });
  expectTypeOf(plain).toEqualTypeOf<Tool>();
  const pair = tool({
    name: "w",
    description: "d",
    input: { schema: v.object({ a: v.string() }), jsonSchema: { type: "object" } },
    execute: ({ a }) => a,
  });
  const json = tool({
    name: "w",
    description: "d",
    input: { type: "object", properties: {} },
    execute: (input) => String(input.city),
  });
  const object = tool({
    name: "w",
    description: "d",
    input: z.object({ city: z.string() }),
    execute: async () => ({ degrees: 20 }),
  });
  const nothing = tool({
    name: "w",
    description: "d",
    input: z.object({ city: z.string() }),
    async execute({ city }, { signal }) {
      void [city, signal.aborted];
    },
  });
  void new Agent({
    role: "r",
    goal: "g",
    tools: [withDefault, plain, pair, json, object, nothing],
  });
  void tool({
    name: "w",
    description: "d",
    input: z.object({ city: z.string() }),
    // @ts-expect-error the input has no such field
    execute: ({ town }) => town,
  });
}

/** Values that may be undefined. */
export function optional(
  flag: boolean,
  o: { readonly model?: string; readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Ensemble {
  const helper = new Agent({
    role: "r",
    goal: "g",
    background: process.env["PERSONA"],
    maxIterations: flag ? 3 : undefined,
  });
  const task = new Task({
    description: "d",
    agent: helper,
    handler: undefined,
    tools: flag ? [tool({ name: "t", description: "d", execute: (input) => input })] : undefined,
  });
  const model = openai(o.model ?? "gpt-5-mini", {
    apiKey: process.env["KEY"],
    baseURL: process.env["URL"],
  });
  const ensemble = new Ensemble({
    model,
    tasks: [task.with({ agent: undefined })],
    workflow: flag ? "SEQUENTIAL" : undefined,
  });
  void ensemble.run({}, { signal: o.signal, timeoutMs: o.timeoutMs });
  return ensemble;
}
