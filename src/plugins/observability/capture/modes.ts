import type { CaptureModeDefinition } from "../../../contracts/capture.js";

/** Whole conversations, and what memory was asked and told. */
export const STANDARD: CaptureModeDefinition = Object.freeze({
  name: "STANDARD",
  capturesMessages: true,
  capturesMemory: true,
  parsesToolInput: false,
});

/** STANDARD, the input of tools as values, and a file for every run that no exporter takes. */
export const FULL: CaptureModeDefinition = Object.freeze({
  ...STANDARD,
  name: "FULL",
  parsesToolInput: true,
  exportsTo: "traces",
});
