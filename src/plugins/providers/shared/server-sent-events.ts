import { createParser } from "./event-source-vendor.js";
import { InvalidResponseError } from "./invalid-response-error.js";

/**
 * Maximum length of a line and of an event's data, in characters. Chat responses have no longer
 * ones. Waiting for the end of a longer one would fill the memory.
 */
const LONGEST_LINE = 1024 * 1024;

function tooLong(): InvalidResponseError {
  return new InvalidResponseError(`A line of the stream is longer than ${LONGEST_LINE} characters`);
}

/**
 * Reads the data of server-sent events from the chunks of a stream, split at any position. Skips
 * events without data. Ignores names and ids of events, because the vendors repeat the name in the
 * data.
 */
export class ServerSentEvents {
  #events: string[] = [];
  #endedInReturn = false;
  readonly #parser = createParser({
    maxBufferSize: LONGEST_LINE,
    onEvent: ({ data }) => {
      if (data.length > LONGEST_LINE) throw tooLong();
      if (data !== "") this.#events.push(data);
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw tooLong();
    },
  });

  /**
   * Returns the data of the events that this chunk completes.
   * @throws InvalidResponseError for a line that is too long
   */
  add(piece: string): readonly string[] {
    // The parser needs quadratic time for a chunk with line feeds before a carriage return.
    const isSplitEnd = this.#endedInReturn && piece.startsWith("\n");
    if (piece !== "") this.#endedInReturn = piece.endsWith("\r");
    this.#parser.feed((isSplitEnd ? piece.slice(1) : piece).replace(/\r\n?/g, "\n"));
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Returns the data of a last event without a final blank line. */
  end(): readonly string[] {
    return this.add("\n\n");
  }
}
