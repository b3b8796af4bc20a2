import { expect } from "chai";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputTerminal } from "../../src/cli/terminal.js";
import { traceDiffCommand } from "../../src/cli/trace-diff-command.js";
import { traceShowCommand } from "../../src/cli/trace-show-command.js";
import { FileFormatError } from "../../src/contracts/state-errors.js";
import { RecordingSource } from "../../src/plugins/replay/recording-source.js";
import { goldenPath } from "../plugins/observability/trace/golden.js";
import { allCases } from "../support/all-cases.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Path = readonly (string | number)[];

/** Each block tests a third of the places. */
const WRONG: readonly unknown[] = [null, 7, "text", [], [7], {}, true];

/** One path for each place of a document: for the items of a list, the last item with the field. */
function placesOf(document: unknown): ReadonlyMap<string, Path> {
  const places = new Map<string, Path>();
  const open: Path[] = [[]];
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    places.set(path.map((step) => (typeof step === "number" ? "*" : step)).join("."), path);
    const value = at(document, path);
    if (typeof value !== "object" || value === null) continue;
    for (const key of Object.keys(value))
      open.push([...path, Array.isArray(value) ? Number(key) : key]);
  }
  return places;
}

function at(document: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], document);
}

function replaced(document: unknown, path: Path, value: unknown): unknown {
  const last = path.at(-1);
  if (last === undefined) return value;
  const copy: unknown = structuredClone(document);
  (at(copy, path.slice(0, -1)) as Record<string, unknown>)[last] = value;
  return copy;
}

describe("a trace with a field of a wrong type", () => {
  const file = join(temporaryFolder(), "wrong.trace.json");
  const terminal = {
    paint: (_style: string, text: string) => text,
    text: async (text: string) => expect(text).to.be.a("string"),
    json: async (value: unknown) => expect(JSON.stringify(value)).to.be.a("string"),
  } as unknown as OutputTerminal; // what the commands use of it

  for (const name of allCases ? ["delegation", "failed", "hierarchical", "graph"] : ["delegation"])
    it(`is shown, compared and read for a replay, or refused with the line: ${name}`, async () => {
      const golden = goldenPath(name);
      const document = {
        ...(JSON.parse(readFileSync(golden, "utf8")) as object),
        captureMode: "FULL",
      };
      let refused = 0;
      for (const [index, [place, path]] of [...placesOf(document)].entries())
        for (const wrong of WRONG.filter((_, kind) => (index + kind) % 3 === 0)) {
          writeFileSync(file, JSON.stringify(replaced(document, path, wrong), null, 1));
          for (const read of [
            () => traceShowCommand(file, {}, terminal),
            () => traceShowCommand(file, { errors: true, json: true }, terminal),
            () => traceDiffCommand(golden, file, {}, terminal),
            async () => new RecordingSource(file).now(),
          ]) {
            const error: unknown = await read().then(
              () => undefined,
              (e: unknown) => e,
            );
            if (error === undefined) continue;
            refused++;
            const what = `${place}: ${JSON.stringify(wrong)}`;
            expect(error, what).to.be.instanceOf(FileFormatError);
            expect(error, what).to.include({ code: "AE_FILE_FORMAT", path: file });
            if (place !== "captureMode") expect(error, what).to.have.property("line").above(0);
          }
        }
      expect(refused).to.be.above(100);
    });
});
