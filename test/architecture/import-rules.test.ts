import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface Report {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

const RULES = createRequire(import.meta.url)(join(projectRoot, ".dependency-cruiser.cjs")) as {
  readonly forbidden: readonly { readonly name: string }[];
}; // a script has no declarations

/** The result of dependency-cruiser for the project in `root`, with our rules. */
function cruise(root: string, folders: readonly string[]): Report {
  const tool = join(projectRoot, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const options = [
    "--config",
    join(projectRoot, ".dependency-cruiser.cjs"),
    "--output-type",
    "json",
    "--no-cache",
    "--progress",
    "none",
  ];
  const output = execFileSync(process.execPath, [tool, ...options, ...folders], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(output) as Report; // the tool's own format
}

const breaches = ({ summary }: Report): readonly string[] =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort();

/** A project that breaks every rule once, next to allowed imports. */
const BROKEN: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }',
  "tsconfig.json":
    '{ "compilerOptions": { "module": "NodeNext", "moduleResolution": "NodeNext", "verbatimModuleSyntax": true } }',
  "node_modules/openai/package.json":
    '{ "name": "openai", "version": "1.0.0", "main": "index.js" }',
  "node_modules/openai/index.js": "module.exports = class {};",
  "node_modules/wink-nlp/package.json":
    '{ "name": "wink-nlp", "version": "1.0.0", "main": "index.js" }',
  "node_modules/wink-nlp/index.js": "module.exports = class {};",
  "node_modules/inversify/package.json":
    '{ "name": "inversify", "version": "1.0.0", "main": "index.js", "types": "index.d.ts" }',
  "node_modules/inversify/index.js": "exports.Container = class {};",
  "node_modules/inversify/index.d.ts": "export declare class Container {}",
  "dist/deep.js": "export const d = 1;",
  "src/util/text.ts": "export const text = 1;",
  "src/util/bad.ts":
    'import type { B } from "../contracts/b.js"; import { text } from "./text.js"; export const h: B = text;',
  "src/contracts/index.ts": 'export { a } from "./a.js";',
  "src/contracts/a.ts":
    'import type { Container } from "inversify"; import type { B } from "./b.js"; import { text } from "../util/text.js"; export const a: B | Container | number = text;',
  "src/contracts/b.ts": 'import { a } from "./a.js"; export type B = typeof a; export const b = a;',
  "src/contracts/loads-package.ts":
    'import { Container } from "inversify"; export const c = new Container();',
  "src/contracts/types-of-vendor.ts": 'import type OpenAI from "openai"; export type C = OpenAI;',
  "src/contracts/types-of-kernel.ts":
    'import type { K } from "../kernel/index.js"; export type D = K;',
  "src/kernel/index.ts":
    'import { e } from "../contracts/errors.js"; export type K = typeof e; export const k = e;',
  "src/contracts/errors.ts": "export const e = 1;",
  "src/contracts/phase.ts": "export class Phase {}",
  "src/kernel/knows.ts":
    'import { e } from "../contracts/errors.js"; import { text } from "../util/text.js"; import type { B } from "../contracts/b.js"; export const n: B = e + text;',
  "src/engine/plan.ts":
    'import type { Phase } from "../contracts/phase.js"; import { k } from "../kernel/index.js"; export const en = (p: Phase): unknown => [p, k];',
  "src/engine/bad.ts":
    'import { Phase } from "../contracts/phase.js"; import { one } from "../plugins/g/one/index.js"; export const bad = [Phase, one];',
  "src/explain/explain.ts":
    'import { en } from "../engine/plan.js"; import { d } from "../diagram/dag.js"; export const ex = [en, d];',
  "src/diagram/dag.ts": "export const d = 1;",
  "src/ensemble/ensemble.ts":
    'import { d } from "../diagram/dag.js"; import { one } from "../plugins/g/one/index.js"; export const en = [d, one];',
  "src/ensemble/bad.ts": 'import { mr } from "../map-reduce/mr.js"; export const b = mr;',
  "src/plugins/dashboard/feed/feed.ts":
    'import { p } from "../protocol/p.js"; import { one } from "../../g/one/index.js"; export const f = [p, one];',
  "src/plugins/dashboard/protocol/p.ts":
    'import type { B } from "../../../contracts/b.js"; import { text } from "../../../util/text.js"; export const p: B = text;',
  "src/map-reduce/mr.ts":
    'import { en } from "../ensemble/ensemble.js"; import { s } from "../service/service.js"; export const mr = [en, s];',
  "src/evals/evals.ts":
    'import { mr } from "../map-reduce/mr.js"; import { f } from "../face.js"; export const s = [mr, f];',
  "src/service/service.ts": "export const s = 1;",
  "src/kernel/hooks/lanes.ts": "export const l = 1;",
  "src/kernel/hooks/step.ts": 'import { l } from "./lanes.js"; export const st = l;',
  "src/engine/fires.ts": 'import { l } from "../kernel/hooks/lanes.js"; export const fi = l;',
  "src/kernel/bad.ts": 'import { one } from "../plugins/g/one/index.js"; export const x = one;',
  "src/engine/barrel.ts": 'import { a } from "../contracts/index.js"; export const y = a;',
  "src/plugins/g/shared/s.ts": "export const s = 1;",
  "src/plugins/shared/t/t.ts": "export const t = 1;",
  "src/plugins/g/one/index.ts":
    'import { k } from "../../../kernel/index.js"; import { text } from "../../../util/text.js"; import { s } from "../shared/s.js"; import { t } from "../../shared/t/t.js"; import "node:fs"; export const one = [k, text, s, t];',
  "src/plugins/g/two/index.ts": 'import { one } from "../one/index.js"; export const two = one;',
  "src/plugins/g/two/lazy.ts":
    'export const load = async (): Promise<unknown> => import("openai");',
  "src/plugins/h/three/index.ts":
    'import { s } from "../../g/shared/s.js"; import { x } from "../../../kernel/bad.js"; import { en } from "../../../engine/plan.js"; export const three = [s, x, en];',
  "src/plugins/providers/openai/client.ts":
    'export const load = async (): Promise<unknown> => [await import("openai"), await import("wink-nlp")];',
  "src/plugins/lone/index.ts":
    'import { one } from "../g/one/index.js"; import { p } from "./part.js"; export const lone = [one, p];',
  "src/plugins/lone/part.ts": "export const p = 1;",
  "src/cli/main.ts":
    'import { x } from "../kernel/bad.js"; import { one } from "../plugins/g/one/index.js"; export const m = [x, one];',
  "src/face.ts": 'import { m } from "./cli/main.js"; export const f = m;',
  "src/cycle-a.ts": 'import { cb } from "./cycle-b.js"; export const ca = (): unknown => cb;',
  "src/cycle-b.ts": 'import { ca } from "./cycle-a.js"; export const cb = (): unknown => ca;',
  "src/tested.ts": 'import { t } from "../test/t.js"; export const u = t;',
  "src/lost.ts": 'import { nowhere } from "./nowhere.js"; export const n = nowhere;',
  "page/src/main.ts":
    'import { a } from "../../src/contracts/a.js"; import { p } from "../../src/plugins/dashboard/protocol/p.js"; import { f } from "../../src/plugins/dashboard/feed/feed.js"; import type OpenAI from "openai"; export const m: OpenAI = [a, p, f];',
  "test/t.ts": 'import { d } from "../dist/deep.js"; export const t = d;',
  "test/outside/plugin.ts": 'import { k } from "../../src/kernel/index.js"; export const p = k;',
  "examples/e.ts": 'import { k } from "../src/kernel/index.js"; export const e = k;',
};

/** Packages that one place of the sources may import, each with the name of its rule. */
const VENDORS: Readonly<Record<string, string>> = {
  "@a2a-js/sdk": "@a2a-js/",
  "@ai-sdk/provider": "@ai-sdk/",
  "@anthropic-ai/sdk": "@anthropic-ai/",
  "@electric-sql/pglite": "@electric-sql/",
  "@energetic-ai/core": "@energetic-ai/",
  "@modelcontextprotocol/client": "@modelcontextprotocol/",
  "@nats-io/jetstream": "@nats-io/",
  "@opentelemetry/api": "@opentelemetry/",
  "@toon-format/toon": "@toon-format/",
  bullmq: "(bullmq|ioredis)/",
  commander: "commander/",
  croner: "croner/",
  "csv-parse": "csv-parse/",
  diff: "diff/",
  "eventsource-parser": "eventsource-parser/",
  "html-to-text": "(temporal-polyfill|html-to-text|turndown)/",
  "ipaddr.js": "ipaddr\\.js/",
  "magic-bytes.js": "magic-bytes\\.js/",
  pg: "pg/",
  "prom-client": "prom-client",
  re2js: "re2js/",
};

/** Each package, imported in a place where none of them is allowed. */
function withVendors(): Readonly<Record<string, string>> {
  const names = Object.keys(VENDORS);
  const files: Record<string, string> = {
    "src/ensemble/vendors.ts": names.map((name) => `import "${name}";`).join("\n"),
  };
  for (const name of names) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({ name, main: "index.js" });
    files[`node_modules/${name}/index.js`] = "module.exports = {};";
  }
  return files;
}

describe("the import rules", function () {
  this.timeout(120_000);

  it("report each kind of violation, and nothing else", () => {
    const root = temporaryFolder();
    for (const [path, text] of Object.entries({ ...BROKEN, ...withVendors() })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const found = cruise(root, ["src", "page", "test", "examples"]);
    const broken = new Set(found.summary.violations.map(({ rule }) => rule.name));
    expect([...broken]).to.have.members(RULES.forbidden.map(({ name }) => name));
    const vendors = Object.entries(VENDORS).map(
      ([name, rule]) => `vendor-${rule}: src/ensemble/vendors.ts -> node_modules/${name}/index.js`,
    );
    const planted = [
      "barrels-are-for-users: src/engine/barrel.ts -> src/contracts/index.ts",
      "command-line-uses-the-face: src/cli/main.ts -> src/kernel/bad.ts",
      "contracts-load-no-package: src/contracts/loads-package.ts -> node_modules/inversify/index.js",
      "contracts-stand-alone: src/contracts/types-of-kernel.ts -> src/kernel/index.ts",
      "contracts-types-of-few-packages: src/contracts/types-of-vendor.ts -> node_modules/openai/index.js",
      "doors-are-for-users: src/evals/evals.ts -> src/face.ts",
      "engine-knows-no-plugin: src/engine/bad.ts -> src/plugins/g/one/index.ts",
      "engine-knows-no-workflow: src/engine/bad.ts -> src/contracts/phase.ts",
      "ensemble-stands-below-its-users: src/ensemble/bad.ts -> src/map-reduce/mr.ts",
      "examples-are-users: examples/e.ts -> src/kernel/index.ts",
      "explain-diagram-and-service-stand-below-the-ensemble: src/explain/explain.ts -> src/diagram/dag.ts",
      "kernel-knows-few-contracts: src/kernel/bad.ts -> src/plugins/g/one/index.ts",
      "kernel-knows-few-contracts: src/kernel/knows.ts -> src/contracts/b.ts",
      "lone-plugins-too: src/plugins/lone/index.ts -> src/plugins/g/one/index.ts",
      "no-build-imports: test/t.ts -> dist/deep.js",
      "no-cycles: src/cycle-a.ts -> src/cycle-b.ts",
      "nobody-needs-the-command-line: src/face.ts -> src/cli/main.ts",
      "outsiders-are-users: test/outside/plugin.ts -> src/kernel/index.ts",
      "plugins-meet-through-contracts: src/plugins/g/two/index.ts -> src/plugins/g/one/index.ts",
      "plugins-meet-through-contracts: src/plugins/h/three/index.ts -> src/engine/plan.ts",
      "plugins-meet-through-contracts: src/plugins/h/three/index.ts -> src/kernel/bad.ts",
      "plugins-meet-through-contracts: src/plugins/h/three/index.ts -> src/plugins/g/shared/s.ts",
      "resolvable: src/lost.ts -> ./nowhere.js",
      "rooms-meet-through-the-ensemble: src/evals/evals.ts -> src/map-reduce/mr.ts",
      "services-are-loaded-when-they-start: src/map-reduce/mr.ts -> src/service/service.ts",
      "sources-end-at-src: src/tested.ts -> test/t.ts",
      "steps-alone-fire-hooks: src/engine/fires.ts -> src/kernel/hooks/lanes.ts",
      "the-dashboard-is-one-plugin: src/plugins/dashboard/feed/feed.ts -> src/plugins/g/one/index.ts",
      "the-page-has-few-packages: page/src/main.ts -> node_modules/openai/index.js",
      "the-page-knows-the-protocol-only: page/src/main.ts -> src/plugins/dashboard/feed/feed.ts",
      "the-page-shares-the-protocol: src/plugins/dashboard/protocol/p.ts -> src/util/text.ts",
      "the-page-takes-types-of-contracts: page/src/main.ts -> src/contracts/a.ts",
      "util-stands-alone: src/util/bad.ts -> src/contracts/b.ts",
      "vendor-openai: src/contracts/types-of-vendor.ts -> node_modules/openai/index.js",
      "vendor-openai: src/plugins/g/two/lazy.ts -> node_modules/openai/index.js",
      "vendor-wink-: src/plugins/providers/openai/client.ts -> node_modules/wink-nlp/index.js",
    ];
    expect(breaches(found)).to.deep.equal([...planted, ...vendors].sort());
  });
});
