import { printableLine } from "./printable.js";

/**
 * Emits a process warning, which Node.js prints to the terminal. The text may come from outside.
 */
export function emitProcessWarning(message: string): void {
  process.emitWarning(printableLine(message), "AgentEnsembleWarning");
}
