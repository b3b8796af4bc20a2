import type { ToolCall } from "../../../contracts/chat-model.js";

/** A tool call that has been received partly. */
export interface StreamedCall {
  id: string;
  name: string;
  /** Absent until the first part arrives, which may be empty. */
  arguments?: string | undefined;
}

/** The tool calls of a stream, found by the vendor's index in constant time. */
export class StreamedCalls<C extends StreamedCall> {
  readonly #calls: C[] = [];
  readonly #positions = new Map<unknown, number>();

  get count(): number {
    return this.#calls.length;
  }

  /** Adds a call, or replaces an earlier one with the same vendor index. Returns its position. */
  add(vendorIndex: unknown, call: C): number {
    this.#positions.set(vendorIndex, this.#calls.length);
    return this.#calls.push(call) - 1;
  }

  positionOf(vendorIndex: unknown): number | undefined {
    return this.#positions.get(vendorIndex);
  }

  at(position: number | undefined): C | undefined {
    return position === undefined ? undefined : this.#calls[position];
  }

  /** Returns the calls, with an empty object for missing arguments. */
  finished(): readonly ToolCall[] {
    return this.#calls.map(({ id, name, arguments: text = "{}" }) => ({
      id,
      name,
      arguments: text,
    }));
  }
}
