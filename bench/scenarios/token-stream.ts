import { Ensemble } from "agentensemble";
import type { Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { conversation } from "../work/hand-written.js";
import { streamingModel } from "../work/models.js";
import { agentTask } from "../work/team.js";

const TOKENS = 5_000;
const { model, text } = streamingModel(TOKENS);

function byHand(around: Around): Work {
  return () =>
    around.unit("stream", async () => {
      let received = "";
      let final = "";
      for await (const chunk of model.stream({ messages: conversation("Speak") })) {
        if (chunk.type === "text") {
          around.token(chunk.text);
          received += chunk.text;
        } else if (chunk.type === "finish") final = chunk.response.message.content;
      }
      expectResult(received, text);
      expectResult(final, text);
    });
}

function byFramework(): Work {
  const ensemble = new Ensemble({ model, tasks: [agentTask("Speak")] });
  return async () => {
    const handle = ensemble.stream();
    let received = "";
    for await (const event of handle.events) if (event.type === "token") received += event.token;
    expectResult(received, text);
    expectResult((await handle.output).raw, text);
  };
}

/** The path of every token from the model to the reader of the stream. */
export const tokenStreamScenario = cpuScenario({
  id: "S6",
  title: "stream of 5,000 tokens",
  unit: "us CPU/token",
  goal: 0.8,
  units: TOKENS,
  workOf: compare(byHand, byFramework),
});
