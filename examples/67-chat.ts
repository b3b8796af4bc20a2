// A chat in the terminal. The model receives the earlier messages. In a terminal, the program reads
// your input until an empty line. Elsewhere it sends three messages.
// Run it: npm run example -- 67
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import { createInterface } from "node:readline/promises";
import { Agent, Conversation } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(({ messages }) => {
  const said = messages.flatMap(({ role, content }) =>
    role === "user" && typeof content === "string" ? [content] : [],
  );
  const question = said.at(-1) ?? "";
  const known = /My name is (\w+)/.exec(said.join("\n"))?.[1];
  if (question.includes("?"))
    return known === undefined ? "I do not know yet." : `Your name is ${known}.`;
  return "Good to know.";
});
console.log(`Model: ${name}\n`);

async function* linesOf(): AsyncGenerator<string> {
  if (!process.stdin.isTTY) {
    yield* ["What is my name?", "My name is Ada.", "What is my name?"];
    return;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  for (;;) {
    const line = await terminal.question("> ");
    if (line.trim() === "") break;
    yield line;
  }
  terminal.close();
}

await using chat = new Conversation({
  agent: new Agent({ role: "Assistant", goal: "Answers in one sentence" }),
  model,
});
const thread = chat.thread("user-42");

for await (const line of linesOf()) {
  if (!process.stdin.isTTY) console.log(`> ${line}`);
  const turn = thread.stream(line);
  for await (const piece of turn.text) process.stdout.write(piece);
  const { output } = await turn.result;
  console.log(
    `\n  (${output.metrics.llmCallCount} call, ${(await thread.messages()).length} messages)`,
  );
}
