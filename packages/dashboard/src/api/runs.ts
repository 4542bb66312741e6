import type { Run, RunPage } from '@belfry/contract/run'
import { ApiProblem } from './api-problem.ts'
import { type Query, read, urlOf } from './call.ts'

/** The log of one workspace or, when `ws` is null, of all workspaces that the user may see. */
export type LogScope = { org: string; ws: string | null }

/** Reads one page of a log, newest first. A short or empty page may still have a next one. */
export function readLogPage({ org, ws }: LogScope, query: Query, signal: AbortSignal): Promise<RunPage> {
  return ws === null ? read('listOrganizationRuns', { org, query, signal }) : read('listRuns', { ws, query, signal })
}

type LogHandlers = {
  onRun(run: Run): void
  /** Receives the minimum number of runs that were left out because too many ended at a time. */
  onOmitted?(count: number): void
  /** Receives whether the stream is connected. */
  onConnected?(isConnected: boolean): void
}

const pauseMs = 2000
// The API sends a comment every 15 seconds.
const maxSilenceMs = 35_000

/**
 * Calls `handlers` with the new runs of a log until `signal` aborts. Resumes after a lost connection. Rejects when the API
 * answers with a 4xx status. An EventSource could not send the workspace header.
 */
export async function followLog({ org, ws }: LogScope, handlers: LogHandlers, signal: AbortSignal): Promise<void> {
  const { onRun, onOmitted, onConnected } = handlers
  const path = ws === null ? urlOf('streamOrganizationRuns', { org }) : urlOf('streamRuns', { ws })
  let lastId: string | undefined
  while (!signal.aborted) {
    const lost = new AbortController()
    const onLost = () => lost.abort()
    window.addEventListener('offline', onLost)
    try {
      const response = await fetch(path, {
        signal: AbortSignal.any([signal, lost.signal]),
        headers: {
          Accept: 'text/event-stream',
          ...(ws ? { 'X-Workspace-Id': ws } : {}),
          ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        },
      })
      if (response.status >= 400 && response.status < 500) throw new ApiProblem(response.status, await response.json())
      onConnected?.(response.ok)
      for await (const { id, name, data } of readEventStream(chunksOf(response, onLost))) {
        lastId = id ?? lastId
        // The contract promises this data for each name.
        if (name === 'run') onRun(JSON.parse(data) as Run)
        if (name === 'omitted') onOmitted?.((JSON.parse(data) as { count: number }).count)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiProblem) throw error
    } finally {
      window.removeEventListener('offline', onLost)
    }
    onConnected?.(false)
    await new Promise(resolve => {
      setTimeout(resolve, pauseMs)
      signal.addEventListener('abort', resolve)
    })
  }
}

type StreamedEvent = { id: string | undefined; name: string | undefined; data: string }

/** Parses a stream of server-sent events. Comments are left out. */
export async function* readEventStream(chunks: AsyncIterable<string>): AsyncGenerator<StreamedEvent> {
  let incomplete = ''
  for await (const chunk of chunks) {
    const blocks = (incomplete + chunk).split('\n\n')
    incomplete = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').map(line => /^(\w+): ?(.*)$/.exec(line))
      const valuesOf = (field: string) => lines.flatMap(line => (line?.[1] === field ? [line[2] ?? ''] : []))
      const id = valuesOf('id').at(-1)
      const data = valuesOf('data')
      // An id alone is the place in the stream.
      if (data.length > 0 || id) yield { id, name: valuesOf('event').at(-1), data: data.join('\n') }
    }
  }
}

async function* chunksOf(response: Response, onSilence: () => void): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let timer = setTimeout(onSilence, maxSilenceMs)
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      clearTimeout(timer)
      timer = setTimeout(onSilence, maxSilenceMs)
      yield next.value
    }
  } finally {
    clearTimeout(timer)
  }
}
