import { ApiError, stringifyJson } from '@belfry/client'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** Returns the result of a tool: a value as JSON, or the refusal of the API as an error that the agent can read. */
export async function resultOf(call: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: stringifyJson(await call(), 2) }] }
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TypeError)) throw error
    const text = error instanceof ApiError ? `${error.code}: ${error.message}` : error.message
    return { isError: true, content: [{ type: 'text', text }] }
  }
}
