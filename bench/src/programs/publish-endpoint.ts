import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { Job } from './jobs.ts'

export type PublishEndpointOptions = { port: number; key: string }

/**
 * Serves `POST /api/events` as a team would write it in front of a job queue. It looks up the hash of the API key in
 * memory, and answers 202 once the queue has the job.
 */
export async function servePublishing(
  { port, key }: PublishEndpointOptions,
  enqueue: (job: Job) => Promise<unknown>,
): Promise<void> {
  const keys = new Set([hashOf(key)])
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/api/events') return response.writeHead(404).end()
    if (!keys.has(hashOf(String(request.headers['x-api-key'])))) return response.writeHead(401).end()
    try {
      const { target_url: url, payload } = JSON.parse(await readBody(request)) as PublishedEvent
      await enqueue({ url, body: JSON.stringify(payload) })
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"ok":true}')
    } catch (error) {
      console.error(error)
      response.writeHead(500).end()
    }
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
}

type PublishedEvent = { target_url: string; payload: unknown } // as the load generator sends it

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
