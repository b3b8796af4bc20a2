import type { CaptureModeDefinition } from "../../../contracts/capture.js";

/** Keeps structure, times and costs, and no text of the run. */
export const NONE: CaptureModeDefinition = Object.freeze({
  name: "NONE",
  capturesTexts: false,
  capturesMessages: false,
  capturesMemory: false,
  parsesToolInput: false,
});

/** Keeps complete conversations, and the reads and writes of memory. */
export const STANDARD: CaptureModeDefinition = Object.freeze({
  name: "STANDARD",
  capturesMessages: true,
  capturesMemory: true,
  parsesToolInput: false,
});

/**
 * Keeps everything that STANDARD keeps, and the input of tools as values, reasoning, images and
 * files. Writes a file for every run without an exporter.
 */
export const FULL: CaptureModeDefinition = Object.freeze({
  ...STANDARD,
  name: "FULL",
  parsesToolInput: true,
  capturesReasoning: true,
  capturesFiles: true,
  exportsTo: "traces",
});
