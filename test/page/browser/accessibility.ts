import axe from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Fails if axe finds a problem of WCAG 2 A and AA, in dark or light colours. Turns off the page's
 * policy, because axe is a script of another origin.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.evaluate(axe.source);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" }); // no colour transitions
    expect(await findingsOf(page), `${name}, ${colorScheme}`).to.deep.equal([]);
  }
  await page.emulateMedia({ reducedMotion: null });
}

async function findingsOf(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate<readonly Finding[]>(
    `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] })
      .then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** Texts below 11 px, which are hard to read. */
export function smallTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`[...document.querySelectorAll("body *")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ""))
    .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 11)
    .map((element) => element.outerHTML.slice(0, 120))`);
}
