import { Belfry, type BelfryOptions } from '@belfry/client'
import { version } from '@belfry/domain/version'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { addReadingTools } from './reading-tools.ts'
import { addWritingTools } from './writing-tools.ts'

const instructions = `Belfry calls URLs: at a time, on a cron schedule, or now, and keeps every request and response.
A task is one request that Belfry makes, with retries. A cron job makes tasks on a schedule. A run is one attempt of a task.
To find out why something failed, call explain_task. Times are ISO 8601 with a time zone, durations such as "90s", "15m", "3d".`

/**
 * Returns a server of the Model Context Protocol with the tools of one workspace. The credential of the client decides what
 * they may do.
 * @param agent - The name that the audit log shows. Default: the name of the connected client.
 */
export function createAgentServer(options: BelfryOptions, agent?: string): McpServer {
  const server = new McpServer({ name: 'belfry', version }, { instructions })
  const send = options.fetch ?? globalThis.fetch
  const belfry = new Belfry({
    ...options,
    fetch(url, init) {
      const name = agent ?? server.server.getClientVersion()?.name ?? 'unknown'
      return send(url, { ...init, headers: { ...init?.headers, 'X-Belfry-Agent': printable(name) } })
    },
  })
  addReadingTools(server, belfry)
  addWritingTools(server, belfry)
  return server
}

// A header has no other characters.
function printable(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, 100)
}
