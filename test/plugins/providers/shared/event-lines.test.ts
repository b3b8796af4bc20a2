import { expect } from "chai";
import fc from "fast-check";
import { BadAnswer } from "../../../../src/plugins/providers/shared/bad-answer.js";
import { EventLines } from "../../../../src/plugins/providers/shared/event-lines.js";

function read(pieces: readonly string[]): readonly string[] {
  const lines = new EventLines();
  return [...pieces.flatMap((piece) => lines.add(piece)), ...lines.end()];
}

/** Cuts a text at these places. */
function cut(text: string, places: readonly number[]): readonly string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => text.slice(start, ends[index] ?? text.length));
}

describe("EventLines", () => {
  it("gives the same events wherever the stream is cut, and whatever ends its lines", () => {
    const data = fc.array(
      fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "_")),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(
        data,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(200)),
        (events, end, places) => {
          const stream = events.map((event) => `event: x${end}data: ${event}${end}${end}`).join("");
          expect(read(cut(stream, places))).to.deep.equal(events);
        },
      ),
    );
  });

  it("joins the lines of one event, and passes over comments, other fields and empty events", () => {
    expect(read([": hi\nid: 1\ndata: a\ndata:b\nretry: 5\n\n\n\ndata:\n\ndata: c"])).to.deep.equal([
      "a\nb",
      "c",
    ]);
  });

  it("takes exactly one space after the colon for none", () => {
    expect(read(["data:  a \n\n"])).to.deep.equal([" a "]);
  });

  it("refuses a line that does not end, however it comes", () => {
    const piece = "x".repeat(100_000);
    const lines = new EventLines();
    expect(() => Array.from({ length: 20 }, () => lines.add(piece))).to.throw(BadAnswer);
    expect(() => new EventLines().add(`data: ${piece.repeat(20)}\n\n`)).to.throw(BadAnswer);
  });
});
