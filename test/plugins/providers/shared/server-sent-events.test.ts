import { expect } from "chai";
import fc from "fast-check";
import { InvalidResponseError } from "../../../../src/plugins/providers/shared/invalid-response-error.js";
import { ServerSentEvents } from "../../../../src/plugins/providers/shared/server-sent-events.js";

function read(pieces: readonly string[]): readonly string[] {
  const events = new ServerSentEvents();
  return [...pieces.flatMap((piece) => events.add(piece)), ...events.end()];
}

/** Cuts a text at these places. */
function cut(text: string, places: readonly number[]): readonly string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => text.slice(start, ends[index] ?? text.length));
}

describe("ServerSentEvents", () => {
  it("yields the same events for any cuts of the stream and any line ends", () => {
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

  it("joins the lines of one event, and skips comments, other fields and empty events", () => {
    expect(read([": hi\nid: 1\ndata: a\ndata:b\nretry: 5\n\n\n\ndata:\n\ndata: c"])).to.deep.equal([
      "a\nb",
      "c",
    ]);
  });

  it("ignores exactly one space after the colon", () => {
    expect(read(["data:  a \n\n"])).to.deep.equal([" a "]);
  });

  it("refuses a line without an end, for any cuts", () => {
    const piece = "x".repeat(100_000);
    const events = new ServerSentEvents();
    expect(() => Array.from({ length: 20 }, () => events.add(piece))).to.throw(
      InvalidResponseError,
    );
    expect(() => new ServerSentEvents().add(`data: ${piece.repeat(20)}\n\n`)).to.throw(
      InvalidResponseError,
    );
  });
});
