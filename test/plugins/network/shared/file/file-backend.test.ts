import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Lease, WorkRequest } from "agentensemble";
import { FileFormatError } from "agentensemble/memory";
import { NetworkBackend, NetworkError, Transport } from "agentensemble/network";
import {
  requestQueueContract,
  resultStoreContract,
  transportContract,
} from "agentensemble/testing";
import { expect } from "chai";
import { rejectionOf } from "../../../../support/rejection.js";
import { temporaryFolder } from "../../../../support/temporary-folder.js";

requestQueueContract("in a folder", {
  reopens: true,
  create: ({ agingMs }) => {
    const folder = temporaryFolder();
    const first = NetworkBackend.file(folder, { agingMs });
    const backends = [first];
    return {
      queue: first.queue,
      reopen: () => {
        const again = NetworkBackend.file(folder, { agingMs });
        backends.push(again);
        return again.queue;
      },
      dispose: async () => {
        for (const backend of backends) await backend.close();
      },
    };
  },
});
resultStoreContract("in a folder", {
  reopens: true,
  create: () => {
    const folder = temporaryFolder();
    const first = NetworkBackend.file(folder);
    const backends = [first];
    return {
      store: first.results,
      reopen: () => {
        const again = NetworkBackend.file(folder);
        backends.push(again);
        return again.results;
      },
      dispose: async () => {
        for (const backend of backends) await backend.close();
      },
    };
  },
});
transportContract("in a folder", {
  create: () => {
    const backend = NetworkBackend.file(temporaryFolder());
    return {
      transport: Transport.of("kitchen", backend),
      another: () => Transport.of("kitchen", backend),
      dispose: () => backend.close(),
    };
  },
});

const request = (requestId: string, o: Partial<WorkRequest> = {}): WorkRequest => ({
  v: 1,
  requestId,
  from: "a",
  to: "q",
  type: "TASK",
  task: "t",
  ...o,
});
const response = (requestId: string, result = "x") =>
  ({ v: 1, requestId, status: "COMPLETED", result, durationMs: 0 }) as const;
const NOW = { timeoutMs: 0, leaseMs: 60_000 };
const logOf = (folder: string): string => join(folder, "network.log");

/** Closes the backend in each case. */
async function using<T>(folder: string, body: (backend: NetworkBackend) => Promise<T>): Promise<T> {
  const backend = NetworkBackend.file(folder);
  try {
    return await body(backend);
  } finally {
    await backend.close();
  }
}

describe("NetworkBackend.file", () => {
  it("creates no file before the first call", async () => {
    const folder = join(temporaryFolder(), "deep", "network");
    await using(folder, async () => undefined);
    expect(() => statSync(folder)).to.throw("ENOENT");
    await using(folder, ({ queue }) => queue.enqueue("q", request("r1")));
    expect(statSync(logOf(folder)).mode & 0o777).to.equal(0o600);
  });

  it("keeps the order of priorities and the times of acceptance over a restart", async () => {
    const folder = temporaryFolder();
    const ids = await using(folder, async ({ queue }) => {
      await queue.enqueue("q", request("low", { priority: "LOW" }));
      await queue.enqueue("q", request("normal"));
      await queue.enqueue("q", request("delayed"));
      const lease = (await queue.dequeue("q", NOW)) as Lease; // three were accepted
      await queue.release(lease, { delayMs: 3_600_000 });
      return lease.request.requestId;
    });
    expect(ids).to.equal("normal");
    await using(folder, async ({ queue }) => {
      await queue.enqueue("q", request("high", { priority: "HIGH" }));
      const order: (string | undefined)[] = [];
      for (let n = 0; n < 4; n++) order.push((await queue.dequeue("q", NOW))?.request.requestId);
      expect(order).to.eql(["high", "delayed", "low", undefined]);
    });
  });

  it("removes a line that a crash left incomplete, and continues", async () => {
    const folder = temporaryFolder();
    await using(folder, ({ queue }) => queue.enqueue("q", request("r1")));
    const whole = readFileSync(logOf(folder), "utf8");
    appendFileSync(logOf(folder), '{"queue":"q","op":"accept","request":{"v":1,"reque');
    await using(folder, async ({ queue }) => {
      expect(await queue.status("q", "r1")).to.equal("QUEUED");
      expect(readFileSync(logOf(folder), "utf8")).to.equal(whole);
      await queue.enqueue("q", request("r2"));
    });
    await using(folder, async ({ queue }) => expect((await queue.depth("q")).queued).to.equal(2));
  });

  it("refuses a damaged line and files of other programs, and keeps them unchanged", async () => {
    const cases: readonly (readonly [string, string])[] = [
      ["notes", "is not a network file of AgentEnsemble"],
      ["notes\n", "Line 1 of"],
      ['{"format":"agentensemble-network","version":9}\n', "is of form 9; this version supports 1"],
      ['{"format":"agentensemble-network","version":1}\n{"op":"odd"}\n', "Line 2 of"],
      ['{"format":"agentensemble-network","version":1}\nxx\n', "is not JSON"],
    ];
    for (const [text, message] of cases) {
      const folder = temporaryFolder();
      writeFileSync(logOf(folder), text);
      await using(folder, async ({ queue }) => {
        const error = await rejectionOf(FileFormatError, queue.depth("q"));
        expect(error.message).to.include(message);
      });
      expect(readFileSync(logOf(folder), "utf8")).to.equal(text);
    }
  });

  it("allows one object at a time", async () => {
    const folder = temporaryFolder();
    await using(folder, async ({ queue }) => {
      await queue.enqueue("q", request("r1"));
      await using(folder, async ({ results }) => {
        const error = await rejectionOf(NetworkError, results.retrieve("r1"));
        expect(error.message).to.include("is in use by this process");
      });
    });
    await using(folder, async ({ queue }) =>
      expect(await queue.status("q", "r1")).to.equal("QUEUED"),
    );
  });

  it("names the unusable folder, and tries again at the next call", async () => {
    const place = join(temporaryFolder(), "file");
    writeFileSync(place, "");
    const backend = NetworkBackend.file(join(place, "network"));
    for (let n = 0; n < 2; n++) {
      const error = await rejectionOf(NetworkError, backend.queue.depth("q"));
      expect(error.message).to.include("can't be opened");
    }
    await backend.close();
    expect((await rejectionOf(NetworkError, backend.queue.depth("q"))).message).to.include(
      "closed",
    );
  });

  it("compacts its file without losing data", async function () {
    this.timeout(30_000);
    const folder = temporaryFolder();
    const text = "x".repeat(20_000);
    await using(folder, async ({ queue, results }) => {
      for (let n = 0; n < 400; n++) {
        await queue.enqueue("q", request(`r${n}`, { context: text }));
        if (n % 100 === 0) continue;
        const lease = (await queue.dequeue("q", NOW)) as Lease; // one was accepted
        await results.store(`r${n}`, response(`r${n}`), 3_600_000);
        await queue.acknowledge(lease);
      }
    });
    expect(statSync(logOf(folder)).size).to.be.below(4_000_000); // of 8 MB that were written
    await using(folder, async ({ queue, results }) => {
      expect(await queue.depth("q")).to.include({ queued: 4, leased: 0, dead: 0 });
      const states = await Promise.all(
        Array.from({ length: 400 }, (_, n) => queue.status("q", `r${n}`)),
      );
      expect(states.filter((state) => state === "DONE").length).to.equal(396);
      expect((await results.retrieve("r399"))?.result).to.equal("x");
      const left = (await queue.dequeue("q", NOW)) as Lease; // four are queued
      expect(left.request.context).to.equal(text);
    });
  });

  it("refuses invalid options", () => {
    expect(() => NetworkBackend.file(" ")).to.throw("folder must be the path of a folder");
    expect(() => NetworkBackend.file("a\0b")).to.throw("NUL");
    expect(() => NetworkBackend.file("a", { ageingMs: 1 } as never)).to.throw("'agingMs'"); // on purpose
  });
});

const program = fileURLToPath(new URL("./program.js", import.meta.url));
const fullDisk = fileURLToPath(new URL("./full-disk.js", import.meta.url));

interface Facts {
  readonly accepted: Set<string>;
  readonly done: Set<string>;
  readonly results: Map<string, string>;
}

/** Runs the program on the folder and kills it after some records. */
async function runAndKill(folder: string, facts: Facts, killAfter: number): Promise<void> {
  const args = [program, folder, String(facts.accepted.size)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  let lines = 0;
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
    lines += part.split("\n").length - 1;
    if (lines >= killAfter) child.kill("SIGKILL");
  });
  await once(child, "close");
  for (const line of text.split("\n").slice(0, -1)) {
    const [fact, id = "", ...rest] = line.split(" ");
    if (fact === "accepted") facts.accepted.add(id);
    else if (fact === "done") facts.done.add(id);
    else {
      expect(facts.results.has(id), `${id} has two results`).to.equal(false);
      facts.results.set(id, rest.join(" "));
    }
  }
}

describe("NetworkBackend.file in processes that are killed", () => {
  it("keeps all accepted requests and each first result, and nothing twice", async function () {
    this.timeout(60_000);
    const folder = temporaryFolder();
    const facts: Facts = { accepted: new Set(), done: new Set(), results: new Map() };
    for (const killAfter of [3, 200, 57, 400]) await runAndKill(folder, facts, killAfter);
    expect(facts.results.size).to.be.above(50);
    await using(folder, async ({ queue, results }) => {
      for (const id of facts.accepted)
        expect(await queue.status("q", id), id).to.be.oneOf(["QUEUED", "DONE"]);
      for (const id of facts.done) expect(await queue.status("q", id), id).to.equal("DONE");
      for (const [id, result] of facts.results)
        expect((await results.retrieve(id))?.result, id).to.equal(result);
    });
  });

  it("reports a result that does not fit on the disk, and continues with smaller ones", async function () {
    this.timeout(30_000);
    const folder = temporaryFolder();
    const script = `trap '' XFSZ; ulimit -f 200; exec "$@"`;
    const args = ["-c", script, "bash", process.execPath];
    const child = spawn("bash", [...args, fullDisk, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(child, "close");
    expect(JSON.parse(text)).to.eql({
      code: "AE_NETWORK",
      message: "could not be written",
      attempt: 1,
      stored: true,
    });
    await using(folder, async ({ queue, results }) => {
      expect((await results.retrieve("small"))?.result).to.equal("x");
      expect(await results.retrieve("large")).to.equal(undefined);
      const again = await queue.dequeue("q", NOW);
      expect([again?.request.requestId, again?.attempt]).to.eql(["small", 2]);
    });
  });
});
