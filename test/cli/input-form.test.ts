import { expect } from "chai";
import { ValidationError } from "../../src/contracts/errors.js";
import { formedInputs, inputLines } from "../../src/cli/input-form.js";
import { namesGiven } from "../../src/cli/arguments.js";

const form = {
  type: "object",
  properties: {
    topic: { type: "string", description: "What it is about" },
    words: { type: "integer" },
    tags: { type: ["array", "null"] },
    other: {},
  },
  required: ["topic"],
};

describe("the form of an ensemble's inputs", () => {
  const given = namesGiven(["topic=7", "words=5", 'tags=["a"]', "other=1"]);

  it("reads texts of the command line as JSON, unless the form allows a text", () => {
    const texts = { topic: "7", words: "5", tags: '["a"]', other: "1" };
    expect(formedInputs(form, texts, given)).to.deep.equal({
      topic: "7",
      words: 5,
      tags: ["a"],
      other: "1",
    });
  });

  it("keeps values of a file unchanged, and all values if there is no form", () => {
    expect(formedInputs(form, { words: "5" }, new Set())).to.deep.equal({ words: "5" });
    expect(formedInputs(undefined, { any: "5" }, given)).to.deep.equal({ any: "5" });
  });

  it("refuses an unknown name, and a value that is not JSON if JSON is required", () => {
    expect(() => formedInputs(form, { word: "5" }, given)).to.throw(ValidationError, "words");
    expect(() => formedInputs(form, { words: "five" }, given)).to.throw(
      ValidationError,
      "--input words must be integer",
    );
    const open = { ...form, additionalProperties: true };
    expect(formedInputs(open, { word: "5" }, given)).to.deep.equal({ word: "5" });
  });

  it("prints the form line by line", () => {
    expect(inputLines(form)).to.deep.equal([
      "topic (string): What it is about",
      "words (integer, optional)",
      "tags (array or null, optional)",
      "other (any value, optional)",
    ]);
  });
});
