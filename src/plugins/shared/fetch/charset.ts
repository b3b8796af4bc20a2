/** Number of bytes that are searched for the `meta` element of a page. */
const META_BYTES = 1_024;
const META_CHARSET = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;

function fromHeader(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType)?.[1];
}

function fromMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined;
}

function fromMeta(bytes: Uint8Array): string | undefined {
  const found = META_CHARSET.exec(
    new TextDecoder("latin1").decode(bytes.subarray(0, META_BYTES)),
  )?.[1];
  // The meta element was readable as ASCII, so the page is not UTF-16, even if it declares UTF-16.
  return found?.toLowerCase().startsWith("utf-16") === true ? "utf-8" : found;
}

function isKnown(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

/**
 * Decodes a body. The encoding comes from the byte order mark, the content type, or the `meta`
 * element of a page. Default: UTF-8.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const label = fromMark(bytes) ?? fromHeader(contentType) ?? fromMeta(bytes);
  // An unknown name means UTF-8, as in browsers: invalid bytes become U+FFFD.
  return new TextDecoder(label !== undefined && isKnown(label) ? label : "utf-8").decode(bytes);
}
