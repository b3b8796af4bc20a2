// The data that a run keeps in the capture modes OFF, STANDARD and FULL, and in a custom mode that
// hides names.
// Run it: npm run example -- 30
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  definePlugin,
  Ensemble,
  Task,
  tool,
  Tokens,
  type CaptureModeDefinition,
  type ExecutionTrace,
} from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const lookUp = tool({
  name: "look_up_guest",
  description: "Looks up a guest's booking",
  execute: (name) => ({ guest: name, room: 12, password: "wifi-4711" }),
});

const { model, name, note } = realOrScripted(({ messages }) =>
  messages.some(({ role }) => role === "tool")
    ? "Ada Lovelace has room 12."
    : { toolCalls: [{ name: "look_up_guest", arguments: { input: "Ada Lovelace" } }] },
);
console.log(`Model: ${name} (${note})\n`);

// A custom mode that keeps everything except names. The result of `redact` replaces the value in
// the trace.
const withoutNames = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null).replaceAll("Ada Lovelace", "(guest)"));
const folder = await mkdtemp(join(tmpdir(), "traces-"));
const PRIVATE: CaptureModeDefinition = {
  name: "PRIVATE",
  capturesMessages: true,
  capturesMemory: true,
  parsesToolInput: true,
  exportsTo: folder,
  redact: withoutNames,
};
const privacy = definePlugin({
  name: "privacy",
  bind: (bind) => void bind.many(Tokens.CaptureMode).toConstantValue(PRIVATE),
});

await using desk = new Ensemble({
  model,
  plugins: [privacy],
  tasks: [new Task({ name: "room", description: "Which room has Ada Lovelace?", tools: [lookUp] })],
});

function show({ captureMode, taskTraces }: ExecutionTrace): void {
  const calls = taskTraces.flatMap(({ llmInteractions }) => llmInteractions);
  console.log(
    `${captureMode}: messages per model call: ${calls.map(({ messages }) => messages.length).join(", ")}`,
  );
  for (const { arguments: text, parsedInput, result } of calls.flatMap(
    ({ toolCalls }) => toolCalls,
  )) {
    console.log(`  ${text} -> ${result}`);
    if (parsedInput !== undefined)
      console.log(`  as a value: ${Object.keys(parsedInput).join(", ")}`);
  }
}

// The tool's password is redacted in every mode, because of the name of its field.
show((await desk.run({}, { captureMode: "OFF" })).trace);
show((await desk.run({}, { captureMode: "STANDARD" })).trace);
show((await desk.run({}, { captureMode: "PRIVATE", runId: "monday" })).trace);
console.log(`\nWritten: ${(await readdir(folder)).join(", ")}`);
await rm(folder, { recursive: true });
