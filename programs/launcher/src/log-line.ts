import { clockTime } from './terminal.ts'

const warning = 40
const names: Record<number, string> = { 40: 'WARN', 50: 'ERROR', 60: 'FATAL' }

/** Formats a log line for people; returns null for unimportant lines. */
export function readableLine(line: string): string | null {
  if (line.trim() === '') return null
  const entry = parse(line)
  // Not a log line, but a stack on standard error or a warning of Node.
  if (!entry) return `belfry: ${printable(line)}`
  if (entry.notice) return `${clockTime(new Date(entry.time))} ${printable(entry.notice)}`
  if (entry.level < warning) return null
  const parts = [entry.msg, entry.err?.message ?? entry.advice].filter(Boolean).join(': ')
  return `${clockTime(new Date(entry.time))} ${entry.service} ${names[entry.level] ?? entry.level} ${printable(parts)}`
}

/** Returns text on one line without control characters. They could e.g. move the cursor. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

type Entry = {
  level: number
  time: string | number
  /** The role that wrote it. */
  service: string
  msg?: string
  err?: { message?: string }
  advice?: string
  notice?: string
}

function parse(line: string): Entry | null {
  if (!line.startsWith('{"level":')) return null
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
