const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Reads the UUID in a public id such as `task_01h...`. Written again here, so that the product does not check itself. */
export function uuidOf(id: string): string {
  let value = 0n
  for (const character of id.slice(id.indexOf('_') + 1)) value = value * 32n + BigInt(alphabet.indexOf(character))
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
