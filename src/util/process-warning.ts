import { printableLine } from "./printable.js";

/** Emits a process warning. Node.js prints it to the terminal. The text may come from outside. */
export function emitProcessWarning(message: string): void {
  process.emitWarning(printableLine(message), "AgentEnsembleWarning");
}
