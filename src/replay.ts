/** Recordings of runs, and their replay: the same output and trace, without a network. */
export { FileFormatError, RecordingMismatchError } from "./contracts/state-errors.js";
export { recordTo, replayFrom } from "./plugins/replay/index.js";
export type { ReplayOptions } from "./plugins/replay/index.js";
