import { tool, type AnyTool } from "agentensemble";

/** Delays work, and reports its arrival to a test. */
export class Gate {
  #arrived = 0;
  #wake: () => void = () => undefined;
  #open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve));

  /** Called by the work: waits until the gate is open. */
  async pass(): Promise<void> {
    this.#arrived++;
    this.#wake();
    await this.#opened;
  }

  /** Waits until this many callers have arrived. */
  async arrival(count = 1): Promise<void> {
    while (this.#arrived < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  open(): void {
    this.#open();
  }
}

/** A tool that answers when the gate is open. */
export function gatedTool(gate: Gate, name: string, answer: string): AnyTool {
  return tool({
    name,
    description: "Waits",
    execute: async () => {
      await gate.pass();
      return answer;
    },
  });
}
