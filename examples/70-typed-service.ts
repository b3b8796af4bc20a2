// A typed service. Its inputs and its output have schemas. A writer calls a translator as a tool
// with typed arguments and a typed result.
// Run it: npm run example -- 70
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import { Agent, agentTool, Ensemble, Task, ValidationError } from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(({ messages, tools = [] }) => {
  const system = messages[0]?.content as string;
  const user = messages.find(({ role }) => role === "user")?.content as string;
  if (system.includes("Translator"))
    return user.includes("Into de")
      ? '{"text":"Der Tee ist fertig."}'
      : '{"text":"Le thé est prêt."}';
  const results = messages.filter(({ role }) => role === "tool");
  if (tools.length > 0 && results.length === 0)
    return {
      toolCalls: ["de", "fr"].map((to) => ({
        name: "translate",
        arguments: { text: "The tea is ready.", to },
      })),
    };
  const [de, fr] = results.map(({ content }) => JSON.parse(content as string) as { text: string });
  return JSON.stringify({ en: "The tea is ready.", de: de?.text, fr: fr?.text });
});
console.log(`Model: ${name}\n`);

const translate = agentTool(
  new Agent({ role: "Translator", goal: "Translate faithfully, in the same tone" }),
  {
    name: "translate",
    description: "Translates a text",
    inputType: z.object({ text: z.string(), to: z.enum(["de", "fr"]) }),
    outputType: z.object({ text: z.string() }),
    prompt: ({ text, to }) => `Into ${to}: ${text}`,
  },
);

const announce = new Task({
  description: "Announce in at most {words} words: {news}",
  expectedOutput: "The announcement in English, German and French",
  outputType: z.object({ en: z.string(), de: z.string(), fr: z.string() }),
  agent: new Agent({ role: "Writer", goal: "Write short announcements", tools: [translate] }),
});

await using service = new Ensemble({
  model,
  inputType: z.object({ news: z.string().min(1), words: z.number().int().default(10) }),
  tasks: [announce],
});

const output = await service.run({ news: "the tea is ready" });
const { en, de, fr } = output.getOutput(announce)?.parsed ?? { en: "", de: "", fr: "" };
console.log(`en: ${en}\nde: ${de}\nfr: ${fr}`);
for (const { workerRole, succeeded } of output.trace.taskTraces[0]?.delegations ?? [])
  console.log(`  ${workerRole}: ${succeeded ? "done" : "failed"}`);

try {
  await service.run({ news: "" });
} catch (error) {
  if (!ValidationError.isInstance(error)) throw error;
  console.log(`refused before any call: ${error.message}`);
}
