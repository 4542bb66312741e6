import { basename } from 'node:path'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { keepDays } from './keep-days.ts'
import { expandMacro, type ImportedEntry, ImportRefusal, type PlannedJob, toEntry, toPayload } from './planned-job.ts'
import { type CurlRequest, readCurl, timeoutOf } from './read-curl.ts'
import { readShellLine, withoutComment } from './read-shell-line.ts'
import { readWget } from './read-wget.ts'
import { unwrapCommand } from './unwrap-command.ts'

type CrontabOptions = {
  /** The time zone of lines without CRON_TZ. */
  timezone: string
  /** Whether the sixth field is a user, as in /etc/crontab. */
  hasUsers: boolean
}

/** Parses a crontab whose lines call URLs. Empty lines, comments and variables are not entries. */
export function readCrontab(text: string, options: CrontabOptions): ImportedEntry[] {
  const variables: Record<string, string> = {}
  let { timezone } = options
  return text.split(/\r?\n/).flatMap((line, i): ImportedEntry[] => {
    const place = `line ${i + 1}`
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const setting = readSetting(trimmed)
    if (!setting) return [toEntry(place, () => readEntry(trimmed, { ...options, timezone, variables }))]
    variables[setting.name] = setting.value
    if (setting.name !== 'CRON_TZ') return []
    const zone = setting.value.replace(/^:/, '')
    if (!isTimeZone(zone)) {
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

function readEntry(line: string, options: CrontabOptions & { variables: Readonly<Record<string, string>> }) {
  const { cron: written, rest } = splitSchedule(line)
  const command = options.hasUsers ? rest.replace(/^\S+\s+/, '') : rest
  const request = readCommand(withoutPercent(withoutComment(command)), options)
  const { url, method, headers, body, timeoutMs, retry, overlap } = request
  const { cron, notes: dayNotes } = keepDays(written)
  const { TZ, CRON_TZ } = options.variables
  const isZoneMeant = TZ !== undefined && CRON_TZ === undefined
  const zoneNotes = isZoneMeant ? [`TZ=${TZ} does not apply to the times of a crontab. Did you mean CRON_TZ?`] : []
  const notes = [...dayNotes, ...zoneNotes, ...request.notes]
  const job: PlannedJob = {
    name: `${method} ${url.replace(/^https?:\/\//, '')}`.slice(0, 200),
    targetUrl: url,
    method,
    cron,
    timezone: options.timezone,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(body === null ? {} : { payload: toPayload(body, headers) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
    ...(overlap === undefined ? {} : { overlap }),
  }
  return { job, isPaused: false, notes }
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
  { variables, hasUsers }: { variables: Readonly<Record<string, string>>; hasUsers: boolean },
): CurlRequest & Pick<PlannedJob, 'overlap'> {
  if (/^https?:\/\/\S+$/.test(command)) return { url: command, method: 'GET', headers: {}, body: null, notes: [] }
  const { program, args, maxSeconds, overlap, notes } = unwrapCommand(readShellLine(command, variables), variables)
  const read = readers[basename(program)]
  if (read) {
    const request = read(args)
    const { timeoutMs = Number.POSITIVE_INFINITY } = timeoutOf(maxSeconds, 'timeout')
    const limits = Number.isFinite(timeoutMs) ? { timeoutMs: Math.min(timeoutMs, request.timeoutMs ?? timeoutMs) } : {}
    return { ...request, ...limits, ...(overlap && { overlap }), notes: [...notes, ...request.notes] }
  }
  const isUser = !hasUsers && readers[basename(args[0] ?? '')] !== undefined
  const hint = isUser ? ` If ${program} is a user, add --users.` : ''
  throw new ImportRefusal(
    `It runs ${program || 'nothing'}. Belfry calls URLs, so it can only import curl, wget and bare URLs.${hint}`,
  )
}
