/** Returns a random key, even without `crypto.randomUUID` (Node 18 without flags, insecure pages). */
export function newIdempotencyKey(): string {
  const bytes =
    globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? Array.from({ length: 16 }, () => Math.random() * 256)
  return Array.from(bytes, byte => Math.floor(byte).toString(16).padStart(2, '0')).join('')
}
