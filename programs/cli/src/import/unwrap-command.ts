import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { ImportRefusal } from './entry.ts'
import { readShellLine } from './read-shell-line.ts'

/** The program that a command runs in the end, and what the programs around it ask for. */
export type Unwrapped = { program: string; args: string[]; maxSeconds?: number; overlap?: 'skip'; notes: string[] }

/** A program that runs another one: its options with a value, by their short names, and its operands before the command. */
type Wrapper = { values: Readonly<Record<string, string>>; operands: number }

const plain: Wrapper = { values: {}, operands: 0 }
const shell: Wrapper = { values: { c: 'command' }, operands: 0 }
const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['flock', { values: { w: 'wait', W: 'timeout', E: 'conflict-exit-code', c: 'command' }, operands: 1 }],
  ['timeout', { values: { k: 'kill-after', s: 'signal' }, operands: 1 }],
  ['nice', { values: { n: 'adjustment' }, operands: 0 }],
  ['ionice', { values: { c: 'class', n: 'classdata' }, operands: 0 }],
  ['env', { values: { u: 'unset', C: 'chdir' }, operands: 0 }],
  ...['nohup', 'setsid', 'exec', 'time', 'chronic'].map(name => [name, plain] as const),
  ...['sh', 'bash', 'dash'].map(name => [name, shell] as const),
])

/** Removes assignments and programs such as `flock`, `timeout` and `nice` from the front of a command. */
export function unwrapCommand(words: readonly string[], variables: Readonly<Record<string, string>>): Unwrapped {
  const first = words.findIndex(word => !/^[A-Za-z_]\w*=/.test(word))
  const [program = '', ...args] = first < 0 ? [] : words.slice(first)
  const notes = words
    .slice(0, Math.max(0, first))
    .filter(word => /_proxy=/i.test(word))
    .map(word => `calls do not go through the proxy of ${word.split('=')[0]}`)
  const name = basename(program)
  const wrapper = wrappers.get(name)
  if (!wrapper) return { program, args, notes }
  const { flags, operands, command, rest } = readWrapper(wrapper, args)
  const inner = unwrapCommand(command === undefined ? rest : readShellLine(command, variables), variables)
  const outer: Partial<Unwrapped> = {}
  if (name === 'flock') {
    outer.overlap = 'skip'
    const waits = !['n', 'nb', 'nonblock'].some(flag => flags.includes(flag))
    notes.push(`flock becomes overlap: skip, of this cron job alone${waits ? '; it waits where Belfry skips' : ''}`)
  }
  const maxSeconds = name === 'timeout' ? secondsOf(operands[0] ?? '') : 0
  if (maxSeconds > 0) outer.maxSeconds = Math.min(maxSeconds, inner.maxSeconds ?? maxSeconds)
  return { ...inner, ...outer, notes: [...notes, ...inner.notes] }
}

function readWrapper({ values, operands }: Wrapper, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(values).map(([short, name]) => [name, { type: 'string' as const, short, multiple: true }]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const words = tokens.flatMap(token => (token.kind === 'positional' ? [token] : []))
  const end = words[operands]?.index ?? args.length
  const given = tokens.flatMap(token => (token.kind === 'option' && token.index < end ? [token] : []))
  return {
    flags: given.map(({ name }) => name),
    operands: words.slice(0, operands).map(({ value }) => value),
    command: given.find(({ name }) => name === 'command')?.value,
    rest: args.slice(end),
  }
}

function secondsOf(duration: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(duration) ?? []
  if (count === undefined) throw new ImportRefusal(`timeout ${duration} is not a duration.`)
  return Number(count) * ({ m: 60, h: 3_600, d: 86_400 }[unit] ?? 1)
}
