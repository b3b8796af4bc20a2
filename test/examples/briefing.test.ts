import { once } from "node:events";
import { expect } from "chai";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { briefingTeam } from "../../examples/briefing/team.js";
import { checkTask, readTask, type Page } from "../../examples/briefing/tasks.js";
import { titleOf } from "../../examples/briefing/documents.js";
import { grouped, quotationsIn } from "../../examples/briefing/quotations.js";
import { startOf } from "../../examples/briefing/terminal.js";
import type { ChatMessage } from "../../src/contracts/chat-model.js";
import { Ensemble, GuardrailViolationError, Task, TaskExecutionError } from "../../src/index.js";
import { ScriptedModel } from "../../src/plugins/testing/scripted-model.js";
import { AnthropicServer } from "../support/anthropic-server.js";
import { OpenAIServer } from "../support/openai-server.js";
import { rejectionOf } from "../support/rejection.js";
import { runProgram } from "./run-program.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { pause } from "../support/time.js";

const BEES =
  "# Bees\n\nHoney bees live in large colonies with one queen. Worker bees collect nectar and\npollen for the colony. They dance to show the way.\n";
const OWLS =
  "# Owls\n\nThe barn owl hunts at night over open fields. It finds mice by their sound alone.\n";
const GOOD = `Bees share work.\n\n- "Worker bees collect nectar and pollen for the colony." (bees.md)\n- Owls listen: “It finds mice by their sound alone.” (owls.txt)`;

const textsOf = (messages: readonly ChatMessage[]): string =>
  messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n");

describe("the briefing example", () => {
  let folder: string;
  let pages: readonly Page[];
  beforeEach(async () => {
    folder = temporaryFolder();
    await writeFile(join(folder, "bees.md"), BEES);
    await writeFile(join(folder, "owls.txt"), OWLS);
    pages = ["bees.md", "owls.txt"]
      .map((name) => ({ name, path: join(folder, name) }))
      .map((document) => ({ document, read: readTask(document) }));
  });

  const main = (...args: readonly string[]): ReturnType<typeof runProgram> =>
    runProgram(["dist/examples/briefing/main.js", ...args]);

  describe("the check task", () => {
    const check = async (text: string) => {
      const briefing = new Task({ description: "Give the briefing", handler: () => text });
      const task = checkTask(pages, briefing);
      const output = await Ensemble.run(...pages.map(({ read }) => read), briefing, task);
      return output.getOutput(task)?.parsed;
    };

    it("counts quotations that all occur in their sources, ignoring line breaks", async () => {
      expect(await check(GOOD)).to.deep.equal({ quotations: 2, documents: 2 });
    });

    it("fails when one word of one quotation is altered, in straight or curly marks", async () => {
      for (const altered of [
        GOOD.replace("nectar", "water"),
        GOOD.replace("sound alone", "smell alone"),
      ]) {
        const error = await rejectionOf(TaskExecutionError, check(altered));
        expect(String(error.cause)).to.match(
          /(water|smell alone).*does not stand in (bees\.md|owls\.txt)/,
        );
      }
    });

    it("fails when a quotation is attributed to another document, and when nothing is quoted", async () => {
      const error = await rejectionOf(
        TaskExecutionError,
        check(GOOD.replace("owls.txt", "bees.md")),
      );
      expect(String(error.cause)).to.include("does not stand in bees.md");
      expect(
        String((await rejectionOf(TaskExecutionError, check("Bees are nice."))).cause),
      ).to.include("quotes nothing");
    });
  });

  describe("the team", () => {
    const findings = (source: string, quote: string): string =>
      JSON.stringify({ findings: [{ quote, source }] });
    const model = (...briefings: readonly string[]): ScriptedModel => {
      const answers = [...briefings];
      return new ScriptedModel(({ messages }) => {
        const prompt = textsOf(messages);
        if (prompt.includes("You are Writer")) return answers.shift() ?? "";
        if (prompt.includes("Extract the findings of bees.md"))
          return findings("bees.md", "They dance to show the way.");
        return findings("owls.txt", "It finds mice by their sound alone.");
      });
    };
    const team = (scripted: ScriptedModel): ReturnType<typeof briefingTeam> =>
      briefingTeam(
        pages.map(({ document }) => document),
        {
          model: scripted,
          traceFile: join(folder, "trace.json"),
          progress: { stream: { write: () => true } },
        },
      );

    it("reports a misquotation to the writer, and accepts the corrected briefing", async () => {
      const scripted = model(GOOD.replace("nectar", "water"), GOOD);
      const { ensemble, briefing, check } = team(scripted);
      const output = await ensemble.run();
      expect(output.getOutput(briefing)?.raw).to.equal(GOOD);
      expect(output.getOutput(check)?.parsed.quotations).to.equal(2);
      const last = textsOf(scripted.requests.at(-1)?.messages ?? []);
      expect(last).to.include(
        '"Worker bees collect water and pollen for the colony." does not stand in bees.md',
      );
      await ensemble.dispose();
    });

    it("fails after the third misquotation, and writes the trace", async () => {
      const wrong = GOOD.replace("nectar", "water");
      const { ensemble } = team(model(wrong, wrong, wrong, GOOD));
      const error = await rejectionOf(TaskExecutionError, ensemble.run());
      expect(GuardrailViolationError.find(error)?.type).to.equal("OUTPUT");
      const trace = JSON.parse(await readFile(join(folder, "trace.json"), "utf8")) as {
        readonly exitReason: string;
      }; // the name in the format
      expect(trace.exitReason).to.equal("ERROR");
      await ensemble.dispose();
    });
  });

  describe("the text of a briefing", () => {
    const item = (text: string, source: string): string => `- "${text}" (${source})`;
    const titles = new Map([["bees.md", "Bees"]]);

    it("is grouped under the titles of the sources if it consists of quotations", () => {
      const raw = [item("A.", "bees.md"), item("B.", "owls.txt"), item("C.", "bees.md")].join("\n");
      expect(grouped(raw, titles)).to.equal(
        `## Bees\n\n${item("A.", "bees.md")}\n${item("C.", "bees.md")}\n\n## owls.txt\n\n${item("B.", "owls.txt")}`,
      );
    });

    it("is unchanged if a model has written sentences", () => {
      expect(grouped(GOOD, titles)).to.equal(undefined);
    });

    it("is cut at the last row of the screen, and not after a heading", () => {
      const text = "## A\n\none\n\n## B\n\ntwo\nthree";
      expect(startOf(text, { rows: 9, columns: 80 })).to.deep.equal({
        start: "## A\none\n## B\ntwo\nthree",
        left: 0,
      });
      expect(startOf(text, { rows: 3, columns: 80 })).to.deep.equal({
        start: "## A\none",
        left: 3,
      });
      expect(startOf("x".repeat(30), { rows: 2, columns: 10 })).to.deep.equal({
        start: "",
        left: 1,
      });
    });

    it("has the first heading of a document as its title, else the name", () => {
      expect(titleOf("intro\n## Bees ##\n# Other", "bees.md")).to.equal("Bees");
      expect(titleOf("no heading", "bees.txt")).to.equal("bees.txt");
    });
  });

  describe("the program", () => {
    it("runs offline on a folder and writes a briefing in which every quotation occurs in its source", async () => {
      const out = join(folder, "out");
      await writeFile(join(folder, "photo.png"), "no text");
      const { code, stdout, stderr } = await main(folder, "--out", out).finished;
      expect(stderr).to.equal("");
      expect(code).to.equal(0);
      expect(stdout)
        .to.include("left out: photo.png")
        .and.to.include("Model: offline:extractive")
        .and.to.include("can only quote")
        .and.to.include("Not done: this model only quotes")
        .and.to.match(/COMPLETED: 6 of 6 tasks done/)
        .and.to.match(/trace show \S+trace\.json\n$/);
      expect(stdout.split("\n").length).to.be.at.most(26);
      const briefing = await readFile(join(out, "briefing.md"), "utf8");
      expect(briefing)
        .to.include("## Bees\n\n- ")
        .and.include("## Owls\n\n- ")
        .and.include("- left out: photo.png is none of")
        .and.include("Not done: this model only quotes");
      const texts: Readonly<Record<string, string>> = { "bees.md": BEES, "owls.txt": OWLS };
      const quotations = quotationsIn(briefing);
      expect(new Set(quotations.map(({ source }) => source))).to.deep.equal(
        new Set(Object.keys(texts)),
      );
      for (const { text, source } of quotations)
        expect(texts[source ?? ""]?.replaceAll("\n", " ")).to.include(text);
      const trace = JSON.parse(await readFile(join(out, "trace.json"), "utf8")) as {
        readonly taskTraces: readonly unknown[];
      }; // the name in the format
      expect(trace.taskTraces.length).to.equal(6);
    });

    it("ends with the command that opens its trace on a dashboard", async () => {
      const { stdout } = await main(folder, "--out", join(folder, "out")).finished;
      const command = /\nWatch it: npx agentensemble (dashboard \S+)\n[^\n]+\n$/.exec(stdout)?.[1];
      expect(command).to.be.a("string");
      const args = [...(command ?? "").split(" "), "--port", "0"];
      const { child, finished } = runProgram(["dist/bundle/cli/main.js", ...args]);
      const [address] = (await once(child.stdout ?? child, "data")) as [string];
      const answer = await fetch(`${address.trim()}api/runs`);
      const { runs } = (await answer.json()) as { readonly runs: readonly object[] };
      expect(runs).to.have.lengthOf(1);
      expect(runs[0]).to.include({ state: "done" });
      child.kill("SIGINT");
      expect((await finished).code).to.equal(0);
    });

    it("excludes its own briefing when it reads its output folder", async () => {
      await main(folder, "--out", folder).finished;
      const { code, stdout } = await main(folder, "--out", folder).finished;
      expect(code).to.equal(0);
      expect(stdout)
        .to.include("briefing.md is the briefing itself")
        .and.to.include("Briefing on 2 documents");
    });

    it("names the problem of a missing path, an empty folder, a binary file and an unknown option, without a stack", async () => {
      const out = join(folder, "out");
      await writeFile(join(folder, "photo.png"), "no text");
      await writeFile(join(folder, "binary.txt"), Buffer.from([1, 0, 2]));
      const cases: readonly (readonly [readonly string[], string])[] = [
        [[join(folder, "missing")], "there is no such file"],
        [[join(folder, "photo.png")], "Nothing to read"],
        [[join(folder, "binary.txt")], "binary.txt is not a text file"],
        [["--speed", "9"], "--speed"],
      ];
      for (const [args, text] of cases) {
        const { code, stderr } = await main(...args, "--out", out).finished;
        expect(code).to.equal(1);
        expect(stderr).to.include(text);
        expect(stderr).not.to.match(/^\s+at /m);
      }
    });

    it("skips a file that is not text, and reads the others", async () => {
      await writeFile(join(folder, "latin.txt"), Buffer.from([0x61, 0xe9, 0x62]));
      const out = join(folder, "out");
      const { code, stdout } = await main(folder, "--out", out).finished;
      expect(code).to.equal(0);
      expect(stdout)
        .to.include("left out: latin.txt is not a text file: it must be UTF-8")
        .and.to.include("Briefing on 2 documents")
        .and.to.include(`agentensemble trace show ${join(out, "trace.json")}`)
        .and.to.include("(code)")
        .and.not.to.include("(deterministic)");
    });

    for (const file of ["briefing.md", "trace.json"])
      it(`refuses an output folder in which ${file} can't be written before a model is asked`, async () => {
        const server = await OpenAIServer.start({ kind: "hang" });
        try {
          const out = join(folder, "out");
          await mkdir(join(out, file), { recursive: true });
          const { code, stderr } = await runProgram(
            ["dist/examples/briefing/main.js", folder, "--out", out],
            { OPENAI_API_KEY: "loopback", OPENAI_BASE_URL: server.url },
          ).finished;
          expect(code).to.equal(1);
          expect(stderr).to.include(`Cannot write to the output folder '${out}'`);
          expect(server.requests).to.deep.equal([]);
        } finally {
          await server.close();
        }
      });

    it("removes an earlier briefing when a run fails, and reports the reason once", async () => {
      const server = await OpenAIServer.start({
        kind: "status",
        status: 401,
        body: { error: { message: "wrong key" } },
      });
      try {
        const out = join(folder, "out");
        await mkdir(out);
        await writeFile(join(out, "briefing.md"), "# Old");
        const { code, stdout, stderr } = await runProgram(
          ["dist/examples/briefing/main.js", join(folder, "bees.md"), "--out", out],
          { OPENAI_API_KEY: "loopback", OPENAI_BASE_URL: server.url },
        ).finished;
        expect(code).to.equal(1);
        expect(stdout + stderr).to.match(/^(?:(?!wrong key)[^])*wrong key(?:(?!wrong key)[^])*$/);
        expect(await readdir(out)).to.deep.equal(["trace.json"]);
      } finally {
        await server.close();
      }
    });

    it("prints its help", async () => {
      const { code, stdout } = await main("--help").finished;
      expect(code).to.equal(0);
      expect(stdout)
        .to.include("Usage: npm start")
        .and.to.include("OPENAI_BASE_URL")
        .and.to.include("ANTHROPIC_API_KEY");
    });

    it("uses Anthropic if only its key exists, and if it is selected next to OpenAI's key", async () => {
      const server = await AnthropicServer.start({
        kind: "status",
        status: 401,
        body: { error: { message: "invalid x-api-key" } },
      });
      const anthropic = { ANTHROPIC_API_KEY: "loopback", ANTHROPIC_BASE_URL: server.url };
      const named = {
        ...anthropic,
        OPENAI_API_KEY: "loopback",
        AGENTENSEMBLE_MODEL: "anthropic:claude-opus-5",
      };
      try {
        for (const [environment, modelId] of [
          [anthropic, "claude-sonnet-5"],
          [named, "claude-opus-5"],
        ] as const) {
          const { code, stdout, stderr } = await runProgram(
            ["dist/examples/briefing/main.js", folder, "--out", join(folder, "out")],
            environment,
          ).finished;
          expect(code).to.equal(1);
          expect(stdout).to.include(`Model: anthropic:${modelId}`);
          expect(stderr).to.include("invalid x-api-key");
          expect(server.requests.at(-1)?.body["model"]).to.equal(modelId);
        }
      } finally {
        await server.close();
      }
    });

    it("prefers OpenAI if there are keys for both", async () => {
      const server = await OpenAIServer.start({
        kind: "status",
        status: 401,
        body: { error: { message: "wrong key" } },
      });
      try {
        const environment = {
          OPENAI_API_KEY: "loopback",
          OPENAI_BASE_URL: server.url,
          ANTHROPIC_API_KEY: "loopback",
        };
        const { code, stdout } = await runProgram(
          ["dist/examples/briefing/main.js", folder, "--out", join(folder, "out")],
          environment,
        ).finished;
        expect(code).to.equal(1);
        expect(stdout).to.include("Model: openai:gpt-5-mini (because OPENAI_API_KEY is set");
      } finally {
        await server.close();
      }
    });

    it("is cancelled by Ctrl-C and writes the trace of its work", async () => {
      const server = await OpenAIServer.start({ kind: "hang" });
      try {
        const out = join(folder, "out");
        const { child, finished } = runProgram(
          ["dist/examples/briefing/main.js", folder, "--out", out],
          {
            OPENAI_API_KEY: "loopback",
            OPENAI_BASE_URL: server.url,
          },
        );
        while (server.requests.length === 0 && child.exitCode === null) await pause(10);
        child.kill("SIGINT");
        const { code, stdout, stderr } = await finished;
        expect(code).to.equal(130);
        expect(stdout).to.include("Model: openai:gpt-5-mini");
        expect(stderr.trim()).to.equal("The run was cancelled");
        const trace = JSON.parse(await readFile(join(out, "trace.json"), "utf8")) as {
          readonly exitReason: string;
        }; // the name in the format
        expect(trace.exitReason).to.equal("CANCELLED");
        const written = await stat(join(out, "briefing.md")).then(
          () => true,
          () => false,
        );
        expect(written).to.equal(false);
      } finally {
        await server.close();
      }
    });
  });
});
