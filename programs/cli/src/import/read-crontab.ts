import { basename } from 'node:path'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { UsageError } from '../usage-error.ts'
import {
  type Entry,
  expandMacro,
  type Found,
  ImportRefusal,
  requestFields,
  type SourceFlags,
  toEntry,
} from './entry.ts'
import { keepDays } from './keep-days.ts'
import { type CurlRequest, millisecondsOf, readCurl } from './read-curl.ts'
import { readShellLine, withoutComment } from './read-shell-line.ts'
import { readWget } from './read-wget.ts'
import { unwrapCommand } from './unwrap-command.ts'

/** Parses a crontab whose lines call URLs. Empty lines, comments and variables are not entries. */
export function readCrontab(text: string, { timezone: asked, users: hasUsers = false }: SourceFlags): Entry[] {
  const variables: Record<string, string> = {}
  let timezone = asked ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isTimeZone(timezone)) throw new UsageError(`${timezone} is not a time zone, such as Europe/Berlin.`)
  let unknownZone: string | null = null
  return text.split(/\r?\n/).flatMap((line, i): Entry[] => {
    const place = `line ${i + 1}`
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const setting = readSetting(trimmed)
    if (!setting && unknownZone !== null)
      return [{ place, refusal: `Its time zone, CRON_TZ=${unknownZone}, is unknown.` }]
    if (!setting) return [toEntry(place, () => readEntry(trimmed, { hasUsers, timezone, variables }))]
    variables[setting.name] = setting.value
    if (setting.name !== 'CRON_TZ') return []
    const zone = setting.value.replace(/^:/, '')
    unknownZone = isTimeZone(zone) ? null : setting.value
    if (unknownZone !== null) {
      return [{ place, refusal: `CRON_TZ=${setting.value} is not a time zone name of the IANA database.` }]
    }
    timezone = zone
    return []
  })
}

function readSetting(line: string): { name: string; value: string } | null {
  const [, name, value] = /^([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) return null
  return { name, value: /^(["'])(.*)\1$/.exec(value)?.[2] ?? value }
}

type Surroundings = {
  timezone: string
  /** Whether the sixth field is a user, as in /etc/crontab. */
  hasUsers: boolean
  variables: Readonly<Record<string, string>>
}

function readEntry(line: string, { timezone, hasUsers, variables }: Surroundings): Found {
  const { cron: written, rest } = splitSchedule(line)
  const command = hasUsers ? rest.replace(/^\S+\s+/, '') : rest
  const { timeout_ms, retry, overlap, notes, ...request } = readCommand(withoutPercent(withoutComment(command)), {
    hasUsers,
    variables,
  })
  const { cron, notes: dayNotes } = keepDays(written)
  const { TZ, CRON_TZ } = variables
  const isZoneMeant = TZ !== undefined && CRON_TZ === undefined
  const zoneNotes = isZoneMeant ? [`TZ=${TZ} does not apply to the times of a crontab. Did you mean CRON_TZ?`] : []
  return {
    job: { ...requestFields(request), cron, timezone, timeout_ms, retry, overlap },
    notes: [...dayNotes, ...zoneNotes, ...notes],
  }
}

function splitSchedule(line: string): { cron: string; rest: string } {
  const [, macro, afterMacro] = /^(@\w+)\s+(.*)$/.exec(line) ?? []
  if (macro !== undefined) return { cron: expandMacro(macro), rest: afterMacro ?? '' }
  const [, fields, rest] = /^((?:\S+\s+){4}\S+)\s+(.*)$/.exec(line) ?? []
  if (fields === undefined || rest === undefined) throw new ImportRefusal('The line is not five fields and a command.')
  return { cron: fields.replace(/\s+/g, ' '), rest }
}

// In cron, a percent sign without a backslash ends the command.
function withoutPercent(command: string): string {
  if (/(^|[^\\])%/.test(command))
    throw new ImportRefusal('It has a % without a backslash, where cron ends the command.')
  return command.replaceAll('\\%', '%')
}

const readers: Readonly<Record<string, (args: readonly string[]) => CurlRequest>> = { curl: readCurl, wget: readWget }

function readCommand(
  command: string,
  { variables, hasUsers }: Pick<Surroundings, 'variables' | 'hasUsers'>,
): CurlRequest & { overlap?: 'skip' | undefined } {
  if (/^https?:\/\/\S+$/.test(command)) return { url: command, method: 'GET', headers: {}, body: null, notes: [] }
  const { program, args, maxSeconds, overlap, notes } = unwrapCommand(readShellLine(command, variables), variables)
  const read = readers[basename(program)]
  if (read) {
    const request = read(args)
    const limits = [request.timeout_ms, millisecondsOf(maxSeconds)].filter(limit => limit !== undefined)
    const timeout_ms = limits.length > 0 ? Math.min(...limits) : undefined
    return { ...request, timeout_ms, overlap, notes: [...notes, ...request.notes] }
  }
  const isUser = !hasUsers && readers[basename(args[0] ?? '')] !== undefined
  const hint = isUser ? ` If ${program} is a user, add --users.` : ''
  throw new ImportRefusal(
    `It runs ${program || 'nothing'}. Belfry calls URLs, so it can only import curl, wget and bare URLs.${hint}`,
  )
}
