import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib'
import type { Run, RunDetail } from '@belfry/contract/run'
import { excerptOf } from '@belfry/domain/excerpt'
import { toId } from '@belfry/domain/id'
import type { RunDetailRow, RunRow } from './run-row.ts'

/** Returns the public form of a run in a list. */
export function presentRun(row: RunRow): Run {
  return {
    id: toId('run', row.id),
    workspace_id: toId('ws', row.workspaceId),
    task_id: toId('task', row.taskId),
    task_name: row.taskName,
    source: row.source,
    cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
    cronjob_timezone: row.cronJobTimezone ?? null,
    topic: row.topic,
    labels: [...(row.labels ?? [])],
    attempt: row.attempt,
    status: row.status,
    scheduled_at: row.scheduledAt.toISOString(),
    started_at: row.startedAt.toISOString(),
    finished_at: row.finishedAt.toISOString(),
    duration_ms: row.finishedAt.getTime() - row.startedAt.getTime(),
    lag_ms: row.startedAt.getTime() - row.scheduledAt.getTime(),
    waited_for: row.waitedFor,
    timings: row.timings === null ? null : presentTimings(row.timings),
    url: row.url,
    method: row.method,
    response_status: row.responseStatus,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    note: row.errorCode === null ? row.errorMessage : null,
  }
}

function presentTimings(text: string): Run['timings'] {
  const [dns, connect, tls, firstByte] = JSON.parse(text)
  return { dns_ms: dns, connect_ms: connect, tls_ms: tls, first_byte_ms: firstByte }
}

export type StoredResponse = Pick<
  RunDetailRow,
  'responseStatus' | 'responseBody' | 'responseHeaders' | 'responseBytes' | 'responseTruncated'
>

/** Returns the beginning of the text of a response, such as a message of an error, or null if it has no text. */
export function causeOf(row: StoredResponse): string | null {
  const response = presentResponse(row)
  return response?.body_encoding === 'utf8' ? excerptOf(response.body) : null
}

/** Returns the public form of the response of a run, or null if no response arrived. */
export function presentResponse(row: StoredResponse): RunDetail['response'] {
  if (row.responseStatus === null) return null
  const body = row.responseBody ?? Buffer.alloc(0)
  const headers: Record<string, string | string[]> = JSON.parse(row.responseHeaders ?? '{}')
  const text = readText(
    decompress(body, String(headers['content-encoding'])),
    row.responseTruncated,
    charsetOf(headers),
  )
  return {
    status: row.responseStatus,
    headers,
    body: text ?? body.toString('base64'),
    body_bytes: row.responseBytes ?? body.length,
    body_truncated: row.responseTruncated,
    body_encoding: text === null ? 'base64' : 'utf8',
  }
}

function charsetOf(headers: Record<string, string | string[]>): string {
  return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(String(headers['content-type']))?.[1] ?? 'utf-8'
}

const maxDecompressedBytes = 64 * 1024
const ofZlib = { maxOutputLength: maxDecompressedBytes, finishFlush: constants.Z_SYNC_FLUSH }
const ofBrotli = { maxOutputLength: maxDecompressedBytes, finishFlush: constants.BROTLI_OPERATION_FLUSH }

/** Decompresses a body that its target compressed unasked. Returns it unchanged if it is invalid or grows beyond 64 KiB. */
function decompress(body: Buffer, encoding: string): Buffer {
  try {
    if (/^(x-)?gzip$/i.test(encoding)) return gunzipSync(body, ofZlib)
    if (/^deflate$/i.test(encoding)) return inflateSync(body, ofZlib)
    return /^br$/i.test(encoding) ? brotliDecompressSync(body, ofBrotli) : body
  } catch {
    return body
  }
}

/**
 * Returns the text of bytes, or null if they are invalid in the charset or its name is unknown. Truncated bytes may end within
 * a character. That character is left out.
 */
export function readText(bytes: Uint8Array, isTruncated = false, charset = 'utf-8'): string | null {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isTruncated })
  } catch {
    return null
  }
}
