import { expect } from "chai";
import fc from "fast-check";
import { MessageGuard, RefusedMessage } from "../../../../src/plugins/mcp/shared/message-guard.js";

const scan = (guard: MessageGuard, text: string, size: number): void => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) guard.scan(bytes.subarray(at, at + size));
};

describe("MessageGuard", () => {
  it("passes ordinary messages, for any division into pieces", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 5 })),
        fc.integer({ min: 1, max: 50 }),
        (values, size) => {
          const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
          expect(() => scan(new MessageGuard(100_000, "line"), lines, size)).to.not.throw();
        },
      ),
    );
  });

  it("refuses a message that is too large, for any cut", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 500 }),
        fc.integer({ min: 1, max: 50 }),
        (length, size) => {
          expect(() => scan(new MessageGuard(100, "line"), "x".repeat(length), size)).to.throw(
            RefusedMessage,
          );
        },
      ),
    );
  });

  it("counts each line and each event of a stream separately, and a body as one message", () => {
    const many = (unit: string): string => unit.repeat(50);
    expect(() =>
      scan(new MessageGuard(100, "line"), many(`${"x".repeat(80)}\n`), 7),
    ).to.not.throw();
    expect(() =>
      scan(new MessageGuard(100, "event"), many(`data: ${"x".repeat(60)}\r\n\r\n`), 7),
    ).to.not.throw();
    expect(() =>
      scan(new MessageGuard(100, "event"), many(`data: ${"x".repeat(60)}\n`), 7),
    ).to.throw(RefusedMessage);
    expect(() => scan(new MessageGuard(100, "body"), many("x\n\n"), 7)).to.throw(RefusedMessage);
  });

  it("refuses messages that are nested too deeply, but accepts brackets in a text", () => {
    const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
    expect(() => scan(new MessageGuard(10_000, "line"), deep, 7)).to.throw(RefusedMessage);
    expect(() =>
      scan(new MessageGuard(10_000, "line"), JSON.stringify({ text: `\\"${deep}` }), 7),
    ).to.not.throw();
  });

  it("refuses a complete message that arrives in one piece with its end", () => {
    for (const [unit, end] of [
      ["line", "\n"],
      ["event", "\n\n"],
    ] as const) {
      const once = (text: string): void =>
        new MessageGuard(100_000, unit).scan(Buffer.from(`${text}${end}`));
      expect(() => once("x".repeat(100_001)), unit).to.throw(RefusedMessage, "larger");
      expect(() => once(`[${"0,".repeat(49_000)}0]`), unit).to.not.throw();
      expect(
        () => new MessageGuard(200_000, unit).scan(Buffer.from(`[${"0,".repeat(60_000)}0]${end}`)),
        unit,
      ).to.throw(RefusedMessage, "parts");
    }
  });

  it("refuses a message with too many parts", () => {
    expect(() =>
      scan(new MessageGuard(1_000_000, "body"), `[${"{},".repeat(30_000)}0]`, 4096),
    ).to.throw(RefusedMessage);
  });
});
