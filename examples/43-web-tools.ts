// An agent that searches the web, reads a page and calls an endpoint. Forbidden addresses are
// refused. A server on this machine simulates the web.
// Run it: npm run example -- 43
// Without a key, a scripted model calls the tools. The tools are real.
import { Agent, Ensemble, Task } from "agentensemble";
import { httpTool, searxng, webScraperTool, webSearchTool } from "agentensemble/tools";
import { startWeb } from "./support/loopback-web.js";
import { realOrScripted } from "./support/scripted.js";

const web = await startWeb((origin) => ({
  "/search": JSON.stringify({
    results: [
      { title: "Swifts", url: `${origin}/swifts`, content: "Birds that hardly ever land." },
    ],
  }),
  "/swifts":
    "<nav>Menu</nav><h1>Swifts</h1><p>A swift can stay in the air for <b>ten months</b>.</p><script>track()</script>",
  "/count": (text: string) => `${text.split(/\s+/).length} words`,
}));

const tools = [
  webSearchTool({ provider: searxng({ baseURL: web.origin }) }),
  // Pages of the public web, and one server on this machine.
  webScraperTool({ allow: { hosts: [web.host] }, format: "markdown", maxContentLength: 2_000 }),
  httpTool({
    name: "count_words",
    description: "Counts the words of the input.",
    url: `${web.origin}/count`,
  }),
];

const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "web_search", arguments: { query: "how long can a swift fly" } }] },
  {
    toolCalls: [
      { name: "web_scrape", arguments: { url: `${web.origin}/swifts` } },
      { name: "web_scrape", arguments: { url: "http://localhost/admin" } },
    ],
  },
  { toolCalls: [{ name: "count_words", arguments: { input: "Swifts fly for ten months." } }] },
  "Swifts fly for ten months.",
]);
console.log(`Model: ${name} (${note})\n`);

const naturalist = new Agent({ role: "Naturalist", goal: "Answer from what you have read", tools });
await using team = new Ensemble({
  model,
  tasks: [
    new Task({
      description:
        "How long can a swift stay in the air? Search, read the page, count the words of your answer.",
      agent: naturalist,
    }),
  ],
  on: (e) =>
    e.type === "tool_called" &&
    console.log(`${e.toolName} ${e.toolArguments}\n  ${e.toolResult.replaceAll("\n", "\n  ")}\n`),
});

const output = await team.run();
console.log(`Answer: ${output.raw}`);
web.close();
