import { expect } from "chai";
import { EventEmitter, once } from "node:events";
import type { McpHttpEndpoint, McpServer } from "agentensemble/mcp";
import { offeringServer } from "../../../support/mcp-offers.js";
import { rejection } from "../../../support/rejection.js";
import { CLIENTS, stdioProgram, type Step, type TestClient } from "./clients.js";

const textOf = ({ content }: { readonly content: readonly { readonly text?: string }[] }): string =>
  content.map(({ text }) => text).join("|");

for (const [kind, connect] of Object.entries(CLIENTS)) {
  for (const transport of ["HTTP", "stdio"] as const) {
    describe(`an MCP server over ${transport}, called by the ${kind}`, () => {
      const notes = new EventEmitter();
      let server: McpServer;
      let endpoint: McpHttpEndpoint | undefined;
      let client: TestClient;

      before(async () => {
        server = offeringServer({}, (what) => notes.emit(what));
        if (transport === "HTTP") endpoint = await server.http();
        client = await connect(
          endpoint === undefined ? { program: stdioProgram } : { url: endpoint.url },
        );
      });
      after(async () => {
        await client.close();
        await server.close();
      });

      it("describes itself and its use", () => {
        expect(client.serverName).to.equal("offers");
        expect(client.instructions).to.equal("Ask nicely.");
      });

      it("lists tools and tasks with their schemas", async () => {
        const tools = new Map((await client.list()).map((t) => [t.name, t]));
        expect([...tools.keys()]).to.deep.equal([
          "shout",
          "add",
          "locate",
          "break",
          "refuse",
          "wait",
          "greet",
          "weather_report",
          "thank",
        ]);
        expect(tools.get("shout")?.inputSchema).to.deep.equal({
          type: "object",
          properties: { input: { type: "string" } },
          required: ["input"],
        });
        expect(tools.get("add")?.inputSchema).to.deep.include({
          type: "object",
          required: ["a", "b"],
        });
        expect(tools.get("weather_report")?.inputSchema).to.deep.include({
          required: ["place", "tower"],
        });
        expect(tools.get("weather_report")?.description).to.equal(
          "Report the weather in {place}\n\nAs seen from {tower}",
        );
        expect(tools.get("weather_report")?.outputSchema).to.deep.include({
          type: "object",
          required: ["place", "degrees"],
        });
        expect(tools.get("thank")?.inputSchema).to.deep.include({ required: ["name"] });
        expect(tools.get("greet")).to.not.have.property("outputSchema");
      });

      it("calls tools: text, and its value if it is an object", async () => {
        expect(await client.call("shout", { input: "hi {there}" })).to.deep.include({
          content: [{ type: "text", text: "HI {THERE}" }],
        });
        const sum = await client.call("add", { a: 2, b: 3 });
        expect(textOf(sum)).to.equal("The sum is 5");
        expect(sum.structuredContent).to.deep.equal({ sum: 5 });
        expect((await client.call("locate", { city: "Husum" })).structuredContent).to.deep.equal({
          city: "Husum",
          at: [53, 10],
        });
      });

      it("runs tasks: with their variables, by a model, and after the tasks of their context", async () => {
        expect(textOf(await client.call("greet", { name: "Ann" }))).to.equal("Hello, Ann");
        const report = await client.call("weather_report", { place: "Husum", tower: "the church" });
        expect(report.structuredContent).to.deep.equal({ place: "Husum", degrees: 11 });
        expect(textOf(await client.call("thank", { name: "Ann" }))).to.equal(
          'Thanks for "Hello, Ann"',
        );
      });

      it("returns failures as results that a model can read, without secrets", async () => {
        const broken = await client.call("break", { input: "" });
        expect(broken.isError).to.equal(true);
        expect(textOf(broken)).to.equal(
          "The file is locked, password=[redacted] at https://[redacted]@example.test",
        );
        expect(await client.call("refuse", { input: "" })).to.deep.include({
          isError: true,
          content: [{ type: "text", text: "Not today" }],
        });
      });

      it("refuses invalid input, and names the problem", async () => {
        for (const [name, args, part] of [
          ["add", { a: 2, b: "three" }, "b: "],
          ["locate", { city: "X" }, "city"],
          ["locate", { city: "Husum", zoom: 1.5 }, "zoom"],
          ["shout", { text: "hi" }, "input"],
          ["greet", { name: 7 }, "name"],
          ["greet", { name: "Ann", nam: "Ann" }, "nam"],
        ] as const) {
          const refused = await client.call(name, args);
          expect(refused.isError, name).to.equal(true);
          expect(textOf(refused)).to.include(`Invalid input for tool '${name}'`).and.include(part);
        }
      });

      it("answers a call of an unknown tool with the protocol's error", async () => {
        expect(await rejection(client.call("nope", {}))).to.have.property("code", -32_602);
      });

      it("reports progress on request", async () => {
        const steps: Step[] = [];
        await client.call(
          "weather_report",
          { place: "Husum", tower: "the church" },
          { onprogress: (step) => steps.push(step) },
        );
        // A client drops steps that arrive in one piece with the result. A separate test with
        // another transport checks the sent steps.
        expect(steps.map(({ progress }) => progress)).to.deep.equal([1, 2].slice(0, steps.length));
        for (const { message } of steps) expect(message).to.match(/^Task 'weather report' /);
      });

      it("executes calls concurrently", async () => {
        const sums = await Promise.all(
          Array.from({ length: 20 }, (_, i) => client.call("add", { a: i, b: i })),
        );
        expect(sums.map(({ structuredContent }) => structuredContent)).to.deep.equal(
          Array.from({ length: 20 }, (_, i) => ({ sum: 2 * i })),
        );
      });

      it("ends a call that the client cancels, and continues serving", async () => {
        const cancel = new AbortController();
        const started = transport === "HTTP" ? once(notes, "started cancelled") : undefined;
        const ended = transport === "HTTP" ? once(notes, "ended cancelled") : undefined;
        let reported: () => void = () => undefined;
        const running = new Promise<void>((resolve) => (reported = resolve));
        const call = rejection(
          client.call(
            "wait",
            { input: "cancelled" },
            { signal: cancel.signal, onprogress: () => reported() },
          ),
        );
        await started;
        await running;
        cancel.abort();
        expect(await call).to.be.instanceOf(Error);
        await ended;
        expect(textOf(await client.call("shout", { input: "on" }))).to.equal("ON");
      });
    });
  }
}
