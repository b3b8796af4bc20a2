import { expect } from "chai";
import {
  isBase64,
  isKnownMediaType,
  isTextType,
  isUtf8Text,
  matchesMediaType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
  plainBase64,
} from "../../src/util/media.js";

const typeOf = (bytes: string): string | undefined =>
  mediaTypeOfBase64(Buffer.from(`${bytes}${"\0".repeat(100)}`, "latin1").toString("base64"));

describe("media types", () => {
  for (const [bytes, mediaType] of [
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["\xff\xd8\xff\xe0", "image/jpeg"],
    ["GIF89a", "image/gif"],
    ["RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"],
    ["RIFF\x01\x02\x03\x04WAVEfmt ", "audio/wav"],
    ["\0\0\0\x1cftypavif", "image/avif"],
    ["\0\0\0\x1cftypheic", "image/heic"],
    ["\0\0\0\x1cftypM4A ", "audio/mp4"],
    ["\0\0\0\x1cftypisom", "video/mp4"],
    ["%PDF-1.7", "application/pdf"],
    ["ID3\x04", "audio/mpeg"],
    ["\xff\xfb\x90", "audio/mpeg"],
    ["OggS", "audio/ogg"],
    ["PK\x03\x04", "application/zip"],
    ["plain text", undefined],
    ["", undefined],
  ] as const) {
    it(`are read from first bytes: ${mediaType ?? `none of ${JSON.stringify(bytes)}`}`, () => {
      expect(typeOf(bytes)).to.equal(mediaType);
      if (mediaType !== undefined) expect(isKnownMediaType(mediaType)).to.equal(true);
    });
  }

  it("are compared without case, parameters and the old name of JPEG", () => {
    expect(normalMediaType(" Image/PNG; q=1")).to.equal("image/png");
    expect(normalMediaType("image/jpg")).to.equal("image/jpeg");
    expect(normalMediaType(" ")).to.equal(undefined);
    expect(normalMediaType(undefined)).to.equal(undefined);
  });

  it("are accepted in data: addresses", () => {
    expect(mediaSourceOf("data:image/GIF;charset=x;base64,R0lGOD")).to.deep.equal({
      kind: "base64",
      data: "R0lGOD",
      mediaType: "image/gif",
    });
    expect(mediaSourceOf("data:image/svg+xml,%3Csvg%C3%A9/>")).to.deep.equal({
      kind: "base64",
      data: Buffer.from("<svgé/>").toString("base64"),
      mediaType: "text/xml",
    });
    expect(mediaSourceOf("data:")).to.deep.equal({
      kind: "base64",
      data: "",
      mediaType: "text/plain",
    });
    expect(mediaSourceOf(new URL("HTTPS://a.test/b.png"))).to.deep.equal({
      kind: "url",
      url: "https://a.test/b.png",
      mediaType: undefined,
    });
    expect(mediaSourceOf("R0lGOD")).to.deep.equal({
      kind: "base64",
      data: "R0lGOD",
      mediaType: undefined,
    });
  });

  it("of text files are text/*, JSON and XML; SVG is XML", () => {
    expect(
      ["text/csv", "application/json", "application/ld+json", "application/atom+xml"].map(
        isTextType,
      ),
    ).to.deep.equal([true, true, true, true]);
    expect(["image/png", "application/pdf", "application/xjson"].map(isTextType)).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(normalMediaType("image/svg+xml")).to.equal("text/xml");
  });

  it("match patterns in both directions", () => {
    expect(matchesMediaType("image/*", "image/png")).to.equal(true);
    expect(matchesMediaType("image/png", "image/*")).to.equal(true);
    expect(matchesMediaType("*/*", "image/png")).to.equal(true);
    expect(matchesMediaType("image/png", "image/jpeg")).to.equal(false);
    expect(matchesMediaType("image/*", "audio/wav")).to.equal(false);
  });
});

describe("text of files", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

  it("is UTF-8 without NUL", () => {
    const isText = (text: string): boolean => isUtf8Text(bytes(text), { isWhole: true });
    expect(isText("plain")).to.equal(true);
    expect(isText("\xc3\xa9")).to.equal(true);
    expect(isText("a\0b")).to.equal(false);
    expect(isText("\xff\xfe")).to.equal(false);
    expect(isText("\xc3")).to.equal(false);
  });

  it("may end within a character if only its start is read", () =>
    expect(isUtf8Text(bytes("a\xc3"), { isWhole: false })).to.equal(true));
});

describe("base64 text", () => {
  for (const [text, is] of [
    ["AAAA", true],
    ["AA==", true],
    ["AA==\n", true],
    ["A-_A", true],
    ["AA\nAA", true],
    ["", false],
    ["====", false],
    ["AA=A", false],
    ["AA===", false],
    ["AA?A", false],
    [`AA=${" ".repeat(1_000)}`, false],
  ] as const)
    it(`${is ? "may" : "may not"} be ${JSON.stringify(text.slice(0, 10))}`, () =>
      expect(isBase64(text)).to.equal(is));

  it("is checked in linear time", () =>
    expect(isBase64(`${" ".repeat(2_000_000)}!`)).to.equal(false));

  it("is sent without line breaks in the usual alphabet", () => {
    expect(plainBase64("-_\n+/")).to.equal("+/+/");
    expect(plainBase64("+/+/")).to.equal("+/+/");
  });
});
