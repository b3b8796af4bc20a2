import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect } from "chai";
import type { EnsembleCallbacks, EnsembleEvent } from "../../src/contracts/events.js";
import type { PluginContext } from "../../src/contracts/plugin.js";
import { CALLBACK_EVENTS } from "../../src/contracts/events.js";
import { Tokens } from "../../src/contracts/tokens.js";
import { Kernel } from "../../src/kernel/kernel.js";
import { promptInjection } from "../../src/plugins/guards/prompt-injection/index.js";
import { contextLimit } from "../../src/resilience.js";
import { standardPlugins } from "../../src/ensemble/standard-plugins.js";
import { projectRoot, readProjectFile, tableOf } from "../support/project.js";
import { anchorsOf, codeBlocks, documentationPages, linksOf } from "./markdown.js";
import { DeclaredTypes, exportedNames, problemsOf } from "./type-check.js";

const pages = documentationPages();
const typeScriptBlocks = pages.flatMap(codeBlocks).filter((block) => block.language === "ts");
/** Fragments that are not taken from an example. */
const fragments = typeScriptBlocks.filter(
  ({ code, example }) => example === undefined && !code.startsWith("// @no-check\n"),
);
const EVENTS = "the union of all events";
const OPENAI_OPTIONS = "the options of openai()";
const ANTHROPIC_OPTIONS = "the options of anthropic()";
const AI_SDK_OPTIONS = "the options of aiSdk()";
const EMBEDDINGS_OPTIONS = "the options of openaiEmbeddings()";
const ALL_OPTIONS = "the options of ensembles, agents, tasks and runs";
const HOOK_RUN = "the run of a hook call";
const types = [
  {
    title: HOOK_RUN,
    code: 'import type { HookRun } from "agentensemble";\nexport type Subject = HookRun;',
  },
  {
    title: EVENTS,
    code: 'import type { EnsembleEvent } from "agentensemble";\nexport type Subject = EnsembleEvent;',
  },
  {
    title: OPENAI_OPTIONS,
    code: 'import type { OpenAIOptions } from "agentensemble";\nexport type Subject = OpenAIOptions;',
  },
  {
    title: ANTHROPIC_OPTIONS,
    code: 'import type { AnthropicOptions } from "agentensemble";\nexport type Subject = AnthropicOptions;',
  },
  {
    title: AI_SDK_OPTIONS,
    code: 'import type { AiSdkOptions } from "agentensemble/providers/ai-sdk";\nexport type Subject = AiSdkOptions;',
  },
  {
    title: EMBEDDINGS_OPTIONS,
    code: 'import type { OpenAIEmbeddingsOptions } from "agentensemble/providers/openai";\nexport type Subject = OpenAIEmbeddingsOptions;',
  },
  {
    title: ALL_OPTIONS,
    code: 'import type { AgentOptions, CommonTaskOptions as T, EnsembleOptions, RunOptions } from "agentensemble";\nexport type Subject = EnsembleOptions & AgentOptions & T & RunOptions;',
  },
];

const withoutLineEnds = (text: string): string => text.replace(/[ \t]+$/gm, "");
/** The words in back-quotes. A cell of one such word has no back-quotes. */
const words = (cell: string | undefined): readonly string[] =>
  [...(cell ?? "").matchAll(/`([^`]+)`|^(\w+)$/g)].map((match) => match[1] ?? match[2] ?? "");

describe("the documentation", () => {
  let declaredTypes: DeclaredTypes;

  before(function () {
    this.timeout(120_000);
    declaredTypes = new DeclaredTypes(types);
  });

  describe("its code blocks", () => {
    for (const { page, line, code, example } of typeScriptBlocks) {
      if (example === undefined) continue;
      it(`${page}:${line} is a part of ${example}`, () => {
        const whole = `\n${withoutLineEnds(readProjectFile(example))}\n`;
        expect(whole).to.include(`\n${withoutLineEnds(code)}\n`);
      });
    }

    it("compile against the package if they are not taken from an example", () => {
      expect(fragments).not.to.be.empty;
      const snippets = fragments.map(({ page, line, code }) => ({
        title: `${page}:${line}`,
        code,
      }));
      expect(problemsOf(snippets)).to.deep.equal([]);
    });

    it("are reported with their position if they do not compile", () => {
      const wrong = { title: "docs/wrong.md:7", code: "const text: string = new Task(1);" };
      const fine = { title: "docs/fine.md:1", code: "export const id: string = run.id;" };
      const [problem, ...others] = problemsOf([fine, wrong]);
      expect(problem).to.match(/^docs\/wrong\.md:7: error TS/);
      expect(others.every((other) => other.startsWith("docs/wrong.md:7: "))).to.equal(true);
    });

    it("are not compiled only if they declare types", () => {
      for (const { page, line, code } of typeScriptBlocks) {
        if (!code.startsWith("// @no-check\n")) continue;
        expect(code, `${page}:${line}`).to.match(/^(?:export )?(?:interface|type|class|declare) /m);
      }
    });
  });

  describe("its links", () => {
    for (const page of pages) {
      it(`of ${page} have existing targets`, () => {
        for (const link of linksOf(page)) {
          if (/^[a-z]+:/.test(link)) continue;
          const [path = "", anchor] = link.split("#");
          const target = path === "" ? page : normalize(join(dirname(page), path));
          expect(existsSync(join(projectRoot, target)), `${link} in ${page}`).to.equal(true);
          if (anchor !== undefined)
            expect(anchorsOf(target), `${link} in ${page}`).to.include(anchor);
        }
      });
    }
  });

  describe("README.md", () => {
    it("has the headings that enclose the first page of the site", () => {
      const script = readProjectFile("site/prepare.mjs");
      const headings = [...script.matchAll(/part\("(## [^"]+)", "(## [^"]+)"\)/g)].flatMap(
        ([, from = "", to = ""]) => [from, to],
      );
      expect(headings).to.have.lengthOf(2);
      expect(readProjectFile("README.md").split("\n")).to.include.members(headings);
    });

    it("lists exactly the entry points of the package", () => {
      const { exports } = JSON.parse(readProjectFile("package.json")) as {
        readonly exports: Readonly<Record<string, string>>;
      };
      const specifiers = Object.keys(exports).flatMap((key) =>
        key === "./package.json" ? [] : [key.replace(/^\./, "agentensemble")],
      );
      expect(tableOf("README.md", "import").map(([name]) => name)).to.have.members(specifiers);
    });
  });

  describe("docs/architecture.md", () => {
    it("lists exactly the standard plugins", () => {
      const listed = tableOf("docs/architecture.md", "plugin").flatMap(([names = ""]) =>
        [...names.matchAll(/[a-z][a-z-]*/g)].map(([name]) => name),
      );
      expect(listed).to.have.members(standardPlugins().map(({ name }) => name));
    });
  });

  describe("docs/prompts.md", () => {
    const page = readProjectFile("docs/prompts.md");
    const documented = [
      ...page.matchAll(/^### `([^`]+)`\n\n([^\n]+)\n\n```text\n([\s\S]*?)\n```$/gm),
    ];
    let defaults: Readonly<Record<string, string>>;

    before(async () => {
      const collected: Record<string, string> = {};
      const collector = {
        name: "collector",
        start: (ctx: PluginContext) =>
          void ctx.all(Tokens.PromptTemplates).forEach((texts) => Object.assign(collected, texts)),
      };
      const kernel = new Kernel({
        plugins: [
          ...standardPlugins(),
          contextLimit({ maxInputTokens: 1 }),
          promptInjection(),
          collector,
        ],
      });
      await kernel.boot();
      await kernel.dispose();
      defaults = collected;
    });

    it("shows every text of the plugins unchanged, and no other", () => {
      expect(Object.fromEntries(documented.map(([, name, , text]) => [name, text]))).to.deep.equal(
        defaults,
      );
    });

    it("names the values of each text", () => {
      for (const [, name = "", description, text = ""] of documented) {
        const values = [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))];
        expect(words(/Values: ([^.]*)\./.exec(description ?? "")?.[1]), name).to.have.members(
          values,
        );
      }
    });
  });

  describe("docs/hooks.md", () => {
    it("lists exactly the fields and methods of a call's run", () => {
      const documented = tableOf("docs/hooks.md", "`call.run` has").flatMap(([names = ""]) =>
        [...names.matchAll(/(\w+)(?:\([^)]*\))?/g)].map(([, name]) => name),
      );
      expect(documented).to.have.members([...(declaredTypes.fieldsByType(HOOK_RUN)[""] ?? [])]);
    });
  });

  describe("docs/events.md", () => {
    const rows = tableOf("docs/events.md", "event");

    it("lists exactly the events and their fields", () => {
      const common = tableOf("docs/events.md", "field").map(([field = ""]) => field);
      const declared = Object.entries(declaredTypes.fieldsByType(EVENTS)).map(
        ([type, fields]): [string, readonly string[]] => [type, [...fields].sort()],
      );
      const ofTask = new Set(["taskId", "parentTaskId", "agentRole"]);
      const documented = rows.map(([type = "", , fields]): [string, readonly string[]] => {
        const own = words(fields);
        const about = /^of a task/.test(fields ?? "");
        return [type, [...common.filter((field) => about || !ofTask.has(field)), ...own].sort()];
      });
      expect(Object.fromEntries(documented)).to.deep.equal(Object.fromEntries(declared));
    });

    it("names the callback of each event, if the event has one", () => {
      const documented = rows.flatMap(([type = "", callback = ""]) =>
        callback === "" ? [] : [[callback, type]],
      );
      const declared = Object.entries(CALLBACK_EVENTS) as [
        keyof EnsembleCallbacks,
        EnsembleEvent["type"],
      ][];
      expect(Object.fromEntries(documented)).to.deep.equal(Object.fromEntries(declared));
    });
  });

  describe("docs/providers.md", () => {
    const listed = (firstHeading: string): readonly (string | undefined)[] =>
      tableOf("docs/providers.md", firstHeading).map(([option]) => option);
    const declared = (title: string): readonly string[] =>
      declaredTypes.fieldsByType(title)[""] ?? [];
    /** The common options of all vendors over HTTP are in the table of openai(). */
    const common = (): readonly (string | undefined)[] =>
      listed("option").filter((option) => option !== "api" && option !== "parts");

    it("lists exactly the options of openai()", () => {
      expect(listed("option")).to.have.members(declared(OPENAI_OPTIONS));
    });

    it("lists exactly the options of anthropic() and openaiEmbeddings() beyond the common options", () => {
      expect([...common(), ...listed("option of `anthropic()`")]).to.have.members(
        declared(ANTHROPIC_OPTIONS),
      );
      expect([...common(), ...listed("option of `openaiEmbeddings()`")]).to.have.members(
        declared(EMBEDDINGS_OPTIONS),
      );
    });

    it("lists exactly the options of aiSdk()", () => {
      expect(listed("option of `aiSdk()`")).to.have.members(declared(AI_SDK_OPTIONS));
    });
  });

  describe("docs/coming-from-java.md", () => {
    it("marks no exported name or option as `not yet`", () => {
      const options = declaredTypes.fieldsByType(ALL_OPTIONS)[""] ?? [];
      const existing = new Set([...exportedNames(), ...options]);
      const missing = [
        ...readProjectFile("docs/coming-from-java.md").matchAll(/^\| (.+) \| not yet/gm),
      ].flatMap((row) => words(row[1]));
      expect(missing).not.to.be.empty;
      expect(
        missing.map((name) => name.replace(/^\./, "")).filter((name) => existing.has(name)),
      ).to.deep.equal([]);
    });
  });
});
