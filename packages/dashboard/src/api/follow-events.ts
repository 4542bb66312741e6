import { ApiProblem } from './api-problem.ts'

export type StreamedEvent = { id: string | undefined; name: string | undefined; data: string }

type Follow = {
  workspaceId?: string | undefined
  onEvent(event: StreamedEvent): void
  /** Receives whether the stream is connected. */
  onConnected?: ((isConnected: boolean) => void) | undefined
  signal: AbortSignal
}

const pauseMs = 2000
// The API sends a comment every 15 seconds.
const maxSilenceMs = 35_000

/**
 * Follows an event stream of the API until `signal` aborts. Resumes after a lost connection. Rejects when the API answers
 * with a 4xx status. An EventSource could not send the workspace header.
 */
export async function followEvents(path: string, follow: Follow): Promise<void> {
  const { workspaceId, onEvent, onConnected, signal } = follow
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
          ...(workspaceId ? { 'X-Workspace-Id': workspaceId } : {}),
          ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        },
      })
      if (response.status >= 400 && response.status < 500) throw new ApiProblem(response.status, await response.json())
      onConnected?.(response.ok)
      for await (const event of readEventStream(chunksOf(response, onLost))) {
        lastId = event.id ?? lastId
        onEvent(event)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiProblem) throw error
    } finally {
      window.removeEventListener('offline', onLost)
    }
    onConnected?.(false)
    await pause(signal)
  }
}

/** Parses a stream of server-sent events. Events without data, such as comments, are left out. */
export async function* readEventStream(chunks: AsyncIterable<string>): AsyncGenerator<StreamedEvent> {
  let incomplete = ''
  for await (const chunk of chunks) {
    const blocks = (incomplete + chunk).split('\n\n')
    incomplete = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').map(line => /^(\w+): ?(.*)$/.exec(line))
      const valuesOf = (field: string) => lines.flatMap(line => (line?.[1] === field ? [line[2] ?? ''] : []))
      const data = valuesOf('data')
      if (data.length > 0) yield { id: valuesOf('id').at(-1), name: valuesOf('event').at(-1), data: data.join('\n') }
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

function pause(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, pauseMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
