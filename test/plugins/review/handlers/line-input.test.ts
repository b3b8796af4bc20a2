import { PassThrough, Readable } from "node:stream";
import { expect } from "chai";
import { LineInput } from "../../../../src/plugins/review/handlers/line-input.js";
import { rejectionOf } from "../../../support/rejection.js";

describe("the lines of a stream", () => {
  const { signal } = new AbortController();

  it("are read from texts and bytes, including an unterminated last line", async () => {
    const input = new LineInput(Readable.from(["a\nb", Buffer.from("c\nd")]));
    const lines: unknown[] = [];
    for (let n = 0; n < 4; n++) lines.push(await input.readLine(signal));
    expect(lines).to.deep.equal(["a", "bc", "d", undefined]);
  });

  it("end with a stream that has ended or was destroyed", async () => {
    const gone = new PassThrough();
    gone.destroy();
    const input = new LineInput(gone);
    expect(await input.readLine(signal)).to.equal(undefined);
    expect(await input.readLine(signal)).to.equal(undefined);
    expect(await input.burst(5, signal)).to.deep.equal([]);
  });

  it("are not waited for after an abort", async () => {
    const reason = new Error("stop");
    const aborted = AbortSignal.abort(reason);
    const input = new LineInput(new PassThrough());
    expect(await rejectionOf(Error, input.readLine(aborted))).to.equal(reason);
    expect(await rejectionOf(Error, input.burst(5, aborted))).to.equal(reason);
  });

  it("that arrive together form one burst, without an incomplete line", async () => {
    const stream = new PassThrough();
    const input = new LineInput(stream);
    stream.write("a\nb\nhalf");
    expect(await input.burst(20, signal)).to.deep.equal(["a", "b"]);
    stream.end("c\n");
    expect(await input.readLine(signal)).to.equal("c");
  });
});
