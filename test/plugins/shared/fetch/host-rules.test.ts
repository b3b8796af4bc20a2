import { expect } from "chai";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { AllowList, HostList, portOf } from "../../../../src/plugins/shared/fetch/host-rules.js";

describe("allowed targets", () => {
  it("are hosts with or without a port", () => {
    const hosts = new HostList("hosts", ["a.test", "*.b.test", "c.test:8080", "::1"]);
    expect(hosts.has("a.test", 1)).to.equal(true);
    expect([hosts.has("x.b.test", 1), hosts.has("b.test", 1)]).to.deep.equal([true, false]);
    expect([hosts.has("c.test", 8080), hosts.has("c.test", 80)]).to.deep.equal([true, false]);
    expect([hosts.names("c.test", 8080), hosts.names("a.test", 80)]).to.deep.equal([true, false]);
    expect(hosts.has("::1", 1)).to.equal(true);
    expect(new HostList("hosts", ["a.test:80"]).names("a.test", 80)).to.equal(true);
    expect(new HostList("hosts", undefined).has("a.test", 1)).to.equal(false);
    expect(portOf(new URL("https://a.test"))).to.equal(443);
  });

  it("are networks of both families", () => {
    const list = new AllowList("allow", { addresses: ["10.0.0.0/8", "fd00::/8", "192.168.1.1"] });
    const admitted = ["10.1.2.3", "fd12::1", "192.168.1.1", "11.0.0.1", "fe80::1", "a.test"];
    expect(admitted.filter((address) => list.admits(address))).to.deep.equal(admitted.slice(0, 3));
    expect(new AllowList("allow").admits("10.1.2.3")).to.equal(false);
  });

  it("are refused in another form", () => {
    for (const entry of [3, "a b", "https://a.test", "*", "a.test:99999"])
      expect(() => new AllowList("allow", { hosts: [entry as never] })).to.throw(
        ValidationError,
        "allow.hosts[0] must be a host such as",
      );
    for (const entry of [3, "a.test", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/8/8", "fe80::1%eth0"])
      expect(() => new AllowList("allow", { addresses: [entry as never] })).to.throw(
        ValidationError,
        "allow.addresses[0] must be an address or a network such as",
      );
  });
});
