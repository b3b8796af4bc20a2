// Quotas of a chat. The plan of a user determines the number of messages a day. Each thread also
// has a limit. A message after the limit is refused before the model is called.
// Run it: npm run example -- 73
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import { Agent, Conversation, TurnQuotaError } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const DAY = 86_400_000;
const { model, name } = realOrScripted(() => "Noted.");
console.log(`Model: ${name}\n`);

await using chat = new Conversation({
  name: "notes",
  agent: new Agent({ role: "Assistant", goal: "Answers in one sentence" }),
  model,
  // The first user has a paid plan. Windows begin at midnight (UTC).
  quota: (owner) => ({ windowMs: DAY, maxRequests: owner === "ada" ? 20 : 2 }),
  threadQuota: { windowMs: DAY, maxRequests: 3, maxTokens: 50_000 },
});

async function send(owner: string, id: string): Promise<void> {
  try {
    const { text } = await chat.thread(id, { owner }).send("Remember this.");
    console.log(`${owner} in ${id}: ${text}`);
  } catch (error) {
    if (!TurnQuotaError.isInstance(error)) throw error;
    const { code, limit, unit, scope } = error;
    console.log(`${owner} in ${id}: ${code} (${limit} ${unit} of the ${scope})`);
  }
}

for (let n = 0; n < 4; n++) await send("ada", "trip");
await send("ada", "taxes"); // another thread of the same user
for (let n = 0; n < 3; n++) await send("ben", "garden");
await send("ben", "weather"); // a new thread has no new quota

for (const owner of ["ada", "ben"]) {
  const { threads } = await chat.threads({ owner });
  const shown = threads.map(({ id, turns }) => `${id} (turns: ${turns})`);
  const { owner: day } = await chat.thread("any", { owner }).usage();
  const left = (day?.quota.maxRequests ?? 0) - (day?.used.requests ?? 0);
  console.log(`${owner}: ${shown.sort().reverse().join(", ")}; messages left today: ${left}`);
}
