import { spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import tls from "node:tls";
import { expect } from "chai";
import { takeRefused } from "./loopback-only.js";
import { LoopbackSite, page } from "./loopback-site.js";

const AWAY = "192.0.2.1"; // an address for documentation, which belongs to no host

async function failure(socket: net.Socket): Promise<string | undefined> {
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  return error.code;
}

describe("connections in tests", () => {
  const kinds: Readonly<Record<string, () => net.Socket>> = {
    "by options": () => net.connect({ host: AWAY, port: 80 }),
    "by port and host": () => net.connect(80, AWAY),
    "of a socket": () => new net.Socket().connect(80, AWAY),
    "over TLS": () => tls.connect({ host: AWAY, port: 443 }),
    "over IPv6": () => net.connect({ host: "2001:db8::1", port: 80 }),
    "of a name": () => net.connect({ host: "agentensemble.example", port: 80 }),
    "of a name with its own resolver": () =>
      net.connect({
        host: "agentensemble.example",
        port: 80,
        lookup: (_host, _options, callback) => callback(null, [{ address: AWAY, family: 4 }]),
      }),
  };
  for (const [kind, connect] of Object.entries(kinds))
    it(`are refused beyond loopback: ${kind}`, async () => {
      const socket = connect();
      expect(await failure(socket)).to.equal("ERR_TEST_NETWORK");
      expect(takeRefused()).to.have.length(1);
    });

  it("are refused to fetch() and to node:http", async () => {
    const error = await fetch(`http://${AWAY}/`).catch((reason: unknown) => reason);
    expect(error).to.have.nested.property("cause.code", "ERR_TEST_NETWORK");
    const [cause] = (await once(http.get(`http://${AWAY}/`), "error")) as [unknown];
    expect(cause).to.have.property("code", "ERR_TEST_NETWORK");
    expect(takeRefused()).to.deep.equal([`${AWAY}:80`, `${AWAY}:80`]);
  });

  it("are refused before a name is resolved", async () => {
    const error = await lookup("agentensemble.example").catch((reason: unknown) => reason);
    expect(error).to.have.property("code", "ERR_TEST_NETWORK");
    expect(takeRefused()).to.deep.equal(["agentensemble.example"]);
  });

  it("are refused in child processes", () => {
    const program = `fetch("http://${AWAY}/").catch((error) => console.log(error.cause.code))`;
    const { stdout } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
    expect(stdout.trim()).to.equal("ERR_TEST_NETWORK");
  });

  it("are permitted to loopback, by number and by name", async () => {
    const site = await LoopbackSite.start({ "/": page("here") });
    try {
      expect(await (await fetch(site.url("/"))).text()).to.equal("here");
      const { port } = new URL(site.url("/"));
      expect((await fetch(`http://localhost:${port}/`)).status).to.equal(200);
    } finally {
      await site.close();
    }
    expect(takeRefused()).to.deep.equal([]);
  });
});
