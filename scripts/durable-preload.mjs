// Loaded before an example with `--import`. Stores every run of the example with durable(), under
// ids that are equal in each process. Writes the end of each run to DURABLE_EXAMPLE_ENDS.
// DURABLE_EXAMPLE is the folder of the journal. If it is not set, runs are not stored.
// DURABLE_EXAMPLE_KILL is the number of the entry after which the process ends. Scripted models
// answer by the number of the call. In a new process, this number begins again. A process that
// stores no runs therefore writes its answers and failures to DURABLE_EXAMPLE_ANSWERS. A process
// with DURABLE_EXAMPLE_RESUMES answers the same requests from this file.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import {
  Ensemble,
  Kernel,
  MapReduceEnsemble,
  ModelCallError,
  Tokens,
  definePlugin,
  replace,
} from "agentensemble";
import { Journal, durable } from "agentensemble/durability";

const {
  DURABLE_EXAMPLE: folder,
  DURABLE_EXAMPLE_ENDS: ends,
  DURABLE_EXAMPLE_ANSWERS: answers,
  DURABLE_EXAMPLE_RESUMES: resumes,
} = process.env;
const last = Number(process.env.DURABLE_EXAMPLE_KILL ?? Infinity);
/** Ids that a program creates. They differ in each process. */
const RANDOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const known = new WeakSet();
let runs = 0;
let entries = 0;

function journal() {
  const kept = Journal.file(folder);
  const { append } = kept;
  kept.append = async (...args) => {
    await append.apply(kept, args);
    if (++entries >= last) {
      process.kill(process.pid, "SIGKILL");
      await new Promise(() => undefined); // the signal arrives shortly
    }
  };
  return kept;
}

/** The answers and failures of each request, in order. */
const recorded = new Map();
if (resumes !== undefined)
  for (const line of readFileSync(answers, "utf8").split("\n").filter(Boolean)) {
    const { request, ...answer } = JSON.parse(line);
    recorded.set(request, [...(recorded.get(request) ?? []), answer]);
  }

const keyOf = ({ provider, modelId }, { messages, tools = [] }) =>
  JSON.stringify([provider, modelId, messages, tools.map(({ name }) => name)]);

/**
 * Returns the next recorded answer to a request. Returns `undefined` if there is none.
 * @throws ModelCallError if the model failed at this place.
 */
function recordedAnswer(request) {
  const known = recorded.get(request);
  const next = known !== undefined && known.length > 1 ? known.shift() : known?.[0];
  if (next?.failure !== undefined) throw new ModelCallError(next.failure.message, next.failure);
  return next?.response;
}

function keep(request, answer) {
  if (folder === undefined) appendFileSync(answers, `${JSON.stringify({ request, ...answer })}\n`);
}

/** Writes the failure of a model, and throws it. */
function keepFailure(request, error) {
  if (error instanceof ModelCallError)
    keep(request, { failure: { ...error, message: error.message } });
  throw error;
}

/** Returns the model with equal answers to equal requests in each process. */
function sameInEachProcess(model) {
  const { provider, modelId, capabilities } = model;
  const stream = async function* (request, ...rest) {
    const key = keyOf(model, request);
    const response = recordedAnswer(key);
    if (response === undefined) {
      try {
        for await (const chunk of model.stream(request, ...rest)) {
          if (chunk.type === "finish") keep(key, { response: chunk.response });
          yield chunk;
        }
      } catch (error) {
        keepFailure(key, error);
      }
    } else {
      yield { type: "text", text: response.message.content };
      yield { type: "finish", response };
    }
  };
  return {
    provider,
    modelId,
    ...(capabilities !== undefined && { capabilities }),
    chat: async (request, ...rest) => {
      const key = keyOf(model, request);
      const known = recordedAnswer(key);
      if (known !== undefined) return known;
      try {
        const response = await model.chat(request, ...rest);
        keep(key, { response });
        return response;
      } catch (error) {
        return keepFailure(key, error);
      }
    },
    ...(model.stream !== undefined && { stream }),
  };
}

const observer = definePlugin({
  name: "ends-of-runs",
  bind(bind) {
    // Turns of conversations request the id of their run.
    const next = (use) => (use === "run" ? `example-${++runs}` : randomUUID());
    bind.single(Tokens.IdGenerator, { override: true }).toConstantValue({ next });
  },
  apply({ hooks }) {
    hooks.beforeLlmCall.tap({ name: "same", lane: "transform", order: "pre" }, ({ model }) =>
      replace({ model: sameInEachProcess(model) }),
    );
    hooks.afterRun.tap({ name: "write", lane: "transform" }, ({ run, outcome, output, error }) => {
      const { metrics, taskOutputs = [], exitReason, raw } = output ?? error?.output ?? {};
      const { inputTokens, outputTokens, llmCallCount, toolCallCount, costEstimate } =
        metrics ?? {};
      const totals = {
        inputTokens,
        outputTokens,
        llmCallCount,
        toolCallCount,
        costEstimate,
      };
      const outputs = taskOutputs.map((task) => [task.taskId, task.raw]);
      const end = {
        run: RANDOM_ID.test(run.id) ? "a random id" : run.id,
        outcome,
        exitReason,
        raw,
        error: error?.code,
        outputs,
        totals,
      };
      appendFileSync(ends, `${JSON.stringify({ ...end, entries })}\n`);
    });
  },
});

const { boot } = Kernel.prototype;
Kernel.prototype.boot = function bootKept() {
  if (!known.has(this)) {
    known.add(this);
    if (folder !== undefined) this.use(durable({ journal: journal(), inDoubt: "again" }));
    this.use(observer);
  }
  return boot.call(this);
};

for (const { prototype } of [Ensemble, MapReduceEnsemble])
  for (const name of ["run", "stream"]) {
    const begin = prototype[name];
    prototype[name] = function beginNamed(inputs, options = {}) {
      const named = "runId" in options ? options : { ...options, runId: `example-${++runs}` };
      return begin.call(this, inputs, named);
    };
  }
