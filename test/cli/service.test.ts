import { randomUUID } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { expect } from "chai";
import type { Fields } from "../../src/util/objects.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";
import { ProjectFolder } from "./project-folder.js";

const KITCHEN = `
  import { Ensemble, Task } from "agentensemble";
  export default new Ensemble({
    name: "kitchen",
    shareTasks: {
      cook: new Task({
        description: "Cook {dish}",
        handler: ({ inputs }) => "One " + inputs.dish + (inputs.context ?? ""),
      }),
      burn: new Task({ description: "Burn", handler: () => { throw new Error("smoke"); } }),
      wait: new Task({
        description: "Wait",
        handler: ({ signal }) => new Promise((resolve, reject) => {
          const timer = setTimeout(() => resolve("waited"), 60_000);
          signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); });
        }),
      }),
    },
    drainTimeoutMs: 200,
  });`;

describe("the commands of services", function () {
  this.timeout(60_000);

  it("serve an ensemble until SIGTERM, call its shared tasks, and look at its queue", async () => {
    const project = new ProjectFolder({ "kitchen.mjs": KITCHEN });
    const serving = project.start(["serve", "kitchen.mjs", "--port", "0", "--json"]);
    const run = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await project.start(args).ended;
      return [code, stdout.trim(), stderr.trim()];
    };
    try {
      const shown = (await firstJson(serving.child)) as Record<string, string>;
      const { url, health, ensemble, card = "" } = shown;
      expect(await (await fetch(card)).json()).to.include({ name: "kitchen" });
      expect([ensemble, health]).to.deep.equal(["kitchen", `${url}/api/health/ready`]);
      const address = url ?? "";
      expect(await run("call", address, "cook", "--input", "dish=soup")).to.deep.equal([
        ...[0, "One soup", ""],
      ]);
      const [code, document] = await run(
        ...["call", address, "cook", "--input", "dish=soup", "--context", "!", "--json"],
      );
      expect(code).to.equal(0);
      expect(JSON.parse(String(document))).to.include({ status: "COMPLETED", result: "One soup!" });
      expect((await run("call", address, "burn"))[0]).to.equal(1);
      const [missing, , inputs] = await run("call", address, "cook");
      expect([missing, inputs]).to.satisfy(
        ([end, text]: readonly unknown[]) => end === 1 && String(text).includes("--input name="),
      );
      const [elsewhere, , hint] = await run("call", `${address}/a2a`, "cook");
      expect([elsewhere, String(hint).includes(`such as ${address}.`)]).to.deep.equal([2, true]);
      const [refused, , message] = await run("call", address, "coke");
      expect([refused, String(message).includes("Did you mean 'cook'?")]).to.deep.equal([2, true]);
      expect((await run("call", address, "wait", "--timeout", "500ms"))[0]).to.equal(124);
      const [, depth] = await run("queue", "ls", address);
      expect(depth).to.equal("kitchen: 0 queued, 1 leased, 0 dead");
      expect(await run("queue", "dead", address)).to.deep.equal([
        ...[0, "", "There are no dead letters"],
      ]);
      expect((await run("queue", "redrive", address, "nothing"))[0]).to.equal(2);
      serving.child.kill("SIGTERM");
      const { code: end, stderr } = await serving.ended;
      expect(end).to.equal(0);
      expect(stderr).to.contain("stopping: requests in execution may finish");
      expect((await run("call", address, "cook"))[0]).to.equal(1);
    } finally {
      serving.child.kill("SIGKILL");
      await serving.ended;
    }
  });

  it("serve the dashboard of the ensemble on the port of the service", async () => {
    const kitchen = KITCHEN.replace("drainTimeoutMs", "plugins: [dashboard()], drainTimeoutMs");
    const program = `import { dashboard } from "agentensemble/dashboard";${kitchen}`;
    const project = new ProjectFolder({ "kitchen.mjs": program });
    const serving = project.start(["serve", "kitchen.mjs", "--port", "0", "--json"]);
    try {
      const { url } = (await firstJson(serving.child)) as { readonly url: string };
      const { code } = await project.start(["call", url, "cook", "--input", "dish=soup"]).ended;
      expect(code).to.equal(0);
      expect((await fetch(`${url}/`)).headers.get("content-type")).to.contain("text/html");
      const { runs } = (await (await fetch(`${url}/api/runs`)).json()) as { runs: object[] };
      expect(runs.length).to.equal(1);
      serving.child.kill("SIGTERM");
      expect((await serving.ended).code).to.equal(0);
    } finally {
      serving.child.kill("SIGKILL");
      await serving.ended;
    }
  });

  it("end immediately at the second signal", async () => {
    const patient = KITCHEN.replace("drainTimeoutMs: 200", "drainTimeoutMs: 60_000");
    const project = new ProjectFolder({ "kitchen.mjs": patient });
    const serving = project.start(["serve", "kitchen.mjs", "--port", "0", "--json"]);
    const { url } = (await firstJson(serving.child)) as { readonly url: string };
    await project.start(["call", url, "wait", "--timeout", "500ms"]).ended;
    serving.child.kill("SIGTERM");
    await serving.said("stopping");
    serving.child.kill("SIGTERM");
    expect((await serving.ended).code).to.equal(143);
  });

  it("serve with several processes on one port, replace a dead process, and drain all at SIGTERM", async function () {
    await needRedis(this);
    const name = `kitchen-${randomUUID()}`;
    const program = KITCHEN.replace('"kitchen"', `"${name}"`).replace(
      "shareTasks: {",
      'shareTasks: { pid: new Task({ description: "Pid", handler: () => String(process.pid) }),',
    );
    const project = new ProjectFolder({ "kitchen.mjs": program });
    const args = ["serve", "kitchen.mjs", "--port", "0", "--json", "--store", REDIS_URL];
    const serving = project.start([...args, "--workers", "2"]);
    /** The pids of the processes that have executed something, until `enough`. */
    const pidsUntil = async (url: string, enough: (pids: Set<string>) => boolean) => {
      const pids = new Set<string>();
      for (let n = 0; !enough(pids); n++) {
        if (n > 400) throw new Error(`only ${[...pids].join()} have executed something`);
        const sent = await fetch(`${url}/api/work`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ task: "pid" }),
        });
        const { requestId } = (await sent.json()) as { readonly requestId: string };
        const answer = await fetch(`${url}/api/work/${requestId}?waitMs=20000`);
        if (answer.ok) pids.add(((await answer.json()) as { result: string }).result);
      }
      return pids;
    };
    try {
      const { url, workers } = (await firstJson(serving.child)) as { url: string; workers: number };
      expect(workers).to.equal(2);
      const [victim = "", other = ""] = await pidsUntil(url, (pids) => pids.size === 2);
      process.kill(Number(victim), "SIGKILL");
      await serving.said(`process ${victim} ended (SIGKILL): another one starts`);
      const later = await pidsUntil(url, (pids) =>
        [...pids].some((pid) => pid !== victim && pid !== other),
      );
      const drain = await fetch(`${url}/api/lifecycle/drain`, { method: "POST" });
      expect(drain.status).to.equal(202);
      await serving.said("ended (exit code 0): another one starts");
      serving.child.kill("SIGTERM");
      expect((await serving.ended).code).to.equal(0);
      for (const pid of later) expect(() => process.kill(Number(pid), 0)).to.throw("ESRCH");
    } finally {
      serving.child.kill("SIGKILL");
      await serving.ended;
      await removeKeys(`agentensemble:{${name}}`);
    }
  });

  it("replace a process that dies before it is ready", async function () {
    await needRedis(this);
    const name = `kitchen-${randomUUID()}`;
    const dying = `import cluster from "node:cluster";\nif (cluster.worker?.id === 2) process.exit(3);\n`;
    const project = new ProjectFolder({
      "kitchen.mjs": dying + KITCHEN.replace('"kitchen"', `"${name}"`),
    });
    const args = ["serve", "kitchen.mjs", "--port", "0", "--json", "--store", REDIS_URL];
    const serving = project.start([...args, "--workers", "2"]);
    try {
      expect(await firstJson(serving.child)).to.include({ workers: 2 });
      await serving.said("ended (exit code 3): another one starts");
      serving.child.kill("SIGTERM");
      expect((await serving.ended).code).to.equal(0);
    } finally {
      serving.child.kill("SIGKILL");
      await serving.ended;
      await removeKeys(`agentensemble:{${name}}`);
    }
  });

  it("refuse several processes without a shared store, and report the problem of a file once", async () => {
    const project = new ProjectFolder({ "kitchen.mjs": KITCHEN, "odd.mjs": "export default 1;" });
    const run = async (file: string, ...args: readonly string[]) => {
      const { code, stderr } = await project.start(["serve", file, "--port", "0", ...args]).ended;
      return [code, stderr.match(/error .*/g)?.join(" | ")];
    };
    const ends = await Promise.all([
      run("kitchen.mjs", "--workers", "2"),
      run("kitchen.mjs", "--workers", "2", "--store", "file:x"),
      run("kitchen.mjs", "--workers", "0", "--store", REDIS_URL),
      run("odd.mjs", "--workers", "3", "--store", REDIS_URL),
    ]);
    expect(ends.map(([code]) => code)).to.deep.equal([2, 2, 2, 2]);
    expect(ends.map(([, text]) => text).join("\n")).to.match(
      /requests in memory.*\n.*one process at a time.*\n.*--workers must be.*\n[^|]*must be an Ensemble[^|]*$/,
    );
  });

  it("refuse an ensemble that has run, since its runs would not be stored", async () => {
    const early = KITCHEN.replace("export default", "const kitchen =");
    const project = new ProjectFolder({
      "early.mjs": `${early} await kitchen.stop(); await kitchen.run().catch(() => 0); export default kitchen;`,
    });
    const args = ["serve", "early.mjs", "--port", "0", "--durable", "--store", "file:kept"];
    const { code, stderr } = await project.start(args).ended;
    expect(code).to.equal(2);
    expect(stderr).to.contain("can't get the plugin 'durable'");
  });

  it("refuse submissions with a time limit for a result that is not awaited", async () => {
    const project = new ProjectFolder({ "kitchen.mjs": KITCHEN });
    const args = ["submit", "kitchen.mjs", "--timeout", "5s", "--store", "redis://127.0.0.1:9"];
    const { code, stderr } = await project.start(args).ended;
    expect([code, stderr.includes("it needs --wait")]).to.deep.equal([2, true]);
  });

  it("keep requests in a folder, where the next process finds them", async () => {
    const project = new ProjectFolder({ "kitchen.mjs": KITCHEN });
    const args = [
      "serve",
      "kitchen.mjs",
      "--port",
      "0",
      "--json",
      "--store",
      "file:.agentensemble",
    ];
    for (const end of ["SIGKILL", "SIGTERM"] as const) {
      const serving = project.start(args);
      const { url } = (await firstJson(serving.child)) as { readonly url: string };
      const call = ["call", url, "cook", "--key", "order-1", "--input", "dish=soup", "--json"];
      const { stdout } = await project.start(call).ended;
      const { durationMs: _, servedBy, ...response } = JSON.parse(stdout) as Fields;
      expect(response).to.include({ status: "COMPLETED", result: "One soup", attempt: 1 });
      project.write(`${end}.txt`, String(servedBy));
      serving.child.kill(end);
      await serving.ended;
    }
    expect(project.read("SIGTERM.txt")).to.equal(project.read("SIGKILL.txt"));
  });

  it("refuse invalid addresses, and hosts of other machines without callers", async () => {
    const project = new ProjectFolder({ "kitchen.mjs": KITCHEN });
    const code = async (...args: readonly string[]) => (await project.start(args).ended).code;
    expect(await code("call", "kitchen", "cook")).to.equal(2);
    const anyHost = ["serve", "kitchen.mjs", "--host", "0.0.0.0"];
    const bare = await project.start(anyHost).ended;
    expect([bare.code, bare.stderr.includes("AGENTENSEMBLE_CALLERS")]).to.deep.equal([2, true]);
    const unnamed = await project.start(anyHost, { AGENTENSEMBLE_CALLERS: "a=secret" }).ended;
    expect([unnamed.code, unnamed.stderr.includes("--allowed-host")]).to.deep.equal([2, true]);
    for (const command of ["serve", "dev", "dashboard"]) {
      const { code: end, stderr } = await project.start([command, "kitchen.mjs", "--port", "http"])
        .ended;
      expect([command, end, stderr]).to.deep.equal([
        ...[command, 2],
        "error AE_VALIDATION: --port must be a number from 0 to 65535, got: http\n",
      ]);
    }
    expect(await code("serve", "kitchen.mjs", "--store", "mysql://here")).to.equal(2);
  });
});

/** The first JSON document on the standard output of a child process. */
function firstJson(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (part: string) => {
      text += part;
      try {
        resolve(JSON.parse(text));
      } catch {
        // not whole yet
      }
    });
    child.once("close", () => reject(new Error(`It printed: ${text}`)));
  });
}
