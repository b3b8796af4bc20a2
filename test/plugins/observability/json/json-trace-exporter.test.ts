import { expect } from "chai";
import fc from "fast-check";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { ValidationError } from "../../../../src/contracts/errors.js";
import type { ExecutionTrace } from "../../../../src/contracts/trace.js";
import { jsonTraceExporter } from "../../../../src/observability.js";
import { recordedTraceBuilder } from "../../../../src/plugins/observability/trace/recorded-trace.js";
import { runRecord } from "../shared/run-record.js";

function traceOf(id: string): ExecutionTrace {
  return recordedTraceBuilder.build(runRecord({ run: { id, inputs: {}, tags: {} } }));
}

/** Where the exporter would write the trace of a run. */
async function pathOf(id: string): Promise<string> {
  let path = "";
  const trace = Object.create(traceOf("x"), { ensembleId: { value: id }, save: { value: async (p: string) => void (path = p) } }) as ExecutionTrace;
  await jsonTraceExporter({ dir: "/traces" }).export(trace);
  return path;
}

describe("jsonTraceExporter", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "traces-"));
  });
  afterEach(async () => rm(dir, { recursive: true, force: true }));

  it("writes one file per run, named by its id", async () => {
    const exporter = jsonTraceExporter({ dir: join(dir, "deep") });
    await exporter.export(traceOf("run-1"));
    await exporter.export(traceOf("run-2"));
    expect(await readdir(join(dir, "deep"))).to.have.members(["run-1.json", "run-2.json"]);
  });

  it("overwrites a fixed file", async () => {
    const file = join(dir, "last.json");
    const exporter = jsonTraceExporter({ file });
    await exporter.export(traceOf("run-1"));
    await exporter.export(traceOf("run-2"));
    expect(JSON.parse(await readFile(file, "utf8"))).to.have.property("ensembleId", "run-2");
    expect(await readdir(dir)).to.deep.equal(["last.json"]);
  });

  it("makes a safe name of any id, and never leaves its folder", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", ".", "..", "../../etc/passwd", "/abs", "a/b", "x".repeat(500))),
        async (id) => {
          const path = await pathOf(id);
          expect(dirname(path)).to.equal("/traces");
          expect(basename(path)).to.match(/^[A-Za-z0-9_-][A-Za-z0-9._-]*\.json$/);
          expect(basename(path).length).to.be.at.most(120);
        },
      ),
    );
  });

  it("keeps apart ids that would look alike", async () => {
    const names = await Promise.all(["a/b", "a_b", "a b", "a:b", `${"x".repeat(200)}1`, `${"x".repeat(200)}2`].map(pathOf));
    expect(new Set(names).size).to.equal(names.length);
    expect(names[1]).to.equal("/traces/a_b.json");
  });

  it("refuses both, none, blank and unknown options", () => {
    for (const options of [{}, { dir: "a", file: "b" }, { dir: " " }, { file: 5 }, { folder: "a" }, undefined]) {
      expect(() => jsonTraceExporter(options as never)).to.throw(ValidationError);
    }
  });

  it("fails with a ValidationError that names the path", async () => {
    await jsonTraceExporter({ file: join(dir, "plain") }).export(traceOf("r"));
    const e: unknown = await jsonTraceExporter({ dir: join(dir, "plain") })
      .export(traceOf("r"))
      .catch((error: unknown) => error);
    expect(e).to.be.instanceOf(ValidationError);
    expect((e as ValidationError).message).to.contain(join(dir, "plain", "r.json"));
  });
});
