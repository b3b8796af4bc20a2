import type { ChatMessage, ChatModel } from "agentensemble";
import { Agent, Task, tool } from "agentensemble";
import type { Work, WorkOf } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { conversation } from "../work/hand-written.js";
import { countingModel, fanningModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { teamWork } from "../work/team.js";

interface StepInput {
  readonly value: number;
}

async function next({ value }: StepInput): Promise<string> {
  return written(value + 1);
}

const step = tool({
  name: "step",
  description: "Adds one to a number",
  input: { type: "object", properties: { value: { type: "integer" } }, required: ["value"] },
  execute: (input: StepInput) => next(input),
});

/**
 * The usual loop: call the model, run the requested tools concurrently, append the results, repeat.
 */
function byHand(model: ChatModel, expected: string, around: Around): Work {
  return async () => {
    const messages = conversation("Count");
    for (;;) {
      const { message } = await model.chat({ messages });
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) {
        expectResult(message.content, expected);
        return messages;
      }
      messages.push(message);
      const results = await Promise.all(
        calls.map((call) =>
          around.unit(call.name, async (): Promise<ChatMessage> => {
            const content = await next(JSON.parse(call.arguments) as StepInput); // the model wrote it
            return { role: "tool", toolCallId: call.id, toolName: call.name, content };
          }),
        ),
      );
      messages.push(...results);
    }
  };
}

function byFramework(model: ChatModel, expected: string): Work {
  const agent = new Agent({
    role: "Calculator",
    goal: "Say the right number",
    tools: [step],
    maxIterations: 1_000_000,
  });
  return teamWork(model, { tasks: [new Task({ description: "Count", agent })] }, (output) =>
    expectResult(output.raw, expected),
  );
}

function sides(model: ChatModel, expected: string): WorkOf {
  return compare(
    (around) => byHand(model, expected, around),
    () => byFramework(model, expected),
  );
}

/** One agent whose model calls a tool once in each turn. */
export function toolLoop(calls: number): WorkOf {
  return sides(countingModel(calls), written(calls));
}

/** One agent whose model calls a tool several times in each turn. */
function toolFan(turns: number, width: number): WorkOf {
  const calls = turns * width;
  return sides(fanningModel(turns, width), written((calls * (calls + 1)) / 2));
}

export const toolLoopScenario = cpuScenario({
  id: "S2",
  title: "100 tool calls in a row",
  unit: "us CPU/call",
  goal: 15,
  units: 100,
  workOf: toolLoop(100),
});

export const toolFanScenario = cpuScenario({
  id: "S3",
  title: "20 turns of 10 parallel tool calls",
  unit: "us CPU/call",
  goal: 7,
  units: 200,
  workOf: toolFan(20, 10),
});
