// Compiled with the tests: expected values and scorers have the types of the target's inputs and outputs.
import type { Conversation, Ensemble } from "agentensemble";
import { Task } from "agentensemble";
import { evaluate, exact, scorer, type Scorer } from "agentensemble/evals";
import { z } from "zod";

declare const chat: Conversation;
declare const team: Ensemble;
declare const typedTeam: Ensemble<{ readonly topic: string }>;
const rating = new Task({ description: "Rate {x}", outputType: z.object({ stars: z.number() }) });
const stars: Scorer<unknown, { readonly stars: number }> = scorer(
  "stars",
  ({ output, expected }) => output.stars === expected?.stars,
);

/** Never called: its body is checked by the compiler. */
export async function typesOfEvaluations(): Promise<void> {
  const one = await evaluate({
    name: "task",
    target: rating,
    dataset: [{ input: { x: 1 }, expected: { stars: 3 } }],
    scorers: [stars, exact()],
  });
  const found: number | undefined = one.cases[0]?.trials[0]?.output?.stars;
  void found;
  await evaluate({
    name: "a function with its context",
    target: async (names: readonly string[], context) => names.join(context.caseId),
    dataset: [{ input: ["a"], expected: "a" }],
    scorers: [
      exact(),
      scorer<readonly string[], string>("length", ({ output }) => output.length > 0),
    ],
  });
  await evaluate({
    name: "a scorer of another output",
    target: (name: string, context) => name + context.caseId,
    dataset: [{ input: "a" }],
    // @ts-expect-error -- the function returns a text
    scorers: [stars],
  });
  await evaluate({
    name: "wrong expected value",
    target: rating,
    // @ts-expect-error -- the task's value has a number
    dataset: [{ input: { x: 1 }, expected: { stars: "3" } }],
    scorers: [exact()],
  });
  await evaluate({
    name: "texts of ensembles",
    target: team,
    // @ts-expect-error -- the output of an ensemble is a text
    dataset: [{ input: {}, expected: 3 }],
    scorers: [exact()],
  });
  await evaluate({
    name: "inputs of a typed ensemble",
    target: typedTeam,
    // @ts-expect-error -- its inputs have a topic
    dataset: [{ input: { subject: "x" } }],
    scorers: [exact()],
  });
  await evaluate({
    name: "scorer of another output",
    target: chat,
    dataset: [{ input: ["a", "b"], expected: "c" }],
    // @ts-expect-error -- the output of a conversation is a text
    scorers: [stars],
  });
  await evaluate({
    name: "function",
    target: async (n: number, { signal }) => Promise.resolve(signal.aborted ? "" : String(n)),
    dataset: [{ input: 1, expected: "1" }],
    scorers: [scorer("length", ({ output }: { readonly output: string }) => output.length / 10)],
  });
  await evaluate({
    name: "task of an ensemble",
    target: { ensemble: team, task: rating },
    dataset: [{ input: {}, expected: { stars: 1 } }],
    scorers: [stars],
  });
}
