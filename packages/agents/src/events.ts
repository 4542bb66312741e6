import type { EventDefinition } from '@belfry/client/mcp'
import { mcpEvents } from '@belfry/contract/mcp-events'
import type { z } from 'zod'
import { fieldsOf } from './tools.ts'

/** The events of a workspace, to which an agent can subscribe. */
export const events: readonly EventDefinition[] = Object.entries(mcpEvents).map(
  ([name, { description, arguments: given, data }]) => ({
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: fieldsOf('+', given as z.ZodObject),
      ...(name === 'topic' ? { required: ['topic'] } : {}),
    },
    payloadSchema: data,
  }),
)
