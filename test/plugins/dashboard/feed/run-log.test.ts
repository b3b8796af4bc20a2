import { expect } from "chai";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import type { RunSnapshot } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { AnswerText } from "../../../../src/plugins/dashboard/feed/answer-text.js";
import { RunLog } from "../../../../src/plugins/dashboard/feed/run-log.js";
import { createRunState } from "../../../../src/plugins/dashboard/protocol/run-state.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import { eventsOf, TRACED } from "../../observability/trace/teams.js";
import { entry, PLANS } from "../logs.js";

const SECRET = "wren-4711-egg-0815";
const redactor = createRedactor({ environment: { NEST_PASSWORD: SECRET } });

function newLog(o: Partial<ConstructorParameters<typeof RunLog>[1]> = {}): RunLog {
  return new RunLog("run-1", {
    redactor,
    contents: true,
    maxEntries: 1_000,
    longestPhrase: 0,
    ...o,
  });
}

function logWith(events: readonly EnsembleEvent[], log = newLog()): RunLog {
  for (const event of events) log.append(event);
  return log;
}

/** An event of the run, as the kernel emits it. */
function event(type: string, fields: object = {}, n = 0): EnsembleEvent {
  const { n: _n, ...rest } = entry(n, type, { v: 1, seq: n, runId: "run-1", ...fields });
  return rest as unknown as EnsembleEvent; // with the tested fields
}

function parsed(log: RunLog, form: "slim" | "full", from = 0): readonly never[] {
  return Array.from(
    { length: log.n + 1 - from },
    (_, i) => JSON.parse(log.text(from + i, form)) as never,
  );
}

const sent = (snapshot: RunSnapshot): RunSnapshot =>
  JSON.parse(JSON.stringify(snapshot)) as RunSnapshot;

describe("the log of a run", () => {
  for (const team of TRACED)
    it(`gives a reader of '${team}' the same state as the server at any time`, async () => {
      const events = await eventsOf(team);
      const whole = logWith(events);
      for (let cut = 0; cut <= events.length; cut++) {
        const early = logWith(events.slice(0, cut));
        const form = cut % 2 === 0 ? "slim" : "full";
        const page = createRunState({ snapshot: JSON.parse(early.snapshotText()) as RunSnapshot });
        for (const line of parsed(whole, form, cut)) page.apply(line);
        expect(sent(page.snapshot())).to.deep.equal(sent(whole.snapshot()));
        expect(sent({ ...page.view.summary } as never)).to.deep.equal(
          sent({ ...whole.summary } as never),
        );
      }
    });

  it("encodes nothing until it is read, and each form of an entry once", async () => {
    const log = logWith(await eventsOf("delegation"));
    expect(log.encoded).to.equal(0);
    expect(log.text(2, "slim")).to.equal(log.text(2, "slim"));
    log.text(2, "full");
    expect(log.encoded).to.equal(2);
  });

  it("omits prompts, answers, arguments and results from slim entries", async () => {
    const events = await eventsOf("sequential");
    const slim = JSON.stringify(parsed(logWith(events), "slim"));
    const full = JSON.stringify(parsed(logWith(events), "full"));
    for (const text of ["Swifts sleep in the air", "You are Researcher", "pages"]) {
      expect(full).to.include(text);
      expect(slim).to.not.include(text);
    }
  });

  it("removes the secrets of the run from entries, summaries and snapshots", () => {
    const at = { taskId: "a", agentRole: "Writer" };
    const long = `${"x".repeat(150)}${SECRET}`;
    const log = logWith([
      event("ensemble_started"),
      event("run_planned", {
        ensemble: { name: "team", description: SECRET },
        inputs: { topic: long },
        tags: { customer: SECRET },
        dag: {
          ...PLANS[0],
          agents: [{ role: "Writer", goal: SECRET, background: long, toolNames: [] }],
          tasks: [{ ...PLANS[0].tasks[0], description: long }],
        },
      }),
      event("task_started", { ...at, taskDescription: long, attempt: 1 }),
      event("tool_called", { ...at, toolArguments: SECRET, toolResult: long }),
      event("task_failed", {
        ...at,
        reason: SECRET,
        cause: Object.assign(new Error(long, { cause: new Error(SECRET) }), { code: "AE_X" }),
      }),
      event("run_failed", { code: "AE_X", message: long }),
      event("ensemble_completed", { exitReason: "ERROR" }),
    ]);
    const all = [
      parsed(log, "slim"),
      parsed(log, "full"),
      log.snapshotText(),
      log.summary,
      log.entry(4, "full"),
    ];
    expect(JSON.stringify(all)).to.not.include(SECRET.slice(0, 9));
    expect(log.summary.error?.message).to.match(/^x{150}\[redact/);
    expect(log.entry(4, "full")["cause"]).to.deep.include({
      name: "Error",
      code: "AE_X",
      cause: { name: "Error", message: "[redacted]" },
    });
  });

  it("contains names, but no texts, with contents: false", () => {
    const text = "quiet words";
    const at = { taskId: "a", agentRole: "Writer" };
    const events = [
      event("ensemble_started"),
      event("run_planned", {
        ensemble: { name: "team", description: text },
        inputs: { topic: text },
        tags: { customer: "acme" },
        dag: { ...PLANS[0], tasks: [{ ...PLANS[0].tasks[0], description: text }] },
      }),
      event("task_started", { ...at, taskDescription: text, attempt: 1 }),
      event("task_input", { ...at, systemPrompt: text, userPrompt: text, toolNames: ["search"] }),
      event("llm_iteration_completed", { ...at, responseText: text, iteration: 0 }),
      event("reasoning_received", { ...at, reasoning: text, iteration: 0 }),
      event("tool_started", { ...at, toolName: "search", toolArguments: text }),
      event("tool_called", { ...at, toolName: "search", toolResult: text, structuredResult: text }),
      event("review_requested", { ...at, reviewId: "q", taskOutput: text, prompt: text }),
      event("review_resolved", { ...at, reviewId: "q", comment: text, by: "ana" }),
      event("guardrail_refused", { ...at, message: text, retriesLeft: 0 }),
      event("output_corrected", { ...at, errors: [text] }),
      event("file_changed", { ...at, filePath: text }),
      event("task_failed", { ...at, reason: text, cause: new Error(text) }),
      event("run_warning", { message: text }),
      event("run_suspended", { waitsFor: text }),
      event("run_failed", { code: "AE_X", message: text }),
    ];
    const log = logWith(events, newLog({ contents: false }));
    log.addToken("a", text);
    expect(log.answerAfter("a", undefined, "now")).to.equal(undefined);
    const all = JSON.stringify([
      parsed(log, "slim"),
      parsed(log, "full"),
      log.snapshot(),
      log.summary,
    ]);
    expect(all).to.not.include("quiet");
    for (const name of ["team", "acme", "search", "Writer", "ana"]) expect(all).to.include(name);
    const page = createRunState();
    for (const line of parsed(log, "slim")) page.apply(line);
    expect(sent(page.snapshot())).to.deep.equal(sent(log.snapshot()));
  });

  it("drops the texts of the oldest entries beyond its limit, and keeps the state", () => {
    const at = { taskId: "a", agentRole: "Writer" };
    const log = newLog({ maxEntries: 3 });
    log.append(event("ensemble_started"));
    log.append(event("task_started", { ...at, taskDescription: "Write", attempt: 1 }));
    const calls = [3, 4, 5, 6].map((n) => event("tool_called", { ...at, toolResult: "birds" }, n));
    logWith(calls, log);
    expect(log.entry(2, "full")).to.include({ trimmed: true }).and.not.have.property("toolResult");
    expect(log.entry(3, "full")).to.include({ toolResult: "birds" });
    expect(log.n).to.equal(5);
    expect(log.summary.totals.tools).to.equal(4);
    expect(log.entry(1, "slim")).to.include({ taskDescription: "Write" });
  });

  it("finds the entries of a task, and refuses unknown numbers", () => {
    const log = logWith([
      event("ensemble_started"),
      event("task_started", { taskId: "a" }),
      event("task_started", { taskId: "b" }),
      event("task_completed", { taskId: "a" }),
    ]);
    expect(log.numbersOf("a")).to.deep.equal([1, 3]);
    expect(() => log.text(4, "slim")).to.throw(RangeError);
  });

  describe("with a streamed answer", () => {
    /** The text that a reader receives who reads after every piece. */
    function readAll(log: RunLog, pieces: readonly string[]): string {
      let place: Parameters<RunLog["answerAfter"]>[1];
      let seen = "";
      for (const piece of pieces) {
        log.addToken("a", piece);
        const more = log.answerAfter("a", place, "now");
        if (more === undefined) continue;
        place = more.place;
        seen += String(more.entry["token"]);
      }
      return seen;
    }

    it("shows no part of a secret that is split over tokens", () => {
      const pieces = ["The key is ", ...SECRET, " and it", " is good. "];
      const seen = readAll(newLog(), pieces);
      expect(seen).to.equal("The key is [redacted] and it is good. ");
    });

    it("shows no part of a secret that is as long as a signed token with many claims", () => {
      const key = "Ab3/".repeat(500);
      const log = newLog({ redactor: createRedactor({ environment: { LONG_SECRET: key } }) });
      const pieces = ["The key is ", ...(key.match(/.{1,7}/g) ?? []), " and it", " is good. "];
      expect(readAll(log, pieces)).to.equal("The key is [redacted] and it is good. ");
    });

    it("holds back as many characters as a secret of several words may have", () => {
      const phrase = "three blind mice sing";
      const log = newLog({
        redactor: createRedactor({ environment: { PASSPHRASE: phrase } }),
        longestPhrase: phrase.length,
      });
      const seen = readAll(log, [..."say ", ...phrase, ..." and then go on for a while longer"]);
      expect(seen).to.match(/^say \[redacted\] and then/);
      expect(seen).to.not.include("three");
    });

    it("redacts a long answer less often than it grows", () => {
      const answer = new AnswerText(0, 0);
      let redactions = 0;
      for (let i = 0; i < 100_000; i++) {
        answer.add("ten chars ");
        answer.shown((text) => {
          redactions++;
          return text;
        });
      }
      expect(redactions).to.be.below(6_000);
      expect(answer.shown((text) => text).length).to.be.above(998_000);
    });

    it("starts again with the next answer, for readers of the previous answer", () => {
      const log = logWith([event("ensemble_started"), event("task_started", { taskId: "a" })]);
      log.addToken("a", "one ");
      const first = log.answerAfter("a", undefined, "t1");
      expect(first?.entry).to.deep.equal({
        n: 1,
        at: "t1",
        type: "token",
        taskId: "a",
        token: "one ",
        sentAt: "t1",
        begins: true,
      });
      expect(log.answerAfter("a", first?.place, "t2")).to.equal(undefined);
      log.append(event("llm_iteration_completed", { taskId: "a" }));
      expect(log.answerAfter("a", first?.place, "t2")).to.equal(undefined);
      log.addToken("a", "two ");
      expect(log.answerAfter("a", first?.place, "t3")?.entry).to.include({
        token: "two ",
        begins: true,
      });
    });
  });
});
