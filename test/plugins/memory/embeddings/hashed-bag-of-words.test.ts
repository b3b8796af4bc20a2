import { expect } from "chai";
import fc from "fast-check";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { hashedBagOfWords } from "../../../../src/plugins/memory/embeddings/index.js";
import { stem, stemsOf } from "../../../../src/plugins/memory/embeddings/words.js";
import { rejectionOf } from "../../../support/rejection.js";

const model = hashedBagOfWords();

// Of "Barn owls hunt at night" in 16 dimensions, in thousandths.
const PINNED = [-703, 0, 0, 561, 283, 0, 142, 142, 0, 0, -141, -142, 0, -174, 0, 0];

async function likeness(a: string, b: string): Promise<number> {
  const [x = [], y = []] = await model.embed([a, b]);
  return x.reduce((sum, number, i) => sum + number * (y[i] ?? 0), 0);
}

describe("hashedBagOfWords", () => {
  it("returns the same vector of length 1 for the same text, for any text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.string({ unit: "binary" }),
          fc.constantFrom("", " ", "!?", "the of", "日本語", "👩‍👩‍👧"),
        ),
        async (text) => {
          const [first = [], second] = await model.embed([text, text]);
          expect(first.length).to.equal(512);
          expect(second).to.deep.equal(first);
          expect(first.reduce((sum, number) => sum + number * number, 0)).to.be.closeTo(1, 1e-9);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("returns the same vectors as earlier versions, because databases contain them", async () => {
    const [vector = []] = await hashedBagOfWords({ dimensions: 16 }).embed([
      "Barn owls hunt at night",
    ]);
    expect(vector.map((number) => Math.round(number * 1_000) + 0)).to.deep.equal(PINNED);
  });

  it("finds inflected, related and misspelt words nearer than unrelated words", async () => {
    const stranger = await likeness("barn owls hunt", "stock prices fell");
    for (const [a, b] of [
      ["deploying services", "deployed a service"],
      ["translator", "translation"],
      ["recieve the parcel", "receive parcels"],
      ["café", "Cafe"],
    ] as const) {
      expect(await likeness(a, b), `${a} / ${b}`).to.be.greaterThan(stranger + 0.2);
    }
  });

  it("ignores stop words, unless a text contains only stop words", async () => {
    expect(await likeness("the owl", "an owl")).to.be.closeTo(1, 1e-9);
    expect(stemsOf("to be in it")).to.deep.equal(["to", "be", "in", "it"]);
    expect(stemsOf("?!")).to.deep.equal(["?", "!"]);
  });

  it("distinguishes the order of words slightly", async () => {
    const turned = await likeness("dog bites man", "man bites dog");
    expect(turned).to.be.greaterThan(0.7).and.lessThan(0.999);
  });

  it("reads scripts without spaces", async () => {
    expect(await likeness("日本語の文章", "日本の文章")).to.be.greaterThan(0.4);
    expect(await likeness("日本語の文章", "天気予報")).to.be.lessThan(0.2);
  });

  it("stems English endings", () => {
    for (const forms of [
      ["deploy", "deploys", "deployed", "deploying"],
      ["company", "companies"],
      ["stop", "stopped", "stopping"],
      ["create", "created", "creating", "creates"],
    ]) {
      expect(new Set(forms.map(stem)).size, forms.join()).to.equal(1);
    }
    for (const word of ["bus", "class", "this", "red", "sing"]) expect(stem(word)).to.equal(word);
  });

  it("uses the given number of dimensions, and reports it", async () => {
    const small = hashedBagOfWords({ dimensions: 32 });
    expect(small.dimensions).to.equal(32);
    expect((await small.embed(["a"]))[0]).to.have.length(32);
    expect(await small.embed([])).to.deep.equal([]);
  });

  it("does not block the event loop while it reads a long text", async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await model.embed(["word salad with other things ".repeat(20_000)]);
    clearInterval(counting);
    expect(turns).to.be.greaterThan(3);
  });

  it("refuses invalid options and texts", async () => {
    for (const dimensions of [0, 15, 16_385, 20.5, Number.NaN, "512"]) {
      expect(() => hashedBagOfWords({ dimensions: dimensions as number })).to.throw(
        ValidationError,
        /dimensions must be a whole number from 16 to 16384/,
      );
    }
    expect(() => hashedBagOfWords({ dimension: 5 } as never)).to.throw(
      ValidationError,
      /Did you mean 'dimensions'/,
    );
    expect((await rejectionOf(ValidationError, model.embed("text" as never))).message).to.match(
      /texts must be an array/,
    );
    expect((await rejectionOf(ValidationError, model.embed(["a", 5 as never]))).message).to.match(
      /texts\[1\] must be a string, got: 5/,
    );
  });
});
