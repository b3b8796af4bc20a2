import { expect } from "chai";
import { Ensemble, ReviewDecision, Review, Task } from "../../../../src/index.js";
import { consoleProgress } from "../../../../src/observability.js";
import { ScriptedModel } from "../../../../src/plugins/testing/scripted-model.js";
import {
  columnCount,
  fitColumns,
} from "../../../../src/plugins/observability/console/column-text.js";
import {
  drawsOver,
  showsUnicode,
} from "../../../../src/plugins/observability/console/console-options.js";
import {
  LiveRegion,
  plainLine,
} from "../../../../src/plugins/observability/console/live-region.js";
import { setEnvironment } from "../../../support/environment.js";
import { pause } from "../../../support/time.js";
import { Screen } from "./screen.js";

/** A task that ends when it is released. */
class Held {
  release: () => void = () => undefined;
  readonly task: Task<string>;

  constructor(name: string, description = "x") {
    const handler = (): Promise<string> =>
      new Promise((resolve) => (this.release = () => resolve("done")));
    this.task = new Task({ name, description, handler });
  }
}

async function until(screen: Screen, text: string | RegExp): Promise<void> {
  while (typeof text === "string" ? !screen.text.includes(text) : !text.test(screen.text))
    await pause(5);
}

describe("consoleProgress on a terminal", () => {
  it("shows each task in one line, which is updated in place, and ends with the table", async () => {
    const screen = new Screen(60);
    const [one, two] = [new Held("one"), new Held("two")];
    await using ensemble = new Ensemble({
      workflow: "PARALLEL",
      tasks: [one.task, two.task],
      plugins: [consoleProgress({ stream: screen, live: true })],
    });
    const output = ensemble.run();
    await until(screen, "two  (code)");
    expect(screen.text.match(/one {2}\(code\)/g)).to.have.lengthOf(1);
    one.release();
    await until(screen, "1/2 tasks");
    expect(screen.text).to.match(
      /^1\/2 tasks, .*\n\S one {2}\(code\), \d.*\n\S two {2}\(code\), \d.*\n$/,
    );
    two.release();
    await output;
    expect(screen.text)
      .to.match(/^\nRun \S+ COMPLETED after/)
      .and.not.include("2/2 tasks");
    expect(screen.isAtLineStart).to.equal(true);
  });

  it("removes the lines of a run before it prints the end of the run", async () => {
    const seen: string[] = [];
    class Watched extends Screen {
      override write(text: string): boolean {
        super.write(text);
        return seen.push(this.text) > 0;
      }
    }
    const held = new Held("one");
    await using ensemble = new Ensemble({
      tasks: [held.task],
      plugins: [consoleProgress({ stream: new Watched(80), live: true, brief: true })],
    });
    const output = ensemble.run();
    while (seen.length === 0) await pause(5);
    held.release();
    await output;
    expect(seen.at(0)).to.include("0/1 task");
    expect(seen.at(-1)).to.match(/^COMPLETED: 1 of 1 task done/);
    expect(seen.filter((text) => text.includes("COMPLETED") && text.includes("/1 task"))).to.eql(
      [],
    );
  });

  it("shows tokens, cost and the current tool", async () => {
    const screen = new Screen(80);
    const tool = new Held("slow");
    const task = new Task({ name: "ask", description: "Ask", context: [tool.task] });
    await using ensemble = new Ensemble({
      model: new ScriptedModel([
        { text: "An answer", usage: { inputTokens: 20, outputTokens: 10 } },
      ]),
      tasks: [tool.task, task],
      costConfiguration: { inputTokenRate: 0.001, outputTokenRate: 0.001 },
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    const output = ensemble.run();
    await until(screen, "slow  (code)");
    expect(screen.text).to.include("0/2 tasks").and.not.include("$");
    tool.release();
    await output;
    expect(screen.text).to.match(/^COMPLETED: 2 of 2 tasks done in .*, \d+ tokens, \$\d.*\n$/);
  });

  it("prints the program's output above the tasks, and restores the stream", async () => {
    const screen = new Screen(60);
    const before = screen.write;
    const held = new Held("one");
    await using ensemble = new Ensemble({
      tasks: [held.task],
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    const output = ensemble.run();
    await until(screen, "one  (code)");
    screen.write("a line of the program\n");
    await until(screen, /^a line of the program\n0\/1 task/);
    screen.write("begun");
    await pause(150);
    expect(screen.text).to.equal("a line of the program\nbegun");
    screen.write(" and ended\n");
    await until(screen, /begun and ended\n0\/1 task/);
    held.release();
    await output;
    expect(screen.text).to.match(/^a line of the program\nbegun and ended\nCOMPLETED: .*\n$/);
    expect(screen.write).to.equal(before);
    expect(Object.hasOwn(screen, "write")).to.equal(false);
  });

  it("prints warnings and failures above the tasks, with the reason", async () => {
    const screen = new Screen(120);
    const task = new Task({
      name: "break",
      description: "x",
      handler: (): string => {
        throw new Error("no disk");
      },
    });
    await using ensemble = new Ensemble({
      tasks: [task],
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    await ensemble.run({}, { throwOnError: false });
    expect(screen.text).to.match(
      /^fail {2}break \(code\) after .*no disk\nRun failed: .*\nERROR: 0 of 1 task done/,
    );
  });

  it("shows as many tasks as fit, running tasks first, and the number of the others", async () => {
    const screen = new Screen(40, 8);
    const held = Array.from({ length: 12 }, (_, n) => new Held(`task ${n}`));
    await using ensemble = new Ensemble({
      workflow: "PARALLEL",
      maxConcurrency: 12,
      tasks: held.map(({ task }) => task),
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    const output = ensemble.run();
    await until(screen, "and 7 more");
    for (const { release } of held.slice(2)) release();
    await until(screen, /task 0 [^]*task 1 /);
    expect(screen.text.trimEnd().split("\n")).to.have.lengthOf.at.most(7);
    for (const { release } of held) release();
    await output;
  });

  it("draws nothing while a review is requested, and continues afterwards", async () => {
    const screen = new Screen(60);
    const held = new Held("later");
    let answer: () => void = () => undefined;
    await using ensemble = new Ensemble({
      tasks: [
        new Task({
          name: "first",
          description: "x",
          handler: () => "draft",
          review: Review.required("Good?"),
        }),
        held.task,
      ],
      reviewHandler: () => {
        screen.write("Good? [y/n] ");
        return new Promise((resolve) => (answer = () => resolve(ReviewDecision.continue())));
      },
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    const output = ensemble.run();
    await until(screen, "Good? [y/n] ");
    await pause(150);
    expect(screen.text).to.equal("Good? [y/n] ");
    answer();
    await until(screen, "later  (code)");
    held.release();
    await output;
    expect(screen.text).to.match(/^COMPLETED/);
  });

  it("names the runs if several are in progress, and appends lines while another run draws", async () => {
    const screen = new Screen(60);
    const held = [new Held("one"), new Held("two")];
    const plugin = consoleProgress({ stream: screen, live: true, brief: true });
    await using first = new Ensemble({
      tasks: held.map(({ task }) => task),
      workflow: "PARALLEL",
      plugins: [plugin],
    });
    const outputs = [first.run()];
    await until(screen, /one [^]*two /);
    const second = new Ensemble({
      tasks: [new Task({ name: "other", description: "x", handler: () => "x" })],
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    await second.run();
    await second.dispose();
    expect(screen.text).to.match(/^done {2}other[^]*COMPLETED/);
    for (const { release } of held) release();
    await Promise.all(outputs);
  });

  it("removes its lines when the kernel is disposed", async () => {
    const screen = new Screen(60);
    const held = new Held("one");
    const ensemble = new Ensemble({
      tasks: [held.task],
      plugins: [consoleProgress({ stream: screen, live: true, brief: true })],
    });
    const output = ensemble.run().catch(() => undefined);
    await until(screen, "one  (code)");
    await ensemble.dispose();
    await output;
    expect(screen.text).to.match(/^(?:stop.*\n)?(?:Run failed.*\n)?CANCELLED.*\n$/);
  });
});

describe("LiveRegion", () => {
  const lines = (...texts: readonly string[]): readonly ReturnType<typeof plainLine>[] =>
    texts.map(plainLine);

  it("leaves no lines when the window becomes narrower between two drawings", () => {
    const screen = new Screen(40);
    const region = new LiveRegion(screen);
    screen.write("before\n");
    region.draw(lines("a".repeat(35), "b".repeat(30)));
    screen.resize(20);
    region.draw(lines("c", "d"));
    expect(screen.text).to.equal("before\nc\nd\n");
    region.close();
    expect(screen.text).to.equal("before\n");
  });

  it("ends every write at the start of a line, and never hides the cursor", () => {
    const writes: string[] = [];
    const region = new LiveRegion({ write: (text) => writes.push(text), columns: 0 });
    region.draw(lines("one"));
    region.print("two\n");
    region.draw(lines("three"));
    expect(writes.every((text) => text.endsWith("\n"))).to.equal(true);
    expect(writes.join("")).not.to.include("\u001B[?");
  });

  it("passes on values that are not texts, and an empty write", () => {
    const written: unknown[] = [];
    const stream = { write: (chunk: unknown) => written.push(chunk) };
    const region = new LiveRegion(stream);
    region.open();
    region.open(); // once
    region.draw(lines("one"));
    stream.write("");
    expect(written.at(-2)).to.equal("one\n");
    stream.write(new Uint8Array([10]));
    expect(written.slice(-2)).to.deep.equal(["\r\u001B[1A\u001B[J", new Uint8Array([10])]);
    region.draw(lines("two"));
    expect(written.at(-1)).to.equal("two\n");
    stream.write(new Uint8Array([65]));
    region.print("above\n");
    expect(written.at(-1)).to.equal("\nabove\n");
    region.close();
  });
});

describe("columns of a terminal", () => {
  it("counts wide characters as two and combining marks as zero", () => {
    expect(columnCount("abc")).to.equal(3);
    expect(columnCount("日本")).to.equal(4);
    expect(columnCount("e\u0301")).to.equal(1);
    expect(columnCount("🚀")).to.equal(2);
  });

  it("cuts by columns and never splits a character", () => {
    expect(fitColumns("abcdef", 6)).to.equal("abcdef");
    expect(fitColumns("abcdef", 4)).to.equal("abc…");
    expect(fitColumns("日本語です", 6)).to.equal("日本…");
    expect(fitColumns("abc", 0)).to.equal("");
  });
});

describe("the output on a terminal", () => {
  const clean = { CI: undefined, NO_COLOR: undefined, TERM: "xterm" };
  const terminal = { isTTY: true, write: (): boolean => true };

  it("is overwritten unless the stream or the environment prevents it", () => {
    setEnvironment(clean);
    expect(drawsOver(terminal)).to.equal(true);
    expect(drawsOver({ ...terminal, isTTY: false })).to.equal(false);
    for (const change of [{ CI: "1" }, { NO_COLOR: "1" }, { TERM: "dumb" }]) {
      setEnvironment({ ...clean, ...change });
      expect(drawsOver(terminal), JSON.stringify(change)).to.equal(false);
    }
    setEnvironment({ ...clean, CI: "false" });
    expect(drawsOver(terminal)).to.equal(true);
  });

  it("is ASCII on the Linux console and in a locale without UTF-8", () => {
    const locale = { TERM: "xterm", LC_ALL: undefined, LC_CTYPE: undefined };
    setEnvironment({ ...locale, LANG: "C.UTF-8" });
    expect(showsUnicode()).to.equal(process.platform !== "win32");
    setEnvironment({ ...locale, LANG: "C" });
    expect(showsUnicode()).to.equal(false);
    setEnvironment({ ...locale, LANG: "C.UTF-8", TERM: "linux" });
    expect(showsUnicode()).to.equal(false);
  });
});
