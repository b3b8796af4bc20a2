// The site over docs/: `npm run docs` in the root of the repository builds and serves it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const pages = fileURLToPath(new URL("../.pages/", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const titleOf = (page) => /^# (.+)/m.exec(readFileSync(`${pages}${page}.md`, "utf8"))?.[1] ?? page;
const group = (text, names, collapsed = false) => ({
  text,
  collapsed,
  items: names.filter((name) => existsSync(`${pages}${name}.md`)).map((name) => ({ text: titleOf(name), link: `/${name}` })),
});

const GROUPS = [
  ["Start", ["getting-started", "concepts", "command-line", "examples/index"]],
  ["Jobs", ["structured-output", "chat", "content", "streaming-to-a-page", "review", "durability", "workers", "cost", "testing", "evaluate", "choose-a-model", "guards", "rehearse", "deployment"]],
  ["Workflows", ["sequential", "parallel", "hierarchical", "phases", "loops", "graphs", "map-reduce", "delegation", "dag", "write-your-own-workflow"]],
  ["Agents", ["providers", "reasoning", "tools", "file-tools", "web-tools", "process-tools", "tool-pipelines", "security-of-tools", "mcp", "guardrails", "memory", "memory-stores", "semantic-memory", "reflection", "context-format"]],
  ["Running", ["resilience", "budgets", "caching", "faults", "cancellation", "streaming", "http", "explain", "record-and-replay", "long-running", "network", "network-backends", "network-testing", "a2a", "webhooks", "schedules", "upgrades"]],
  ["Watching", ["dashboard", "dashboard-history", "dashboard-protocol", "traces", "capture", "events", "logging", "opentelemetry", "prometheus"]],
  ["Coming from", ["coming-from-ai-sdk", "coming-from-langgraph", "coming-from-mastra", "coming-from-openai-agents", "coming-from-java"]],
  ["Reference", ["hooks", "tokens", "errors", "prompts", "writing-a-plugin", "writing-a-backend", "architecture", "principles", "performance", "decisions/index", "contributing"]],
];
const grouped = new Set(GROUPS.flatMap(([, names]) => names));
const others = readdirSync(pages)
  .filter((file) => file.endsWith(".md"))
  .map((file) => file.replace(/\.md$/, ""))
  .filter((name) => name !== "index" && !grouped.has(name));

/** The anchor of a heading, as in the repository. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .trim()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

export default defineConfig({
  title: "AgentEnsemble",
  description: "Teams of LLM agents on a small kernel of hooks and dependency injection",
  srcDir: ".pages",
  outDir: ".out",
  cacheDir: ".cache",
  cleanUrls: false,
  lastUpdated: false,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify }, // as the pages of the repository link
    config(md) {
      md.set({ html: false }); // pages have no HTML; what looks like it is text
      const text = md.renderer.rules.text;
      const code = md.renderer.rules.code_inline;
      // Double braces are text, too: Vue would evaluate them.
      const literal = (html) => html.replaceAll("{{", "<span v-pre>{{</span>");
      md.renderer.rules.text = (...args) => literal(text(...args));
      md.renderer.rules.code_inline = (...args) => code(...args).replace(/^<code/, "<code v-pre").replace("v-pre v-pre", "v-pre");
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "Examples", link: "/examples/index" },
      { text: "Errors", link: "/errors" },
      { text: version, items: [{ text: `Version ${version}`, link: "/" }] },
    ],
    sidebar: [
      ...GROUPS.map(([text, names], i) => group(text, names, i > 1)),
      ...(others.length > 0 ? [group("More", others, true)] : []),
    ],
  },
});
