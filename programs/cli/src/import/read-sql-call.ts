import { ExactNumber, stringifyJson } from '@belfry/client'
import { ImportRefusal } from './entry.ts'

/** A value of an expression. Objects are JSON, and lists are arrays or rows. */
export type SqlValue = string | number | ExactNumber | null | SqlValue[] | { [member: string]: SqlValue }

/** The call of a function, with its arguments by their names, or by their positions. */
export type SqlCall = { name: string; args: Map<string | number, SqlValue> }

/** What an expression may read. */
type Surroundings = {
  /** Returns the value of a secret or setting, or a reference to it. */
  lookUp(name: string): string
  /** Called for a part that only a run can compute, such as the time. */
  onComputed(what: string): void
}

type Token = { kind: 'text' | 'number' | 'word' | 'sign'; text: string }

const lexeme =
  /\s+|--[^\n]*|\/\*.*?\*\/|[eE](?<escaped>'(?:[^'\\]|''|\\.)*')|(?<quoted>'(?:[^']|'')*')|\$(?<tag>\w*)\$(?<dollar>.*?)\$\k<tag>\$|(?<number>\d+(?:\.\d+)?)|(?<word>[A-Za-z_][\w.]*)|(?<sign>:=|=>|::|\|\||\S)/gsy

function tokensOf(sql: string): Token[] {
  return Array.from(sql.matchAll(lexeme)).flatMap(({ groups = {} }): Token[] => {
    const { escaped, quoted, dollar, number, word, sign } = groups
    const literal = escaped?.replace(/\\(.)/gs, (_, c: string) => ({ n: '\n', t: '\t' })[c] ?? c) ?? quoted
    if (literal !== undefined) return [{ kind: 'text', text: literal.slice(1, -1).replaceAll("''", "'") }]
    if (dollar !== undefined) return [{ kind: 'text', text: dollar }]
    if (number !== undefined) return [{ kind: 'number', text: number }]
    if (word !== undefined) return [{ kind: 'word', text: word }]
    return sign === undefined ? [] : [{ kind: 'sign', text: sign }]
  })
}

/**
 * Returns the call of one of these functions that a statement consists of, such as `SELECT net.http_get(url := '...')`. Throws
 * if the statement does more, or if its arguments depend on the database.
 */
export function readSqlCall(sql: string, isWanted: (name: string) => boolean, surroundings: Surroundings): SqlCall {
  const tokens = tokensOf(sql)
  const start = tokens.findIndex(
    ({ kind, text }, i) => kind === 'word' && isWanted(text) && tokens[i + 1]?.text === '(',
  )
  if (start < 0) throw new ImportRefusal('It runs SQL that is not one call of a URL.')
  const before = textOf(tokens.slice(0, start))
  if (!/^select( [^;]*\bfrom)?$/i.test(before)) throw new ImportRefusal(`It does more than call a URL: ${before}`)
  const cursor: Cursor = { ...surroundings, tokens, at: start + 2 }
  const args = readArguments(cursor)
  const after = textOf(tokens.slice(cursor.at))
  if (!/^(as )?\w* ?;?$/i.test(after)) throw new ImportRefusal(`It does more than call a URL: ${after}`)
  return { name: tokens[start]?.text.toLowerCase() ?? '', args }
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ')
}

/** A place in a statement. Readers move it behind what they have read. */
type Cursor = Surroundings & { tokens: readonly Token[]; at: number }

function isAt({ tokens, at }: Cursor, ...texts: string[]): boolean {
  return texts.every((text, i) => tokens[at + i]?.text.toLowerCase() === text)
}

function next(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.at++]
  if (token) return token
  throw new ImportRefusal('It is not complete.')
}

function expect(cursor: Cursor, text: string): void {
  const found = next(cursor).text
  if (found !== text) throw new ImportRefusal(`It has ${found} in place of ${text}.`)
}

/** Reads the arguments of a call, or the elements of an array, up to the closing bracket. */
function readArguments(cursor: Cursor, end: ')' | ']' = ')'): SqlCall['args'] {
  const found: SqlCall['args'] = new Map()
  while (!isAt(cursor, end)) {
    const sign = cursor.tokens[cursor.at + 1]?.text
    const name = sign === ':=' || sign === '=>' ? next(cursor).text.toLowerCase() : found.size
    if (typeof name === 'string') cursor.at += 1
    found.set(name, readExpression(cursor))
    if (!isAt(cursor, end)) expect(cursor, ',')
  }
  expect(cursor, end)
  return found
}

function readExpression(cursor: Cursor): SqlValue {
  let value = readOperand(cursor)
  while (isAt(cursor, '||')) {
    cursor.at += 1
    value = join([value, readOperand(cursor)])
  }
  return value
}

// The request does not depend on the type after ::.
function readOperand(cursor: Cursor): SqlValue {
  const value = readValue(cursor)
  while (isAt(cursor, '::')) cursor.at += isAt({ ...cursor, at: cursor.at + 2 }, '[', ']') ? 4 : 2
  return value
}

function readValue(cursor: Cursor): SqlValue {
  const { kind, text } = next(cursor)
  const word = text.toLowerCase()
  if (kind === 'text') return text
  if (kind === 'number') return String(Number(text)) === text ? Number(text) : new ExactNumber(text)
  if (text === '(') return isAt(cursor, 'select') ? readQuery(cursor) : readRow(cursor)
  if (word === 'null') return null
  if (word === 'array' && isAt(cursor, '[')) {
    cursor.at += 1
    return [...readArguments(cursor, ']').values()]
  }
  if (kind === 'word' && isAt(cursor, '(')) {
    cursor.at += 1
    return callFunction(word, [...readArguments(cursor).values()], cursor)
  }
  if (/^current_(timestamp|date|time)$/.test(word)) return callFunction(word, [], cursor)
  throw new ImportRefusal(`It depends on ${text}, which only the database knows.`)
}

function readRow(cursor: Cursor): SqlValue {
  const [first = null, ...others] = readArguments(cursor).values()
  return others.length === 0 ? first : [first, ...others]
}

// The only query is for a secret of Supabase's vault.
function readQuery(cursor: Cursor): string {
  const words: Token[] = []
  for (let depth = 0; depth > 0 || !isAt(cursor, ')'); ) {
    const token = next(cursor)
    depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0
    words.push(token)
  }
  expect(cursor, ')')
  const name = words.find(({ kind }) => kind === 'text')?.text
  const query = textOf(words)
  const isLookup = /^select (\w+\.)?decrypted_secret from vault\.decrypted_secrets( \w+)? where (\w+\.)?name = /i
  if (name === undefined || !isLookup.test(query)) throw new ImportRefusal(`It reads the database: ${query}`)
  return cursor.lookUp(name)
}

function callFunction(name: string, values: SqlValue[], { lookUp, onComputed }: Surroundings): SqlValue {
  switch (name) {
    case 'concat':
      return join(values)
    case 'jsonb_build_object':
    case 'json_build_object':
    case 'http_header':
      return Object.fromEntries(pairsOf(values))
    case 'jsonb_build_array':
    case 'json_build_array':
      return values
    case 'current_setting':
      return lookUp(String(values[0]).replace(/^.*\./, ''))
    case 'now':
    case 'clock_timestamp':
    case 'current_timestamp':
    case 'current_date':
    case 'current_time':
      onComputed(name)
      return ''
    default:
      throw new ImportRefusal(`It depends on ${name}(), which only the database computes.`)
  }
}

function pairsOf(values: readonly SqlValue[]): Array<[string, SqlValue]> {
  return values.flatMap((value, i) => (i % 2 === 0 ? [[String(value), values[i + 1] ?? null]] : []))
}

function join(values: readonly SqlValue[]): string {
  const texts = values.map(value => (typeof value === 'string' || value === null ? value : stringifyJson(value)))
  return texts.join('') // null is empty, as for concat
}
