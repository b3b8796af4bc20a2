import type { AttachmentLimits, ContentPart } from "../../../contracts/content.js";
import type { Fields } from "../../../util/objects.js";
import { attachment, checkParts, partLimits } from "../../../contracts/attachment.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { asFields, asText, isObject } from "../../../util/objects.js";

/**
 * Returns the parts of a user's UI message: its texts, and its files from `data:` addresses. Omits
 * a blank text next to other parts.
 *
 * @throws ValidationError for another role, an unsupported part, or another kind of address. Also
 * for a file whose bytes do not match its type, and for parts beyond the limits.
 */
export function fromUIMessage(
  message: unknown,
  limits: AttachmentLimits = {},
): readonly ContentPart[] {
  const known = partLimits("fromUIMessage", limits);
  const { role, parts } = asFields(message) ?? {};
  if (role !== "user" || !Array.isArray(parts))
    throw new ValidationError(
      `A message of the user must be { id, role: "user", parts: [...] }, got: ${shownUIMessage(message)}`,
    );
  const given = parts as readonly unknown[];
  if (given.length > known.maxParts)
    throw new ValidationError(
      `Message parts must be at most ${known.maxParts} parts, got: ${given.length}`,
    );
  const filled = given.length > 1 ? given.filter((part) => !isBlankPart(part)) : given;
  const { maxBytes, types } = limits;
  const content = filled.map((part) => contentPart(part, { maxBytes, types }));
  if (content.length === 0) throw new ValidationError("A message must not be blank");
  checkParts("Message part", content, known);
  return content;
}

function contentPart(
  part: unknown,
  limits: Pick<AttachmentLimits, "maxBytes" | "types">,
): ContentPart {
  const { type, text, url, mediaType, filename } = asFields(part) ?? {};
  if (type === "text") {
    if (typeof text !== "string" || text.trim() === "")
      throw new ValidationError("A message must not be blank");
    return { type: "text", text };
  }
  if (type !== "file")
    throw new ValidationError(
      `A message of the user has text and files, got a part of type: ${preview(type, 60)}`,
    );
  if (typeof url !== "string" || !/^data:/i.test(url))
    throw new ValidationError(
      `A file of a message must come as a data: address, got: ${preview(asText(url).split(":", 1)[0], 20)}`,
    );
  return attachment.fromUrl(url, {
    ...limits,
    ...(typeof mediaType === "string" && mediaType.trim() !== "" && { mediaType }),
    ...(typeof filename === "string" && filename.trim() !== "" && { name: filename }),
  });
}

function isBlankPart(part: unknown): boolean {
  const { type, text }: Fields = asFields(part) ?? {};
  return type === "text" && typeof text === "string" && text.trim() === "";
}

function shownUIMessage(message: unknown): string {
  return isObject(message)
    ? `an object with the fields ${Object.keys(message).slice(0, 8).join(", ")}`
    : preview(message, 60);
}
