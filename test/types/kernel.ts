// Type guarantees of kernel, tokens, plugins, hooks, runs and events, checked by the compiler.
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  Clock,
  EnsembleOutput,
  Plugin,
  TaskOutput,
  Token,
  WorkflowExecutor,
  Kernel,
} from "agentensemble";
import {
  Ensemble,
  ModelCallError,
  Task,
  TaskExecutionError,
  Tokens,
  ValidationError,
  Workflow,
  answer,
  createToken,
  definePlugin,
  openai,
  reject,
  replace,
  tool,
} from "agentensemble";
import { expectTypeOf } from "expect-type";
import { inject, injectable } from "inversify";

const said: ChatResponse = { message: { role: "assistant", content: "" }, finishReason: "stop" };
const echo = tool({ name: "echo", description: "d", execute: (input) => input });

export function containers(kernel: Kernel): void {
  kernel.container
    .bind(Tokens.ChatModel)
    .toConstantValue(openai("gpt-5-mini", { apiKey: process.env["KEY"] }));
  // @ts-expect-error a number is no model
  kernel.container.bind(Tokens.ChatModel).toConstantValue(42);
  expectTypeOf(kernel.container.get(Tokens.ChatModel)).toEqualTypeOf<ChatModel>();
  const mine = createToken<{ a: number }>("mine", "many");
  expectTypeOf(mine).toEqualTypeOf<Token<{ a: number }, "many">>();
  expectTypeOf(kernel.container.getAll(mine)).toEqualTypeOf<{ a: number }[]>();
  kernel.use({
    name: "x",
    bind: (bind) => {
      bind.many(Tokens.Tool).toConstantValue(echo);
      // @ts-expect-error a token that collects is not single
      bind.single(Tokens.Tool).toConstantValue(echo);
      // @ts-expect-error a token of one value does not collect
      bind.many(Tokens.Clock);
    },
  });
}

@injectable()
export class HouseModel implements ChatModel {
  readonly provider = "house";
  readonly modelId = "house-1";
  constructor(@inject(Tokens.Clock) private readonly clock: Clock) {}
  async chat(request: ChatRequest): Promise<ChatResponse> {
    return {
      ...said,
      message: {
        role: "assistant",
        content: `${request.messages.length} at ${this.clock.now().toISOString()}`,
      },
    };
  }
}

export async function classes(kernel: Kernel, tasks: readonly Task[]): Promise<void> {
  kernel.container.bind(Tokens.ChatModel).to(HouseModel).inSingletonScope();
  // @ts-expect-error no model
  kernel.container.bind(Tokens.ChatModel).to(Date);
  await new Ensemble({ tasks, kernel }).run(
    {},
    {
      bindings: (bind) =>
        bind.single(Tokens.ChatModel, { override: true }).toConstantValue(openai("gpt-5")),
    },
  );
}

export const lanes: Plugin = definePlugin({
  name: "lanes",
  apply({ hooks, events }) {
    hooks.beforeLlmCall.tap({ name: "t", lane: "transform" }, (call) =>
      replace({ ...call, request: { ...call.request, temperature: 0 } }),
    );
    hooks.beforeLlmCall.tap({ name: "a", lane: "answer" }, () => answer(said));
    hooks.beforeLlmCall.tap({ name: "a", lane: "answer" }, async (call) =>
      call.iteration > 9 ? undefined : answer(said),
    );
    hooks.beforeLlmCall.tap((call) => (call.iteration > 9 ? reject("enough") : undefined));
    hooks.beforeToolCall.tap({ name: "p" }, (call) =>
      call.tool.name === "rm" ? reject("no") : undefined,
    );
    hooks.afterTask.tap({ name: "p", lane: "policy" }, (call) =>
      call.outcome === "ok" && call.output.raw === "" ? reject("empty") : undefined,
    );
    hooks.afterTask.tap({ name: "t" }, (call) =>
      call.outcome === "ok" ? replace({ raw: call.output.raw.trim() }) : undefined,
    );
    hooks.afterLlmCall.tap((call) =>
      call.outcome === "ok"
        ? replace({ response: { ...call.response, finishReason: "stop" } })
        : undefined,
    );
    events.on((event) => void (event.type === "task_failed" && event.reason));
  },
});

export function wrongVerdicts({ hooks: h }: Kernel): void {
  // @ts-expect-error an answering tap can't reject
  h.beforeLlmCall.tap({ name: "x", lane: "answer" }, () => reject("no"));
  h.beforeLlmCall.tap({ name: "x", lane: "transform" }, async (call) =>
    // @ts-expect-error a transform can't reject, asynchronously neither
    call.iteration > 3 ? reject("no") : undefined,
  );
  // @ts-expect-error a policy can't answer
  h.beforeLlmCall.tap({ name: "x" }, () => answer(said));
  // @ts-expect-error a policy can't replace
  h.beforeLlmCall.tap({ name: "x" }, (call) => replace({ request: call.request }));
  // @ts-expect-error an after hook transforms unless it says otherwise
  h.afterTask.tap(() => reject("no"));
  // @ts-expect-error a commit returns nothing
  h.afterTask.tap({ name: "x", lane: "commit" }, () => replace({ raw: "" }));
  // @ts-expect-error what was written is not judged
  h.afterMemoryWrite.tap({ name: "x", lane: "policy" }, () => undefined);
  // @ts-expect-error a run has policies only
  h.beforeRun.tap({ name: "x", lane: "transform" }, () => undefined);
}

export function wrongPatches({ hooks: h }: Kernel): void {
  // @ts-expect-error the task's id is not for changing
  h.beforeTask.tap({ name: "x", lane: "transform" }, () => replace({ taskId: "other" }));
  h.beforeLlmCall.tap({ name: "x", lane: "transform" }, (call) =>
    // @ts-expect-error misspelt
    replace({ ...call, reqest: call.request }),
  );
  const tap = { name: "x", lane: "transform" } as const;
  h.beforeLlmCall.tap(tap, async (call) =>
    // @ts-expect-error misspelt, inside
    call.taskId === "" ? undefined : replace({ request: { ...call.request, temprature: 0 } }),
  );
}

export function outcomes({ hooks: h }: Kernel): void {
  h.afterLlmCall.tap((call) => {
    if (call.outcome === "ok" || call.outcome === "answered")
      expectTypeOf(call.response).toEqualTypeOf<ChatResponse>();
    else expectTypeOf(call.error).toEqualTypeOf<Error>();
  });
  // @ts-expect-error the response may be missing
  h.afterLlmCall.tap((call) => void call.response.message);
  h.afterRun.tap(
    (call) =>
      void (call.outcome === "ok" && expectTypeOf(call.output).toEqualTypeOf<EnsembleOutput>()),
  );
}

/** All tasks except the last run in rounds, with the outputs of the others; the last one judges. */
export const debate = (rounds: number): WorkflowExecutor => ({
  name: "DEBATE",
  validate(plan) {
    if (plan.tasks.length < 3) throw new ValidationError("A debate needs two speakers and a judge");
  },
  async execute(plan, run) {
    const speakers = plan.tasks.slice(0, -1);
    let heard: readonly TaskOutput[] = [];
    for (let attempt = 1; attempt <= rounds; attempt++) {
      const contextOutputs = heard;
      heard = await Promise.all(
        speakers.map(({ id }) => run.runTask(id, { attempt, contextOutputs })),
      );
    }
    const verdict = await run.runTask(plan.tasks.at(-1)?.id ?? "", { contextOutputs: heard });
    return { raw: verdict.raw, taskOutputs: [...heard, verdict] };
  },
});

export const debating: Plugin = definePlugin({
  name: "workflow-debate",
  bind: (bind) => bind.many(Tokens.WorkflowExecutor).toConstantValue(debate(2)),
});

export async function runs(task: Task, inputs: Record<string, string>): Promise<void> {
  const [builtIn, own]: Workflow[] = [Workflow.PARALLEL, "DEBATE"];
  void new Ensemble({
    tasks: [task],
    workflow: own,
    plugins: [debating],
    model: process.env["MODEL"],
  });
  const ensemble = new Ensemble({ tasks: [task], workflow: builtIn });
  await ensemble.run(inputs, { signal: AbortSignal.timeout(5) });
  // @ts-expect-error run options where the inputs belong
  await ensemble.run({ signal: AbortSignal.timeout(5) });
  // @ts-expect-error run options where the inputs belong
  await ensemble.run({ timeoutMs: 5 });
  await Ensemble.run("openai:gpt-5-mini", Task.of("a"), Task.of("b"));
  await Ensemble.run(task);
}

export async function streams(ensemble: Ensemble): Promise<string> {
  const handle = ensemble.stream({ topic: "a lighthouse" });
  let text = "";
  for await (const event of handle.events) {
    switch (event.type) {
      case "token":
        text += event.token;
        break;
      case "tool_called":
        text += `${event.toolName} ${event.durationMs}`;
        break;
      case "task_failed":
        text += event.reason;
        break;
      // @ts-expect-error no event of this name
      case "task_complete":
        break;
    }
  }
  return text + (await handle.output).exitReason;
}

export function errors(error: unknown): unknown {
  if (ModelCallError.isInstance(error))
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
  if (!TaskExecutionError.isInstance(error)) return undefined;
  expectTypeOf(error.taskDescription).toEqualTypeOf<string>();
  return ModelCallError.find(error)?.status;
}
