import { expect } from "chai";
import { nats } from "../../../../src/network-nats.js";
import { natsSettings } from "../../../../src/plugins/network/nats/nats-options.js";
import { nanosOf, timeOf } from "../../../../src/plugins/network/nats/broker.js";
import { subjectToken } from "../../../../src/plugins/network/nats/broker-names.js";
import { ticketOf } from "../../../../src/plugins/network/nats/tickets.js";

describe("options of nats()", () => {
  it("accept one address or several, with credentials and TLS", () => {
    expect(natsSettings({ servers: "localhost" })).to.deep.equal({
      address: { servers: ["localhost:4222"] },
      shown: "localhost",
      prefix: "agentensemble",
      idTtlMs: 86_400_000,
    });
    const several = natsSettings({ servers: ["nats://a:1", "tls://me:s%40fe@b"], prefix: "p-1" });
    expect(several.address).to.deep.equal({
      servers: ["a:1", "b:4222"],
      user: "me",
      pass: "s@fe",
      tls: {},
    });
    expect(several.shown).to.equal("a:1, b");
    expect(natsSettings({ servers: "nats://t0ken@a" }).address.token).to.equal("t0ken");
  });

  it("refuse invalid options, and show no password", () => {
    const invalid: readonly (readonly [unknown, RegExp])[] = [
      [{}, /servers must have at least one address/],
      [{ servers: [] }, /at least one address/],
      [{ servers: 5 }, /servers must be an array, got: 5/],
      [{ servers: ["http://me:secret@a"] }, /addresses such as nats:.*\*\*\*@a/],
      [{ servers: [7] }, /got: 7/],
      [{ servers: "nats://" }, /addresses such as/],
      [{ servers: "nats://a:4222/prefix" }, /addresses such as/],
      [{ servers: "a", prefix: "a.b" }, /prefix must have 1 to 32/],
      [{ servers: "a", prefix: 5 }, /prefix must have 1 to 32/],
      [{ servers: "a", idTtlMs: 0 }, /idTtlMs must be a positive/],
      [{ servers: "a", server: "a" }, /Unknown option 'server'/],
    ];
    for (const [options, message] of invalid)
      expect(() => nats(options as { servers: string })).to.throw(message);
    expect(() => nats({ servers: "http://me:secret@a" }))
      .to.throw()
      .not.match(/secret/);
  });
});

describe("names and times of NATS", () => {
  it("keep plain names, and hash others", () => {
    expect(subjectToken("order-4711_a")).to.equal("order-4711_a");
    const odd = ["a.b", "*", ">", "a b", "", "x".repeat(65), "\ud800", "\ud801", "größe"];
    const tokens = odd.map(subjectToken);
    for (const token of tokens) expect(token).to.match(/^=[\w-]{43}$/);
    expect(new Set(tokens).size).to.equal(odd.length);
  });

  it("contain times with a precision of microseconds", () => {
    const at = Date.parse("2026-01-02T03:04:05Z");
    expect(timeOf({ timestamp: "2026-01-02T03:04:05.250500Z" })).to.be.closeTo(at + 250.5, 0.001);
    expect(timeOf({ timestamp: "2026-01-02T03:04:05Z" })).to.equal(at);
    expect(nanosOf(1.5)).to.equal(1_500_000);
  });

  it("contain the deliveries of a message with and without a domain", () => {
    const subject = "p.requests.q.r1";
    const data = new Uint8Array();
    for (const reply of [
      "$JS.ACK.s.c.3.1.7.1795420087901359273.0",
      "$JS.ACK.domain.account.s.c.3.1.7.1795420087901359273.0",
      "$JS.ACK.domain.account.s.c.3.1.7.1795420087901359273.0.random",
    ]) {
      const { deliveries, acceptedMs, key } = ticketOf({ reply, subject, data } as never);
      expect([deliveries, Math.floor(acceptedMs), key]).to.deep.equal([3, 1795420087901, "q.r1"]);
    }
  });
});
