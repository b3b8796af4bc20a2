import type { ChatModel, ChatResponse } from "agentensemble";
import { Ensemble, Task } from "agentensemble";
import type { Scenario, SideName, Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage, cpuOf, repetitions } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { agentTask } from "../work/team.js";

const QUESTION = "What is the answer?";
const ANSWER: ChatResponse = {
  message: { role: "assistant", content: "42" },
  finishReason: "stop",
  usage: { inputTokens: 10, outputTokens: 5 },
};
const model: ChatModel = {
  provider: "bench",
  modelId: "constant",
  chat: () => Promise.resolve(ANSWER),
};

function handlerByHand(around: Around): Work {
  return async () => expectResult(await around.unit(QUESTION, async () => "42"), "42");
}

function modelByHand(around: Around): Work {
  const ask = async (): Promise<string> => {
    const { message } = await model.chat({ messages: [{ role: "user", content: QUESTION }] });
    return message.content;
  };
  return async () => expectResult(await around.unit(QUESTION, ask), "42");
}

function byFramework(ensemble: Ensemble): Work {
  return async () => expectResult((await ensemble.run()).raw, "42");
}

function worksOf(side: SideName): readonly Work[] {
  const handled = new Task({ description: QUESTION, handler: () => "42" });
  return [
    compare(handlerByHand, () => byFramework(new Ensemble({ tasks: [handled] })))(side),
    compare(modelByHand, () => byFramework(new Ensemble({ model, tasks: [agentTask(QUESTION)] })))(
      side,
    ),
  ];
}

const unit = "us CPU/run";

/** A run of a single task: the cost of a run in addition to its tasks. */
export const singleRunScenario: Scenario = {
  id: "run",
  lines: [
    { title: "run of one task with a handler", unit },
    { title: "run of one task of an agent", unit },
  ],
  rounds: 15,
  async prepare(side) {
    const measured: { readonly work: Work; readonly times: number }[] = [];
    collectGarbage();
    for (const work of worksOf(side)) measured.push({ work, times: await repetitions(work) });
    return async () => {
      const values: number[] = [];
      for (const { work, times } of measured) values.push((await cpuOf(times, work)) / times);
      return values;
    };
  },
};
