// Pages of a dashboard, in another process than the measured process. They read all received data
// until they are paused.
import { WebSocket } from "ws";

/**
 * A message of the measured process: open pages, show a run, stop reading, or wait for an entry.
 */
type Order =
  | { readonly url: string; readonly pages: number }
  | { readonly runId: string }
  | { readonly isReading: false }
  | { readonly last: number };

const sockets: WebSocket[] = [];
let reached: number[] = [];
let last = Number.POSITIVE_INFINITY;

function report(): void {
  if (sockets.length === 0 || reached.some((to) => to < last)) return;
  last = Number.POSITIVE_INFINITY; // once
  process.send?.("reached");
}

function open(url: string, index: number): Promise<void> {
  const origin = new URL(url).origin;
  const socket = new WebSocket(`${url.replace("http", "ws")}ws`, ["agentensemble.v1"], { origin });
  sockets.push(socket);
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (data: Buffer) => {
      const head = data.toString("utf8", 0, 200);
      if (head.startsWith('{"type":"hello"')) resolve();
      const to = /^\{"type":"events","runId":"[^"]*","to":(\d+)/.exec(head)?.[1];
      if (to === undefined) return;
      reached[index] = Number(to);
      if (Number(to) >= last) report();
    });
  });
}

async function obey(order: Order): Promise<void> {
  if ("url" in order) {
    for (const socket of sockets.splice(0)) socket.terminate();
    await Promise.all(Array.from({ length: order.pages }, (_, i) => open(order.url, i)));
    process.send?.("open");
  } else if ("runId" in order) {
    reached = sockets.map(() => -1);
    last = Number.POSITIVE_INFINITY;
    for (const socket of sockets)
      socket.send(JSON.stringify({ type: "subscribe", runId: order.runId }));
    process.send?.("subscribed");
  } else if ("isReading" in order) {
    for (const socket of sockets) socket.pause();
    process.send?.("paused");
  } else {
    last = order.last;
    report();
  }
}

process.on("message", (order: Order) => void obey(order));
