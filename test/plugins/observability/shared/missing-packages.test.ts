import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { projectRoot } from "../../../support/project.js";

const asModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

/** The error of a kernel with the plugin if the package is not installed. */
function without(packageName: string, entryPoint: string, factory: string): readonly string[] {
  const loader = `export async function resolve(specifier, context, next) {
    if (specifier !== "${packageName}") return next(specifier, context);
    throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
  const program = `
    import { register } from "node:module";
    register(${JSON.stringify(asModule(loader))});
    const { Ensemble, Task, ValidationError } = await import("agentensemble");
    const { ${factory} } = await import("agentensemble/${entryPoint}");
    const ensemble = new Ensemble({ tasks: [new Task({ description: "x", handler: () => "x" })], plugins: [${factory}()] });
    const error = await ensemble.run().catch((e) => e);
    const found = ValidationError.find(error);
    console.log(JSON.stringify([found.code, found.message, found.hint, error.hint]));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: projectRoot,
    encoding: "utf8",
    stdio: "pipe",
  });
  return JSON.parse(output) as readonly string[]; // written just above
}

describe("observability without its optional packages", () => {
  for (const [packageName, name] of [
    ["@opentelemetry/api", "otel"],
    ["prom-client", "prometheus"],
  ] as const) {
    it(`${name}() refuses to start without ${packageName}, with the command that installs it`, () => {
      const [code, message, hint, outerHint] = without(packageName, `observability/${name}`, name);
      expect(code).to.equal("AE_VALIDATION");
      expect(message).to.include(`'${packageName}'`);
      expect(hint).to.equal(`Run: npm install ${packageName}`);
      expect(outerHint).to.equal(hint);
    });
  }
});
