import { expect } from "chai";
import type {
  WebPage,
  WebScraperToolOptions,
} from "../../../../src/plugins/tools/web/web-scraper-tool.js";
import type { ToolResult } from "../../../../src/contracts/tool-result.js";
import { ToolConfigurationError, ValidationError } from "../../../../src/contracts/errors.js";
import { toolContract } from "../../../../src/plugins/testing/index.js";
import { pageTextOf } from "../../../../src/plugins/tools/web/page-text.js";
import { webScraperTool } from "../../../../src/plugins/tools/web/web-scraper-tool.js";
import { LoopbackSite, page, redirect } from "../../../support/loopback-site.js";
import { rejection } from "../../../support/rejection.js";
import { SELF_SIGNED } from "../../../support/self-signed.js";
import { callTool } from "./tool-call.js";
import { pause } from "../../../support/time.js";

const ARTICLE = `<!doctype html><html><head><title>T</title><style>p { color: red }</style></head><body>
  <header>Top</header><nav><a href="/">Menu</a></nav>
  <h1>Oslo &amp; more</h1><p>The   <b>capital</b>
  of <a href="/norway?a=(1)">Norway</a>, see <a href="javascript:alert(1)">this</a>.</p>
  <table><tr><th>Name</th><th>Size</th></tr><tr><td>Oslo</td><td>700000</td></tr></table>
  <ul><li>one<li>two</ul><script>document.write("<div>")</script><img src="x.png" alt="x"><footer>Bottom</footer></body></html>`;

describe("webScraperTool", () => {
  let site: LoopbackSite;
  before(async function () {
    if (import.meta.url.endsWith(".ts")) this.skip(); // pages are read in a thread, and a thread starts from the compiled file
    site = await LoopbackSite.start({
      "/": page(ARTICLE),
      "/text": page("plain   text\n", "text/plain"),
      "/json": page('{"a":1}', "application/json"),
      "/image": page("x", "image/png"),
      "/latin": page(Buffer.from("<p>caf\xe9", "latin1"), "text/html; charset=iso-8859-1"),
      "/long": page(`<p>${"word ".repeat(5_000)}`),
      "/smiley": page("abc\u{1f600}def", "text/plain"),
      "/deep": page(`${"<div>".repeat(1_000)}deep text`),
      "/beyond-the-stack": page("<div>".repeat(20_000)),
      "/deeper": page("<div>".repeat(1_000_000)),
      "/tags": page("<p><b id=1></p>".repeat(100_000)),
      "/cells": page(
        "<table><tr>" + "<td colspan=100000000 rowspan=100000000>x".repeat(100) + "</table>",
      ),
      "/entities": page("&amp;".repeat(200_000)),
      "/unclosed": page(`<p>text ${"<a <b <c ".repeat(20_000)}`),
      "/comment": page(`<p>before<!--${"<!--".repeat(100_000)}`),
      "/attributes": page(`<p ${"a='b' ".repeat(100_000)}>text`),
      "/away": redirect(302, "http://127.0.0.3/"),
      "/moved": redirect(301, "/"),
      "/silent": () => undefined,
    });
  });
  after(() => (site as LoopbackSite | undefined)?.close()); // none where all are skipped
  beforeEach(() => (site.requests.length = 0));

  const scrape = (path: string, o: WebScraperToolOptions = {}): Promise<ToolResult> =>
    callTool(webScraperTool({ allow: { hosts: [site.host] }, ...o }), {
      url: path.includes(":") ? path : site.url(path),
    });

  toolContract("web_scrape", {
    create: () => webScraperTool({ allow: { hosts: [site.host] } }),
    valid: [{ get url() { return site.url("/text"); } }], // prettier-ignore
    invalid: [{}, { url: 1 }, { url: "x", depth: 3 }] as never,
    failing: [{ url: " " }, { url: "http://127.0.0.3/" }, { url: "nonsense" }],
  });

  it("declares its effect", () => {
    expect(webScraperTool()).to.include({ name: "web_scrape", untrusted: true, effect: "read" });
  });

  it("returns the main text of a page", async () => {
    const result = await scrape("/");
    expect(result.output).to.equal(
      "Oslo & more\n\nThe capital of Norway, see this.\n\nName | Size\nOslo | 700000\n\n * one\n * two",
    );
    expect(result.structured).to.deep.equal({
      url: site.url("/"),
      status: 200,
      contentType: "text/html",
      truncated: false,
    } satisfies WebPage);
    expect(site.requests[0]?.headers["user-agent"]).to.equal("AgentEnsemble-WebScraper/1.0");
  });

  it("returns the text as Markdown, with absolute links", async () => {
    const { output } = await scrape("/moved", { format: "markdown" });
    expect(output)
      .to.include("# Oslo & more\n\nThe **capital** of [Norway](")
      .and.include("norway?a=%281%29), see this.")
      .and.include("| Name | Size");
    expect(output).to.not.match(/javascript|Menu|Top|Bottom|document|png/);
  });

  it("returns text and JSON unchanged", async () => {
    expect((await scrape("/text")).output).to.equal("plain   text");
    expect((await scrape("/json")).output).to.equal('{"a":1}');
    expect((await scrape("/latin")).output).to.equal("café");
  });

  it("cuts long texts, and reports this", async () => {
    const result = await scrape("/long");
    expect(result.output)
      .to.have.length(5_000 + "… [truncated at 5000 chars]".length)
      .and.match(/… \[truncated at 5000 chars\]$/);
    expect(result.structured).to.include({ truncated: true });
    expect((await scrape("/text", { maxContentLength: 5 })).output).to.equal(
      "plain… [truncated at 5 chars]",
    );
    expect((await scrape("/text", { maxContentLength: 12 })).output).to.equal("plain   text");
    expect((await scrape("/smiley", { maxContentLength: 4 })).output).to.equal(
      "abc… [truncated at 4 chars]",
    );
  });

  it("reads no more than maxBytes", async () => {
    const result = await scrape("/text", { maxBytes: 7 });
    expect([result.output, (result.structured as WebPage).truncated]).to.deep.equal([
      "plain",
      true,
    ]);
  });

  it("reports failures as texts", async () => {
    expect((await scrape("/missing?key=secret")).errorMessage).to.equal(
      `Failed to fetch URL: HTTP 404 from ${site.url("/missing")}?...`,
    );
    expect((await callTool(webScraperTool(), { url: "  " })).errorMessage).to.equal(
      "URL must not be blank",
    );
    expect((await callTool(webScraperTool(), { url: site.url("/") })).errorMessage).to.match(
      /^Failed to fetch URL: Access to .* is not allowed/,
    );
    expect((await scrape("/away")).errorMessage).to.match(
      /^Failed to fetch URL: Access to http:\/\/127\.0\.0\.3\/ is not allowed/,
    );
    expect((await scrape("/image")).errorMessage).to.include("'image/png'");
    expect((await scrape("/silent", { timeoutMs: 50 })).errorMessage).to.match(
      /^Failed to fetch URL: .*took longer than 50 ms/,
    );
    expect((await scrape("ftp://127.0.0.3/")).errorMessage).to.include("only http and https");
    expect((await scrape("/moved", { maxRedirects: 0 })).errorMessage).to.include(
      "more than 0 redirects",
    );
  });

  it("fetches only addresses that its options allow", async () => {
    expect((await scrape("/text", { onlyHosts: ["example.com"] })).ok).to.equal(false);
    expect((await scrape("/text", { denyHosts: ["127.0.0.1"] })).ok).to.equal(false);
    const named = {
      allow: { addresses: ["127.0.0.1"] },
      ports: [site.port],
      lookup: () => ["127.0.0.1"],
    };
    expect((await scrape(`http://named.example:${site.port}/text`, named)).ok).to.equal(true);
    await scrape("/text", { headers: { "accept-language": "no" } });
    expect(site.requests.at(-1)?.headers["accept-language"]).to.equal("no");
    const secure = await LoopbackSite.start({ "/": page("safe", "text/plain") }, { secure: true });
    const o = { allow: { hosts: [`localhost:${secure.port}`] }, lookup: () => ["127.0.0.1"] };
    expect(
      (await scrape(`https://localhost:${secure.port}/`, { ...o, ca: SELF_SIGNED.cert })).output,
    ).to.equal("safe");
    expect((await scrape(`https://localhost:${secure.port}/`, o)).ok).to.equal(false);
    await secure.close();
  });

  describe("with hostile pages", () => {
    for (const format of ["text", "markdown"] as const) {
      it(`reads deeply nested elements (${format})`, async () => {
        expect((await scrape("/deep", { format })).output).to.equal("deep text");
      });

      it(`refuses a million nested elements at its limits (${format})`, async () => {
        let ticks = 0;
        const timer = setInterval(() => ticks++, 5);
        const result = await scrape("/deeper", { format, timeoutMs: 2_000 });
        clearInterval(timer);
        expect(ticks).to.be.greaterThan(3);
        expect(result.errorMessage).to.match(
          /^Failed to fetch URL: (it took longer|the page can't be read)/,
        );
      });

      for (const path of ["/tags", "/cells", "/entities", "/unclosed", "/comment", "/attributes"]) {
        it(`ends in time without blocking the event loop (${format} of ${path})`, async () => {
          let ticks = 0;
          const timer = setInterval(() => ticks++, 5);
          const result = await scrape(path, { format, timeoutMs: 1_500 });
          clearInterval(timer);
          expect(ticks).to.be.greaterThan(3);
          if (!result.ok)
            expect(result.errorMessage).to.match(
              /^Failed to fetch URL: (it took longer|the page can't be read)/,
            );
        });
      }
    }

    it("refuses a page that overflows the stack of its thread", async () => {
      expect((await scrape("/beyond-the-stack")).errorMessage).to.equal(
        "Failed to fetch URL: the page can't be read: it can't be parsed (Maximum call stack size exceeded)",
      );
    });

    it("ends with its signal while a page is being read", async () => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const tool = webScraperTool({ allow: { hosts: [site.host] }, format: "markdown" });
      setTimeout(() => controller.abort(reason), 150);
      expect(
        await rejection(callTool(tool, { url: site.url("/tags") }, controller.signal)),
      ).to.equal(reason);
    });

    it("leaves no thread", async () => {
      while (process.getActiveResourcesInfo().includes("MessagePort")) await pause(5); // until the test's time is over
    });
  });

  it("names the missing package", () => {
    const missing = (format: "text" | "markdown") => () =>
      pageTextOf({ kind: "missing", message: "Cannot find package" }, { format });
    expect(missing("text"))
      .to.throw(ToolConfigurationError)
      .with.property("hint", "Run: npm install html-to-text");
    expect(missing("markdown"))
      .to.throw(ToolConfigurationError)
      .with.property("hint", "Run: npm install turndown");
  });

  for (const [what, options] of [
    ["a length of 0", { maxContentLength: 0 }],
    ["another format", { format: "html" }],
    ["a time limit of 0", { timeoutMs: 0 }],
    ["a fixed option", { contentTypes: ["image/png"] }],
    ["an unknown option", { maxLength: 5 }],
    ["an invalid allowed host", { allow: { hosts: ["http://x"] } }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => webScraperTool(options as WebScraperToolOptions)).to.throw(ValidationError)); // wrong on purpose
  }
});
