/**
 * Entry of a worker thread that converts a page into text. Conversion can be slow or crash on
 * malicious pages.
 */
import type Turndown from "turndown";
import type { PageReply, PageTask, PageTextRequest } from "./page-text.js";
import { parentPort, workerData } from "node:worker_threads";

import { importOptional } from "../../../util/import-optional.js";
import { messageOf } from "../../../util/errors.js";

/** Elements without readable content. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["script", "style", "nav", "footer", "header", "noscript", "template", "title"],
  ...["iframe", "object", "svg", "math", "canvas", "img", "video", "audio"],
]);

type Convert = (request: PageTextRequest) => string;

/** The part of html-to-text that is used. */
interface HtmlToText {
  convert(
    html: string,
    options: {
      readonly wordwrap: false;
      readonly limits: { readonly maxInputLength: number };
      readonly selectors: readonly {
        readonly selector: string;
        readonly format?: string;
        readonly options?: object;
      }[];
    },
  ): string;
}

async function loadText(address: string): Promise<Convert> {
  const { convert } = await importOptional<HtmlToText>(address); // the package has no types
  const selectors = [
    { selector: "a", options: { ignoreHref: true } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...["td", "th"].map((selector) => ({
      selector,
      format: "inlineSurround",
      options: { suffix: " | " },
    })),
    ...[...LEFT_OUT].map((selector) => ({ selector, format: "skip" })),
  ];
  return ({ html }) =>
    convert(html, {
      wordwrap: false,
      limits: { maxInputLength: html.length },
      selectors,
    });
}

/** The part of an element that is used. */
interface PageElement {
  readonly nodeName: string;
  getAttribute(name: string): string | null;
}

async function loadMarkdown(address: string): Promise<Convert> {
  const { default: TurndownService } = await importOptional<{ readonly default: typeof Turndown }>(
    address,
  );
  return ({ html, url }) => {
    const service = new TurndownService({
      headingStyle: "atx",
      codeBlockStyle: "fenced",
      bulletListMarker: "-",
    });
    // The package passes only elements here, but its types need those of a browser.
    service.addRule("leftOut", {
      filter: (node) => LEFT_OUT.has((node as PageElement).nodeName.toLowerCase()),
      replacement: () => "",
    });
    service.addRule("link", {
      filter: "a",
      replacement: (content, node) =>
        pageLink(content, (node as PageElement).getAttribute("href"), url),
    });
    service.addRule("cell", {
      filter: ["td", "th"],
      replacement: (content) => `${content.trim().replace(/\s+/g, " ")} | `,
    });
    service.addRule("row", { filter: "tr", replacement: (content) => `\n| ${content.trim()}` });
    return service.turndown(html);
  };
}

/** Returns a link with an absolute address. Returns only the text if there is no usable address. */
function pageLink(content: string, href: string | null, url: string): string {
  const text = content.trim().replace(/\s*\n\s*/g, " ");
  if (href === null || text === "" || !URL.canParse(href, url)) return text;
  const target = new URL(href, url);
  return target.protocol === "http:" || target.protocol === "https:"
    ? `[${text}](${target.href.replaceAll("(", "%28").replaceAll(")", "%29")})`
    : text;
}

/** Reduces blank lines to one and removes trailing white space. */
function tidied(text: string): string {
  return text
    .replace(/[^\S\n]+\|?[^\S\n]*(?=\n|$)/g, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

async function reply(request: PageTask): Promise<PageReply> {
  const { format, limit, converter } = request;
  let convert: Convert;
  try {
    convert = await (format === "markdown" ? loadMarkdown(converter) : loadText(converter));
  } catch (error) {
    return { kind: "missing", message: messageOf(error) };
  }
  const text = tidied(convert(request));
  return { kind: "text", text: text.slice(0, limit), length: text.length };
}

// The thread was started with a request.
parentPort?.postMessage(await reply(workerData as PageTask));
