import { toId } from '@belfry/domain/id'
import { writeInstant } from '@belfry/domain/instant'

/**
 * Returns the body of a task that sends an event to an MCP client. References to secrets stay as they are: an escaped brace is not
 * part of one, and two braces in a row occur only within the strings of a JSON text.
 * @param text - A JSON object with the `name` and the `data` of the event.
 * @param id - The id of the task. It identifies the event.
 * @param at - When it was to be executed.
 */
export function mcpEvent(text: string, id: string, at: Date | string): string {
  const timestamp = at instanceof Date ? writeInstant(at) : at
  const start = `{"eventId":"${toId('task', id)}","timestamp":"${timestamp}","cursor":null,`
  return start + text.slice(1).replaceAll('{{', '{\\u007b')
}

/** Returns whether the payload of a task is the `name` and the `data` of an event. */
export function isMcpEvent(payload: string): boolean {
  return payload.startsWith('{"name":')
}
