// Who may import whom. The rules are explained in CONTRIBUTING.md; the same file is used by `npm run rules` and by the architecture test.
// Paths are relative to the root. "type-only" edges vanish at run time, so they may form cycles.
"use strict";
const { exports: entryPoints } = require("./package.json");

const escaped = (path) => path.replace(/^\.\//, "").replace(/[.]/g, "\\.");
const entryFiles = `^(${Object.values(entryPoints)
  .flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))
  .map(escaped)
  .join("|")})$`;
const builtIn = ["core"];
const onlyTypes = ["type-only"];

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
      name: "contracts-stand-alone",
      comment: "Contracts import nothing of ours but contracts.",
      severity: "error",
      from: { path: "^src/contracts/" },
      to: { pathNot: ["^src/contracts/", "(^|/)node_modules/"], dependencyTypesNot: builtIn },
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
      name: "kernel-knows-contracts-only",
      comment: "The kernel never imports a plugin, nor the user's face.",
      severity: "error",
      from: { path: "^src/kernel/" },
      to: { path: "^src/", pathNot: "^src/(kernel|contracts)/" },
    },
    {
      name: "plugins-meet-through-contracts",
      comment:
        "A plugin imports contracts, the kernel's index, its own folder, its own group's shared folder and that of all; never another plugin.",
      severity: "error",
      from: { path: "^src/plugins/([^/]+)/([^/]+)/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/contracts/",
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
        pathNot: ["^src/contracts/", "^src/kernel/index\\.ts$", "^src/plugins/$1/"],
      },
    },
    {
      name: "barrels-are-for-users",
      comment:
        "Inside src, contracts are imported file by file; the barrel serves the entry point.",
      severity: "error",
      from: { path: "^src/(contracts|kernel|plugins)/", pathNot: "^src/kernel/index\\.ts$" },
      to: { path: "^src/contracts/index\\.ts$" },
    },
    {
      name: "command-line-uses-the-face",
      comment:
        "The command line imports what users may, contracts, and how the console plugin writes text and the kernel JSON.",
      severity: "error",
      from: { path: "^src/cli/" },
      to: {
        path: "^src/",
        pathNot: [
          "^src/(cli|contracts)/",
          "^src/[^/]+\\.ts$",
          "^src/plugins/.+/index\\.ts$",
          "^src/plugins/observability/console/",
          "^src/kernel/json-(value|position)\\.ts$",
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
    vendorOnlyIn("@modelcontextprotocol/", "src/plugins/mcp"),
    vendorOnlyIn("@electric-sql/", "src/plugins/memory/sql"),
    vendorOnlyIn("pg/", "src/plugins/memory/sql"),
    vendorOnlyIn("@energetic-ai/", "src/plugins/memory/embeddings"),
    vendorOnlyIn("@opentelemetry/", "src/plugins/observability/otel"),
    vendorOnlyIn("prom-client", "src/plugins/observability/prometheus"),
    vendorOnlyIn("@toon-format/", "src/plugins/context-format"),
    vendorOnlyIn(
      "(re2js|ipaddr\\.js|temporal-polyfill|html-to-text|turndown)/",
      "src/plugins/tools",
    ),
    vendorOnlyIn("commander/", "src/cli"),
    {
      name: "no-cycles",
      comment: "No cycles at run time.",
      severity: "error",
      from: { path: "^(src|test|examples|bench)/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: onlyTypes } },
    },
    {
      name: "sources-end-at-src",
      comment: "What ships imports nothing from tests, examples, benchmarks, scripts or the build.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|examples|bench|scripts|dist)/" },
    },
    {
      name: "examples-are-users",
      comment: "Examples import the package by its name, as users do.",
      severity: "error",
      from: { path: "^examples/" },
      to: { path: "^(src|test|bench|scripts|dist)/", pathNot: entryFiles },
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
    tsPreCompilationDeps: "specify",
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
