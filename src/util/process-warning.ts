import { printableLine } from "./printable.js";

/** Emits a warning of the process, which Node prints to the terminal. The text may come from outside. */
export function emitProcessWarning(message: string): void {
  process.emitWarning(printableLine(message), "AgentEnsembleWarning");
}
