import type { EnsembleHooks } from "../../../contracts/hooks.js";
import type { RunKeeper } from "./run-keeper.js";

const name = "durable";

/** Adds the taps of `durable()`. `docs/durability.md` lists their lanes and orders. */
export function tapJournal(hooks: EnsembleHooks, keeper: RunKeeper): void {
  hooks.beforeRun.tap({ name, lane: "policy", order: "pre" }, (call) => keeper.open(call));
  hooks.afterRun.tap({ name, lane: "transform", order: "post" }, (call) => keeper.end(call));
  tapTasks(hooks, keeper);
  tapCalls(hooks, keeper);
}

function tapTasks(hooks: EnsembleHooks, keeper: RunKeeper): void {
  const { beforeTask, afterTask } = hooks;
  beforeTask.tap({ name, lane: "transform", order: "post" }, (call) =>
    keeper.of(call.run)?.tasks.begin(call),
  );
  beforeTask.tap({ name, lane: "answer", order: "pre" }, (call) =>
    keeper.of(call.run)?.tasks.answer(call),
  );
  // Model calls of the judges of an output are repeated when the output is answered. Other calls
  // are not repeated.
  afterTask.tap({ name, lane: "transform", order: "pre" }, (call) => {
    keeper.of(call.run)?.tasks.judge(call);
    return keeper.of(call.run)?.tasks.fail(call);
  });
  afterTask.tap({ name: "durable-judging", lane: "policy", order: "pre" }, (call) =>
    keeper.of(call.run)?.tasks.judge(call),
  );
  afterTask.tap({ name: "durable-answered", lane: "policy", order: "post" }, (call) =>
    keeper.of(call.run)?.tasks.answered(call),
  );
  afterTask.tap({ name: "durable-judged", lane: "review", order: "pre" }, (call) =>
    keeper.of(call.run)?.tasks.accept(call),
  );
  afterTask.tap({ name: "durable-reviewed", lane: "review", order: "post" }, (call) =>
    keeper.of(call.run)?.tasks.reviewed(call),
  );
  afterTask.tap({ name: "durable-accepted", lane: "commit", order: "pre" }, (call) =>
    keeper.of(call.run)?.tasks.accept(call),
  );
  afterTask.tap({ name, lane: "commit", order: "post" }, (call) =>
    keeper.of(call.run)?.tasks.finish(call),
  );
}

function tapCalls(hooks: EnsembleHooks, keeper: RunKeeper): void {
  const { beforeLlmCall, afterLlmCall, beforeToolCall, afterToolCall } = hooks;
  beforeLlmCall.tap({ name, lane: "transform" }, (call) => keeper.of(call.run)?.callBegins(call));
  beforeLlmCall.tap({ name, lane: "answer", order: "pre" }, (call) =>
    keeper.of(call.run)?.models.answer(call),
  );
  afterLlmCall.tap({ name, lane: "transform", order: "pre" }, (call) =>
    keeper.of(call.run)?.callEnds(call),
  );
  beforeToolCall.tap({ name, lane: "answer", order: "pre" }, (call) =>
    keeper.of(call.run)?.tools.answer(call),
  );
  beforeToolCall.tap({ name, lane: "answer", order: "post" }, (call) =>
    keeper.of(call.run)?.tools.begin(call),
  );
  afterToolCall.tap({ name, lane: "transform", order: "pre" }, (call) =>
    keeper.of(call.run)?.tools.settle(call),
  );
  hooks.beforeMemoryWrite.tap({ name, lane: "answer", order: "pre" }, (call) =>
    keeper.of(call.run)?.memory.answer(call),
  );
  hooks.afterMemoryWrite.tap({ name, lane: "transform", order: "pre" }, (call) =>
    keeper.of(call.run)?.memory.settle(call),
  );
}
