import { dirname, join } from "node:path/posix";
import { expect } from "chai";
import { readProjectFile, typeScriptFiles } from "../support/project.js";

type Imports = ReadonlyMap<string, readonly string[]>;

/** The imports of every source by path, including type imports. */
function importsOfSources(): Imports {
  return new Map(
    typeScriptFiles("src").map((path) => [
      path,
      [...readProjectFile(path).matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g)].map(
        ([, specifier = ""]) => join(dirname(path), `${specifier}.ts`),
      ),
    ]),
  );
}

/** Groups of files that import each other, directly or through others (Tarjan's strongly connected components). */
function circlesOf(imports: Imports): readonly (readonly string[])[] {
  const indexes = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const index = indexes.size;
    indexes.set(file, index);
    stack.push(file);
    let low = index;
    for (const other of imports.get(file) ?? []) {
      if (!indexes.has(other)) low = Math.min(low, visit(other));
      else if (stack.includes(other)) low = Math.min(low, indexes.get(other) ?? low);
    }
    if (low === index) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!indexes.has(file)) visit(file);
  return circles;
}

describe("imports, those of types included", () => {
  it("form one cycle, including type imports: the contracts of tasks, tools, runs and outputs, at most 22 files", () => {
    const [circle = [], ...others] = circlesOf(importsOfSources());
    expect(others).to.deep.equal([]);
    expect(circle).to.include("src/contracts/task.ts");
    expect(circle.filter((file) => !file.startsWith("src/contracts/"))).to.deep.equal([]);
    expect(circle.length).to.be.at.most(22);
  });

  it("are searched for cycles of any length", () => {
    const imports = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", ["a"]],
      ["d", ["e", "c"]],
      ["e", []],
      ["f", ["g"]],
      ["g", ["f"]],
    ]);
    expect(circlesOf(imports)).to.deep.equal([
      ["a", "b", "c", "d"],
      ["f", "g"],
    ]);
  });
});
