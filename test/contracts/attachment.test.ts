import {
  Agent,
  attachment,
  Ensemble,
  standardPlugins,
  Task,
  TaskExecutionError,
  tool,
  ToolResult,
  ValidationError,
  type AttachmentOptions,
  type ChatModel,
  type ContentPart,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { fallback } from "agentensemble/resilience";
import { expect } from "chai";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporary-folder.js";
import { rejection, rejectionOf } from "../support/rejection.js";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
const PNG = base64("\x89PNG\r\n\x1a\n");
const JPEG = base64("\xff\xd8\xff\xe0");
const PDF = base64("%PDF-1.7 and more");
const MP3 = base64("ID3\x04 and more");

const taskWith = (...attachments: readonly unknown[]) =>
  new Task({ description: "Look", attachments: attachments as readonly ContentPart[] });

/** A scripted model that declares the accepted types in addition to text. */
function taking(attachments: readonly string[] | undefined): ScriptedModel {
  return Object.assign(new ScriptedModel(["fine"]), {
    capabilities: { parts: attachments && { user: attachments } },
  });
}

describe("attachments of a task", () => {
  for (const [what, part] of [
    ["text", { type: "text", text: "a" }],
    ["an image whose first bytes show its type", { type: "image", data: PNG }],
    ["an image of the declared type", { type: "image", data: JPEG, mediaType: "image/jpeg" }],
    ["the old name of a type", { type: "image", data: JPEG, mediaType: "image/jpg" }],
    ["base64 text in lines", { type: "image", data: `${PNG.slice(0, 8)}\n${PNG.slice(8)}` }],
    ["a type without known first bytes", { type: "image", data: "AAAA", mediaType: "image/x-own" }],
    ["a PDF", { type: "file", data: PDF, mediaType: "application/pdf", name: "a.pdf" }],
    ["a text file", { type: "file", data: base64("a,b"), mediaType: "text/csv" }],
    ["audio", { type: "audio", data: MP3, mediaType: "audio/mpeg" }],
    ["audio under its other name", { type: "audio", data: MP3, mediaType: "audio/mp3" }],
    ["a PDF by its URL", { type: "file", data: "https://a.test/b", mediaType: "text/plain" }],
    ["marked for the vendor's cache", { type: "text", text: "a", cache: { ttl: "5m" } }],
    ["an image with the resolution", { type: "image", data: PNG, detail: "low" }],
    ["a data: URL", { type: "image", data: `data:image/png;base64,${PNG}` }],
    ["a URL as text", { type: "image", data: "https://example.test/a" }],
    ["a URL", { type: "image", data: new URL("https://example.test/a"), mediaType: "image/png" }],
  ] as const) {
    it(`may be ${what}`, () => expect(taskWith(part).attachments).to.deep.equal([part]));
  }

  for (const [what, part, problem] of [
    ["nothing", undefined, 'must be a part of type "text", "image", "file" or "audio"'],
    [
      "text alone",
      "a.png",
      'must be a part of type "text", "image", "file" or "audio", got: a.png',
    ],
    [
      "a part of another type",
      { type: "video", data: PDF },
      'must be a part of type "text", "image", "file" or "audio"',
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
      "a type that is not a text",
      { type: "image", data: PNG, mediaType: 7 },
      "mediaType must be text",
    ],
    ["a path", { type: "image", data: "./a.png" }, "neither base64 text nor"],
    [
      "a URL of a file",
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
      "declared as image/png, but its first bytes are those of application/pdf",
    ],
    [
      "a PDF with its type",
      { type: "image", data: PDF, mediaType: "application/pdf" },
      "declared as application/pdf",
    ],
    ["audio", { type: "image", data: MP3 }, "is no image: its first bytes are those of audio/mpeg"],
    [
      "audio in a data: URL",
      { type: "image", data: `data:image/png;base64,${MP3}` },
      "declared as image/png, but its first bytes are those of audio/mpeg",
    ],
    [
      "another kind of image",
      { type: "image", data: JPEG, mediaType: "image/png" },
      "declared as image/png, but its first bytes are those of image/jpeg",
    ],
    [
      "data with the first bytes of another type",
      { type: "image", data: "AAAA", mediaType: "image/png" },
      "are of another type",
    ],
    ["what nothing shows the type of", { type: "image", data: "AAAA" }, "has no mediaType"],
    [
      "two types",
      { type: "image", data: `data:image/png;base64,${PNG}`, mediaType: "image/gif" },
      "has two types",
    ],
    [
      "SVG as an image",
      { type: "image", data: base64("<svg/>"), mediaType: "image/svg+xml" },
      "is declared as text/xml, which is no image",
    ],
    [
      "an image as a file",
      { type: "file", data: PNG, mediaType: "image/png" },
      'which belongs into a part of type "image"',
    ],
    [
      "binary data as text",
      { type: "file", data: PNG, mediaType: "text/plain" },
      "declared as text/plain, but its first bytes are those of image/png",
    ],
    [
      "a PDF as text",
      { type: "file", data: PDF, mediaType: "text/plain" },
      "declared as text/plain, but its first bytes are those of application/pdf",
    ],
    [
      "text in another encoding",
      { type: "file", data: base64("\xe9t\xe9"), mediaType: "text/plain" },
      "not UTF-8 text",
    ],
    [
      "audio by its address",
      { type: "audio", data: "https://a.test/b", mediaType: "audio/wav" },
      "is audio by its address",
    ],
    [
      "a blank name",
      { type: "file", data: PDF, mediaType: "application/pdf", name: " " },
      "name must not be blank",
    ],
    ["an unknown resolution", { type: "image", data: PNG, detail: "best" }, "detail must be"],
    ["an unknown cache mark", { type: "text", text: "a", cache: "on" }, "cache must be"],
    ["an unknown time", { type: "text", text: "a", cache: { ttl: "2h" } }, "cache must be"],
    [
      "a cache mark with more",
      { type: "text", text: "a", cache: { ttl: "5m", x: 1 } },
      "Unknown option 'x'",
    ],
    [
      "more than 20 MiB",
      { type: "text", text: "a".repeat(20 * 1024 * 1024 + 1) },
      "must have at most 20971520 bytes, got: 20971521",
    ],
  ] as const) {
    it(`may not be ${what}`, () => {
      expect(() => taskWith({ type: "text", text: "a" }, part))
        .to.throw(ValidationError, problem)
        .with.property("message")
        .that.includes("Task attachment at index 1");
    });
  }

  it("may not be more than 32, or more than 32 MiB together", () => {
    const text = { type: "text", text: "a" };
    expect(taskWith(...Array.from({ length: 32 }, () => text)).attachments).to.have.length(32);
    expect(() => taskWith(...Array.from({ length: 33 }, () => text))).to.throw(
      ValidationError,
      "Task attachments must be at most 32 parts, got: 33",
    );
    const large = { type: "text", text: "a".repeat(17 * 1024 * 1024) };
    expect(() => taskWith(large, large)).to.throw(
      ValidationError,
      "Task attachments must have at most 33554432 bytes together",
    );
  });

  it("show no content in errors", () => {
    for (const part of [
      { type: "image", data: `${base64("secret content")}?` },
      { type: "video", data: base64("secret content") },
      { type: "file", data: base64("secret content"), mediaType: "application/pdf" },
    ])
      expect(() => taskWith(part))
        .to.throw(ValidationError)
        .with.property("message")
        .that.does.not.include(base64("secret content").slice(0, 8));
  });

  describe("that a model does not accept", () => {
    const image = { type: "image", data: JPEG } as const;
    const runWith = (model: ChatModel, part: ContentPart = image) =>
      new Ensemble({
        model,
        tasks: [
          new Task({ description: "First" }),
          new Task({ description: "Look", attachments: [{ type: "text", text: "a" }, part] }),
        ],
      }).run();

    it("are refused before any cost arises", async () => {
      for (const [taken, shown] of [
        [[], "images in user messages (accepted: text only)"],
        [
          ["image/png", "image/gif"],
          "image/jpeg in user messages (accepted: image/png, image/gif)",
        ],
        [["application/pdf"], "images in user messages (accepted: application/pdf)"],
      ] as const) {
        const model = taking(taken);
        const { message } = await rejectionOf(ValidationError, runWith(model));
        expect(message).to.equal(
          `Attachment 1 of task 'Look' can't be sent: model 'scripted:scripted' does not accept ${shown}`,
        );
        expect(model.requests).to.deep.equal([]);
      }
    });

    it("are passed on if the model accepts the type, all types of the kind, or declares nothing", async () => {
      for (const taken of [["image/jpeg"], ["image/*"], undefined]) {
        const model = Object.assign(new ScriptedModel(["one", "two"]), {
          capabilities: { parts: taken && { user: taken } },
        });
        expect((await runWith(model)).raw).to.equal("two");
      }
    });

    it("are passed on as a URL without a type, unless the model accepts text only", async () => {
      const model = Object.assign(new ScriptedModel(["one", "two"]), {
        capabilities: { parts: { user: ["image/png"] } },
      });
      expect((await runWith(model, { type: "image", data: "https://a.test/b" })).raw).to.equal(
        "two",
      );
      await rejectionOf(
        ValidationError,
        runWith(taking([]), { type: "image", data: "https://a.test/b" }),
      );
    });

    it("are refused with the names of providers whose models accept them", async () => {
      const model = taking([]);
      const { hint } = await rejectionOf(ValidationError, runWith(model));
      expect(hint).to.equal("Models of openai, anthropic take it.");
    });

    it("are refused by size and by URL", async () => {
      for (const [parts, part, problem] of [
        [{ maxBytes: 3 }, image, "accepts parts of at most 3 bytes, got: 4"],
        [
          { urls: false },
          { type: "image", data: "https://a.test/b" },
          "does not accept an address of image/*; pass the bytes",
        ],
        [
          { urls: ["image/*"] },
          { type: "file", data: "https://a.test/b", mediaType: "application/pdf" },
          "does not accept an address of application/pdf",
        ],
        [
          { user: ["image/*"] },
          { type: "audio", data: MP3, mediaType: "audio/mpeg" },
          "does not accept audio in user messages (accepted: image/*)",
        ],
      ] as const) {
        const model = Object.assign(new ScriptedModel(["fine"]), { capabilities: { parts } });
        const { message } = await rejectionOf(ValidationError, runWith(model, part));
        expect(message).to.include(problem);
        expect(model.requests).to.deep.equal([]);
      }
    });

    it("are sent to a fallback model that accepts them", async () => {
      const first = taking([]);
      const second = Object.assign(new ScriptedModel(["one", "two"]), {
        provider: "second",
        capabilities: { parts: { user: ["image/*"] } },
      });
      const tasks = [new Task({ description: "Look", attachments: [image] })];
      const plugins = [...standardPlugins(), fallback([second])];
      const output = await new Ensemble({ model: first, tasks, plugins }).run();
      expect(output.raw).to.equal("one");
      expect(first.requests).to.deep.equal([]);
      const none = new Ensemble({
        model: first,
        tasks,
        plugins: [...standardPlugins(), fallback([taking(["audio/*"])])],
      });
      await rejectionOf(ValidationError, none.run());
    });

    it("fail the call if a tool returned them", async () => {
      const camera = tool({
        name: "camera",
        description: "Takes a picture",
        execute: () => ToolResult.success("taken", undefined, { parts: [image] }),
      });
      const model = Object.assign(
        new ScriptedModel([
          { toolCalls: [{ name: "camera", arguments: '{"input":"x"}' }] },
          "done",
        ]),
        { capabilities: { parts: { tool: [] } } },
      );
      const agent = new Agent({ role: "R", goal: "G", tools: [camera] });
      const ensemble = new Ensemble({ model, tasks: [new Task({ description: "Look", agent })] });
      const error = await rejectionOf(TaskExecutionError, ensemble.run());
      expect(error).to.have.nested.property("cause.cause.code", "AE_MODEL_UNSUPPORTED_INPUT");
      expect(error.message).to.include(
        "does not accept images in results of tools (accepted: text only)",
      );
      expect(model.requests).to.have.length(1);
    });
  });
});

describe("attachment", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

  for (const [what, content, o, part] of [
    ["an image", "\x89PNG\r\n\x1a\n", {}, { type: "image", mediaType: "image/png" }],
    [
      "a PDF with its name",
      "%PDF-1.7",
      { name: "a.pdf" },
      { type: "file", mediaType: "application/pdf", name: "a.pdf" },
    ],
    ["text", "plain words", {}, { type: "file", mediaType: "text/plain" }],
    [
      "text that begins as another file",
      "BMW is a car",
      {},
      { type: "file", mediaType: "text/plain" },
    ],
    ["SVG as text", "<svg/>", {}, { type: "file", mediaType: "text/xml" }],
    [
      "SVG that is declared",
      "<svg/>",
      { mediaType: "image/svg+xml" },
      { type: "file", mediaType: "text/xml" },
    ],
    [
      "HTML as text",
      "<html>",
      { mediaType: "text/html" },
      { type: "file", mediaType: "text/html" },
    ],
    [
      "JSON",
      "{}",
      { mediaType: "application/json" },
      { type: "file", mediaType: "application/json" },
    ],
    ["audio", "ID3\x04\0\0", {}, { type: "audio", mediaType: "audio/mpeg" }],
    [
      "audio under another name",
      "RIFF\0\0\0\0WAVEfmt ",
      { mediaType: "audio/x-wav" },
      { type: "audio", mediaType: "audio/wav" },
    ],
    [
      "a mark for the vendor's cache",
      "%PDF-1.7",
      { cache: { ttl: "1h" } },
      { type: "file", mediaType: "application/pdf", cache: { ttl: "1h" } },
    ],
    [
      "another type that is accepted",
      "OggS\0\x02",
      { types: ["audio/*"] },
      { type: "audio", mediaType: "audio/ogg" },
    ],
  ] as const)
    it(`creates ${what}`, () => {
      expect(attachment.fromBytes(bytes(content), o)).to.deep.equal({
        ...part,
        data: base64(content),
      });
      expect(attachment.fromBase64(base64(content), o)).to.deep.equal({
        ...part,
        data: base64(content),
      });
      const made = attachment.fromBytes(bytes(content), o);
      expect(Object.isFrozen(made)).to.equal(true);
      expect(taskWith(made).attachments).to.deep.equal([made]);
    });

  for (const [what, content, o, problem] of [
    ["no bytes", "", {}, "has no bytes"],
    [
      "another type than declared",
      "%PDF-1.7",
      { mediaType: "image/png" },
      "declared as image/png, but its first bytes are those of application/pdf",
    ],
    ["a type that is not accepted", "OggS\0\x02", {}, "is audio/ogg, which is not accepted"],
    ["a type that the caller excludes", "%PDF-1.7", { types: ["image/*"] }, "accepted: image/*"],
    ["bytes of no known type", "\0\x01\x02", {}, "has no mediaType, and its first bytes show none"],
    ["too many bytes", "%PDF-1.7", { maxBytes: 7 }, "must have at most 7 bytes, got: 8"],
    ["an unknown option", "%PDF-1.7", { mimeType: "a/b" }, "Unknown option 'mimeType'"],
    ["an invalid pattern", "%PDF-1.7", { types: ["png"] }, "types at index 0 must be a media type"],
    ["a limit of 0", "%PDF-1.7", { maxBytes: 0 }, "maxBytes must be >= 1"],
    ["a blank type", "%PDF-1.7", { mediaType: " " }, "mediaType must not be blank"],
    ["a blank name", "%PDF-1.7", { name: " " }, "name must not be blank"],
    ["an unknown cache mark", "%PDF-1.7", { cache: true }, "cache must be"],
  ] as const)
    it(`refuses ${what}`, () =>
      expect(() => attachment.fromBytes(bytes(content), o as AttachmentOptions)).to.throw(
        ValidationError,
        problem,
      ));

  it("accepts an ArrayBuffer, and refuses other values that are not bytes", () => {
    const { buffer } = Uint8Array.from(bytes("%PDF-1.7"));
    expect(attachment.fromBytes(buffer)).to.include({ data: base64("%PDF-1.7") });
    expect(() => attachment.fromBytes("x" as unknown as Uint8Array)).to.throw(
      ValidationError,
      "Uint8Array",
    );
  });

  it("refuses text that is not base64, or too long, without decoding it", () => {
    for (const broken of ["?", "", "AAAAA", "AA AA\nA", "A=B="])
      expect(() => attachment.fromBase64(broken)).to.throw(ValidationError, "takes base64 text");
    expect(() => attachment.fromBase64("AAAA".repeat(100), { maxBytes: 10 })).to.throw(
      ValidationError,
      "must have at most 10 bytes, got about: 300",
    );
  });

  it("reads data: URLs and passes on others", () => {
    expect(attachment.fromUrl(`data:image/png;base64,${PNG}`)).to.deep.equal({
      type: "image",
      mediaType: "image/png",
      data: PNG,
    });
    expect(attachment.fromUrl("data:text/csv,a%2Cb")).to.deep.equal({
      type: "file",
      mediaType: "text/csv",
      data: base64("a,b"),
    });
    expect(attachment.fromUrl(new URL("https://a.test/b.png"))).to.deep.equal({
      type: "image",
      data: "https://a.test/b.png",
    });
    expect(
      attachment.fromUrl("https://a.test/b.pdf", { mediaType: "application/pdf", name: "b.pdf" }),
    ).to.deep.equal({
      type: "file",
      data: "https://a.test/b.pdf",
      mediaType: "application/pdf",
      name: "b.pdf",
    });
  });

  for (const [what, url, o, problem] of [
    ["another scheme", "ftp://a.test/b", {}, "takes an http:, https: or data: address"],
    ["a file", "file:///etc/passwd", {}, "takes an http:, https: or data: address"],
    ["a path", "./a.png", {}, "takes an http:, https: or data: address"],
    ["audio by its address", "https://a.test/b", { mediaType: "audio/wav" }, "pass its bytes"],
    [
      "a type that is not accepted",
      "https://a.test/b",
      { mediaType: "video/mp4" },
      "video/mp4, which is not accepted",
    ],
    ["data: with the wrong type", `data:image/png;base64,${JPEG}`, {}, "declared as image/png"],
    ["data: with broken base64", "data:image/png;base64,?", {}, "takes base64 text"],
  ] as const)
    it(`refuses ${what} as a URL`, () =>
      expect(() => attachment.fromUrl(url, o)).to.throw(ValidationError, problem));

  it("reads a file with its name, and checks its size first", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "notes.txt");
    await writeFile(path, "four");
    expect(await attachment.fromFile(path)).to.deep.equal({
      type: "file",
      mediaType: "text/plain",
      data: base64("four"),
      name: "notes.txt",
    });
    expect(await attachment.fromFile(path, { name: "other" })).to.include({ name: "other" });
    for (const [refused, o, problem] of [
      [path, { maxBytes: 3 }, "must have at most 3 bytes, got: 4"],
      [join(folder, "missing"), {}, "can't be read: ENOENT"],
      [folder, {}, "can't be read: it is not a file"],
      [" ", {}, "path must not be blank"],
    ] as const) {
      const error = await rejectionOf(ValidationError, attachment.fromFile(refused, o));
      expect(error.message).to.include(problem);
    }
  });

  it("rejects with the signal's reason", async () => {
    const path = join(temporaryFolder(), "a.txt");
    await writeFile(path, "a");
    const reason = new Error("enough");
    const o = { signal: AbortSignal.abort(reason) };
    for (const make of [
      async () => attachment.fromFile(path, o),
      async () => attachment.fromBlob(new Blob(["a"]), o),
      async () => attachment.fromBytes(bytes("a"), o),
      async () => attachment.fromBase64(PNG, o),
      async () => attachment.fromUrl("https://a.test/b.png", o),
    ])
      expect(await rejection(make())).to.equal(reason);
  });

  it("reads no file that is larger than the limit", async () => {
    const path = join(temporaryFolder(), "large.pdf");
    await writeFile(path, "%PDF-1.7");
    await truncate(path, 30 * 1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    const error = await rejectionOf(ValidationError, attachment.fromFile(path));
    expect(error.message).to.include("must have at most 20971520 bytes, got: 31457280");
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(1024 * 1024);
  });

  for (const [what, o, problem] of [
    ["a total that is smaller than the part", { maxTotalBytes: 3 }, "at most 3 bytes, got: 4"],
    ["a total of 0", { maxTotalBytes: 0 }, "maxTotalBytes must be >= 1"],
    ["no parts", { maxParts: 0 }, "maxParts must be >= 1"],
    ["a type that is not accepted", { types: ["image/*"] }, "is text/plain, which is not accepted"],
    ["an invalid type", { types: ["images"] }, "types"],
    ["an invalid signal", { signal: {} as AbortSignal }, "signal must be an AbortSignal"],
    ["an unknown option", { maxByte: 3 } as object, "maxBytes"],
  ] as const)
    it(`refuses ${what}`, () =>
      expect(() => attachment.fromBytes(bytes("four"), o)).to.throw(ValidationError, problem));

  it("unpacks and parses nothing: refuses an archive by its type, passes a file of two formats unchanged", () => {
    const archive = bytes("PK\x03\x04\x14\x00\x00\x00\x08\x00 a bomb");
    expect(() => attachment.fromBytes(archive)).to.throw(
      ValidationError,
      "is application/zip, which is not accepted",
    );
    expect(() => attachment.fromBytes(archive, { mediaType: "application/pdf" })).to.throw(
      ValidationError,
      "declared as application/pdf, but its first bytes are those of application/zip",
    );
    const both = Uint8Array.from([...bytes("%PDF-1.7 "), ...archive]);
    expect(attachment.fromBytes(both)).to.deep.equal({
      type: "file",
      mediaType: "application/pdf",
      data: Buffer.from(both).toString("base64"),
    });
    const page = bytes("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>");
    expect(attachment.fromBytes(page)).to.include({ type: "file", mediaType: "text/xml" });
  });

  it("accepts a message at all limits", () => {
    const o = { maxBytes: 4, maxTotalBytes: 4, maxParts: 1, types: ["text/*"] };
    expect(attachment.fromBytes(bytes("four"), o)).to.include({ mediaType: "text/plain" });
  });

  it("reads blobs with their type and name", async () => {
    const file = new File([bytes("a,b")], "a.csv", { type: "text/csv" });
    expect(await attachment.fromBlob(file)).to.deep.equal({
      type: "file",
      mediaType: "text/csv",
      data: base64("a,b"),
      name: "a.csv",
    });
    expect(await attachment.fromBlob(new Blob([bytes("%PDF-1.7")]))).to.include({
      mediaType: "application/pdf",
    });
    for (const [blob, o, problem] of [
      [file, { maxBytes: 2 }, "must have at most 2 bytes, got: 3"],
      [new Blob([bytes("%PDF-1.7")], { type: "image/png" }), {}, "declared as image/png"],
      ["text" as unknown as Blob, {}, "takes a Blob"],
    ] as const) {
      const error = await rejectionOf(ValidationError, attachment.fromBlob(blob, o));
      expect(error.message).to.include(problem);
    }
  });
});
