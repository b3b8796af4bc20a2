import {
  Agent,
  Ensemble,
  Task,
  ValidationError,
  type ChatModel,
  type ContentPart,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { ReactExecutor } from "../../src/plugins/agents/react/react-executor.js";
import { rejectionOf } from "../support/rejection.js";
import { fakeScope, taskCall } from "../support/fake-scope.js";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const PNG = base64("\x89PNG\r\n\x1a\n");
const JPEG = base64("\xff\xd8\xff\xe0");
const PDF = base64("%PDF-1.7 and more");
const MP3 = base64("ID3\x04 and more");

const taskWith = (...attachments: readonly unknown[]) =>
  new Task({ description: "Look", attachments: attachments as readonly ContentPart[] });

/** A scripted model that declares what it takes beside text. */
function taking(attachments: readonly string[] | undefined): ScriptedModel {
  return Object.assign(new ScriptedModel(["fine"]), { capabilities: { attachments } });
}

describe("attachments of a task", () => {
  for (const [what, part] of [
    ["text", { type: "text", text: "a" }],
    ["an image whose first bytes show its type", { type: "image", data: PNG }],
    ["an image of the declared type", { type: "image", data: JPEG, mediaType: "image/jpeg" }],
    ["the old name of a type", { type: "image", data: JPEG, mediaType: "image/jpg" }],
    ["base64 text in lines", { type: "image", data: `${PNG.slice(0, 8)}\n${PNG.slice(8)}` }],
    [
      "a type whose files begin in many ways",
      { type: "image", data: base64("<svg/>"), mediaType: "image/svg+xml" },
    ],
    ["a data: address", { type: "image", data: `data:image/png;base64,${PNG}` }],
    ["an address", { type: "image", data: "https://example.test/a" }],
    ["a URL", { type: "image", data: new URL("https://example.test/a"), mediaType: "image/png" }],
  ] as const) {
    it(`may be ${what}`, () => expect(taskWith(part).attachments).to.deep.equal([part]));
  }

  for (const [what, part, problem] of [
    ["nothing", undefined, 'must be a part of type "text" or "image"'],
    ["text alone", "a.png", 'must be a part of type "text" or "image", got: a.png'],
    [
      "a part of another type",
      { type: "file", data: PDF },
      'must be a part of type "text" or "image"',
    ],
    [
      "a part with the type of another library",
      { type: "image_url", image_url: "x" },
      "must be a part",
    ],
    [
      "a field of another library",
      { type: "image", data: PNG, mimeType: "image/png" },
      "mediaType",
    ],
    ["an image without data", { type: "image" }, "data must be base64 text or an address"],
    ["bytes", { type: "image", data: Buffer.from("x") }, "data must be base64 text or an address"],
    ["blank data", { type: "image", data: " " }, "data must be base64 text or an address"],
    ["text without text", { type: "text" }, "text must not be blank"],
    [
      "a type that is no text",
      { type: "image", data: PNG, mediaType: 7 },
      "mediaType must be text",
    ],
    ["a path", { type: "image", data: "./a.png" }, "neither base64 text nor"],
    [
      "an address of a file",
      { type: "image", data: new URL("file:///a.png") },
      "neither base64 text nor",
    ],
    [
      "a PDF",
      { type: "image", data: PDF },
      "is no image: its first bytes are those of application/pdf",
    ],
    [
      "a PDF declared as an image",
      { type: "image", data: PDF, mediaType: "image/png" },
      "is no image",
    ],
    [
      "a PDF with its type",
      { type: "image", data: PDF, mediaType: "application/pdf" },
      "declared as application/pdf",
    ],
    ["audio", { type: "image", data: MP3 }, "is no image: its first bytes are those of audio/mpeg"],
    [
      "audio in a data: address",
      { type: "image", data: `data:image/png;base64,${MP3}` },
      "is no image",
    ],
    [
      "another kind of image",
      { type: "image", data: JPEG, mediaType: "image/png" },
      "declared as image/png, but its first bytes are those of image/jpeg",
    ],
    [
      "what does not begin as declared",
      { type: "image", data: "AAAA", mediaType: "image/png" },
      "are of another type",
    ],
    ["what nothing shows the type of", { type: "image", data: "AAAA" }, "has no mediaType"],
    [
      "two types",
      { type: "image", data: `data:image/png;base64,${PNG}`, mediaType: "image/gif" },
      "has two types",
    ],
  ] as const) {
    it(`may not be ${what}`, () => {
      expect(() => taskWith({ type: "text", text: "a" }, part))
        .to.throw(ValidationError, problem)
        .with.property("message")
        .that.includes("Task attachment at index 1");
    });
  }

  describe("that a model can't carry", () => {
    const image = { type: "image", data: JPEG } as const;
    const runWith = (model: ChatModel, part: ContentPart = image) =>
      new Ensemble({
        model,
        tasks: [
          new Task({ description: "First" }),
          new Task({ description: "Look", attachments: [{ type: "text", text: "a" }, part] }),
        ],
      }).run();

    it("are refused before anything is spent", async () => {
      for (const [taken, shown] of [
        [[], "text only"],
        [["image/png", "image/gif"], "image/png, image/gif"],
        [["application/pdf"], "application/pdf"],
      ] as const) {
        const model = taking(taken);
        const { message } = await rejectionOf(ValidationError, runWith(model));
        expect(message).to.equal(
          `Task 'Look' can't be sent to model 'scripted:scripted': attachment 1 is image/jpeg, and the model takes ${shown}`,
        );
        expect(model.requests).to.deep.equal([]);
      }
    });

    it("are passed on where the model takes the type, all of the kind, or declares nothing", async () => {
      for (const taken of [["image/jpeg"], ["image/*"], undefined]) {
        const model = Object.assign(new ScriptedModel(["one", "two"]), {
          capabilities: { attachments: taken },
        });
        expect((await runWith(model)).raw).to.equal("two");
      }
    });

    it("are not known by an address alone", async () => {
      const model = Object.assign(new ScriptedModel(["one", "two"]), {
        capabilities: { attachments: ["image/png"] },
      });
      expect((await runWith(model, { type: "image", data: "https://a.test/b" })).raw).to.equal(
        "two",
      );
      await rejectionOf(
        ValidationError,
        runWith(taking([]), { type: "image", data: "https://a.test/b" }),
      );
    });

    it("are refused by the agent too, whose model may be another one than the plan shows", async () => {
      const model = taking([]);
      const task = new Task({ description: "Look", attachments: [image] });
      const work = new ReactExecutor().execute(
        taskCall(task, { agent: new Agent({ role: "R", goal: "G" }) }),
        fakeScope({ model }),
      );
      await rejectionOf(ValidationError, work);
      expect(model.requests).to.deep.equal([]);
    });
  });
});
