// The site over docs/: `npm run docs` in the root of the repository builds and serves it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const pages = fileURLToPath(new URL("../.pages/", import.meta.url));
const { version, repository: { url } } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const repository = url.replace(/^git\+|\.git$/g, "");
const titleOf = (page) => /^# (.+)/m.exec(readFileSync(`${pages}${page}.md`, "utf8"))?.[1] ?? page;
const group = (text, names, collapsed = false) => ({
  text,
  collapsed,
  items: names.filter((name) => existsSync(`${pages}${name}.md`)).map((name) => ({ text: titleOf(name), link: `/${name}` })),
});

const GROUPS = [
  ["Start", ["getting-started", "where-it-runs", "examples/index", "command-line"]],
  [
    "Guides",
    ["answer-in-json", "chat", "answers-from-a-folder", "research-team", "approve-in-the-browser", "survive-a-crash", "run-on-ten-machines", "cut-the-cost", "test-without-paying", "ship-to-nextjs", "ship-to-lambda", "ship-to-kubernetes"].map((name) => `guides/${name}`),
  ],
  ["Concepts", ["concepts", "architecture", "principles", "structured-output", "chat", "content", "prompts", "context-format"]],
  ["Workflows", ["sequential", "parallel", "hierarchical", "phases", "loops", "graphs", "map-reduce", "delegation", "dag", "write-your-own-workflow"]],
  ["Agents", ["providers", "reasoning", "tools", "file-tools", "web-tools", "process-tools", "tool-pipelines", "security-of-tools", "mcp", "memory", "memory-stores", "semantic-memory", "reflection"]],
  ["Safety and people", ["guardrails", "guards", "review", "streaming", "streaming-to-a-page", "http", "dashboard", "dashboard-history"]],
  ["Running", ["resilience", "budgets", "caching", "faults", "cancellation", "durability", "effects", "durability-cost", "long-running", "network", "network-backends", "workers", "schedules", "a2a", "webhooks", "deployment", "upgrades"]],
  ["Watching", ["explain", "traces", "capture", "cost", "events", "logging", "opentelemetry", "prometheus"]],
  ["Testing", ["testing", "record-and-replay", "evaluate", "choose-a-model", "rehearse", "network-testing"]],
  ["Compared", ["comparison", "coming-from-ai-sdk", "coming-from-langgraph", "coming-from-mastra", "coming-from-openai-agents", "coming-from-java"]],
  ["Reference", ["api/index", "hooks", "tokens", "errors", "dashboard-protocol", "writing-a-plugin", "writing-a-backend", "performance", "decisions/index", "contributing"]],
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
      // Tables of the reference have anchors.
      const anchors = (html) => html.replaceAll(/&lt;a id=&quot;([\w-]+)&quot;&gt;&lt;\/a&gt;/g, '<a id="$1"></a>');
      // Double braces are text, too: Vue would evaluate them.
      const literal = (html) => html.replaceAll("{{", "<span v-pre>{{</span>");
      md.renderer.rules.text = (...args) => literal(anchors(text(...args)));
      md.renderer.rules.code_inline = (...args) => code(...args).replace(/^<code/, "<code v-pre").replace("v-pre v-pre", "v-pre");
    },
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        // Of the reference the names are found, of all other pages every word.
        _render: (src, env, md) => md.render(env.relativePath.startsWith("api/") ? (/^# .*/m.exec(src)?.[0] ?? "") : src, env),
      },
    },
    editLink: {
      // The pattern becomes a part of the page, so it uses no variable of this file. Generated pages have their source elsewhere.
      pattern: `${repository}/edit/main/docs/:path`,
      text: "Edit this page",
    },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "Guides", link: "/guides/answer-in-json" },
      { text: "Examples", link: "/examples/index" },
      { text: "Reference", link: "/api/index" },
      { text: "Errors", link: "/errors" },
      { text: version, items: [{ text: `Changes of ${version}`, link: "/changes" }] },
    ],
    sidebar: [
      ...GROUPS.map(([text, names], i) => group(text, names, i > 1)),
      ...(others.length > 0 ? [group("More", others, true)] : []),
    ],
  },
});
