import { expect } from "chai";
import { partLine, partLines } from "../../src/util/part-line.js";

describe("the line of a file", () => {
  for (const [part, line] of [
    [{ type: "image" }, "[image: unknown type]"],
    [{ type: "image", mediaType: "image/png", bytes: 999 }, "[image: image/png, 999 B]"],
    [{ type: "audio", mediaType: "audio/wav", bytes: 32_000 }, "[audio: audio/wav, 32.0 kB]"],
    [
      { type: "file", mediaType: "application/pdf", bytes: 1_250_000, name: "a.pdf" },
      "[file: application/pdf, 1.3 MB, a.pdf]",
    ],
  ] as const)
    it(`is ${line}`, () => expect(partLine(part)).to.equal(line));

  it("is read from JSON, in which any field may be invalid", () => {
    expect(
      partLines([
        { type: "image", bytes: "x", name: 1, mediaType: null },
        { type: "text" },
        5,
        null,
      ]),
    ).to.deep.equal(["[image: unknown type]"]);
    for (const none of [undefined, null, "x", {}, []]) expect(partLines(none)).to.deep.equal([]);
  });
});
