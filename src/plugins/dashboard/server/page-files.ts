import { readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpRoute } from "../../../contracts/http-route.js";
import { asFields } from "../../../util/objects.js";

const MEDIA_TYPES: Readonly<Record<string, string>> = Object.freeze({
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
});
/**
 * The folders of the entry points of a bundle, of its shared chunks, and of the compiled sources.
 */
const FOLDERS = ["dashboard/page", "../dashboard/page", "../../../../bundle/dashboard/page"];
const NOT_BUILT =
  "The page of the dashboard is not built. Run `npm run build` in the source tree; the API works without it.\n";

/** A file of the page for browsers. It contains no data of runs. */
interface PageFile {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly packed: Buffer<ArrayBuffer>;
  readonly mediaType: string;
}

/**
 * Returns the routes of the page below `basePath`. The manifest of the page lists the files, which
 * are read once. There are no other paths. Without a built page, `/` returns 503.
 */
export async function pageRoutes(
  basePath: string,
  folders: readonly string[] = foldersOfPage(),
): Promise<readonly HttpRoute[]> {
  const files = await readPageFiles(folders);
  const routes = [...(files ?? [])].map(([path, file]) =>
    publicRoute(`${basePath}${path}`, (request) => fileAnswer(file, request)),
  );
  if (files?.has("/") !== true)
    routes.push(publicRoute(`${basePath}/`, () => new Response(NOT_BUILT, { status: 503 })));
  if (basePath !== "")
    routes.push(
      publicRoute(
        basePath,
        () => new Response(null, { status: 308, headers: { Location: `${basePath}/` } }),
      ),
    );
  return routes;
}

function publicRoute(path: string, handle: (request: Request) => Response): HttpRoute {
  return { method: "GET", path, role: "public", handle };
}

function foldersOfPage(): readonly string[] {
  const here = dirname(fileURLToPath(import.meta.url));
  return FOLDERS.map((folder) => join(here, folder));
}

async function readPageFiles(
  folders: readonly string[],
): Promise<ReadonlyMap<string, PageFile> | undefined> {
  for (const folder of folders) {
    const manifest = await readFile(join(folder, "manifest.json"), "utf8").catch(() => undefined);
    if (manifest === undefined) continue;
    const files = asFields(asFields(JSON.parse(manifest))?.["files"]) ?? {};
    const read = Object.entries(files).map(
      async ([path, name]) => [path, await pageFile(join(folder, String(name)))] as const,
    );
    return new Map(await Promise.all(read));
  }
  return undefined;
}

async function pageFile(path: string): Promise<PageFile> {
  const bytes = await readFile(path);
  const packed = await promisify(gzip)(bytes);
  const mediaType = MEDIA_TYPES[extname(path)] ?? "application/octet-stream";
  return { bytes: Buffer.from(bytes), packed: Buffer.from(packed), mediaType };
}

function fileAnswer({ bytes, packed, mediaType }: PageFile, request: Request): Response {
  const isPacked = acceptsGzip(request);
  return new Response(isPacked ? packed : bytes, {
    headers: {
      "Content-Type": mediaType,
      Vary: "Accept-Encoding",
      ...(isPacked && { "Content-Encoding": "gzip" }),
    },
  });
}

/** Returns whether an answer may be compressed. */
export function acceptsGzip(request: Request): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    request.headers.get("accept-encoding") ?? "",
  );
}
