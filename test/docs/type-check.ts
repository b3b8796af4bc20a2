import { join } from "node:path";
import ts from "typescript";
import { projectRoot } from "../support/project.js";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node", "mocha"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  experimentalDecorators: true,
  skipLibCheck: true,
  noEmit: true,
};

/** A piece of TypeScript that has no file of its own. */
export interface Snippet {
  /** What failures are reported under. */
  readonly title: string;
  readonly code: string;
}

/** What stands for itself in a fragment without imports: the things every page talks about. */
const USUAL: Readonly<Record<string, string>> = {
  agent: "Agent",
  ensemble: "Ensemble",
  error: "unknown",
  handle: "RunHandle",
  kernel: "Kernel",
  model: "ChatModel",
  output: "EnsembleOutput",
  run: "Run",
  scope: "TaskScope",
  task: "Task",
};

/** Completes a fragment without imports: the names of the package root that it uses, and the usual variables that it does not declare itself. */
function complete(code: string, exported: ReadonlySet<string>): string {
  if (/^import /m.test(code)) return code;
  const words = new Set(code.match(/[A-Za-z_]\w*/g));
  const declared = (name: string): boolean => new RegExp(`(const|let|class|function|interface|type) ${name}\\b|[({,]\\s*${name}\\b[^;]*=>`).test(code);
  const usual = Object.entries(USUAL).filter(([name]) => words.has(name) && !declared(name));
  const names = new Set([...words].filter((word) => exported.has(word) && !declared(word)));
  for (const [, type] of usual) if (exported.has(type)) names.add(type);
  const declarations = usual.map(([name, type]) => `declare const ${name}: ${type};`);
  return [`import { ${[...names].map((name) => (isType(name) ? `type ${name}` : name)).join(", ")} } from "agentensemble";`, ...declarations, code, "export {};"].join("\n");
}

/** Importing a value as a type would hide it; importing a type as a value is allowed here, since nothing is emitted. */
function isType(_name: string): boolean {
  return false;
}

function hostFor(files: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists.call(host, file);
  host.readFile = (file) => files.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile.call(host, file, version, ...rest) : ts.createSourceFile(file, text, version);
  };
  host.getCurrentDirectory = () => projectRoot;
  return host;
}
