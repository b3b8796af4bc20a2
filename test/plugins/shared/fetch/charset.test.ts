import { expect } from "chai";
import { decodeText } from "../../../../src/plugins/shared/fetch/charset.js";

describe("the text of a body", () => {
  it("is read by its byte order mark first", () => {
    expect(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa4), "text/plain")).to.equal("ä");
    expect(decodeText(Uint8Array.of(0xfe, 0xff, 0, 0xe4), "text/plain; charset=utf-8")).to.equal(
      "ä",
    );
    expect(decodeText(Uint8Array.of(0xff, 0xfe, 0xe4, 0), "text/plain")).to.equal("ä");
  });

  it("ignores a part of a mark", () => {
    const latin = "text/plain; charset=latin1";
    expect(decodeText(Uint8Array.of(0xef, 0xbb), latin)).to.equal("ï»");
    expect(decodeText(Uint8Array.of(0xef, 0x61), latin)).to.equal("ïa");
    expect(decodeText(Uint8Array.of(0xfe, 0x61), latin)).to.equal("þa");
    expect(decodeText(Uint8Array.of(0xff, 0x61), latin)).to.equal("ÿa");
  });

  it("is read as its page declares, but not as UTF-16, and by an unknown name as UTF-8", () => {
    const page = (charset: string, byte: string): Buffer =>
      Buffer.from(`<meta charset="${charset}">${byte}`, "latin1");
    expect(decodeText(page("iso-8859-1", "\xe4"), "text/html")).to.match(/ä$/);
    expect(decodeText(page("utf-16", "\xc3\xa4"), "text/html")).to.match(/ä$/);
    expect(decodeText(page("nothing", "\xc3\xa4"), "text/html")).to.match(/ä$/);
  });
});
