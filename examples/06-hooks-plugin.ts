// A plugin with a tap in each lane before every model call. `transform` changes the request,
// `policy` accepts or rejects it, and `answer` supplies the response. An event listener only
// observes.
// Run it: npm run example -- 06
import {
  answer,
  definePlugin,
  Ensemble,
  HookRejectedError,
  reject,
  replace,
  Task,
  type ChatMessage,
  type ChatResponse,
  type Plugin,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

/**
 * Masks addresses in all messages. The goal of an agent created from a description is in the system
 * message.
 */
const masked = (message: ChatMessage): ChatMessage =>
  typeof message.content === "string"
    ? { ...message, content: message.content.replace(/\S+@\S+/g, "[e-mail]") }
    : message;

/** `count` receives the end of each model call. */
function houseRules(count: (outcome: string) => void): Plugin {
  const cache = new Map<string, ChatResponse>();
  return definePlugin({
    name: "house-rules",
    apply({ hooks, events }) {
      hooks.beforeLlmCall.tap({ name: "mask", lane: "transform" }, ({ request }) =>
        replace({ request: { ...request, messages: request.messages.map(masked) } }),
      );
      hooks.beforeLlmCall.tap({ name: "secrets", lane: "policy" }, ({ request }) =>
        JSON.stringify(request.messages).includes("TOP SECRET")
          ? reject("secret papers never leave the house")
          : undefined,
      );
      hooks.beforeLlmCall.tap({ name: "cache", lane: "answer" }, ({ request }) => {
        const known = cache.get(JSON.stringify(request.messages));
        return known === undefined ? undefined : answer(known);
      });
      hooks.afterLlmCall.tap({ name: "remember", lane: "commit" }, (call) => {
        if (call.outcome === "ok") cache.set(JSON.stringify(call.request.messages), call.response);
      });
      hooks.afterLlmCall.tap({ name: "count" }, ({ outcome }) => void count(outcome));
      events.on((event) => {
        if (event.type === "task_failed") console.log(`  listener: ${event.taskId} failed`);
      });
    },
  });
}

const counts = new Map<string, number>();
const rules = houseRules((outcome) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
// The scripted model repeats the request, so that the output shows the masking.
const { model, name, note } = realOrScripted(
  ({ messages }) =>
    `I was asked: ${/Answer in one line: ([^\\]*)/.exec(JSON.stringify(messages))?.[1]}`,
);
console.log(`Model: ${name} (${note})\n`);

await using team = new Ensemble({
  model,
  tasks: [Task.of("Answer in one line: {question}")],
  plugins: [rules],
});

const question = "Is ann@example.org a valid address?";
console.log((await team.run({ question })).raw);
console.log((await team.run({ question })).raw, "(again: from the cache)");
try {
  await team.run({ question: "Summarise the TOP SECRET file." });
} catch (error) {
  console.log(HookRejectedError.find(error)?.message);
}
console.log(
  `\nModel calls by outcome: ${[...counts].map(([outcome, count]) => `${outcome} ${count}`).join(", ")}`,
);
