// A custom workflow as a plugin. Speakers argue for several rounds, and each receives the previous
// statements. Then a judge decides.
// Run it: npm run example -- 08
import {
  Agent,
  definePlugin,
  Ensemble,
  Task,
  Tokens,
  ValidationError,
  type Plugin,
  type TaskOutput,
  type WorkflowExecutor,
  prompt,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

/** Adds the workflow DEBATE: the last task judges, and all other tasks argue. */
function debate(rounds: number): Plugin {
  const workflow: WorkflowExecutor = {
    name: "DEBATE",
    validate(plan) {
      if (plan.tasks.length < 3)
        throw new ValidationError(
          `A debate needs two speakers and a judge, got ${plan.tasks.length} tasks`,
        );
    },
    async execute(plan, run) {
      const ids = plan.tasks.map(({ id }) => id);
      const judge = ids.pop() ?? ""; // validate has checked the number
      let said: readonly TaskOutput[] = [];
      for (let round = 1; round <= rounds; round++) {
        const contextOutputs = said;
        said = await Promise.all(ids.map((id) => run.runTask(id, { contextOutputs })));
      }
      const verdict = await run.runTask(judge, { contextOutputs: said });
      return { raw: verdict.raw, taskOutputs: [...said, verdict] };
    },
  };
  return definePlugin({
    name: "workflow-debate",
    bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow),
  });
}

const motion = "The office should have a cat";
const speaker = (role: string, side: string): Task =>
  new Task({
    name: role.toLowerCase(),
    description: prompt`Argue ${side} this motion in one sentence, and answer what was said before: ${motion}.`,
    agent: new Agent({ role, goal: "Win the debate with honest arguments" }),
  });
const judge = new Task({
  name: "judge",
  description: prompt`Decide about this motion: ${motion}.`,
  agent: new Agent({ role: "Judge", goal: "Decide fairly and say why" }),
});

// The scripted speakers read their prompt. A speaker that received statements answers them.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  const role = /You are (\w+)/.exec(prompt)?.[1];
  const heard = prompt.includes("Context from Previous Tasks");
  if (role === "Judge") return "The cat may come on Fridays.";
  if (role === "Friend")
    return heard ? "Then those who sneeze get the quiet room." : "A cat calms everybody down.";
  return heard ? "Calm is no help to those who sneeze." : "Some of us sneeze near cats.";
});
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({
  model,
  tasks: [speaker("Friend", "for"), speaker("Sceptic", "against"), judge],
  workflow: "DEBATE",
  plugins: [debate(2)],
  onTaskComplete: ({ agentRole, taskOutput }) => console.log(`${agentRole}: ${taskOutput.raw}`),
}).run();
console.log(`\nVerdict: ${output.raw}`);
