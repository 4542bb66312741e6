const payload = 'x'.repeat(250_000)
const manyKeys = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key${i}`, i]))
const manyNumbers = Array.from({ length: 100_000 }, (_, i) => i % 10)
const escapes = '\\"\u0001'.repeat(25_000)
const deep = JSON.parse('['.repeat(28) + ']'.repeat(28))

/** Values that fill a body of 256 KiB, each in another way. The first is a text. */
export const worstValues: readonly [string, ...unknown[]] = [
  payload,
  manyKeys,
  manyNumbers,
  escapes,
  Array(4_000).fill(deep),
]

type Body = Record<string, unknown>

/**
 * Returns bodies of a request: a valid one, ones with long lists, and ones in which a member has each of the worst values.
 * @param main - The member that may hold any value.
 */
export function bodiesOf(valid: Body, main: string): Body[] {
  const members = [...new Set([...Object.keys(valid), 'an_unknown_member'])]
  const others = members.filter(name => name !== main)
  return [
    valid,
    ...Object.entries(valid).flatMap(([name, value]) =>
      (Array.isArray(value) ? listsOf(value[0]) : []).map(list => ({ ...valid, [name]: list })),
    ),
    ...worstValues.map(value => ({ ...valid, [main]: value })),
    ...others.flatMap(name => [payload, manyKeys].map(value => ({ ...valid, [name]: value }))),
  ]
}

function listsOf(item: unknown): unknown[][] {
  const lists = [Array(1_000).fill(item)]
  // A batch has up to 5 MiB.
  return typeof item === 'object' ? [...lists, Array(20).fill({ ...item, payload })] : lists
}
