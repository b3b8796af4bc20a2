// An ensemble that people start on the dashboard from a form of its inputs. The program is its own
// visitor. It reads the form, previews a run, starts it and waits for its end. For your own team,
// open the printed address in a browser and omit the last part.
// Run it: npm run example -- 79
import { Agent, Ensemble, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(() => ({ text: "Swifts sleep while they fly." }));
console.log(`Model: ${name}\n`);

// Port 0 selects a free port. By default, the page is at http://localhost:7329.
await using board = dashboard({ port: 0 });
await using birds = new Ensemble({
  name: "birds",
  model,
  inputType: z.object({
    bird: z.string().describe("The bird to write about"),
    sentences: z.number().int().min(1).max(5).default(1),
    audience: z.enum(["children", "experts"]).optional(),
  }),
  tasks: [
    new Task({
      name: "write",
      description: "Write {sentences} sentences on how the {bird} sleeps",
      agent: new Agent({ role: "Writer", goal: "Writes about birds" }),
    }),
  ],
});
board.register("birds", birds, { title: "Birds", description: "A text about a bird" });
const address = await board.listen();
console.log(`The form: ${address}#/ensembles/birds`);

/** Sends a request to the dashboard as its page does. */
async function ask<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${address}api/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", origin: new URL(address).origin },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T; // the format of the dashboard protocol
}

interface Form {
  readonly ensemble: { readonly inputs: { readonly properties: Readonly<Record<string, object>> } };
}
const { ensemble } = await ask<Form>("ensembles/birds");
console.log(`Its fields: ${Object.keys(ensemble.inputs.properties).join(", ")}`);

const wrong = await ask<{ readonly fields: object }>("runs", { inputs: { sentences: 9 } });
console.log(`What is wrong: ${Object.keys(wrong.fields).join(", ")}`);

const inputs = { bird: "swift" };
interface Preview {
  readonly tasks: readonly { readonly description: string }[];
}
const preview = await ask<Preview>("ensembles/birds/explain", { inputs });
console.log(`Preview: ${preview.tasks[0]?.description}`);

const { runId } = await ask<{ readonly runId: string }>("runs", { inputs });
const events = await fetch(`${address}api/runs/${runId}/events`);
await events.text(); // ends with the run
const { summary } = await ask<{ readonly summary: { readonly state: string } }>(`runs/${runId}`);
console.log(`The run: ${summary.state}`);
