import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Ensemble } from "../../src/index.js";
import { prometheus } from "../../src/plugins/observability/prometheus/index.js";
import { handlerTask } from "../service/support.js";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../examples/${path}`, import.meta.url)), "utf8");

/** All matches of a pattern's first group. */
function found(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}

describe("the files for deployment", () => {
  const manifests = read("deploy/kubernetes.yaml");

  it("scale by a metric that a service provides", async () => {
    const metrics = prometheus();
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { cook: handlerTask(() => "soup") },
      plugins: [metrics],
    });
    await kitchen.start({ signals: false });
    const [series = ""] = found(manifests, /query: max\((.*)\)$/gm);
    expect(series).to.not.equal("");
    expect((await metrics.metrics()).split("\n")).to.include(`${series} 0`);
  });

  it("probe paths that a service answers", async () => {
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { cook: handlerTask(() => "soup") },
    });
    const { url = "" } = await kitchen.start({ port: 0, signals: false });
    const paths = found(manifests, /^\s+path: (\/api\/\S+)$/gm);
    expect(paths).to.have.length(3);
    for (const path of paths) expect((await fetch(`${url}${path}`)).status, path).to.equal(200);
  });

  it("allow a service 15 seconds more than its drain time", () => {
    const [drainMs = ""] = found(read("66-deployed-service.ts"), /drainTimeoutMs: ([\d_]+)/g);
    const seconds = String(Number(drainMs.replaceAll("_", "")) / 1_000 + 15);
    expect(found(manifests, /terminationGracePeriodSeconds: (\d+)/g)).to.deep.equal([seconds]);
    expect(found(read("deploy/kitchen.service"), /TimeoutStopSec=(\d+)/g)).to.deep.equal([seconds]);
  });

  it("read the database URL from a secret, in a variable that the program reads", () => {
    const [secret = ""] = found(
      manifests,
      /name: (\w+)\n\s+valueFrom:\n\s+secretKeyRef:\n.*\n\s+key: database-url/g,
    );
    const [read66 = ""] = found(read("66-deployed-service.ts"), /postgres\(\{ url: (\w+) \}\)/g);
    expect([secret, read66]).to.deep.equal(["DATABASE_URL", "DATABASE_URL"]);
    expect(manifests).to.not.match(/postgres(ql)?:\/\//);
  });

  it("start node itself, which therefore receives SIGTERM", () => {
    expect(read("deploy/Dockerfile")).to.match(/^CMD \["node", "dist\/main\.js"\]$/m);
    expect(read("deploy/kitchen.service")).to.match(/^ExecStart=\/usr\/bin\/node /m);
  });
});
