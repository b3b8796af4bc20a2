import { expect } from "chai";
import { messageOf, toError } from "../../src/util/errors.js";

describe("messageOf", () => {
  it("returns the message of an error, a text unchanged, and any other value as text", () => {
    expect(messageOf(new Error("broken"))).to.equal("broken");
    expect(messageOf("broken")).to.equal("broken");
    expect(messageOf({ toString: () => "mine" })).to.equal("mine");
  });

  it("is never empty", () => {
    expect(messageOf(new TypeError(""))).to.equal("TypeError");
    for (const nothing of [
      "",
      undefined,
      null,
      Object.create(null),
      Object.assign(new Error("x"), { message: undefined }),
    ])
      expect(messageOf(nothing)).to.equal(nothing instanceof Error ? "Error" : "unknown error");
    const hostile = {
      get message(): string {
        throw new Error("never");
      },
    };
    expect(messageOf(hostile)).to.equal("unknown error");
    expect(messageOf({ code: 5, message: "of another library" })).to.equal("of another library");
  });
});

describe("toError", () => {
  it("returns an error itself and wraps any other value with its cause", () => {
    const error = new RangeError("far");
    expect(toError(error)).to.equal(error);
    const wrapped = toError({ code: 7 });
    expect(wrapped).to.be.instanceOf(Error);
    expect(wrapped.cause).to.deep.equal({ code: 7 });
  });
});
