import type { CaptureModeDefinition } from "../../../contracts/capture.js";

/** Structure, times and costs: no text of the run. */
export const NONE: CaptureModeDefinition = Object.freeze({
  name: "NONE",
  capturesTexts: false,
  capturesMessages: false,
  capturesMemory: false,
  parsesToolInput: false,
});

/** Complete conversations, and the reads and writes of memory. */
export const STANDARD: CaptureModeDefinition = Object.freeze({
  name: "STANDARD",
  capturesMessages: true,
  capturesMemory: true,
  parsesToolInput: false,
});

/**
 * STANDARD, the input of tools as values, reasoning, images and files, and a file for every run
 * without an exporter.
 */
export const FULL: CaptureModeDefinition = Object.freeze({
  ...STANDARD,
  name: "FULL",
  parsesToolInput: true,
  capturesReasoning: true,
  capturesFiles: true,
  exportsTo: "traces",
});
