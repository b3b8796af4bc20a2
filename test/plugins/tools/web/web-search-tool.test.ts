import { expect } from "chai";
import { inspect } from "node:util";
import type { SearchProvider } from "../../../../src/plugins/tools/web/search-provider.js";
import type { WebSearchToolOptions } from "../../../../src/plugins/tools/web/web-search-tool.js";
import { ToolConfigurationError, ValidationError } from "../../../../src/contracts/errors.js";
import { toolContract } from "../../../../src/plugins/testing/index.js";
import {
  brave,
  searxng,
  serpApi,
  tavily,
  webSearchTool,
} from "../../../../src/plugins/tools/web/index.js";
import { LoopbackSite, page, redirect } from "../../../support/loopback-site.js";
import { rejection } from "../../../support/rejection.js";
import { callTool } from "./tool-call.js";

const KEY = "tvly-secret/+key";
const OSLO = { title: "Oslo", url: "https://oslo.example/", snippet: "Capital of Norway." };
const fixed = (results: unknown): SearchProvider => ({
  name: "fixed",
  search: () => results as never,
}); // also what breaks the contract
const search = (
  provider: SearchProvider,
  query = "oslo",
  o: Partial<WebSearchToolOptions> = {},
): ReturnType<typeof callTool> => callTool(webSearchTool({ provider, ...o }), { query });

toolContract("web_search", {
  create: () => webSearchTool({ provider: fixed([OSLO]) }),
  valid: [{ query: "oslo" }],
  invalid: [{}, { query: 1 }, { query: "x", limit: 3 }, "oslo"] as never,
  failing: [{ query: "  " }],
});

toolContract("web_search with a provider that never answers", {
  create: () =>
    webSearchTool({
      provider: {
        name: "stuck",
        search: ({ length }) => (length > 3 ? new Promise(() => undefined) : [OSLO]),
      },
      timeoutMs: 50,
    }),
  valid: [{ query: "fjo" }],
  failing: [{ query: "a long query" }],
});

describe("webSearchTool", () => {
  it("declares its effect", () => {
    expect(webSearchTool({ provider: fixed([]) })).to.include({
      name: "web_search",
      untrusted: true,
      effect: "read",
    });
  });

  it("returns a numbered list, and the results as structured data", async () => {
    const result = await search(
      fixed([OSLO, { url: "https://b.example" }, { snippet: "Only this." }]),
    );
    expect(result.output).to.equal(
      "1. Oslo\n   URL: https://oslo.example/\n   Capital of Norway.\n\n2. URL: https://b.example/\n\n3. Only this.",
    );
    expect(result.structured).to.deep.include({ query: "oslo", provider: "fixed" });
    expect(
      (result.structured as { readonly results: readonly unknown[] }).results[0],
    ).to.deep.equal(OSLO);
  });

  it("reports that there are no results", async () => {
    for (const results of [[], [{}], [null, 1]])
      expect(await search(fixed(results))).to.include({ ok: true, output: "No results found." });
  });

  it("shows results up to its limit, and passes the limit to the provider", async () => {
    let asked = 0;
    const many: SearchProvider = {
      name: "many",
      search: (_query, { maxResults }) => (
        (asked = maxResults),
        Array.from({ length: 9 }, () => OSLO)
      ),
    };
    expect((await search(many)).output)
      .to.include("5. ")
      .and.not.include("6. ");
    expect((await search(many, "oslo", { maxResults: 2 })).output)
      .to.include("2. ")
      .and.not.include("3. ");
    expect(asked).to.equal(2);
  });

  it("formats results that can't imitate others", async () => {
    const { output } = await search(
      fixed([
        {
          title: "A\n2. B\n   URL: https://evil.example/",
          url: "javascript:alert(1)",
          snippet: `x\u2028y\u0000${"z".repeat(5_000)}`,
        },
      ]),
    );
    expect(output.split("\n")).to.have.length(2);
    expect(output).to.include("x y z").and.not.include("javascript");
    expect(output.length).to.be.lessThan(2_200);
  });

  it("reports failures as texts", async () => {
    expect((await search(fixed([]), " \n")).errorMessage).to.equal(
      "Search query must not be blank",
    );
    expect(
      (await search({ name: "down", search: () => Promise.reject(new Error("no network")) }))
        .errorMessage,
    ).to.equal("Search failed: no network");
    expect((await search({ name: "down", search: () => { throw new Error("at once"); } })).errorMessage).to.equal("Search failed: at once"); // prettier-ignore
    expect((await search(fixed("text"))).errorMessage).to.equal(
      "Search failed: the provider 'fixed' returned no list of results",
    );
    expect(
      (
        await search({ name: "stuck", search: () => new Promise(() => undefined) }, "x", {
          timeoutMs: 20,
        })
      ).errorMessage,
    ).to.equal("Search failed: it took longer than 20 ms");
    expect(
      (await callTool(webSearchTool({ provider: fixed([]) }), {} as never)).errorMessage,
    ).to.match(/^Invalid arguments: missing/);
  });

  it("ends with its signal, and passes on configuration errors", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 10);
    const stuck: SearchProvider = { name: "stuck", search: () => new Promise(() => undefined) };
    expect(
      await rejection(
        callTool(webSearchTool({ provider: stuck }), { query: "x" }, controller.signal),
      ),
    ).to.equal(reason);
    const wrong = new ToolConfigurationError("no key");
    expect(
      await rejection(search({ name: "wrong", search: () => Promise.reject(wrong) })),
    ).to.equal(wrong);
  });

  for (const [what, options] of [
    ["no provider", {}],
    ["a function", { provider: () => [] }],
    ["a provider without a name", { provider: { search: () => [] } }],
    ["a limit of 0 results", { provider: fixed([]), maxResults: 0 }],
    ["a time limit of 0", { provider: fixed([]), timeoutMs: -1 }],
    ["an unknown option", { provider: fixed([]), limit: 3 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => webSearchTool(options as never)).to.throw(ValidationError)); // wrong on purpose
  }
});

describe("search services", () => {
  let site: LoopbackSite;
  let reply = page("{}", "application/json");

  before(async () => {
    const answer: typeof reply = (request, response, body) => reply(request, response, body);
    site = await LoopbackSite.start({
      "/search": answer,
      "/search.json": answer,
      "/res/v1/web/search": answer,
      "/base/search": answer,
    });
  });
  after(() => site.close());
  beforeEach(() => (site.requests.length = 0));

  const entry = {
    title: "Oslo",
    url: "https://oslo.example/",
    content: "A",
    link: "https://oslo.example/",
    snippet: "A",
    description: "A",
  };
  const services: readonly (readonly [string, string, () => SearchProvider, unknown])[] = [
    [
      "tavily",
      "Tavily API",
      () => tavily({ apiKey: KEY, baseURL: site.url("/") }),
      { results: [entry] },
    ],
    [
      "serpApi",
      "SerpAPI",
      () => serpApi({ apiKey: KEY, baseURL: site.url("") }),
      { organic_results: [entry] },
    ],
    [
      "brave",
      "Brave Search API",
      () => brave({ apiKey: KEY, baseURL: site.url("") }),
      { web: { results: [entry] } },
    ],
    [
      "searxng",
      "SearXNG",
      () => searxng({ baseURL: site.url(""), headers: { authorization: `Bearer ${KEY}` } }),
      { results: [entry] },
    ],
  ];

  for (const [name, label, create, answer] of services) {
    describe(name, () => {
      it("return results", async () => {
        reply = page(JSON.stringify(answer), "application/json");
        const result = await search(create(), "oslo & fjord");
        expect(result.output).to.equal("1. Oslo\n   URL: https://oslo.example/\n   A");
        const [request] = site.requests;
        expect(`${request?.url ?? ""}${request?.body ?? ""}`).to.match(
          /oslo(%20|\+| )(%26|&)(%20|\+| )fjord/,
        );
      });

      it("returns no results if the service returns none", async () => {
        reply = page("{}", "application/json");
        expect((await search(create())).output).to.equal("No results found.");
      });

      it("removes its key from errors, results and its inspected form", async () => {
        reply = (_request, response) =>
          void response.writeHead(401).end(`bad key ${KEY} ${encodeURIComponent(KEY)}`);
        const { errorMessage } = await search(create());
        expect(errorMessage).to.equal(
          `Search failed: ${label} returned HTTP 401: """bad key [redacted] [redacted]"""`,
        );
        for (const broken of [
          page("no JSON", "text/html"),
          page('"text"', "application/json"),
          page(JSON.stringify({ results: 1, organic_results: 1, web: { results: 1 } })),
        ]) {
          reply = broken;
          const failed = await search(create());
          expect(failed.ok).to.equal(false);
          expect(inspect(failed, { depth: 9 })).to.not.include("secret");
        }
        expect(inspect(create(), { depth: 9, showHidden: true })).to.not.include("secret");
        reply = (request) => void request.socket.destroy();
        expect(inspect(await search(create()), { depth: 9 })).to.not.include("secret");
      });

      it("follows no redirect", async () => {
        reply = redirect(302, "http://127.0.0.3/");
        expect((await search(create())).errorMessage).to.equal(
          `Search failed: ${label} returned HTTP 302`,
        );
        expect(site.requests).to.have.length(1);
      });
    });
  }

  it("cut and mark the answer of a failing service", async () => {
    reply = (_request, response) =>
      void response.writeHead(500).end(`one\ntwo """ three ${"x".repeat(10_000)}`);
    const { errorMessage = "" } = await search(tavily({ apiKey: KEY, baseURL: site.url("") }));
    expect(errorMessage)
      .to.include("HTTP 500: \"\"\"one two ''' three xxx")
      .and.match(/x\.\.\. \[truncated\]"""$/);
    expect(errorMessage.length).to.be.lessThan(2_200);
  });

  it("send their keys in headers, and the query", async () => {
    reply = page("{}", "application/json");
    await search(tavily({ apiKey: KEY, baseURL: site.url(""), searchDepth: "advanced" }));
    await search(brave({ apiKey: KEY, baseURL: site.url("") }), "oslo", { maxResults: 50 });
    await search(searxng({ baseURL: site.url("/base/"), headers: { "x-team": "a" } }));
    await search(serpApi({ apiKey: KEY, baseURL: site.url(""), engine: "bing" }), "oslo", {
      maxResults: 3,
    });
    const [first, second, third, fourth] = site.requests;
    expect(first).to.deep.include({
      method: "POST",
      url: "/search",
      body: '{"query":"oslo","search_depth":"advanced","max_results":5}',
    });
    expect(first?.headers.authorization).to.equal(`Bearer ${KEY}`);
    expect(second?.headers["x-subscription-token"]).to.equal(KEY);
    expect(second?.url).to.include("count=20");
    expect(third?.headers["x-team"]).to.equal("a");
    expect(third?.url).to.equal("/base/search?q=oslo&format=json");
    expect(fourth?.url).to.equal(
      `/search.json?engine=bing&q=oslo&num=3&api_key=${encodeURIComponent(KEY)}`,
    );
    expect([first, second].map((request) => request?.url).join()).to.not.include("secret");
  });

  for (const [what, create] of [
    ["a blank key", () => tavily({ apiKey: " " })],
    ["a key of two lines", () => brave({ apiKey: "a\nb" })],
    ["no key", () => serpApi({} as never)],
    ["an invalid depth", () => tavily({ apiKey: KEY, searchDepth: "deep" as never })],
    ["a blank engine", () => serpApi({ apiKey: KEY, engine: "" })],
    ["no URL", () => searxng({} as never)],
    ["a URL with a password", () => searxng({ baseURL: "http://user:secret@search.example/" })],
    ["an invalid URL", () => brave({ apiKey: KEY, baseURL: "search.example" })],
    [
      "a header that may not be sent",
      () => searxng({ baseURL: "http://search.example", headers: { host: "x" } }),
    ],
    ["an unknown option", () => tavily({ apiKey: KEY, key: KEY } as never)],
  ] as const) {
    it(`refuse ${what}, and do not show it`, () =>
      expect(create)
        .to.throw(ValidationError)
        .with.property("message")
        .that.does.not.include("secret"));
  }
});
