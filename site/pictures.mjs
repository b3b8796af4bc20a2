// Draws docs/pictures/*.mmd, texts in the language of Mermaid, as SVG files beside them, in an installed Chromium. Run it after a change of a text:
// `npm run pictures --prefix site`.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startChromium } from "./chromium.mjs";

const mermaid = readFileSync(fileURLToPath(new URL("node_modules/mermaid/dist/mermaid.min.js", import.meta.url)), "utf8");
const folder = fileURLToPath(new URL("../docs/pictures/", import.meta.url));

const browser = await startChromium();
const page = await browser.newPage();
await page.setContent("<!doctype html><body></body>");
await page.addScriptTag({ content: mermaid });
for (const file of readdirSync(folder).filter((name) => name.endsWith(".mmd"))) {
  const text = readFileSync(folder + file, "utf8");
  const svg = await page.evaluate(
    async ([id, source]) => {
      // Labels as SVG texts: an <img> shows no HTML. The font of the reader's system.
      globalThis.mermaid.initialize({ startOnLoad: false, theme: "neutral", look: "classic", wrap: false, htmlLabels: false, flowchart: { htmlLabels: false, wrappingWidth: 600 }, fontFamily: "sans-serif", deterministicIds: true });
      return (await globalThis.mermaid.render(id, source)).svg;
    },
    [file.replace(/\W/g, "-"), text],
  );
  // White behind it, for pages in dark colours.
  const drawn = svg.replaceAll(/ data-points="[^"]*"/g, "").replace(/^<svg [^>]*>/, (start) => `${start}<rect x="-9999" y="-9999" width="99999" height="99999" fill="white"/>`);
  writeFileSync(folder + file.replace(/mmd$/, "svg"), `${drawn}\n`);
  console.log(file);
}
await browser.close();
