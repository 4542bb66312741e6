import { ApiProblem } from './api-problem.ts'
import { readEventStream, type StreamedEvent } from './read-event-stream.ts'

type Follow = {
  workspaceId?: string | undefined
  onEvent(event: StreamedEvent): void
  signal: AbortSignal
}

const pauseMs = 2000

/**
 * Follows a stream of the API, and comes back where it stopped when the connection is lost. Not an EventSource, which
 * could not name the workspace. Rejects when the API refuses.
 */
export async function followEvents(path: string, { workspaceId, onEvent, signal }: Follow): Promise<void> {
  let lastId: string | undefined
  while (!signal.aborted) {
    try {
      const response = await fetch(path, {
        signal,
        headers: {
          Accept: 'text/event-stream',
          ...(workspaceId ? { 'X-Workspace-Id': workspaceId } : {}),
          ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        },
      })
      if (response.status >= 400 && response.status < 500) throw new ApiProblem(response.status, await response.json())
      for await (const event of readEventStream(piecesOf(response))) {
        lastId = event.id ?? lastId
        onEvent(event)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiProblem) throw error
    }
    await pause(signal)
  }
}

async function* piecesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value
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
