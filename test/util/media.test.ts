import { expect } from "chai";
import {
  isKnownMediaType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
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

  it("stand in data: addresses", () => {
    expect(mediaSourceOf("data:image/GIF;charset=x;base64,R0lGOD")).to.deep.equal({
      kind: "base64",
      data: "R0lGOD",
      mediaType: "image/gif",
    });
    const svg = "data:image/svg+xml,<svg/>";
    expect(mediaSourceOf(svg)).to.deep.equal({ kind: "url", url: svg, mediaType: "image/svg+xml" });
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
});
