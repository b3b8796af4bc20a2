import { BadAnswer } from "./bad-answer.js";

/** A longer line is no event of a chat; waiting for its end would fill the memory. In characters. */
const LONGEST_LINE = 1024 * 1024;

const CARRIAGE_RETURN = "\r";

/**
 * Cuts a stream of server-sent events into the data of its events. Lines may end in any of the three ways, and pieces may be cut anywhere.
 * Names and ids of events are passed over: the vendors repeat the name in the data.
 */
export class EventLines {
  #pending = "";
  #data: string[] = [];

  /** The data of the events that this piece completes. @throws BadAnswer for a line that does not end. */
  add(piece: string): readonly string[] {
    // Looking for line ends in everything that is pending would take longer with every piece.
    const isHeldBack = this.#pending.endsWith(CARRIAGE_RETURN);
    this.#pending += piece;
    if (!isHeldBack && !/[\r\n]/.test(piece)) return this.#withinLimit([]);
    const lines = this.#pending.split(/\r\n|\n|\r(?!$)/);
    this.#pending = lines.pop() ?? "";
    return this.#withinLimit(this.#take(lines));
  }

  /** The data of a last event that nothing closed. */
  end(): readonly string[] {
    const events = this.#take([this.#pending.replace(/\r$/, ""), ""]);
    this.#pending = "";
    return events;
  }

  #withinLimit(events: readonly string[]): readonly string[] {
    if (this.#pending.length > LONGEST_LINE)
      throw new BadAnswer(`A line of the stream is longer than ${LONGEST_LINE} characters`);
    return events;
  }

  #take(lines: readonly string[]): readonly string[] {
    const events: string[] = [];
    for (const line of lines) {
      if (line.length > LONGEST_LINE)
        throw new BadAnswer(`A line of the stream is longer than ${LONGEST_LINE} characters`);
      if (line === "") this.#complete(events);
      else if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    }
    return events;
  }

  #complete(events: string[]): void {
    if (this.#data.length === 0) return;
    const data = this.#data.join("\n");
    this.#data = [];
    if (data !== "") events.push(data);
  }
}
