// A program that serves over stdio, for tests that start it. The events of its tools are written to
// standard error.
import { offeringServer } from "./mcp-offers.js";

console.log("this is not protocol"); // before serving: to standard output, as any program may
const server = offeringServer({}, (what) => {
  console.log(what); // while serving: must not reach the protocol
});
await server.stdio();
await server.close();
console.log("served");
