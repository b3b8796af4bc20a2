// A task whose result follows a schema. The result is validated, corrected if necessary, and typed.
// A template variable supplies the text.
// Run it: npm run example -- 03
import { Ensemble, Task } from "agentensemble";
import { z } from "zod";
import { chooseModel } from "./support/model.js";

const article = `# Rain gardens

## Purpose
A rain garden is a shallow bed that collects the water from a roof or a street. The water seeps into the ground instead of filling the sewer.

## Plants
The plants have to bear both wet and dry weeks. Irises, sedges and many asters do so.

## Limits
A rain garden needs a distance from the house, so that the cellar stays dry. On clay the water seeps away too slowly.`;

const notes = new Task({
  description: "Take notes on this article:\n---\n{article}\n---",
  outputType: z.object({
    summary: z.string().describe("one sentence"),
    points: z
      .array(
        z.object({
          statement: z.string(),
          section: z.string().describe("heading it stands under"),
        }),
      )
      .max(4),
  }),
});

const { model, name, note } = chooseModel(4);
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({ model, tasks: [notes] }).run({ article });

// The schema determines the type of `parsed`: { summary: string; points: { statement: string;
// section: string }[] }
const parsed = output.getOutput(notes)?.parsed;
console.log(`Summary: ${parsed?.summary}`);
for (const { section, statement } of parsed?.points ?? []) console.log(`[${section}] ${statement}`);
