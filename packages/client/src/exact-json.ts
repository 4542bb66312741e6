/**
 * A number of JSON that JavaScript would change, such as 12345678901234567890. It calculates like the nearest number, `toString`
 * returns all its digits, and a payload sends them.
 */
export class ExactNumber extends Number {
  readonly #text: string
  constructor(text: string) {
    super(text)
    this.#text = text
  }
  override toString(): string {
    return this.#text
  }
}

// Marks the places of such numbers. Random, so it cannot occur in a response.
const mark = `exact ${Math.random()} ${Math.random()} `
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
// Fewer digits without an exponent are exact. A point may divide them.
const mayChange = /\d[\d.]{15}|\d[eE][+-]?\d/

/** Parses JSON. Numbers that JavaScript would change become an `ExactNumber`. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!mayChange.test(text)) return value
  const safe = text.replace(stringOrNumber, token =>
    token.startsWith('"') || !isChanged(token) ? token : `"${mark}${token}"`,
  )
  if (safe === text) return value
  return JSON.parse(safe, (_, member: unknown) =>
    typeof member === 'string' && member.startsWith(mark) ? new ExactNumber(member.slice(mark.length)) : member,
  )
}

/** Returns a value as JSON, with all digits of each `ExactNumber`. */
export function stringifyJson(value: unknown, space?: number): string {
  const write = (_: string, member: unknown) => (member instanceof ExactNumber ? mark + member.toString() : member)
  return JSON.stringify(value, write, space).replace(marked, '$1')
}

/** Returns whether JavaScript would read a number of JSON as another one: 1.10 is the same as 1.1. */
export function isChanged(number: string): boolean {
  return digitsOf(number) !== digitsOf(String(Number(number)))
}

// The significant digits, and the power of ten of the first one.
function digitsOf(number: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(number) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const power = Number(exponent) - fraction.length + digits.length
  const significant = digits.replace(/0+$/, '')
  return significant === '' ? '0' : `${sign}${significant}e${power}`
}
