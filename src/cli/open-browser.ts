import { spawn } from "node:child_process";

/** The command that opens an address, by platform. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a page in the browser of the user. Returns whether a command was started. Omits the
 * fragment, because other users of the machine can read the arguments of a command.
 */
export function openInBrowser(page: string): Promise<boolean> {
  const url = new URL(page);
  url.hash = "";
  const [command = "", ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url.href], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false)); // no such command
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
