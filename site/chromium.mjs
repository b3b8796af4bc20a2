import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)("playwright-core"); // of the root
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts an installed Chromium. @throws Error where there is none. */
export function startChromium() {
  const executablePath = [process.env.AE_CHROMIUM, ...PLACES].find((path) => path && existsSync(path));
  if (executablePath === undefined) throw new Error("Chromium is not installed; AE_CHROMIUM names it");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
