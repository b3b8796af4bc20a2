import { expect } from "chai";
import { z } from "zod";
import { ValidationError } from "../../../src/contracts/errors.js";
import { Task } from "../../../src/contracts/task.js";
import { tool } from "../../../src/contracts/tool.js";
import { personalData } from "../../../src/plugins/guards/personal-data/index.js";
import type { GuardReport } from "../../../src/plugins/guards/shared/findings.js";
import { cache } from "../../../src/plugins/resilience/cache/index.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { guarded, pieces, reasonsOf } from "./guarded-team.js";

const MAIL = "ana@example.com";
const IBAN = "DE89 3704 0044 0532 0130 00";

/** Returns the placeholder of a kind in a request. */
function placeholderIn(text: string, kind = "EMAIL"): string {
  return new RegExp(`\\[${kind}_[A-Z2-9]{7}\\]`).exec(text)?.[0] ?? "none";
}
const sent = (model: ScriptedModel): string => JSON.stringify(model.requests);

describe("personalData()", () => {
  it("reads a value after an escape of JSON without the letter of the escape", async () => {
    const inputs: unknown[] = [];
    const read = tool({
      name: "read",
      description: "Reads",
      execute: () => ({ text: `From:\n${MAIL}` }),
    });
    const send = tool({
      name: "send",
      description: "Sends",
      input: z.object({ to: z.string() }),
      execute: (input) => {
        inputs.push(input);
        return "sent";
      },
    });
    const { model } = await guarded(
      [personalData()],
      ({ messages }) => {
        if (messages.length > 4) return "Done.";
        const to = placeholderIn(JSON.stringify(messages));
        const name = to === "none" ? "read" : "send";
        return { toolCalls: [{ name, arguments: to === "none" ? {} : { to } }] };
      },
      { tools: [read, send] },
    );
    expect(inputs).to.deep.equal([{ to: MAIL }]);
    expect(sent(model)).not.to.include(MAIL);
  });

  it("sends placeholders to the model and restores the values in the output and the stream", async () => {
    const answer = (text: string): string =>
      `Wrote to ${placeholderIn(text)} about ${placeholderIn(text, "IBAN")}.`;
    const { output, shown, model } = await guarded(
      [personalData()],
      (request) => ({ chunks: pieces(answer(JSON.stringify(request.messages))) }),
      { description: `Write to ${MAIL} about ${IBAN}, then to ${MAIL} again` },
    );
    expect(output.raw).to.equal(`Wrote to ${MAIL} about ${IBAN}.`);
    expect(shown).to.equal(output.raw);
    expect(sent(model)).not.to.include(MAIL).and.not.to.include(IBAN);
    expect(new Set(sent(model).match(/\[EMAIL_\w+\]/g)).size).to.equal(1);
  });

  it("passes the values to tools, and masks their results", async () => {
    const inputs: unknown[] = [];
    const send = tool({
      name: "send",
      description: "Sends a mail",
      input: z.object({ to: z.string() }),
      execute: ({ to }) => {
        inputs.push(to);
        return `sent to ${to}, copy to bo@example.org`;
      },
    });
    const { output, model } = await guarded(
      [personalData()],
      ({ messages }) => {
        const text = JSON.stringify(messages);
        const to = placeholderIn(text);
        return messages.length > 2
          ? `Done: ${to}`
          : { toolCalls: [{ name: "send", arguments: { to } }] };
      },
      { description: `Write to ${MAIL}`, tools: [send] },
    );
    expect(inputs).to.deep.equal([MAIL]);
    expect(output.raw).to.equal(`Done: ${MAIL}`);
    expect(sent(model)).not.to.match(/@example/);
  });

  it("refuses a request to which a later plugin adds personal data", async () => {
    const { error, model } = await guarded(
      [
        personalData(),
        {
          name: "later",
          apply: ({ hooks }) =>
            hooks.beforeLlmCall.tap(
              { name: "later", lane: "transform", order: "post" },
              ({ request }) => ({
                verb: "replace",
                value: {
                  request: {
                    ...request,
                    messages: [...request.messages, { role: "user", content: MAIL }],
                  },
                },
              }),
            ),
        },
      ],
      ["never"],
    );
    expect(reasonsOf(error)).to.include("the request contains personal data: email");
    expect(model.requests).to.have.length(0);
  });

  it("never passes values of another run from a cache", async () => {
    const model = new ScriptedModel(
      ({ messages }) => `Mailed ${placeholderIn(JSON.stringify(messages))}`,
    );
    await using team = new Ensemble({
      model,
      plugins: [cache(), personalData({ key: "one key for all runs" })],
      tasks: [new Task({ description: "Write to {mail}" })],
    });
    const outputs: string[] = [];
    for (const mail of [MAIL, "bo@example.org", MAIL]) outputs.push((await team.run({ mail })).raw);
    expect(outputs).to.deep.equal([`Mailed ${MAIL}`, "Mailed bo@example.org", `Mailed ${MAIL}`]);
    expect(model.requests).to.have.length(2); // the third run was answered by the cache
  });

  it("fails a task with personal data in its request or its output if it refuses", async () => {
    const asked = await guarded([personalData({ action: "refuse" })], ["never"], {
      description: MAIL,
    });
    expect(asked.model.requests).to.have.length(0);
    expect(reasonsOf(asked.error)).to.include("INPUT guardrail violation").and.to.include("email");
    const answered = await guarded([personalData({ action: "refuse" })], [`Ask ${MAIL}`]);
    expect(reasonsOf(answered.error))
      .to.include("OUTPUT guardrail violation")
      .and.to.include("email");
  });

  it("keeps placeholders and masks outputs of handlers without restore", async () => {
    const task = new Task({ description: "Look up", handler: () => `It is ${MAIL}` });
    const reports: GuardReport[] = [];
    const guard = personalData({
      restore: false,
      onFinding: (report) => void reports.push(report),
    });
    const { output } = await guarded([guard], [], { task });
    expect(output.raw).to.match(/^It is \[EMAIL_\w+\]$/);
    expect(reports[0]).to.deep.include({ place: "output", action: "masked", kinds: ["email"] });
  });

  it("finds values with a detector of the user, and fails the task if the detector throws", async () => {
    const names = (text: string) =>
      [...text.matchAll(/Ana/g)].map(({ index }) => ({
        kind: "name",
        start: index,
        end: index + 3,
      }));
    const { model } = await guarded([personalData({ detectors: [names] })], ["ok"], {
      description: "Ask Ana",
    });
    expect(sent(model)).to.match(/Ask \[NAME_\w+\]/);
    const broken = (): never => {
      throw new Error("no dictionary");
    };
    const failed = await guarded([personalData({ detectors: [broken] })], ["never"]);
    expect(reasonsOf(failed.error)).to.include("no dictionary");
    expect(failed.model.requests).to.have.length(0);
  });

  it("fails the task if a detector returns a promise", async () => {
    const later = (() => Promise.resolve([])) as never;
    const failed = await guarded([personalData({ detectors: [later] })], ["never"]);
    expect(reasonsOf(failed.error)).to.include("must return an array of findings, got: ");
    expect(failed.model.requests).to.have.length(0);
  });

  it("refuses unknown options and values", () => {
    const refused = (options: object): void =>
      void expect(() => personalData(options)).to.throw(ValidationError);
    refused({ kind: ["email"] });
    refused({ kinds: ["mail"] });
    refused({ action: "hide" });
    refused({ action: "refuse", restore: true });
    refused({ countries: ["Germany"] });
    refused({ detectors: ["x"] });
    refused({ key: " " });
  });
});
