import { expect } from "chai";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { AccessDeniedError } from "../../../../src/contracts/state-errors.js";
import { createAddressJudge } from "../../../../src/plugins/shared/fetch/addresses.js";
import { resolveSafeFetchOptions } from "../../../../src/plugins/shared/fetch/safe-fetch-options.js";
import { AddressPolicy } from "../../../../src/plugins/shared/fetch/address-policy.js";

const neverAsked = (host: string): never => {
  throw new Error(`the resolver was asked for ${host}`);
};

/** Checks a URL without a connection. */
async function isRefused(
  url: string,
  lookup: (host: string) => readonly string[] = neverAsked,
): Promise<boolean> {
  const rules = new AddressPolicy(resolveSafeFetchOptions("test", { lookup }));
  try {
    await rules.resolve(new URL(url), new AbortController().signal);
    return false;
  } catch (error) {
    if (error instanceof AccessDeniedError) return true;
    throw error;
  }
}

const REFUSED_URLS: readonly string[] = [
  "http://127.0.0.1/",
  "http://168.63.129.16/",
  "http://127.1/",
  "http://127.255.255.254/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.0.0.1./",
  "http://127.0.0.1.../".replace("...", "."),
  "http://①②⑦.0.0.1/",
  "http://１２７.０.０.１/",
  "http://127。0。0。1/",
  "http://%31%32%37.0.0.1/",
  "http://0/",
  "http://0.0.0.0/",
  "http://0.1.2.3/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://0xc0a80101/",
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "http://100.64.0.1/",
  "http://192.0.0.1/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://198.51.100.7/",
  "http://203.0.113.7/",
  "http://192.88.99.1/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::]/",
  "http://[::127.0.0.1]/",
  "http://[::7f00:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b::10.0.0.1]/",
  "http://[64:ff9b:1::1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a00:1::1]/",
  "http://[2001:0:0:1::1]/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456::1]/",
  "http://[ff02::1]/",
  "http://[100::1]/",
  "http://[2001:db8::1]/",
  "http://[3fff::1]/",
  "http://[5f00::1]/",
  "http://[4000::1]/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://ｌｏｃａｌｈｏｓｔ/",
  "http://a.b.localhost/",
  "http://user@example.com/",
  "http://user:secret@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1#@example.com/",
  "http://127.0.0.1\\@example.com/",
  "https://example.com:22/",
  "http://example.com:8080/",
  "http://example.com:6379/",
  "file:///etc/passwd",
  "ftp://example.com/",
  "gopher://127.0.0.1:6379/_INFO",
  "data:text/html,hello",
  "javascript:alert(1)",
  "ws://example.com/",
  "blob:http://example.com/x",
];

describe("addresses of URLs", () => {
  for (const url of REFUSED_URLS)
    it(`are refused: ${url}`, async () => expect(await isRefused(url)).to.equal(true));

  for (const url of [
    "http://8.8.8.8/",
    "https://1.1.1.1/",
    "http://0x08080808/",
    "http://[2606:4700::1111]/",
    "http://8.8.8.8:443/",
  ]) {
    it(`are allowed: ${url}`, async () => expect(await isRefused(url)).to.equal(false));
  }

  it("with a zone are invalid", () => {
    expect(URL.canParse("http://[fe80::1%25eth0]/")).to.equal(false);
  });

  const answers: readonly (readonly [string, readonly string[], boolean])[] = [
    ["one public address", ["93.184.216.34"], false],
    ["two public addresses", ["93.184.216.34", "2606:2800:220:1::1"], false],
    ["a loopback address", ["127.0.0.1"], true],
    ["a public and a private address", ["93.184.216.34", "10.0.0.1"], true],
    ["a public and a link-local address", ["2606:2800:220:1::1", "fe80::1"], true],
    ["an address with a zone", ["fe80::1%eth0"], true],
    ["a public address with a zone", ["2606:2800:220:1::1%1"], true],
    ["a mapped address", ["::ffff:10.0.0.1"], true],
    ["an invalid address", ["example.com"], true],
    ["another spelling of an address", ["2130706433"], true],
    ["an empty address", [""], true],
  ];
  for (const [what, addresses, refused] of answers) {
    it(`${refused ? "refuse" : "allow"} a name that resolves to ${what}`, async () => {
      expect(await isRefused("https://example.com/", () => addresses)).to.equal(refused);
    });
  }

  it("with a name in punycode are judged by the addresses of the name", async () => {
    const asked: string[] = [];
    await isRefused("https://bücher.example/", (host) => {
      asked.push(host);
      return ["93.184.216.34"];
    });
    expect(asked).to.deep.equal(["xn--bcher-kva.example"]);
  });
});

const byte = fc.integer({ min: 0, max: 255 });
const spellings: readonly ((octets: readonly number[]) => string)[] = [
  (o) => o.join("."),
  (o) => o.map((part) => `0x${part.toString(16)}`).join("."),
  (o) => o.map((part) => `0${part.toString(8)}`).join("."),
  (o) => String(o.reduce((sum, part) => sum * 256 + part, 0)),
  (o) => `0x${o.reduce((sum, part) => sum * 256 + part, 0).toString(16)}`,
  ([a = 0, b = 0, c = 0, d = 0]) => `${a}.${(b * 256 + c) * 256 + d}`,
  ([a = 0, b = 0, c = 0, d = 0]) => `${a}.0x${b.toString(16)}.${c * 256 + d}.`,
];

describe("any address", () => {
  it("of version 4 is refused in every notation exactly if its range is not public", async () => {
    const octets = fc.oneof(
      fc.tuple(byte, byte, byte, byte),
      fc.constantFrom(
        [127, 0, 0, 1],
        [10, 1, 2, 3],
        [169, 254, 169, 254],
        [192, 168, 0, 1],
        [8, 8, 8, 8],
      ),
    );
    await fc.assert(
      fc.asyncProperty(octets, fc.constantFrom(...spellings), async (parts, spell) => {
        const expected = ipaddr.parse(parts.join(".")).range() !== "unicast";
        expect(await isRefused(`http://${spell(parts)}/`)).to.equal(expected);
      }),
      { numRuns: 400 },
    );
  });

  it("of version 6 is refused exactly if its range is not public or not assigned", async () => {
    const first = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0x2000, max: 0x3fff }),
      fc.constantFrom(0x2001, 0x2002, 0xfe80, 0xfc00, 0x64, 0),
    );
    const groups = fc.tuple(
      first,
      ...Array.from({ length: 7 }, () =>
        fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })),
      ),
    );
    await fc.assert(
      fc.asyncProperty(groups, fc.boolean(), async (parts, upper) => {
        const text = parts.map((part) => part.toString(16)).join(":");
        const isPublic = ipaddr.parse(text).range() === "unicast" && parts[0] >> 13 === 1;
        expect(await isRefused(`http://[${upper ? text.toUpperCase() : text}]/`)).to.equal(
          !isPublic,
        );
        expect(await isRefused("http://example.com/", () => [text])).to.equal(!isPublic);
      }),
      { numRuns: 400 },
    );
  });

  it("is described by the reason of its refusal", async () => {
    const judge = await createAddressJudge();
    expect(["127.0.0.1", "10.0.0.1", "::7f00:1", "x", "8.8.8.8"].map(judge)).to.deep.equal([
      "loopback",
      "private",
      "unassigned",
      "no address",
      undefined,
    ]);
  });
});
