// The allowed imports. CONTRIBUTING.md explains the rules. `npm run rules` and the architecture
// test use this file. Paths are relative to the root. "type-only" edges do not exist at run time
// and may form cycles.
"use strict";
const { exports: entryPoints } = require("./package.json");

const escaped = (path) => path.replace(/^\.\//, "").replace(/[.]/g, "\\.");
const entryFiles = `^(${Object.values(entryPoints)
  .flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))
  .map(escaped)
  .join("|")})$`;
const builtIn = ["core"];
const onlyTypes = ["type-only"];
/** Folders that may import the ensemble. Some do not exist yet. */
const aboveEnsemble = "map-reduce|conversation|evals";
/** Files that the page of the dashboard may import in addition to its own files. */
const sharedWithPage = "^src/(contracts|plugins/dashboard/protocol)/";
const face = `ensemble|explain|diagram|service|${aboveEnsemble}`;

/** Only the files under `from` may import the package. */
const vendorOnlyIn = (vendor, from) => ({
  name: `vendor-${vendor}`,
  comment: `Only ${from} may import ${vendor}.`,
  severity: "error",
  from: { path: "^src/", pathNot: `^${from}/` },
  to: { path: `(^|/)node_modules/${vendor}` },
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "util-stands-alone",
      comment: "Helpers import nothing of ours but helpers: they know no agent, task or run.",
      severity: "error",
      from: { path: "^src/util/" },
      to: { path: "^src/", pathNot: "^src/util/" },
    },
    {
      name: "contracts-stand-alone",
      comment: "Contracts import nothing of ours but contracts and helpers.",
      severity: "error",
      from: { path: "^src/contracts/" },
      to: {
        pathNot: ["^src/(contracts|util)/", "(^|/)node_modules/"],
        dependencyTypesNot: builtIn,
      },
    },
    {
      name: "contracts-load-no-package",
      comment:
        "Contracts take types only, and only from inversify, tapable and @standard-schema/spec.",
      severity: "error",
      from: { path: "^src/contracts/" },
      to: { path: "(^|/)node_modules/", dependencyTypesNot: onlyTypes },
    },
    {
      name: "contracts-types-of-few-packages",
      comment:
        "Contracts take types only, and only from inversify, tapable and @standard-schema/spec.",
      severity: "error",
      from: { path: "^src/contracts/" },
      to: {
        path: "(^|/)node_modules/",
        pathNot: "(^|/)node_modules/(inversify|@inversifyjs|tapable|@standard-schema)/",
      },
    },
    {
      name: "kernel-knows-few-contracts",
      comment: "The kernel knows no task, agent, model or phase: only helpers and few contracts.",
      severity: "error",
      from: { path: "^src/kernel/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(kernel|util)/",
          "^src/contracts/(errors|events|hooks|plugin|runtime|token|tokens|types|validation)\\.ts$",
        ],
      },
    },
    {
      name: "steps-alone-fire-hooks",
      comment: "Only takeStep() fires hooks, so that each before hook has one after hook.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/kernel/hooks/step\\.ts$" },
      to: { path: "^src/kernel/hooks/lanes\\.ts$" },
    },
    {
      name: "engine-knows-no-plugin",
      comment: "The engine imports helpers, contracts and the kernel.",
      severity: "error",
      from: { path: "^src/engine/" },
      to: { path: "^src/", pathNot: "^src/(engine|kernel|contracts|util)/" },
    },
    {
      name: "engine-knows-no-workflow",
      comment: "Of phases, loops, graphs, map-reduces and reviews the engine takes types only.",
      severity: "error",
      from: { path: "^src/engine/" },
      to: {
        path: "^src/contracts/(phase|loop|graph|map-reduce|review)\\.ts$",
        dependencyTypesNot: onlyTypes,
      },
    },
    {
      name: "plugins-meet-through-contracts",
      comment:
        "A plugin imports helpers, contracts, the index of the kernel, its own folder, its own group's shared folder and that of all; never another plugin.",
      severity: "error",
      from: { path: "^src/plugins/(?!dashboard/)([^/]+)/([^/]+)/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(contracts|util)/",
          "^src/kernel/index\\.ts$",
          "^src/plugins/$1/$2/",
          "^src/plugins/($1/)?shared/",
        ],
      },
    },
    {
      name: "lone-plugins-too",
      comment:
        "A plugin that is alone in its group, and so lies in the group's folder, keeps to the same rule.",
      severity: "error",
      from: { path: "^src/plugins/([^/]+)/[^/]+$" },
      to: {
        path: "^src/",
        pathNot: ["^src/(contracts|util)/", "^src/kernel/index\\.ts$", "^src/plugins/($1|shared)/"],
      },
    },
    {
      name: "the-dashboard-is-one-plugin",
      comment: "It has several folders, which keep to the same rule together.",
      severity: "error",
      from: { path: "^src/plugins/dashboard/[^/]+/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(contracts|util)/",
          "^src/kernel/index\\.ts$",
          "^src/plugins/(dashboard|shared)/",
        ],
      },
    },
    {
      name: "the-page-shares-the-protocol",
      comment:
        "The page of the dashboard runs in browsers: what it shares with the server has no imports but types of contracts.",
      severity: "error",
      from: { path: "^src/plugins/dashboard/protocol/" },
      to: {
        pathNot: ["^src/plugins/dashboard/protocol/"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "the-page-knows-the-protocol-only",
      comment:
        "The page imports its own modules, the protocol of the dashboard and types of contracts.",
      severity: "error",
      from: { path: "^page/" },
      to: { path: "^(src|test|examples|bench|scripts|dist)/", pathNot: sharedWithPage },
    },
    {
      name: "the-page-takes-types-of-contracts",
      comment: "Contracts check options and make errors: the page needs none of that.",
      severity: "error",
      from: { path: "^page/" },
      to: { path: "^src/contracts/", dependencyTypesNot: onlyTypes },
    },
    {
      name: "the-page-has-few-packages",
      comment: "What the page imports is sent to every browser.",
      severity: "error",
      from: { path: "^page/" },
      to: {
        path: "(^|/)node_modules/",
        pathNot: "(^|/)node_modules/(preact|@preact|marked|diff)/",
      },
    },
    {
      name: "explain-diagram-and-service-stand-below-the-ensemble",
      comment: "They import the engine and plugins, not each other and nothing above them.",
      severity: "error",
      from: { path: "^src/(explain|diagram|service)/" },
      to: { path: `^src/(${face})/`, pathNot: "^src/$1/" },
    },
    {
      name: "services-are-loaded-when-they-start",
      comment: "The ensemble loads its service with import() at the first start.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/service/" },
      to: {
        path: "^src/service/",
        dependencyTypesNot: [...onlyTypes, "dynamic-import"],
      },
    },
    {
      name: "ensemble-stands-below-its-users",
      comment: "Rooms that are built on the ensemble import it, never the other way round.",
      severity: "error",
      from: { path: "^src/ensemble/" },
      to: { path: `^src/(${aboveEnsemble})/` },
    },
    {
      name: "rooms-meet-through-the-ensemble",
      comment: "Rooms that are built on the ensemble do not import each other.",
      severity: "error",
      from: { path: `^src/(${aboveEnsemble})/` },
      to: { path: `^src/(${aboveEnsemble})/`, pathNot: "^src/$1/" },
    },
    {
      name: "doors-are-for-users",
      comment: "Files in the root of src are entry points; only the command line is such a user.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: "^src/cli/" },
      to: { path: "^src/[^/]+\\.ts$" },
    },
    {
      name: "barrels-are-for-users",
      comment:
        "Inside src, contracts are imported file by file; the barrel serves the entry point.",
      severity: "error",
      from: { path: "^src/[^/]+/" },
      to: { path: "^src/contracts/index\\.ts$" },
    },
    {
      name: "command-line-uses-the-face",
      comment:
        "The command line imports what users may, contracts, helpers, the ensemble, and how the console plugin writes text.",
      severity: "error",
      from: { path: "^src/cli/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(cli|contracts|util)/",
          "^src/[^/]+\\.ts$",
          "^src/plugins/.+/index\\.ts$",
          "^src/plugins/observability/console/",
          "^src/ensemble/ensemble\\.ts$",
        ],
      },
    },
    {
      name: "nobody-needs-the-command-line",
      comment: "The command line is a user of the package; nothing of the package imports it.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
    vendorOnlyIn("openai", "src/plugins/providers/openai"),
    vendorOnlyIn("@anthropic-ai/", "src/plugins/providers/anthropic"),
    vendorOnlyIn("@ai-sdk/", "src/plugins/providers/ai-sdk"),
    vendorOnlyIn("wink-", "src/plugins/providers/offline"),
    vendorOnlyIn("@a2a-js/", "src/plugins/network"),
    vendorOnlyIn("(bullmq|ioredis)/", "src/plugins/network/redis"),
    vendorOnlyIn("@modelcontextprotocol/", "src/plugins/mcp"),
    vendorOnlyIn("@electric-sql/", "src/plugins/shared/sql"),
    vendorOnlyIn("pg/", "src/plugins/shared/sql"),
    vendorOnlyIn("@energetic-ai/", "src/plugins/memory/embeddings"),
    vendorOnlyIn("@opentelemetry/", "src/plugins/observability/otel"),
    vendorOnlyIn("prom-client", "src/plugins/observability/prometheus"),
    vendorOnlyIn("@toon-format/", "src/plugins/context-format"),
    vendorOnlyIn("re2js/", "src/(plugins/tools|util/regex)"),
    vendorOnlyIn("(temporal-polyfill|html-to-text|turndown)/", "src/plugins/tools"),
    vendorOnlyIn("ipaddr\\.js/", "src/plugins/shared/fetch"),
    vendorOnlyIn("magic-bytes\\.js/", "src/util"),
    vendorOnlyIn("csv-parse/", "src/evals/datasets"),
    vendorOnlyIn("diff/", "src/plugins/tools"),
    vendorOnlyIn("eventsource-parser/", "src/plugins/providers/shared"),
    vendorOnlyIn("commander/", "src/cli"),
    vendorOnlyIn("croner/", "src/service/schedules"),
    vendorOnlyIn("@nats-io/", "src/plugins/network/nats"),
    {
      name: "no-cycles",
      comment: "No cycles at run time.",
      severity: "error",
      from: { path: "^(src|page|test|examples|bench)/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: onlyTypes } },
    },
    {
      name: "sources-end-at-src",
      comment: "What ships imports nothing from tests, examples, benchmarks, scripts or the build.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(page|test|examples|bench|scripts|dist)/" },
    },
    {
      name: "examples-are-users",
      comment: "Examples import the package by its name, as users do.",
      severity: "error",
      from: { path: "^examples/" },
      to: { path: "^(src|test|bench|scripts|dist)/", pathNot: entryFiles },
    },
    {
      name: "outsiders-are-users",
      comment: "What stands for another package's plugins imports what users may, by its name.",
      severity: "error",
      from: { path: "^test/outside/" },
      to: {
        path: "^(src|test|examples|bench|scripts|dist)/",
        pathNot: ["^test/outside/", entryFiles],
      },
    },
    {
      name: "no-build-imports",
      comment: "Tests and benchmarks reach the build only through the package's entry points.",
      severity: "error",
      from: { path: "^(test|bench)/" },
      to: { path: "^dist/", pathNot: entryFiles },
    },
    {
      name: "resolvable",
      comment:
        "Every import leads somewhere. (Imports of the package by its own name need a build.)",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ["(^|/)node_modules/", "^dist/"] },
    // Programs with separate packages. The root does not install these packages.
    exclude: { path: ["^examples/apps/", "^bench/compare/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      cachedInputFileSystem: { cacheDuration: 600_000 }, // longer than a run
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
