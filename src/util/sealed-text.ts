import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text with AES-256-GCM. `place` must be equal for decryption. `key` has 32 bytes. */
export function sealedText(text: string, key: Buffer, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  cipher.setAAD(Buffer.from(place));
  const content = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([nonce, ...content, cipher.getAuthTag()]).toString("base64url");
}

/** Reverses {@link sealedText}. @throws Error for another key, another place, or a changed text. */
export function openedText(sealed: string, key: Buffer, place: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const content = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
  return Buffer.concat([decipher.update(content), decipher.final()]).toString("utf8");
}
