import { expect } from "chai";
import { textPieces, visibleText } from "../../../page/src/lib/visible-text.js";

describe("texts on the page", () => {
  it("show marks that change the writing direction as symbols", () => {
    expect(visibleText("invoice\u202Efdp.exe")).to.equal("invoice[U+202E]fdp.exe");
    expect(visibleText("a\u2066b\u2069c\u200Bd\uFEFF")).to.equal(
      "a[U+2066]b[U+2069]c[U+200B]d[U+FEFF]",
    );
  });

  it("show control characters as symbols, and keep line ends and tabs", () => {
    expect(visibleText("a\u001B[31mb\nc\td\u0000\u007F\u0085")).to.equal(
      "a\u241B[31mb\nc\td\u2400\u2421[U+0085]",
    );
  });

  it("keep other texts unchanged, also in other writing systems", () => {
    for (const text of ["", "plain", "größe 漢字 🙂", "שלום", "عربي"]) {
      expect(visibleText(text)).to.equal(text);
      expect(textPieces(text)).to.deep.equal([{ text }]);
    }
  });

  it("are divided into pieces that together form the complete text", () => {
    const pieces = textPieces("\u202Ea\u0007");
    expect(pieces.map(({ text }) => text).join("")).to.equal("\u202Ea\u0007");
    expect(pieces.map(({ symbol }) => symbol)).to.deep.equal(["[U+202E]", undefined, "\u2407"]);
  });
});
